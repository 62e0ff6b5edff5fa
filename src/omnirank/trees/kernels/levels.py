"""Levels of a nominal feature in a node: the order in which they are cut, and sets of them.

They are cut along the first principal component of their means. Sets are one level against the rest, or levels added
greedily. For these the rows of a node are summed by level, once. With sums s_v of rows that are centred on the node's
mean, and K_v the known weight of a level, the set L has S_L = sum of s_v, and adding a level costs no row:

    |S_L + s_v|^2 = |S_L|^2 + 2 S_L . s_v + s_v . s_v,    h = |S_L|^2 K / (K_L (K - K_L)) summed over parts

A part is what has a known weight K of its own: all columns, a block of columns with unknown values, target or features.
The products S_L . s_v grow by those of the level that was added, so that a round takes the time of levels x columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import dispatched, inlined, part
from omnirank.trees.kernels.candidates import TIE, better, is_light
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.spaces import SPACES, DenseColumns, GramColumns, OneColumn, known_gain, level_sums
from omnirank.trees.kernels.unknown import DenseBlocks, TwoParts, allowed_gain

# Levels whose means explain no more than this share of a node's impurity are equal up to rounding.
EQUAL_LEVELS = 1e-14
# What each level adds to the start of the power iteration, as a share of the largest row: no two add the same.
OWN_START = 1e-3
GOLDEN = 0.6180339887498949
# The products of so many levels with each other are kept; those of more would take too much memory and time.
MOST_PRODUCTS = 64

# Settings.nominal_search of sets of levels: this, or greedy.
ONE_AGAINST_REST = 2
# A greedy search takes up to levels^2 x columns / 2 steps per node: with more levels in it, they are cut in order.
MOST_GREEDY_LEVELS = 1024


# -- order ------------------------------------------------------------------------------------------------


@part
def rank_levels(sums, n_levels, weight, lo, n, present, level, rank, least):
    """Rank the present levels along the first principal component of their means, if one explains more than least."""
    share = np.zeros(present)
    for i in range(n):
        if level[i] >= 0:
            share[level[i]] += weight[lo + i]
    known = 0.0
    for v in range(present):
        known += share[v]
    for c in range(sums.shape[1]):  # label sets are not centred, and rows that miss a level are left out
        mean = 0.0
        for v in range(present):
            mean += sums[v, c]
        mean /= known
        for v in range(present):
            sums[v, c] = (sums[v, c] - share[v] * mean) / np.sqrt(share[v])
    score = first_component(sums, least)
    for v in range(present):
        score[v] /= np.sqrt(share[v])
    place = np.zeros(present, np.int64)
    by_score = _order_with_ties(score)
    for v in range(present):
        place[by_score[v]] = v
    for v in range(n_levels):
        if rank[v] >= 0:
            rank[v] = place[rank[v]]


@part
def _order_with_ties(score):
    """Order levels by score; scores that differ by rounding only are equal, then the order of codes counts."""
    by_score = _sorted_order(score)
    least = TIE * (score[by_score[len(score) - 1]] - score[by_score[0]])
    group = np.zeros(len(score))
    for i in range(1, len(score)):
        before, here = by_score[i - 1], by_score[i]
        group[here] = group[before] + (score[here] - score[before] > least)
    return _sorted_order(group)


@part
def _sorted_order(values):
    """Stable order by merging; NumPy's own sort takes seconds to compile."""
    n = len(values)
    order = np.zeros(n, np.int64)
    other = np.zeros(n, np.int64)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            a = start
            middle = min(start + width, n)
            b = middle
            end = min(start + 2 * width, n)
            for k in range(start, end):
                if a < middle and (b >= end or values[order[a]] <= values[order[b]]):
                    other[k] = order[a]
                    a += 1
                else:
                    other[k] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order


@part
def _products(sums):
    """Products of all pairs of few rows; none of many."""
    n = sums.shape[0] if sums.shape[0] <= MOST_PRODUCTS else 0
    gram = np.zeros((n, n))
    for u in range(n):
        for v in range(u + 1):
            product = 0.0
            for c in range(sums.shape[1]):
                product += sums[u, c] * sums[v, c]
            gram[u, v] = product
            gram[v, u] = product
    return gram


