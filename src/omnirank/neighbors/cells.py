"""Features of all kinds as cells, dense or stored ones alone, in which distances are plain sums over columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.data.table import Table


@dataclass(frozen=True)
class Ranges:
    """Smallest known value and range of the numeric features; the range is NaN where no value is known.

    Parameters
    ----------
    low, span : ndarray
        One number per numeric feature, in the order of the table; both are halved, so that no range overflows.
    """

    low: np.ndarray
    span: np.ndarray


@dataclass(frozen=True)
class Cells:
    r"""Cells of a table, numeric columns first, such that

    .. math:: d_i(r, q) = |v_{ri} - v_{qi}| + [i \text{ missing in } r] a_i + [i \text{ missing in } q] a_i

    for numbers, scaled to [0, 1] (a missing one is v = 1/2, and a = 1/2), and

    .. math:: d_i(r, q) = 1[v_{ri} \ne v_{qi}] + [i \text{ missing in } r \text{ or } q] a_i

    for levels (a missing one is NaN, different from itself; :math:`a_i = -1/|X_i|`).

    Parameters
    ----------
    values : ndarray of shape (n, D)
        The cells v.
    n_numeric : int
        Number of numeric columns.
    features : ndarray of int
        Which feature of the table each column is.
    missing_start, missing : ndarray of int
        Columns that are missing in row r: ``missing[missing_start[r]:missing_start[r + 1]]``.
    correction : ndarray
        The numbers a, one per column.
    """

    values: np.ndarray
    n_numeric: int
    features: np.ndarray
    missing_start: np.ndarray
    missing: np.ndarray
    correction: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        return len(self.values)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.values.shape[1]

    def by_feature(self, columns: np.ndarray) -> np.ndarray:
        """Return values given for each column (last axis) in the order of the features."""
        values = np.empty_like(columns)
        values[..., self.features] = columns
        return values

    @property
    def some_missing(self) -> bool:
        """Whether a cell of a feature that has distances is missing."""
        return len(self.missing) > 0


def feature_ranges(table: Table) -> Ranges:
    """Return the ranges of the known values of a table's numeric features."""
    if table.is_sparse:
        low, high = _stored_ends(table)
    else:
        low, high = np.fmin.reduce(table.numeric, axis=0), np.fmax.reduce(table.numeric, axis=0)
    # halves, because the difference of two numbers may be infinite
    low, high = (ends.astype(np.float64) * 0.5 for ends in (low, high))
    return Ranges(low, high - low)


def _stored_ends(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest known value of the numeric columns of a sparse table."""
    matrix = table.matrix
    counts = np.diff(matrix.indptr)
    filled, some_absent = np.flatnonzero(counts), counts < table.n_rows
    ends = []
    for end in (np.fmin, np.fmax):
        values = np.full(table.n_columns, np.nan)
        if len(filled):
            values[filled] = end.reduceat(matrix.data, matrix.indptr[filled])
        values[some_absent] = end(values[some_absent], 0.0)
        ends.append(values[~table.is_nominal])
    return ends[0], ends[1]


def _numbers(table: Table) -> np.ndarray:
    """The numeric cells as a dense matrix."""
    if not table.is_sparse:
        return table.numeric
    numeric = np.flatnonzero(~table.is_nominal)
    return table.matrix[:, numeric].toarray(order="F")


def table_cells(table: Table) -> Cells:
    """Return the cells of a table.

    Parameters
    ----------
    table : Table
        The features, dense or sparse.

    Notes
    -----
    Distances of cells are 1[x != x'] for levels and abs(x - x') / (max - min) for numbers, 0 where these are
    constant. If one number is missing, the distance is the largest possible one (1 where numbers are constant); if both
    are missing, it is 1. If a level is missing, it is 1 - 1 / number of levels. A feature without any known value has
    distance 0.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eqs. (5), (6).
    """
    ranges = feature_ranges(table)
    numeric, nominal = np.flatnonzero(~table.is_nominal), np.flatnonzero(table.is_nominal)
    split = len(numeric)
    values = np.empty((table.n_rows, table.n_columns))
    correction = np.zeros(table.n_columns)
    known = ~np.isnan(ranges.span)
    numbers = values[:, :split]
    np.multiply(_numbers(table), 0.5, out=numbers)
    missing = [_places(np.isnan(numbers) & known)]
    numbers -= ranges.low
    numbers /= np.where(ranges.span > 0, ranges.span, 1.0)
    numbers[:, ~(ranges.span > 0)] = 0.0
    numbers[missing[0]] = 0.5
    correction[:split][known] = 0.5
    for place, i in enumerate(nominal.tolist(), split):
        n_levels = len(table.levels[i] or ())
        if n_levels < 2:
            values[:, place] = 0.0
            continue
        codes = table.column(i)
        values[:, place] = np.where(codes < 0, np.nan, codes)
        correction[place] = -1.0 / n_levels
    rows, columns = _places(np.isnan(values[:, split:]))
    missing.append((rows, columns + split))
    start, columns = _by_row(missing, table.n_rows)
    return Cells(values, split, np.concatenate([numeric, nominal]), start, columns, correction)


def _places(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # looking for the places takes longer than looking whether there is any
    rows, columns = np.nonzero(mask) if mask.any() else (np.empty(0, np.int64), np.empty(0, np.int64))
    return rows, columns


def _by_row(missing: list[tuple[np.ndarray, np.ndarray]], n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each row's columns start, and the columns."""
    rows, columns = (np.concatenate(parts) for parts in zip(*missing, strict=True))
    order = np.argsort(rows, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64)
    return start, columns[order].astype(np.int64)


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
    >>> from omnirank.neighbors.cells import cells_of
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
