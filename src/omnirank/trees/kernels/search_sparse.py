"""The search for the best test of a node among the non-zero cells of sparse features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, No, Yes, dispatched, inlined, part
from omnirank.core.kernels.vector import count_bits, larger, smaller
from omnirank.trees.kernels.candidates import (
    FEATURE,
    better,
    between,
    drawn_between,
    is_light,
    redrawn,
    test_state,
    too_little,
)
from omnirank.trees.kernels.cells import clear, listed_gain, split_gain, step

# Nodes of up to this many rows look features up row by row (in bits), larger ones filter the feature's rows.
FEW_ROWS = 60

# Further parts of a test: rows split off from the top (1) or the bottom (0), codes around the cut.
FROM_TOP, BELOW, ABOVE = 3, 4, 5


# Features that some rows of a node have, that all have, and that enough rows have, but not all, to be split off.
SOME, EVERY, ENOUGH = 0, 1, 2


class SparseWork(NamedTuple):
    """Memory of a tree: where rows are, the sums of waiting nodes, the columns of the current subtree."""

    rows: np.ndarray
    place: np.ndarray  # of a row in ``rows``
    tag: np.ndarray  # of the node that holds a row, 0 = none
    # (waiting nodes, columns + 3): sum of the rows, and of their squares; weight and impurity when these were summed
    sums: np.ndarray
    running: np.ndarray  # with SPARE places at the end, which are never read
    ends: np.ndarray  # of the columns in ``cells``, which start as those of all rows do
    cells: np.ndarray
    codes: np.ndarray  # of the cells, where they differ
    candidates: np.ndarray  # (3, words): SOME, EVERY, ENOUGH: features that rows of a small node have, see below
    listed: np.ndarray  # rows of a feature in the node
    keys: np.ndarray  # (code, position) of those rows
    pool: np.ndarray
    swaps: np.ndarray
    waiting: np.ndarray
    jobs: np.ndarray


CELLS = Kinds("flags of sparse features")


@dispatched(CELLS, 0, "valued")
def has_codes(features):
    """Whether non-zero cells differ: where they do not, all of them are split off."""


@has_codes.kind((Yes,))
def _any_codes(features):
    return True


@has_codes.kind((No,))
def _no_codes(features):
    return False


@dispatched(CELLS, 0, "valued")
def mark_candidates(features, weight_of, work, lo, hi, min_leaf):
    """Mark the features that may split a small node in work.candidates; the number of those worth a look."""


@mark_candidates.kind((No,))
def _mark_binary(features, weight_of, work, lo, hi, min_leaf):
    """Small nodes of sparse data lack most features, so their draws would go on for long.

    Most of those that they have, only one row has: too light to be split off, it is as good as none.
    """
    if hi - lo > FEW_ROWS or features.bits.shape[0] == 0:
        return len(features.starts) - 1
    n_words = np.uint64(features.bits.shape[1])
    some = work.candidates[SOME]
    every = work.candidates[EVERY]
    enough = work.candidates[ENOUGH]
    r = work.rows[lo]
    alone = _all_bits(not too_little(weight_of[r], min_leaf))
    for k in range(n_words):
        bits = features.bits[r, k]
        some[k] = bits
        every[k] = bits
        enough[k] = bits & alone
    for i in range(np.uint64(lo + 1), np.uint64(hi)):
        r = work.rows[i]
        alone = _all_bits(not too_little(weight_of[r], min_leaf))
        for k in range(n_words):
            bits = features.bits[r, k]
            enough[k] |= bits & (some[k] | alone)
            some[k] |= bits
            every[k] &= bits
    n = 0
    for k in range(n_words):
        enough[k] &= ~every[k]
        n += count_bits(enough[k])
    return n


@inlined
def _all_bits(condition):
    """A word of ones where the condition holds, else of zeros."""
    return ~np.uint64(0) if condition else np.uint64(0)


@mark_candidates.kind((Yes,))
def _mark_all(features, weight_of, work, lo, hi, min_leaf):
    return len(features.starts) - 1


@dispatched(CELLS, 0, "valued")
def find(features, f, cells, codes, work, lo, hi, tag):
    """List the node's rows with a non-zero cell of feature f in work.listed (codes in work.keys); their number.

    ``cells`` are the rows with a non-zero cell, by feature, among them those of the node, and ``codes`` are theirs.
    """


@find.kind((No,))
def _find_binary(features, f, cells, codes, work, lo, hi, tag):
    n = np.uint64(0)
    if hi - lo <= FEW_ROWS and features.bits.shape[0] > 0:
        word = np.uint64(f) >> np.uint64(6)
        bit = np.uint64(f) & np.uint64(63)
        if (work.candidates[ENOUGH, word] >> bit) & np.uint64(1) == np.uint64(0):
            return 0
        for i in range(np.uint64(lo), np.uint64(hi)):
            r = work.rows[i]
            work.listed[n] = r
            n += (features.bits[r, word] >> bit) & np.uint64(1)
        return np.int64(n)
    for e in range(features.starts[f], work.ends[f]):
        r = cells[e]
        work.listed[n] = r
        n += np.uint64(work.tag[r] == tag)
    return np.int64(n)


@find.kind((Yes,))
def _find_valued(features, f, cells, codes, work, lo, hi, tag):
    n = np.uint64(0)
    for e in range(features.starts[f], work.ends[f]):
        r = cells[e]
        work.listed[n] = r
        work.keys[n] = codes[e]
        n += np.uint64(work.tag[r] == tag)
    return np.int64(n)


@inlined
def _try(gain, k, f, position, total, settings, seed, best, test):
    """Whether splitting off k of the total weight is the best so far."""
    return not is_light(k, total, settings.min_leaf) and better(gain, f, position, settings.first_tie, seed, best, test)


@dispatched(CELLS, 1, "valued", "drawn")
def search_cells(space, features, f, weight_of, work, n, size, total, norm, top, settings, seed, best, test):
    """Try the tests of feature f, whose n non-zero rows in the node are in work.listed."""


@dispatched(CELLS, 0, "drawn")
def threshold_of(features, best, test):
    """The threshold of the best test, in the units of the feature."""


@search_cells.kind((No, No))
def _split_values(space, features, f, weight_of, work, n, size, total, norm, top, settings, seed, best, test):
    """Split off the rows that are not 0."""
    if 0 < n < size:
        n_left = size - n if features.zero[f] == 0 else n
        position = 2 * (n_left - 1)
        _split_off(space, features, f, weight_of, work, n, total, norm, top, settings, seed, best, test, position)


@search_cells.kind((No, Yes))
def _draw_between_values(space, features, f, weight_of, work, n, size, total, norm, top, settings, seed, best, test):
    """Extra trees: split off the rows that are not 0; the threshold is uniform between both values."""
    state = test_state(test, f)
    if 0 < n < size:
        if _split_off(space, features, f, weight_of, work, n, total, norm, top, settings, seed, best, test, 0):
            start = features.value_starts[f]
            best[1] = drawn_between(features.values, features.values[start], features.values[start + 1], state)


@inlined
def _split_off(space, features, f, weight_of, work, n, total, norm, top, settings, seed, best, test, position):
    """Try to split off all rows in work.listed; returns whether it is the best test so far."""
    k = 0.0
    for i in range(n):
        k += weight_of[work.listed[i]]
    if is_light(k, total, settings.min_leaf):
        return False
    gain = listed_gain(space, weight_of, work.listed, n, k, norm, total, work.sums[top], work.running)
    if not _try(gain, k, f, position, total, settings, seed, best, test):
        return False
    test[FROM_TOP] = 1 if features.zero[f] == 0 else 0
    test[BELOW] = 0
    test[ABOVE] = 1
    return True


@search_cells.kind((Yes, No))
def _search_valued(space, features, f, weight_of, work, n, size, total, norm, top, settings, seed, best, test):
    """Try all cuts: above 0 from the largest code down, below 0 from the smallest up."""
    if n == 0:
        return
    for i in range(n):
        work.keys[i] = (work.keys[i] << np.uint64(32)) | np.uint64(work.listed[i])
    keys = np.sort(work.keys[:n])
    zero = np.uint64(features.zero[f])
    n_below = 0
    while n_below < n and (keys[n_below] >> np.uint64(32)) < zero:
        n_below += 1
    for side in range(2):
        from_top = 1 - side
        count = n - n_below if from_top else n_below
        q = 0.0
        p = 0.0
        k = 0.0
        for t in range(count):
            at = n - 1 - t if from_top else t
            key = keys[at]
            r = np.uint32(key & np.uint64(0xFFFFFFFF))
            w = weight_of[r]
            dq, dp = step(space, r, w, work.sums[top], work.running)
            q += dq
            p += dp
            k += w
            if t + 1 == size:
                break
            code = np.int64(key >> np.uint64(32))
            # The next row's code: that of 0 after the last non-zero row on this side, if there is a zero.
            if t + 1 == count and n < size:
                beyond = np.int64(zero)
            else:
                beyond = np.int64(keys[at - 1 if from_top else at + 1] >> np.uint64(32))
            if code == beyond:
                continue
            n_left = size - t - 1 if from_top else t + 1
            gain = split_gain(space, q, p, k, norm, total, work.sums[top], work.running)
            if _try(gain, k, f, 2 * (n_left - 1), total, settings, seed, best, test):
                test[FROM_TOP] = from_top
                test[BELOW] = smaller(code, beyond)
                test[ABOVE] = larger(code, beyond)
        clear(space, work.listed, n, work.running)


@search_cells.kind((Yes, Yes))
def _draw_valued(space, features, f, weight_of, work, n, size, total, norm, top, settings, seed, best, test):
    """Extra trees: one threshold, uniform among those between the node's values that leave enough on both sides."""
    state = test_state(test, f)
    if n == 0:
        return
    zero = np.int64(features.zero[f])
    low = zero
    high = zero
    if n == size:
        low = np.int64(features.n_codes[f])
        high = np.int64(-1)
    for i in range(n):
        code = np.int64(work.keys[i])
        low = smaller(low, code)
        high = larger(high, code)
    if low >= high:
        return
    cut, above, threshold = _admissible(
        features, f, weight_of, work, n, size, total, settings.min_leaf, low, high, state
    )
    if above < 0:
        return
    from_top = 1 if zero <= cut else 0
    q = 0.0
    p = 0.0
    k = 0.0
    for i in range(n):
        r = work.listed[i]
        code = np.int64(work.keys[i])
        if (code > cut) == (from_top == 1):
            w = weight_of[r]
            dq, dp = step(space, r, w, work.sums[top], work.running)
            q += dq
            p += dp
            k += w
    gain = split_gain(space, q, p, k, norm, total, work.sums[top], work.running)
    clear(space, work.listed, n, work.running)
    if _try(gain, k, f, 0, total, settings, seed, best, test):
        test[FROM_TOP] = from_top
        test[BELOW] = cut
        test[ABOVE] = above
        best[1] = threshold


