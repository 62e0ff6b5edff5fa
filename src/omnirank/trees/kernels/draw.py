"""One random test per feature: the search of extra trees on numeric features.

The values of the cells are compared with the drawn threshold themselves: looking up ranks, and ranks' values, would
take longer than the rest of the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import dispatched, inlined, part
from omnirank.core.kernels.vector import larger, prefetch, smaller
from omnirank.trees.kernels.blocks import DenseBlocks
from omnirank.trees.kernels.candidates import better, is_light, redrawn, test_state, too_little
from omnirank.trees.kernels.draw_lanes_plain import BLOCK, FEW, N_FOUND, ROWS
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.order import OTHER
from omnirank.trees.kernels.random import between, unit
from omnirank.trees.kernels.spaces import EXTRA, GAIN, SPACES, DenseColumns, OneColumn, subset_gain
from omnirank.trees.kernels.split import (
    LOW_ROW,
    MISSING_LEFT,
    Work,
    search_feature,
    search_scratch,
)

# Rows from here to the one whose cell is fetched.
_AHEAD = 32

# Floats as integers in the same order: all bits but the sign of negative ones are turned round. That of infinity.
_POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)
_INFINITE = np.int64(0x7FF0000000000000)


class NumericDraws(NamedTuple):
    """Numeric features as values."""

    codes: np.ndarray  # (features, 0): they are not read
    cells: np.ndarray  # (features, rows), NaN = missing
    by_row: np.ndarray  # (rows, features) where subtrees grow on copies of their rows, else (0, 0)


class RowDraws(NamedTuple):
    """Numeric features as values by row, none missing, where nodes try most features; of one or more dense columns."""

    codes: np.ndarray  # (features, 0): they are not read
    by_row: np.ndarray  # (rows, features); rows of fewer than 16 features are followed by 16 cells at least


class ListedDraws(NamedTuple):
    """Numeric features as values by row, none missing; the few that a node draws are copied side by side.

    The space is one or more dense columns.
    """

    codes: np.ndarray  # (features, 0): they are not read
    by_row: np.ndarray  # (rows, features), float64


@search_scratch.kind(NumericDraws, RowDraws)
def _draw_scratch(features, n):
    drawn = np.zeros(max(features.codes.shape[0], BLOCK), np.uint8)
    drawn[: features.codes.shape[0]] = 1
    return _scratch(np.empty((4, n + 8)), n, drawn)


@search_scratch.kind(ListedDraws)
def _listed_scratch(features, n):
    return _scratch(np.empty((n + 8, FEW)), n, np.zeros(FEW, np.uint8))


def _scratch(floats, n, drawn):
    none = np.zeros(0, np.uint16)  # nothing is put in order
    return Work(
        np.empty((2, n + 8), np.uint32),
        none,
        none,
        none[:, None],
        floats,
        floats.view(np.int64),
        np.zeros(3),
        np.zeros(7, np.int64),
        np.zeros((N_FOUND, BLOCK)),
        np.empty((n // ROWS + 1, BLOCK), np.uint64),
        drawn,
    )


@dispatched(SPACES)
def cut_gain(space, node, weight, lo, total, work, threshold, n):
    """Return the gain of splitting off the rows whose value (in work.floats) is up to the threshold; their weight."""


@search_feature.kind(NumericDraws)
def draw_threshold(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try one threshold of feature f, uniform among those between its known values that leave enough on both sides.

    Missing values go right, then left; the thresholds differ only where the first draw leaves too little in one way.
    """
    state = test_state(work.test, f)
    smallest, largest, n_missing = _read_cells(features.cells, f, rows, lo, n, work)
    if not smallest < largest:
        return
    threshold = _between(features, smallest, largest, state)
    missing_left = np.int64(0)  # Numba would compile a part anew for every number that is written out
    again = False
    while True:  # one place that asks for gains: each would be compiled into a copy of their code
        gain, k = cut_gain(space, node, weight, lo, total, work, threshold, n)
        if not again and is_light(k, total, settings.min_leaf):
            again = True
            threshold = _admissible(features, weight, lo, n, total, settings.min_leaf, work.floats, threshold, k,
                                    smallest, largest, state)  # fmt: skip
            if threshold == threshold:  # a number; Numba takes longer to compile `isnan`
                continue
        elif better(gain, f, missing_left, settings.first_tie, seed, work.best, work.test):
            work.test[MISSING_LEFT] = missing_left
            work.test[LOW_ROW] = -1
            work.best[1] = threshold
        if missing_left == 1 or n_missing == 0:
            return
        for i in range(n):
            v = work.floats[GAIN, i]
            work.floats[GAIN, i] = v if v == v else -np.inf
        threshold = _between(features, smallest, largest, state)
        missing_left += 1
        again = False


