"""Importance scores of one tree; a ranking averages them over the trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.seeds import kernel_seed
from omnirank.data.table import is_sparse
from omnirank.ensembles.loss_parts import ErrorGrowth, ErrorMeasure, OutOfBag
from omnirank.ensembles.plan import Plan
from omnirank.tasks.columns import ClusteringColumns
from omnirank.tasks.variances import centred_for_sums
from omnirank.trees.prototypes import membership
from omnirank.trees.tree import tree_from_grown

__all__ = ["genie3", "genie3_per_target", "out_of_bag", "permutation", "relative_growth", "symbolic"]

# Keeps the stream of permutations apart from that of the same tree's growing.
_PERMUTATION_KEY = np.uint64(0xA5A5A5A5A5A5A5A5)
# Columns of the target that are summed over all nodes at once.
_BLOCK = 64


def genie3(grown: Any, n_features: int) -> np.ndarray:
    """Return the summed heuristic values h*(N) of the nodes that test each feature."""
    inner = grown.feature >= 0
    return np.bincount(grown.feature[inner], grown.gain[inner], n_features)


def symbolic(grown: Any, n_features: int, depth_weight: float | None = None) -> np.ndarray:
    """Return the summed weights of the nodes that test each feature.

    A node N weighs |E(N)| / |D_train| (its share of the tree's training sample), or ``depth_weight`` to the
    power of its depth.
    """
    inner = grown.feature >= 0
    if depth_weight is None:
        weight = grown.weight[inner] / grown.weight[0]
    else:
        weight = np.float64(depth_weight) ** grown.depth[inner]
    return np.bincount(grown.feature[inner], weight, n_features)


def genie3_per_target(plan: Plan, grown: Any) -> np.ndarray:
    """Return Genie3 split by target, (targets, features); its sum over the targets is Genie3.

    The share of target j in a node is the part of the heuristic that its columns c add,
    sum_c lambda_c (N0 / K0_c) [S_L^2 / K_L + S_R^2 / K_R - S^2 / K].
    """
    columns, clustering = plan.columns, plan.clustering
    out = np.zeros((columns.n_variables, plan.dataset.n_features))
    inner = np.flatnonzero(grown.feature >= 0)
    if not len(inner):
        return out
    n_inner = len(inner)
    tested = sparse.csr_array(
        (np.ones(n_inner), (grown.feature[inner], np.arange(n_inner))), shape=(out.shape[1], n_inner)
    )
    members = membership(grown, np.arange(len(grown.feature)), plan.n_examples)
    if columns.is_sparse and columns.labelled.all() and not np.isnan(columns.matrix.data).any():
        blocks = [slice(None)]
        scatter = _sparse_scatter
    else:
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(clustering.columns), _BLOCK)]
        scatter = _scatter
    for block in blocks:
        chosen = ClusteringColumns(clustering.columns[block], clustering.weights[block], clustering.unit[block])
        terms = scatter(plan, members, chosen)
        gains = terms[inner + 1] + terms[grown.right[inner]] - terms[inner]
        by_feature = tested @ gains
        by_feature = by_feature.toarray() if is_sparse(by_feature) else by_feature
        np.add.at(out, columns.variable[chosen.columns], by_feature.T)
    return out


def _sparse_scatter(plan: Plan, members: Any, chosen: ClusteringColumns) -> Any:
    """Scaled S^2 / K of labels or sparse features in all nodes; those that a node lacks cost nothing."""
    sums = sparse.csr_array(members @ centred_for_sums(chosen.cells(plan.columns.matrix), plan.weight))
    weight = np.repeat(np.asarray(members.sum(axis=1)).ravel(), np.diff(sums.indptr))
    sums.data = sums.data**2 / weight * chosen.weights[sums.indices]
    return sums


def _scatter(plan: Plan, members: Any, chosen: ClusteringColumns) -> np.ndarray:
    """Scaled (N0 / K0) S^2 / K of the centred columns in all nodes, 0 where nothing is known."""
    matrix = chosen.cells(plan.columns.matrix)
    values = matrix.toarray() if plan.columns.is_sparse else matrix
    known = ~np.isnan(values)
    if plan.columns.is_sparse:
        known &= plan.columns.labelled[:, None]
    values = np.where(known, values, 0.0)
    total = plan.weight @ known
    values = np.where(known, values - (plan.weight @ values) / total, 0.0)
    sums, weights = members @ values, members @ known.astype(np.float64)
    terms = np.divide(sums**2, weights, out=np.zeros(sums.shape), where=weights > 0)
    return terms * (plan.weight.sum() / total) * chosen.weights


def out_of_bag(plan: Plan, grown: Any, counts: np.ndarray, i: int) -> OutOfBag | None:
    """Return tree i with its out-of-bag rows and their permutation; None where there are none."""
    from omnirank.ensembles.kernels.permutation import shuffle, threshold_cuts
    from omnirank.trees.kernels.route import CodeTests

    rows = np.flatnonzero(counts == 0).astype(np.uint32)
    if not len(rows):
        return None
    threshold = tree_from_grown(grown, plan.dataset.features).threshold
    cut = threshold_cuts(grown.feature, grown.cut, threshold, *plan.coded.values)
    tests = CodeTests(grown.feature, cut, grown.right, grown.missing_left, grown.subsets)
    order = shuffle(rows, plan.dataset.n_features, kernel_seed(plan.entropy, i) ^ _PERMUTATION_KEY)
    return OutOfBag(grown, tests, order)


def permutation(
    plan: Plan, measure: ErrorMeasure, grown: Any, counts: np.ndarray, i: int
) -> tuple[np.ndarray, np.ndarray | None, bool]:
    """Return the relative growth of the out-of-bag error of tree i when each feature is permuted.

    Returns
    -------
    scores : ndarray (features,)
        (Err(permuted) - Err) / Err.
    per_target : ndarray (targets, features) or None
        The same of the targets' own errors, where the measure has them.
    undefined : bool
        Whether the tree makes no error until a feature is permuted, or has no out-of-bag rows: it contributes 0.
    """
    case = out_of_bag(plan, grown, counts, i)
    if case is None:
        n_features = plan.dataset.n_features
        return np.zeros(n_features), np.zeros((plan.columns.n_variables, n_features)), True
    return relative_growth(measure.growth(case))


def relative_growth(found: ErrorGrowth) -> tuple[np.ndarray, np.ndarray | None, bool]:
    """Return growths divided by the errors before, 0 where there was no error.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.loss_parts import ErrorGrowth
    >>> from omnirank.ensembles.scores import relative_growth
    >>> relative_growth(ErrorGrowth(0.25, np.array([0.5, 0.0])))[0]
    array([2., 0.])
    """
    per_target = None
    if found.target_before is not None and found.target_growth is not None:
        before = found.target_before[:, None]
        per_target = np.divide(found.target_growth, before, out=np.zeros(found.target_growth.shape), where=before > 0)
    if found.before > 0:
        return found.growth / found.before, per_target, False
    return np.zeros(len(found.growth)), per_target, bool(found.growth.any())
