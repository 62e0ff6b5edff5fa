"""Growing one tree: large nodes on all rows, the subtrees below them on copies of their own rows where that pays.

The rows of a copy lie together in memory, and their ranks fit 16 bits. Trees on copies are the same: only the order of
values decides, and rows keep their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import compiled, compiled_unless, dispatched, inlined
from omnirank.core.kernels.vector import count_bits, larger, prefetch, uncounted
from omnirank.trees.kernels import search_random as search_random  # adds the steps of random tests
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
from omnirank.trees.kernels.search_all import (
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
    search_scratch,
)
from omnirank.trees.kernels.spaces import GAIN, DenseColumns, OneColumn, node_scratch, open_node

# A subtree of up to so many rows has 16-bit ranks, the largest of which means missing.
MOST_ROWS = np.iinfo(np.uint16).max - 1

# Codes or cells of so many bytes are no longer in the cache of a processor; below, copying takes longer than reading.
LARGE = 2**25

# A copy has about so many bytes at most: it fits the cache of a processor.
_MOST_BYTES = 2**25
_LEAST_ROWS = 256

# Rows that are turned into columns at a time; rows from here to the one that is fetched; cells of a line of memory.
_TILE = 16
_AHEAD = 8
_CODES_AHEAD = 32
_LINE = 8


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
    is that of `grow`. One that stops before small nodes may give these copies of their rows.

    Parameters
    ----------
    space, features, rows, weight, settings, work, node, spare, nodes
        As `grow` makes them.
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


# -- whole trees ----------------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Rows on which nodes are split, all of the tree's or a copy of some, and the memory of their search."""

    space: Any
    features: Any
    rows: np.ndarray
    weight: np.ndarray
    work: Any
    node: Any
    stack: Stack


class _Tree(NamedTuple):
    """What all nodes of a tree share."""

    settings: Any
    spare: Spare
    nodes: Nodes
    counts: np.ndarray


def grow(space: Any, features: Any, weight_of: np.ndarray, settings: Any, seed: Any) -> GrownTree:
    """Grow a tree on the rows of positive weight.

    Memory is allocated here, outside the kernel: compiling NumPy's constructors takes longer than calling them.
    """
    rows = np.flatnonzero(weight_of > 0).astype(np.uint32)
    weight = weight_of.take(rows)  # in half the time of an index
    n, n_features = len(rows), features.codes.shape[0]
    spare = Spare(
        np.empty(n, np.uint32),
        np.empty(n),
        np.arange(n_features, dtype=np.uint32),
        np.arange(n_features, dtype=np.uint32),  # features that are all tried together stay in their order
    )
    whole = _with_memory(space, features, rows, weight, n)
    nodes = room_for_nodes(2 * n + 1, n * len(whole.work.subset))
    whole.stack.waiting[0] = 0, n, 0, -1, 0
    whole.stack.seeds[0] = seed
    tree = _Tree(settings, spare, nodes, np.array([1, 0, 0, -1, 0]))
    _grow(whole, tree, copies_of_rows(space, features, n))
    k, n_words = tree.counts[NODES], tree.counts[WORDS]
    tests = (part[:k].copy() for part in (nodes.feature, nodes.cut, nodes.right, nodes.missing_left))
    facts = (row.copy() for block in (nodes.ends, nodes.facts, nodes.ranges) for row in block[:, :k])
    return GrownTree(*tests, *facts, nodes.subsets[:n_words].copy(), rows, weight)


def _with_memory(space: Any, features: Any, rows: np.ndarray, weight: np.ndarray, n: int) -> _Rows:
    """Return rows with memory for nodes of up to n of them."""
    stack = Stack(np.empty((n + 2, 5), np.int64), np.empty(n + 2, np.uint64))
    return _Rows(space, features, rows, weight, search_scratch(features, n), node_scratch(space, n), stack)


def _grow(whole: _Rows, tree: _Tree, copies: Copies | None) -> None:
    """Split the waiting nodes and all that comes of them; subtrees that are small enough grow on copies."""
    counts = tree.counts
    if copies is None:
        _split(whole, tree, 0)
        return
    own: _Rows | None = None
    _split(whole, tree, copies.most)
    while counts[WAITING]:
        waiting = int(counts[WAITING]) - 1
        lo, hi, *rest = whole.stack.waiting[waiting].tolist()
        here = whole.rows[lo:hi].copy()
        space, features = copies.copy(here)
        if own is None:
            own = _with_memory(space, features, here, whole.weight, copies.most)
        order = np.arange(hi - lo, dtype=np.uint32)  # the rows of a copy are numbered from 0
        own = own._replace(space=space, features=features, rows=order, weight=whole.weight[lo:hi])
        own.stack.waiting[0] = 0, hi - lo, *rest
        own.stack.seeds[0] = whole.stack.seeds[waiting]
        first = int(counts[NODES])
        counts[WAITING] = 1
        _split(own, tree, 0)
        whole.rows[lo:hi] = here.take(order)
        nodes = slice(first, int(counts[NODES]))
        tree.nodes.ranges[1:, nodes] += lo
        restore_tests(whole.features, tree.nodes.feature[nodes], tree.nodes.cut[nodes], tree.nodes.ends[:, nodes], here)
        counts[WAITING] = waiting
        _split(whole, tree, copies.most)


def _split(some: _Rows, tree: _Tree, small: int) -> None:
    """Split waiting nodes, up to the next one of at most so many rows."""
    s, t = some, tree
    t.counts[SMALL] = small
    grow_nodes(s.space, s.features, s.rows, s.weight, t.settings, s.work, s.node, s.stack, t.spare, t.nodes, t.counts)


# -- copies of the rows of a subtree ----------------------------------------------------------------------


