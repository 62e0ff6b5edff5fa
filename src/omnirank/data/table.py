"""A typed table: named numeric and nominal columns, dense or sparse, with missing cells.

The table is what a file holds and what a data set calls its features. Numeric cells are floats
(NaN = missing), nominal cells are int32 codes into the column's levels (-1 = missing). A sparse table
holds one CSC matrix for both kinds: an absent cell is 0 (for a nominal column its first level), a stored
NaN is missing, and no 0 is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.immutable import PickledWithoutCaches, first_repeated
from omnirank.core.text import counted, there_are

Levels = tuple[Any, ...]
# Kernels number rows by signed and stored cells by unsigned integers of 32 bits.
_MOST_ROWS = 2**31 - 1
_MOST_STORED = 2**32 - 1
# Floats hold every integer up to here; beyond it two integers may become one number.
LARGEST_EXACT = 2**53
_DIGITS = re.compile(r"\s*[+-]?[0-9]{16,309}\s*")


@dataclass(frozen=True, eq=False)
class Table(PickledWithoutCaches):
    """Named, typed columns.

    Parameters
    ----------
    names : tuple of str
        One name per column, all different.
    levels : tuple
        For each column its levels (a tuple: the column is nominal) or None (numeric).
    numeric : ndarray of shape (n_rows, number of numeric columns)
        float64 or float32, NaN = missing. Unused in a sparse table.
    codes : ndarray of shape (n_rows, number of nominal columns)
        int32, -1 = missing. Unused in a sparse table.
    matrix : csc_array or None
        All cells of a sparse table, values of numeric and codes of nominal columns.
    dates : frozenset of str
        Names of the numeric columns that hold dates (seconds since 1970-01-01 UTC).
    rounded : frozenset of str
        Names of the numeric columns of whole numbers that floats could not hold.
    texts : frozenset of str
        Names of the nominal columns that hold texts, which nobody declared to be categories.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> table = Table.from_columns(
    ...     ["height", "colour"], [np.array([1.5, np.nan]), np.array([1, 0])], [None, ("red", "blue")]
    ... )
    >>> table.n_rows, table.n_columns, table.is_nominal.tolist()
    (2, 2, [False, True])
    >>> table.to_frame()
       height colour
    0     1.5   blue
    1     NaN    red
    """

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    numeric: np.ndarray
    codes: np.ndarray
    matrix: Any = None
    dates: frozenset[str] = frozenset()
    rounded: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        check_size(self.numeric if self.matrix is None else self.matrix)
        if len(self.names) != len(self.levels):
            raise DataError(f"{counted(len(self.names), 'column name')} for {counted(len(self.levels), 'column')}")
        again = first_repeated(self.names)
        if again is not None:
            raise DataError(f"two columns are called {self.names[again]!r}: column names must differ")

    # -- construction -------------------------------------------------------------------------------

    @classmethod
    def from_columns(
        cls, names: Iterable[str], columns: Sequence[np.ndarray], levels: Sequence[Levels | None]
    ) -> Table:
        """Build a dense table from one array per column (floats, or codes where levels are given).

        The numeric cells are float32 where all numeric columns are, else float64.
        """
        names = tuple(names)
        numeric = [c for c, lev in zip(columns, levels, strict=True) if lev is None]
        codes = [c for c, lev in zip(columns, levels, strict=True) if lev is not None]
        n_rows = len(columns[0]) if len(columns) else 0
        dtype = np.float32 if numeric and all(c.dtype == np.float32 for c in numeric) else np.float64
        return cls(names, tuple(levels), _stack(numeric, n_rows, dtype), _stack(codes, n_rows, np.int32))

    @classmethod
    def from_numeric(cls, values: np.ndarray, names: Iterable[str] | None = None) -> Table:
        """Build a table of numeric columns only, without copying a float array."""
        n_rows, n_columns = values.shape
        names = default_names(n_columns) if names is None else tuple(names)
        wide = values.dtype.kind in "iu" and values.dtype.itemsize == 8
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        sides = (values.max(axis=0, initial=0), -values.min(axis=0, initial=0)) if wide else ()  # without a copy
        large = np.flatnonzero(np.max(sides, axis=0) >= LARGEST_EXACT) if wide else ()
        rounded = frozenset(names[i] for i in large)
        return cls(names, (None,) * n_columns, values, np.empty((n_rows, 0), np.int32), rounded=rounded)

    @classmethod
    def from_sparse(
        cls, matrix: Any, names: Iterable[str] | None = None, levels: Sequence[Levels | None] | None = None
    ) -> Table:
        """Build a sparse table from any scipy.sparse container; a canonical CSC of floats is not copied."""
        csc = sparse.csc_array(matrix)
        n_rows, n_columns = csc.shape
        names = default_names(n_columns) if names is None else tuple(names)
        large = np.flatnonzero(np.abs(csc.data.astype(np.float64)) >= LARGEST_EXACT) if csc.dtype.kind in "iu" else ()
        rounded = frozenset(names[i] for i in np.searchsorted(csc.indptr, large, side="right") - 1)
        if csc.dtype not in (np.float32, np.float64):
            csc = csc.astype(np.float64)
        if not csc.has_canonical_format or not csc.data.all():
            csc = csc.copy()
            csc.sum_duplicates()
            csc.eliminate_zeros()
        return cls(
            names,
            (None,) * n_columns if levels is None else tuple(levels),
            np.empty((n_rows, 0)),
            np.empty((n_rows, 0), np.int32),
            csc,
            rounded=rounded,
        )

    @classmethod
    def joined(cls, tables: Sequence[Table]) -> Table:
        """Build a table of the rows of several tables with the same columns and levels, one after the other."""
        first = tables[0]
        if first.is_sparse:
            matrix = sparse.vstack([table.matrix for table in tables], format="csc")
            return replace(cls.from_sparse(matrix, first.names, first.levels), dates=first.dates)
        numeric, codes = (np.concatenate([getattr(table, kind) for table in tables]) for kind in ("numeric", "codes"))
        return replace(first, numeric=numeric, codes=codes)

    def beside(self, other: Table) -> Table:
        """Return the columns of this table, then those of another one of as many rows; both are dense or sparse."""
        both = set(self.names) & set(other.names)
        if both:
            raise DataError(f"{min(both)!r} is the name of a feature and of a target: rename one of them")
        names, levels = (*self.names, *other.names), (*self.levels, *other.levels)
        if self.is_sparse:
            stacked = Table.from_sparse(sparse.hstack([self.matrix, other.matrix], format="csc"), names, levels)
        else:
            columns = [table.column(i) for table in (self, other) for i in range(table.n_columns)]
            stacked = Table.from_columns(names, columns, levels)
        return replace(stacked, dates=self.dates | other.dates, rounded=self.rounded | other.rounded)

    # -- shape and kinds ----------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0] if self.is_sparse else self.numeric.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def is_sparse(self) -> bool:
        """Whether the cells are held in one sparse matrix."""
        return self.matrix is not None

    @cached_property
    def is_nominal(self) -> np.ndarray:
        """One bool per column."""
        return np.array([lev is not None for lev in self.levels], dtype=bool)

    @cached_property
    def slots(self) -> np.ndarray:
        """Position of each column in its block, ``numeric`` or ``codes`` (in a sparse table its index)."""
        if self.is_sparse:
            return np.arange(self.n_columns)
        nominal = self.is_nominal
        return np.where(nominal, np.cumsum(nominal), np.cumsum(~nominal)) - 1

    @property
    def dtype(self) -> np.dtype:
        """Precision of the numeric cells."""
        return self.matrix.dtype if self.is_sparse else self.numeric.dtype

    @cached_property
    def n_missing(self) -> int:
        """Number of missing cells."""
        if self.is_sparse:
            return count_missing(self.matrix.data)
        return count_missing(self.numeric) + int((self.codes < 0).sum())

    @property
    def with_missing(self) -> tuple[bool, ...]:
        """Whether some cells of each column are missing."""
        if not self.n_missing:
            return (False,) * self.n_columns
        if self.is_sparse:
            columns = np.repeat(np.arange(self.n_columns), np.diff(self.matrix.indptr))
            return tuple((np.bincount(columns[np.isnan(self.matrix.data)], minlength=self.n_columns) > 0).tolist())
        missing = np.empty(self.n_columns, bool)
        missing[~self.is_nominal] = np.isnan(self.numeric).any(axis=0)
        missing[self.is_nominal] = (self.codes < 0).any(axis=0)
        return tuple(missing.tolist())

    @cached_property
    def infinite_cell(self) -> tuple[str, int] | None:
        """Column and row of the first infinite number; None where all are finite or missing."""
        if not any_infinite(self.matrix.data if self.is_sparse else self.numeric):
            return None
        columns = ((i, np.flatnonzero(np.isinf(self.column(i)))) for i in np.flatnonzero(~self.is_nominal).tolist())
        return next(((self.names[i], int(rows[0])) for i, rows in columns if len(rows)), None)

    def index(self, name: str) -> int:
        """Return the position of a column, by name."""
        try:
            return self._positions[name]
        except KeyError:
            raise DataError(f"there is no column {name!r}") from None

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    # -- parts --------------------------------------------------------------------------------------

    def column(self, i: int) -> np.ndarray:
        """Return one column as a dense array: floats (NaN = missing) or int32 codes (-1 = missing)."""
        if not self.is_sparse:
            block = self.codes if self.is_nominal[i] else self.numeric
            return block[:, self.slots[i]]
        part = slice(self.matrix.indptr[i], self.matrix.indptr[i + 1])
        dense = np.zeros(self.n_rows, self.matrix.dtype)
        dense[self.matrix.indices[part]] = self.matrix.data[part]
        return codes_of(dense) if self.is_nominal[i] else dense

    def select(self, columns: Sequence[int] | np.ndarray) -> Table:
        """Return the table of the given columns, in the given order."""
        columns = np.asarray(columns, dtype=np.intp)
        names = tuple(self.names[i] for i in columns)
        levels = tuple(self.levels[i] for i in columns)
        dates = self.dates & set(names)
        if self.is_sparse:
            return Table(names, levels, self.numeric, self.codes, self.matrix[:, columns], dates, self.rounded)
        nominal = self.is_nominal[columns]
        slots = self.slots[columns]
        blocks = _block(self.numeric, slots[~nominal]), _block(self.codes, slots[nominal])
        return Table(names, levels, *blocks, dates=dates, rounded=self.rounded, texts=self.texts)

    def take(self, rows: Any) -> Table:
        """Return the table of the given rows (slice, mask or indices)."""
        if self.is_sparse:
            matrix = self._by_rows[rows].tocsc()
            empty = np.empty((matrix.shape[0], 0))
            return replace(self, numeric=empty, codes=empty.astype(np.int32), matrix=matrix)
        return replace(self, numeric=self.numeric[rows], codes=self.codes[rows])

    @cached_property
    def _by_rows(self) -> Any:
        """The cells of a sparse table by rows: kept, so that a second take costs only the rows taken."""
        return self.matrix.tocsr()

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame: floats and categoricals."""
        columns: dict[str, Any] = {}
        for i, (name, levels) in enumerate(zip(self.names, self.levels, strict=True)):
            cells = self.column(i)
            columns[name] = cells if levels is None else categorical(cells, levels)
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_rows))

    def equals(self, other: Table) -> bool:
        """Whether both tables have the same names, levels and cells (missing equals missing)."""
        if self.names != other.names or self.levels != other.levels or self.n_rows != other.n_rows:
            return False
        if self.is_sparse and other.is_sparse:
            a, b = self.matrix, other.matrix
            return np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices) and _same(a.data, b.data)
        return all(_same(self.column(i), other.column(i)) for i in range(self.n_columns))


