"""A tree as flat arrays, ready to predict; many trees as a few arrays, for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.files import StoredArrays
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.data.table import Levels, Table, is_sparse

# The threshold of a test whether there is a value at all: finite values are on one side, infinite ones on the other.
MOST = float(np.finfo(np.float64).max)
_MOST_NODES = 2**31 - 1
_WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Tree(PickledWithoutCaches):
    """A binary tree; nodes are numbered in preorder, so that a left child follows its parent.

    Attributes
    ----------
    feature : ndarray of int
        Feature tested in a node, -1 in a leaf.
    threshold : ndarray of float
        A number goes left if it is at most the threshold.
    right : ndarray of int
        Right child (0 in a leaf).
    missing_left : ndarray of bool
        Whether a missing value goes left.
    subset_start : ndarray of int
        Nominal test: where the bits of the levels that go left start in ``subsets``.
    subsets : ndarray of uint64
        Bits of the levels.
    gain : ndarray of float
        Heuristic value h* of the test.
    weight : ndarray of float
        Weight of the training examples in a node.
    depth : ndarray of int
        Depth of a node, 0 for the root.
    levels : tuple
        Levels of each feature (None: numeric).
    values : ndarray or csr_array, or None
        Prototypes, one row per stored node.
    value_row : ndarray of int
        Row of a node in ``values``, -1 where it has none.
    """

    feature: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    subset_start: np.ndarray
    subsets: np.ndarray
    gain: np.ndarray
    weight: np.ndarray
    depth: np.ndarray
    levels: tuple[Levels | None, ...]
    values: Any = None
    value_row: np.ndarray | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included: the size of the tree."""
        return len(self.feature)

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Whether a node is a leaf."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    @property
    def left(self) -> np.ndarray:
        """Left children (0 in a leaf)."""
        return np.where(self.is_leaf, 0, np.arange(1, self.n_nodes + 1))

    @cached_property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each feature, 0 for a numeric one."""
        return np.array([0 if lev is None else len(lev) for lev in self.levels], np.int32)

    @property
    def tests(self) -> Any:
        """The tests as kernels take them."""
        from omnirank.trees.kernels.route import Tests

        start, subsets = self.subset_start, self.subsets
        return Tests(self.feature, self.threshold, self.right, self.missing_left, start, subsets)

    def left_levels(self, node: int) -> tuple[Any, ...]:
        """Return the levels that go left in a node with a nominal test."""
        levels = self.levels[self.feature[node]] or ()
        start = self.subset_start[node]
        return tuple(level for v, level in enumerate(levels) if (int(self.subsets[start + (v >> 6)]) >> (v & 63)) & 1)

    def apply(self, matrix: np.ndarray) -> np.ndarray:
        """Return the leaf of each row of a routing matrix (see :func:`routing_matrix`)."""
        from omnirank.trees.kernels.route import Matrix, find_leaves

        leaves = np.empty(len(matrix), np.int32)
        find_leaves(self.tests, Matrix(matrix.T, self.n_levels), leaves)
        return leaves

    def means(self, leaves: np.ndarray) -> Any:
        """Return the prototypes of leaves (dense, or sparse for many labels)."""
        if self.values is None or self.value_row is None:
            raise ValueError("this tree was grown without prototypes")
        return self.values[self.value_row[leaves]]


def thresholds_of(grown: Any, table: Table) -> np.ndarray:
    """Return the thresholds of a grown tree in the units of the features; NaN in leaves and for nominal features.

    The threshold is the midpoint of the two values of the node that it separates, in the precision of the
    feature; where that rounds up to the larger value it is the smaller one.
    """
    numeric = grown.feature >= 0
    if table.is_nominal.any():
        numeric &= ~table.is_nominal[np.maximum(grown.feature, 0)]
    threshold = np.where(numeric, grown.drawn, np.nan)
    exact = np.flatnonzero(numeric & (grown.low_row >= 0))
    if len(exact):
        threshold[exact] = _midpoints(table, grown.feature[exact], grown.low_row[exact], grown.high_row[exact])
    return threshold


def tree_from_grown(grown: Any, table: Table, values: Any = None, value_row: np.ndarray | None = None) -> Tree:
    """Return a grown tree with thresholds in the units of the features (see `thresholds_of`)."""
    return tree_with_thresholds(grown, thresholds_of(grown, table), table.levels, values, value_row)


def tree_with_thresholds(
    grown: Any,
    threshold: np.ndarray,
    levels: tuple[Levels | None, ...],
    values: Any = None,
    value_row: np.ndarray | None = None,
) -> Tree:
    """Return a grown tree of which the thresholds are known: NaN in leaves and for nominal features."""
    nominal_test = (grown.feature >= 0) & np.isnan(threshold)
    return Tree(
        grown.feature,
        threshold,
        grown.right,
        grown.missing_left.astype(bool),
        np.where(nominal_test, grown.cut, 0).astype(np.int64),
        grown.subsets,
        grown.gain,
        grown.weight,
        grown.depth,
        levels,
        values,
        value_row,
    )


def one_leaf(weight: np.ndarray) -> Any:
    """Return the tree without tests that holds all rows, as kernels return it."""
    from omnirank.trees.kernels.grow import GrownTree

    n = len(weight)
    whole, zero = np.zeros(1, np.int32), np.zeros(1)
    return GrownTree(
        feature=np.full(1, -1, np.int32),
        cut=np.zeros(1, np.uint32),
        right=whole,
        missing_left=np.zeros(1, np.uint8),
        low_row=whole,
        high_row=whole,
        drawn=zero,
        gain=zero,
        weight=np.full(1, weight.sum()),
        depth=whole,
        first=whole,
        last=np.full(1, n, np.int32),
        subsets=np.zeros(0, np.uint64),
        rows=np.arange(n, dtype=np.uint32),
        row_weight=weight,
    )


def _midpoints(table: Table, features: np.ndarray, low_rows: np.ndarray, high_rows: np.ndarray) -> np.ndarray:
    if table.is_sparse:
        low, high = np.empty(len(features)), np.empty(len(features))
        for f in np.unique(features):
            cells, here = table.column(int(f)), features == f
            low[here], high[here] = cells[low_rows[here]], cells[high_rows[here]]
        low, high = low.astype(table.dtype), high.astype(table.dtype)
    else:
        slots = table.slots[features]
        low, high = table.numeric[low_rows, slots], table.numeric[high_rows, slots]
    return midpoints(low, high)


def midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds between smaller and larger values, in their precision: finite also beside infinite values.

    Constructed features have infinite values where there is nothing to aggregate. All finite values are then on the
    other side of the threshold, those that training has not seen too.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.trees.tree import midpoints
    >>> midpoints(np.array([1.0, 5.0, -np.inf]), np.array([2.0, np.inf, 3.0]))
    array([ 1.50000000e+000,  1.79769313e+308, -1.79769313e+308])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low + (high - low) / 2
        middle = np.where(np.isinf(middle), low / 2 + high / 2, middle)  # the difference of numbers may be infinite
    threshold = np.where(middle < high, np.maximum(middle, low), low).astype(np.float64)
    return np.where(high == np.inf, np.where(low == -np.inf, 0.0, MOST), np.maximum(threshold, -MOST))


def routing_matrix(table: Table, rows: slice | None = None) -> np.ndarray:
    """Return the features as one float matrix: codes of levels, NaN = missing."""
    part = table if rows is None else table.take(rows)
    if part.is_sparse:
        return np.asarray(part.matrix.toarray(), dtype=np.float64, order="C")
    if not part.is_nominal.any():
        return np.ascontiguousarray(part.numeric, dtype=np.float64)
    matrix = np.empty((part.n_rows, part.n_columns))
    matrix[:, ~part.is_nominal] = part.numeric
    matrix[:, part.is_nominal] = np.where(part.codes < 0, np.nan, part.codes)
    return matrix


def routed_cells(table: Table) -> Any:
    """Return the cells of a table, not copied where that is possible, as kernels read them that route single rows."""
    from omnirank.trees.kernels.route import StoredCells, TableCells

    if table.is_sparse:
        rows = table.matrix.tocsr()
        return StoredCells(rows.indptr, rows.indices, rows.data, table.is_nominal)
    return TableCells(_block(table.numeric), _block(table.codes), table.slots.astype(np.int64), table.is_nominal)


def _block(matrix: np.ndarray) -> Any:
    from omnirank.trees.kernels.route import Block

    if matrix.flags.f_contiguous:
        return Block(matrix.ravel(order="F"), 1, len(matrix))
    return Block(np.ascontiguousarray(matrix).ravel(), matrix.shape[1], 1)


def routing_tests(grown: Any, table: Table) -> Any:
    """Return the tests of a grown tree as kernels take them, by which any rows of the table go down the tree."""
    from omnirank.trees.kernels.route import Tests

    threshold = thresholds_of(grown, table)
    return Tests(grown.feature, threshold, grown.right, grown.missing_left, grown.cut, grown.subsets)


def route(grown: Any, table: Table, rows: np.ndarray, cells: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the rows of each node start and end, and the rows in that order.

    Parameters
    ----------
    grown : GrownTree
        The tree.
    table : Table
        The features it was grown from.
    rows : ndarray of int
        Examples that it has not seen.
    cells
        What :func:`routed_cells` returns.
    """
    from omnirank.trees.kernels.route import route_rows

    tests = routing_tests(grown, table)
    # Memory is allocated here, outside the kernel: compiling NumPy's constructors takes longer than calling them.
    first, last = np.zeros((2, len(tests.feature)), np.int64)
    last[0] = len(rows)
    ordered = rows.astype(np.int64)
    route_rows(tests, cells, first, last, ordered, np.empty_like(ordered))
    return first, last, ordered


