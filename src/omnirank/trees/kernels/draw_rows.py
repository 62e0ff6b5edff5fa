"""The search of extra trees row by row: for 16 features at once where nodes try most of them, else for 8 drawn ones.

The cells of a row lie together. Reading them by feature instead, as `draw` does, fetches a piece of memory per cell.
"""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined
from omnirank.core.kernels.vector import larger, smaller
from omnirank.trees.kernels.candidates import FEATURE, SLACK, STATE, better, draw_feature
from omnirank.trees.kernels.draw import ListedDraws, NumericDraws, RowDraws
from omnirank.trees.kernels.draw_lanes import (
    draw_halves,
    draw_listed_halves,
    draw_listed_values,
    draw_values,
    half_norm_8,
    half_norm_16,
)
from omnirank.trees.kernels.draw_lanes_plain import BLOCK, FEW, LEFT_VALUE, LEFT_WEIGHT, THRESHOLD
from omnirank.trees.kernels.nominal import MixedCodes, MixedDraws, MixedSets
from omnirank.trees.kernels.order import ORDER
from omnirank.trees.kernels.random import mix
from omnirank.trees.kernels.spaces import DenseColumns, OneColumn
from omnirank.trees.kernels.split import CODES, LOW_ROW, MISSING_LEFT, NumericCodes, search_feature

_BY_ROW = Kinds("spaces that are searched by row")


@dispatched(CODES, 2)
def search_together(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    """Draw and try as many features as a node must, if this kind of features can try them all at once.

    Returns how many were drawn, none otherwise, and the random state of the next draw.
    """


@search_together.kind(NumericCodes, MixedCodes, MixedSets, MixedDraws, NumericDraws)
def _one_by_one(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    return np.int64(0), state


@search_feature.kind(RowDraws, ListedDraws)
def _already_tried(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Features are searched together: compiling a second search would only take time."""


@search_together.kind(RowDraws)
def _search(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    n_features = np.int64(len(pool))
    n_drawn = np.int64(0)
    n_wanted = smaller(np.int64(settings.max_features), n_features)
    some = n_wanted < n_features
    while n_drawn < n_wanted:
        if some:
            for f in range(n_features):
                work.drawn[f] = 0
            for d in range(n_drawn, n_wanted):
                state = mix(state)
                work.drawn[draw_feature(pool, swaps, d, state)] = 1
        n_drawn = n_wanted
        for new in range(0, n_features, BLOCK):
            first = larger(np.int64(0), smaller(np.int64(new), n_features - BLOCK))  # the last block may hold old ones
            admissible = draw_together(space, node, features, first, rows, weight, n, total, settings.min_leaf, work)
            for j in range(new - first, BLOCK):
                if (admissible >> np.uint64(j)) & np.uint64(1):
                    _judge(space, node, first + j, j, n, total, settings, seed, work)
        if work.test[FEATURE] < 0 and n_drawn < n_features:  # none of them can be split: draw another one
            n_wanted = n_drawn + 1
    return n_drawn, state


@inlined
def _judge(space, node, f, j, n, total, settings, seed, work):
    """Try the threshold that was drawn for feature f, number j of its block."""
    k = work.found[LEFT_WEIGHT, j]
    gain = left_norm(space, node, j, 2.0 * k > total, n, work) * total / (k * (total - k))
    if better(gain, f, 0, settings.first_tie, seed, work.best, work.test):
        work.test[MISSING_LEFT] = 0
        work.test[LOW_ROW] = -1
        work.best[1] = work.found[THRESHOLD, j]


@search_together.kind(ListedDraws)
def _search_listed(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    n_features = np.int64(len(pool))
    n_drawn = np.int64(0)
    n_wanted = smaller(np.int64(settings.max_features), n_features)
    listed = work.ints[ORDER]
    while n_drawn < n_wanted or (work.test[FEATURE] < 0 and n_drawn < n_features):
        # Where none of those wanted can be split, the next one that can is taken.
        more = n_drawn >= n_wanted
        n_listed = smaller(np.int64(FEW), (n_features if more else n_wanted) - n_drawn)
        for j in range(FEW):
            work.drawn[j] = j < n_listed
            if j < n_listed:
                state = mix(state)
                listed[j] = draw_feature(pool, swaps, n_drawn + j, state)
            else:
                listed[j] = listed[0]
        n_drawn += n_listed
        admissible = draw_listed(space, node, features, rows, weight, n, total, settings.min_leaf, work)
        for j in range(n_listed):
            if (admissible >> np.uint64(j)) & np.uint64(1) and not (more and work.test[FEATURE] >= 0):
                _judge(space, node, np.int64(listed[j]), j, n, total, settings, seed, work)
    return n_drawn, state


@dispatched(_BY_ROW)
def draw_listed(space, node, features, rows, weight, n, total, min_leaf, work):
    """As draw_together for the features listed in work.ints."""


@draw_listed.kind(OneColumn)
def _draw_listed_one(space, node, features, rows, weight, n, total, min_leaf, work):
    base, least = np.uint64(work.test[STATE]), min_leaf - SLACK
    return draw_listed_values(
        features.by_row,
        work.ints,
        rows,
        n,
        weight,
        work.drawn,
        base,
        total,
        least,
        work.found,
        node.centred,
        work.floats,
    )


@draw_listed.kind(DenseColumns)
def _draw_listed_dense(space, node, features, rows, weight, n, total, min_leaf, work):
    base, least = np.uint64(work.test[STATE]), min_leaf - SLACK
    return draw_listed_halves(
        features.by_row,
        work.ints,
        rows,
        n,
        weight,
        work.drawn,
        base,
        total,
        least,
        work.found,
        work.halves,
        work.floats,
    )


@dispatched(_BY_ROW)
def draw_together(space, node, features, first, rows, weight, n, total, min_leaf, work):
    """Draw thresholds of a block of features into work.found; returns, as bits, which of them have one."""


@dispatched(_BY_ROW)
def left_norm(space, node, j, right, n, work):
    """Return |S_L|^2 = |S_R|^2 of feature j of a block (rows are centred); the rows on the right are fewer, or not."""


@draw_together.kind(OneColumn)
def _draw_one(space, node, features, first, rows, weight, n, total, min_leaf, work):
    base, least = np.uint64(work.test[STATE]), min_leaf - SLACK
    return draw_values(
        features.by_row, first, rows, n, weight, work.drawn, base, total, least, work.found, node.centred
    )


@draw_together.kind(DenseColumns)
def _draw_dense(space, node, features, first, rows, weight, n, total, min_leaf, work):
    base, least = np.uint64(work.test[STATE]), min_leaf - SLACK
    return draw_halves(features.by_row, first, rows, n, weight, work.drawn, base, total, least, work.found, work.halves)


@left_norm.kind(OneColumn)
def _one_norm(space, node, j, right, n, work):
    return work.found[LEFT_VALUE, j] * work.found[LEFT_VALUE, j]


@left_norm.kind(DenseColumns)
def _dense_norm(space, node, j, right, n, work):
    norm = 0.0
    last = node.centred.shape[1]
    c = 0
    while last - c >= 16:
        norm += half_norm_16(node.centred, c, work.halves, j, right, n)
        c += 16
    if c < last:
        norm += half_norm_8(node.centred, c, work.halves, j, right, n)
    return norm