@part
def _multiply(sums, gram, across, vector, new):
    """Write S S' v to ``new``, where there are no products by S' v, in ``across``."""
    if gram.shape[0] > 0:
        for u in range(len(new)):
            new[u] = 0.0
            for v in range(len(new)):
                new[u] += gram[u, v] * vector[v]
        return
    for c in range(len(across)):
        across[c] = 0.0
    for v in range(len(new)):
        for c in range(len(across)):
            across[c] += sums[v, c] * vector[v]
    for u in range(len(new)):
        new[u] = 0.0
        for c in range(len(across)):
            new[u] += sums[u, c] * across[c]


@part
def first_component(sums, least):
    """Leading left singular vector (up to length) by power iteration, started near the largest row.

    The start fixes the sign, so it must not depend on rounding or on the sign of a column. Two levels without labels
    can mirror each other: a start that treats them alike has no share in the component that tells them apart but what
    rounding adds, and rounding would decide about their order. So each level adds a number of its own to the start.
    """
    n = sums.shape[0]
    start = 0
    largest = 0.0
    for v in range(n):
        size = 0.0
        for c in range(sums.shape[1]):
            size += sums[v, c] * sums[v, c]
        if size > largest * (1.0 + TIE):
            largest = size
            start = v
    if largest <= least:
        return np.zeros(n)
    vector = np.zeros(n)
    if sums.shape[1] == 1:
        sign = 1.0 if sums[start, 0] >= 0.0 else -1.0
        for v in range(n):
            vector[v] = sign * sums[v, 0]
        return vector
    gram = _products(sums)
    new = np.zeros(n)
    across = np.zeros(sums.shape[1])
    vector[start] = 1.0
    _multiply(sums, gram, across, vector, new)
    for v in range(n):
        vector[v] = new[v] + OWN_START * largest * (((v + 1) * GOLDEN) % 1.0 - 0.5)
    for _ in range(200):
        size = 0.0
        for v in range(n):
            size += vector[v] * vector[v]
        size = np.sqrt(size)
        if size == 0.0:
            break
        along = 0.0
        for u in range(n):
            vector[u] /= size
        _multiply(sums, gram, across, vector, new)
        for u in range(n):
            along += new[u] * vector[u]
        change = 0.0
        for u in range(n):
            change = max(change, abs(new[u] - along * vector[u]))
            vector[u] = new[u]
        if change <= 1e-12 * along:
            break
    return vector


# -- sums by level ----------------------------------------------------------------------------------------


class LevelParts(NamedTuple):
    """Sums of a node's levels; the last level is that of the rows that miss the feature."""

    sums: np.ndarray  # (columns, levels) of centred rows
    starts: np.ndarray  # first column of each part, and the end
    known: np.ndarray  # (parts, levels)
    totals: np.ndarray  # (parts,)


class Chosen(NamedTuple):
    """Sums over the levels chosen so far, and products of their sum with all levels."""

    along: np.ndarray  # (parts, levels): S_L . s_v
    own: np.ndarray  # (parts, levels): s_v . s_v
    missing: np.ndarray  # (parts, levels): s_v . s_missing
    square: np.ndarray  # (parts, 3): |S_L|^2, known weight, S_L . s_missing


@dispatched(SPACES)
def level_parts(space, node, weight, lo, level, n, n_levels):
    """Return the LevelParts of a node; every row has a level."""


@dispatched(SPACES)
def labelled_weights(space, node, level, n, n_levels):
    """Return the labelled weight of each level, where a rule asks for it."""


@dispatched(SPACES)
def allowed(space, gain, k, known):
    """Return the gain of splitting off k of the known labelled weight, -1 if a rule refuses it."""


@part
def _shares(weight, lo, level, n, n_levels):
    share = np.zeros(n_levels)
    for i in range(n):
        share[level[i]] += weight[lo + i]
    return share


