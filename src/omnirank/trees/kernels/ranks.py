"""Ranking many cells of one feature, by a radix sort of their leading bits."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import compiled, inlined
from omnirank.core.kernels.vector import prefetch

# Bits per pass: their counters fit L1.
DIGIT = np.uint64(11)

# Cells whose leading bits agree are put in order one by one: at most so many steps per cell.
_STEPS = 4

# Cells from here to the one that is fetched.
_AHEAD = 16

_SIGN = np.uint64(1 << 63)


@compiled
def rank_cells(cells, bits, codes, missing, n_sorted, pairs, counts, ordered):
    """Write the dense ranks of the known cells to ``codes``; missing ones get that code.

    The bits of floats are ordered as integers, after a flip of those below zero. Leading ones are sorted, with the row
    number; where they do not decide, the cells themselves do.

    Parameters
    ----------
    cells, bits : ndarray of float64, ndarray of uint64
        The cells, and the same memory as integers.
    codes, missing : ndarray, int
        Room for ranks, and the code of NaN.
    n_sorted : uint64
        Number of bits that are sorted, at most; the row numbers leave as many of 64 at least.
    pairs : ndarray of uint64, shape (2, cells)
        Memory.
    counts : ndarray of uint32, shape (2 ** DIGIT + 1,)
        Memory.
    ordered : ndarray of float64
        Memory.

    Returns
    -------
    int
        1 if all cells are known and differ, else 0; -1 if too many cells agree in their leading bits (nothing is
        written then).
    """
    one = np.uint64(1)
    low, high = ~np.uint64(0), np.uint64(0)
    for i in range(len(cells)):
        if cells[i] == cells[i]:
            key = _key(bits[i])
            low = min(low, key)
            high = max(high, key)
    if high < low:  # none is known
        codes[:] = missing
        return 0
    row_bits = np.uint64(0)
    while np.uint64(len(cells)) >> row_bits:
        row_bits += one
    n_bits = np.uint64(0)
    while n_bits < np.uint64(64) and (high - low) >> n_bits:
        n_bits += one
    n_sorted = min(n_sorted, np.uint64(64) - row_bits)
    cut = n_bits - n_sorted if n_bits > n_sorted else np.uint64(0)
    n = np.uint64(0)
    for i in range(len(cells)):
        if cells[i] == cells[i]:
            pairs[0, n] = (((_key(bits[i]) - low) >> cut) << row_bits) | np.uint64(i)
            n += one
    source = _sort(pairs, counts, n, row_bits, n_bits - cut)
    mask = (one << row_bits) - one
    steps = np.int64(_STEPS) * np.int64(n)
    end = np.int64(n) - 1
    for t in range(n):
        prefetch(cells, np.int64(pairs[source, min(np.int64(t) + _AHEAD, end)] & mask))
        row = pairs[source, t] & mask
        v = cells[row]
        place = np.int64(t)
        while place > 0 and ordered[place - 1] > v:
            ordered[place] = ordered[place - 1]
            pairs[source, place] = pairs[source, place - 1]
            place -= 1
            steps -= 1
        if steps < 0:
            return -1
        ordered[place] = v
        pairs[source, place] = row
    if n < np.uint64(len(cells)):
        codes[:] = missing
    rank = np.uint64(0)
    for t in range(n):
        if t > 0 and ordered[t] != ordered[t - 1]:
            rank += one
        codes[pairs[source, t] & mask] = rank
    return 1 if rank + one == np.uint64(len(cells)) else 0


@compiled
def copy_columns(matrix, columns, out):
    """Copy some columns of a matrix in C order to the rows of ``out``: each line of memory is read once."""
    end = np.int64(matrix.shape[0]) - 1
    for i in range(matrix.shape[0]):
        prefetch(matrix, min(np.int64(i) + _AHEAD, end) * matrix.shape[1] + columns[0])
        for j in range(len(columns)):
            out[j, i] = matrix[i, columns[j]]


@inlined
def _key(bits):
    """Unsigned integers in the order of the floats."""
    return ~bits if bits & _SIGN else bits | _SIGN


@inlined
def _sort(pairs, counts, n, shift, n_bits):
    """Sort the pairs by n_bits bits from ``shift`` on; returns which half of ``pairs`` they are in."""
    source = 0
    passes = (n_bits + DIGIT - np.uint64(1)) // DIGIT
    last = (np.uint64(1) << DIGIT) - np.uint64(1)
    for _ in range(passes):
        counts[:] = 0
        for i in range(n):
            counts[((pairs[source, i] >> shift) & last) + np.uint64(1)] += np.uint32(1)
        for b in range(last):
            counts[b + np.uint64(1)] += counts[b]
        for i in range(n):
            pair = pairs[source, i]
            b = (pair >> shift) & last
            place = counts[b]
            counts[b] = place + np.uint32(1)
            pairs[1 - source, place] = pair
        source = 1 - source
        shift += DIGIT
    return source
