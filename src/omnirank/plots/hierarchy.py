"""The picture of a label hierarchy, with a colour for each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, count
from omnirank.core.plurals import counted
from omnirank.core.types import ArrayLike
from omnirank.plots.style import FAINT, INK, new_axes, set_title, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.data.hierarchy import Hierarchy


def plot_hierarchy(
    hierarchy: Hierarchy,
    values: ArrayLike | Mapping[str, float],
    ax: Axes | None = None,
    k: int = 60,
    *,
    what: str = "importance",
    cmap: str = "viridis",
    title: str | None = None,
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
    cmap : str
        Name of a matplotlib colour map.
    title : str, optional
        Title.

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
    shown = _shown(hierarchy, colours, k)
    rows = _rows(hierarchy, set(shown.tolist()))
    depth = {label: _indent(hierarchy, label) for label in rows}
    place = {label: (depth[label], row) for row, label in enumerate(rows)}
    deepest = max(depth.values())
    ax = new_axes(width=4.5 + 0.45 * deepest, height=0.8 + 0.21 * len(rows)) if ax is None else ax
    scale = Normalize(min(0.0, float(colours.min())), float(colours.max()) or 1.0)
    for label in rows:
        x, y = place[label]
        for i, parent in enumerate(p for p in hierarchy.parents[label] if p in place):
            px, py = place[parent]
            style = {"linewidth": 1.0} if i == 0 else {"linewidth": 0.6, "linestyle": ":"}
            ax.plot([px, px, x], [py, y, y], color=FAINT, zorder=1, **style)
    dots = np.array([place[label] for label in rows], dtype=np.float64)
    shade = colormaps[cmap](scale(colours[rows]))
    ax.scatter(dots[:, 0], dots[:, 1], s=46, c=shade, edgecolors=INK, linewidths=0.5, zorder=3)
    for label, text in zip(rows, short_names([hierarchy.labels[i] for i in rows]), strict=True):
        x, y = place[label]
        ax.text(x + 0.25, y, text, va="center", fontsize="small", color=INK, parse_math=False)
    ax.set_xlim(-0.5, deepest + 6.5)
    ax.set_ylim(len(rows) - 0.3, -0.7)
    ax.set_axis_off()
    bar = ax.figure.colorbar(ScalarMappable(scale, cmap), ax=ax, shrink=0.6, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label(what)
    if title is not None:
        set_title(ax, title)
    return ax


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


def _shown(hierarchy: Hierarchy, values: np.ndarray, k: int) -> np.ndarray:
    """The labels with the largest values, each with its ancestors, as many as fit."""
    if len(hierarchy) <= k:
        return np.arange(len(hierarchy))
    chosen: set[int] = set()
    above = hierarchy.ancestors
    for label in np.argsort(-values, kind="stable").tolist():
        more = {label, *above[[label]].indices.tolist()}
        if chosen and len(chosen | more) > k:
            continue
        chosen |= more
        if len(chosen) >= k:
            break
    return np.array(sorted(chosen))


def _rows(hierarchy: Hierarchy, shown: set[int]) -> list[int]:
    """Labels from the top, each below its first parent."""
    found: list[int] = []
    waiting = [
        label for label in reversed(range(len(hierarchy))) if label in shown and not len(hierarchy.parents[label])
    ]
    while waiting:
        label = waiting.pop()
        found.append(label)
        below = [child for child in hierarchy.children[label] if child in shown]
        waiting += [child for child in reversed(below) if hierarchy.parents[child][0] == label]
    return found


def _indent(hierarchy: Hierarchy, label: int) -> int:
    """Depth along first parents."""
    steps = 0
    while len(hierarchy.parents[label]):
        label, steps = hierarchy.parents[label][0], steps + 1
    return steps
