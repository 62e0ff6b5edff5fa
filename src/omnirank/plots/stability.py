"""The picture of how sure ranks are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.parameters import check, count
from omnirank.plots.style import BAR, CHOSEN, LINEAR, name_rows, new_axes, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.evaluation.stability import Stability

# Width of an entry of the legend, in inches.
_ENTRY = 1.7


def plot_rank_intervals(stability: Stability, ax: Axes | None = None, k: int = 20) -> Axes:
    """Draw the intervals of the ranks of the first k features, best at the top.

    Parameters
    ----------
    stability : Stability
        What `omnirank.stability` returned.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability import Stability
    >>> from omnirank.plots import plot_rank_intervals
    >>> ranks = np.array([[1, 2, 3], [1, 3, 2], [1, 3, 2]])
    >>> ax = plot_rank_intervals(Stability(("a", "b", "c"), ranks, np.array([0, 2, 1]), 0.9, 1, "3 subsamples"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'c', 'b']
    """
    check("k", k, count(1))
    shown = stability.order[:k]
    ax = new_axes(width=7.0, height=1.3 + 0.28 * len(shown)) if ax is None else ax
    places = np.arange(len(shown))
    lower, upper = stability.lower[shown], stability.upper[shown]
    # of few resamples the ends are those of all: no interval of a level
    what = "smallest to largest rank" if stability.is_range else f"{100 * stability.level:g} % interval"
    ax.hlines(places, lower, upper, color=BAR, linewidth=5, alpha=0.45, label=what)
    ax.plot(stability.mean_ranks[shown], places, "o", color=BAR, markersize=4, label="mean rank", zorder=3)
    ax.plot(places + 1, places, "|", color=CHOSEN, markersize=11, label="place in the list", zorder=3)
    if len(stability.names) > LINEAR:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlim(left=0.5 if len(stability.names) <= LINEAR else 0.9)
    ax.set_xlabel(f"rank over {stability.drawn}")
    whole_numbers(ax)
    tidy(ax, grid="x")
    name_rows(ax, [stability.names[i] for i in shown])
    # above the axes, as many entries in a row as there is room for: beside a long list of names the axes are narrow
    wide = ax.get_window_extent().width / ax.figure.dpi
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        borderaxespad=0.0,
        ncols=max(1, min(3, int(wide / _ENTRY))),
    )
    return ax
