"""Routing rows of feature values down a tree and adding the means of the leaves they reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, compiled, dispatched, inlined
from omnirank.trees.kernels.grow import in_subset

# So few rows are routed one by one; more are partitioned together, which mispredicts no branch.
FEW_ROWS = 4


class ValueTests(NamedTuple):
    """Tests of a tree over feature values, as in Tree."""

    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    subset_start: np.ndarray
    subsets: np.ndarray
    n_levels: np.ndarray


class DenseMeans(NamedTuple):
    """Prototypes of leaves, one row each."""

    row: np.ndarray  # row of a node
    values: np.ndarray


class SparseMeans(NamedTuple):
    """Prototypes of leaves as the rows of a CSR matrix."""

    row: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


@dispatched(Kinds("means of leaves"))
def add_leaf(means, leaf, out, i):
    """Add the prototype of a leaf to out[i]."""


@add_leaf.kind(DenseMeans)
def _add_dense(means, leaf, out, i):
    row = means.row[leaf]
    for c in range(out.shape[1]):
        out[i, c] += means.values[row, c]


@add_leaf.kind(SparseMeans)
def _add_sparse(means, leaf, out, i):
    row = means.row[leaf]
    for e in range(means.starts[row], means.starts[row + 1]):
        out[i, means.columns[e]] += means.values[e]


@inlined
def _goes_left(tests, here, x):
    if np.isnan(x):
        return tests.missing_left[here]
    if tests.n_levels[tests.feature[here]] > 0:
        return in_subset(tests.subsets, tests.subset_start[here], np.int64(x))
    return x <= tests.threshold[here]


@inlined
def _partition(tests, here, X, rows, other, lo, hi):
    """Move the rows that go left to the front; returns where the others start."""
    f = tests.feature[here]
    a = lo
    b = 0
    if tests.n_levels[f] > 0:
        for i in range(lo, hi):
            r = rows[i]
            left = _goes_left(tests, here, X[f, r])
            rows[a] = r
            other[b] = r
            a += left
            b += not left
    else:
        threshold = tests.threshold[here]
        missing_left = tests.missing_left[here]
        for i in range(lo, hi):
            r = rows[i]
            x = X[f, r]
            left = (x <= threshold) | ((x != x) & missing_left)
            rows[a] = r
            other[b] = r
            a += left
            b += not left
    for i in range(b):
        rows[a + i] = other[i]
    return a


@compiled
def add_means(tests, means, X, rows, other, waiting, out):
    """Add to out[i] the prototype of the leaf that row i reaches, for the given rows, whose order is lost.

    X is (features, rows): nominal features as codes, NaN = missing. ``other`` has room for as many rows, ``waiting``
    (rows + 1, 3) for the nodes that wait.
    """
    n = len(rows)
    waiting[0, 0] = 0
    waiting[0, 1] = 0
    waiting[0, 2] = n
    top = 1 if n else 0
    while top > 0:
        top -= 1
        here = waiting[top, 0]
        lo = waiting[top, 1]
        hi = waiting[top, 2]
        while tests.feature[here] >= 0 and hi - lo > FEW_ROWS:
            middle = _partition(tests, here, X, rows, other, lo, hi)
            if middle == lo:
                here = np.int64(tests.right[here])
                continue
            if middle < hi:
                waiting[top, 0] = tests.right[here]
                waiting[top, 1] = middle
                waiting[top, 2] = hi
                top += 1
                hi = middle
            here += 1
        for i in range(lo, hi):
            leaf = here
            while tests.feature[leaf] >= 0:
                left = _goes_left(tests, leaf, X[tests.feature[leaf], rows[i]])
                leaf = leaf + 1 if left else np.int64(tests.right[leaf])
            add_leaf(means, leaf, out, rows[i])
