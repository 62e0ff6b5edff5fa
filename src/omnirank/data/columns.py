"""Arrays, sparse matrices and data frames become typed tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeGuard

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from narwhals.exceptions import DuplicateError

from omnirank.core.errors import DataError, DataTypeError, setting
from omnirank.core.text import counted, there_are
from omnirank.core.types import FrameLike
from omnirank.data.containers import as_array, checked_sparse, is_annotated, refuse_structured
from omnirank.data.table import (
    LARGEST_EXACT,
    Levels,
    Table,
    check_size,
    codes_of,
    default_names,
    is_sparse,
    refuse_rounded,
)

ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?")
_DOTTED_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})( \d\d:\d\d(?::\d\d)?)?")


def is_frame(X: Any) -> TypeGuard[FrameLike]:
    """Whether X is an eager data frame that narwhals knows (pandas, polars, pyarrow, ...).

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.data.columns import is_frame
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
    >>> from omnirank.data.columns import table_from
    >>> frame = pd.DataFrame({"age": [31, 42], "town": ["Bled", None]})
    >>> table = table_from(frame)
    >>> table.levels
    (None, ('Bled',))
    """
    table = typed_table(X, names)
    if not isinstance(X, Table):
        check_shape((table.n_rows, table.n_columns))
    if table.infinite_cell is not None:
        name, row = table.infinite_cell
        raise DataError(f"column {name!r} holds an infinite value (inf) in row {row}: use NaN for missing cells")
    return table if nominal is None else _as_nominal(table, nominal)


def typed_table(X: Any, names: Sequence[str] | None = None, what: str = "column") -> Table:
    """Return X as a typed table, of any size and with infinite cells, as `table_from` does.

    Examples
    --------
    >>> from omnirank.data.columns import typed_table
    >>> typed_table([["a", 1.5], [None, 2]]).levels
    (('a',), None)
    """
    if is_annotated(X):
        return typed_table(X.X, tuple(X.var_names) if names is None else names, what)
    check_size(X)
    if names is not None:
        names = tuple(str(name) for name in names)
    if isinstance(X, Table):
        return X if names is None else replace(X, names=names)
    if is_sparse(X):
        return _from_sparse(X, names)
    frame = _frame(X)
    if isinstance(frame, nw.DataFrame):
        own = [str(name) for name in frame.columns]
        columns = [frame[:, i] for i in range(len(own))]
        return _from_series(columns, own if names is None else names, len(frame), what)
    return _from_array(as_array(X), names, what)


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


def _from_array(array: np.ndarray, names: Sequence[str] | None, what: str) -> Table:
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
    columns = [nw.from_native(column, series_only=True) for column in series]
    table = _from_series(columns, names, len(array), what)
    # pandas makes floats of integers beside missing cells
    rounded = frozenset(name for name, column in zip(table.names, array.T, strict=True) if any_cell_rounded(column))
    return replace(table, rounded=rounded)


def _from_series(columns: list[Any], names: Sequence[str], n_rows: int, what: str) -> Table:
    if not columns:
        return Table.from_numeric(np.empty((n_rows, 0)), names)
    if len(names) != len(columns):
        raise DataError(f"{counted(len(names), 'column name')} for {counted(len(columns), 'column')}")
    typed = [typed_column(column, f"{what} {name!r}") for column, name in zip(columns, names, strict=True)]
    table = Table.from_columns(names, [cells for cells, _ in typed], [levels for _, levels in typed])
    dates, rounded = (
        frozenset(name for name, column in zip(table.names, columns, strict=True) if holds(column))
        for holds in (holds_dates, holds_rounded)
    )
    texts = frozenset(name for name, column in zip(table.names, columns, strict=True) if column.dtype == nw.String)
    return replace(table, dates=dates, rounded=rounded, texts=texts)


def check_shape(shape: Sequence[int], required: str = "required") -> None:
    """Raise a DataError, in the words of scikit-learn, where there are no examples or no features."""
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise DataError(f"Found array with 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is {required}.")


# -- numbers as levels --------------------------------------------------------------------------------


def _as_nominal(table: Table, nominal: Sequence[int | str]) -> Table:
    chosen = {table.index(c) if isinstance(c, str) else int(c) for c in nominal}
    for i in chosen:
        if not 0 <= i < table.n_columns:
            raise DataError(f"{setting('nominal', i)} is not a column: {there_are(table.n_columns, 'feature')}")
    table = replace(table, texts=table.texts - {table.names[i] for i in chosen})
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
    return replace(Table.from_columns(table.names, columns, levels), dates=dates, texts=table.texts)


def _sparse_as_nominal(table: Table, chosen: set[int]) -> Table:
    """Numbers of a sparse column become levels; 0 comes first, so that absent cells keep code 0."""
    matrix = table.matrix.copy()
    levels = list(table.levels)
    for i in chosen:
        if levels[i] is not None:
            continue
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        stored = matrix.data[part]
        values = np.unique(stored[~np.isnan(stored)])
        known = np.concatenate([[0.0], values])
        levels[i] = tuple(iso_texts(known)) if table.names[i] in table.dates else number_levels(known)
        matrix.data[part] = np.where(np.isnan(stored), np.nan, np.searchsorted(values, stored) + 1.0)
    dates = table.dates - {table.names[i] for i in chosen}
    return replace(Table.from_sparse(matrix, table.names, levels), dates=dates)


def type_cells(values: Sequence[Any] | np.ndarray, where: str) -> tuple[np.ndarray, Levels | None]:
    """Return the cells of one column, typed by what they hold: numbers, booleans, strings or dates.

    Parameters
    ----------
    values : sequence
        The cells; None, NaN and NA are missing.
    where : str
        What the column is called in an error.

    Returns
    -------
    cells : ndarray
        Floats, or int32 codes of a nominal column.
    levels : tuple or None
        Levels of a nominal column.

    Examples
    --------
    >>> from omnirank.data.columns import type_cells
    >>> cells, levels = type_cells([True, None], "column 'wet'")
    >>> cells.tolist(), levels
    ([1, -1], (False, True))
    """
    array = np.fromiter(values, dtype=object, count=len(values))
    cells = [None if missing else cell for cell, missing in zip(array, pd.isna(array), strict=True)]
    kinds = [None if cell is None else _kind(cell) for cell in cells]
    known = set(kinds) - {None}
    if len(known) > 1 or not known <= {"number", "boolean", "date", "string"}:
        raise _odd_cell(kinds, where)
    if known == {"string"}:
        return code_values(cells, where)
    if known == {"boolean"}:
        return np.array([-1 if cell is None else int(cell) for cell in cells], np.int32), (False, True)
    if known == {"date"}:
        dates = pd.to_datetime(pd.Series(cells), utc=True)
        return _seconds(nw.from_native(dates, series_only=True)), None
    return np.array([np.nan if cell is None else _float(cell) for cell in cells]), None


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def code_values(values: Any, name: str = "column") -> tuple[np.ndarray, Levels]:
    """Return int32 codes (-1 = missing) and the sorted levels of a sequence of values.

    Examples
    --------
    >>> from omnirank.data.columns import code_values
    >>> codes, levels = code_values(["b", None, "a"])
    >>> codes.tolist(), levels
    ([1, -1, 0], ('a', 'b'))
    """
    codes, distinct = pd.factorize(as_array(values))
    levels = distinct.tolist()
    try:
        order = sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:
        raise DataTypeError(f"{name}: values of different types cannot be ordered as levels") from None
    # one place more: code -1 finds it and stays -1
    place = np.full(len(levels) + 1, -1, np.int32)
    place[order] = np.arange(len(levels))
    return place[codes], tuple(levels[i] for i in order)


def iso_seconds(texts: Sequence[str]) -> np.ndarray | None:
    """Return texts as seconds since 1970-01-01 UTC where all of them are dates (ISO 8601, or 31.1.1970), else None.

    Examples
    --------
    >>> from omnirank.data.columns import iso_seconds
    >>> iso_seconds(["1970-01-02", "1.1.1970 00:01"]).tolist(), iso_seconds(["1970-02-30"])
    ([86400.0, 60.0], None)
    """
    texts = [_as_iso(text) for text in texts]
    if not all(ISO_DATE.fullmatch(text) for text in texts):
        return None
    try:
        dates = pd.to_datetime(pd.Series(texts), format="ISO8601", utc=True)
    except ValueError:  # no such day
        return None
    return _seconds(nw.from_native(dates, series_only=True))


def _as_iso(text: str) -> str:
    match = _DOTTED_DATE.fullmatch(text)
    return text if match is None else f"{match[3]}-{match[2]:0>2}-{match[1]:0>2}{match[4] or ''}"


def moments(seconds: np.ndarray) -> np.ndarray:
    """Return seconds since 1970-01-01 UTC as dates of NumPy, in microseconds; NaN is NaT."""
    return np.round(np.asarray(seconds, np.float64) * 1e6).astype("datetime64[us]")


def iso_texts(seconds: np.ndarray) -> list[str]:
    """Return seconds since 1970-01-01 UTC as texts that `iso_seconds` reads, without parts at their end that are 0.

    Examples
    --------
    >>> from omnirank.data.columns import iso_texts
    >>> iso_texts([86400.0, 60.0, 0.25])
    ['1970-01-02', '1970-01-01T00:01:00', '1970-01-01T00:00:00.250000']
    """
    texts = np.datetime_as_string(moments(seconds)).tolist()
    return [text.removesuffix(".000000").removesuffix("T00:00:00") for text in texts]


def code_numbers(cells: np.ndarray) -> tuple[np.ndarray, Levels]:
    """Return int32 codes (-1 = NaN) and the levels of a column of numbers; whole numbers are integers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.columns import code_numbers
    >>> codes, levels = code_numbers(np.array([2.0, np.nan, -1.0]))
    >>> codes.tolist(), levels
    ([1, -1, 0], (-1, 2))
    """
    unknown = np.isnan(cells)
    values, codes = np.unique(cells[~unknown], return_inverse=True)
    out = np.full(len(cells), -1, np.int32)
    out[~unknown] = codes
    return out, number_levels(values)


def number_levels(values: np.ndarray) -> Levels:
    """Whole numbers read as 1, 2, 3, not as 1.0, 2.0, 3.0.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.columns import number_levels
    >>> number_levels(np.array([1.0, 2.0**53])), number_levels(np.array([1.0, 2.0**54])), number_levels(np.array([0.5]))
    ((1, 9007199254740992), (1.0, 1.8014398509481984e+16), (0.5,))
    """
    if len(values) and (np.abs(values).max() > LARGEST_EXACT or (values != np.round(values)).any()):
        return tuple(values.tolist())
    return tuple(int(value) for value in values)


def typed_column(series: Any, where: str) -> tuple[np.ndarray, Levels | None]:
    """Return the cells of a column of a data frame, and the levels of a nominal one; `where` names it in errors."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return codes_of(_numbers(series)), (False, True)
    if dtype.is_numeric():
        return _numbers(series).astype(np.float32 if dtype == nw.Float32 else np.float64, copy=False), None
    if dtype in (nw.Categorical, nw.Enum):
        return _categorical(series, where)
    if dtype in (nw.Date, nw.Datetime):
        return _seconds(series), None
    if dtype == nw.String:
        return code_values(_objects(series), where)
    return type_cells(_known(series), where)


