"""Gains of a tree's tests as covariances of what its in-bag and its out-of-bag rows say of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import compiled, inlined
from omnirank.core.kernels.vector import uncounted
from omnirank.trees.kernels.route import code_of, next_node


class NodeRows(NamedTuple):
    """Rows of the nodes of a tree, named as in GrownTree: a node's are rows[first:last]."""

    first: np.ndarray
    last: np.ndarray
    rows: np.ndarray
    row_weight: np.ndarray


class GainColumns(NamedTuple):
    """Columns of the clustering space, centred and scaled."""

    values: np.ndarray  # (rows, columns), NaN = unknown
    all_known: bool
    owner: np.ndarray  # feature whose column it is, -1: of the target
    variable: np.ndarray  # variable whose column it is


class NodeSums(NamedTuple):
    """Sums of the centred columns over the rows of each node, and the weights of those that are known."""

    sums: np.ndarray  # (nodes, columns)
    known: np.ndarray  # (nodes, columns), or (nodes, 1) where all cells are known


@compiled
def routed_rows(tests, codes, rows, weight):
    """Return rows of the training set that the tree has not seen by its nodes."""
    tests = uncounted(tests)
    codes = uncounted(codes)
    n_nodes = len(tests.feature)
    leaf = np.empty(len(rows), np.int64)
    first = np.zeros(n_nodes, np.int64)
    last = np.zeros(n_nodes, np.int64)
    for i in range(len(rows)):
        here = 0
        while tests.feature[here] >= 0:
            f = tests.feature[here]
            here = next_node(tests, codes, here, f, code_of(codes, f, rows[i]))
        leaf[i] = here
        last[here] += 1
    n = 0
    for k in range(n_nodes):  # in preorder, so that the rows of a subtree are neighbours
        first[k] = n
        n += last[k]
        last[k] = first[k]
    ordered = np.empty(len(rows), np.int64)
    row_weight = np.empty(len(rows))
    for i in range(len(rows)):
        place = last[leaf[i]]
        last[leaf[i]] += 1
        ordered[place] = rows[i]
        row_weight[place] = weight[rows[i]]
    for k in range(n_nodes - 1, -1, -1):
        if tests.feature[k] >= 0:
            last[k] = last[tests.right[k]]
    return NodeRows(first, last, ordered, row_weight)


@inlined
def _add_rows(nodes, k, columns, sums, known):
    """Add the rows of leaf k."""
    values = columns.values
    n_columns = values.shape[1]
    for e in range(nodes.first[k], nodes.last[k]):
        row, w = nodes.rows[e], nodes.row_weight[e]
        if columns.all_known:
            known[k, 0] += w
            for c in range(n_columns):
                sums[k, c] += w * values[row, c]
        else:
            for c in range(n_columns):
                z = values[row, c]
                known[k, c] += 0.0 if np.isnan(z) else w
                sums[k, c] += 0.0 if np.isnan(z) else w * z


@inlined
def _node_sums(nodes, feature, right, columns):
    """Sums over the rows of leaves, and from there up to the root."""
    n_nodes, n_columns = len(feature), columns.values.shape[1]
    n_known = 1 if columns.all_known else n_columns
    sums = np.zeros((n_nodes, n_columns))
    known = np.zeros((n_nodes, n_known))
    for k in range(n_nodes - 1, -1, -1):
        if feature[k] < 0:
            _add_rows(nodes, k, columns, sums, known)
            continue
        for c in range(n_columns):
            sums[k, c] = sums[k + 1, c] + sums[right[k], c]
        for c in range(n_known):
            known[k, c] = known[k + 1, c] + known[right[k], c]
    return NodeSums(sums, known)


@compiled
def add_covariances(feature, right, inside, outside, columns, row, table):
    """Add the gains of the tests to their features: summed over the columns to ``row``, by variable to ``table``.

    A test adds (K'_L K'_R / K'_t) (nu_L - nu_R) (mu_L - mu_R) in each column that is known in all four parts of the
    node, with the means mu of the in-bag and nu of the out-of-bag rows, but for columns of its own feature. The table
    may be empty.
    """
    columns = uncounted(columns)
    seen = _node_sums(uncounted(inside), feature, right, columns)
    unseen = _node_sums(uncounted(outside), feature, right, columns)
    for k in range(len(feature)):
        f = feature[k]
        if f < 0 or outside.first[k] == outside.last[k]:
            continue
        left, other = k + 1, right[k]
        for c in range(columns.values.shape[1]):
            at = 0 if columns.all_known else c
            a, b = unseen.known[left, at], unseen.known[other, at]
            p, q = seen.known[left, at], seen.known[other, at]
            if columns.owner[c] == f or not (a > 0.0 and b > 0.0 and p > 0.0 and q > 0.0):
                continue
            said = seen.sums[left, c] / p - seen.sums[other, c] / q
            found = unseen.sums[left, c] / a - unseen.sums[other, c] / b
            gain = a * b / (a + b) * found * said
            row[f] += gain
            if len(table):
                table[columns.variable[c], f] += gain