@inlined
def _read_cells(cells, f, rows, lo, n, work):
    """Copy the node's values of a feature to floats[GAIN]; returns the extremes of the known ones, and the others."""
    floats, bits = work.floats, work.bits
    start = np.int64(f) * cells.shape[1]
    far = larger(np.int64(0), n - _AHEAD)
    for i in range(far):
        prefetch(cells, start + np.int64(rows[lo + i + _AHEAD]))
        floats[GAIN, i] = np.float64(cells[f, rows[lo + i]])
    for i in range(far, n):
        floats[GAIN, i] = np.float64(cells[f, rows[lo + i]])
    # The extremes of integers in the same order are found many at a time; NaN is beyond infinity there.
    low = _INFINITE
    high = -_INFINITE
    for i in range(n):
        b = bits[GAIN, i]
        key = b ^ ((b >> 63) & _POSITIVE)
        low = smaller(low, key)
        high = larger(high, key)
    if -_INFINITE <= low and high <= _INFINITE:
        bits[EXTRA, 0] = low ^ ((low >> 63) & _POSITIVE)
        bits[EXTRA, 1] = high ^ ((high >> 63) & _POSITIVE)
        return floats[EXTRA, 0], floats[EXTRA, 1], 0
    n_missing = 0
    smallest = np.inf
    largest = -np.inf
    for i in range(n):  # comparisons with NaN are false
        v = floats[GAIN, i]
        n_missing += v != v
        smallest = v if v < smallest else smallest
        largest = v if v > largest else largest
    return smallest, largest, n_missing


@inlined
def _between(features, low, high, state):
    """Uniform between two values, in the precision of the cells, below the larger one."""
    threshold = np.float64(features.cells.dtype.type(between(low, high, unit(state))))
    return threshold if threshold < high else low  # rounding


@part
def _admissible(features, weight, lo, n, total, min_leaf, floats, threshold, k, low, high, state):
    """Draw again until both sides are heavy enough, given a threshold that leaves too little; NaN if none does.

    What a draw rules out is cut off before the next one, so the last draw is uniform among the admissible thresholds.
    """
    while is_light(k, total, min_leaf):
        if too_little(k, min_leaf):
            low = np.inf
            for i in range(n):
                v = floats[GAIN, i]
                if threshold < v < low:
                    low = v
        else:
            high = -np.inf
            for i in range(n):
                v = floats[GAIN, i]
                if high < v <= threshold:
                    high = v
        if not low < high:
            return np.nan
        state = redrawn(state)
        threshold = _between(features, low, high, state)
        k = 0.0
        for i in range(n):
            k += weight[lo + i] if floats[GAIN, i] <= threshold else 0.0
    return threshold


@cut_gain.kind(OneColumn)
def _one_cut(space, node, weight, lo, total, work, threshold, n):
    s = 0.0
    k = 0.0
    for i in range(n):
        value = work.floats[GAIN, i]
        a = node.centred[i]
        w = weight[lo + i]
        left = 1.0 if value <= threshold else 0.0
        s += left * a
        k += left * w
    return s * s * total / (k * (total - k)), k


@cut_gain.kind(DenseColumns)
def _dense_cut(space, node, weight, lo, total, work, threshold, n):
    """Rows are centred: both sides have the same sum up to its sign, so the smaller one is summed."""
    n_left = 0
    k = 0.0
    for i in range(n):
        left = work.floats[GAIN, i] <= threshold
        n_left += left
        w = weight[lo + i]
        k += w if left else 0.0
    fewer = 2 * n_left <= n
    listed = 0
    for i in range(n):
        work.ints[OTHER, listed] = i
        listed += (work.floats[GAIN, i] <= threshold) == fewer
    gain, _k = subset_gain(space, node, weight, lo, total, work.ints, listed)
    return gain, k


@cut_gain.kind(DenseBlocks, LabelSets)
def listed_cut(space, node, weight, lo, total, work, threshold, n):
    """By the list of these rows."""
    listed = 0
    for i in range(n):
        work.ints[OTHER, listed] = i
        listed += work.floats[GAIN, i] <= threshold
    return subset_gain(space, node, weight, lo, total, work.ints, listed)
