"""Many trees as a few flat arrays, for files: only what the order of the nodes does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.array_file import StoredArrays
from omnirank.data.table import Levels, is_sparse
from omnirank.trees.tree import Tree

_MOST_NODES = 2**31 - 1
_WORD_BITS = 64


def arrays_of_trees(trees: Sequence[Tree]) -> dict[str, np.ndarray]:
    """Return the arrays that hold the trees of one model.

    Nodes are in preorder, so that ``feature`` (-1 in a leaf) tells children and depths. There is a ``gain`` and a bit
    of ``missing_left`` for each test, a ``threshold`` for each numeric one, and the bits of its levels (``subsets``)
    for each nominal one. Prototypes are those of the leaves, in their order; so are weights, where that of every test
    is the sum of those of its sides.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.trees.tree_arrays import arrays_of_trees
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> arrays = arrays_of_trees([model.tree_])
    >>> arrays["feature"].tolist(), arrays["threshold"].tolist(), arrays["values"].tolist()
    ([0, -1, -1], [2.5], [[0.5], [2.5]])
    """
    feature = np.concatenate([tree.feature for tree in trees])
    inner = feature >= 0
    is_nominal = np.array([*(lev is not None for lev in trees[0].levels), False])  # and of -1, a leaf
    sums_of_sides = all(_weights_are_sums(tree) for tree in trees)
    prototypes = [tree.means(np.flatnonzero(tree.is_leaf)) for tree in trees]
    found = {
        "n_nodes": np.array([tree.n_nodes for tree in trees]),
        "feature": feature,
        "threshold": np.concatenate([tree.threshold for tree in trees])[inner & ~is_nominal[feature]],
        "subsets": np.concatenate([_words(tree) for tree in trees]).astype(np.uint64),
        "missing_left": np.packbits(np.concatenate([tree.missing_left for tree in trees])[inner]),
        "gain": np.concatenate([tree.gain for tree in trees])[inner],
        "weight": np.concatenate([tree.weight[tree.is_leaf] if sums_of_sides else tree.weight for tree in trees]),
    }
    if not is_sparse(prototypes[0]):
        return found | {"values": np.concatenate(prototypes)}
    return found | {
        "n_stored": np.concatenate([np.diff(part.indptr) for part in prototypes]),
        "positions": np.concatenate([part.indices for part in prototypes]),
        "values": np.concatenate([part.data for part in prototypes]),
    }


def _weights_are_sums(tree: Tree) -> bool:
    tests = np.flatnonzero(~tree.is_leaf)
    return np.array_equal(tree.weight[tests], tree.weight[tests + 1] + tree.weight[tree.right[tests]])


def _words(tree: Tree) -> np.ndarray:
    """The bits of the nominal tests of a tree, test by test."""
    tests = np.flatnonzero(~tree.is_leaf)
    n_words = -(-tree.n_levels[tree.feature[tests]] // _WORD_BITS)
    return tree.subsets[_runs(tree.subset_start[tests], n_words)]


def _runs(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers from each start on, as many as its length says."""
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - before, lengths)


