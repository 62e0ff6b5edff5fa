"""Arrays, sparse matrices and data frames become typed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from narwhals.exceptions import DuplicateError

from omnirank.core.errors import DataError, DataTypeError, setting
from omnirank.core.plurals import counted, there_are
from omnirank.core.types import FrameLike
from omnirank.data.cell_blocks import any_infinite
from omnirank.data.column_types import (
    any_cell_rounded,
    code_numbers,
    holds_dates,
    holds_rounded,
    iso_texts,
    number_levels,
    typed_column,
)
from omnirank.data.containers import as_array, checked_sparse, refuse_structured
from omnirank.data.exact_numbers import refuse_rounded
from omnirank.data.table import Table, check_size, default_names, is_sparse


def is_frame(X: Any) -> TypeGuard[FrameLike]:
    """Whether X is an eager data frame that narwhals knows (pandas, polars, pyarrow, ...).

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.data.convert import is_frame
    >>> is_frame(pd.DataFrame({"a": [1]})), is_frame([[1]])
    (True, False)
    """
    return isinstance(_frame(X), nw.DataFrame)  # a lazy one is refused


def table_from(X: Any, names: Sequence[str] | None = None, nominal: Sequence[int | str] | None = None) -> Table:
    """Return X as a typed table.

    Parameters
    ----------
    X : array-like, scipy.sparse container, data frame or Table
        Numbers become numeric columns; categoricals, strings and booleans become nominal ones; dates become
        numeric (seconds since 1970-01-01 UTC). None, NaN and NA are missing. Infinite values are an error.
        A float array and a CSC matrix of floats are used as they are, not copied.
    names : sequence of str, optional
        Column names; by default those of the data frame, else x0, x1, ...
    nominal : sequence of int or str, optional
        Columns (positions from 0, or names) to be taken as nominal although they hold numbers or dates.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.data.convert import table_from
    >>> frame = pd.DataFrame({"age": [31, 42], "town": ["Bled", None]})
    >>> table = table_from(frame)
    >>> table.levels
    (None, ('Bled',))
    """
    table = typed_table(X, names)
    if not isinstance(X, Table):
        _check_shape(table)
    _check_finite(table)
    return table if nominal is None else _as_nominal(table, nominal)


def typed_table(X: Any, names: Sequence[str] | None = None) -> Table:
    """Return X as a typed table, of any size and with infinite cells, as `table_from` does.

    Examples
    --------
    >>> from omnirank.data.convert import typed_table
    >>> typed_table([["a", 1.5], [None, 2]]).levels
    (('a',), None)
    """
    check_size(X)
    if names is not None:
        names = tuple(str(name) for name in names)
    if isinstance(X, Table):
        return X if names is None else replace(X, names=names)
    if is_sparse(X):
        return _from_sparse(X, names)
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, names)
    return _from_array(as_array(X), names)


# -- containers ---------------------------------------------------------------------------------------


def _frame(X: Any) -> Any:
    """X as a narwhals frame, or as it is."""
    if type(X) is np.ndarray:  # narwhals takes a tenth of a millisecond to find that out
        return X
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        columns = X.column_names if hasattr(X, "column_names") else list(X.columns)
        twice = next(name for i, name in enumerate(columns) if name in columns[:i])
        raise DataError(f"two columns are called {twice!r}: column names must differ") from None
    if isinstance(frame, nw.LazyFrame):
        raise DataTypeError(f"{type(X).__name__} is lazy: collect() it first")
    return frame


def _from_sparse(X: Any, names: Sequence[str] | None) -> Table:
    X = checked_sparse(X)
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported")
    if X.dtype.kind not in "fiub":
        raise DataTypeError(f"a sparse matrix of {X.dtype} is not supported: use numbers")
    levels = [(False, True)] * X.shape[1] if X.dtype.kind == "b" else None
    return Table.from_sparse(X, names, levels)


def _from_array(array: np.ndarray, names: Sequence[str] | None) -> Table:
    refuse_structured(array, "X")
    if array.ndim != 2:
        raise DataError(f"Expected 2D array for the features, got {array.ndim}D array instead")
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported")
    if array.dtype.kind in "fiu":
        return Table.from_numeric(array, names)
    if names is None:
        names = default_names(array.shape[1])
    if array.dtype.kind == "b":
        codes = np.asfortranarray(array, dtype=np.int32)
        return Table(tuple(names), ((False, True),) * array.shape[1], np.empty((len(array), 0)), codes)
    # Strings, dates and objects: each column is typed by what it holds.
    series = [pd.Series(column).infer_objects() for column in array.T]
    table = _from_series([nw.from_native(column, series_only=True) for column in series], names, len(array))
    # pandas makes floats of integers beside missing cells
    rounded = frozenset(name for name, column in zip(table.names, array.T, strict=True) if any_cell_rounded(column))
    return replace(table, rounded=rounded)


def _from_frame(frame: Any, names: Sequence[str] | None) -> Table:
    found = [str(name) for name in frame.columns]
    columns = [frame[:, i] for i in range(len(found))]
    return _from_series(columns, found if names is None else names, len(frame))


def _from_series(columns: list[Any], names: Sequence[str], n_rows: int) -> Table:
    if not columns:
        return Table.from_numeric(np.empty((n_rows, 0)), names)
    if len(names) != len(columns):
        raise DataError(f"{counted(len(names), 'column name')} for {counted(len(columns), 'column')}")
    typed = [typed_column(column, f"column {name!r}") for column, name in zip(columns, names, strict=True)]
    table = Table.from_columns(names, [cells for cells, _ in typed], [levels for _, levels in typed])
    dates = frozenset(name for name, column in zip(table.names, columns, strict=True) if holds_dates(column))
    rounded = frozenset(name for name, column in zip(table.names, columns, strict=True) if holds_rounded(column))
    return replace(table, dates=dates, rounded=rounded) if dates or rounded else table


def _check_shape(table: Table) -> None:
    shape = (table.n_rows, table.n_columns)
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise DataError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")


def _check_finite(table: Table) -> None:
    found = infinite_cell(table)
    if found is not None:
        name, row = found
        raise DataError(f"column {name!r} holds an infinite value (inf) in row {row}: use NaN for missing cells")


def infinite_cell(table: Table) -> tuple[str, int] | None:
    """Return the column and the row of the first infinite number; None where all are finite or missing."""
    values = table.matrix.data if table.is_sparse else table.numeric
    if not any_infinite(values):
        return None
    for i in np.flatnonzero(~table.is_nominal).tolist():
        rows = np.flatnonzero(np.isinf(table.column(i)))
        if len(rows):
            return table.names[i], int(rows[0])
    return None


# -- numbers as levels --------------------------------------------------------------------------------


def _as_nominal(table: Table, nominal: Sequence[int | str]) -> Table:
    chosen = {table.index(c) if isinstance(c, str) else int(c) for c in nominal}
    for i in chosen:
        if not 0 <= i < table.n_columns:
            raise DataError(f"{setting('nominal', i)} is not a column: {there_are(table.n_columns, 'feature')}")
    if all(table.levels[i] is not None for i in chosen):
        return table
    refuse_rounded(table.select(sorted(chosen)))
    if table.is_sparse:
        return _sparse_as_nominal(table, chosen)
    columns, levels = [], []
    for i, lev in enumerate(table.levels):
        cells = table.column(i)
        if i in chosen and lev is None:
            cells, lev = code_numbers(cells)
            lev = tuple(iso_texts(np.array(lev))) if table.names[i] in table.dates else lev
        columns.append(cells)
        levels.append(lev)
    dates = table.dates - {table.names[i] for i in chosen}
    return replace(Table.from_columns(table.names, columns, levels), dates=dates)


def _sparse_as_nominal(table: Table, chosen: set[int]) -> Table:
    """Numbers of a sparse column become levels; 0 comes first, so that absent cells keep code 0."""
    matrix = table.matrix.copy()
    levels = list(table.levels)
    for i in chosen:
        if levels[i] is not None:
            continue
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        stored = matrix.data[part]
        found = np.unique(stored[~np.isnan(stored)])
        known = np.concatenate([[0.0], found])
        levels[i] = tuple(iso_texts(known)) if table.names[i] in table.dates else number_levels(known)
        matrix.data[part] = np.where(np.isnan(stored), np.nan, np.searchsorted(found, stored) + 1.0)
    dates = table.dates - {table.names[i] for i in chosen}
    return replace(Table.from_sparse(matrix, table.names, levels), dates=dates)
