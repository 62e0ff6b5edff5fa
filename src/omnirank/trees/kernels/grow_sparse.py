"""Growing one tree on sparse features: only the non-zero cells of a node are touched.

A test splits off the rows above (or below) a cut among the non-zero cells; the rows with 0 stay. Sums of the rows
that stay are the node's minus those split off, and they keep the node's tag, so that neither a partition nor a
child's sums cost more than the smaller, non-zero side. Where a node is left with little of what it was subtracted from,
its rows are shifted towards 0 and summed anew, so that rounding stays relative to the spread of the node.
It grows the trees that `grow` grows on the same data: draws and ties depend on a node's place in the tree and on the
test alone.
"""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import No, Yes, compiled, compiled_unless, inlined
from omnirank.core.kernels.vector import larger, prefetch, smaller, uncounted
from omnirank.trees.kernels import search_sparse as search
from omnirank.trees.kernels.candidates import (
    FEATURE,
    OUTWEIGHED,
    child_seed,
    draw_feature,
    is_final,
    mix,
    open_search,
    push,
    put_back,
    too_little,
)
from omnirank.trees.kernels.cells import SPARE, add_row, n_sums, node_norm, own_rows, shift_rows
from omnirank.trees.kernels.grow import GrownTree

# A subtree whose node has shrunk this much gets columns of its own rows only.
SHRINK = 4

# Rows from here to the one whose features are fetched; lines of memory that are, and features (of 16 bits) of a line.
_AHEAD = np.uint64(3)
_LINES, _LINE = 3, 32

# Sums of a node that keeps a smaller share of the weight or the impurity than these are taken anew.
_WEIGHT_LEFT, _IMPURITY_LEFT = 1 / 4, 1 / 16

LO, HI, DEPTH, NODE, TAG = 0, 1, 2, 3, 4


def grow_sparse(space, features, weight_of, settings, seed):
    """Grow a tree on the rows of positive weight; memory is allocated outside the kernel."""
    n_all, n_features, columns = len(weight_of), len(features.starts) - 1, n_sums(space)
    rows = np.flatnonzero(weight_of > 0).astype(np.uint32)
    n = len(rows)
    place, tag = np.zeros(n_all, np.uint32), np.zeros(n_all, np.int32)
    place[rows] = np.arange(n)
    tag[rows] = 1
    codes = np.empty_like(features.codes) if search.has_codes(features) else np.empty(0, features.codes.dtype)
    sums = np.empty((72, columns + 3)), np.zeros(columns + SPARE)
    own_cells = features.starts[1:].copy(), np.empty_like(features.rows), codes
    candidates = np.empty((3, features.bits.shape[1]), np.uint64)
    listed = np.empty(n_all + 64, np.uint32), np.empty(n_all + 64, np.uint64)
    draws = np.arange(n_features, dtype=np.uint32), np.empty(n_features, np.uint32)
    stacks = np.empty((72, 5), np.int64), np.empty((n + 2, 5), np.int64)
    work = search.SparseWork(rows, place, tag, *sums, *own_cells, candidates, *listed, *draws, *stacks)
    k = 2 * n + 1
    ints = np.zeros((6, k), np.int32)  # feature, cut, left, right, first, last
    facts = np.zeros((4, k))  # threshold, gain, weight, depth
    best, test = np.zeros(2), np.zeros(6, np.int64)  # gain and drawn threshold; parts of a test
    seeds = np.empty(k, np.uint64)
    seeds[0] = seed
    n_nodes = _grow(own_rows(space), features, weight_of, settings, work, ints, facts, seeds, best, test)
    return _in_preorder(features, ints[:, :n_nodes], facts[:, :n_nodes], rows, weight_of[rows])


def _sorts(space, features, *others):
    """Whether the cells of features are sorted in an array of their own."""
    return isinstance(features.valued, Yes) and isinstance(features.drawn, No)


