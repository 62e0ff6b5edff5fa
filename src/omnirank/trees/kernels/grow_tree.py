"""Growing one tree: large nodes on all rows, the subtrees below them on copies of their own rows where that pays.

The rows of a copy lie together in memory, and their ranks fit 16 bits. Trees on copies are the same: only the order of
values decides, and rows keep their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import compiled, inlined
from omnirank.core.kernels.vector import count_bits, prefetch
from omnirank.trees.kernels.grow import (
    NODES,
    SMALL,
    WAITING,
    WORDS,
    GrownTree,
    Nodes,
    Spare,
    Stack,
    grow_nodes,
    room_for_nodes,
)
from omnirank.trees.kernels.spaces import DenseColumns, OneColumn, node_scratch
from omnirank.trees.kernels.split import ListedDraws, NumericCodes, NumericDraws, search_scratch

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