# -- files ----------------------------------------------------------------------------------------------------


def arrays_of_trees(trees: Sequence[Tree]) -> dict[str, np.ndarray]:
    """Return the arrays that hold the trees of one model.

    Nodes are in preorder, so that ``feature`` (-1 in a leaf) tells children and depths. There is a ``gain`` and a bit
    of ``missing_left`` for each test, a ``threshold`` for each numeric one, the bits of its levels (``subsets``) for
    each nominal one, and a ``weight`` for each node. Prototypes are those of the leaves, in their order.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.trees.tree import arrays_of_trees
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> arrays = arrays_of_trees([model.tree_])
    >>> arrays["feature"].tolist(), arrays["threshold"].tolist(), arrays["values"].tolist()
    ([0, -1, -1], [2.5], [[0.5], [2.5]])
    """
    feature = np.concatenate([tree.feature for tree in trees])
    inner = feature >= 0
    is_nominal = np.array([*(lev is not None for lev in trees[0].levels), False])  # and of -1, a leaf
    prototypes = [tree.means(np.flatnonzero(tree.is_leaf)) for tree in trees]
    arrays = {
        "n_nodes": np.array([tree.n_nodes for tree in trees]),
        "feature": feature,
        "threshold": np.concatenate([tree.threshold for tree in trees])[inner & ~is_nominal[feature]],
        "subsets": np.concatenate([_words(tree) for tree in trees]).astype(np.uint64),
        "missing_left": np.packbits(np.concatenate([tree.missing_left for tree in trees])[inner]),
        "gain": np.concatenate([tree.gain for tree in trees])[inner],
        "weight": np.concatenate([tree.weight for tree in trees]),
    }
    if not is_sparse(prototypes[0]):
        return arrays | {"values": np.concatenate(prototypes)}
    return arrays | {
        "n_stored": np.concatenate([np.diff(part.indptr) for part in prototypes]),
        "positions": np.concatenate([part.indices for part in prototypes]),
        "values": np.concatenate([part.data for part in prototypes]),
    }


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
    n_words = np.array([*(0 if lev is None else -(-len(lev) // _WORD_BITS) for lev in levels), 0])[feature]
    nominal = np.array([*(lev is not None for lev in levels), False])[feature]
    weight = stored.take("weight", np.float64, (len(feature),))
    if weight.min() < 0:
        stored.refuse("array 'weight' holds a negative number")
    threshold, missing_left, gain = np.full(len(feature), np.nan), np.zeros(len(feature), bool), np.zeros(len(feature))
    threshold[inner & ~nominal] = stored.take("threshold", np.float64, (n_tests - int(nominal.sum()),))
    bits = stored.take("missing_left", np.uint8, (-(-n_tests // 8),))
    missing_left[inner] = np.unpackbits(bits, count=n_tests)
    gain[inner] = stored.take("gain", np.float64, (n_tests,))
    subsets = stored.take("subsets", np.uint64, (int(n_words.sum()),))
    shape = int((~inner).sum()), n_values
    sparse_means = stored.has("n_stored")
    values = _sparse_values(stored, *shape) if sparse_means else stored.take("values", np.float64, shape)
    nodes, words, leaves = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (n_nodes, n_words, ~inner))
    trees = []
    for number, (start, stop) in enumerate(pairwise(nodes.tolist())):
        own, is_leaf = slice(start, stop), ~inner[start:stop]
        places = _places(inner[own])
        if places is None:
            stored.refuse(f"tree {number} has nodes without a parent, or tests without sides")
        right, depth = places
        tree = Tree(
            feature[own],
            threshold[own],
            right,
            missing_left[own],
            np.where(nominal[own], words[own] - words[start], 0),
            subsets[words[start] : words[stop]],
            gain[own],
            weight[own],
            depth,
            levels,
            values[leaves[start] : leaves[stop]],
            np.where(is_leaf, np.cumsum(is_leaf) - 1, -1),
        )
        trees.append(tree)
    return trees


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


def _sparse_values(stored: StoredArrays, n_leaves: int, n_values: int) -> sparse.csr_array:
    lengths = stored.take("n_stored", np.int64, (n_leaves,))
    if lengths.min() < 0 or lengths.max() > n_values:
        stored.refuse(f"array 'n_stored' holds a number outside of 0 to {n_values}")
    starts = np.concatenate([[0], np.cumsum(lengths)])
    positions = stored.take("positions", np.int64, (int(starts[-1]),))
    if len(positions) and (positions.min() < 0 or positions.max() >= n_values):
        stored.refuse(f"array 'positions' holds a number outside of 0 to {n_values - 1}")
    values = stored.take("values", np.float64, (len(positions),))
    return sparse.csr_array((values, positions, starts), shape=(n_leaves, n_values))
