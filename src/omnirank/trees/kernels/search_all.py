"""The search for the best test of a node: kinds of features, and all tests of a feature.

Kinds of features (random tests are in `search_random`); the tests tried differ, not the rest of the growing:

    NumericCodes    thresholds, all of them
    MixedCodes      thresholds, and subsets of levels in the order of their means
    NumericDraws    one random threshold per feature (extra trees); RowDraws and ListedDraws: of several at once
    MixedDraws      one random threshold or subset per feature

A nominal test is a set of levels that go left. All rows of a level stay together, so levels are ordered by their mean
(one clustering column; then the best cut of the order is the best subset) or by the first principal component of their
means (several columns), and cut like a numeric feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined, part
from omnirank.core.kernels.vector import larger
from omnirank.trees.kernels.candidates import FEATURE, TIE, better, draw_feature, is_light, mix
from omnirank.trees.kernels.draw_lanes import BLOCK, FEW, N_DRAWN, ROWS
from omnirank.trees.kernels.levels import EQUAL_LEVELS, rank_levels
from omnirank.trees.kernels.order import ORDER, order_rows
from omnirank.trees.kernels.spaces import EXTRA, GAIN, SPLIT_OFF, WITH_MISSING, both_gains, level_sums, prefix_gains

CODES = Kinds("coded features")


class NumericCodes(NamedTuple):
    """Numeric features as ranks; the largest code means missing."""

    codes: np.ndarray  # (features, rows), uint16 or uint32
    missing: int
    packed: np.ndarray  # empty, of the type that holds a code and a row number: uint32 or uint64
    distinct: np.ndarray  # whether all values of a feature are known and differ
    by_row: np.ndarray  # (rows, features): the codes once more, since small nodes read little of many features


class MixedCodes(NamedTuple):
    """Ranks of numeric and level codes of nominal features; the largest code means missing."""

    codes: np.ndarray
    missing: int
    packed: np.ndarray
    distinct: np.ndarray
    by_row: np.ndarray
    n_levels: np.ndarray  # 0 = numeric


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


class MixedDraws(NamedTuple):
    """As MixedCodes, with the values of the numeric cells."""

    codes: np.ndarray
    missing: int
    packed: np.ndarray
    cells: np.ndarray
    n_levels: np.ndarray


class Settings(NamedTuple):
    """What the search may do."""

    max_features: int
    min_leaf: float
    max_depth: int
    first_tie: bool


class Work(NamedTuple):
    """Memory of the search, and the best test found so far in the node."""

    ints: np.ndarray  # (2, rows): ORDER, OTHER
    code: np.ndarray
    key: np.ndarray
    pairs: np.ndarray
    floats: np.ndarray  # (4, rows): GAIN, SPLIT_OFF, EXTRA, WITH_MISSING; or (rows, 8): cells of ListedDraws
    bits: np.ndarray  # the same memory as integers
    best: np.ndarray  # [gain, drawn threshold, impurity of the node]
    test: np.ndarray  # see below
    draws: np.ndarray  # random tests of 16 features at once; `draw_lanes` names its rows
    halves: np.ndarray  # the rows that these send left, as bits
    drawn: np.ndarray  # whether a feature is drawn, of 16 at least; or one of 8 listed ones is
    level: np.ndarray  # number of each row's level among those present, -1 = missing
    rank: np.ndarray  # of each level in the node's order, -1 = absent
    subset: np.ndarray  # levels that the best test sends left, as bits


# Further parts of Work.test: the cut, where missing values go, rows whose values the threshold separates.
CUT, MISSING_LEFT, LOW_ROW, HIGH_ROW = 3, 4, 5, 6


def search_scratch(features, n):
    """Allocate the memory of the search for nodes of up to n rows.

    Most of it is not set: in a thread, zeros would have to be written, and memory be fetched for them.
    """
    kind, n_features = type(features), len(features.codes)
    by_row = kind in (RowDraws, ListedDraws)
    in_order = 0 if by_row or kind is NumericDraws else n + 64  # random tests of numbers put nothing in order
    most_levels = max(1, features.n_levels.max()) if "n_levels" in kind._fields else 0
    size = max(n, most_levels) + 64
    n_pairs = max(n, 257) + 8 if in_order else 0
    # Gains beyond the last one are multiplied too.
    floats = (np.zeros if in_order else np.empty)((n + 8, FEW) if kind is ListedDraws else (4, size))
    drawn = np.zeros(FEW if kind is ListedDraws else max(n_features, BLOCK), np.uint8)
    drawn[:n_features] = kind is not ListedDraws
    codes = np.empty((2, in_order), features.codes.dtype)
    pairs = np.empty((3, n_pairs), features.packed.dtype if in_order else np.uint16)
    best, test = np.zeros(3), np.zeros(7, np.int64)
    draws, halves = np.zeros((N_DRAWN, BLOCK)), np.empty((n // ROWS + 1 if by_row else 0, BLOCK), np.uint64)
    level, rank = np.empty(size if most_levels else 0, np.int32), np.empty(most_levels, np.int32)
    subset = np.empty((most_levels + 63) // 64, np.uint64)
    ints, bits = np.empty((2, size), np.uint32), floats.view(np.int64)
    return Work(ints, *codes, pairs, floats, bits, best, test, draws, halves, drawn, level, rank, subset)


# -- the features of a node -----------------------------------------------------------------------------------


@dispatched(CODES, 2)
def search_features(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps):
    """Draw features and try their tests on the n rows; remember the best in ``work``, and return how many were drawn.

    These are as many as the settings ask for, and more until one of them has an admissible test.
    """


@dispatched(Kinds("features that are searched one by one"), 2)
def search_feature(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try the tests of feature f on the n rows from lo; remember the best in ``work``."""


