"""The picture of how many features suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnirank.plots.style import BAR, CHOSEN, INK, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.evaluation.selection import SelectionCurve


# Numbers that fit below the axis.
_MOST_NUMBERED = 12


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
    ax.errorbar(
        curve.sizes,
        curve.means,
        curve.standard_errors,
        color=BAR,
        marker="o",
        markersize=3.5,
        linewidth=1.6,
        capsize=2,
    )
    for size, name, color, mark in (
        (curve.best_size, "best", INK, "D"),
        (curve.chosen_size, "chosen", CHOSEN, "o"),
    ):
        style = {"linestyle": "none", "marker": mark, "markersize": 8, "fillstyle": "none", "zorder": 4}
        ax.plot([size], [means[size]], color=color, label=f"{name}: {size}", **style)  # type: ignore[arg-type]
    side = "below" if curve.larger_is_better else "above"
    ax.axhline(
        curve.limit, color=INK, linewidth=1.0, linestyle="--", zorder=1, label=f"one standard error {side} the best"
    )
    ax.set_xscale("log", base=2)
    sizes = curve.sizes.tolist()
    # of many sizes every other one has its number, and the last
    step = 1 + len(sizes) // _MOST_NUMBERED
    numbered = [size for i, size in enumerate(sizes[:-step]) if i % step == 0] + sizes[-1:]
    ax.set_xticks(numbered, [str(size) for size in numbered], fontsize="small")
    ax.minorticks_off()
    ax.set_xlabel("top features")
    ax.set_ylabel(MEASURES[curve.measure].title if curve.measure in MEASURES else curve.measure)
    tidy(ax, grid="y")
    # a frame of the colour of the page: lines go below the words
    ax.legend(loc="best", frameon=True, framealpha=0.9, facecolor="white", edgecolor="none")
    return ax
