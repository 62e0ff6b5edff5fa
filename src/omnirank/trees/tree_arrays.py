"""Many trees as a few flat arrays, for files: only what the order of the nodes does not tell."""

from __future__ import annotations

from collections.abc import Sequence

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
    for each nominal one; prototypes are those of the leaves, in their order.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.trees.tree_arrays import arrays_of_trees
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> arrays = arrays_of_trees([model.tree_])
    >>> arrays["feature"].tolist(), arrays["threshold"].tolist(), arrays["values"].tolist()
    ([0, -1, -1], [2.5], [[0.5], [2.5]])
    """
    feature = _joined([tree.feature for tree in trees])
    inner = feature >= 0
    is_nominal = np.array([*(lev is not None for lev in trees[0].levels), False])  # and of -1, a leaf
    prototypes = [tree.means(np.flatnonzero(tree.is_leaf)) for tree in trees]
    found = {
        "n_nodes": np.array([tree.n_nodes for tree in trees]),
        "feature": feature,
        "threshold": _joined([tree.threshold for tree in trees])[inner & ~is_nominal[feature]],
        "subsets": _joined([_words(tree) for tree in trees]).astype(np.uint64),
        "missing_left": np.packbits(_joined([tree.missing_left for tree in trees])[inner]),
        "gain": _joined([tree.gain for tree in trees])[inner],
        "weight": _joined([tree.weight for tree in trees]),
    }
    if not is_sparse(prototypes[0]):
        return found | {"values": np.concatenate(prototypes)}
    return found | {
        "n_stored": _joined([np.diff(part.indptr) for part in prototypes]),
        "positions": _joined([part.indices for part in prototypes]),
        "values": _joined([part.data for part in prototypes]),
    }


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts)


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
    if not len(n_nodes) or n_nodes.min() < 1 or n_nodes.max() > _MOST_NODES or len(n_nodes) > _MOST_NODES:
        stored.refuse("array 'n_nodes': there must be trees, and nodes in each")
    total = sum(n_nodes.tolist())
    feature = stored.take("feature", np.int32, (total,))
    if feature.min() < -1 or feature.max() >= len(levels):
        stored.refuse(f"array 'feature': there is no feature {int(feature.max())}; there are {len(levels)}")
    inner = feature >= 0
    right, depth = _places(stored, inner, n_nodes)
    n_tests = int(inner.sum())
    n_levels = np.array([0 if lev is None else len(lev) for lev in levels], np.int64)
    is_nominal = np.array([lev is not None for lev in levels], bool)
    nominal = np.zeros(total, bool)
    nominal[inner] = is_nominal[feature[inner]]
    threshold = np.full(total, np.nan)
    threshold[inner & ~nominal] = stored.take("threshold", np.float64, (n_tests - int(nominal.sum()),))
    n_words = np.zeros(total, np.int64)
    n_words[nominal] = -(-n_levels[feature[nominal]] // _WORD_BITS)
    subsets = stored.take("subsets", np.uint64, (int(n_words.sum()),))
    _check_bits(stored, subsets, n_levels[feature[nominal]], n_words[nominal])
    bits = stored.take("missing_left", np.uint8, (-(-n_tests // 8),))
    missing_left = np.zeros(total, bool)
    missing_left[inner] = np.unpackbits(bits, count=n_tests).astype(bool)
    gain = np.zeros(total)
    gain[inner] = stored.take("gain", np.float64, (n_tests,))
    weight = stored.take("weight", np.float64, (total,))
    if weight.min() < 0:
        stored.refuse("array 'weight' holds a negative number")
    prototypes = _sparse_values if stored.has("n_stored") else _dense_values
    values = prototypes(stored, total - n_tests, n_values)
    ends = np.cumsum(n_nodes)
    first_word = np.cumsum(n_words) - n_words
    first_leaf: np.ndarray = np.cumsum(~inner) - ~inner
    trees = []
    for start, end in zip((ends - n_nodes).tolist(), ends.tolist(), strict=True):
        own, words = slice(start, end), int(first_word[start])
        last_word = words + int(n_words[own].sum())
        leaves = ~inner[own]
        row = int(first_leaf[start])
        trees.append(
            Tree(
                feature[own],
                threshold[own],
                right[own],
                missing_left[own],
                np.where(nominal[own], first_word[own] - words, 0),
                subsets[words:last_word],
                gain[own],
                weight[own],
                depth[own],
                levels,
                values[row : row + int(leaves.sum())],
                np.where(leaves, np.cumsum(leaves) - 1, -1),
            )
        )
    return trees


def _places(stored: StoredArrays, inner: np.ndarray, n_nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right child (0 in a leaf) and depth of every node, numbered within its tree.

    Before a node, ``waiting`` nodes of its tree are still to come whose parents are known: a test takes one away and
    adds two, a leaf takes one away. A tree is whole where the last node takes the last one away, and no other does. The
    right child of a test is the next node before which as many are waiting as before the test: in between come those
    of the left side, and the right child waits beside them.
    """
    ends = np.cumsum(n_nodes)
    starts = ends - n_nodes
    steps = np.where(inner, 1, -1)
    tree = np.repeat(np.arange(len(n_nodes)), n_nodes)
    after = np.cumsum(steps)
    before_tree = (after - steps)[starts]
    waiting = after - steps - before_tree[tree] + 1
    whole = (after[ends - 1] - before_tree == -1) & (np.minimum.reduceat(waiting, starts) == 1)
    if not whole.all():
        stored.refuse(
            f"array 'feature': tree {int(np.argmin(whole))} has nodes without a parent, or tests without sides"
        )
    # In the order of tree, nodes waiting and place, what follows a test is its right child.
    width = int(waiting.max()) + 1
    order = np.argsort(tree * width + waiting, kind="stable")
    following = np.empty(len(order), np.int64)
    following[order[:-1]] = order[1:]
    number = np.arange(len(inner)) - starts[tree]
    right = np.zeros(len(inner), np.int32)
    right[inner] = number[following[inner]]
    return right, _depths(inner, following)


def _depths(inner: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Depths of nodes of which the right children are known: ancestors are counted in steps of 1, 2, 4, ..."""
    nodes = np.flatnonzero(inner)
    above = np.arange(len(inner))  # a root is its own ancestor
    above[nodes + 1] = nodes
    above[right[nodes]] = nodes
    depth = (above != np.arange(len(inner))).astype(np.int32)
    while depth[above].any():
        depth += depth[above]
        above = above[above]
    return depth


def _check_bits(stored: StoredArrays, subsets: np.ndarray, n_levels: np.ndarray, n_words: np.ndarray) -> None:
    """Refuse bits of levels that a feature does not have."""
    last = np.cumsum(n_words)[n_words > 0] - 1
    used = n_levels[n_words > 0] % _WORD_BITS
    beyond = subsets[last] >> used.astype(np.uint64)
    if (beyond[used > 0] != 0).any():
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
