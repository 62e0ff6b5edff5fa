"""A tree as flat arrays, ready to predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.immutable import PickledWithoutCaches
from omnirank.data.table import Levels, Table
from omnirank.trees.prototypes import parents_of

# The threshold of a test whether there is a value at all: finite values are on one side, infinite ones on the other.
MOST = float(np.finfo(np.float64).max)


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

    def left_levels(self, node: int) -> tuple[Any, ...]:
        """Return the levels that go left in a node with a nominal test."""
        levels = self.levels[self.feature[node]] or ()
        start = self.subset_start[node]
        return tuple(level for v, level in enumerate(levels) if (int(self.subsets[start + (v >> 6)]) >> (v & 63)) & 1)

    def apply(self, matrix: np.ndarray) -> np.ndarray:
        """Return the leaf of each row of a routing matrix (see :func:`routing_matrix`)."""
        from omnirank.trees.kernels.route import leaves_of_values

        return leaves_of_values(
            self.feature,
            self.threshold,
            self.right,
            self.missing_left,
            self.subset_start,
            self.subsets,
            self.n_levels,
            matrix,
        )

    def means(self, leaves: np.ndarray) -> Any:
        """Return the prototypes of leaves (dense, or sparse for many labels)."""
        if self.values is None or self.value_row is None:
            raise ValueError("this tree was grown without prototypes")
        return self.values[self.value_row[leaves]]

    def decision_path(self, matrix: np.ndarray) -> Any:
        """Return a csr matrix of which rows pass which nodes."""
        leaves = self.apply(matrix)
        parent = parents_of(self)
        rows, nodes = [np.arange(len(leaves))], [leaves]
        while len(nodes[-1]):
            above = parent[nodes[-1]]
            rows.append(rows[-1][above >= 0])
            nodes.append(above[above >= 0])
        row, node = np.concatenate(rows), np.concatenate(nodes)
        return sparse.csr_array((np.ones(len(row), np.int64), (row, node)), shape=(len(leaves), self.n_nodes))


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
    threshold = np.where((middle >= low) & (middle < high), middle, low).astype(np.float64)
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
