"""Ways of CLUS to cut a grown tree that no estimator of ours has: the F-test, equal leaves, a pruning set, C4.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats

from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import task_target
from omnirank.ensembles.plan import GrowingPlan
from omnirank.measures.table import first_largest, reaches
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means, parents_of
from omnirank.trees.pruning import node_errors, without_subtrees
from omnirank.trees.tree import Tree, routing_matrix

# Errors this close are equal: the smaller tree wins.
_SLACK = 1e-9


def cut_by_f_test(plan: GrowingPlan, grown: Any, level: float) -> Any:
    """Return the tree without the tests that do not lower the variance significantly.

    With the summed squared distances S from the prototype of a node of weight n, and S' of its two branches together,
    a test is kept if F = (S - S') / (S' / (n - 2)) exceeds the critical value of F(1, n - 2). It looks at nothing but
    the node, so that trees which are grown and then cut are those that are grown with the test.

    Parameters
    ----------
    plan : GrowingPlan
        What the tree was grown on.
    grown : GrownTree
        The tree.
    level : float
        Significance level; 1 keeps all tests.
    """
    if level >= 1:
        return grown
    errors = np.maximum(node_errors(grown, plan.columns, plan.clustering, plan.weight, plan.feature_part), 0.0)
    stopped = grown.feature < 0
    for node in np.flatnonzero(~stopped):
        within, freedom = errors[node + 1] + errors[grown.right[node]], np.floor(grown.weight[node] - 2 + 0.5)
        if freedom < 1:
            stopped[node] = True
        elif within > 0:
            critical = stats.f.isf(level, 1, freedom)
            stopped[node] = freedom * (errors[node] - within) / within <= critical
    return without_subtrees(grown, stopped)


def _without_worse(grown: Any, errors: np.ndarray) -> Any:
    """The tree in which a node is a leaf unless the leaves below it have a smaller error, from the bottom up."""
    below, is_leaf = errors.copy(), np.ones(len(errors), bool)
    for node in np.flatnonzero(grown.feature >= 0)[::-1]:  # preorder: children come after their parents
        subtree = below[node + 1] + below[grown.right[node]]
        if subtree < errors[node] - _SLACK * max(errors[node], 1.0):
            below[node], is_leaf[node] = subtree, False
    return without_subtrees(grown, is_leaf)


def merged_alike(plan: GrowingPlan, grown: Any) -> Any:
    """Return the tree without tests whose two leaves predict the same classes or labels.

    Parameters
    ----------
    plan : GrowingPlan
        What the tree was grown on; targets are classes or labels.
    grown : GrownTree
        The tree.
    """
    columns = plan.columns
    means, row = node_means(grown, columns, leaves_only=False)
    means = (means.toarray() if sparse.issparse(means) else means)[row]
    decided = _decided(means, columns)
    is_leaf = grown.feature < 0
    for node in np.flatnonzero(~is_leaf)[::-1]:
        left, right = node + 1, grown.right[node]
        is_leaf[node] = is_leaf[left] and is_leaf[right] and np.array_equal(decided[left], decided[right])
    return without_subtrees(grown, is_leaf)


def _decided(means: np.ndarray, columns: PrototypeColumns) -> np.ndarray:
    """Which class, or whether a label, is predicted by means; NaN where they are unknown."""
    decided = np.empty((len(means), columns.n_variables))
    for variable in range(columns.n_variables):
        own = means[:, columns.variable == variable]
        classes = first_largest(own) if own.shape[1] > 1 else reaches(own[:, 0], 0.5)
        decided[:, variable] = np.where(np.isnan(own[:, 0]), np.nan, classes)
    return decided


def cut_by_examples(plan: GrowingPlan, grown: Any, tree: Tree, examples: Dataset) -> Any:
    """Return the tree in which subtrees that predict other examples no better than a leaf are leaves (reduced error).

    Errors are squared distances in the clustering space; mistakes, where classes or labels are decided.

    Parameters
    ----------
    plan : GrowingPlan
        What the tree was grown on.
    grown : GrownTree
        The tree.
    tree : Tree
        The same tree, ready to predict: its thresholds divide the other examples.
    examples : Dataset
        The examples of the pruning set.
    """
    examples = examples.take(examples.labelled)
    assert examples.target is not None
    means, row = node_means(grown, plan.columns, leaves_only=False)
    means = means.toarray() if sparse.issparse(means) else means
    truth = get_task(examples.task).columns(examples.target, examples.hierarchy).dense()
    target = task_target(examples.task)
    classes = target.kind in ("classes", "labels") and not target.hierarchical
    if classes:
        true, predicted = _decided(truth, plan.columns), _decided(means, plan.columns)
        weights = np.ones(true.shape[1])
    else:
        true, predicted = plan.clustering.cells(truth), plan.clustering.cells(means)
        weights = plan.clustering.weights
    parent, errors = parents_of(grown), np.zeros(len(grown.feature))
    at, here = np.arange(len(true)), leaves_of([tree], examples.features)[:, 0]
    while len(at):  # from the leaves up to the root
        apart = true[at] - predicted[row[here]]
        distance = np.where(np.isnan(true[at]), 0.0, apart != 0 if classes else apart**2)
        errors += np.bincount(here, distance @ weights, len(errors))
        above = parent[here]
        at, here = at[above >= 0], above[above >= 0]
    return _without_worse(grown, errors)


# C4.5's confidence, and the number of standard deviations that a normal variable exceeds with that probability.
_CONFIDENCE = 0.25
_DEVIATIONS = float(stats.norm.isf(_CONFIDENCE))
# What a larger tree must save, in mistakes.
_LEAST_SAVING = 0.1
# In deeper trees, which Python could not follow, subtrees stay where they are.
_DEEPEST = 300


class _Node(NamedTuple):
    """A node of a tree that changes: the node whose test it has (-1: a leaf), and its branches."""

    test: int
    left: Any = None
    right: Any = None


_LEAF = _Node(-1)


def cut_by_c45(plan: GrowingPlan, grown: Any, tree: Tree) -> Any:
    """Return the tree pruned as in C4.5, from the bottom up.

    In a node of weight n that predicts its most frequent classes, a target is wrong e times; C4.5 counts the upper
    bound of the mistakes' binomial distribution at a confidence of 0.25 instead. Mistakes are averaged over targets. A
    node becomes a leaf if the leaf promises at most a tenth of a mistake more than its subtree, and than its larger
    branch with all its examples; otherwise that branch takes the node's place if it promises at most a tenth more.

    Parameters
    ----------
    plan : GrowingPlan
        What the tree was grown on; targets are classes or labels.
    grown : GrownTree
        The tree.
    tree : Tree
        The same tree, ready to predict: its thresholds divide examples that move.

    References
    ----------
    Quinlan: C4.5: programs for machine learning. Morgan Kaufmann, 1993. Chapter 4.
    """
    pruner = _Pruner.of(plan, tree)
    rows = np.arange(plan.n_examples)
    return _rebuilt(grown, pruner.pruned(_nested(tree), rows), pruner, rows)


def pessimistic_extra(wrong: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return what C4.5 adds to the number of mistakes among n examples.

    Without mistakes n (1 - 0.25^(1/n)); below one the line between that and the bound at one; where all but half an
    example are wrong 0.67 of the rest; otherwise the bound by the normal distribution, with half a mistake more.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.clus.cutting import pessimistic_extra
    >>> pessimistic_extra(np.array([0.0, 2.0]), np.array([6.0, 10.0])).round(3).tolist()
    [1.238, 1.519]
    """
    n = np.maximum(n, 1e-9)
    none = n * (1 - _CONFIDENCE ** (1 / n))
    one = np.where(n > 1.5, _normal_bound(np.ones_like(n), n) - 1, 0.67 * np.maximum(n - 1, 0))
    few = none + wrong * (one - none)
    most = 0.67 * np.maximum(n - wrong, 0)
    usual = np.where(wrong + 0.5 >= n, most, _normal_bound(wrong, n) - wrong)
    return np.where(wrong < 1e-6, none, np.where(wrong < 0.9999, few, usual))