@search_features.kind(NumericCodes, MixedCodes, NumericDraws, MixedDraws)
def _one_by_one(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps):
    """One feature at a time."""
    n_features = features.codes.shape[0]
    n_drawn = np.int64(0)
    state = seed
    while n_drawn < n_features and (n_drawn < settings.max_features or work.test[FEATURE] < 0):
        state = mix(state)
        f = draw_feature(pool, swaps, n_drawn, state)
        n_drawn += 1
        search_feature(space, node, features, f, rows, weight, 0, n, total, settings, seed, work)
    return n_drawn


# -- thresholds -------------------------------------------------------------------------------------------


@search_feature.kind(NumericCodes)
def search_thresholds(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try all thresholds of feature f."""
    n_known = order_rows(features, f, rows, lo, n, work)
    if n_known:
        _scan_cuts(space, node, f, rows, weight, lo, n, n_known, total, settings, seed, work)


@inlined
def _largest(work, row, n):
    """The largest of n gains: floats from 0 on are ordered as their bits, and integers are compared many at a time."""
    top = np.int64(0)
    for t in range(n):
        top = larger(top, work.bits[row, t])
    work.bits[EXTRA, 0] = top
    return work.floats[EXTRA, 0]


@inlined
def _scan_cuts(space, node, f, rows, weight, lo, n, n_known, total, settings, seed, work):
    """Scan the cuts of the ordered rows, once with missing values on the right and once on the left.

    Returns whether one of them is the best so far; the last key on its left is in work.test[CUT].
    """
    ints, key, floats, test = work.ints, work.key, work.floats, work.test
    is_best = False
    missing_weight = 0.0
    if n_known < n:
        missing_weight = both_gains(space, node, weight, lo, total, ints, n_known, n, floats)
    else:
        prefix_gains(space, node, weight, lo, total, ints, ORDER, n_known - 1, floats)
    for side in range(2 if n_known < n else 1):
        row = WITH_MISSING if side else GAIN
        limit = work.best[0] * (1.0 - TIE)
        if not _largest(work, row, n_known - 1) > limit:  # most features stop here
            continue
        for t in range(n_known - 1):
            if floats[row, t] > limit:
                k = floats[SPLIT_OFF, t] + side * missing_weight
                if key[t] != key[t + 1] and not is_light(k, total, settings.min_leaf):
                    if better(floats[row, t], f, 2 * t + side, settings.first_tie, seed, work.best, test):
                        is_best = True
                        test[CUT] = key[t]
                        test[MISSING_LEFT] = side
                        test[LOW_ROW] = rows[lo + ints[ORDER, t]]
                        test[HIGH_ROW] = rows[lo + ints[ORDER, t + 1]]
                    limit = work.best[0] * (1.0 - TIE)
    return is_best


# -- levels -----------------------------------------------------------------------------------------------


@search_feature.kind(MixedCodes)
def _search_mixed(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try all thresholds of a numeric feature; cut the levels of a nominal one in the order of their means."""
    n_levels = features.n_levels[f]
    if n_levels == 0:
        n_known = order_rows(features, f, rows, lo, n, work)
    else:
        n_known = _order_levels(space, node, features, f, rows, weight, lo, n, work)
    # One place that scans: each would be compiled into a copy of the code.
    if n_known and _scan_cuts(space, node, f, rows, weight, lo, n, n_known, total, settings, seed, work) and n_levels:
        work.test[LOW_ROW] = -1
        remember_subset(n_levels, work.test[CUT], work.rank, work.subset)


@inlined
def _order_levels(space, node, features, f, rows, weight, lo, n, work):
    """Order the rows by the means of their levels; returns how many are known, 0 where there is one level only."""
    n_levels = features.n_levels[f]
    present, _ = mark_levels(features, f, rows, lo, n, work)
    if present < 2:
        return 0
    # The first numbering follows the rows; the order must not depend on theirs.
    _number_by_code(n_levels, work.rank, work.level, work.code, features.missing, n)
    if present > 2:
        sums = level_sums(space, node, weight, lo, work.level, n, present)
        rank_levels(sums, n_levels, weight, lo, n, present, work.level, work.rank, EQUAL_LEVELS * work.best[2])
    return _order_by_level(features.missing, n, present, work)


@inlined
def mark_levels(features, f, rows, lo, n, work):
    """Number the levels present in the node; returns how many there are and how many rows miss one."""
    for v in range(features.n_levels[f]):
        work.rank[v] = -1
    present = 0
    n_missing = 0
    for i in range(n):
        c = features.codes[f, rows[lo + i]]
        work.code[i] = c
        if c == features.missing:
            n_missing += 1
            work.level[i] = -1
            continue
        if work.rank[c] < 0:
            work.rank[c] = present
            present += 1
        work.level[i] = work.rank[c]
    return present, n_missing


@part
def _number_by_code(n_levels, rank, level, code, missing, n):
    number = 0
    for v in range(n_levels):
        if rank[v] >= 0:
            rank[v] = number
            number += 1
    for i in range(n):
        if code[i] != missing:
            level[i] = rank[code[i]]


@inlined
def _order_by_level(missing, n, present, work):
    """Order the rows by the rank of their level, missing ones last; returns how many are known."""
    place = np.zeros(present + 1, np.int64)
    for i in range(n):
        if work.code[i] != missing:
            place[work.rank[work.code[i]] + 1] += 1
    for v in range(present):
        place[v + 1] += place[v]
    n_known = place[present]
    end = n_known
    for i in range(n):
        c = work.code[i]
        if c == missing:
            work.ints[ORDER, end] = i
            end += 1
        else:
            v = work.rank[c]
            work.ints[ORDER, place[v]] = i
            work.key[place[v]] = v
            place[v] += 1
    return n_known


@part
def remember_subset(n_levels, last, rank, subset):
    """Levels ranked up to ``last`` go left; those absent from the node are decided when it is split."""
    for k in range(len(subset)):
        subset[k] = 0
    for v in range(n_levels):
        if 0 <= rank[v] <= last:
            subset[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
