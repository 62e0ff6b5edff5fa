"""A tree in words: its tests and what its leaves predict, for the exports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, count
from omnirank.data.table import Levels, default_names, is_sparse, numbered_names
from omnirank.measures.decisions import first_largest, reaches
from omnirank.tasks import get_task
from omnirank.trees.tree import MOST, Tree

_MOST_LEVELS = 8
_MOST_LABELS = 12
_MOST_FREQUENT = 3


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
        found, waiting = 0, [node]
        while waiting:
            here = waiting.pop()
            if self.tree.is_leaf[here]:
                found += 1
            else:
                waiting += [here + 1, int(self.tree.right[here])]
        return found

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
