"""Sparse features: their non-zero cells, and the sums of rows in the clustering spaces."""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.spaces import DenseColumns, OneColumn

CELLS = Kinds("sparse features")
CELL_SPACES = Kinds("clustering spaces of sparse features")


class BinaryCells(NamedTuple):
    """Non-zero cells by feature and by row, as ranks; no cell is missing, no feature has a third value."""

    starts: np.ndarray  # by feature
    rows: np.ndarray
    codes: np.ndarray
    row_starts: np.ndarray  # by row
    features: np.ndarray  # 16 bits where they suffice
    row_codes: np.ndarray
    zero: np.ndarray  # rank of 0 in each feature
    n_codes: np.ndarray  # number of distinct values, 0 included
    bits: np.ndarray  # (rows, words): which features a row has; (0, 0) if that were too much memory
    values: np.ndarray  # values of the ranks of all features, one after the other
    value_starts: np.ndarray
    half: np.ndarray  # [0.5] in their precision
    n_levels: np.ndarray  # 2 for a nominal feature (its codes are 0 and 1), else 0


# The same parts: any number of values per feature; and one random threshold per feature (extra trees), which has one
# choice only where no feature has a third value.
ValuedCells = namedtuple("ValuedCells", BinaryCells._fields)
DrawnCells = namedtuple("DrawnCells", BinaryCells._fields)
BinaryDraws = namedtuple("BinaryDraws", BinaryCells._fields)


class SparseRows(NamedTuple):
    """Rows with few non-zero cells, of any value; every cell is known."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    scale: np.ndarray  # one a column, in the values already


# -- sums in the spaces ---------------------------------------------------------------------------------


@dispatched(CELL_SPACES)
def n_sums(space):
    """Number of columns."""


@dispatched(CELL_SPACES)
def add_row(space, row, w, sums):
    """Add w times a row to sums[:-1] and its square to sums[-1]."""


@dispatched(CELL_SPACES)
def own_rows(space):
    """The space with rows that may be changed."""


@dispatched(CELL_SPACES)
def shift_rows(space, rows, n, others, sums, running):
    """Shift the n rows of a node towards 0, by the first of them, in columns where that changes no digit.

    It is exact where no value of a column differs from the first by more than a factor of two. Running sums are 0
    before and after, ``others`` has room for n rows. Returns whether sums are to be taken anew.
    """


@inlined
def _near(a, b):
    return a * b > 0.0 and abs(a) <= 2.0 * abs(b) and abs(b) <= 2.0 * abs(a)


@dispatched(CELL_SPACES)
def step(space, row, w, node_sums, running):
    """Add w times a row to ``running``; returns the growth of |S_1|^2 and of S . S_1, 0 where few columns are kept."""


@dispatched(CELL_SPACES)
def clear(space, found, n, running):
    """Set the running sums of the given rows back to 0."""


@n_sums.kind(OneColumn)
def _one_sums(space):
    return 1


@add_row.kind(OneColumn)
def _one_add(space, row, w, sums):
    z = space.z[row]
    sums[0] += w * z
    sums[1] += w * z * z


@step.kind(OneColumn)
def _one_step(space, row, w, node_sums, running):
    running[0] += w * space.z[row]
    return 0.0, 0.0


@own_rows.kind(OneColumn)
def _one_own(space):
    return OneColumn(space.z.copy())


@shift_rows.kind(OneColumn)
def _one_shift(space, rows, n, others, sums, running):
    first = space.z[rows[0]]
    for i in range(n):
        if not _near(space.z[rows[i]], first):
            return False
    for i in range(n):
        space.z[rows[i]] -= first
    return True


@clear.kind(OneColumn)
def _one_clear(space, found, n, running):
    running[0] = 0.0


@n_sums.kind(DenseColumns)
def _dense_sums(space):
    return space.z.shape[1]


@add_row.kind(DenseColumns)
def _dense_add(space, row, w, sums):
    n_columns = space.z.shape[1]
    square = 0.0
    for c in range(n_columns):
        z = space.z[row, c]
        sums[c] += w * z
        square += z * z
    sums[n_columns] += w * square


@step.kind(DenseColumns)
def _dense_step(space, row, w, node_sums, running):
    for c in range(space.z.shape[1]):
        running[c] += w * space.z[row, c]
    return 0.0, 0.0


@own_rows.kind(DenseColumns)
def _dense_own(space):
    return DenseColumns(space.z.copy())


@shift_rows.kind(DenseColumns)
def _dense_shift(space, rows, n, others, sums, running):
    shifted = False
    for c in range(space.z.shape[1]):
        first = space.z[rows[0], c]
        near = 0
        while near < n and _near(space.z[rows[near], c], first):
            near += 1
        if near == n:
            shifted = True
            for i in range(n):
                space.z[rows[i], c] -= first
    return shifted


@clear.kind(DenseColumns)
def _dense_clear(space, found, n, running):
    for c in range(space.z.shape[1]):
        running[c] = 0.0


# -- rows of cells --------------------------------------------------------------------------------------


@dispatched(Kinds("clustering spaces of cells"))
def cell(space, e):
    """Return the column and the value of a stored cell."""


@cell.kind(LabelSets)
def _label_cell(space, e):
    return space.labels[e], space.scale[space.labels[e]]


@cell.kind(SparseRows)
def _row_cell(space, e):
    return space.columns[e], space.values[e]


@n_sums.kind(LabelSets, SparseRows)
def _cell_sums(space):
    return len(space.scale)


@add_row.kind(LabelSets, SparseRows)
def _cell_add(space, row, w, sums):
    square = 0.0
    for e in range(space.starts[row], space.starts[row + np.uint32(1)]):
        c, z = cell(space, e)
        sums[c] += w * z
        square += z * z
    sums[len(space.scale)] += w * square


@step.kind(LabelSets, SparseRows)
def _cell_step(space, row, w, node_sums, running):
    q = 0.0
    p = 0.0
    for e in range(space.starts[row], space.starts[row + np.uint32(1)]):
        c, z = cell(space, e)
        a = w * z
        before = running[c]
        running[c] = before + a
        q += a * (2.0 * before + a)
        p += a * node_sums[c]
    return q, p


@own_rows.kind(LabelSets)
def _labels_own(space):
    return space


@shift_rows.kind(LabelSets)
def _labels_shift(space, rows, n, others, sums, running):
    return False


@own_rows.kind(SparseRows)
def _rows_own(space):
    return SparseRows(space.starts, space.columns, space.values.copy(), space.scale)


@shift_rows.kind(SparseRows)
def _rows_shift(space, rows, n, others, sums, running):
    for c in range(len(space.scale)):
        sums[c] = 0.0
    first = rows[0]
    for e in range(space.starts[first], space.starts[first + np.uint32(1)]):
        sums[space.columns[e]] = space.values[e]
    for i in range(n):
        for e in range(space.starts[rows[i]], space.starts[rows[i] + np.uint32(1)]):
            c = space.columns[e]
            running[c] += _near(space.values[e], sums[c])
    for i in range(n):
        for e in range(space.starts[rows[i]], space.starts[rows[i] + np.uint32(1)]):
            c = space.columns[e]
            if running[c] == n:
                space.values[e] -= sums[c]
    clear(space, rows, n, running)
    return True


@clear.kind(LabelSets, SparseRows)
def _cell_clear(space, found, n, running):
    if 16 * n < len(space.scale):
        for i in range(n):
            r = found[i]
            for e in range(space.starts[r], space.starts[r + np.uint32(1)]):
                running[cell(space, e)[0]] = 0.0
    else:
        for c in range(len(space.scale)):
            running[c] = 0.0