def codes_of(cells: np.ndarray) -> np.ndarray:
    """Return codes that are held as floats (NaN = missing) as int32 (-1 = missing).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import codes_of
    >>> codes_of(np.array([2.0, np.nan])).tolist()
    [2, -1]
    """
    return np.where(np.isnan(cells), -1, cells).astype(np.int32)


def default_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of unnamed features: x0, x1, ..., as in scikit-learn.

    Examples
    --------
    >>> from omnirank.data.table import default_names
    >>> default_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{i}" for i in range(n_columns))


def numbered_names(n_columns: int, stem: str) -> tuple[str, ...]:
    """Return the names of unnamed targets, labels and columns of files, which are counted from 1.

    Examples
    --------
    >>> from omnirank.data.table import numbered_names
    >>> numbered_names(2, "y")
    ('y1', 'y2')
    """
    return tuple(f"{stem}{i}" for i in range(1, n_columns + 1))


def is_made_up(names: Sequence[str]) -> bool:
    """Whether names are those of unnamed features, of arrays or of files.

    Examples
    --------
    >>> from omnirank.data.table import is_made_up
    >>> is_made_up(("x0", "x1")), is_made_up(("x1", "x2")), is_made_up(("x2", "x3"))
    (True, True, False)
    """
    return tuple(names) in (default_names(len(names)), numbered_names(len(names), "x"))