def _normal_bound(wrong: np.ndarray, n: np.ndarray) -> np.ndarray:
    square = _DEVIATIONS**2
    share = (wrong + 0.5) / n
    spread = np.maximum(share * (1 - share) / n + square / (4 * n**2), 0)
    return n * (share + square / (2 * n) + _DEVIATIONS * np.sqrt(spread)) / (1 + square / n)


@dataclass(frozen=True, eq=False)
class _Pruner:
    """The tests of a tree, and the examples that it divides.

    Attributes
    ----------
    tree : Tree
        The tests.
    cells : ndarray (n, D)
        The features.
    values, known : ndarray (n, P)
        Weights of the examples that have a class or label, and of those whose class or label is known.
    variable : ndarray (P,)
        Target of each column.
    weight : ndarray (n,)
        Weights of the examples.
    """

    tree: Tree
    cells: np.ndarray
    values: np.ndarray
    known: np.ndarray
    variable: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, plan: GrowingPlan, tree: Tree) -> _Pruner:
        values, weight = plan.columns.dense(), plan.weight[:, None]
        known = ~np.isnan(values)
        own = np.where(known, values, 0.0) * weight
        cells = routing_matrix(plan.dataset.features)
        return cls(tree, cells, own, known * weight, plan.columns.variable, plan.weight)

    def goes_left(self, node: int, rows: np.ndarray) -> np.ndarray:
        tree = self.tree
        cells = self.cells[rows, tree.feature[node]]
        missing, levels = np.isnan(cells), tree.levels[tree.feature[node]]
        if levels is None:
            left = cells <= tree.threshold[node]
        else:
            chosen = np.isin(levels, tree.left_levels(node))
            left = chosen[np.where(missing, 0, cells).astype(np.intp)]
        return np.where(missing, tree.missing_left[node], left)

    def leaf_bound(self, rows: np.ndarray) -> float:
        """The mistakes that a leaf promises, the mean over the targets."""
        sums, totals = self.values[rows].sum(axis=0), self.known[rows].sum(axis=0)
        starts = np.flatnonzero(np.diff(self.variable, prepend=-1))
        most, n = np.maximum.reduceat(sums, starts), totals[starts]
        single = np.diff(np.append(starts, len(sums))) == 1  # a label: present or absent
        wrong = np.maximum(n - np.where(single, np.maximum(most, n - most), most), 0.0)
        return float((wrong + pessimistic_extra(wrong, n)).mean())

    def bound(self, node: _Node, rows: np.ndarray) -> float:
        """The mistakes that a subtree promises for some examples."""
        if node.test < 0:
            return self.leaf_bound(rows)
        left = self.goes_left(node.test, rows)
        return self.bound(node.left, rows[left]) + self.bound(node.right, rows[~left])

    def pruned(self, node: _Node, rows: np.ndarray) -> _Node:
        """The subtree that is left for some examples."""
        if node.test < 0:
            return node
        left = self.goes_left(node.test, rows)
        node = _Node(node.test, self.pruned(node.left, rows[left]), self.pruned(node.right, rows[~left]))
        larger = node.left if self.weight[rows[left]].sum() >= self.weight[rows[~left]].sum() else node.right
        leaf, subtree, branch = self.leaf_bound(rows), self.bound(node, rows), self.bound(larger, rows)
        if self.tree.max_depth > _DEEPEST:
            branch = np.inf
        if leaf <= min(subtree, branch) + _LEAST_SAVING:
            return _LEAF
        return self.pruned(larger, rows) if branch <= subtree + _LEAST_SAVING else node


