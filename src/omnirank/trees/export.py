"""Trees as text for people and as Graphviz for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnirank.core.text import counted
from omnirank.trees.tree_text import TreeWords, words_of


def export_text(
    model: Any,
    *,
    tree: int = 0,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    threshold: float = 0.5,
    max_depth: int | None = None,
    digits: int = 4,
) -> str:
    """Return a tree as indented text.

    A test is a condition; examples for which it holds go to ``yes``. Missing values are mentioned only if they go there
    as well. A leaf shows what it predicts - a class and its share, a mean, labels and their shares, or the number of a
    cluster - and how many training examples it holds.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, PCTForestClassifier, PCTForestRegressor, PCTClusterer or Tree
        Fitted. A tree alone knows no names: its targets are numbers.
    tree : int
        Which tree of a forest, from 0.
    feature_names, target_names : sequence of str, optional
        Other names than those of the training data.
    threshold : float
        Frequency from which a label is shown.
    max_depth : int, optional
        Depth below which subtrees are only counted.
    digits : int
        Digits of a number that are shown.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> model = om.PCTClassifier(pruning=None).fit(X, ["no", "no", "yes", "yes"])
    >>> print(om.export_text(model, feature_names=["dose"]))
    dose <= 2.5
    |-- yes: no (100 %), 2 examples
    `-- no:  yes (100 %), 2 examples
    """
    words = words_of(model, tree, feature_names, target_names, threshold, digits)
    lines: list[str] = []
    _write(words, 0, "", "", max_depth, lines)
    return "\n".join(lines)


def _write(words: TreeWords, node: int, before: str, indent: str, max_depth: int | None, lines: list[str]) -> None:
    """Write a subtree; a stack, because trees may be deeper than Python's recursion."""
    waiting = [(node, before, indent)]
    while waiting:
        node, before, indent = waiting.pop()
        tree = words.tree
        if tree.is_leaf[node]:
            lines.append(f"{before}{words.leaf(node)}, {words.size(node)}")
            continue
        if max_depth is not None and tree.depth[node] >= max_depth:
            lines.append(f"{before}... {counted(words.n_leaves(node), 'leaf')}, {words.size(node)}")
            continue
        lines.append(f"{before}{words.test(node)}")
        waiting.append((int(tree.right[node]), f"{indent}`-- no:  ", f"{indent}    "))
        waiting.append((node + 1, f"{indent}|-- yes: ", f"{indent}|   "))


def export_graphviz(
    model: Any,
    *,
    tree: int = 0,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    threshold: float = 0.5,
    max_depth: int | None = None,
    digits: int = 4,
) -> str:
    """Return a tree in the DOT language of Graphviz.

    Parameters
    ----------
    model, tree, feature_names, target_names, threshold, max_depth, digits
        As in :func:`export_text`.

    Returns
    -------
    str
        The text, for ``dot -Tsvg`` and the like.

    Examples
    --------
    >>> import omnirank as om
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> print(om.export_graphviz(model))
    digraph tree {
      node [shape=box, style=rounded, fontname="sans-serif"];
      0 [label="x0 <= 2.5\\n4 examples"];
      1 [label="0.5\\n2 examples", style="rounded,filled"];
      0 -> 1 [label="yes"];
      2 [label="2.5\\n2 examples", style="rounded,filled"];
      0 -> 2 [label="no"];
    }
    """
    words = words_of(model, tree, feature_names, target_names, threshold, digits)
    arrays = words.tree
    lines = ["digraph tree {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    waiting: list[tuple[int, int, str]] = [(0, -1, "")]
    while waiting:
        node, parent, side = waiting.pop()
        leaf = arrays.is_leaf[node]
        cut = not leaf and max_depth is not None and arrays.depth[node] >= max_depth
        if cut:
            text = f"... {counted(words.n_leaves(node), 'leaf')}"
        else:
            text = words.leaf(node) if leaf else words.test(node)
        style = ', style="rounded,filled"' if leaf else ""
        lines.append(f'  {node} [label="{_quoted(text)}\\n{words.size(node)}"{style}];')
        if parent >= 0:
            lines.append(f'  {parent} -> {node} [label="{side}"];')
        if not leaf and not cut:
            waiting += [(int(arrays.right[node]), node, "no"), (node + 1, node, "yes")]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
