"""The picture of a tree, from left to right."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.parameters import check, count
from omnirank.plots.style import BAR, CHOSEN, GRID, INK, finish, new_axes, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.trees.export import TreeWords

# Targets whose means a leaf of many targets shows: those that deviate most.
_DEVIATING = 3
# Inches of a column and of a line, and characters that fit.
_COLUMN, _LINE = 2.9, 0.19
_WRAPPED, _LONGEST = 34, 24


def plot_tree(
    model: Any,
    ax: Axes | None = None,
    *,
    tree: int = 0,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    max_depth: int = 4,
) -> Axes:
    """Draw a tree from the root at the left to its leaves at the right.

    Branches are as thick as they have examples. A leaf shows what it
    predicts; of more than three targets those whose mean in the leaf deviates most from the mean of all examples, in
    standard deviations of the target.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, PCTForestClassifier, PCTForestRegressor, PCTClusterer or Tree
        Fitted.
    ax : Axes, optional
        Where to draw; by default a new figure.
    tree : int
        Which tree of a forest, from 0.
    feature_names, target_names : sequence of str, optional
        Other names than those of the training data.
    max_depth : int
        Depth below which subtrees are only counted.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.plots import plot_tree
    >>> model = om.PCTClassifier(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> [text.get_text() for text in plot_tree(model, feature_names=["dose"]).texts]
    ['yes', 'no', 'dose <= 2.5', 'no (100 %)\\n2 examples', 'yes (100 %)\\n2 examples']
    """
    from omnirank.trees.export import words_of

    check("max_depth", max_depth, count(0))
    words = words_of(model, tree, feature_names, target_names)
    names = tuple(short_names(words.feature_names, _LONGEST)), tuple(short_names(words.target_names, _LONGEST))
    words = replace(words, feature_names=names[0], target_names=names[1])
    places = _places(words, max_depth)
    n_rows = 1 + max(row for _, row in places.values())
    deepest = max(column for column, _ in places.values())
    texts = _texts(words, places, max_depth, _Leaves(words, getattr(model, "_column_spread", None)))
    if ax is None:
        row = _LINE * (1 + max(text.count("\n") + 1 for text in texts.values()))
        ax = new_axes(_COLUMN * (deepest + 1), 0.4 + row * n_rows)
    grown = words.tree
    for node, (x, y) in places.items():
        is_test = not grown.is_leaf[node] and x < max_depth
        for child, colour in ((node + 1, BAR), (int(grown.right[node]), CHOSEN)) if is_test else ():
            cx, cy = places[child]
            width = 0.8 + 6.0 * float(grown.weight[child] / grown.weight[0])
            ax.plot([x, x + 0.5, cx], [y, cy, cy], color=colour, linewidth=width, alpha=0.35, zorder=1)
            answer = "yes" if child == node + 1 else "no"
            ax.text(cx - 0.06, cy, answer, ha="right", va="center", fontsize="small", color=INK, zorder=2)
        box = {"boxstyle": "round,pad=0.3", "facecolor": "#ffffff", "edgecolor": INK if is_test else GRID}
        style: dict[str, Any] = {"ha": "left", "va": "center", "fontsize": "small", "color": INK, "zorder": 3}
        ax.text(x, y, texts[node], bbox=box, parse_math=False, **style)
    ax.set_xlim(-0.05, deepest + 0.95)
    ax.set_ylim(n_rows - 0.4, -0.6)
    return finish(ax)


def _texts(words: TreeWords, places: dict[int, tuple[int, float]], max_depth: int, leaves: _Leaves) -> dict[int, str]:
    """What stands in each node."""
    texts = {}
    for node, (column, _) in places.items():
        if words.tree.is_leaf[node]:
            text = f"{leaves.text(node)}\n{words.size(node)}"
        elif column < max_depth:
            text = words.test(node)
        else:
            text = f"... {words.n_leaves(node)} leaves\n{words.size(node)}"
        texts[node] = "\n".join(part for line in text.split("\n") for part in textwrap.wrap(line, _WRAPPED) or [""])
    return texts


def _places(words: TreeWords, max_depth: int) -> dict[int, tuple[int, float]]:
    """Column and row of each node that is shown: leaves below each other, a test in the middle of its two."""
    tree, found, next_row = words.tree, dict[int, tuple[int, float]](), 0

    def put(node: int, depth: int) -> float:
        nonlocal next_row
        if tree.is_leaf[node] or depth == max_depth:
            row, next_row = float(next_row), next_row + 1
        else:
            row = (put(node + 1, depth + 1) + put(int(tree.right[node]), depth + 1)) / 2
        found[node] = (depth, row)
        return row

    put(0, 0)
    return dict(sorted(found.items()))


class _Leaves:
    """What leaves say: all of few targets, of many those that deviate."""

    def __init__(self, words: TreeWords, spread: np.ndarray | None) -> None:
        self._words = words
        leaves = np.flatnonzero(words.tree.is_leaf)
        self._many = len(words.target_names) > _DEVIATING and not words.is_clusters
        if self._many:
            values = np.array([words.prototype(node) for node in leaves.tolist()])
            weights = words.tree.weight[leaves] / words.tree.weight[leaves].sum()
            self._mean = weights @ values
            # a tree alone does not know how its targets vary: between its leaves, at least
            between = np.sqrt(weights @ (values - self._mean) ** 2)
            self._spread: np.ndarray = between if spread is None or len(spread) != len(between) else spread

    def text(self, node: int) -> str:
        """What a leaf predicts."""
        words = self._words
        if not self._many:
            return words.leaf(node)
        values = words.prototype(node)
        deviations = np.divide(values - self._mean, self._spread, out=np.zeros(len(values)), where=self._spread > 0)
        names = self._column_names()
        order = np.argsort(-np.abs(deviations), kind="stable")[:_DEVIATING]
        shown = [self._one(names[i], values[i], deviations[i]) for i in order.tolist() if deviations[i] != 0]
        return "\n".join(shown) or "like all examples"

    def _one(self, name: str, value: float, deviation: float) -> str:
        share = self._words.is_labels or " = " in name
        shown = f"{100 * value:.3g} %" if share else f"{value:.{self._words.digits}g}"
        return f"{name}: {shown} {'↑' if deviation > 0 else '↓'}"

    def _column_names(self) -> list[str]:
        words = self._words
        if words.is_labels:
            return list(words.target_names)
        pairs = zip(words.target_names, words.target_levels, strict=True)
        return [
            text for name, levels in pairs for text in ([name] if levels is None else [f"{name} = {v}" for v in levels])
        ]
