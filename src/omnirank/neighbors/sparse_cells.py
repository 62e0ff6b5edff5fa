"""Features of a wide sparse table as the stored cells alone, and the exact search of neighbours among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.data.table import Table
from omnirank.neighbors.mixed_distances import Cells, feature_ranges, table_cells
from omnirank.neighbors.search import NeighborSearch

# What comparing two stored cells costs, relative to two cells of a dense tile: an estimate, it need not be sharp.
_STORED_COST = 40


@dataclass(frozen=True)
class SparseCells:
    """The stored cells of a sparse table, scaled as in `Cells`: all others of a column have one value.

    Parameters
    ----------
    rows, columns : csr_array and csc_array
        The cells: numbers scaled to [0, 1], codes of levels, NaN where missing. Features without distances (no known
        value, fewer than two levels) store nothing.
    absent : ndarray
        Value of a cell that is not stored, one per feature.
    is_nominal : ndarray of bool
        One per feature.
    both_missing : ndarray
        Distance of two missing cells, one per feature.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.sparse_cells import sparse_cells
    >>> cells = sparse_cells(Table.from_sparse(sparse.csc_array([[0.0, 4.0], [2.0, 0.0], [0.0, 1.0]])))
    >>> cells.distances(np.array([0, 0]), np.array([1, 2])).tolist()
    [[1.0, 1.0], [0.0, 0.75]]
    """

    rows: Any
    columns: Any
    absent: np.ndarray
    is_nominal: np.ndarray
    both_missing: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.rows.shape[1])

    def by_feature(self, columns: np.ndarray) -> np.ndarray:
        """Return values given for each column in the order of the features, which they have."""
        return columns

    @cached_property
    def stored(self) -> Any:
        """The arrays as kernels take them."""
        from omnirank.neighbors.kernels.sparse_search import StoredCells

        rows, columns = self.rows, self.columns
        owner = np.repeat(np.arange(self.n_features), np.diff(columns.indptr))
        return StoredCells(
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int32),
            rows.data,
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int32),
            columns.data,
            self._far(columns.data, owner),
            self.absent,
            self.is_nominal,
            self.both_missing,
        )

    def _far(self, values: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Distances of stored cells to absent ones."""
        absent, nominal = self.absent[features], self.is_nominal[features]
        known = np.where(nominal, values != absent, np.abs(values - absent))
        unknown = np.where(nominal, self.both_missing[features], np.maximum(absent, 1 - absent))
        return np.where(np.isnan(values), unknown, known)

    @cached_property
    def base(self) -> np.ndarray:
        """Distance D d_X of each row to one that stores nothing."""
        owner = np.repeat(np.arange(self.n_rows), np.diff(self.rows.indptr))
        return np.bincount(owner, self._far(self.rows.data, self.rows.indices), self.n_rows)

    @cached_property
    def some_missing(self) -> bool:
        """Whether a cell of a feature that has distances is missing."""
        return bool(np.isnan(self.rows.data).any())

    def distances(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return d_i of pairs of rows: one row per pair, one column per feature."""
        return self._filled(first, second, False)

    def unknown(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return in which features a cell of either row is missing, shaped as `distances`."""
        return np.isnan(self._filled(first, second, True))

    def _filled(self, first: np.ndarray, second: np.ndarray, known_only: bool) -> np.ndarray:
        from omnirank.neighbors.kernels.sparse_search import fill_distances

        found = np.zeros((len(first), self.n_features))
        fill_distances(self.stored, np.asarray(first, np.int64), np.asarray(second, np.int64), known_only, found)
        return found


class SparseSearch:
    """Nearest neighbours among the rows of sparse cells; used as a `NeighborSearch`, with the same results.

    Time is that of the pairs of stored cells in each column, memory that of the stored cells.

    Parameters
    ----------
    cells : SparseCells
        The examples.
    groups : ndarray of int, optional
        Group of each example, -1 to leave it out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.sparse_cells import SparseSearch, sparse_cells
    >>> cells = sparse_cells(Table.from_sparse(sparse.csc_array([[0.0], [1.0], [3.0], [4.0]])))
    >>> ids, distances = SparseSearch(cells).nearest(np.array([0, 2]), 2)
    >>> ids[:, 0].tolist(), distances[:, 0].tolist()
    ([[1, 2], [3, 1]], [[0.25, 0.75], [0.25, 0.5]])
    """

    def __init__(self, cells: SparseCells, groups: np.ndarray | None = None) -> None:
        self.cells = cells
        self._groups = np.zeros(cells.n_rows, np.int64) if groups is None else np.asarray(groups, np.int64)
        self.n_groups = int(self._groups.max()) + 1
        self._stored, self._base = cells.stored, cells.base

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of the k nearest of each group, as `NeighborSearch.nearest` does."""
        from omnirank.neighbors.kernels.sparse_search import search_stored

        rows = np.asarray(rows, np.int64)
        ids = np.empty((len(rows), self.n_groups, k), np.int32)
        distances = np.empty(ids.shape)
        search_stored(self._stored, self._base, self._groups, rows, ids, distances)
        return ids, distances


def sparse_cells(table: Table) -> SparseCells:
    """Return the stored cells of a sparse table, with the distances that `table_cells` describes."""
    ranges = feature_ranges(table)
    n_features, nominal = table.n_columns, table.is_nominal
    low, span = np.zeros(n_features), np.ones(n_features)
    low[~nominal], span[~nominal] = ranges.low, ranges.span
    n_levels = np.array([len(levels or ()) for levels in table.levels])
    without = np.where(nominal, n_levels < 2, np.isnan(span))
    absent = np.zeros(n_features)
    varying = ~nominal & (span > 0)
    absent[varying] = -low[varying] / span[varying]
    both_missing = np.where(nominal, 1 - 1 / np.maximum(n_levels, 1), 1.0)
    matrix = table.matrix
    owner = np.repeat(np.arange(n_features), np.diff(matrix.indptr))
    values = matrix.data.astype(np.float64)
    numbers = varying[owner]
    values[numbers] = (values[numbers] * 0.5 - low[owner[numbers]]) / span[owner[numbers]]
    # of numbers that are all the same only missing ones differ from the others
    values[(~nominal & ~varying)[owner] & ~np.isnan(values)] = 0.0
    columns = sparse.csc_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    if without.any():
        kept = sparse.csc_array(columns[:, np.flatnonzero(~without)])
        start = np.concatenate([[0], np.cumsum(np.where(without, 0, np.diff(matrix.indptr)))])
        columns = sparse.csc_array((kept.data, kept.indices, start), shape=matrix.shape)
    return SparseCells(columns.tocsr(), columns, absent, nominal, both_missing)


def cells_of(table: Table) -> Cells | SparseCells:
    """Return the cells of a table: dense ones, or the stored ones alone where comparing these is cheaper.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.sparse_cells import cells_of
    >>> type(cells_of(Table.from_sparse(sparse.eye_array(100)))).__name__
    'SparseCells'
    >>> type(cells_of(Table.from_sparse(sparse.csc_array(np.ones((3, 3)))))).__name__
    'Cells'
    """
    if table.is_sparse:
        per_column = np.diff(table.matrix.indptr).astype(np.float64)
        if _STORED_COST * (per_column**2).sum() < float(table.n_rows) ** 2 * table.n_columns:
            return sparse_cells(table)
    return table_cells(table)


def search_among(cells: Cells | SparseCells, groups: np.ndarray | None = None) -> Any:
    """Return the exact search among cells of either kind."""
    return NeighborSearch(cells, groups) if isinstance(cells, Cells) else SparseSearch(cells, groups)
