"""Impurity reductions that out-of-bag examples confirm: features that tell nothing score 0 on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.variances import centred_for_sums
from omnirank.ensembles.plan import GrowingPlan, Part
from omnirank.ensembles.score_table import FeatureScores, ScoredTree
from omnirank.ensembles.scores import code_tests
from omnirank.tasks.columns import ClusteringColumns
from omnirank.trees.prototypes import membership

__all__ = ["unbiased"]

# Cells of a table of sums (nodes, columns) that are held at once.
_MOST_CELLS = 2**21


def unbiased(tree: ScoredTree) -> FeatureScores:
    """Return the summed out-of-bag covariances h(t) of the nodes that test each feature.

    Genie3 measures a test by the examples that chose it, so that features with many tests win by chance alone. Here
    the examples of the bag say how a test separates the target, by the means mu of its children, and those out of bag,
    by their means nu, whether it does:

        h(t) = (N0 / N0') sum_c lambda_c (N0 / K0_c) (K'_L K'_R / K'_t) (nu_L - nu_R) (mu_L - mu_R)

    over the columns c of the clustering space. K' are known weights out of bag, N0' is the weight of all examples out
    of bag, and N0, K0 and lambda are those of Genie3, of whose size the score is. A column adds 0 where one of the four
    children has no known value. A feature that is independent of the target and of the other features has the
    expectation 0, given the bag and the tree, however many tests it has: to which child its value sends an out-of-bag
    example says nothing of the example's target.

    Where features are clustering columns (no target, or few labels), a test tells much of its own feature, noise or
    not. So a feature's own columns are left out of its score, which says what the feature tells of all others.

    It is undefined where no example is out of bag.

    References
    ----------
    Li, Wang, Basu, Kumbier, Yu: A debiased MDI feature importance measure for random forests. NeurIPS 2019 (gains as
    covariances of in-bag predictions and out-of-bag responses; here both are compared within the node, without which
    the score drifts).
    """
    assert tree.counts is not None  # the table says what it needs
    plan, grown = tree.plan, tree.grown
    n_features = plan.dataset.n_features
    row = np.zeros(n_features)
    table = np.zeros((plan.columns.n_variables if tree.options.per_target else 0, n_features))
    unseen = np.flatnonzero((tree.counts == 0) & (plan.weight > 0))
    found = FeatureScores(row, table if tree.options.per_target else None, undefined=not len(unseen))
    if found.undefined or grown.feature[0] < 0:
        return found
    bags = _rows_by_node(plan, grown, unseen)
    _add_part(plan, grown, bags, Part(plan.columns, plan.clustering), plan.dataset.target is None, row, table)
    if plan.around is not None:
        _add_part(plan, grown, bags, plan.around, True, row, table[:0])
    factor = plan.weight.sum() / plan.weight[unseen].sum()
    row *= factor
    table *= factor
    return found


def _rows_by_node(plan: GrowingPlan, grown: Any, unseen: np.ndarray) -> tuple[Any, Any]:
    """Rows in the bag and out of it, by the nodes that they reach."""
    from omnirank.ensembles.kernels.unbiased import NodeRows, routed_rows

    first, last, rows = (part.astype(np.int64) for part in (grown.first, grown.last, grown.rows))
    outside = routed_rows(code_tests(plan, grown), plan.coded.routing, unseen.astype(np.uint32), plan.weight)
    return NodeRows(first, last, rows, grown.row_weight), outside


def _add_part(
    plan: GrowingPlan,
    grown: Any,
    bags: tuple[Any, Any],
    part: Part,
    are_features: bool,
    row: np.ndarray,
    table: np.ndarray,
) -> None:
    """Add the gains in the columns of the target, or of the features, to ``row``, and by variable to ``table``."""
    columns, clustering = part
    if not len(clustering.columns) or not clustering.weights.any():
        return
    variable = columns.variable[clustering.columns]
    owner = variable if are_features else np.full(len(variable), -1)
    if columns.is_sparse and not np.isnan(columns.matrix.data).any():
        gains = _sparse_gains(plan, grown, bags, part)
        feature = grown.feature[gains.row].astype(np.int64)
        others = owner[gains.col] != feature
        feature, gain, told = feature[others], gains.data[others], variable[gains.col[others]]
        row += np.bincount(feature, gain, len(row))
        if len(table):
            table += np.bincount(told * len(row) + feature, gain, table.size).reshape(table.shape)
        return
    from omnirank.ensembles.kernels.unbiased import GainColumns, add_covariances

    step = max(1, _MOST_CELLS // max(len(grown.feature), plan.n_examples))
    for start in range(0, len(variable), step):
        block = slice(start, start + step)
        chosen = ClusteringColumns(clustering.columns[block], clustering.weights[block], clustering.unit[block])
        cells = chosen.cells(columns.matrix)
        values = cells.toarray() if columns.is_sparse else np.ascontiguousarray(cells, np.float64)
        if columns.is_sparse:
            values[~columns.labelled] = np.nan
        all_known = not np.isnan(values).any()
        described = GainColumns(values, chosen.weights, owner[block], variable[block])
        add_covariances(grown.feature, grown.right, *bags, described, plan.weight, all_known, row, table)


def _sparse_gains(plan: GrowingPlan, grown: Any, bags: tuple[Any, Any], part: Part) -> Any:
    """Gains of the nodes in the columns of label sets or sparse features; columns that a node lacks cost nothing."""
    columns, clustering = part
    labelled = columns.labelled.astype(np.float64)
    matrix = clustering.cells(columns.matrix)
    if labelled.all():
        matrix = centred_for_sums(matrix, plan.weight)
    inner = np.flatnonzero(grown.feature >= 0)
    children = np.concatenate([inner + 1, grown.right[inner]])
    between, weights = [], []
    for bag in bags:
        members = membership(bag, children, plan.n_examples)
        members.data = members.data * labelled[members.indices]
        known = np.asarray(members.sum(axis=1)).ravel()
        members.data = members.data / np.repeat(np.where(known > 0, known, 1.0), np.diff(members.indptr))
        means = members @ matrix
        between.append(means[: len(inner)] - means[len(inner) :])
        weights.append(known.reshape(2, -1))
    (seen, unseen), scale = weights, plan.weight.sum() / (plan.weight @ labelled)
    left, right = unseen
    counts = (left > 0) & (right > 0) & (seen > 0).all(axis=0)
    harmonic = np.divide(left * right, left + right, out=np.zeros(len(inner)), where=counts)
    gains = sparse.coo_array(between[0] * between[1])
    gains.data = gains.data * harmonic[gains.row] * clustering.weights[gains.col] * scale
    gains.row = inner[gains.row]  # the nodes, of which there are more than inner ones
    return gains