class Copies(NamedTuple):
    """Copies of a kind: how many rows a subtree has at most that gets one, and what makes it from row numbers.

    Each copy takes the place of the one before in memory.
    """

    most: int
    copy: Callable[[np.ndarray], tuple[Any, Any]]


def copies_pay(space: Any, kind: type, cells: np.ndarray) -> bool:
    """Whether subtrees grow on copies of their rows, where these are all codes or cells by row."""
    if not isinstance(space, OneColumn | DenseColumns) or cells.nbytes <= LARGE:
        return False
    wide = cells.itemsize > np.dtype(np.uint16).itemsize
    return (kind is NumericCodes and wide) or kind is ListedDraws


def copies_of_rows(space: Any, features: Any, n_rows: int) -> Copies | None:
    """Return the copies that subtrees of n rows get: None where it does not pay."""
    if isinstance(features, NumericCodes) and copies_pay(space, NumericCodes, features.codes):
        return _copies_of_codes(space, features, min(n_rows, _rows(features, np.uint16)))
    if isinstance(features, NumericDraws) and copies_pay(space, ListedDraws, features.by_row):
        return _copies_by_row(space, features, min(n_rows, _rows(features, features.by_row.dtype)))
    return None


def _rows(features: Any, kind: Any) -> int:
    n_cells = _MOST_BYTES // np.dtype(kind).itemsize
    return min(MOST_ROWS, max(_LEAST_ROWS, n_cells // features.codes.shape[0]))


def _copies_of_codes(space: Any, features: NumericCodes, most: int) -> Copies:
    n_features, n_rows = features.codes.shape
    n_words = n_rows // 64 + 1
    present, below, ranks = np.empty(n_words, np.uint64), np.empty(n_words, np.uint32), np.empty(most, np.uint32)
    by_feature, by_row = np.empty(n_features * most, np.uint16), np.empty(n_features * most, np.uint16)

    def copy(rows: np.ndarray) -> tuple[Any, NumericCodes]:
        codes, cells = _room(by_feature, n_features, len(rows)), _room(by_row, len(rows), n_features)
        narrow_codes(features.codes, features.missing, rows, present, below, ranks, codes, cells)
        missing = np.uint16(np.iinfo(np.uint16).max)
        copied = NumericCodes(codes, missing, np.zeros(0, np.uint32), features.distinct, cells)
        return type(space)(space.z.take(rows, axis=0)), copied

    return Copies(most, copy)


def _copies_by_row(space: Any, features: NumericDraws, most: int) -> Copies:
    n_features = features.by_row.shape[1]
    room = np.empty(n_features * most, features.by_row.dtype)

    def copy(rows: np.ndarray) -> tuple[Any, ListedDraws]:
        cells = _room(room, len(rows), n_features)
        copy_rows(features.by_row, rows, cells)
        return type(space)(space.z.take(rows, axis=0)), ListedDraws(features.codes[:, :0], cells)

    return Copies(most, copy)


def _room(memory: np.ndarray, n: int, width: int) -> np.ndarray:
    return memory[: n * width].reshape(n, width)


def restore_tests(features: Any, feature: np.ndarray, cut: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> None:
    """Put rows and codes of the data into the tests of a subtree that was grown on a copy of these rows."""
    if isinstance(features, NumericCodes):  # random tests have neither
        tests = np.flatnonzero(feature >= 0)
        ends[:, tests] = rows[ends[:, tests]]
        cut[tests] = features.codes[feature[tests], ends[0, tests]]


@compiled
def narrow_codes(codes, missing, rows, present, below, ranks, by_feature, by_row):
    """Rank the codes of some rows, feature by feature, missing ones last.

    The rank of a code is the number of codes below it that are present, which a bit each tells: counted once for each
    word of bits, and within the word.

    Parameters
    ----------
    codes, missing : ndarray of uint32, uint32
        As in NumericCodes; a known code is below the number of rows.
    rows : ndarray of uint32
        Up to 65,534 rows.
    present, below, ranks : ndarray
        Memory: a bit per code, a number per word of them, a code per row.
    by_feature, by_row : ndarray of uint16
        Ranks, written by this.
    """
    n = len(rows)
    last = np.uint16(0xFFFF)
    for f in range(codes.shape[0]):
        for w in range(len(present)):
            present[w] = 0
        start = f * codes.shape[1]
        for i in range(n):
            prefetch(codes, start + np.int64(rows[min(i + _CODES_AHEAD, n - 1)]))
            c = codes[f, rows[i]]
            ranks[i] = c
            if c != missing:
                present[c >> np.uint32(6)] |= _bit(c)
        total = np.uint32(0)
        for w in range(len(present)):
            below[w] = total
            total += np.uint32(count_bits(present[w]))
        for i in range(n):
            c = ranks[i]
            if c == missing:
                by_feature[f, i] = last
            else:
                w = c >> np.uint32(6)
                by_feature[f, i] = below[w] + np.uint32(count_bits(present[w] & (_bit(c) - np.uint64(1))))
    for start in range(0, n, _TILE):
        end = min(start + _TILE, n)
        for f in range(codes.shape[0]):
            for i in range(start, end):
                by_row[i, f] = by_feature[f, i]


@inlined
def _bit(code):
    return np.uint64(1) << np.uint64(code & np.uint32(63))


@compiled
def copy_rows(by_row, rows, out):
    """Copy some rows; rows that are copied soon are fetched before, since they lie anywhere."""
    n = len(rows)
    for i in range(n):
        ahead = np.int64(rows[min(i + _AHEAD, n - 1)]) * by_row.shape[1]
        for c in range(0, by_row.shape[1], _LINE):
            prefetch(by_row, ahead + c)
        r = rows[i]
        for c in range(by_row.shape[1]):
            out[i, c] = by_row[r, c]
