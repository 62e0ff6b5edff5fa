"""Splitting the nodes of a tree; `grow_tree` grows a whole one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import compiled_unless, dispatched, inlined
from omnirank.core.kernels.vector import larger, uncounted
from omnirank.trees.kernels import draw as draw  # adds the steps of random tests
from omnirank.trees.kernels.candidates import (
    FEATURE,
    OUTWEIGHED,
    child_seed,
    is_final,
    mix,
    open_search,
    push,
    put_back,
    too_little,
)
from omnirank.trees.kernels.draw_lanes import FEW
from omnirank.trees.kernels.order import ORDER
from omnirank.trees.kernels.route import goes_left, one_test
from omnirank.trees.kernels.spaces import GAIN, open_node
from omnirank.trees.kernels.split import (
    CODES,
    CUT,
    HIGH_ROW,
    LOW_ROW,
    MISSING_LEFT,
    ListedDraws,
    MixedCodes,
    MixedDraws,
    NumericCodes,
    NumericDraws,
    RowDraws,
    search_features,
)


class GrownTree(NamedTuple):
    """A tree over feature codes, nodes in preorder (a left child follows its parent), and its rows by leaf."""

    feature: np.ndarray  # -1 = leaf
    cut: np.ndarray  # numeric: largest code that goes left, unless drawn; nominal: first word of its subset
    right: np.ndarray  # right child
    missing_left: np.ndarray  # where missing values go
    low_row: np.ndarray  # rows whose values the threshold separates
    high_row: np.ndarray
    drawn: np.ndarray  # threshold of a random test
    gain: np.ndarray
    weight: np.ndarray
    depth: np.ndarray
    first: np.ndarray  # a node's rows are rows[first:last]
    last: np.ndarray
    subsets: np.ndarray
    rows: np.ndarray
    row_weight: np.ndarray


class Nodes(NamedTuple):
    """Room for the nodes while the tree grows; parts as in GrownTree."""

    feature: np.ndarray
    cut: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    ends: np.ndarray  # (2, nodes): low_row, high_row
    facts: np.ndarray  # (3, nodes): DRAWN, GAIN_OF, WEIGHT
    ranges: np.ndarray  # (3, nodes): depth, first, last
    subsets: np.ndarray


DRAWN, GAIN_OF, WEIGHT = 0, 1, 2
WAITING, NODES, WORDS, TO_GO, SMALL = 0, 1, 2, 3, 4


class Stack(NamedTuple):
    """Nodes that wait to be split: lo, hi, depth, parent, whether it is a right child; and their seeds."""

    waiting: np.ndarray
    seeds: np.ndarray


class Spare(NamedTuple):
    """Second copy of rows and weights for partitions; the features and the swaps of a draw."""

    rows: np.ndarray
    weight: np.ndarray
    pool: np.ndarray
    swaps: np.ndarray


def room_for_nodes(n_nodes, n_words):
    """Return room for as many nodes, and for the words of their subsets of levels.

    What is written for inner nodes only is 0: setting it node by node would slow down the kernel.
    """
    return Nodes(
        np.empty(n_nodes, np.int32),
        np.zeros(n_nodes, np.uint32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.uint8),
        np.zeros((2, n_nodes), np.int32),
        np.zeros((3, n_nodes)),
        np.empty((3, n_nodes), np.int32),
        np.zeros(n_words, np.uint64),
    )


def _orders_levels(space, features, rows, weight, settings, work, *others):
    """Whether levels of nominal features are ordered, or sets of them searched, in arrays of their own."""
    return isinstance(features, MixedCodes)


@compiled_unless(_orders_levels)
def grow_nodes(space, features, rows, weight, settings, work, node, stack, spare, nodes, counts):
    """Split waiting nodes, the last one first, and those that come of it: all of them, or as ``counts`` says.

    A caller that stops after each node may give each node other features; where it gives all of them the same, the tree
    is that of `grow_tree.grow`. One that stops before small nodes may give these copies of their rows.

    Parameters
    ----------
    space, features, rows, weight, settings, work, node, spare, nodes
        As `grow_tree.grow` makes them.
    stack : Stack
        The waiting nodes. The root waits with the seed of the tree.
    counts : ndarray of int64
        WAITING, NODES, WORDS that hold subsets of levels; changed in place. TO_GO, nodes to split (-1: all), and SMALL:
        stops before a node of up to so many rows.
    """
    space, features, rows, weight, work, node = uncounted((space, features, rows, weight, work, node))
    waiting, seeds = uncounted(stack)
    other_rows, other_weight, pool, swaps = uncounted(spare)
    nodes = uncounted(nodes)
    zero = np.int64(0)  # Numba would compile a part anew for every number that is written out
    top = counts[WAITING]
    n_nodes = counts[NODES]
    n_subsets = counts[WORDS]
    to_go = counts[TO_GO]
    small = counts[SMALL]
    while top > 0 and to_go != 0 and waiting[top - 1, 1] - waiting[top - 1, 0] > small:
        to_go -= 1
        top -= 1
        lo = waiting[top, 0]
        hi = waiting[top, 1]
        depth = waiting[top, 2]
        node_seed = seeds[top]
        me = n_nodes
        n_nodes += 1
        if waiting[top, 4]:
            nodes.right[waiting[top, 3]] = me
        size = hi - lo
        # Views, because an index that may be negative costs a test: loops count from 0.
        here = uncounted(rows[lo:hi])
        share = uncounted(weight[lo:hi])
        total, impurity = open_node(space, node, here, share, 0, size)
        nodes.feature[me] = -1
        nodes.facts[WEIGHT, me] = total
        nodes.ranges[0, me] = depth
        nodes.ranges[1, me] = lo
        nodes.ranges[2, me] = hi
        if me == 0:
            node_seed = mix(node_seed)
        if is_final(size, depth, impurity, total, settings) or _one_outweighs(share, size, total, settings.min_leaf):
            continue
        open_search(work.best, work.test, impurity, size, node_seed)
        work.best[2] = impurity
        n_drawn = search_features(
            space, node, features, here, share, size, total, settings, node_seed, work, pool, swaps
        )
        put_back(pool, swaps, n_drawn)
        if work.test[FEATURE] < 0:
            continue
        f = work.test[FEATURE]
        nodes.feature[me] = f
        nodes.facts[GAIN_OF, me] = work.best[0]
        nodes.facts[DRAWN, me] = work.best[1]
        nodes.ends[0, me] = work.test[LOW_ROW]
        nodes.ends[1, me] = work.test[HIGH_ROW]
        n_words = subset_words(features, f, here, share, size, work)
        if n_words:
            for k in range(n_words):
                nodes.subsets[n_subsets + k] = work.subset[k]
            nodes.cut[me] = n_subsets
            n_subsets += n_words
        else:
            nodes.cut[me] = work.test[CUT]
        n_left, n_missing, left_weight = _partition(features, f, here, share, other_rows, other_weight, size, work)
        middle = lo + n_left
        if n_missing:
            nodes.missing_left[me] = work.test[MISSING_LEFT]
        else:  # never missing here: prediction follows the larger child
            nodes.missing_left[me] = 2.0 * left_weight >= total
        push(waiting, top, middle, hi, depth + 1, me, zero + 1)
        seeds[top] = child_seed(node_seed, zero + 1)
        top += 1
        push(waiting, top, lo, middle, depth + 1, me, zero)
        seeds[top] = child_seed(node_seed, zero)
        top += 1
    counts[WAITING] = top
    counts[NODES] = n_nodes
    counts[WORDS] = n_subsets


@inlined
def _one_outweighs(weight, n, total, min_leaf):
    """Whether one of a few rows leaves too little for the other side, whichever side it goes to: no test is admissible.

    Otherwise all features would be tried in vain.
    """
    if n > OUTWEIGHED:
        return False
    heaviest = 0.0
    for i in range(n):
        heaviest = larger(heaviest, weight[i])
    return too_little(total - heaviest, min_leaf)


@dispatched(CODES)
def tested_cells(features, f, rows, n, work):
    """Return what the best test, of feature f, compares.

    These are its cells, whether they are those of the node's n rows (else of all rows), the code that means missing
    (NaN always does), whether the test is nominal, and its threshold if not.
    """


@dispatched(CODES)
def subset_words(features, f, rows, weight, n, work):
    """Complete the levels of a nominal test; returns the number of 64-bit words that hold them, else 0."""


@inlined
def _partition(features, f, rows, weight, other_rows, other_weight, n, work):
    """Move the rows that go left to the front, both sides in their old order.

    Returns how many they are, the number of missing values, and the weight of the left side.
    """
    cells, own, missing, nominal, threshold = tested_cells(features, f, rows, n, work)
    test = one_test(threshold, work.test[MISSING_LEFT], 0, work.subset)
    a = 0
    b = 0
    n_missing = 0
    left_weight = 0.0
    for i in range(n):
        r = rows[i]
        w = weight[i]
        x = cells[np.uint64(i) if own else np.uint64(r)]
        is_missing = (x == missing) | (x != x)
        n_missing += is_missing
        left = goes_left(test, 0, nominal, x, is_missing)
        rows[a] = r
        weight[a] = w
        other_rows[b] = r
        other_weight[b] = w
        a += left
        b += not left
        left_weight += w * left
    for i in range(b):
        rows[a + i] = other_rows[i]
        weight[a + i] = other_weight[i]
    return a, n_missing, left_weight


@tested_cells.kind(NumericCodes)
def _codes(features, f, rows, n, work):
    return features.codes[f], False, features.missing, False, work.test[CUT]


@tested_cells.kind(MixedCodes)
def _mixed_codes(features, f, rows, n, work):
    return features.codes[f], False, features.missing, features.n_levels[f] > 0, work.test[CUT]


@tested_cells.kind(NumericDraws)
def _values(features, f, rows, n, work):
    return features.cells[f], False, np.nan, False, work.best[1]


@tested_cells.kind(RowDraws)
def _values_by_row(features, f, rows, n, work):
    return features.by_row[:, f], False, np.nan, False, work.best[1]


@tested_cells.kind(ListedDraws)
def _listed_values(features, f, rows, n, work):
    """Most often the feature was listed last; the others are copied again."""
    column = 0
    while column < FEW and work.ints[ORDER, column] != f:
        column += 1
    if column == FEW:
        column = 0
        for i in range(n):
            work.floats[i, 0] = features.by_row[rows[i], f]
    return work.floats[:, column], True, np.nan, False, work.best[1]


@tested_cells.kind(MixedDraws)
def _mixed_values(features, f, rows, n, work):
    nominal = features.n_levels[f] > 0
    for i in range(n):
        c = features.codes[f, rows[i]]
        if nominal:
            work.floats[GAIN, i] = np.nan if c == features.missing else np.float64(c)
        else:
            work.floats[GAIN, i] = features.cells[f, rows[i]]
    return work.floats[GAIN], True, np.nan, nominal, work.best[1]


@subset_words.kind(NumericCodes, NumericDraws, RowDraws, ListedDraws)
def _no_words(features, f, rows, weight, n, work):
    return 0


@subset_words.kind(MixedCodes, MixedDraws)
def _complete_subset(features, f, rows, weight, n, work):
    n_levels = features.n_levels[f]
    if n_levels == 0:
        return 0
    seen = work.rank
    for v in range(n_levels):
        seen[v] = 0
    test = one_test(0, work.test[MISSING_LEFT], 0, work.subset)
    balance = 0.0
    for i in range(n):
        c = features.codes[f, rows[i]]
        if c != features.missing:
            seen[c] = 1
        left = goes_left(test, 0, True, c, c == features.missing)
        balance += weight[i] if left else -weight[i]
    if balance >= 0.0:  # levels absent from the node follow its larger child
        for v in range(n_levels):
            if seen[v] == 0:
                work.subset[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    return (n_levels + 63) // 64
