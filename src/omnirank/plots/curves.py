"""Pictures of performance curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.plurals import there_are
from omnirank.core.types import ArrayLike
from omnirank.plots.style import new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.evaluation.curves import Curve

_BASELINE = "#8a94a0"


def plot_curves(
    curves: Curve | Sequence[Curve],
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    *,
    equidistant: bool | None = None,
    log: bool | None = None,
    errors: Sequence[ArrayLike | None] | None = None,
    baseline: float | None = None,
    areas: bool = True,
) -> Axes:
    """Draw curves of one measure.

    Parameters
    ----------
    curves : Curve or sequence of Curve
        All of the same measure, over the same kind of positions.
    labels : sequence of str, optional
        One per curve; by default their names.
    ax : Axes, optional
        Where to draw; by default a new figure.
    equidistant : bool, optional
        Whether positions are drawn equally far apart, as their areas count them; by default for labelled examples and
        top features.
    log : bool, optional
        Whether positions that are not equidistant have a logarithmic axis; by default for trees and iterations, of
        which the first change most.
    errors : sequence of array-like or None, optional
        For each curve its standard errors, drawn as a band to either side; None: no band.
    baseline : float, optional
        Height of a dashed line, such as the performance with equal weights.
    areas : bool
        Whether to add the areas to the labels.

    Examples
    --------
    >>> from omnirank.evaluation.curves import Curve
    >>> from omnirank.plots import plot_curves
    >>> ax = plot_curves(Curve([50, 100, 500], [0.5, 0.75, 1.0], "f1_macro", "labelled examples", True, "genie3"))
    >>> ax.get_xlabel(), [label.get_text() for label in ax.get_xticklabels()]
    ('labelled examples', ['50', '100', '500'])
    """
    from omnirank.evaluation.curves import Curve
    from omnirank.measures import MEASURES

    shown = [curves] if isinstance(curves, Curve) else list(curves)
    if not shown:
        raise ParameterError("there is no curve to draw")
    if len({(curve.measure, curve.axis) for curve in shown}) > 1:
        raise ParameterError("curves of different measures or positions do not fit one figure")
    names = [curve.name for curve in shown] if labels is None else list(labels)
    if len(names) != len(shown):
        raise ParameterError("labels", labels, there_are(len(shown), "curve"))
    bands = [None] * len(shown) if errors is None else list(errors)
    if len(bands) != len(shown):
        raise ParameterError("errors", errors, there_are(len(shown), "curve"))
    even = shown[0].axis in ("labelled examples", "top features") if equidistant is None else equidistant
    places = sorted({position for curve in shown for position in curve.positions.tolist()})
    ax = new_axes(width=6.0, height=4.0) if ax is None else ax
    for curve, name, error in zip(shown, names, bands, strict=True):
        at = [places.index(p) for p in curve.positions.tolist()] if even else curve.positions.tolist()
        parts = [name] if name else []
        label = ", ".join([*parts, f"area {curve.area:.3f}"] if areas else parts)
        [line] = ax.plot(at, curve.values, marker="o", markersize=3.5, linewidth=1.6, label=label)
        if error is not None:
            low, high = curve.values - np.asarray(error), curve.values + np.asarray(error)
            ax.fill_between(at, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    if baseline is not None:
        ax.axhline(baseline, color=_BASELINE, linewidth=1.2, linestyle="--", label="equal weights", zorder=1)
    if even:
        ax.set_xticks(range(len(places)), [f"{place:g}" for place in places])
    elif shown[0].axis in ("trees", "iterations") and places[0] > 0 if log is None else log:
        ax.set_xscale("log")
    measure = MEASURES.get(shown[0].measure)
    ax.set_xlabel(shown[0].axis)
    ax.set_ylabel(shown[0].measure if measure is None else measure.title)
    tidy(ax, grid="y")
    if any(names) or areas or baseline is not None:
        ax.legend(frameon=False, loc="best")
    return ax