def _nested(tree: Tree) -> _Node:
    """The nodes of a tree, made from the last one on: children come after their parents."""
    nodes: list[_Node] = [_LEAF] * tree.n_nodes
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        nodes[node] = _Node(node, nodes[node + 1], nodes[int(tree.right[node])])
    return nodes[0]


def _rebuilt(grown: Any, root: _Node, pruner: _Pruner, rows: np.ndarray) -> Any:
    """The grown tree with other nodes: in preorder, with the rows of each."""
    tests: list[int] = []
    right: list[int] = []
    depth, first, last, parts = [], [], [], []
    # a node, its rows, its depth, and the parent whose right branch it is
    waiting = [(root, rows, 0, -1)]
    at = 0
    while waiting:
        node, own, level, parent = waiting.pop()
        if parent >= 0:
            right[parent] = len(tests)
        tests.append(node.test)
        right.append(0)
        depth.append(level)
        first.append(at)
        last.append(at + len(own))
        if node.test < 0:
            parts.append(own)
            at += len(own)
            continue
        left = pruner.goes_left(node.test, own)
        waiting.append((node.right, own[~left], level + 1, len(tests) - 1))
        waiting.append((node.left, own[left], level + 1, -1))
    source, is_leaf = np.array(tests), np.array(tests) < 0
    kept = {}
    for name in ("feature", "cut", "missing_left", "low_row", "high_row", "drawn", "gain"):
        before = getattr(grown, name)
        kept[name] = np.where(is_leaf, before.dtype.type(0), before[source])
    kept["feature"][is_leaf] = -1
    order = np.concatenate(parts)
    total = np.concatenate([[0.0], np.cumsum(pruner.weight[order])])
    made = {
        "right": np.array(right, grown.right.dtype),
        "depth": np.array(depth, grown.depth.dtype),
        "first": np.array(first, grown.first.dtype),
        "last": np.array(last, grown.last.dtype),
        "weight": total[last] - total[first],
        "rows": order.astype(grown.rows.dtype),
        "row_weight": pruner.weight[order],
        "subsets": pruner.tree.subsets,
    }
    return grown._replace(**kept, **made)
