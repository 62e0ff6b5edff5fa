"""Curves: of performance, over the number of features, and of scores over trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.text import there_are
from omnirank.core.types import ArrayLike
from omnirank.plots.style import BAR, CHOSEN, INK, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.evaluation.cross import Curve
    from omnirank.evaluation.selection import SelectionCurve

_BASELINE = "#8a94a0"
_STYLES = ("-", "--", ":", "-.")
# Numbers that fit below the axis.
_MOST_NUMBERED, _NEAR = 12, 0.8


def plot_curves(
    curves: Curve | Sequence[Curve],
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    *,
    errors: Sequence[ArrayLike | None] | None = None,
    baseline: float | None = None,
    pairs: Sequence[Any] | None = None,
    chosen: Sequence[float | None] | None = None,
) -> Axes:
    """Draw curves of one measure.

    Positions are equally far apart for labelled examples and top features, as areas count them. For trees and
    iterations, of which the first change most, the axis is logarithmic.

    Parameters
    ----------
    curves : Curve or sequence of Curve
        All of the same measure, over the same kind of positions.
    labels : sequence of str, optional
        One per curve; by default their names.
    ax : Axes, optional
        Where to draw; by default a new figure.
    errors : sequence of array-like or None, optional
        For each curve its standard errors, drawn as a band to either side; None: no band.
    baseline : float, optional
        Height of a dashed line, such as the performance with equal weights.
    pairs : sequence, optional
        For each curve what it belongs to: curves of the same pair have one colour, and lines of different styles.
    chosen : sequence of float or None, optional
        For each curve a position to mark, such as the level that cross-validation chose; None: none.

    Examples
    --------
    >>> from omnirank.evaluation.cross import Curve
    >>> from omnirank.plots import plot_curves
    >>> ax = plot_curves(Curve([50, 100, 500], [0.5, 0.75, 1.0], "f1_macro", "labelled examples", True, "genie3"))
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_xticklabels()]
    ('labelled examples', ['50', '100', '500'])
    """
    from omnirank.evaluation.cross import Curve
    from omnirank.measures import MEASURES

    shown = [curves] if isinstance(curves, Curve) else list(curves)
    if not shown:
        raise ParameterError("there is no curve to draw")
    if len({(curve.measure, curve.axis) for curve in shown}) > 1:
        raise ParameterError("curves of different measures or positions do not fit one figure")
    names = [curve.name for curve in shown] if labels is None else list(labels)
    if len(names) != len(shown):
        raise ParameterError("labels", labels, there_are(len(shown), "curve"))
    given = {"errors": errors, "pairs": pairs, "chosen": chosen}
    for name, values in given.items():
        if values is not None and len(values) != len(shown):
            raise ParameterError(name, values, there_are(len(shown), "curve"))
    bands = [None] * len(shown) if errors is None else list(errors)
    belongs = list(range(len(shown)) if pairs is None else pairs)
    colours = {pair: f"C{i}" for i, pair in enumerate(dict.fromkeys(belongs))}
    even = shown[0].axis in ("labelled examples", "top features")
    places = sorted({position for curve in shown for position in curve.positions.tolist()})
    ax = new_axes(width=7.5, height=4.0) if ax is None else ax
    for i, (curve, name, error) in enumerate(zip(shown, names, bands, strict=True)):
        at = [places.index(p) for p in curve.positions.tolist()] if even else curve.positions.tolist()
        label = f"{name}, area {curve.area:.3f}" if name else f"area {curve.area:.3f}"
        own, style = colours[belongs[i]], _STYLES[belongs[:i].count(belongs[i]) % len(_STYLES)]
        ax.plot(at, curve.values, style, color=own, marker="o", markersize=3.5, linewidth=1.6, label=label)
        if chosen is not None and chosen[i] is not None:
            place = curve.positions.tolist().index(chosen[i])
            ax.plot(at[place], curve.values[place], "o", markersize=10, markerfacecolor="none", color=own)
        if error is not None:
            low, high = curve.values - np.asarray(error), curve.values + np.asarray(error)
            ax.fill_between(at, low, high, color=own, alpha=0.15, linewidth=0)
    if baseline is not None:
        ax.axhline(baseline, color=_BASELINE, linewidth=1.2, linestyle="--", label="equal weights", zorder=1)
    if even:
        ax.set_xticks(range(len(places)), [f"{place:g}" for place in places])
    elif shown[0].axis in ("trees", "iterations") and places[0] > 0:
        ax.set_xscale("log")
    measure = MEASURES.get(shown[0].measure)
    height = shown[0].measure if measure is None else measure.title
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax, shown[0].axis, height, grid="y")


def plot_selection(curve: SelectionCurve, ax: Axes | None = None) -> Axes:
    """Draw performance over the number of top features, with the best number and the chosen one.

    Parameters
    ----------
    curve : SelectionCurve
        ``selection_curve_`` of a ranker, or ``curve`` of what `omnirank.select` returned.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from omnirank.evaluation.selection import SelectionCurve
    >>> from omnirank.plots import plot_selection
    >>> curve = SelectionCurve([1, 2, 4], [[0.5, 0.8, 0.9], [0.5, 0.9, 0.8]], "accuracy", True, "neighbors")
    >>> ax = plot_selection(curve)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('top features', ['best: 2', 'chosen: 2', 'one standard error below the best'])
    """
    from omnirank.tasks.measuring import MEASURES

    ax = new_axes(width=6.0, height=4.0) if ax is None else ax
    means = dict(zip(curve.sizes.tolist(), curve.means.tolist(), strict=True))
    points: dict[str, Any] = {"color": BAR, "marker": "o", "markersize": 3.5, "linewidth": 1.6, "capsize": 2}
    ax.errorbar(curve.sizes, curve.means, curve.standard_errors, **points)
    for size, name, color, mark in ((curve.best_size, "best", INK, "D"), (curve.chosen_size, "chosen", CHOSEN, "o")):
        style = {"linestyle": "none", "marker": mark, "markersize": 8, "fillstyle": "none", "zorder": 4}
        ax.plot([size], [means[size]], color=color, label=f"{name}: {size}", **style)  # type: ignore[arg-type]
    side = "below" if curve.larger_is_better else "above"
    label = f"one standard error {side} the best"
    ax.axhline(curve.limit, color=INK, linewidth=1.0, linestyle="--", zorder=1, label=label)
    if curve.constant is not None:
        ax.axhline(
            curve.constant_mean, color=_BASELINE, linewidth=1.2, linestyle=":", zorder=1, label="constant prediction"
        )
    ax.set_xscale("log", base=2)
    sizes = curve.sizes.tolist()
    # of many sizes every other one has its number, and the last, which needs room
    step = 1 + len(sizes) // _MOST_NUMBERED
    numbered = [size for size in sizes[:-step:step] if size < _NEAR * sizes[-1]] + sizes[-1:]
    ax.set_xticks(numbered, [str(size) for size in numbered], fontsize="small")
    ax.minorticks_off()
    # a frame of the colour of the page: lines go below the words
    ax.legend(loc="best", frameon=True, framealpha=0.9, facecolor="white", edgecolor="none")
    height = MEASURES[curve.measure].title if curve.measure in MEASURES else curve.measure
    return finish(ax, "top features", height, grid="y")
