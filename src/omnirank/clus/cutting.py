"""Ways of CLUS to cut a grown tree that no estimator of ours has: the F-test, equal leaves, and a pruning set."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, stats

from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import task_target
from omnirank.ensembles.plan import GrowingPlan
from omnirank.measures.decisions import first_largest, reaches
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means, parents_of
from omnirank.trees.pruning import node_errors, without_subtrees
from omnirank.trees.tree import Tree

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
        found = first_largest(own) if own.shape[1] > 1 else reaches(own[:, 0], 0.5)
        decided[:, variable] = np.where(np.isnan(own[:, 0]), np.nan, found)
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
