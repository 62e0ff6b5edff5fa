"""Trees as text for people, as Graphviz for pictures, and as JSON for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.files import own_heading
from omnirank.core.parameters import check, count
from omnirank.core.text import counted
from omnirank.data.table import Levels, default_names, is_sparse, numbered_names
from omnirank.measures.table import first_largest, reaches
from omnirank.tasks import get_task
from omnirank.trees.tree import MOST, Tree

_MOST_LEVELS = 8
_MOST_LABELS = 12
_MOST_FREQUENT = 3
_FORMAT = "omnirank-tree"
_VERSION = 1


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
    arrays, lines = words.tree, []
    waiting = [(0, "", "")]  # a stack, because trees may be deeper than Python's recursion
    while waiting:
        node, before, indent = waiting.pop()
        if arrays.is_leaf[node]:
            lines.append(f"{before}{words.leaf(node)}, {words.size(node)}")
        elif max_depth is not None and arrays.depth[node] >= max_depth:
            lines.append(f"{before}... {counted(words.n_leaves(node), 'leaf')}, {words.size(node)}")
        else:
            lines.append(f"{before}{words.test(node)}")
            waiting.append((int(arrays.right[node]), f"{indent}`-- no:  ", f"{indent}    "))
            waiting.append((node + 1, f"{indent}|-- yes: ", f"{indent}|   "))
    return "\n".join(lines)


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


def export_json(
    model: Any, *, tree: int = 0, feature_names: Sequence[str] | None = None, target_names: Sequence[str] | None = None
) -> str:
    """Return a tree as JSON: its features, its targets, and its nodes in preorder.

    A node with a test has ``feature`` (a position), ``threshold`` (a number goes left if it is at most that) or
    ``left_levels`` (positions of the levels that go left), ``missing_left``, ``gain`` and ``right``, the number of its
    right child; its left child follows it. A leaf has ``prototype``: a list of numbers, or positions and values where
    most are 0. Every node has ``weight`` and ``depth``.

    Parameters
    ----------
    model, tree, feature_names, target_names
        As in :func:`omnirank.export_text`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import json
    >>> import omnirank as om
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> document = json.loads(om.export_json(model))
    >>> document["format"], document["features"], document["nodes"][1]
    ('omnirank-tree', [{'name': 'x0', 'levels': None}], {'weight': 2.0, 'depth': 1, 'prototype': [0.5]})
    """
    words = words_of(model, tree, feature_names, target_names)
    arrays = words.tree
    document = own_heading(_FORMAT, _VERSION) | {
        "task": getattr(model, "task_", None),
        "features": _variables(words.feature_names, arrays.levels),
        "targets": _variables(words.target_names, words.target_levels),
        "sparse": is_sparse(arrays.values),
        "n_values": int(arrays.values.shape[1]),
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in document.items()]
    nodes = ",\n".join(f"    {json.dumps(_node(arrays, node))}" for node in range(arrays.n_nodes))
    return "{\n" + ",\n".join([*lines, f'  "nodes": [\n{nodes}\n  ]']) + "\n}\n"


def _variables(names: Sequence[str], levels: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, "levels": None if lev is None else list(lev)} for name, lev in zip(names, levels, strict=True)
    ]


def _node(tree: Tree, node: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"weight": float(tree.weight[node]), "depth": int(tree.depth[node])}
    feature = int(tree.feature[node])
    if feature < 0:
        entry["prototype"] = _prototype(tree, node)
        return entry
    entry["feature"] = feature
    levels = tree.levels[feature]
    if levels is None:
        entry["threshold"] = float(tree.threshold[node])
    else:
        left = set(tree.left_levels(node))
        entry["left_levels"] = [code for code, level in enumerate(levels) if level in left]
    entry["missing_left"] = bool(tree.missing_left[node])
    entry["right"] = int(tree.right[node])
    entry["gain"] = float(tree.gain[node])
    return entry


def _prototype(tree: Tree, node: int) -> Any:
    values = tree.means(np.array([node]))
    if is_sparse(values):
        return {"positions": values.indices.tolist(), "values": values.data.tolist()}
    return values[0].tolist()


# -- trees in words -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeWords:
    """A tree with the names of its features and targets.

    Attributes
    ----------
    tree : Tree
        With prototypes.
    feature_names, target_names : tuple of str
        Names.
    target_levels : tuple
        Levels of each target, None for a number or a label.
    is_labels : bool
        Whether the targets are the labels of a set.
    threshold : float
        Frequency from which a label is predicted.
    digits : int
        Digits of a number that are shown.
    is_clusters : bool
        Whether leaves are clusters: they are numbered then.
    had_missing : tuple of bool or None
        For each feature whether some of its values were missing in training; None where that is not known.
    """

    tree: Tree
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    target_levels: tuple[Levels | None, ...]
    is_labels: bool
    threshold: float = 0.5
    digits: int = 4
    is_clusters: bool = False
    had_missing: tuple[bool, ...] | None = None

    def test(self, node: int) -> str:
        """Return the test of a node as a condition on the examples that go left."""
        tree = self.tree
        feature = tree.feature[node]
        name = self.feature_names[feature]
        levels = tree.levels[feature]
        told = self.had_missing is None or self.had_missing[feature]
        missing = " or missing" if told and tree.missing_left[node] else ""
        if levels is None and abs(tree.threshold[node]) == MOST:  # infinite where there is nothing to aggregate
            return f"{name} is {'defined' if tree.threshold[node] > 0 else 'undefined'}{missing}"
        if levels is None:
            return f"{name} <= {tree.threshold[node]:.{self.digits}g}{missing}"
        left = set(tree.left_levels(node))
        chosen = [level for level in levels if level in left]
        others = [level for level in levels if level not in left]
        if len(others) < len(chosen) and others:
            # "not in" would say yes to a missing value: it is named where it goes left, and kept out where not
            return f"{name} not in {_set(others)}" + (missing or (" and not missing" if told else ""))
        return f"{name} in {_set(chosen)}{missing}"

    def leaf(self, node: int) -> str:
        """Return what a leaf predicts."""
        if self.is_clusters:
            return f"cluster {int(self.tree.is_leaf[:node].sum())}"
        values = self.prototype(node)
        if self.is_labels:
            return self._labels(values)
        parts, start = [], 0
        for name, levels in zip(self.target_names, self.target_levels, strict=True):
            stop = start + (1 if levels is None else len(levels))
            words = self._variable(values[start:stop], levels)
            parts.append(words if len(self.target_names) == 1 else f"{name} = {words}")
            start = stop
        return ", ".join(parts)

    def size(self, node: int) -> str:
        """Return the number (weight) of training examples in a node."""
        weight = self.tree.weight[node]
        return f"{weight:.6g} example" + ("" if weight == 1 else "s")

    def n_leaves(self, node: int) -> int:
        """Return the number of leaves below a node; 1 for a leaf."""
        n_leaves, waiting = 0, [node]
        while waiting:
            here = waiting.pop()
            if self.tree.is_leaf[here]:
                n_leaves += 1
            else:
                waiting += [here + 1, int(self.tree.right[here])]
        return n_leaves

    def prototype(self, node: int) -> np.ndarray:
        """Return the prototype of a leaf as numbers."""
        values = self.tree.means(np.array([node]))
        return (values.toarray() if is_sparse(values) else np.asarray(values))[0]

    def _variable(self, values: np.ndarray, levels: Levels | None) -> str:
        if levels is None:
            return f"{values[0]:.{self.digits}g}"
        best = int(first_largest(values[None])[0])
        return f"{levels[best]} ({100 * values[best]:.3g} %)"

    def _labels(self, values: np.ndarray) -> str:
        chosen = np.flatnonzero(reaches(values, self.threshold))
        chosen = chosen[np.argsort(-values[chosen], kind="stable")]
        shown = [f"{self.target_names[i]} ({100 * values[i]:.3g} %)" for i in chosen[:_MOST_LABELS]]
        if len(chosen) > _MOST_LABELS:
            shown.append(f"... {len(chosen) - _MOST_LABELS} more")
        frequent = np.argsort(-values, kind="stable")[:_MOST_FREQUENT]
        rare = [f"{self.target_names[i]} {100 * values[i]:.3g} %" for i in frequent if values[i] > 0]
        more = f" (most frequent: {', '.join(rare)})" if rare and not shown else ""
        return "{" + ", ".join(shown) + "}" + more


def words_of(
    model: Any,
    number: int = 0,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    threshold: float = 0.5,
    digits: int = 4,
) -> TreeWords:
    """Return a tree in words.

    Parameters
    ----------
    model : Tree or fitted predictor
        A tree alone has numbered features, and targets that are numbers.
    number : int
        Which tree of a forest.
    feature_names, target_names : sequence of str, optional
        Other names than those of the training data.
    threshold : float
        Frequency from which a label is predicted.
    digits : int
        Digits of a number that are shown.
    """
    if isinstance(model, Tree):
        tree, columns, is_labels = model, None, False
        features = default_names(len(tree.levels))
    else:
        tree, features = _tree_of(model, number), model._features.names
        # leaves of boosted trees hold residuals, not what is predicted
        columns = getattr(model, "_leaf_columns", model._columns)
        is_labels = get_task(model.task_).kind == "labels"
    if tree.values is None:
        raise DataError("the tree was grown without prototypes")
    if columns is None:
        n = tree.values.shape[1]
        targets, levels = numbered_names(n, "y") if n > 1 else ("y",), (None,) * n
    else:
        targets, levels = columns.names, columns.levels
    return TreeWords(
        tree,
        _named(feature_names, features, "feature_names"),
        _named(target_names, targets, "target_names"),
        levels,
        is_labels,
        threshold,
        digits,
        not isinstance(model, Tree) and get_task(model.task_).kind == "none",
        getattr(model, "_had_missing", None),
    )


def _tree_of(model: Any, number: int) -> Tree:
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "_trees"):
        raise ParameterError(f"give a Tree or a fitted PCT predictor, not {type(model).__name__}")
    check_is_fitted(model)
    trees = model._trees()
    return trees[check("tree", number, count(0, len(trees) - 1))]


def _named(given: Sequence[str] | None, own: tuple[str, ...], what: str) -> tuple[str, ...]:
    if given is None:
        return own
    if len(given) != len(own):
        raise ParameterError(what, given, f"there are {len(given)} names, {len(own)} are needed")
    return tuple(str(name) for name in given)


def _set(levels: Sequence[Any]) -> str:
    shown = [str(level) for level in levels[:_MOST_LEVELS]]
    if len(levels) > _MOST_LEVELS:
        shown.append(f"... {len(levels) - _MOST_LEVELS} more")
    return "{" + ", ".join(shown) + "}"