def chosen_numbers(rows: Any, n: int, what: str = "row") -> np.ndarray:
    """Return the numbers from 0 of the rows (or what else) that a slice, mask or sequence of numbers chooses.

    Examples
    --------
    >>> from omnirank.data.table import chosen_numbers
    >>> chosen_numbers([True, False, True], 3).tolist(), chosen_numbers([-1, 0], 3).tolist()
    ([0, 2], [2, 0])
    """
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    numbers = np.asarray(rows)
    if numbers.ndim != 1:
        raise DataError(f"give a slice, a mask or a list of {what}s, not {rows!r}")
    if numbers.dtype == bool:
        if len(numbers) != n:
            raise DataError(f"the mask has {len(numbers)} entries, but {there_are(n, what)}")
        return np.flatnonzero(numbers)
    if numbers.size == 0:
        return np.empty(0, np.intp)
    if numbers.dtype.kind not in "iu":
        raise DataError(f"{what}s are chosen by integers or a mask, not by {numbers.dtype}")
    outside = (numbers < -n) | (numbers >= n)
    if outside.any():
        raise DataError(f"there is no {what} {numbers[outside][0]}: {there_are(n, what)}, counted from 0")
    return np.where(numbers < 0, numbers + n, numbers).astype(np.intp)


def is_sparse(values: Any) -> bool:
    """Whether values are a scipy.sparse container.

    Examples
    --------
    >>> from omnirank.data.table import is_sparse
    >>> is_sparse([[0, 1]])
    False
    """
    return bool(sparse.issparse(values))