@level_parts.called(OneColumn, DenseColumns, LabelSets, GramColumns)
def _parts_of_columns(space, node, weight, lo, level, n, n_levels):
    """One known weight for all columns; label sets are not centred yet."""
    sums = level_sums(space, node, weight, lo, level, n, n_levels)
    share = _shares(weight, lo, level, n, n_levels)
    n_columns = sums.shape[1]
    total = 0.0
    for v in range(n_levels):
        total += share[v]
    centred = np.zeros((n_columns, n_levels))
    for c in range(n_columns):
        mean = 0.0
        for v in range(n_levels):
            mean += sums[v, c]
        mean /= total
        for v in range(n_levels):
            centred[c, v] = sums[v, c] - share[v] * mean
    starts = np.zeros(2, np.int64)
    starts[1] = n_columns
    totals = np.zeros(1)
    totals[0] = total
    return LevelParts(centred, starts, share.reshape(1, n_levels), totals)


@level_parts.kind(DenseBlocks)
def _parts_of_blocks(space, node, weight, lo, level, n, n_levels):
    n_columns = space.z.shape[1]
    by_level = np.zeros((n_levels, n_columns))
    known = np.zeros((space.known.shape[0], n_levels))
    for i in range(n):
        v = level[i]
        for b in range(space.known.shape[0]):
            known[b, v] += node.weight[b, i]
        for c in range(n_columns):
            by_level[v, c] += node.centred[i, c]
    return LevelParts(np.ascontiguousarray(by_level.T), space.starts.copy(), known, node.totals.copy())


@level_parts.called(TwoParts)
def _both_parts(space, node, weight, lo, level, n, n_levels):
    around = level_parts(space.features, node.features, weight, lo, level, n, n_levels)
    m = np.int64(node.totals[1])
    if m == 0:
        return around
    compact = np.zeros(m, np.int32)
    for i in range(n):
        if node.place[i] >= 0:
            compact[node.place[i]] = level[i]
    own = level_parts(space.target, node.target, node.weight, 0, compact, m, n_levels)
    first = around.sums.shape[0]
    n_parts = len(around.totals)
    sums = np.zeros((first + own.sums.shape[0], n_levels))
    starts = np.zeros(n_parts + len(own.totals) + 1, np.int64)
    known = np.zeros((n_parts + len(own.totals), n_levels))
    totals = np.zeros(n_parts + len(own.totals))
    sums[:first], sums[first:] = around.sums, own.sums
    starts[: n_parts + 1], starts[n_parts + 1 :] = around.starts, first + own.starts[1:]
    known[:n_parts], known[n_parts:] = around.known, own.known
    totals[:n_parts], totals[n_parts:] = around.totals, own.totals
    return LevelParts(sums, starts, known, totals)


@labelled_weights.kind(OneColumn, DenseColumns, LabelSets, GramColumns, DenseBlocks)
def _no_labelled(space, node, level, n, n_levels):
    return np.zeros(n_levels)


@labelled_weights.kind(TwoParts)
def _labelled(space, node, level, n, n_levels):
    found = np.zeros(n_levels)
    for i in range(n):
        if node.place[i] >= 0:
            found[level[i]] += node.weight[node.place[i]]
    return found


@allowed.kind(OneColumn, DenseColumns, LabelSets, GramColumns, DenseBlocks)
def _any_gain(space, gain, k, known):
    return gain


@allowed.kind(TwoParts)
def _enough_labelled(space, gain, k, known):
    return allowed_gain(space, gain, k, known)


# -- search of sets --------------------------------------------------------------------------------------


@part
def _nothing_chosen(parts):
    n_parts, n_levels = parts.known.shape
    last = n_levels - 1
    own = np.zeros((n_parts, n_levels))
    missing = np.zeros((n_parts, n_levels))
    for b in range(n_parts):
        for c in range(parts.starts[b], parts.starts[b + 1]):
            off = parts.sums[c, last]
            for v in range(n_levels):
                s = parts.sums[c, v]
                own[b, v] += s * s
                missing[b, v] += s * off
    return Chosen(np.zeros((n_parts, n_levels)), own, missing, np.zeros((n_parts, 3)))


