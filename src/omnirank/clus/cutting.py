"""Ways of CLUS to cut a grown tree that no estimator of ours has: the F-test, and equal leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, stats

from omnirank.ensembles.plan import GrowingPlan
from omnirank.measures.table import first_largest, reaches
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import node_errors, without_subtrees


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