def check_size(values: Any) -> None:
    """Raise a DataError for an array or sparse container of more rows or stored cells than kernels can number.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import check_size
    >>> check_size(np.broadcast_to(0.0, (2**31, 1)))
    Traceback (most recent call last):
    omnirank.core.errors.DataError: the data have 2147483648 rows, more than 2147483647: use some of the rows
    """
    n_rows = (*getattr(values, "shape", ()), 0)[0]
    if n_rows > _MOST_ROWS:
        raise DataError(f"the data have {n_rows} rows, more than {_MOST_ROWS}: use some of the rows")
    if is_sparse(values) and values.nnz > _MOST_STORED:
        raise DataError(
            f"the sparse matrix stores {values.nnz} cells, more than {_MOST_STORED}: use some of the rows or columns"
        )


def categorical(codes: np.ndarray, levels: Levels) -> pd.Categorical:
    """Return codes (-1 = missing) and their levels as pandas holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import categorical
    >>> categorical(np.array([1, -1]), ("a", "b")).tolist()
    ['b', nan]
    """
    return pd.Categorical.from_codes(codes, list(levels))  # type: ignore[call-overload]


def _stack(columns: list[np.ndarray], n_rows: int, dtype: Any) -> np.ndarray:
    block = np.empty((n_rows, len(columns)), dtype, order="F")
    for j, column in enumerate(columns):
        block[:, j] = column
    return block


def _block(block: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """Columns of a block; a view where they are contiguous, so that splitting off a target costs nothing."""
    if len(slots) and np.array_equal(slots, np.arange(slots[0], slots[0] + len(slots))):
        return block[:, slots[0] : slots[0] + len(slots)]
    return block[:, slots]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f"))


def any_infinite(values: np.ndarray) -> bool:
    """Return whether a cell is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import any_infinite
    >>> any_infinite(np.array([[1.0, np.nan], [np.inf, 2.0]]))
    True
    """
    return not np.isfinite(_sum(values)) and bool(np.isinf(values).any())


def count_missing(values: np.ndarray) -> int:
    """Return the number of missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import count_missing
    >>> count_missing(np.array([[1.0, np.nan], [np.inf, -np.inf]]))
    1
    """
    return int(np.count_nonzero(np.isnan(values))) if np.isnan(_sum(values)) else 0


def _sum(values: np.ndarray) -> float:
    """Finite unless a cell is infinite, missing or near overflow: found faster than these, without memory."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(values.sum())


def any_text_rounded(texts: Iterable[str]) -> bool:
    """Whether one of the texts is a whole number, written as digits only, beyond those that floats tell apart.

    Examples
    --------
    >>> from omnirank.data.table import any_text_rounded
    >>> any_text_rounded(["9007199254740993"]), any_text_rounded(["9.007199254740993e15", "9007199254740992"])
    (True, False)
    """
    return any(_DIGITS.fullmatch(text) and abs(int(text)) > LARGEST_EXACT for text in texts)


def refuse_rounded(table: Table, what: str = "column") -> None:
    """Raise an error where a column of whole numbers was rounded when it was read.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import refuse_rounded
    >>> from omnirank.data.table import Table
    >>> refuse_rounded(Table.from_numeric(np.array([[2**53 + 1]])))
    Traceback (most recent call last):
    omnirank.core.errors.DataError: column 'x0' holds whole numbers beyond 2**53, which floats ...
    """
    pairs = zip(table.names, table.levels, strict=True)
    name = next((name for name, levels in pairs if levels is None and name in table.rounded), None)
    if name is not None:
        raise rounded_error(f"{what} {name!r}")


def rounded_error(where: str) -> DataError:
    """Return the error about a column of whole numbers that were rounded."""
    return DataError(
        f"{where} holds whole numbers beyond 2**53, which floats round: if it is an identifier, leave it out or give "
        "texts; if it is a quantity, subtract a number from all of them"
    )
