"""One random test per feature: the search of extra trees.

The values of the cells are compared with the drawn threshold themselves: looking up ranks, and ranks' values, would
take longer than the rest of the search. Features are searched one by one, or row by row: 16 neighbours at once where
nodes try most features, else 8 drawn ones. The cells of a row lie together; reading them by feature instead fetches a
line of memory per cell.
"""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined, part
from omnirank.core.kernels.vector import larger, prefetch, smaller
from omnirank.trees.kernels import draw_lanes as lanes
from omnirank.trees.kernels.candidates import (
    FEATURE,
    SLACK,
    STATE,
    below,
    better,
    draw_feature,
    drawn_between,
    is_light,
    mix,
    redrawn,
    test_state,
    too_little,
)
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.order import ORDER, OTHER
from omnirank.trees.kernels.partial_targets import DenseBlocks, TwoParts
from omnirank.trees.kernels.search_all import (
    CUT,
    LOW_ROW,
    MISSING_LEFT,
    ListedDraws,
    MixedDraws,
    NumericDraws,
    RowDraws,
    mark_levels,
    remember_subset,
    search_feature,
    search_features,
)
from omnirank.trees.kernels.spaces import (
    EXTRA,
    GAIN,
    SPACES,
    SPLIT_OFF,
    DenseColumns,
    GramColumns,
    OneColumn,
    centred_gain,
    subset_gain,
)

# Rows from here to the one whose cell is fetched.
_AHEAD = 32

# Floats as integers in the same order: all bits but the sign of negative ones are turned round. That of infinity.
_POSITIVE = np.int64(0x7FFFFFFFFFFFFFFF)
_INFINITE = np.int64(0x7FF0000000000000)

_BY_ROW = Kinds("spaces that are searched by row")

# -- thresholds, one feature at a time --------------------------------------------------------------------


@dispatched(SPACES)
def cut_gain(space, node, weight, lo, total, work, threshold, n):
    """Return the gain of splitting off the rows whose value (in work.floats) is up to the threshold; their weight."""


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
    return centred_gain(s * s, k, total), k


@cut_gain.kind(DenseColumns, GramColumns, LabelSets, DenseBlocks, TwoParts)
def _listed_cut(space, node, weight, lo, total, work, threshold, n):
    """By the list of these rows."""
    listed = 0
    for i in range(n):
        work.ints[OTHER, listed] = i
        listed += work.floats[GAIN, i] <= threshold
    return subset_gain(space, node, weight, lo, total, work.ints, listed)