def holds_dates(series: Any) -> bool:
    """Whether a column of a data frame holds dates, declared or as objects."""
    if series.dtype == nw.Object:
        first = next((cell for cell in series.to_list() if not pd.isna(cell)), None)
        return first is not None and _kind(first) == "date"
    return series.dtype in (nw.Date, nw.Datetime)


def holds_rounded(series: Any) -> bool:
    """Whether a column of a data frame holds whole numbers, declared or as objects, that floats do not tell apart."""
    if series.dtype in (nw.Object, nw.Decimal):
        return any_cell_rounded(series.to_list())
    return series.dtype in (nw.Int64, nw.UInt64) and bool((np.abs(_numbers(series)) >= LARGEST_EXACT).any())


def any_cell_rounded(cells: Iterable[Any]) -> bool:
    """Whether one of the cells is a whole number beyond those that floats tell apart.

    Examples
    --------
    >>> from omnirank.data.columns import any_cell_rounded
    >>> any_cell_rounded([2**53, None, 1e300]), any_cell_rounded([-(2**53) - 1])
    (False, True)
    """
    numbers: list[Any] = [cell for cell in cells if isinstance(cell, Integral | Decimal) and cell == cell]
    return any(abs(number) > LARGEST_EXACT for number in numbers)


def _numbers(series: Any) -> np.ndarray:
    try:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    except ValueError:  # pyarrow refuses integers that floats would change
        return np.array([np.nan if cell is None else float(cell) for cell in _known(series)])