@compiled_unless(_sorts)
def _grow(space, features, weight_of, settings, work, ints, facts, seeds, best, test):
    space, features, weight_of, work = uncounted((space, features, weight_of, work))
    ints, facts, seeds, best, test = uncounted((ints, facts, seeds, best, test))
    n_features = len(features.starts) - 1
    columns = n_sums(space)
    waiting, jobs = work.waiting, work.jobs
    seeds[0] = mix(seeds[0])
    zero = np.int64(0)  # Numba would compile a part anew for every number that is written out
    n_nodes = zero + 1
    n_tags = zero + 2
    for i in range(len(work.rows)):
        facts[2, 0] += weight_of[work.rows[i]]
    push(jobs, zero, zero, len(work.rows), zero, zero, zero + 1)
    n_jobs = zero + 1
    while n_jobs > 0:
        n_jobs -= 1
        job_size = jobs[n_jobs, HI] - jobs[n_jobs, LO]
        _copy(jobs, n_jobs, waiting, zero)
        # The root is given all cells: leaving out those of rows of no weight would cost more than it spares.
        cells = features.rows
        codes = features.codes
        if job_size < len(work.rows):
            _own_columns(features, work, jobs[n_jobs, LO], jobs[n_jobs, HI])
            cells = work.cells
            codes = work.codes
        _sum_rows(space, weight_of, work.rows, jobs[n_jobs, LO], jobs[n_jobs, HI], work.sums[0])
        top = 1
        while top > 0:
            top -= 1
            lo = waiting[top, LO]
            hi = waiting[top, HI]
            size = hi - lo
            if size > search.FEW_ROWS and size * SHRINK <= job_size:
                _copy(waiting, top, jobs, n_jobs)
                n_jobs += 1
                continue
            me = waiting[top, NODE]
            depth = waiting[top, DEPTH]
            tag = waiting[top, TAG]
            total = facts[2, me]
            sums = work.sums[top]
            norm, impurity, far = node_norm(space, sums, total, size)
            then, impurity_then = sums[columns + 1], sums[columns + 2]
            new = then == 0.0
            little_left = total < _WEIGHT_LEFT * then or impurity < _IMPURITY_LEFT * impurity_then
            if far if new else little_left:
                shifted = shift_rows(space, work.rows[lo:hi], size, work.listed, sums, work.running)
                if shifted or not new:
                    total = _sum_rows(space, weight_of, work.rows, lo, hi, sums)
                    facts[2, me] = total
                    norm, impurity, far = node_norm(space, sums, total, size)
                    new = True
            if new:
                sums[columns + 1] = total
                sums[columns + 2] = impurity
            ints[0, me] = -1
            ints[4, me] = lo
            ints[5, me] = hi
            facts[3, me] = depth
            if is_final(size, depth, impurity, total, settings):
                continue
            if size <= OUTWEIGHED and too_little(total - _heaviest(weight_of, work.rows, lo, hi), settings.min_leaf):
                continue
            open_search(best, test, impurity, size, seeds[me])
            state = seeds[me]
            n_drawn = zero
            n_left = search.mark_candidates(features, weight_of, work, lo, hi, settings.min_leaf)
            while n_drawn < n_features and n_left > 0 and (n_drawn < settings.max_features or test[FEATURE] < 0):
                state = mix(state)
                f = draw_feature(work.pool, work.swaps, n_drawn, state)
                n_drawn += 1
                n = search.find(features, f, cells, codes, work, lo, hi, tag)
                n_left -= n > 0
                search.search_cells(
                    space, features, f, weight_of, work, n, size, total, norm, top, settings, seeds[me], best, test
                )
            put_back(work.pool, work.swaps, n_drawn)
            if test[FEATURE] < 0:
                continue
            middle, off_weight = _split_off(space, features, weight_of, cells, codes, work, test, lo, tag, n_tags, top)
            ints[0, me] = test[FEATURE]
            ints[1, me] = test[search.BELOW]
            facts[0, me] = search.threshold_of(features, best, test)
            facts[1, me] = best[0]
            off, stay = n_nodes, n_nodes + 1
            n_nodes += 2
            facts[2, off] = off_weight
            facts[2, stay] = total - off_weight
            right_off = test[search.FROM_TOP] == 1
            ints[2, me] = stay if right_off else off
            ints[3, me] = off if right_off else stay
            seeds[off] = child_seed(seeds[me], 1 if right_off else 0)
            seeds[stay] = child_seed(seeds[me], 0 if right_off else 1)
            # The larger child waits below, so that the stack stays short. Its sums are moved to its place.
            small_off = middle - lo <= hi - middle
            if not small_off:
                for c in range(work.sums.shape[1]):
                    s = work.sums[top, c]
                    work.sums[top, c] = work.sums[top + 1, c]
                    work.sums[top + 1, c] = s
            a = top + 1 if small_off else top
            b = top if small_off else top + 1
            push(waiting, a, lo, middle, depth + 1, off, n_tags)
            push(waiting, b, middle, hi, depth + 1, stay, tag)
            n_tags += 1
            top += 2
    return n_nodes


