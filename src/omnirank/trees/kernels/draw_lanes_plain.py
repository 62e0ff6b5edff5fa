"""Thresholds of several features drawn at once, without vector instructions: the plain twins of `draw_lanes`."""

from __future__ import annotations

import numpy as np

from omnirank.trees.kernels import candidates, random

BLOCK = 16

# Features that are listed and copied side by side are fewer at once.
FEW = 8

# Rows of the array that holds what is found, a number per feature: the threshold, and sums over the rows up to it.
THRESHOLD, LEFT_WEIGHT, LEFT_VALUE = 0, 1, 2
N_FOUND = 3

# Rows that fit a word of bits.
ROWS = 64


def _draw_plain(cells, first, rows, n, weight, drawn, base, total, least, found):
    """Draw the thresholds; returns which rows they send left, one column per feature, and which are admissible."""
    block = cells[rows[:n], first : first + BLOCK].astype(float)
    features, wanted = range(first, first + BLOCK), drawn[first : first + BLOCK]
    return _draw_block(block, features, weight[:n], wanted, base, total, least, found, cells.dtype)


def _draw_block(block, features, weight, wanted, base, total, least, found, dtype):
    """As _draw_plain, given a column of cells per feature."""
    admissible = 0
    sides = np.zeros(block.shape, bool)
    for j, f in enumerate(features):
        column = block[:, j]
        low, high = column.min(), column.max()
        state = np.uint64(random.mix(base ^ np.uint64(f)))
        while wanted[j] and low < high:
            threshold = np.float64(dtype.type(random.between(low, high, random.unit(state))))
            threshold = threshold if threshold < high else low
            left = column <= threshold
            k = weight[left].sum()
            if k < least:
                low = column[~left].min()
            elif total - k < least:
                high = column[left].max()
            else:
                admissible |= 1 << j
                sides[:, j] = left
                found[THRESHOLD, j], found[LEFT_WEIGHT, j] = threshold, k
                break
            state = np.uint64(candidates.redrawn(state))
    return sides, admissible


def draw_values(cells, first, rows, n, weight, drawn, base, total, least, found, value):
    """Draw a threshold for each of the features first to first + 15 of which drawn is not 0.

    ``first`` is a multiple of 16. A threshold lies between the feature's cells in the n rows, uniform among those that
    leave at least ``least`` of the total weight on both sides; the random state of a feature is mix(base ^ feature). It
    is written to ``found``, with the weight and the sum of ``value`` on its left. Returns, as bits, which features have
    such a threshold.
    """
    sides, admissible = _draw_plain(cells, first, rows, n, weight, drawn, base, total, least, found)
    found[LEFT_VALUE] = value[:n] @ sides
    return admissible


def draw_halves(cells, first, rows, n, weight, drawn, base, total, least, found, halves):
    """As draw_values, but with the rows on the left, not a sum.

    Bit i % 64 of halves[i // 64, j] is row i for feature first + j.
    """
    sides, admissible = _draw_plain(cells, first, rows, n, weight, drawn, base, total, least, found)
    _write_halves(sides, halves)
    return admissible


def _write_halves(sides, halves):
    for start in range(0, len(sides), ROWS):
        part = sides[start : start + ROWS]
        words = (part.astype(np.uint64) << np.arange(len(part), dtype=np.uint64)[:, None]).sum(axis=0)
        halves[start // ROWS, : len(words)] = words


def _draw_listed_plain(cells, listed, rows, n, weight, drawn, base, total, least, found, copied):
    features = listed[0, :FEW]
    copied[:n] = cells[np.ix_(rows[:n], features)]
    return _draw_block(copied[:n], features, weight[:n], drawn, base, total, least, found[:, :FEW], cells.dtype)


def draw_listed_values(cells, listed, rows, n, weight, drawn, base, total, least, found, value, copied):
    """As draw_values for 8 features, the first ones of ``listed``; ``drawn`` has a flag for each of them.

    Their cells in the n rows are written to the columns of ``copied``.
    """
    sides, admissible = _draw_listed_plain(cells, listed, rows, n, weight, drawn, base, total, least, found, copied)
    found[LEFT_VALUE, :FEW] = value[:n] @ sides
    return admissible


def draw_listed_halves(cells, listed, rows, n, weight, drawn, base, total, least, found, halves, copied):
    """As draw_halves for 8 features, the first ones of ``listed``."""
    sides, admissible = _draw_listed_plain(cells, listed, rows, n, weight, drawn, base, total, least, found, copied)
    _write_halves(sides, halves)
    return admissible


def half_norm(lanes):
    """Make the function that returns |sum of the rows on the left|^2 over so many columns; or of the rest."""

    def norm(matrix, column, halves, j, right, n):
        left = [bool(int(halves[i // ROWS, j]) >> (i % ROWS) & 1) != bool(right) for i in range(n)]
        return float((matrix[:n][left, column : column + lanes].sum(axis=0) ** 2).sum())

    return norm
