"""Importance scores of one tree; a ranking averages them over the trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.seeds import kernel_seed
from omnirank.data.table import is_sparse
from omnirank.ensembles.error_parts import ErrorGrowth, OutOfBag
from omnirank.ensembles.plan import GrowingPlan
from omnirank.ensembles.score_table import FeatureScores, ScoredTree
from omnirank.trees.column_gains import column_gains
from omnirank.trees.tree import tree_from_grown

# Keeps the stream of permutations apart from that of the same tree's growing.
_PERMUTATION_KEY = np.uint64(0xA5A5A5A5A5A5A5A5)


def genie3(tree: ScoredTree) -> FeatureScores:
    """Return the summed heuristic values h*(N) of the nodes that test each feature.

    References
    ----------
    Huynh-Thu et al.: Inferring regulatory networks from expression data. PLoS ONE 5(9), 2010. For structured targets:
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Eq. (3).
    """
    plan, grown = tree.plan, tree.grown
    row = _sums_by_feature(tree, grown.gain)
    return FeatureScores(row, genie3_per_target(plan, grown) if tree.options.per_target else None)


def symbolic(tree: ScoredTree) -> FeatureScores:
    """Return the summed weights of the nodes that test each feature.

    A node N weighs |E(N)| / |D_train| (its share of the tree's training sample), or ``symbolic_weight`` to the
    power of its depth.

    References
    ----------
    By examples: Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023.
    Eq. (2). By depth: Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109,
    2020. Eq. (1).
    """
    grown, depth_weight = tree.grown, tree.options.symbolic_weight
    weight = grown.weight / grown.weight[0] if depth_weight is None else np.float64(depth_weight) ** grown.depth
    return FeatureScores(_sums_by_feature(tree, weight))


def _sums_by_feature(tree: ScoredTree, values: np.ndarray) -> np.ndarray:
    """Return the sums of a number per node over the nodes that test each feature.

    Leaves are counted too, and left out afterwards: picking the others would take longer.
    """
    return np.bincount(tree.grown.feature + 1, values, tree.plan.dataset.n_features + 1)[1:]


def genie3_per_target(plan: GrowingPlan, grown: Any) -> np.ndarray:
    """Return Genie3 split by target, (targets, features); its sum over the targets is Genie3.

    The share of target j in a node is what its columns add to the heuristic
    (:func:`omnirank.trees.column_gains.column_gains`).
    """
    out = np.zeros((plan.columns.n_variables, plan.dataset.n_features))
    inner = np.flatnonzero(grown.feature >= 0)
    tested = sparse.csr_array(
        (np.ones(len(inner)), (grown.feature[inner], np.arange(len(inner)))), shape=(out.shape[1], len(inner))
    )
    for block, gains in column_gains(grown, plan.columns, plan.clustering, plan.weight):
        by_feature = tested @ gains
        by_feature = by_feature.toarray() if is_sparse(by_feature) else by_feature
        np.add.at(out, plan.columns.variable[block], by_feature.T)
    return out


def code_tests(plan: GrowingPlan, grown: Any) -> Any:
    """Return the tests of a tree as kernels take them that route any training rows, seen by the tree or not."""
    from omnirank.ensembles.kernels.permutation import threshold_cuts
    from omnirank.trees.kernels.route import CodeTests

    threshold = tree_from_grown(grown, plan.dataset.features).threshold
    cut = threshold_cuts(grown.feature, grown.cut, threshold, *plan.coded.values)
    return CodeTests(grown.feature, cut, grown.right, grown.missing_left, grown.subsets)


def out_of_bag(plan: GrowingPlan, grown: Any, counts: np.ndarray, i: int) -> OutOfBag | None:
    """Return tree i with its out-of-bag rows and their permutation; None where there are none."""
    from omnirank.ensembles.kernels.permutation import shuffle

    rows = np.flatnonzero(counts == 0).astype(np.uint32)
    if not len(rows):
        return None
    order = shuffle(rows, plan.dataset.n_features, kernel_seed(plan.entropy, i) ^ _PERMUTATION_KEY)
    return OutOfBag(grown, code_tests(plan, grown), order)


def permutation(tree: ScoredTree) -> FeatureScores:
    """Return the relative growth (Err(permuted) - Err) / Err of a tree's out-of-bag error when a feature is permuted.

    It is undefined where the tree makes no error until a feature is permuted, or has no out-of-bag rows.

    References
    ----------
    Breiman: Random forests. Machine Learning 45, 2001. In this relative form: Petkovic, Dzeroski, Kocev: Feature
    ranking for semi-supervised learning. Machine Learning 112, 2023. Eq. (4).
    """
    assert tree.counts is not None  # the table says what it needs
    assert tree.measure is not None
    case = out_of_bag(tree.plan, tree.grown, tree.counts, tree.number)
    if case is None:
        n_targets, n_features = tree.plan.columns.n_variables, tree.plan.dataset.n_features
        found = FeatureScores(np.zeros(n_features), np.zeros((n_targets, n_features)), True)
    else:
        found = relative_growth(tree.measure.growth(case))
    return found if tree.options.per_target else found._replace(table=None)


def relative_growth(found: ErrorGrowth) -> FeatureScores:
    """Return growths divided by the errors before, 0 where there was no error.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.error_parts import ErrorGrowth
    >>> from omnirank.ensembles.scores import relative_growth
    >>> relative_growth(ErrorGrowth(0.25, np.array([0.5, 0.0]))).row
    array([2., 0.])
    """
    per_target = None
    if found.target_before is not None and found.target_growth is not None:
        before = found.target_before[:, None]
        per_target = np.divide(found.target_growth, before, out=np.zeros(found.target_growth.shape), where=before > 0)
    if found.before > 0:
        return FeatureScores(found.growth / found.before, per_target)
    return FeatureScores(np.zeros(len(found.growth)), per_target, bool(found.growth.any()))
