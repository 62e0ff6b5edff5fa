"""Growing one tree: large nodes on all rows, the subtrees below them on copies of their own rows where that pays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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
from omnirank.trees.kernels.nominal import MixedWork
from omnirank.trees.kernels.spaces import node_scratch
from omnirank.trees.kernels.split import search_scratch
from omnirank.trees.kernels.subtree_rows import Copies, copies_of_rows, restore_tests


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
    n_words = n * len(whole.work.subset) if isinstance(whole.work, MixedWork) else 0
    nodes = room_for_nodes(2 * n + 1, n_words)
    whole.stack.waiting[0] = 0, n, 0, -1, 0
    whole.stack.seeds[0] = seed
    tree = _Tree(settings, spare, nodes, np.array([1, 0, 0, -1, 0]))
    _grow(whole, tree, copies_of_rows(space, features, n))
    k, n_words = tree.counts[NODES], tree.counts[WORDS]
    return GrownTree(
        nodes.feature[:k].copy(),
        nodes.cut[:k].copy(),
        nodes.right[:k].copy(),
        nodes.missing_left[:k].copy(),
        *nodes.ends[:, :k].copy(),
        *nodes.facts[:, :k].copy(),
        *nodes.ranges[:, :k].copy(),
        nodes.subsets[:n_words].copy(),
        rows,
        weight,
    )


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
