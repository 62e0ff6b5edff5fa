"""Prototypes: the means of the target's columns in the nodes of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.variances import divided
from omnirank.tasks.columns import PrototypeColumns


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
        means = sparse.csr_array(weights @ divided(columns.matrix, large))
        # Divided, not multiplied by the reciprocal: 49 of 98 must be 1/2 exactly, the threshold of a label.
        means.data /= np.repeat(grown.weight[nodes], np.diff(means.indptr))
        return divided(means, 1 / large), _rows_of(nodes, len(leaf))
    values = divided(columns.dense(), large)
    known = ~np.isnan(values)
    if known.all():
        nodes = np.flatnonzero(leaf) if leaves_only else np.arange(len(leaf))
        means = (membership(grown, nodes, n_rows) @ values) / grown.weight[nodes, None]
        return divided(means, 1 / large), _rows_of(nodes, len(leaf))
    nodes = np.arange(len(leaf))
    weights = membership(grown, nodes, n_rows)
    sums, known_weight = weights @ np.where(known, values, 0.0), weights @ known.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / known_weight
    parent = parents_of(grown)
    means = divided(means, 1 / large)
    empty = known_weight <= 0
    means[0, empty[0]] = 0.0
    lacking = np.flatnonzero(empty.any(axis=1))
    for depth in range(1, int(grown.depth[lacking].max(initial=0)) + 1):  # parents are filled before
        own = lacking[grown.depth[lacking] == depth]
        means[own] = np.where(empty[own], means[parent[own]], means[own])
    if not leaves_only:
        return means, nodes
    return means[leaf], _rows_of(np.flatnonzero(leaf), len(leaf))


def _rows_of(nodes: np.ndarray, n_nodes: int) -> np.ndarray:
    rows = np.full(n_nodes, -1)
    rows[nodes] = np.arange(len(nodes))
    return rows
