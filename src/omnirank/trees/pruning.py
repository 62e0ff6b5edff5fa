"""Pruning of single trees by an estimate of the error on new examples (M5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.variances import centred_for_sums
from omnirank.data.table import is_sparse
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns, plain_columns
from omnirank.trees.prototypes import column_gains, membership, node_means

# The factor of M5' is (n + 2 v) / (n - v): with it trees are as small as published ones, with 1 twice as large.
M5_PENALTY = 2.0
# Estimates this close are equal: the smaller tree wins.
_SLACK = 1e-9


class Pruning(NamedTuple):
    """How a tree is pruned: the penalty, and whether labels count unscaled, not divided by their variances."""

    penalty: float
    plain: bool = False


def prune(
    grown: Any,
    rule: Pruning,
    columns: PrototypeColumns,
    clustering: ClusteringColumns,
    weight: np.ndarray,
    feature_part: tuple[PrototypeColumns, ClusteringColumns] | None = None,
) -> Any:
    """Return the tree pruned by M5.

    With many rare labels that are divided by their variances, a tree would be pruned to its root: no leaf of a few
    examples predicts them (:func:`omnirank.tasks.columns.plain_columns`).

    Parameters
    ----------
    grown : GrownTree
        The tree.
    rule : Pruning
        How.
    columns, clustering, weight, feature_part
        As in :func:`node_errors`.
    """
    unpruned = grown
    if rule.plain:
        plain = plain_columns(columns, clustering, weight)
        change = replace(clustering, weights=plain.weights - clustering.weights)
        gain, inner = grown.gain.copy(), grown.feature >= 0
        for _, gains in column_gains(grown, columns, change, weight):
            gain[inner] += gains.sum(axis=1)
        grown, clustering = grown._replace(gain=gain), plain
    errors = node_errors(grown, columns, clustering, weight, feature_part)
    return prune_m5(unpruned, np.maximum(errors, 0.0), rule.penalty)


def prune_m5(grown: Any, errors: np.ndarray, penalty: float = M5_PENALTY) -> Any:
    """Replace subtrees that promise no smaller error than a leaf, from the bottom up.

    Let n be the weight of the examples in node N and E(N) their summed squared distance from the node's
    prototype in the clustering space, i.e. summed over the clustering columns with their weights. The estimated
    error of a model of v parameters is its root mean squared training error, enlarged:

        est(N) = sqrt(E / n) (n + penalty v) / (n - v),    infinite where n <= v

    A leaf has E = E(N) and v = 1, its prototype. A subtree has E = sum of E over its leaves, and v = number of its
    leaves + number of its tests. The subtree becomes a leaf where est(leaf) <= est(subtree).

    Parameters
    ----------
    grown : GrownTree
        The tree.
    errors : ndarray
        E of each node (see :func:`node_errors`).
    penalty : float
        1 in Quinlan's M5, 2 in M5' of Wang and Witten.

    Returns
    -------
    GrownTree
        The pruned tree, its nodes in preorder.

    References
    ----------
    Quinlan: Learning with continuous classes. Australian Joint Conference on AI, 1992. Wang, Witten: Inducing model
    trees for continuous classes. ECML, 1997.
    """
    n_nodes = len(grown.feature)
    # preorder: from the last node to the first, children come before their parents
    squares, size = errors.copy(), np.ones(n_nodes)
    is_leaf = np.ones(n_nodes, bool)
    for node in range(n_nodes - 1, -1, -1):
        if grown.feature[node] < 0:
            continue
        left, right, n = node + 1, grown.right[node], grown.weight[node]
        below, parameters = squares[left] + squares[right], size[left] + size[right] + 1
        leaf = _estimate(errors[node], n, 1, penalty)
        if leaf > _estimate(below, n, parameters, penalty) * (1 + _SLACK):
            squares[node], size[node], is_leaf[node] = below, parameters, False
    return without_subtrees(grown, is_leaf)


def _estimate(squares: float, n: float, parameters: float, penalty: float) -> float:
    if n <= parameters:
        return float("inf")
    return float(np.sqrt(squares / n) * (n + penalty * parameters) / (n - parameters))


def node_errors(
    grown: Any,
    columns: PrototypeColumns,
    clustering: ClusteringColumns,
    weight: np.ndarray,
    feature_part: tuple[PrototypeColumns, ClusteringColumns] | None = None,
) -> np.ndarray:
    """Return E of each node: weighted squared distances of its examples from its prototype.

        E(N) = sum_c lambda_c (N0 / K0_c) sum_known b (y_c - mean_c(N))^2

    with example weights b, the weight N0 of the training set and K0_c of its examples with a known value of c. The
    gain of a test is the E that it takes away, so only leaves are summed up.

    Parameters
    ----------
    grown : GrownTree
        The tree.
    columns, clustering
        The coded target.
    weight : ndarray
        Weights of the training examples.
    feature_part : (PrototypeColumns, ClusteringColumns), optional
        The features of a semi-supervised tree: their distances count too, as they do in its gains.
    """
    errors = np.zeros(len(grown.feature))
    leaf = grown.feature < 0
    errors[leaf] = leaf_errors(grown, columns, clustering, weight)
    if feature_part is not None:
        errors[leaf] += leaf_errors(grown, *feature_part, weight)
    for node in np.flatnonzero(~leaf)[::-1]:
        errors[node] = errors[node + 1] + errors[grown.right[node]] + grown.gain[node]
    return errors


def leaf_errors(grown: Any, columns: PrototypeColumns, clustering: ClusteringColumns, weight: np.ndarray) -> np.ndarray:
    """Return E of the leaves, in the order of their nodes."""
    means, row = node_means(grown, columns)
    leaves = np.flatnonzero(row >= 0)
    if is_sparse(means):  # all known
        own, squares = clustering.cells(means), clustering.cells(columns.matrix)
        if ((squares.data == 0) | (squares.data == 1)).all():  # the variance is p (1 - p)
            own.data = own.data * (1 - own.data)
            return grown.weight[leaves] * (own @ clustering.weights)
        rows, squares = membership(grown, leaves, len(columns.labelled)), centred_for_sums(squares, weight)
        own = sparse.csr_array(rows @ squares)
        own.data = (own.data / np.repeat(grown.weight[leaves], np.diff(own.indptr))) ** 2
        squares.data = squares.data**2
        return np.maximum(
            rows @ (squares @ clustering.weights) - grown.weight[leaves] * (own @ clustering.weights), 0.0
        )
    values = clustering.cells(columns.matrix)
    values = values.toarray() if is_sparse(values) else values
    values[~columns.labelled] = np.nan
    known = ~np.isnan(values)
    scale = clustering.weights * (weight.sum() / (weight @ known))
    members = membership(grown, leaves, len(columns.labelled))
    leaf, rows = np.repeat(np.arange(len(leaves)), np.diff(members.indptr)), members.indices
    distance = np.where(known[rows], values[rows] - clustering.cells(means)[leaf], 0.0)
    return np.bincount(leaf, members.data * (distance**2 @ scale), len(leaves))


def without_subtrees(grown: Any, is_leaf: np.ndarray) -> Any:
    """Return the tree in which the marked nodes are leaves; what was below them is gone."""
    kept = np.zeros(len(grown.feature), bool)
    node, end = 0, len(kept)
    last = _subtree_ends(grown)
    while node < end:
        kept[node] = True
        node = last[node] if is_leaf[node] else node + 1
    number = np.cumsum(kept) - 1
    inner = kept & ~is_leaf
    changed = {
        "feature": np.where(inner, grown.feature, np.int32(-1)),
        "right": np.where(inner, number[grown.right], 0).astype(grown.right.dtype),
        "cut": np.where(inner, grown.cut, 0).astype(grown.cut.dtype),
        "missing_left": np.where(inner, grown.missing_left, 0).astype(grown.missing_left.dtype),
        "drawn": np.where(inner, grown.drawn, 0.0),
        "gain": np.where(inner, grown.gain, 0.0),
    }
    a_node = ("low_row", "high_row", "weight", "depth", "first", "last")
    parts = changed | {name: getattr(grown, name) for name in a_node}
    return grown._replace(**{name: values[kept] for name, values in parts.items()})


def _subtree_ends(grown: Any) -> np.ndarray:
    """The node after the last one of each subtree."""
    ends = np.arange(1, len(grown.feature) + 1)
    for node in np.flatnonzero(grown.feature >= 0)[::-1]:
        ends[node] = ends[grown.right[node]]
    return ends