@search_feature.kind(NumericDraws)
def draw_threshold(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Try one threshold of feature f, uniform among those between its known values that leave enough on both sides.

    Missing values go right, then left; the thresholds differ only where the first draw leaves too little in one way.
    """
    state = test_state(work.test, f)
    smallest, largest, n_missing = _read_cells(features.cells, f, rows, lo, n, work)
    if not smallest < largest:
        return
    threshold = drawn_between(features.cells, smallest, largest, state)
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
        threshold = drawn_between(features.cells, smallest, largest, state)
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
    # The extremes of integers in the same order are sought many at a time; NaN is beyond infinity there.
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
        threshold = drawn_between(features.cells, low, high, state)
        k = 0.0
        for i in range(n):
            k += weight[lo + i] if floats[GAIN, i] <= threshold else 0.0
    return threshold


# -- thresholds, row by row -------------------------------------------------------------------------------


@dispatched(_BY_ROW)
def draw_some(space, node, features, first, rows, weight, n, base, total, least, work):
    """Draw thresholds of the block of features from ``first`` on, or of those that it lists, into work.draws.

    Returns, as bits, which of them have one.
    """


@dispatched(_BY_ROW)
def left_norm(space, node, j, right, n, work):
    """Return |S_L|^2 = |S_R|^2 of feature j of a block (rows are centred); the rows on the right are fewer, or not."""


@search_features.kind(RowDraws)
def _search_blocks(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps):
    """16 neighbours at a time, of which those count that are drawn."""
    base, least, state = np.uint64(work.test[STATE]), settings.min_leaf - SLACK, seed
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
        for new in range(0, n_features, lanes.BLOCK):
            last = n_features - lanes.BLOCK  # the last block may hold old ones
            first = larger(np.int64(0), smaller(np.int64(new), last))
            admissible = draw_some(space, node, features, first, rows, weight, n, base, total, least, work)
            for j in range(new - first, lanes.BLOCK):
                if (admissible >> np.uint64(j)) & np.uint64(1):
                    _judge(space, node, first + j, j, n, total, settings, seed, work)
        if work.test[FEATURE] < 0 and n_drawn < n_features:  # none of them can be split: draw another one
            n_wanted = n_drawn + 1
    return n_drawn


@inlined
def _judge(space, node, f, j, n, total, settings, seed, work):
    """Try the threshold that was drawn for feature f, number j of its block."""
    k = work.draws[lanes.LEFT_WEIGHT, j]
    gain = centred_gain(left_norm(space, node, j, 2.0 * k > total, n, work), k, total)
    if better(gain, f, 0, settings.first_tie, seed, work.best, work.test):
        work.test[MISSING_LEFT] = 0
        work.test[LOW_ROW] = -1
        work.best[1] = work.draws[lanes.THRESHOLD, j]


@search_features.kind(ListedDraws)
def _search_listed(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps):
    """8 drawn features at a time."""
    base, least, state = np.uint64(work.test[STATE]), settings.min_leaf - SLACK, seed
    n_features = np.int64(len(pool))
    n_drawn = np.int64(0)
    n_wanted = smaller(np.int64(settings.max_features), n_features)
    listed = work.ints[ORDER]
    while n_drawn < n_wanted or (work.test[FEATURE] < 0 and n_drawn < n_features):
        # Where none of those wanted can be split, the next one that can is taken.
        more = n_drawn >= n_wanted
        n_listed = smaller(np.int64(lanes.FEW), (n_features if more else n_wanted) - n_drawn)
        for j in range(lanes.FEW):
            work.drawn[j] = j < n_listed
            if j < n_listed:
                state = mix(state)
                listed[j] = draw_feature(pool, swaps, n_drawn + j, state)
            else:
                listed[j] = listed[0]
        n_drawn += n_listed
        admissible = draw_some(space, node, features, work.ints, rows, weight, n, base, total, least, work)
        for j in range(n_listed):
            if (admissible >> np.uint64(j)) & np.uint64(1) and not (more and work.test[FEATURE] >= 0):
                _judge(space, node, np.int64(listed[j]), j, n, total, settings, seed, work)
    return n_drawn


@draw_some.kind(OneColumn)
def _one_draws(space, node, features, first, rows, weight, n, base, total, least, work):
    cells, drawn, draws, copied = features.by_row, work.drawn, work.draws, work.floats
    return lanes.draw_values(cells, first, rows, n, weight, drawn, base, total, least, draws, node.centred, copied)


@draw_some.kind(DenseColumns)
def _dense_draws(space, node, features, first, rows, weight, n, base, total, least, work):
    cells, drawn, draws, copied = features.by_row, work.drawn, work.draws, work.floats
    return lanes.draw_halves(cells, first, rows, n, weight, drawn, base, total, least, draws, work.halves, copied)


@left_norm.kind(OneColumn)
def _one_norm(space, node, j, right, n, work):
    return work.draws[lanes.LEFT_VALUE, j] * work.draws[lanes.LEFT_VALUE, j]


@left_norm.kind(DenseColumns)
def _dense_norm(space, node, j, right, n, work):
    norm = 0.0
    last = node.centred.shape[1]
    c = 0
    while last - c >= 16:
        norm += lanes.half_norm_16(node.centred, c, work.halves, j, right, n)
        c += 16
    if c < last:
        norm += lanes.half_norm_8(node.centred, c, work.halves, j, right, n)
    return norm


# -- levels -----------------------------------------------------------------------------------------------


_draw_threshold = inlined(draw_threshold)


@search_feature.kind(MixedDraws)
def _draw_mixed(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    if features.n_levels[f] == 0:
        _draw_threshold(space, node, features, f, rows, weight, lo, n, total, settings, seed, work)
    else:
        _draw_levels(space, node, features, f, rows, weight, lo, n, total, settings, seed, work)


@inlined
def _draw_levels(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    """Extra trees: a uniform proper non-empty subset of the present levels, both sides heavy enough if possible."""
    present, n_missing = mark_levels(features, f, rows, lo, n, work)
    state = test_state(work.test, f)
    if present >= 2:
        side = work.level  # of rows: not needed any more
        right = 0
        while right == 0 or right == present:
            right = 0
            for v in range(features.n_levels[f]):
                if work.rank[v] >= 0:
                    state = mix(state)
                    side[v] = below(state, 2)
                    right += side[v]
        for v in range(features.n_levels[f]):
            if work.rank[v] >= 0:
                work.rank[v] = side[v]
        _fill_lighter_side(features, f, weight, lo, n, settings.min_leaf, state, work)
        _try_level_set(space, node, features, f, weight, lo, n, n_missing, total, settings, seed, work)


@inlined
def _fill_lighter_side(features, f, weight, lo, n, min_leaf, state, work):
    """Let levels of the heavier side (ranks 0 and 1 are sides) join the lighter one until that is heavy enough.

    They do so in random order, except those that their side cannot spare. Missing values go with the lighter side.
    An admissible subset is missed only where both sides must be little above the least weight of a leaf.
    """
    n_levels = features.n_levels[f]
    share, sides, order = work.floats[GAIN], work.floats[SPLIT_OFF], work.ints[OTHER]  # free until gains are asked for
    for v in range(n_levels):
        share[v] = 0.0
    for v in range(2):
        sides[v] = 0.0
    missing = 0.0
    for i in range(n):
        c = work.code[i]
        if c == features.missing:
            missing += weight[lo + i]
        else:
            share[c] += weight[lo + i]
            sides[work.rank[c]] += weight[lo + i]
    light = 0 if sides[0] <= sides[1] else 1
    lighter = sides[light] + missing
    heavier = sides[1 - light]
    if not too_little(lighter, min_leaf):
        return
    n_heavy = 0
    for v in range(n_levels):
        if work.rank[v] == 1 - light:
            order[n_heavy] = v
            n_heavy += 1
    for i in range(n_heavy):
        state = redrawn(state)
        j = i + below(state, n_heavy - i)
        v = order[j]
        order[j] = order[i]
        order[i] = v
        if too_little(lighter, min_leaf) and not too_little(heavier - share[v], min_leaf):
            work.rank[v] = light
            lighter += share[v]
            heavier -= share[v]


@inlined
def _try_level_set(space, node, features, f, weight, lo, n, n_missing, total, settings, seed, work):
    """Try the levels of rank 0 as left child."""
    n_left = 0
    for i in range(n):
        c = work.code[i]
        if c != features.missing and work.rank[c] == 0:
            work.ints[OTHER, n_left] = i
            n_left += 1
    end = n_left
    for i in range(n):  # those that miss a level follow
        if work.code[i] == features.missing:
            work.ints[OTHER, end] = i
            end += 1
    position = np.int64(0)  # Numba would compile a part anew for every number that is written out
    for v in range(features.n_levels[f]):
        if work.rank[v] == 0:
            position = (position * 31 + v + 1) & 0x3FFFFFFF
    for side in range(2 if n_missing else 1):
        n_members = n_left + (n_missing if side else 0)
        gain, k = subset_gain(space, node, weight, lo, total, work.ints, n_members)
        if is_light(k, total, settings.min_leaf):
            continue
        if better(gain, f, 2 * position + side, settings.first_tie, seed, work.best, work.test):
            work.test[CUT] = 0
            work.test[MISSING_LEFT] = side
            work.test[LOW_ROW] = -1
            remember_subset(features.n_levels[f], 0, work.rank, work.subset)
