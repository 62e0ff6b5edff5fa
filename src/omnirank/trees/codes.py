"""Features as kernels take them: ranks of all cells, ranks of the non-zero ones, or values for random tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from omnirank.core.parallel import blocks, on_this_machine, parallel_results, worker_count
from omnirank.data.table import Levels, Table, check_size
from omnirank.trees.layout import kernel_type

# Features are ranked in blocks: handing them to workers one by one costs as much as ranking small ones.
_FEWEST_BLOCKS = 32
_BLOCKS_PER_WORKER = 4
# From so many cells on, three sorts of 16-bit integers take less time than one of floats.
_MANY = 2000
# Rows that are transposed at a time: those of common widths fit the cache of a core.
_ROWS_AT_ONCE = 1024
# Rows x features as bits take at most this much memory; beyond it rows are looked up by feature only.
_MOST_BIT_BYTES = 2**28


Coded = TypeVar("Coded", bound="CodedFeatures")


@dataclass(frozen=True, eq=False)
class CodedFeatures(ABC):
    """Features of a training set, ready for growing trees.

    Attributes
    ----------
    table : Table
        The features as given.
    """

    table: Table

    @property
    def kernel(self) -> Callable[..., Any]:
        """What grows a tree of a space, the cells, weights of rows, settings and a seed."""
        from omnirank.trees.kernels.grow_tree import grow

        return grow

    def to_send(self: Coded) -> Coded:
        """Return the same features as they travel to other machines, without the cells that are made of them."""
        return replace(self)  # without what is cached

    @property
    @abstractmethod
    def routing(self) -> Any:
        """The codes as the routing kernels take them."""

    @property
    @abstractmethod
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the codes of all numeric features, one after the other, and where each feature starts."""


@dataclass(frozen=True, eq=False)
class SparseFeatures(CodedFeatures):
    """Non-zero cells only, as the growing kernel takes them."""

    cells: Any

    def with_tests(self, random_tests: bool) -> SparseFeatures:
        """Return the same cells for trees that try all tests of a feature, or one random test."""
        from omnirank.trees.kernels.cells import flag

        return replace(self, cells=self.cells._replace(drawn=flag(random_tests)))

    @property
    def kernel(self) -> Callable[..., Any]:
        """What grows a tree on non-zero cells."""
        from omnirank.trees.kernels.sparse import grow_sparse

        return grow_sparse

    @property
    def routing(self) -> Any:
        """Cells by row."""
        from omnirank.trees.kernels.route import CellCodes

        c = self.cells
        missing = c.row_codes.dtype.type(np.iinfo(c.row_codes.dtype).max)
        return CellCodes(c.row_starts, c.features, c.row_codes, c.zero.astype(c.row_codes.dtype), missing, c.n_levels)

    @property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the codes."""
        return self.cells.values, self.cells.value_starts


@dataclass(frozen=True, eq=False)
class DenseFeatures(CodedFeatures):
    """Codes of all cells: ranks of numbers, codes of levels; the largest code means missing.

    Attributes
    ----------
    codes : ndarray (n_features, n_rows)
        uint16 up to 65,534 rows and levels, uint32 above.
    n_levels : ndarray (n_features,)
        Number of levels, 0 for a numeric feature.
    distinct : ndarray (n_features,)
        Features of which all cells are known to differ, so that ordering them takes less.
    kind : str or None
        The kind of features that the growing kernel takes (:mod:`omnirank.trees.layout`); None: not laid out.
    copied : bool
        Whether small nodes see copies of their rows, never these codes.
    """

    codes: np.ndarray
    n_levels: np.ndarray
    distinct: np.ndarray
    kind: str | None = None
    copied: bool = False

    def of_kind(self, kind: str, copied: bool = False) -> DenseFeatures:
        """Return the same codes as a kind of features."""
        return self if (kind, copied) == (self.kind, self.copied) else replace(self, kind=kind, copied=copied)

    @property
    def _missing(self) -> Any:
        return _missing_code(self.codes.dtype)

    @cached_property
    def cells(self) -> Any:
        """Codes as the growing kernel takes them."""
        # small nodes read codes by row
        by_row = np.zeros((0, 0), self.codes.dtype) if self.copied else transposed(self.codes)
        nominal = (self.n_levels,) if self.n_levels.any() else ()
        kind = self.kind or ("MixedCodes" if nominal else "NumericCodes")
        return kernel_type(kind)(*with_missing(self.codes), self.distinct, by_row, *nominal)

    @property
    def routing(self) -> Any:
        """Codes by feature."""
        from omnirank.trees.kernels.route import Codes

        return Codes(self.codes, self._missing, self.n_levels)

    @cached_property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the codes."""
        sizes = [
            0 if n_levels else int((ranks + ranks.dtype.type(1)).max(initial=0))  # a missing code becomes 0
            for ranks, n_levels in zip(self.codes, self.n_levels, strict=True)
        ]
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        values = np.empty(starts[-1])
        for f in np.flatnonzero(self.n_levels == 0):
            known = self.codes[f] != self._missing
            values[starts[f] : starts[f + 1]][self.codes[f, known]] = self.table.column(int(f))[known]
        return values, starts


