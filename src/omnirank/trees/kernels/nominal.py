"""The search for the best test of a node: nominal features beside numeric ones.

A test is a set of levels that go left. All rows of a level stay together, so levels are ordered by their mean (one
clustering column; then the best cut of the order is the best subset) or by the first principal component of their
means (several columns), and cut like a numeric feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined, part
from omnirank.trees.kernels.level_order import EQUAL_LEVELS, rank_levels
from omnirank.trees.kernels.level_sets import MOST_GREEDY_LEVELS, ONE_AGAINST_REST, search_level_sets
from omnirank.trees.kernels.order import ORDER, order_rows
from omnirank.trees.kernels.spaces import level_sums
from omnirank.trees.kernels.split import (
    CUT,
    LOW_ROW,
    MISSING_LEFT,
    plain_scan_cuts,
    search_feature,
    search_scratch,
)

# Compiled once for both kinds of features: nodes of mixed data pay a call, but nobody waits for a second copy.
_scan_cuts = part(plain_scan_cuts)


class MixedCodes(NamedTuple):
    """Ranks of numeric and level codes of nominal features; the largest code means missing."""

    codes: np.ndarray
    missing: int
    packed: np.ndarray
    distinct: np.ndarray
    by_row: np.ndarray
    n_levels: np.ndarray  # 0 = numeric


class MixedSets(NamedTuple):
    """As MixedCodes; subsets of levels are searched greedily, or one level against the rest."""

    codes: np.ndarray
    missing: int
    packed: np.ndarray
    distinct: np.ndarray
    by_row: np.ndarray
    n_levels: np.ndarray


class MixedDraws(NamedTuple):
    """As MixedCodes, with the values of the numeric cells."""

    codes: np.ndarray
    missing: int
    packed: np.ndarray
    cells: np.ndarray
    n_levels: np.ndarray


class MixedWork(NamedTuple):
    """Memory of the search as in Work, and for levels."""

    ints: np.ndarray
    code: np.ndarray
    key: np.ndarray
    pairs: np.ndarray
    floats: np.ndarray
    bits: np.ndarray
    best: np.ndarray
    test: np.ndarray
    level: np.ndarray  # number of each row's level among those present, -1 = missing
    rank: np.ndarray  # of each level in the node's order, -1 = absent
    subset: np.ndarray  # levels that the best test sends left, as bits


@search_scratch.kind(MixedCodes, MixedSets, MixedDraws)
def _scratch(features, n):
    most = max(1, features.n_levels.max())
    size = max(n, 257, most) + 64
    floats = np.zeros((4, size))
    return MixedWork(
        np.zeros((2, size), np.uint32),
        np.zeros(size, features.codes.dtype),
        np.zeros(size, features.codes.dtype),
        np.zeros((3, size), features.packed.dtype),
        floats,
        floats.view(np.int64),
        np.zeros(3),
        np.zeros(7, np.int64),
        np.zeros(size, np.int32),
        np.zeros(most, np.int32),
        np.zeros((most + 63) // 64, np.uint64),
    )


@dispatched(Kinds("nominal features"), 2)
def search_sets(space, node, features, f, weight, lo, n, present, n_missing, total, settings, seed, work):
    """Search sets of levels, if this kind of features does; returns whether it has."""


# One function, not one per branch: every level of calls makes the compiler work through the code below it again.
@search_feature.kind(MixedCodes, MixedSets)
def _search_mixed(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try all thresholds of a numeric feature; cut the levels of a nominal one in the order of their means."""
    n_levels = features.n_levels[f]
    if n_levels == 0:
        known = order_rows(features, f, rows, lo, n, work)
        if known:
            _scan_cuts(space, node, f, rows, weight, lo, n, known, total, settings, seed, work)
        return
    present, n_missing = mark_levels(features, f, rows, lo, n, work)
    if present < 2 or search_sets(
        space, node, features, f, weight, lo, n, present, n_missing, total, settings, seed, work
    ):
        return
    # The first numbering follows the rows; the order must not depend on theirs.
    _number_by_code(n_levels, work.rank, work.level, work.code, features.missing, n)
    if present > 2:
        sums = level_sums(space, node, weight, lo, work.level, n, present)
        rank_levels(sums, n_levels, weight, lo, n, present, work.level, work.rank, EQUAL_LEVELS * work.best[2])
    known = _order_by_level(features.missing, n, present, work)
    if _scan_cuts(space, node, f, rows, weight, lo, n, known, total, settings, seed, work):
        work.test[LOW_ROW] = -1
        remember_subset(n_levels, work.test[CUT], work.rank, work.subset)


@search_sets.kind(MixedCodes)
def _no_sets(space, node, features, f, weight, lo, n, present, n_missing, total, settings, seed, work):
    return False


@search_sets.kind(MixedSets)
def _sets_of_levels(space, node, features, f, weight, lo, n, present, n_missing, total, settings, seed, work):
    if present == 2 or (present > MOST_GREEDY_LEVELS and settings.nominal_search != ONE_AGAINST_REST):
        return False
    _number_by_code(features.n_levels[f], work.rank, work.level, work.code, features.missing, n)
    found = search_level_sets(
        space, node, f, features.n_levels[f], weight, lo, n, present, n_missing, total, settings, seed, work
    )
    if found:
        work.test[CUT] = 0
        work.test[MISSING_LEFT] = found - 1
        work.test[LOW_ROW] = -1
    return True


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


@part
def _order_by_level(missing, n, present, work):
    """Order the rows by the rank of their level, missing ones last; returns how many are known."""
    place = np.zeros(present + 1, np.int64)
    for i in range(n):
        if work.code[i] != missing:
            place[work.rank[work.code[i]] + 1] += 1
    for v in range(present):
        place[v + 1] += place[v]
    known = place[present]
    end = known
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
    return known


@part
def remember_subset(n_levels, last, rank, subset):
    """Levels ranked up to ``last`` go left; those absent from the node are decided when it is split."""
    for k in range(len(subset)):
        subset[k] = 0
    for v in range(n_levels):
        if 0 <= rank[v] <= last:
            subset[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
