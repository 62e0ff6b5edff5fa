"""Sparse features: their non-zero cells, and sums of rows and gains in the clustering spaces.

``node_norm`` and ``split_gain`` know how many weights K a space has: one, or (``TwoParts``) one of the target's known
rows and one of all rows. The gain is |S_1 - S K_1 / K|^2 K / (K_1 (K - K_1)): a difference of sums of few columns, else

    |S_1 - S K_1 / K|^2 = q - 2 p K_1 / K + |S|^2 (K_1 / K)^2,    q = |S_1|^2, p = S . S_1

which costs the cells of the rows that are split off, whatever the number of columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, No, Yes, dispatched, inlined
from omnirank.trees.kernels.candidates import ROUNDING
from omnirank.trees.kernels.labels import HEAD, LabelSets
from omnirank.trees.kernels.partial_targets import TwoParts, allowed_gain
from omnirank.trees.kernels.spaces import DenseColumns, OneColumn, centred_gain, sums_gain

CELL_SPACES = Kinds("clustering spaces of sparse features")

# Where there are more labels than so many per row, those of each row are looked at again, else all labels are.
_FEW_LABELS = 16

# Places for what is added to no label, beyond the running sums: those of so many rows differ, so that none waits for
# the one before.
_APART = np.uint32(8)
SPARE = int(_APART * HEAD)

# Where a smaller share of a node's weight stays, the digits of q and p do not suffice, and all columns are looked at.
_LEAST_REST = 1 / 1024
# Rows whose impurity is a smaller share of their squares are far from 0.
_FAR = 1 / 64


class Cells(NamedTuple):
    """Non-zero cells of sparse features by feature and by row, as ranks; no cell is missing."""

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
    valued: Yes | No  # whether a feature has a third value: else all non-zero cells of a feature are the same
    drawn: Yes | No  # whether trees try one random threshold per feature (extra trees), not all of them


def flag(condition):
    """Return a flag of `Cells`."""
    return Yes() if condition else No()


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


def own_rows(space):
    """Return the space with rows that may be changed."""
    if isinstance(space, TwoParts):
        return space._replace(target=own_rows(space.target), features=own_rows(space.features))
    if isinstance(space, LabelSets):  # never shifted
        return space
    rows = "values" if isinstance(space, SparseRows) else "z"
    return space._replace(**{rows: getattr(space, rows).copy()})


@dispatched(CELL_SPACES)
def shift_rows(space, rows, n, room, sums, running):
    """Shift the n rows of a node towards 0, by the first of them, in columns where that changes no digit.

    It is exact where no value of a column differs from the first by more than a factor of two. Running sums are 0
    before and after, ``room`` has room for n rows. Returns whether sums are to be taken anew.
    """


@inlined
def _near(a, b):
    return a * b > 0.0 and abs(a) <= 2.0 * abs(b) and abs(b) <= 2.0 * abs(a)


@dispatched(CELL_SPACES)
def step(space, row, w, node_sums, running):
    """Add w times a row to ``running``; returns the growth of |S_1|^2 and of S . S_1, 0 where few columns are kept."""


@dispatched(CELL_SPACES)
def clear(space, listed, n, running):
    """Set the running sums of the given rows back to 0."""


# -- dense columns --------------------------------------------------------------------------------------


_DENSE = Kinds("clustering spaces of dense columns")


@dispatched(_DENSE)
def value(space, row, c):
    """Return the value of a row in a column."""


@dispatched(_DENSE)
def shift(space, row, c, by):
    """Shift the value of a row in a column."""


@n_sums.kind(OneColumn)
def _one_sums(space):
    return 1


@value.kind(OneColumn)
def _one_value(space, row, c):
    return space.z[row]


@shift.kind(OneColumn)
def _one_shift(space, row, c, by):
    space.z[row] -= by


@n_sums.kind(DenseColumns)
def _dense_sums(space):
    return space.z.shape[1]


@value.kind(DenseColumns)
def _dense_value(space, row, c):
    return space.z[row, c]


@shift.kind(DenseColumns)
def _dense_shift(space, row, c, by):
    space.z[row, c] -= by


@add_row.kind(OneColumn)
def _one_add(space, row, w, sums):
    z = space.z[row]
    sums[0] += w * z
    sums[1] += w * z * z


@add_row.kind(DenseColumns)
def _dense_add(space, row, w, sums):
    n_columns = space.z.shape[1]
    square = 0.0
    for c in range(n_columns):
        z = space.z[row, c]
        sums[c] += w * z
        square += z * z
    sums[n_columns] += w * square


@step.kind(OneColumn, DenseColumns)
def _dense_step(space, row, w, node_sums, running):
    for c in range(n_sums(space)):
        running[c] += w * value(space, row, c)
    return 0.0, 0.0


@shift_rows.kind(OneColumn, DenseColumns)
def _shift_dense(space, rows, n, room, sums, running):
    shifted = False
    for c in range(n_sums(space)):
        first = value(space, rows[0], c)
        near = 0
        while near < n and _near(value(space, rows[near], c), first):
            near += 1
        if near == n:
            shifted = True
            for i in range(n):
                shift(space, rows[i], c, first)
    return shifted


@clear.kind(OneColumn, DenseColumns)
def _dense_clear(space, listed, n, running):
    for c in range(n_sums(space)):
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


@shift_rows.kind(LabelSets)
def _labels_shift(space, rows, n, room, sums, running):
    return False


@shift_rows.kind(SparseRows)
def _rows_shift(space, rows, n, room, sums, running):
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
def _cell_clear(space, listed, n, running):
    if 16 * n < len(space.scale):
        for i in range(n):
            r = listed[i]
            for e in range(space.starts[r], space.starts[r + np.uint32(1)]):
                running[cell(space, e)[0]] = 0.0
    else:
        for c in range(len(space.scale)):
            running[c] = 0.0


# -- gains ------------------------------------------------------------------------------------------------


@dispatched(CELL_SPACES)
def node_norm(space, sums, total, size):
    """Return |S|^2 and impurity of a node with the given sums, weight and number of rows; whether it is far from 0."""


@dispatched(CELL_SPACES)
def split_gain(space, q, p, k, norm, total, sums, running):
    """Return the gain of splitting off rows of weight k with |S_1|^2 = q and S . S_1 = p."""


@dispatched(CELL_SPACES)
def listed_gain(space, weight_of, listed, n, k, norm, total, sums, running):
    """Return the gain of splitting off the first n of the listed rows, of weight k; running sums start and end at 0."""


@inlined
def _norm(sums, first, last, square, total, size):
    norm = 0.0
    for c in range(first, last):
        norm += sums[c] * sums[c]
    impurity = square - norm / total
    if impurity <= ROUNDING * size * square:
        impurity = 0.0  # a difference of equal squares
    return norm, impurity, impurity < _FAR * square


@inlined
def _columns_gain(columns, k, total, sums, running):
    """The gain, column by column."""
    share = k / total
    norm = 0.0
    for c in range(columns):
        u = running[c] - share * sums[c]
        norm += u * u
    return centred_gain(norm, k, total)


@node_norm.kind(OneColumn, DenseColumns, LabelSets, SparseRows)
def _one_norm(space, sums, total, size):
    columns = n_sums(space)
    return _norm(sums, 0, columns, sums[columns], total, size)


@split_gain.kind(OneColumn, DenseColumns)
def _dense_gain(space, q, p, k, norm, total, sums, running):
    return _columns_gain(n_sums(space), k, total, sums, running)


@split_gain.kind(LabelSets, SparseRows)
def _cell_gain(space, q, p, k, norm, total, sums, running):
    if total - k < _LEAST_REST * total:
        return _columns_gain(n_sums(space), k, total, sums, running)
    return sums_gain(q, p, k, norm, total)


@listed_gain.kind(OneColumn, DenseColumns, SparseRows, TwoParts)
def _gain_by_steps(space, weight_of, listed, n, k, norm, total, sums, running):
    q = 0.0
    p = 0.0
    for i in range(n):
        r = listed[i]
        dq, dp = step(space, r, weight_of[r], sums, running)
        q += dq
        p += dp
    gain = split_gain(space, q, p, k, norm, total, sums, running)
    clear(space, listed, n, running)
    return gain


@listed_gain.kind(LabelSets)
def _gain_of_labels(space, weight_of, listed, n, k, norm, total, sums, running):
    """Add up weights by label first: products are then taken once per label, and many at a time where most occur.

    As many labels are read of every row, since processors cannot guess how many it has; few rows have more.
    """
    q = 0.0
    p = 0.0
    n_labels = np.uint32(len(space.scale))
    for i in range(n):
        r = listed[i]
        w = weight_of[r]
        first = space.starts[r]
        end = space.starts[r + np.uint32(1)]
        spare = n_labels + (np.uint32(i) % _APART) * HEAD
        for j in range(HEAD):
            c = space.labels[first + j]
            running[c if first + j < end else spare + j] += w
        for e in range(first + HEAD, end):
            running[space.labels[e]] += w
    if n * _FEW_LABELS < len(space.scale) and total - k >= _LEAST_REST * total:
        for i in range(n):
            r = listed[i]
            for e in range(space.starts[r], space.starts[r + np.uint32(1)]):
                c = space.labels[e]
                s = running[c] * space.scale[c]  # 0 where another row has had it
                running[c] = 0.0
                q += s * s
                p += s * sums[c]
        return sums_gain(q, p, k, norm, total)
    share = k / total
    for c in range(len(space.scale)):
        u = running[c] * space.scale[c] - share * sums[c]
        running[c] = 0.0
        q += u * u
    return centred_gain(q, k, total)


# -- target and features --------------------------------------------------------------------------------

# Sums of a node: those of the features, those of the target and their squares, and
#     [|S|^2 of the target, its known weight, number of labelled rows, squares of the features]
# Running sums: those of the features, those of the target, one place unused, and [q, p, k, number of labelled rows].
NORM, KNOWN, LABELLED = 1, 2, 3
ALONG = 1


@n_sums.kind(TwoParts)
def _two_sums(space):
    return n_sums(space.features) + n_sums(space.target) + 5


@add_row.kind(TwoParts)
def _two_add(space, row, w, sums):
    first = n_sums(space.features)
    end = first + n_sums(space.target)
    # The square of a row's features goes to the place of the target's first sum, from where it is moved on.
    kept = sums[first]
    sums[first] = 0.0
    add_row(space.features, row, w, sums)
    sums[end + 5] += sums[first]
    sums[first] = kept
    if space.known[row]:
        add_row(space.target, row, w, sums[first:])
        sums[end + KNOWN] += w
        sums[end + LABELLED] += 1.0


@step.kind(TwoParts)
def _two_step(space, row, w, node_sums, running):
    if space.known[row]:
        first = n_sums(space.features)
        at = first + n_sums(space.target) + 1
        q, p = step(space.target, row, w, node_sums[first:], running[first:])
        running[at] += q
        running[at + ALONG] += p
        running[at + KNOWN] += w
        running[at + LABELLED] += 1.0
    return step(space.features, row, w, node_sums, running)


@shift_rows.kind(TwoParts)
def _two_shift(space, rows, n, room, sums, running):
    first = n_sums(space.features)
    shifted = shift_rows(space.features, rows, n, room, sums, running)
    m = 0
    for i in range(n):
        room[m] = rows[i]
        m += space.known[rows[i]]
    if m > 0 and shift_rows(space.target, room, m, room, sums[first:], running[first:]):
        shifted = True
    return shifted


@clear.kind(TwoParts)
def _two_clear(space, listed, n, running):
    first = n_sums(space.features)
    at = first + n_sums(space.target) + 1
    clear(space.features, listed, n, running)
    if running[at + LABELLED] > 0.0:
        clear(space.target, listed, n, running[first:])
        for c in range(4):
            running[at + c] = 0.0


@node_norm.kind(TwoParts)
def _two_norm(space, sums, total, size):
    first = n_sums(space.features)
    end = first + n_sums(space.target)
    norm, impurity, far = _norm(sums, 0, first, sums[end + 5], total, size)
    sums[end + NORM] = 0.0
    if sums[end + LABELLED] > 0.0:
        own, more, target_far = _norm(sums, first, end, sums[end], sums[end + KNOWN], size)
        sums[end + NORM] = own
        impurity += more
        far = far or target_far
    elif space.least > 0.0:
        impurity = 0.0
    return norm, impurity, far


@split_gain.kind(TwoParts)
def _two_gain(space, q, p, k, norm, total, sums, running):
    gain = split_gain(space.features, q, p, k, norm, total, sums, running)
    first = n_sums(space.features)
    end = first + n_sums(space.target)
    at = end + 1
    labelled = running[at + LABELLED]
    part = running[at + KNOWN]
    known = sums[end + KNOWN]
    if labelled > 0.0 and labelled < sums[end + LABELLED]:
        gain += split_gain(
            space.target, running[at], running[at + ALONG], part, sums[end + NORM], known, sums[first:], running[first:]
        )
    return allowed_gain(space, gain, part, known)