def _seconds(series: Any) -> np.ndarray:
    """Seconds since 1970-01-01 UTC."""
    return _numbers(series.dt.timestamp("us")) / 1e6


def _categorical(series: Any, where: str) -> tuple[np.ndarray, Levels]:
    """Levels as declared, used or not; polars shares a Categorical's levels between columns: those used."""
    if series.dtype == nw.Categorical and series.implementation.is_polars():
        return code_values(_objects(series), where)
    levels = tuple(series.cat.get_categories().to_list())
    native = nw.to_native(series)
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype):
        return native.cat.codes.to_numpy().astype(np.int32), levels
    # a null in a dictionary of pyarrow becomes its last value in NumPy
    values = as_array(_known(series)) if series.implementation.is_pyarrow() else _objects(series)
    codes, distinct = pd.factorize(values)
    place = {level: code for code, level in enumerate(levels)}
    return np.array([*(place[value] for value in distinct), -1], np.int32)[codes], levels


def _known(series: Any) -> list[Any]:
    """Values as a list with None for every kind of missing cell."""
    return [None if null else v for v, null in zip(series.to_list(), series.is_null().to_list(), strict=True)]


def _objects(series: Any) -> np.ndarray:
    """Values as NumPy holds objects: in an array of texts, which polars gives, a text would lose NULs at its end."""
    values = series.to_numpy()
    return values if values.dtype.kind != "U" else np.fromiter(series.to_list(), dtype=object, count=len(values))


def _kind(value: Any) -> str:
    """Kind of a cell, or the name of a type that no column can hold."""
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Real | Decimal):
        return "number"
    if isinstance(value, str):
        return "string"
    return "date" if isinstance(value, date | np.datetime64) else type(value).__name__


def _odd_cell(kinds: Iterable[str | None], where: str) -> DataTypeError:
    """Error about the first cell that is of no usable kind, or not of the kind of those before it."""
    known = [(row, kind) for row, kind in enumerate(kinds) if kind is not None]
    first = known[0][1]
    row, kind = next((cell for cell in known if cell[1] != first), known[0])
    beside = "" if kind == first else f" beside a {first}"
    return DataTypeError(
        f"{where} holds a {kind}{beside} in row {row}: argument must be a string or a number, of one kind in a column"
    )
