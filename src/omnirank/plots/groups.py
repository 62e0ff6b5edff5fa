"""Shares of groups of features in the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from omnirank.core.ranking import Ranking
from omnirank.plots.style import BAR, CHOSEN, name_rows, new_axes, set_title, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_group_shares(
    ranking: Ranking, groups: Mapping[str, str], ax: Axes | None = None, k: int = 20, *, title: str | None = None
) -> Axes:
    """Draw which share of all scores each group of features has, beside its share of the features.

    Parameters
    ----------
    ranking : Ranking
        The scores; negative ones count as 0.
    groups : mapping
        Feature name -> group, of all features.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of groups, the largest first; the others are added up.
    title : str, optional
        Title.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.plots import plot_group_shares
    >>> ranking = Ranking(["a", "b", "c"], [1.0, 2.0, 5.0], "genie3")
    >>> ax = plot_group_shares(ranking, {"a": "body", "b": "body", "c": "head"})
    >>> [float(bar.get_width()) for bar in ax.patches], [label.get_text() for label in ax.get_yticklabels()]
    ([0.625, 0.375], ['head (1)', 'body (2)'])
    """
    shares = ranking.group_scores(groups, as_shares=True)
    sizes = dict.fromkeys(shares.index, 0)
    for name in ranking.names:
        sizes[groups[name]] += 1
    shown = [(str(group), float(share), sizes[group]) for group, share in shares.items()]
    if len(shown) > k:
        rest = shown[k - 1 :]
        shown = [*shown[: k - 1], (f"{len(rest)} others", sum(r[1] for r in rest), sum(r[2] for r in rest))]
    ax = new_axes(width=7.0, height=1.2 + 0.28 * len(shown)) if ax is None else ax
    places = range(len(shown))
    ax.barh(places, [share for _, share, _ in shown], height=0.72, color=BAR, zorder=2)
    expected = [size / len(ranking) for *_, size in shown]
    ax.plot(expected, places, "|", markersize=14, color=CHOSEN, label="share of the features", zorder=3)
    tidy(ax, grid="x")
    name_rows(ax, [f"{group} ({size})" for group, _, size in shown])
    ax.set_xlim(left=0)
    ax.set_xlabel("share of the scores")
    ax.legend(frameon=False, loc="lower right")
    if title is not None:
        set_title(ax, title)
    return ax
