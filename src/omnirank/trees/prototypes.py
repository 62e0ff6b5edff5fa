"""What the nodes of a tree hold of the target's columns: their means (prototypes), and what each adds to the gains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.variances import centred_for_sums, divided, near_centres
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns

# Columns with unknown or dense cells that are summed over all nodes at once.
_BLOCK = 64


def membership(grown: Any, nodes: np.ndarray, n_rows: int) -> Any:
    """Return a csr matrix (nodes, rows) with the weights of the training rows in the given nodes."""
    first, last = grown.first[nodes].astype(np.int64), grown.last[nodes].astype(np.int64)
    sizes = last - first
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
    return sparse.csr_array(
        (grown.row_weight[places], grown.rows[places].astype(np.int64), starts), shape=(len(nodes), n_rows)
    )


def parents_of(tree: Any) -> np.ndarray:
    """Return the parent of each node of a tree, grown or ready to predict; -1 for the root."""
    parent = np.full(len(tree.feature), -1)
    inner = np.flatnonzero(tree.feature >= 0)
    parent[inner + 1] = inner
    parent[tree.right[inner]] = inner
    return parent


def node_means(grown: Any, columns: PrototypeColumns, leaves_only: bool = True) -> tuple[Any, np.ndarray]:
    """Return prototypes and the row of each node in them (-1: none is kept).

    A node in which a column has no known value takes the mean of its nearest ancestor that has one.

    Parameters
    ----------
    grown : GrownTree
        With the training rows of each node.
    columns : PrototypeColumns
        The coded target.
    leaves_only : bool
        Keep the prototypes of leaves only.
    """
    n_rows = len(columns.labelled)
    leaf = grown.feature < 0
    large = np.maximum(columns.unit, 1.0)  # sums of huge numbers would overflow
    if columns.is_sparse_and_known:
        nodes = np.flatnonzero(leaf) if leaves_only else np.arange(len(leaf))
        weights = membership(grown, nodes, n_rows)
        values = divided(columns.matrix, large)
        means = sparse.csr_array(weights @ values)
        # Divided, not multiplied by the reciprocal: 49 of 98 must be 1/2 exactly, the threshold of a label. Weights are
        # added up in the order of the sums: no share of them is above 1.
        means.data /= np.repeat(weights @ np.ones(n_rows), np.diff(means.indptr))
        return divided(_exact_where_stored_are_equal(means, weights, values), 1 / large), _rows_of(nodes, len(leaf))
    values = divided(columns.dense(), large)
    known = ~np.isnan(values)
    if known.all():
        nodes = np.flatnonzero(leaf) if leaves_only else np.arange(len(leaf))
        members = membership(grown, nodes, n_rows)
        means = (members @ values) / (members @ np.ones((n_rows, 1)))
        return divided(_exact_where_equal(means, grown, nodes, values), 1 / large), _rows_of(nodes, len(leaf))
    nodes = np.arange(len(leaf))
    weights = membership(grown, nodes, n_rows)
    sums, known_weight = weights @ np.where(known, values, 0.0), weights @ known.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / known_weight
    parent = parents_of(grown)
    means = divided(_exact_where_equal(means, grown, nodes, values), 1 / large)
    empty = known_weight <= 0
    means[0, empty[0]] = 0.0
    lacking = np.flatnonzero(empty.any(axis=1))
    for depth in range(1, int(grown.depth[lacking].max(initial=0)) + 1):  # parents are filled before
        own = lacking[grown.depth[lacking] == depth]
        means[own] = np.where(empty[own], means[parent[own]], means[own])
    if not leaves_only:
        return means, nodes
    return means[leaf], _rows_of(np.flatnonzero(leaf), len(leaf))


def _exact_where_equal(means: np.ndarray, grown: Any, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Replace means of equal known values by these values: a rounded mean would pass as an error of the tree."""
    own = values[np.append(grown.rows, grown.rows[-1])]  # one more, since a range may end with the last row
    ranges = np.column_stack([grown.first[nodes], grown.last[nodes]]).astype(np.int64).ravel()
    least, most = (extreme.reduceat(own, ranges)[::2] for extreme in (np.fmin, np.fmax))
    return np.where(least == most, least, means)