@part
def _admissible(features, f, weight_of, work, n, size, total, min_leaf, low, high, state):
    """Draw thresholds between two codes until both sides are heavy enough, as `draw` does for cells that are all kept.

    Returns the codes around the threshold and the threshold; codes of -1 if none is admissible.
    """
    start = features.value_starts[f]
    zero = np.int64(features.zero[f])
    while low < high:
        threshold = drawn_between(features.values, features.values[start + low], features.values[start + high], state)
        cut = low
        above = high
        while above - cut > 1:
            middle = (cut + above) >> 1
            if features.values[start + middle] <= threshold:
                cut = middle
            else:
                above = middle
        below = 0.0  # weight of the non-zero rows up to the cut
        rest = 0.0
        next_low = zero if n < size and zero > cut else high
        next_high = zero if n < size and zero <= cut else low
        for i in range(n):
            code = np.int64(work.keys[i])
            w = weight_of[work.listed[i]]
            if code <= cut:
                below += w
                next_high = larger(next_high, code)
            else:
                rest += w
                next_low = smaller(next_low, code)
        k = total - rest if zero <= cut else below
        if not is_light(k, total, min_leaf):
            return cut, above, threshold
        if too_little(k, min_leaf):
            low = next_low
        else:
            high = next_high
        state = redrawn(state)
    return np.int64(-1), np.int64(-1), 0.0


@threshold_of.kind((Yes,))
def _drawn(features, best, test):
    return best[1]


@threshold_of.kind((No,))
def _midpoint(features, best, test):
    """Midpoint of the values around the cut, in their precision; never the larger one."""
    start = features.value_starts[test[FEATURE]]
    low = features.values[start + test[BELOW]]
    high = features.values[start + test[ABOVE]]
    middle = between(low, high, features.half[0])
    return middle if low <= middle < high else low
