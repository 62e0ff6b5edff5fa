"""Columns of data frames become cells: keys as they are, values as numbers or as codes of levels."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.columns import code_numbers, holds_dates, holds_rounded, iso_seconds, typed_column
from omnirank.data.table import LARGEST_EXACT, Levels, rounded_error
from omnirank.relational.identifiers import KeyCells

VALUE_KINDS = ("numeric", "nominal", "date")


class ValueCells(NamedTuple):
    """Cells of a column of values.

    Parameters
    ----------
    cells : ndarray
        float64 (NaN = missing), or int32 codes (-1 = missing).
    levels : tuple or None
        Levels of a nominal column.
    is_date : bool
        Whether its numbers are seconds since 1970-01-01 UTC.
    from_text : bool
        Whether numbers or dates were written as text.
    """

    cells: np.ndarray
    levels: Levels | None = None
    is_date: bool = False
    from_text: bool = False

    @property
    def kind(self) -> str:
        """One of `VALUE_KINDS`."""
        return "nominal" if self.levels is not None else "date" if self.is_date else "numeric"

    @property
    def known(self) -> np.ndarray | None:
        """Mask of the known cells; None where all are."""
        known = ~np.isnan(self.cells) if self.levels is None else self.cells >= 0
        return None if known.all() else known


def key_cells(series: Any, where: str) -> KeyCells:
    """Return the cells of a key column (a narwhals series): integers, or texts.

    Whole numbers of float type, as pandas has them beside missing cells, are integers.

    Examples
    --------
    >>> import narwhals.stable.v1 as nw
    >>> import pandas as pd
    >>> from omnirank.relational.cells import key_cells
    >>> cells = key_cells(nw.from_native(pd.Series([3.0, None]), series_only=True), "column 'id'")
    >>> cells.values.tolist(), cells.known.tolist()
    ([3, 0], [True, False])
    """
    dtype = series.dtype
    if dtype.is_integer():
        known = _known(series)
        if known is not None:
            series = series.fill_null(0)
        cells = np.asarray(series.to_numpy())
        if cells.dtype == np.uint64 and len(cells) and cells.max() > np.iinfo(np.int64).max:
            return KeyCells(np.array([str(cell) for cell in cells.tolist()], object), known)
        return KeyCells(cells.astype(np.int64, copy=False), known)
    if dtype.is_float():
        return _float_keys(np.asarray(series.cast(nw.Float64).to_numpy(), np.float64), where)
    if dtype in (nw.Date, nw.Datetime):
        return _float_keys(np.array(typed_column(series, where)[0], np.float64), where)
    if dtype == nw.Boolean:
        codes = typed_column(series, where)[0]
        return _float_keys(np.where(codes < 0, np.nan, codes), where)
    cells = np.fromiter(series.to_list(), dtype=object, count=len(series))
    known = ~pd.isna(cells)
    values = [_key(cell, where) for cell in cells[known].tolist()]
    whole = values and all(isinstance(value, int) for value in values)
    filled = np.zeros(len(cells), np.int64) if whole else np.full(len(cells), "", object)
    filled[known] = values if whole else np.array([str(value) for value in values], object)
    return KeyCells(filled, None if known.all() else known)


def _key(cell: Any, where: str) -> int | str:
    if isinstance(cell, bool | np.bool_ | int | np.integer) and abs(int(cell)) < 2**63:
        return int(cell)
    if isinstance(cell, float | np.floating) and cell == round(cell):
        return int(cell)
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, list | dict | set | tuple | np.ndarray):
        raise DataTypeError(f"{where} holds a {type(cell).__name__}: an identifier is a number or a text")
    return str(cell)


def _known(series: Any) -> np.ndarray | None:
    return ~np.asarray(series.is_null().to_numpy(), bool) if series.null_count() else None


def _float_keys(values: np.ndarray, where: str) -> KeyCells:
    known = ~np.isnan(values)
    found = values[known]
    if np.isinf(found).any():
        raise DataError(f"{where} holds an infinite value among its identifiers")
    mask = None if known.all() else known
    if (np.abs(found) > LARGEST_EXACT).any():
        raise DataError(f"{where} holds identifiers beyond 2**53 as floats, which cannot tell them apart: give texts")
    if (found != np.round(found)).any():
        return KeyCells(np.where(known, values, 0.0), mask)
    return KeyCells(np.where(known, values, 0.0).astype(np.int64), mask)


def value_cells(series: Any, where: str, kind: str | None = None) -> ValueCells:
    """Return the cells of a column of values (a narwhals series).

    Numbers, dates, booleans, categoricals and texts have the types of a data frame's column. Texts that all are numbers
    or dates (ISO 8601) are taken as such, unless a kind is given.

    Parameters
    ----------
    series : narwhals series
        The column.
    where : str
        What it is called in an error.
    kind : {"numeric", "nominal", "date"} or None
        What to take it as; None: what it is.

    Examples
    --------
    >>> import narwhals.stable.v1 as nw
    >>> import pandas as pd
    >>> from omnirank.relational.cells import value_cells
    >>> value_cells(nw.from_native(pd.Series(["7", None, "9.5"]), series_only=True), "column 'size'")
    ValueCells(cells=array([7. , nan, 9.5]), levels=None, is_date=False, from_text=True)
    """
    if series.dtype == nw.Object:
        series = _plain(series)
    cells, levels = typed_column(series, where)
    if holds_rounded(series):
        raise rounded_error(where)
    found = ValueCells(np.asarray(cells), levels, holds_dates(series))
    if levels is not None and kind != "nominal" and _are_texts(levels):
        found = _numbers_in_text(found)
    if kind in ("numeric", "date"):
        if found.levels:
            raise DataError(f"{where} is to be {kind}, but holds {found.levels[0]!r}")
        if found.levels is not None:  # nothing is known
            found = ValueCells(np.full(len(found.cells), np.nan), None)
        found = found._replace(is_date=kind == "date")
    elif kind == "nominal" and found.levels is None:
        codes, numbers = code_numbers(np.asarray(found.cells, np.float64))
        found = ValueCells(codes, numbers)
    if found.levels is None:
        found = found._replace(cells=np.asarray(found.cells, np.float64))
        if np.isinf(found.cells).any():
            row = int(np.flatnonzero(np.isinf(found.cells))[0])
            raise DataError(f"{where} holds an infinite value (inf) in row {row}: use NaN for missing cells")
    return found


def _plain(series: Any) -> Any:
    """A column of objects without those that no column can hold: identifiers of databases become texts."""
    cells = [str(c) if isinstance(c, UUID) else c.hex() if isinstance(c, bytes) else c for c in series.to_list()]
    return nw.from_native(pd.Series(cells, dtype=object).infer_objects(), series_only=True)


def _are_texts(levels: Levels) -> bool:
    return bool(levels) and all(isinstance(level, str) for level in levels)


def _numbers_in_text(found: ValueCells) -> ValueCells:
    """Texts as numbers or dates where all of them are; else as they are."""
    levels = found.levels or ()
    if all(NUMBER.fullmatch(text.strip(" ")) for text in levels):
        values = np.array([float(text) for text in levels])
    else:
        seconds = iso_seconds(levels)
        if seconds is None:
            return found
        values = seconds
    is_date = not NUMBER.fullmatch(levels[0].strip(" "))
    return ValueCells(np.append(values, np.nan)[found.cells], None, is_date, True)
