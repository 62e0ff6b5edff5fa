"""Features by targets: which features matter for all targets, and which for some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, count
from omnirank.core.plurals import counted
from omnirank.core.ranking import Ranking
from omnirank.core.target_scores import TargetScores
from omnirank.plots.style import new_axes, set_title, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

_MOST_NAMED_TARGETS = 80
# Relative scores that look like 0 on a linear scale; where most do, a scale of roots shows them.
_OUTSHONE = 0.1
_MOST = 0.8


def plot_target_scores(
    ranking: Ranking,
    ax: Axes | None = None,
    k: int = 40,
    *,
    cluster: bool = True,
    cmap: str = "viridis",
    title: str | None = None,
) -> Axes:
    """Draw the scores of features for each target as a heat map.

    Scores are relative to the largest of their target, negative ones are drawn like 0. The features are those with the
    largest share of a target's best score, for any target; alike rows stand together, and alike columns.

    Parameters
    ----------
    ranking : Ranking
        With scores by target (``per_target``).
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of features.
    cluster : bool
        Whether features and targets are ordered by how alike their scores are; else the features by their rank, and the
        targets as in the data.
    cmap : str
        Name of a matplotlib colour map.
    title : str, optional
        Title.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.core.target_scores import TargetScores
    >>> from omnirank.plots import plot_target_scores
    >>> scores = TargetScores(("power", "cost"), [[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> ax = plot_target_scores(Ranking(["a", "b", "c"], [2.0, 1.0, 1.0], "genie3", per_target=scores), k=2)
    >>> ax.images[0].get_array().tolist(), [label.get_text() for label in ax.get_yticklabels()]
    ([[1.0, 0.0], [0.0, 1.0]], ['a', 'b'])
    """
    check("k", k, count(1))
    if ranking.per_target is None:
        raise DataError("this ranking has no per-target scores: rank with per_target=True, or by PerTargetRanker")
    relative = relative_scores(ranking.per_target)
    chosen = shown_features(ranking, k)
    names = ranking.per_target.names
    rows, columns = np.arange(len(chosen)), np.arange(len(names))
    if cluster:
        rows, columns = like_order(relative[:, chosen].T), like_order(relative[:, chosen])
    cells = relative[np.ix_(columns, chosen[rows])].T
    if ax is None:
        ax = new_axes(min(14.0, 3.2 + 0.42 * len(columns)), min(20.0, 1.6 + 0.2 * len(rows)))
    image = ax.imshow(cells, cmap=cmap, norm=_scale(cells), aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(rows)), short_names([ranking.names[i] for i in chosen[rows]]), parse_math=False)
    if len(columns) <= _MOST_NAMED_TARGETS:
        labels = short_names([names[i] for i in columns], 24)
        ax.set_xticks(range(len(columns)), labels, rotation=90, parse_math=False)
    else:
        ax.set_xticks([])
        ax.set_xlabel(counted(len(columns), "target"))
    ax.tick_params(length=0, labelsize="small")
    for spine in ax.spines.values():
        spine.set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("score, relative to the target's largest")
    if title is not None:
        set_title(ax, title)
    return ax


def _scale(cells: np.ndarray) -> Normalize:
    """A linear scale, or one of roots where few features outshine the others, which would all look like 0."""
    from matplotlib.colors import Normalize, PowerNorm

    crowded = (cells[cells > 0] < _OUTSHONE).mean() > _MOST if (cells > 0).any() else False
    return PowerNorm(0.4, vmin=0, vmax=1) if crowded else Normalize(vmin=0, vmax=1)


def relative_scores(scores: TargetScores) -> np.ndarray:
    """Return the scores by target, each divided by the largest of its target; negative ones are 0."""
    positive = np.maximum(scores.scores, 0.0)
    largest = positive.max(axis=1, keepdims=True)
    return np.divide(positive, largest, out=np.zeros_like(positive), where=largest > 0)


def shown_features(ranking: Ranking, k: int) -> np.ndarray:
    """Return the k features with the largest relative score for any target, in the order of the ranking."""
    if ranking.per_target is None:
        return ranking.order[:k]
    best = relative_scores(ranking.per_target).max(axis=0)
    # of equals the better ranked
    first = np.lexsort((ranking.ranks, -best))[:k]
    return first[np.argsort(ranking.ranks[first], kind="stable")]


def like_order(rows: np.ndarray) -> np.ndarray:
    """Return the rows in an order in which alike ones are neighbours, that with the largest values first.

    Average linkage on Euclidean distances, leaves in their optimal order.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    n = len(rows)
    if n < 3:
        return np.arange(n)
    order = leaves_list(linkage(rows, "average", optimal_ordering=n <= 500))
    means = rows[order].sum(axis=1)
    half = n // 2
    return order if means[:half].sum() >= means[n - half :].sum() else order[::-1]
