"""Pictures of features and labels with a structure: targets, groups, pixels, a label hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, count
from omnirank.core.ranking.accumulators import TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike
from omnirank.plots.style import (
    BAR,
    CHOSEN,
    FAINT,
    INK,
    colour_scale,
    finish,
    name_rows,
    new_axes,
    no_frame,
    set_title,
    short_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from omnirank.data.hierarchy import Hierarchy

_COLOURS = "viridis"
_MOST_NAMED_TARGETS = 80
# Relative scores that look like 0 on a linear scale; where most do, a scale of roots shows them.
_OUTSHONE = 0.1
_MOST = 0.8
# Scores below this share of the largest of all targets are rounding: those of labels that no example has, say.
_ROUNDING = 1e-12
# Images with fewer rows per column have their scale below.
_FLAT = 0.35


def plot_target_scores(ranking: Ranking, ax: Axes | None = None, k: int = 40, *, cluster: bool = True) -> Axes:
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

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.core.ranking.accumulators import TargetScores
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
    size = min(14.0, 3.2 + 0.42 * len(columns)), min(20.0, 1.6 + 0.2 * len(rows))
    ax = new_axes(*size) if ax is None else ax
    image = ax.imshow(cells, cmap=_COLOURS, norm=_scale(cells), aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(rows)), short_names([ranking.names[i] for i in chosen[rows]]), parse_math=False)
    if len(columns) <= _MOST_NAMED_TARGETS:
        labels = short_names([names[i] for i in columns], 24)
        ax.set_xticks(range(len(columns)), labels, rotation=90, parse_math=False)
    else:
        ax.set_xticks([])
        ax.set_xlabel(counted(len(columns), "target"))
    ax.tick_params(length=0, labelsize="small")
    no_frame(ax)
    colour_scale(ax, image, "score, relative to the target's largest", shrink=0.6, pad=0.02)
    return ax


def _scale(cells: np.ndarray) -> Normalize:
    """A linear scale, or one of roots where few features outshine the others, which would all look like 0."""
    from matplotlib.colors import Normalize, PowerNorm

    crowded = (cells[cells > 0] < _OUTSHONE).mean() > _MOST if (cells > 0).any() else False
    return PowerNorm(0.4, vmin=0, vmax=1) if crowded else Normalize(vmin=0, vmax=1)


def relative_scores(scores: TargetScores) -> np.ndarray:
    """Return the scores by target, each divided by the largest of its target; negative ones and rounding are 0."""
    positive = np.maximum(scores.scores, 0.0)
    positive[positive <= _ROUNDING * positive.max(initial=0.0)] = 0.0
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


def plot_group_shares(
    ranking: Ranking, groups: Mapping[str, str], ax: Axes | None = None, k: int = 20, *, by_target: bool = False
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
    by_target : bool
        Draw the shares in the scores of each target, as a bar of all groups per target.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.plots import plot_group_shares
    >>> ranking = Ranking(["a", "b", "c"], [1.0, 2.0, 5.0], "genie3")
    >>> ax = plot_group_shares(ranking, {"a": "body", "b": "body", "c": "head"})
    >>> [float(bar.get_width()) for bar in ax.patches], [label.get_text() for label in ax.get_yticklabels()]
    ([0.625, 0.375], ['head (1)', 'body (2)'])
    """
    shares = ranking.group_scores(groups, as_shares=True)
    sizes = {str(group): [groups[name] for name in ranking.names].count(group) for group in shares.index}
    rows = {"": shares}
    if by_target:
        if ranking.per_target is None:
            raise DataError("this ranking has no per-target scores: rank with per_target=True, or by PerTargetRanker")
        names = ranking.per_target.names
        rows = {name: ranking.for_target(name).group_scores(groups, as_shares=True)[shares.index] for name in names}
    if len(shares) > k:
        rest = shares.index[k - 1 :]
        others = f"{len(rest)} others"
        for name, row in rows.items():
            rows[name] = row.drop(rest)
            rows[name][others] = row[rest].sum()
        sizes[others] = sum(sizes[str(group)] for group in rest)
    shown = [(str(group), sizes[str(group)]) for group in next(iter(rows.values())).index]
    n_rows = len(rows) if by_target else len(shown)
    ax = new_axes(width=5.8, height=1.2 + 0.28 * n_rows) if ax is None else ax
    if by_target:
        return _stacked(ax, rows, [f"{group} ({size})" for group, size in shown])
    ax.barh(range(n_rows), rows[""].to_numpy(), height=0.72, color=BAR, zorder=2)
    expected = [size / len(ranking) for _, size in shown]
    ax.plot(expected, range(n_rows), "|", markersize=14, color=CHOSEN, label="share of the features", zorder=3)
    name_rows(ax, [f"{group} ({size})" for group, size in shown])
    ax.set_xlim(left=0)
    return finish(ax, "share of the scores", grid="x", legend="lower right")


