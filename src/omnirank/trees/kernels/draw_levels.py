"""One random test per feature: the search of extra trees on nominal features, beside numeric ones."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import inlined, part
from omnirank.trees.kernels.candidates import redrawn, test_state, too_little
from omnirank.trees.kernels.draw import draw_threshold
from omnirank.trees.kernels.nominal import MixedDraws, mark_levels, remember_subset
from omnirank.trees.kernels.order import OTHER
from omnirank.trees.kernels.random import below, mix
from omnirank.trees.kernels.spaces import GAIN, SPLIT_OFF
from omnirank.trees.kernels.split import CUT, LOW_ROW, MISSING_LEFT, search_feature, try_rows

_draw_threshold = inlined(draw_threshold)


@search_feature.kind(MixedDraws)
def _draw_mixed(space, node, features, f, rows, weight, lo, n, total, settings, seed, work):
    if features.n_levels[f] == 0:
        _draw_threshold(space, node, features, f, rows, weight, lo, n, total, settings, seed, work)
    else:
        _draw_levels(space, node, features, f, rows, weight, lo, n, total, settings, seed, work)


@part
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


@part
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


@part
def _list_rows(features, n, work):
    """List the rows whose level has rank 0, then those that miss one; returns the number of the former."""
    n_left = 0
    for i in range(n):
        c = work.code[i]
        if c != features.missing and work.rank[c] == 0:
            work.ints[OTHER, n_left] = i
            n_left += 1
    end = n_left
    for i in range(n):
        if work.code[i] == features.missing:
            work.ints[OTHER, end] = i
            end += 1
    return n_left


@part
def _try_level_set(space, node, features, f, weight, lo, n, n_missing, total, settings, seed, work):
    """Try the levels of rank 0 as left child."""
    n_left = _list_rows(features, n, work)
    position = np.int64(0)  # Numba would compile a part anew for every number that is written out
    for v in range(features.n_levels[f]):
        if work.rank[v] == 0:
            position = (position * 31 + v + 1) & 0x3FFFFFFF
    outcome = try_rows(space, node, f, position, weight, lo, n_left, n_missing, total, settings, seed, work)
    if outcome:
        work.test[CUT] = 0
        work.test[MISSING_LEFT] = outcome - 1
        work.test[LOW_ROW] = -1
        remember_subset(features.n_levels[f], 0, work.rank, work.subset)