def _exact_where_stored_are_equal(means: Any, members: Any, values: Any) -> Any:
    """The same of sparse columns, where all rows of a node store the same number; means of ones are exact already."""
    if (values.data == 1).all():
        return means
    cells, sizes = sparse.csr_array(values)[members.indices], np.diff(members.indptr)
    node = np.repeat(np.repeat(np.arange(len(sizes)), sizes), np.diff(cells.indptr))
    order = np.lexsort((cells.indices, node))
    node, column, own = node[order], cells.indices[order], cells.data[order]
    starts = np.flatnonzero((np.diff(node, prepend=-1) != 0) | (np.diff(column, prepend=-1) != 0))
    least, most = (extreme.reduceat(own, starts) for extreme in (np.minimum, np.maximum))
    equal = (least == most) & (least != 0) & (np.diff(starts, append=len(own)) == sizes[node[starts]])
    # cells whose sum is 0 may not be stored in the means
    means.sort_indices()
    stored = np.repeat(np.arange(len(sizes)), np.diff(means.indptr)) * means.shape[1] + means.indices
    wanted = node[starts[equal]] * means.shape[1] + column[starts[equal]]
    means.data[np.searchsorted(stored, wanted)] = least[equal]
    return means


def _rows_of(nodes: np.ndarray, n_nodes: int) -> np.ndarray:
    rows = np.full(n_nodes, -1)
    rows[nodes] = np.arange(len(nodes))
    return rows


def column_gains(
    grown: Any, columns: PrototypeColumns, clustering: ClusteringColumns, weight: np.ndarray
) -> Iterator[tuple[np.ndarray, Any]]:
    """Yield blocks of prototype columns, and what each column adds to the gain of each inner node.

    Column c adds lambda_c (N0 / K0_c) [S_L^2 / K_L + S_R^2 / K_R - S^2 / K], with the sums S and the weights K of
    its known cells in the node and in its children, N0 and K0 those of the training set.

    Parameters
    ----------
    grown : GrownTree
        The tree.
    columns, clustering
        The coded target; the weights lambda may be others than those the tree was grown with.
    weight : ndarray
        Weights of the training examples.
    """
    inner = np.flatnonzero(grown.feature >= 0)
    members = membership(grown, np.arange(len(grown.feature)), len(columns.labelled))
    n_columns = len(clustering.columns)
    scatter_of, size = (_sparse_scatter, n_columns) if columns.is_sparse_and_known else (_scatter, _BLOCK)
    for start in range(0, n_columns, size or 1):
        block = slice(start, start + size)
        chosen = ClusteringColumns(clustering.columns[block], clustering.weights[block], clustering.unit[block])
        scatter = scatter_of(members, columns, chosen, weight)
        yield chosen.columns, scatter[inner + 1] + scatter[grown.right[inner]] - scatter[inner]


def _sparse_scatter(members: Any, columns: PrototypeColumns, chosen: ClusteringColumns, weight: np.ndarray) -> Any:
    """Scaled S^2 / K of labels or sparse features in all nodes; those that a node lacks cost nothing."""
    sums = sparse.csr_array(members @ centred_for_sums(chosen.cells(columns.matrix), weight))
    known = np.repeat(np.asarray(members.sum(axis=1)).ravel(), np.diff(sums.indptr))
    sums.data = sums.data**2 / known * chosen.weights[sums.indices]
    return sums


def _scatter(members: Any, columns: PrototypeColumns, chosen: ClusteringColumns, weight: np.ndarray) -> np.ndarray:
    """Scaled (N0 / K0) S^2 / K of the centred columns in all nodes, 0 where nothing is known."""
    matrix = chosen.cells(columns.matrix)
    values = matrix.toarray() if columns.is_sparse else matrix
    known = ~np.isnan(values)
    if columns.is_sparse:
        known &= columns.labelled[:, None]
    total = weight @ known
    means = (weight @ np.where(known, values, 0.0)) / total
    values = np.where(known, values - near_centres(np.where(known, values, np.nan), means), 0.0)
    sums, weights = members @ values, members @ known.astype(np.float64)
    terms = np.divide(sums**2, weights, out=np.zeros(sums.shape), where=weights > 0)
    return terms * (weight.sum() / total) * chosen.weights
