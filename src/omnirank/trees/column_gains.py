"""What single clustering columns add to the gains of a grown tree's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.variances import centred_for_sums
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.prototypes import membership

# Columns with unknown or dense cells that are summed over all nodes at once.
_BLOCK = 64


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
    values = np.where(known, values, 0.0)
    total = weight @ known
    values = np.where(known, values - (weight @ values) / total, 0.0)
    sums, weights = members @ values, members @ known.astype(np.float64)
    terms = np.divide(sums**2, weights, out=np.zeros(sums.shape), where=weights > 0)
    return terms * (weight.sum() / total) * chosen.weights
