"""Which way examples go down a tree.

`goes_left` is the one rule: growing, prediction, `apply`, out-of-bag examples and the permutation score all ask it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, compiled, dispatched, inlined

# So few rows are routed one by one; more are partitioned together, which mispredicts no branch.
FEW_ROWS = 4


class Tests(NamedTuple):
    """Tests of a tree, nodes in preorder: a left child follows its parent."""

    feature: np.ndarray  # -1 = leaf
    threshold: np.ndarray  # largest number that goes left
    right: np.ndarray
    missing_left: np.ndarray
    subset_start: np.ndarray  # first word of the subset of a nominal test
    subsets: np.ndarray


# -- kinds of cells: each has ``nominal``, 0 for a numeric feature ----------------------------------------


class Matrix(NamedTuple):
    """Numbers and codes of levels in one matrix."""

    cells: np.ndarray  # (features, rows), NaN = missing
    nominal: np.ndarray


class Block(NamedTuple):
    """Cells of a matrix in either order, so that kernels are compiled for one of them."""

    cells: np.ndarray  # flat
    row_step: int
    column_step: int


class TableCells(NamedTuple):
    """Cells of a dense table."""

    numbers: Block  # NaN = missing
    levels: Block  # -1 = missing
    slots: np.ndarray  # column of each feature in its block
    nominal: np.ndarray


class StoredCells(NamedTuple):
    """Stored cells of a sparse table by row; the others are 0."""

    starts: np.ndarray
    features: np.ndarray
    values: np.ndarray  # NaN = missing
    nominal: np.ndarray


@dispatched(Kinds("cells to route by"))
def cell_of(cells, f, row):
    """Return the cell of feature f in a row, and whether it is missing."""


@cell_of.kind(Matrix)
def _matrix_cell(cells, f, row):
    x = cells.cells[f, row]
    return x, x != x


@cell_of.kind(TableCells)
def _table_cell(cells, f, row):
    if cells.nominal[f]:
        c = cells.levels.cells[row * cells.levels.row_step + cells.slots[f] * cells.levels.column_step]
        return np.float64(c), c < 0
    x = cells.numbers.cells[row * cells.numbers.row_step + cells.slots[f] * cells.numbers.column_step]
    return np.float64(x), x != x


@cell_of.kind(StoredCells)
def _stored_cell(cells, f, row):
    low = np.int64(cells.starts[row])
    end = np.int64(cells.starts[row + 1])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if cells.features[middle] < f:
            low = middle + 1
        else:
            high = middle
    x = np.float64(cells.values[low]) if low < end and cells.features[low] == f else 0.0
    return x, x != x


# -- the rule ---------------------------------------------------------------------------------------------


@inlined
def in_subset(subsets, start, level):
    """Whether a level is among the bits from word ``start``."""
    word = subsets[start + (level >> 6)]
    return (word >> np.uint64(level & 63)) & np.uint64(1) == np.uint64(1)


@inlined
def goes_left(tests, here, nominal, x, is_missing):
    """Whether a cell goes left: a missing one as the node says, a level by the subset, a number by the threshold."""
    if is_missing:
        return tests.missing_left[here] == 1
    if nominal:
        return in_subset(tests.subsets, tests.subset_start[here], np.int64(x))
    return x <= tests.threshold[here]


@inlined
def one_test(threshold, missing_left, start, subsets):
    """The test of one node, as number 0, for loops over its rows: its parts stay in registers."""
    return Tests((0,), (threshold,), (0,), (missing_left,), (start,), subsets)


@inlined
def next_node(tests, cells, here, f, x, is_missing):
    """The child of node ``here`` for a cell of its feature f."""
    left = goes_left(tests, here, cells.nominal[f] != 0, x, is_missing)
    return here + 1 if left else np.int64(tests.right[here])


# -- one row ----------------------------------------------------------------------------------------------


@inlined
def leaf_of(tests, cells, row, here):
    """Leaf of a row from node ``here`` on."""
    while tests.feature[here] >= 0:
        f = tests.feature[here]
        x, is_missing = cell_of(cells, f, row)
        here = next_node(tests, cells, here, f, x, is_missing)
    return here


@inlined
def walk(tests, cells, row, start, met, path, first, again):
    """Write the nodes on the way of a row to ``path``, its leaf last; returns the number of tests.

    ``first`` says whether a test is the first one of its feature, ``again`` has the place of the next one (-1: none).
    ``met`` holds ``start`` and the place in which a feature was met last: paths from different starts do not overlap.
    """
    here = np.int64(0)
    n = 0
    while tests.feature[here] >= 0:
        f = tests.feature[here]
        before = met[f] - start
        met[f] = start + n
        path[n] = here
        first[n] = before < 0
        again[n] = -1
        if before >= 0:
            again[before] = n
        n += 1
        x, is_missing = cell_of(cells, f, row)
        here = next_node(tests, cells, here, f, x, is_missing)
    path[n] = here
    return n


@inlined
def walk_with(tests, cells, row, here, f, donor):
    """Leaf of a row from node ``here`` on, with the cell of feature f of another row instead of its own."""
    while tests.feature[here] >= 0:
        g = tests.feature[here]
        x, is_missing = cell_of(cells, g, donor if g == f else row)
        here = next_node(tests, cells, here, g, x, is_missing)
    return here


@compiled
def find_leaves(tests, cells, leaves):
    """Write the leaf that each row reaches."""
    for i in range(len(leaves)):
        leaves[i] = leaf_of(tests, cells, i, np.int64(0))


# -- many rows --------------------------------------------------------------------------------------------


@inlined
def partition(tests, cells, here, rows, other, lo, hi):
    """Move the rows that go left to the front, both sides in their old order; returns where the others start."""
    f = tests.feature[here]
    nominal = cells.nominal[f] != 0
    test = one_test(tests.threshold[here], tests.missing_left[here], tests.subset_start[here], tests.subsets)
    a = lo
    b = 0
    for i in range(lo, hi):
        r = rows[i]
        x, is_missing = cell_of(cells, f, r)
        left = goes_left(test, 0, nominal, x, is_missing)
        rows[a] = r
        other[b] = r
        a += left
        b += not left
    for i in range(b):
        rows[a + i] = other[i]
    return a


@compiled
def route_rows(tests, cells, first, last, ordered, later):
    """Put rows into the order of a tree's nodes, and within a leaf into the order that they come in.

    ``ordered`` has all rows, which are put in place. Each node's range of them is written to first and last; the root's
    is given. ``later`` has room for as many. Nodes send their rows on, parents before children: a row that walked
    down alone would wait for memory at each step.
    """
    for k in range(len(tests.feature)):
        if tests.feature[k] >= 0:
            middle = partition(tests, cells, k, ordered, later, first[k], last[k])
            right = tests.right[k]
            first[k + 1], last[k + 1] = first[k], middle
            first[right], last[right] = middle, last[k]


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


@compiled
def add_means(tests, cells, means, rows, other, waiting, out):
    """Add to out[i] the prototype of the leaf that row i reaches, for the given rows, whose order is lost.

    ``other`` has room for as many rows, ``waiting`` (rows + 1, 3) for the nodes that wait.
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
            middle = partition(tests, cells, here, rows, other, lo, hi)
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
            add_leaf(means, leaf_of(tests, cells, rows[i], here), out, rows[i])