@inlined
def _sum_rows(space, weight_of, rows, lo, hi, sums):
    """Sum up the rows of a node; returns their weight."""
    for c in range(len(sums)):
        sums[c] = 0.0
    total = 0.0
    for i in range(lo, hi):
        w = weight_of[rows[i]]
        total += w
        add_row(space, rows[i], w, sums)
    return total


@inlined
def _heaviest(weight_of, rows, lo, hi):
    """The largest weight of a row."""
    heaviest = 0.0
    for i in range(lo, hi):
        heaviest = larger(heaviest, weight_of[rows[i]])
    return heaviest


@inlined
def _copy(source, i, target, j):
    for k in range(5):
        target[j, k] = source[i, k]


@inlined
def _own_columns(features, work, lo, hi):
    """Columns of the rows of a subtree only, each in the place that it has for all rows: none must be counted."""
    for f in range(len(work.ends)):
        work.ends[f] = features.starts[f]
    last = np.uint64(hi - 1)
    for i in range(np.uint64(lo), np.uint64(hi)):
        r = work.rows[i]
        ahead = np.int64(features.row_starts[work.rows[smaller(i + _AHEAD, last)]])
        for line in range(_LINES):
            prefetch(features.features, ahead + _LINE * line)
        for e in range(features.row_starts[r], features.row_starts[r + np.uint32(1)]):
            f = features.features[e]
            cell = work.ends[f]
            work.ends[f] = cell + np.uint32(1)
            work.cells[cell] = r
            if search.has_codes(features):
                work.codes[cell] = features.row_codes[e]


@inlined
def _split_off(space, features, weight_of, cells, codes, work, test, lo, tag, new_tag, top):
    """Move the rows split off to the front and tag them; their sums go to place top + 1, those of the rest stay.

    Returns where the rest starts, and the weight of the rows split off.
    """
    f = np.uint32(test[FEATURE])
    off = work.sums[top + 1]
    stay = work.sums[top]
    for c in range(len(off)):
        off[c] = 0.0
    middle = lo
    weight = 0.0
    for e in range(features.starts[f], work.ends[f]):
        r = cells[e]
        if work.tag[r] != tag:
            continue
        goes = True
        if search.has_codes(features):
            goes = codes[e] > test[search.BELOW] if test[search.FROM_TOP] == 1 else codes[e] < test[search.ABOVE]
        if goes:
            old = work.place[r]
            other = work.rows[middle]
            work.rows[middle] = r
            work.place[r] = middle
            work.rows[old] = other
            work.place[other] = old
            middle += 1
            work.tag[r] = new_tag
            weight += weight_of[r]
            add_row(space, r, weight_of[r], off)
    for c in range(len(off)):
        stay[c] -= off[c]
    return middle, weight


def _in_preorder(features, ints, facts, rows, row_weight):
    """The tree with its nodes in preorder, as every kernel returns it."""
    n = ints.shape[1]
    order, new = np.empty(n, np.int32), np.empty(n, np.int32)
    _preorder(ints, order, new, np.zeros(n + 1, np.int64))
    # One by one: NumPy takes six times as long to pick places of all rows of a matrix.
    feature, cut, left, right, first, last = (part.take(order) for part in ints)
    threshold, gain, weight, depth = (part.take(order) for part in facts)
    inner = feature >= 0
    right = new.take(right)
    right *= inner
    cut = cut.view(np.uint32)
    subsets = np.zeros(n, np.uint64)
    if features.n_levels.any():
        nominal = inner & (features.n_levels.take(feature, mode="clip") > 0)
        cut[nominal] = np.flatnonzero(nominal)
        subsets[nominal] = 1  # level 0 goes left
    missing_left = ((facts[2].take(left) >= weight.take(right)) & inner).view(np.uint8)
    no_row = np.full(n, -1, np.int32)
    tests = feature, cut, right, missing_left, no_row, no_row, threshold
    return GrownTree(*tests, gain, weight, depth.astype(np.int32), first, last, subsets, rows, row_weight)


@compiled
def _preorder(ints, order, new, stack):
    """Old numbers of the nodes in preorder, and their new ones."""
    top = 1
    n = 0
    while top > 0:
        top -= 1
        node = stack[top]
        order[n] = node
        new[node] = n
        n += 1
        if ints[0, node] >= 0:
            stack[top] = ints[3, node]
            stack[top + 1] = ints[2, node]
            top += 2
