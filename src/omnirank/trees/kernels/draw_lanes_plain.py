"""Thresholds of several features drawn at once, without vector instructions: the plain twins of `draw_lanes`."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import inlined, part
from omnirank.trees.kernels.candidates import redrawn
from omnirank.trees.kernels.random import between, mix, unit

BLOCK = 16

# Features that are listed and copied side by side are fewer at once.
FEW = 8

# Rows of the array that holds what is found, a number per feature: the threshold, and sums over the rows up to it.
THRESHOLD, LEFT_WEIGHT, LEFT_VALUE = 0, 1, 2
N_FOUND = 3

# Rows that fit a word of bits.
ROWS = 64


@part
def _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
    """Draw a threshold of feature f into column j; returns whether one is admissible."""
    low = np.inf
    high = -np.inf
    for i in range(n):
        v = np.float64(cells[rows[i], f])
        low = v if v < low else low
        high = v if v > high else high
    state = mix(base ^ np.uint64(f))
    while low < high:
        threshold = np.float64(cells.dtype.type(between(low, high, unit(state))))
        threshold = threshold if threshold < high else low
        k = 0.0
        above = np.inf
        up_to = -np.inf
        for i in range(n):
            v = np.float64(cells[rows[i], f])
            if v <= threshold:
                k += weight[i]
                up_to = v if v > up_to else up_to
            else:
                above = v if v < above else above
        if k < least:
            low = above
        elif total - k < least:
            high = up_to
        else:
            found[THRESHOLD, j] = threshold
            found[LEFT_WEIGHT, j] = k
            return True
        state = redrawn(state)
    return False


@inlined
def _sum_left(cells, f, rows, n, found, j, value):
    total = 0.0
    for i in range(n):
        if cells[rows[i], f] <= found[THRESHOLD, j]:
            total += value[i]
    found[LEFT_VALUE, j] = total


@inlined
def _note_left(cells, f, rows, n, found, j, halves):
    for i in range(n):
        if i % ROWS == 0:
            halves[i // ROWS, j] = np.uint64(0)
        if cells[rows[i], f] <= found[THRESHOLD, j]:
            halves[i // ROWS, j] |= np.uint64(1) << np.uint64(i % ROWS)


@inlined
def draw_values(cells, first, rows, n, weight, drawn, base, total, least, found, value):
    """Draw a threshold for each of the features first to first + 15 of which drawn is not 0.

    A threshold lies between the feature's cells in the n rows, uniform among those that leave at least ``least`` of the
    total weight on both sides; the random state of a feature is mix(base ^ feature). It is written to ``found``, with
    the weight and the sum of ``value`` on its left. Returns, as bits, which features have such a threshold.
    """
    admissible = np.uint64(0)
    for j in range(BLOCK):
        f = first + j
        if drawn[f] and _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
            _sum_left(cells, f, rows, n, found, j, value)
            admissible |= np.uint64(1) << np.uint64(j)
    return admissible


@inlined
def draw_halves(cells, first, rows, n, weight, drawn, base, total, least, found, halves):
    """As draw_values, but with the rows on the left, not a sum.

    Bit i % 64 of halves[i // 64, j] is row i for feature first + j.
    """
    admissible = np.uint64(0)
    for j in range(BLOCK):
        f = first + j
        if drawn[f] and _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
            _note_left(cells, f, rows, n, found, j, halves)
            admissible |= np.uint64(1) << np.uint64(j)
    return admissible


@inlined
def _copy_listed(cells, listed, rows, n, copied):
    for i in range(n):
        for j in range(FEW):
            copied[i, j] = cells[rows[i], listed[0, j]]


@inlined
def draw_listed_values(cells, listed, rows, n, weight, drawn, base, total, least, found, value, copied):
    """As draw_values for 8 features, the first ones of ``listed``; ``drawn`` has a flag for each of them.

    Their cells in the n rows are written to the columns of ``copied``.
    """
    _copy_listed(cells, listed, rows, n, copied)
    admissible = np.uint64(0)
    for j in range(FEW):
        f = np.int64(listed[0, j])
        if drawn[j] and _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
            _sum_left(cells, f, rows, n, found, j, value)
            admissible |= np.uint64(1) << np.uint64(j)
    return admissible


@inlined
def draw_listed_halves(cells, listed, rows, n, weight, drawn, base, total, least, found, halves, copied):
    """As draw_halves for 8 features, the first ones of ``listed``."""
    _copy_listed(cells, listed, rows, n, copied)
    admissible = np.uint64(0)
    for j in range(FEW):
        f = np.int64(listed[0, j])
        if drawn[j] and _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
            _note_left(cells, f, rows, n, found, j, halves)
            admissible |= np.uint64(1) << np.uint64(j)
    return admissible


def half_norm(lanes):
    """Make the function that returns |sum of the rows on the left|^2 over so many columns; or of the rest."""

    @inlined
    def norm(matrix, column, halves, j, right, n):
        squares = 0.0
        for c in range(column, column + lanes):
            total = 0.0
            for i in range(n):
                left = (halves[i // ROWS, j] >> np.uint64(i % ROWS)) & np.uint64(1) == np.uint64(1)
                if left != (right != 0):
                    total += matrix[i, c]
            squares += total * total
        return squares

    return norm