def _stacked(ax: Axes, rows: Mapping[str, pd.Series], labels: list[str]) -> Axes:
    """A bar per row, with the parts of all groups beside each other."""
    from matplotlib import colormaps

    parts = np.array([row.to_numpy() for row in rows.values()])
    ends = parts.cumsum(axis=1)
    for i, label in enumerate(labels):
        colour = colormaps[_COLOURS](i / max(1, len(labels) - 1))
        ax.barh(range(len(rows)), parts[:, i], left=ends[:, i] - parts[:, i], height=0.8, color=colour, label=label)
    name_rows(ax, list(rows))
    ax.set_xlim(0, 1)
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return finish(ax, "share of the scores of the target", grid="x")


def score_map(
    scores: Ranking | Any,
    shape: tuple[int, int],
    ax: Axes | None = None,
    *,
    colorbar: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw the scores of features that are the pixels of an image, row by row.

    Parameters
    ----------
    scores : Ranking or array-like of shape (n_features,)
        Scores in the order of the pixels. Negative scores mean irrelevance and are drawn like 0.
    shape : tuple of int
        Rows and columns of the image.
    ax : Axes, optional
        Where to draw; by default a new figure outside pyplot (no display is needed).
    colorbar : bool
        Draw the scale.
    title : str, optional
        Title; by default the method of the ranking.

    Returns
    -------
    Axes
        Its ``figure`` has ``savefig``.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.plots import score_map
    >>> score_map(np.arange(6.0), shape=(2, 3)).images[0].get_array().shape
    (2, 3)
    """
    values = scores.scores if isinstance(scores, Ranking) else np.asarray(scores, dtype=np.float64)
    n_rows, n_columns = shape
    if values.ndim != 1 or n_rows * n_columns != values.size:
        raise DataError(f"scores of shape {values.shape} do not fill an image of {n_rows} x {n_columns} pixels")
    is_flat = n_rows < _FLAT * n_columns
    ax = new_axes(*_map_size(n_rows / n_columns, is_flat)) if ax is None else ax
    pixels = np.maximum(values, 0).reshape(n_rows, n_columns)
    # without a positive score there is no scale: an image of zeros in the lowest colour
    image = ax.imshow(pixels, cmap="magma", vmin=0.0, vmax=float(pixels.max()) or 1.0, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    no_frame(ax)
    if colorbar:
        # beside a single row the scale would be a dot
        place: dict[str, Any] = {"orientation": "horizontal", "pad": 0.08} if is_flat else {"shrink": 0.9, "pad": 0.03}
        colour_scale(ax, image, "score", **place)
    if title is None and isinstance(scores, Ranking):
        title = f"{scores.method}: scores by pixel"
    if title:
        set_title(ax, title)
    return ax


def _map_size(ratio: float, is_flat: bool) -> tuple[float, float]:
    """Width and height of a figure in inches, for rows per column: the longer side of the image is 4.2, at least."""
    if is_flat:
        return 5.4, max(1.4, 1.2 + 4.6 * ratio)
    return (5.0, 4.2 * ratio) if ratio <= 1 else (max(2.4, 1.2 + 4.6 / ratio), 4.6)


def plot_hierarchy(
    hierarchy: Hierarchy,
    values: ArrayLike | Mapping[str, float],
    ax: Axes | None = None,
    k: int = 60,
    *,
    what: str = "importance",
) -> Axes:
    """Draw the labels of a hierarchy below each other, indented by depth, coloured by a value.

    A label stands below its first parent; thin lines lead to further parents.

    Parameters
    ----------
    hierarchy : Hierarchy
        The labels, a tree or a directed acyclic graph.
    values : array-like of shape (n_labels,) or mapping
        A value per label, in their order or by name.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of labels: of more, those with the largest values, and their ancestors.
    what : str
        What the values are.

    Examples
    --------
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.plots import plot_hierarchy
    >>> hierarchy = Hierarchy.from_edges([("animal", "cat"), ("animal", "dog")])
    >>> ax = plot_hierarchy(hierarchy, {"animal": 1.0, "cat": 0.5, "dog": 0.2})
    >>> [text.get_text() for text in ax.texts]
    ['animal', 'cat', 'dog']
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    check("k", k, count(1))
    colours = _values(hierarchy, values)
    place = _places(hierarchy, _shown(hierarchy, colours, k))
    rows, deepest = list(place), max(x for x, _ in place.values())
    ax = new_axes(width=4.5 + 0.45 * deepest, height=0.8 + 0.21 * len(rows)) if ax is None else ax
    scale = Normalize(min(0.0, float(colours.min())), float(colours.max()) or 1.0)
    for label in rows:
        x, y = place[label]
        for i, parent in enumerate(p for p in hierarchy.parents[label] if p in place):
            px, py = place[parent]
            style = {"linewidth": 1.0} if i == 0 else {"linewidth": 0.6, "linestyle": ":"}
            ax.plot([px, px, x], [py, y, y], color=FAINT, zorder=1, **style)
    dots = np.array([place[label] for label in rows], dtype=np.float64)
    shade = colormaps[_COLOURS](scale(colours[rows]))
    ax.scatter(dots[:, 0], dots[:, 1], s=46, c=shade, edgecolors=INK, linewidths=0.5, zorder=3)
    for label, text in zip(rows, short_names([hierarchy.labels[i] for i in rows]), strict=True):
        x, y = place[label]
        ax.text(x + 0.25, y, text, va="center", fontsize="small", color=INK, parse_math=False)
    if left := len(hierarchy) - len(rows):
        words = f"... and {counted(left, 'label')} with smaller values, not drawn"
        ax.text(0, len(rows), words, va="center", fontsize="small", color=FAINT)
    ax.set_xlim(-0.5, deepest + 6.5)
    ax.set_ylim(len(rows) + 0.7 * bool(left) - 0.3, -0.7)
    colour_scale(ax, ScalarMappable(scale, _COLOURS), what, shrink=0.6, pad=0.02)
    return finish(ax)


def _values(hierarchy: Hierarchy, values: ArrayLike | Mapping[str, float]) -> np.ndarray:
    if isinstance(values, Mapping):
        missing = [label for label in hierarchy.labels if label not in values]
        if missing:
            raise DataError(f"no value for {counted(len(missing), 'label')}, the first is {missing[0]!r}")
        values = [values[label] for label in hierarchy.labels]
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (len(hierarchy),) or not np.isfinite(found).all():
        raise DataError(f"values of shape {found.shape} for {counted(len(hierarchy), 'label')}: give a number for each")
    return found


def _shown(hierarchy: Hierarchy, values: np.ndarray, k: int) -> set[int]:
    """The labels with the largest values, each with its ancestors, as many as fit."""
    chosen: set[int] = set()
    for label in np.argsort(-values, kind="stable").tolist():
        more = {label, *hierarchy.ancestors[[label]].indices.tolist()}
        if not chosen or len(chosen | more) <= k:
            chosen |= more
        if len(chosen) >= k:
            break
    return chosen


def _places(hierarchy: Hierarchy, shown: set[int]) -> dict[int, tuple[int, int]]:
    """Depth and row of labels from the top, each below its first parent."""
    places: dict[int, tuple[int, int]] = {}
    waiting = [(label, 0) for label in sorted(shown, reverse=True) if not len(hierarchy.parents[label])]
    while waiting:
        label, depth = waiting.pop()
        places[label] = depth, len(places)
        below = [child for child in hierarchy.children[label] if child in shown]
        waiting += [(child, depth + 1) for child in reversed(below) if hierarchy.parents[child][0] == label]
    return places