@part
def _choose(parts, chosen, v):
    """Add level v to those chosen."""
    n_levels = parts.known.shape[1]
    for b in range(len(parts.totals)):
        chosen.square[b, 0] += 2.0 * chosen.along[b, v] + chosen.own[b, v]
        chosen.square[b, 1] += parts.known[b, v]
        chosen.square[b, 2] += chosen.missing[b, v]
        for c in range(parts.starts[b], parts.starts[b + 1]):
            s = parts.sums[c, v]
            for u in range(n_levels):
                chosen.along[b, u] += s * parts.sums[c, u]


@inlined
def _gain_with(parts, chosen, v, missing_left):
    """Gain of splitting off the chosen levels and v, and the rows that miss the feature if they go left."""
    last = parts.known.shape[1] - 1
    gain = 0.0
    for b in range(len(parts.totals)):
        square = chosen.square[b, 0] + 2.0 * chosen.along[b, v] + chosen.own[b, v]
        k = chosen.square[b, 1] + parts.known[b, v]
        if missing_left:
            square += 2.0 * (chosen.square[b, 2] + chosen.missing[b, v]) + chosen.own[b, last]
            k += parts.known[b, last]
        gain += known_gain(max(square, 0.0), k, parts.totals[b])
    return gain


@part
def search_level_sets(space, node, f, n_levels, weight, lo, n, present, n_missing, total, settings, seed, work):
    """Try one level against the rest, or add the level that gains most while the gain grows.

    Returns 0 if no set is the best test so far, else 1 (missing values right) or 2 (left).
    """
    for i in range(n):
        if work.level[i] < 0:
            work.level[i] = present
    parts = level_parts(space, node, weight, lo, work.level, n, present + 1)
    share = _shares(weight, lo, work.level, n, present + 1)
    labelled = labelled_weights(space, node, work.level, n, present + 1)
    all_labelled = 0.0
    for v in range(present + 1):
        all_labelled += labelled[v]
    chosen = _nothing_chosen(parts)
    is_chosen = np.zeros(present, np.uint8)
    k_chosen = 0.0
    labelled_chosen = 0.0
    last_gain = 0.0
    outcome = 0
    for _ in range(1 if settings.nominal_search == ONE_AGAINST_REST else present - 1):
        best_level = -1
        best_gain = last_gain
        for v in range(present):
            if is_chosen[v]:
                continue
            for side in range(2 if n_missing else 1):
                gain = _gain_with(parts, chosen, v, side)
                if side == 0 and gain > best_gain * (1.0 + TIE):
                    best_gain = gain
                    best_level = v
                if gain <= work.best[0] * (1.0 - TIE):
                    continue
                k = k_chosen + share[v] + side * share[present]
                known = labelled_chosen + labelled[v] + side * labelled[present]
                if is_light(k, total, settings.min_leaf) or allowed(space, gain, known, all_labelled) < 0.0:
                    continue
                position = _position(n_levels, work.rank, is_chosen, v)
                if better(gain, f, 2 * position + side, settings.first_tie, seed, work.best, work.test):
                    outcome = 1 + side
                    _remember(n_levels, work.rank, is_chosen, v, work.subset)
        if best_level < 0:
            break
        _choose(parts, chosen, best_level)
        is_chosen[best_level] = 1
        k_chosen += share[best_level]
        labelled_chosen += labelled[best_level]
        last_gain = best_gain
    return outcome


@inlined
def _position(n_levels, number, is_chosen, new):
    """The place of a set of levels among ties: a hash of the levels."""
    position = 0
    for v in range(n_levels):
        place = number[v]
        if place >= 0 and (place == new or is_chosen[place]):
            position = (position * 31 + v + 1) & 0x3FFFFFFF
    return position


@inlined
def _remember(n_levels, number, is_chosen, new, subset):
    """The chosen levels and the new one go left; those absent from the node are decided when it is split."""
    for k in range(len(subset)):
        subset[k] = 0
    for v in range(n_levels):
        place = number[v]
        if place >= 0 and (place == new or is_chosen[place]):
            subset[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
