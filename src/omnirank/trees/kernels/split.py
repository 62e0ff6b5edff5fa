"""The search for the best test of a node, one feature at a time: all thresholds of numeric features.

Kinds of features (random tests are in `draw`, nominal features in `nominal`); the tests tried
differ, not the rest of the growing:

    NumericCodes    thresholds, all of them
    NumericDraws    one random threshold per feature (extra trees); RowDraws and ListedDraws: of several at once
    MixedCodes      thresholds, and subsets of levels in the order of their means
    MixedSets       thresholds, and subsets of levels found greedily or one by one
    MixedDraws      one random threshold or subset per feature
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined
from omnirank.core.kernels.vector import larger
from omnirank.trees.kernels.candidates import TIE, better, is_light
from omnirank.trees.kernels.draw_lanes_plain import BLOCK, N_FOUND, ROWS
from omnirank.trees.kernels.order import ORDER, order_rows
from omnirank.trees.kernels.spaces import EXTRA, GAIN, SPLIT_OFF, WITH_MISSING, both_gains, prefix_gains, subset_gain

CODES = Kinds("coded features")


class NumericCodes(NamedTuple):
    """Numeric features as ranks; the largest code means missing."""

    codes: np.ndarray  # (features, rows), uint16 or uint32
    missing: int
    packed: np.ndarray  # empty, of the type that holds a code and a row number: uint32 or uint64
    distinct: np.ndarray  # whether all values of a feature are known and differ
    by_row: np.ndarray  # (rows, features): the codes once more, since small nodes read little of many features


class Settings(NamedTuple):
    """What the search may do."""

    max_features: int
    min_leaf: float
    max_depth: int
    first_tie: bool
    nominal_search: int
    min_gain: float = 0.0  # least share of a node's impurity that a test takes away


class Work(NamedTuple):
    """Memory of the search, and the best test found so far in the node."""

    ints: np.ndarray  # (2, rows): ORDER, OTHER
    code: np.ndarray
    key: np.ndarray
    pairs: np.ndarray
    floats: np.ndarray  # (4, rows): GAIN, SPLIT_OFF, EXTRA, WITH_MISSING; or (rows, 8): cells of `draw.ListedDraws`
    bits: np.ndarray  # the same memory as integers
    best: np.ndarray  # [gain, drawn threshold, impurity of the node]
    test: np.ndarray  # see below
    found: np.ndarray  # random tests of 16 features at once; `draw_lanes` names its rows
    halves: np.ndarray  # the rows that these send left, as bits
    drawn: np.ndarray  # whether a feature is drawn, of 16 at least; or one of 8 listed ones is


# Further parts of Work.test: the cut, where missing values go, rows whose values the threshold separates.
CUT, MISSING_LEFT, LOW_ROW, HIGH_ROW = 3, 4, 5, 6


@dispatched(CODES)
def search_scratch(features, n):
    """Allocate the memory of the search for nodes of up to n rows."""


@dispatched(CODES, 2)
def search_feature(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try the tests of feature f on the n rows from lo; remember the best in ``work``."""


@search_scratch.kind(NumericCodes)
def numeric_scratch(features, n):
    """Memory for numeric features; in a thread, zeros would have to be written, and memory be fetched for them."""
    floats = np.zeros((4, n + 8))  # gains beyond the last one are multiplied too
    return Work(
        np.empty((2, n + 8), np.uint32),
        np.empty(n + 64, features.codes.dtype),
        np.empty(n + 64, features.codes.dtype),
        np.empty((3, max(n, 257) + 8), features.packed.dtype),
        floats,
        floats.view(np.int64),
        np.zeros(3),
        np.zeros(7, np.int64),
        np.zeros((N_FOUND, BLOCK)),
        np.zeros((n // ROWS + 1, BLOCK), np.uint64),
        np.ones((features.codes.shape[0] + BLOCK - 1) // BLOCK * BLOCK, np.uint8),
    )


@search_feature.kind(NumericCodes)
def search_thresholds(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try all thresholds of feature f."""
    known = order_rows(features, f, rows, lo, n, work)
    if known:
        scan_cuts(space, node, f, rows, weight, lo, n, known, total, settings, seed, work)


@inlined
def _largest(work, row, n):
    """The largest of n gains: floats from 0 on are ordered as their bits, and integers are compared many at a time."""
    top = np.int64(0)
    for t in range(n):
        top = larger(top, work.bits[row, t])
    work.bits[EXTRA, 0] = top
    return work.floats[EXTRA, 0]


def plain_scan_cuts(space, node, f, rows, weight, lo, n, known, total, settings, seed, work):
    """Scan the cuts of the ordered rows, once with missing values on the right and once on the left.

    Returns whether one of them is the best so far; the last key on its left is in work.test[CUT].
    """
    ints, key, floats, test = work.ints, work.key, work.floats, work.test
    found = False
    missing_weight = 0.0
    if known < n:
        missing_weight = both_gains(space, node, weight, lo, total, ints, known, n, floats)
    else:
        prefix_gains(space, node, weight, lo, total, ints, ORDER, known - 1, floats)
    for side in range(2 if known < n else 1):
        row = WITH_MISSING if side else GAIN
        limit = work.best[0] * (1.0 - TIE)
        if not _largest(work, row, known - 1) > limit:  # most features stop here
            continue
        for t in range(known - 1):
            if floats[row, t] > limit:
                k = floats[SPLIT_OFF, t] + side * missing_weight
                if key[t] != key[t + 1] and not is_light(k, total, settings.min_leaf):
                    if better(floats[row, t], f, 2 * t + side, settings.first_tie, seed, work.best, test):
                        found = True
                        test[CUT] = key[t]
                        test[MISSING_LEFT] = side
                        test[LOW_ROW] = rows[lo + ints[ORDER, t]]
                        test[HIGH_ROW] = rows[lo + ints[ORDER, t + 1]]
                    limit = work.best[0] * (1.0 - TIE)
    return found


scan_cuts = inlined(plain_scan_cuts)


@inlined
def try_rows(space, node, f, position, weight, lo, n_left, n_missing, total, settings, seed, work):
    """Try the rows ints[OTHER, :n_left] as left child; the missing ones follow them in that list.

    Returns 0 if it is not the best so far, else 1 (missing right) or 2 (missing left).
    """
    outcome = 0
    for side in range(2 if n_missing else 1):
        n_members = n_left + (n_missing if side else 0)
        gain, k = subset_gain(space, node, weight, lo, total, work.ints, n_members)
        if not is_light(k, total, settings.min_leaf):
            if better(gain, f, 2 * position + side, settings.first_tie, seed, work.best, work.test):
                outcome = 1 + side
    return outcome
