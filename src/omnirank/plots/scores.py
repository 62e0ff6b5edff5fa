"""The picture of all scores: how they fall from the first feature to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.parameters import check, choice, count
from omnirank.core.ranking import Ranking
from omnirank.core.types import ArrayLike
from omnirank.plots.style import BAR, CHOSEN, FAINT, LINEAR, new_axes, set_title, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scores(
    ranking: Ranking,
    ax: Axes | None = None,
    *,
    reference: ArrayLike | None = None,
    cut: int | None = None,
    cut_label: str = "suggested cut",
    log: bool | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the scores over the rank, with what chance gives and where to cut.

    Parameters
    ----------
    ranking : Ranking
        What to draw; the band is one standard error to either side, where the ranking has them.
    ax : Axes, optional
        Where to draw; by default a new figure.
    reference : array-like, optional
        Scores of features that tell nothing, such as those of the same method for a shuffled target; drawn from the
        largest to the smallest.
    cut : int, optional
        Number of features to keep.
    cut_label : str
        What the legend calls the cut.
    log : bool, optional
        Whether the axis of ranks is logarithmic; by default with more than 60 features, since the top matters.
    title : str, optional
        Title.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.plots import plot_scores
    >>> ranking = Ranking(["a", "b", "c"], [0.1, 0.7, 0.2], "genie3")
    >>> ax = plot_scores(ranking, reference=[0.1, 0.15, 0.05], cut=2)
    >>> ax.lines[0].get_ydata().tolist(), [text.get_text() for text in ax.get_legend().get_texts()]
    ([0.7, 0.2, 0.1], ['scores', 'shuffled target', 'suggested cut: 2'])
    """
    n = len(ranking)
    check("cut", cut, choice(None) | count(1, n, "features"))
    ax = new_axes(width=6.4, height=3.6) if ax is None else ax
    places, order = np.arange(1, n + 1), ranking.order
    scores = ranking.scores[order]
    dots = {"marker": "o", "markersize": 3.5} if n <= LINEAR else {}
    ax.plot(places, scores, color=BAR, linewidth=1.8, label="scores", zorder=3, **dots)  # type: ignore[arg-type]
    if ranking.standard_errors is not None:
        errors = ranking.standard_errors[order]
        ax.fill_between(places, scores - errors, scores + errors, color=BAR, alpha=0.2, linewidth=0, zorder=2)
    if reference is not None:
        chance = np.sort(np.asarray(reference, dtype=np.float64))[::-1]
        ranks = np.arange(1, len(chance) + 1)
        ax.plot(ranks, chance, color=FAINT, linestyle="--", linewidth=1.4, label="shuffled target", zorder=2)
    if cut is not None:
        ax.axvline(cut + (0.5 if cut < n else 0), color=CHOSEN, linewidth=1.4, label=f"{cut_label}: {cut}", zorder=1)
    if n > LINEAR if log is None else log:
        ax.set_xscale("log")
    ax.set_xlim(1, max(2, n))
    ax.set_xlabel("rank")
    whole_numbers(ax)
    ax.set_ylabel("score")
    tidy(ax, grid="y")
    ax.legend(frameon=False, loc="upper right")
    if title is not None:
        set_title(ax, title)
    return ax
