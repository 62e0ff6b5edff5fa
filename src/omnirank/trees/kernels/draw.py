"""One random test per feature: the search of extra trees on numeric features.

The values of the cells are compared with the drawn threshold themselves: looking up ranks, and ranks' values, would
take longer than the rest of the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import dispatched, inlined
from omnirank.trees.kernels.blocks import DenseBlocks
from omnirank.trees.kernels.candidates import better, is_light, next_state
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.order import OTHER
from omnirank.trees.kernels.random import between, unit
from omnirank.trees.kernels.spaces import GAIN, SPACES, DenseColumns, OneColumn, subset_gain
from omnirank.trees.kernels.split import (
    LOW_ROW,
    MISSING_LEFT,
    numeric_scratch,
    search_feature,
    search_scratch,
)


class NumericDraws(NamedTuple):
    """Numeric features as ranks and as values."""

    codes: np.ndarray
    missing: int
    packed: np.ndarray
    cells: np.ndarray  # (features, rows), NaN = missing


search_scratch.kind(NumericDraws)(numeric_scratch)


@dispatched(SPACES)
def cut_gain(space, node, weight, lo, total, work, threshold, n):
    """Return the gain of splitting off the rows whose value (in work.floats) is up to the threshold; their weight."""


@search_feature.kind(NumericDraws)
def draw_threshold(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try one threshold of feature f, uniform between its smallest and its largest known value in the node."""
    state = next_state(work.test)
    smallest, largest, n_missing = _read_cells(features.cells, f, rows, lo, n, work.floats)
    if not smallest < largest:
        return
    threshold = np.float64(features.cells.dtype.type(between(smallest, largest, unit(state))))
    if threshold >= largest:  # rounding
        threshold = smallest
    _try_threshold(space, node, f, weight, lo, n, total, settings, seed, work, threshold, 0)
    if n_missing:
        for i in range(n):
            if np.isnan(work.floats[GAIN, i]):
                work.floats[GAIN, i] = -np.inf
        _try_threshold(space, node, f, weight, lo, n, total, settings, seed, work, threshold, 1)


@inlined
def _read_cells(cells, f, rows, lo, n, floats):
    """Copy the node's values of a feature to floats[GAIN]; returns the extremes of the known ones, and the others."""
    n_missing = 0
    for i in range(n):
        v = np.float64(cells[f, rows[lo + i]])
        floats[GAIN, i] = v
        n_missing += v != v
    smallest = np.inf
    largest = -np.inf
    for i in range(n):  # comparisons with NaN are false
        v = floats[GAIN, i]
        smallest = v if v < smallest else smallest
        largest = v if v > largest else largest
    return smallest, largest, n_missing


@inlined
def _try_threshold(space, node, f, weight, lo, n, total, settings, seed, work, threshold, missing_left):
    gain, k = cut_gain(space, node, weight, lo, total, work, threshold, n)
    if is_light(k, total, settings.min_leaf):
        return
    if better(gain, f, missing_left, settings.first_tie, seed, work.best, work.test):
        work.test[MISSING_LEFT] = missing_left
        work.test[LOW_ROW] = -1
        work.best[1] = threshold


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
