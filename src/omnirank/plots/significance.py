"""The picture of p values: which features tell more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.multiplicity import CORRECTIONS, adjusted_p_values
from omnirank.core.parameters import check, count, number
from omnirank.core.ranking import Ranking
from omnirank.plots.style import BAR, CHOSEN, FAINT, name_rows, new_axes, set_title, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# p values below are drawn here: what is smaller says nothing more, since no test is exact so far out.
SMALLEST_P = 1e-12


def plot_significance(
    ranking: Ranking,
    ax: Axes | None = None,
    k: int = 30,
    *,
    alpha: float = 0.05,
    correction: str | None = "fdr",
    title: str | None = None,
) -> Axes:
    """Draw the p values of the k best features, on a scale on which small ones are far to the right.

    Parameters
    ----------
    ranking : Ranking
        With p values (`omnirank.significance`).
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of features.
    alpha : float
        Level, drawn as a line.
    correction : {"fdr", "family-wise"} or None
        How p values are corrected for the number of features, as in `Ranking.relevant`.
    title : str, optional
        Title.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.plots import plot_significance
    >>> ranking = Ranking(["a", "b"], [0.5, 0.2], "unbiased", p_values=[0.0005, 0.5])
    >>> plot_significance(ranking).collections[0].get_offsets()[:, 0].round(2).tolist()
    [3.0, 0.3]
    """
    check("k", k, count(1))
    check("alpha", alpha, number(above=0, below=1))
    if ranking.p_values is None:
        raise DataError("this ranking has no p values: om.significance(ranker, X, y) or rank --significance has")
    shown = ranking.order[:k]
    corrected = adjusted_p_values(ranking.p_values, correction)[shown]
    ax = new_axes(width=7.0, height=1.2 + 0.24 * len(shown)) if ax is None else ax
    values = -np.log10(np.maximum(corrected, SMALLEST_P))
    colours = [BAR if p <= alpha else FAINT for p in corrected]
    places = np.arange(len(shown))
    ax.scatter(values, places, s=22, color=colours, zorder=3, clip_on=False)
    ax.hlines(places, 0, values, color=colours, linewidth=1.4, alpha=0.6, zorder=2)
    ax.axvline(-np.log10(alpha), color=CHOSEN, linewidth=1.2, linestyle="--", label=f"p = {alpha:g}", zorder=1)
    tidy(ax, grid="x")
    name_rows(ax, [ranking.names[i] for i in shown])
    ax.set_xlim(left=0)
    how = CORRECTIONS[correction] if correction is not None else "not corrected"
    cut = f"; below {SMALLEST_P:.0e} drawn as that" if (corrected < SMALLEST_P).any() else ""
    ax.set_xlabel(f"-log10 p ({how}{cut})")
    ax.legend(frameon=False, loc="lower right")
    if title is not None:
        set_title(ax, title)
    return ax