def trees_of_arrays(stored: StoredArrays, levels: tuple[Levels | None, ...], n_values: int) -> list[Tree]:
    """Return the trees that a file holds; whatever is wrong with them is a `FileFormatError`.

    Nothing is trusted, because kernels follow children and positions without looking.

    Parameters
    ----------
    stored : StoredArrays
        The file, with the arrays of `arrays_of_trees`.
    levels : tuple
        Levels of each feature (None: numeric).
    n_values : int
        Length of a prototype.
    """
    n_nodes = stored.take("n_nodes", np.int64, (None,))
    if not len(n_nodes) or n_nodes.min() < 1 or n_nodes.max() > _MOST_NODES:
        stored.refuse("array 'n_nodes': there must be trees, and nodes in each")
    feature = stored.take("feature", np.int32, (sum(n_nodes.tolist()),))
    if feature.min() < -1 or feature.max() >= len(levels):
        stored.refuse(f"array 'feature': there is no feature {int(feature.max())}; there are {len(levels)}")
    inner = feature >= 0
    n_tests = int(inner.sum())
    n_leaves = len(feature) - n_tests
    n_words = np.array([*(0 if lev is None else -(-len(lev) // _WORD_BITS) for lev in levels), 0])[feature]
    nominal = np.array([*(lev is not None for lev in levels), False])[feature]
    weight = stored.take("weight", np.float64, (None,))
    if len(weight) not in (n_leaves, len(feature)):
        stored.refuse(f"array 'weight' has {len(weight)} entries for {len(feature)} nodes, {n_leaves} of them leaves")
    bits = stored.take("missing_left", np.uint8, (-(-n_tests // 8),))
    parts = _Parts(
        feature,
        stored.take("threshold", np.float64, (n_tests - int(nominal.sum()),)),
        stored.take("subsets", np.uint64, (int(n_words.sum()),)),
        np.unpackbits(bits, count=n_tests).astype(bool),
        stored.take("gain", np.float64, (n_tests,)),
        weight,
        (_sparse_values if stored.has("n_stored") else _dense_values)(stored, n_leaves, n_values),
    )
    _check_bits(stored, parts.subsets, feature[nominal], levels)
    if weight.min() < 0:
        stored.refuse("array 'weight' holds a negative number")
    trees, at = [], _Parts(*[0] * len(_Parts._fields))
    for number, n in enumerate(n_nodes.tolist()):
        own = slice(at.feature, at.feature + n)
        lengths = _lengths(inner[own], nominal[own], int(n_words[own].sum()), len(weight) == n_leaves)
        to = _Parts(*(start + length for start, length in zip(at, lengths, strict=True)))
        mine = _Parts(*(part[start:end] for part, start, end in zip(parts, at, to, strict=True)))
        tree = _tree(mine, inner[own], nominal[own], n_words[own], levels)
        if tree is None:
            stored.refuse(f"tree {number} has nodes without a parent, tests without sides, or weights beyond floats")
        trees.append(tree)
        at = to
    return trees


class _Parts(NamedTuple):
    """The arrays of trees, or where the parts of one tree start in them."""

    feature: Any
    threshold: Any
    subsets: Any
    missing_left: Any
    gain: Any
    weight: Any
    values: Any


def _lengths(inner: np.ndarray, nominal: np.ndarray, n_words: int, of_leaves: bool) -> _Parts:
    """How long the parts of one tree are."""
    n, n_tests = len(inner), int(inner.sum())
    return _Parts(
        n, n_tests - int(nominal.sum()), n_words, n_tests, n_tests, n - n_tests if of_leaves else n, n - n_tests
    )


def _tree(
    parts: _Parts, inner: np.ndarray, nominal: np.ndarray, n_words: np.ndarray, levels: tuple[Levels | None, ...]
) -> Tree | None:
    """The tree of its parts; None where they are none."""
    places = _places(inner)
    if places is None:
        return None
    right, depth = places
    n, leaves = len(inner), ~inner
    threshold, missing_left, gain = np.full(n, np.nan), np.zeros(n, bool), np.zeros(n)
    threshold[inner & ~nominal] = parts.threshold
    missing_left[inner] = parts.missing_left
    gain[inner] = parts.gain
    weight = parts.weight if len(parts.weight) == n else _weights(parts.weight, inner, right, depth)
    if not np.isfinite(weight[0]):
        return None
    starts = np.where(nominal, np.cumsum(n_words) - n_words, 0)
    rows = np.where(leaves, np.cumsum(leaves) - 1, -1)
    return Tree(
        parts.feature,
        threshold,
        right,
        missing_left,
        starts,
        parts.subsets,
        gain,
        weight,
        depth,
        levels,
        parts.values,
        rows,
    )


def _places(inner: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Right child (0 in a leaf) and depth of every node; None where the nodes are not one tree in preorder.

    Before a node, ``waiting`` nodes are still to come whose parents are known: a test takes one away and adds two, a
    leaf takes one away. The tree is whole where the last node takes the last one away, and no other does. The right
    child of a test is the next node before which as many are waiting as before the test: in between come those of the
    left side, while the right child waits beside them.
    """
    steps = np.where(inner, np.int32(1), np.int32(-1))
    after = np.cumsum(steps, dtype=np.int32) + 1
    waiting = after - steps
    if after[-1] != 0 or waiting.min() < 1:
        return None
    narrow = waiting.max() < 2**16
    order = np.argsort(waiting.astype(np.uint16) if narrow else waiting, kind="stable")  # of 16 bits: without comparing
    right = np.zeros(len(inner), np.int32)
    right[order[:-1]] = order[1:]
    right[~inner] = 0
    return right, _depths(inner, right)


def _depths(inner: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Depths of nodes of which the right children are known: ancestors are counted in steps of 1, 2, 4, ..."""
    nodes = np.flatnonzero(inner)
    above = np.zeros(len(inner), np.int32)  # the root is its own ancestor
    above[nodes + 1] = nodes
    above[right[nodes]] = nodes
    depth = np.ones(len(inner), np.int32)
    depth[0] = 0
    while above.any():
        depth += depth[above]
        above = above[above]
    return depth


def _weights(of_leaves: np.ndarray, inner: np.ndarray, right: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Weights of all nodes where a test weighs as much as its two sides together."""
    weight = np.zeros(len(inner))
    weight[~inner] = of_leaves
    tests = np.flatnonzero(inner)
    tests = tests[np.argsort(-depth[tests], kind="stable")]
    with np.errstate(over="ignore"):
        for level in np.split(tests, np.flatnonzero(np.diff(depth[tests])) + 1):
            weight[level] = weight[level + 1] + weight[right[level]]
    return weight


def _check_bits(
    stored: StoredArrays, subsets: np.ndarray, features: np.ndarray, levels: tuple[Levels | None, ...]
) -> None:
    """Refuse bits of levels that the features of nominal tests do not have."""
    n_levels = np.array([0 if lev is None else len(lev) for lev in levels], np.int64)[features]
    n_levels = n_levels[n_levels > 0]
    last = np.cumsum(-(-n_levels // _WORD_BITS)) - 1
    used = (n_levels % _WORD_BITS).astype(np.uint64)
    if (subsets[last] >> used)[used > 0].any():
        stored.refuse("array 'subsets' names levels that a feature does not have")


def _dense_values(stored: StoredArrays, n_leaves: int, n_values: int) -> np.ndarray:
    return stored.take("values", np.float64, (n_leaves, n_values))


def _sparse_values(stored: StoredArrays, n_leaves: int, n_values: int) -> sparse.csr_array:
    lengths = stored.take("n_stored", np.int64, (n_leaves,))
    if lengths.min() < 0 or lengths.max() > n_values:
        stored.refuse(f"array 'n_stored' holds a number outside of 0 to {n_values}")
    starts = np.concatenate([[0], np.cumsum(lengths)])
    positions = stored.take("positions", np.int64, (int(starts[-1]),))
    if len(positions) and (positions.min() < 0 or positions.max() >= n_values):
        stored.refuse(f"array 'positions' holds a number outside of 0 to {n_values - 1}")
    values = stored.take("values", np.float64, (len(positions),))
    found = sparse.csr_array((values, positions, starts), shape=(n_leaves, n_values))
    owners = np.repeat(np.arange(n_leaves), lengths)
    cells = np.sort(owners * n_values + positions)
    if (cells[1:] == cells[:-1]).any():
        stored.refuse("array 'positions' names a position twice in one leaf")
    return found