@dataclass(frozen=True, eq=False)
class DrawnFeatures(CodedFeatures):
    """Values of numeric features, by row or by feature as the kernel reads them, and levels of nominal ones.

    Attributes
    ----------
    kind : str
        The kind of features that the growing kernel takes (:mod:`omnirank.trees.layout`).
    copied : bool
        Whether small nodes see copies of their rows (of kind `ListedDraws`), since all cells take much memory.
    n_jobs : int or None
        Number of workers that rank the features.
    """

    kind: str
    copied: bool = False
    n_jobs: int | None = None

    @cached_property
    def cells(self) -> Any:
        """Values as the growing kernel takes them: no more of them than it reads."""
        matrix, make = _numeric_cells(self.table), kernel_type(self.kind)
        if self.kind == "MixedDraws":
            codes, n_levels = level_codes(self.table)
            return make(*with_missing(codes), transposed(matrix), n_levels)
        unread = np.zeros((self.table.n_columns, 0), np.uint16)
        if self.kind in ("RowDraws", "ListedDraws"):
            return make(unread, _whole_blocks(matrix) if self.kind == "RowDraws" else np.ascontiguousarray(matrix))
        by_row = np.ascontiguousarray(matrix) if self.copied else np.zeros((0, 0), matrix.dtype)
        return make(unread, transposed(matrix), by_row)

    @cached_property
    def ranked(self) -> CodedFeatures:
        """The features as ranks."""
        return code_features(self.table, n_jobs=self.n_jobs)

    @property
    def routing(self) -> Any:
        """Ranks by feature."""
        return self.ranked.routing

    @property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the ranks."""
        return self.ranked.values


def code_features(table: Table, cells: Any = None, n_jobs: int | None = None) -> SparseFeatures | DenseFeatures:
    """Rank-code the features of a table.

    Parameters
    ----------
    table : Table
        The features.
    cells : csc_array, optional
        Its non-zero cells, where trees are grown on these alone (:mod:`omnirank.trees.layout`).
    n_jobs : int or None
        Number of workers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.trees.codes import code_features
    >>> code_features(Table.from_numeric(np.array([[2.5], [-1.0], [np.nan], [2.5]]))).codes
    array([[    1,     0, 65535,     1]], dtype=uint16)
    """
    if cells is not None:
        return SparseFeatures(table, sparse_codes(cells, table.levels))
    n_levels = _level_counts(table)
    dtype = _code_type(table.n_rows, n_levels)
    with on_this_machine():
        features = blocks(table.n_columns, max(_FEWEST_BLOCKS, _BLOCKS_PER_WORKER * worker_count(n_jobs)))
        codes, distinct = np.empty((table.n_columns, table.n_rows), dtype), np.empty(table.n_columns, bool)
        # one by one: all of them together would be as large as the codes
        parts = parallel_results(partial(_code_block, table, n_levels, dtype), features, n_jobs)
        for some, part in zip(features, parts, strict=True):
            codes[some.start : some.stop], distinct[some.start : some.stop] = part
    return DenseFeatures(table, codes, n_levels, distinct)


def with_missing(codes: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
    """Return codes, the code that means missing, and an empty array of the type that holds a code and a row."""
    return codes, _missing_code(codes.dtype), np.zeros(0, np.uint32 if codes.itemsize == 2 else np.uint64)


def level_codes(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of nominal features and the numbers of levels; codes of numeric features hold nothing."""
    n_levels = _level_counts(table)
    codes = np.empty((table.n_columns, table.n_rows), _code_type(0, n_levels))
    for f in np.flatnonzero(n_levels):
        _code_levels(table.column(int(f)), codes[f])
    return codes, n_levels


def transposed(matrix: np.ndarray) -> np.ndarray:
    """Return the transposed matrix in C order, without a copy where it is in that order.

    It is copied some rows at a time: NumPy would go through all of the memory once per column.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.trees.codes import transposed
    >>> transposed(np.array([[1, 2], [3, 4], [5, 6]]))
    array([[1, 3, 5],
           [2, 4, 6]])
    """
    if matrix.flags.f_contiguous:
        return matrix.T
    turned = np.empty(matrix.shape[::-1], matrix.dtype)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        turned[:, rows] = matrix[rows].T
    return turned


def _numeric_cells(table: Table) -> np.ndarray:
    """Values of the numeric cells, one column per feature; columns of nominal features hold nothing."""
    if not table.is_sparse and not table.is_nominal.any():
        return table.numeric
    cells = np.empty((table.n_columns, table.n_rows), table.dtype if table.is_sparse else np.float64)
    for f in np.flatnonzero(~table.is_nominal):
        cells[f] = table.column(int(f))
    return cells.T


def _whole_blocks(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix in C order, without a copy where it is; a block of features fits in from each row's start."""
    from omnirank.trees.kernels.draw_lanes import BLOCK

    n_rows, n_features = matrix.shape
    if n_features >= BLOCK:
        return np.ascontiguousarray(matrix)
    padded = np.zeros((n_rows - (-BLOCK // n_features) - 1, n_features), matrix.dtype)
    padded[:n_rows] = matrix
    return padded


# -- ranks of all cells ---------------------------------------------------------------------------------------


def _code_type(n_rows: int, n_levels: np.ndarray) -> Any:
    wide = max(n_rows, int(n_levels.max(initial=0))) >= np.iinfo(np.uint16).max
    return np.uint32 if wide else np.uint16


def _missing_code(dtype: Any) -> Any:
    return dtype.type(np.iinfo(dtype).max)


def _level_counts(table: Table) -> np.ndarray:
    return np.array([0 if levels is None else len(levels) for levels in table.levels], np.int32)


def _code_levels(cells: np.ndarray, codes: np.ndarray) -> None:
    codes[:] = cells
    codes[cells < 0] = _missing_code(codes.dtype)


def _code_block(table: Table, n_levels: np.ndarray, dtype: Any, features: range) -> tuple[np.ndarray, np.ndarray]:
    """Codes of some features, and whether all cells of a feature are known and differ."""
    codes = np.empty((len(features), table.n_rows), dtype)
    distinct = np.zeros(len(features), bool)
    missing = _missing_code(codes.dtype)
    for i, f in enumerate(features):
        if n_levels[f]:
            _code_levels(table.column(f), codes[i])
        else:
            distinct[i] = _rank(table.column(f), codes[i], missing)
    return codes, distinct


def _rank(cells: np.ndarray, codes: np.ndarray, missing: Any) -> bool:
    """Dense ranks of the known cells; NaN sorts last. Returns whether all cells are known and differ."""
    order, ordered = _in_order(cells)
    step = np.zeros(len(cells), codes.dtype)
    step[1:] = ordered[1:] != ordered[:-1]  # NaN differs from NaN: overwritten below
    codes[order] = np.cumsum(step, dtype=codes.dtype)
    n_missing = int(np.isnan(ordered).sum())
    if n_missing:
        codes[order[len(order) - n_missing :]] = missing
    return not n_missing and bool(step[1:].all())


def _in_order(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order of the cells, missing ones last, and the cells in that order; equal cells come in any order.

    NumPy sorts 16-bit integers by counting. Three such sorts order numbers by their leading 48 bits, in half the time
    of one sort of the numbers; where these bits do not decide, or cells are missing, the numbers are sorted.
    """
    if len(cells) >= _MANY and not np.isnan(cells).any():
        bits = np.ascontiguousarray(cells, np.float64).view(np.int64)
        key = bits ^ ((bits >> 63) | np.iinfo(np.int64).min)  # unsigned, in the order of the numbers
        order = np.argsort((key >> 16).astype(np.uint16), kind="stable")
        for shift in (32, 48):
            order = order[np.argsort((key[order] >> shift).astype(np.uint16), kind="stable")]
        ordered = cells[order]
        if (ordered[1:] >= ordered[:-1]).all():
            return order, ordered
    order = np.argsort(cells)
    return order, cells[order]


# -- ranks of the non-zero cells ------------------------------------------------------------------------------


def sparse_codes(matrix: Any, levels: Sequence[Levels | None]) -> Any:
    """Return non-zero cells as kernels take them: by feature and by row, as ranks.

    Parameters
    ----------
    matrix : csc_array
        The cells; no 0 is stored.
    levels : sequence
        Levels of the nominal features, None for the others.

    Examples
    --------
    >>> from scipy import sparse
    >>> from omnirank.trees.codes import sparse_codes
    >>> codes = sparse_codes(sparse.csc_array([[0.0, 2.5], [1.0, -1.0]]), [None, None])
    >>> codes.codes.tolist(), codes.zero.tolist()
    ([1, 2, 0], [0, 1])
    >>> sparse_codes(sparse.csc_array([[2.0], [0.0]]), [None]).values.tolist()
    [0.0, 2.0]
    """
    from omnirank.trees.kernels.cells import Cells, flag

    check_size(matrix)
    n_rows, n_features = matrix.shape
    values, ranks, zero = _ranked(matrix)
    n_codes = np.diff(values[1]).astype(np.uint32)
    wide = n_codes.max(initial=0) > np.iinfo(np.uint16).max
    ranks = ranks.astype(np.uint32 if wide else np.uint16, copy=False)
    # a rank of 0 stays a stored cell
    by_row = sparse.csr_array(sparse.csc_array((ranks, matrix.indices, matrix.indptr), shape=matrix.shape))
    return Cells(
        matrix.indptr.astype(np.uint32),
        matrix.indices.astype(np.uint32),
        ranks,
        by_row.indptr.astype(np.uint32),
        by_row.indices.astype(np.uint16 if n_features <= 2**16 else np.uint32),
        by_row.data,
        zero.astype(np.uint32),
        n_codes,
        _bits(by_row, n_rows, n_features),
        values[0],
        values[1],
        np.array([0.5], matrix.dtype),
        np.array([0 if lev is None else len(lev) for lev in levels], np.int32),
        valued=flag(n_codes.max(initial=0) > 2),
        drawn=flag(False),
    )


def _ranked(matrix: Any) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """Distinct values of each feature (0 among them) and where they start, ranks of the cells, ranks of 0."""
    n_features = matrix.shape[1]
    if matrix.nnz == 0 or (matrix.data == 1).all():
        starts = 2 * np.arange(n_features + 1, dtype=np.int64)
        return (
            (np.tile(np.array([0, 1], matrix.dtype), n_features), starts),
            np.ones(matrix.nnz, np.uint16),
            np.zeros(n_features, np.int64),
        )
    ranks, zero = np.empty(matrix.nnz, np.int64), np.zeros(n_features, np.int64)
    parts, starts = [], np.zeros(n_features + 1, np.int64)
    for f in range(n_features):
        cells = slice(matrix.indptr[f], matrix.indptr[f + 1])
        distinct = np.unique(np.append(matrix.data[cells], matrix.dtype.type(0)))
        ranks[cells] = np.searchsorted(distinct, matrix.data[cells])
        zero[f] = np.searchsorted(distinct, 0)
        parts.append(distinct)
        starts[f + 1] = starts[f] + len(distinct)
    return (np.concatenate(parts), starts), ranks, zero


def _bits(by_row: Any, n_rows: int, n_features: int) -> np.ndarray:
    words = (n_features + 63) // 64
    if n_rows * words * 8 > _MOST_BIT_BYTES:
        return np.zeros((0, 0), np.uint64)
    bits = np.uint64(1) << (by_row.indices & 63).astype(np.uint64)
    # Cells of the same place add up in a dense array, and their bits differ.
    return sparse.csr_array((bits, by_row.indices >> 6, by_row.indptr), shape=(n_rows, words)).toarray()
