"""Columns of data frames become cells: keys as codes of objects, values as numbers or as codes of levels.

An object's code is its place among the sorted identifiers of its type. Several columns speak of the same objects: the
identifier of a table and the foreign keys that refer to it. They are coded together, so that a foreign key without a
row (dangling) has an object too, of which nothing else is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.text import counted
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.columns import code_numbers, holds_dates, holds_rounded, iso_seconds, typed_column
from omnirank.data.table import LARGEST_EXACT, Levels, rounded_error
from omnirank.relational.schema import ROWS, Columns, ForeignKey, Schema

_LARGEST_PRODUCT = 2**62


class KeyCells(NamedTuple):
    """Cells of a key column, and which of them are known (None: all)."""

    values: np.ndarray
    known: np.ndarray | None = None

    @property
    def known_values(self) -> np.ndarray:
        """The cells that are known."""
        return self.values if self.known is None else self.values[self.known]


class Coded(NamedTuple):
    """Sorted identifiers, and the int32 codes of each column (-1 = missing)."""

    identifiers: np.ndarray
    codes: tuple[np.ndarray, ...]


def code_identifiers(columns: Sequence[KeyCells]) -> Coded:
    """Return the identifiers in some columns, sorted, and the codes of the columns' cells.

    Where one column holds integers and another one texts, all are taken as texts.

    Parameters
    ----------
    columns : sequence of KeyCells
        Columns that hold identifiers of the same objects.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.cells import KeyCells, code_identifiers
    >>> references = KeyCells(np.array([10, 0, 20]), np.array([True, False, True]))
    >>> coded = code_identifiers([KeyCells(np.array([30, 10])), references])
    >>> coded.identifiers.tolist(), [codes.tolist() for codes in coded.codes]
    ([10, 20, 30], [[2, 0], [0, -1, 1]])
    """
    columns = _of_one_type(columns)
    places, identifiers = pd.factorize(np.concatenate([column.known_values for column in columns]), sort=True)
    if len(identifiers) > np.iinfo(np.int32).max:
        raise DataError(f"{len(identifiers)} different identifiers are more than omnirank can number ({2**31 - 1})")
    codes, start = [], 0
    for column in columns:
        known = slice(None) if column.known is None else column.known
        coded = np.full(len(column.values), -1, np.int32)
        coded[known] = places[start : start + len(column.known_values)]
        start += len(column.known_values)
        codes.append(coded)
    return Coded(identifiers, tuple(codes))


def code_composite(columns: Sequence[tuple[KeyCells, ...]], names: Sequence[str]) -> Coded:
    """Return the identifiers that consist of several cells, in lexicographic order, and their codes.

    Parameters
    ----------
    columns : sequence of tuple of KeyCells
        For each place where the identifiers occur, the columns that form them.
    names : sequence of str
        Fields of the structured array of identifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.cells import KeyCells, code_composite
    >>> cells = KeyCells(np.array([7, 7, 5])), KeyCells(np.array(["b", "a", "b"], object))
    >>> coded = code_composite([cells], ["order", "line"])
    >>> coded.identifiers.tolist(), coded.codes[0].tolist()
    ([(5, 'b'), (7, 'a'), (7, 'b')], [2, 1, 0])
    """
    parts = [code_identifiers(column) for column in zip(*columns, strict=True)]
    sizes = [max(1, len(part.identifiers)) for part in parts]
    if float(np.prod([float(size) for size in sizes])) > _LARGEST_PRODUCT:
        raise DataError(f"the key ({', '.join(names)}) has too many columns of too many values")
    combined = []
    for place in range(len(columns)):
        number = np.zeros(len(parts[0].codes[place]), np.int64)
        known = np.ones(len(number), bool)
        for part, size in zip(parts, sizes, strict=True):
            codes = part.codes[place]
            known &= codes >= 0
            number = number * size + codes
        combined.append(KeyCells(number, None if known.all() else known))
    coded = code_identifiers(combined)
    fields = np.unravel_index(coded.identifiers, sizes) if len(coded.identifiers) else [np.empty(0, int)] * len(sizes)
    dtype = [(name, part.identifiers.dtype) for name, part in zip(_different(names), parts, strict=True)]
    identifiers = np.empty(len(coded.identifiers), dtype)
    for (name, _), part, codes in zip(dtype, parts, fields, strict=True):
        identifiers[name] = part.identifiers[codes]
    return Coded(identifiers, coded.codes)


def _different(names: Sequence[str]) -> list[str]:
    """Names of fields; NumPy has no two of the same name and no empty one."""
    return [name or f"part {i}" if name not in names[:i] else f"{name} {i}" for i, name in enumerate(names)]


def _of_one_type(columns: Sequence[KeyCells]) -> list[KeyCells]:
    """Columns without known cells take the type of the others; of several types the most general is taken."""
    kinds = {column.values.dtype.kind for column in columns if len(column.known_values)}
    dtype = np.dtype(np.int64 if kinds <= {"i"} else np.float64 if kinds <= {"i", "f"} else object)
    return [KeyCells(_as_type(column, dtype), column.known) for column in columns]


def _as_type(column: KeyCells, dtype: np.dtype) -> np.ndarray:
    values = column.values
    if values.dtype.kind == dtype.kind:
        return values
    if dtype.kind == "O":
        return np.array([str(value) for value in values.tolist()], object)
    if values.dtype.kind == "O":  # nothing is known in it
        return np.zeros(len(values), dtype)
    return values.astype(dtype)


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
        """One of "numeric", "nominal" and "date"."""
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
        known = ~np.asarray(series.is_null().to_numpy(), bool) if series.null_count() else None
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
    if kind != "nominal" and are_texts(levels):
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


def are_texts(levels: Levels | None) -> bool:
    """Whether there are levels, all of them texts."""
    return bool(levels) and all(isinstance(level, str) for level in levels or ())


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


Place = tuple[str, tuple[str, ...]]


class RowKey(NamedTuple):
    """What identifies a row of a table.

    Parameters
    ----------
    type : str or None
        The type of object that the row is; None: foreign keys identify it.
    foreign_keys : tuple of ForeignKey
        The foreign keys that identify it.
    by_rows : bool
        Whether nothing does, and every row is an object of its own.
    """

    type: str | None
    foreign_keys: tuple[ForeignKey, ...] = ()
    by_rows: bool = False

    @property
    def is_known(self) -> bool:
        """Whether anything identifies the rows."""
        return self.type is not None or bool(self.foreign_keys)


def row_key(schema: Schema, table: str, is_target: bool = False) -> RowKey:
    """Return what identifies the rows of a table.

    Columns of the identifier that all are foreign keys identify the row in their place, unless another table refers to
    its rows by all of them. Without an identifier all foreign keys do; rows of a target table without any key are
    objects.

    Examples
    --------
    >>> from omnirank.relational.cells import row_key
    >>> from omnirank.relational.schema import ForeignKey, Schema, TableSchema
    >>> by, of = ForeignKey(("user",), "users"), ForeignKey(("movie",), "movies")
    >>> ratings = TableSchema("ratings", {"user": None, "movie": None, "stars": None}, ("user", "movie"), (by, of))
    >>> row_key(Schema({"ratings": ratings}), "ratings").foreign_keys == (by, of)
    True
    """
    own = schema.tables[table]
    if own.primary_key == ROWS:
        return RowKey(table, by_rows=True)
    if not own.primary_key:
        if own.foreign_keys:
            return RowKey(None, own.foreign_keys)
        return RowKey(table, by_rows=True) if is_target else RowKey(None)
    inside = tuple(key for key in own.foreign_keys if set(key.columns) <= set(own.primary_key))
    covered = {column for key in inside for column in key.columns} == set(own.primary_key)
    disjoint = sum(len(key.columns) for key in inside) == len(own.primary_key)
    referred = len(own.primary_key) > 1 and any(
        key.table == table and schema.refers_to_identifier(key)
        for other in schema.tables.values()
        for key in other.foreign_keys
    )
    cyclic = len(inside) == 1 and schema.object_type(table) == table
    if inside and covered and disjoint and not referred and not cyclic:
        order = {column: i for i, column in enumerate(own.primary_key)}
        return RowKey(None, tuple(sorted(inside, key=lambda key: order[key.columns[0]])))
    return RowKey(table)


@dataclass
class KeyCodes:
    """Codes of all identifiers and foreign keys.

    Parameters
    ----------
    objects : dict of str to ndarray
        Identifiers of each type of object, sorted.
    codes : dict
        For a table and columns of it, the int32 code of each row's object (-1 = missing).
    notes : list of str
        What to know: dangling references.
    """

    objects: dict[str, np.ndarray] = field(default_factory=dict)
    codes: dict[Place, np.ndarray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def code_keys(tables: Mapping[str, Columns], schema: Schema) -> KeyCodes:
    """Return the codes of the identifiers and foreign keys of all tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.relational.schema import columns_of, declare
    >>> from omnirank.relational.inference import complete_schema
    >>> from omnirank.relational.cells import code_keys
    >>> tables = columns_of({"a": pd.DataFrame({"id": [7, 5]}), "b": pd.DataFrame({"a_id": [5, 6, 7]})})
    >>> keys = code_keys(tables, complete_schema(tables, declare(tables))[0])
    >>> keys.objects["a"].tolist(), keys.codes["b", ("a_id",)].tolist()
    ([5, 6, 7], [0, 1, 2])
    """
    found = KeyCodes()
    reader = KeyReader(tables)
    for kind, places in _places(schema).items():
        coded = _code(kind, places, reader)
        found.objects[kind] = coded.identifiers
        found.codes |= dict(zip(places, coded.codes, strict=True))
    for table in schema.tables.values():
        for key in table.foreign_keys:
            if not schema.refers_to_identifier(key):
                found.codes[table.name, key.columns] = _through(table.name, key, schema, reader, found)
            found.notes += _dangling(table.name, key, schema, found)
    return found


class KeyReader:
    """Reads the key cells of columns, each once.

    Parameters
    ----------
    tables : mapping of str to mapping of str to narwhals series
        The columns of each table.
    """

    def __init__(self, tables: Mapping[str, Columns]) -> None:
        self.tables = tables
        self._read: dict[tuple[str, str], KeyCells] = {}

    def column(self, table: str, column: str) -> KeyCells:
        """Return the cells of one column."""
        if (table, column) not in self._read:
            where = f"column {column!r} of table {table!r}"
            self._read[table, column] = key_cells(self.tables[table][column], where)
        return self._read[table, column]

    def cells(self, table: str, columns: tuple[str, ...]) -> tuple[KeyCells, ...]:
        """Return the cells of some columns."""
        return tuple(self.column(table, column) for column in columns)


def _places(schema: Schema) -> dict[str, list[Place]]:
    """For each type of object, the columns that hold its identifiers."""
    places: dict[str, list[Place]] = {}
    for name, table in schema.tables.items():
        key = row_key(schema, name)
        if key.type is not None and not key.by_rows:
            places.setdefault(schema.object_type(name), []).append((name, table.primary_key))
        for reference in table.foreign_keys:
            if schema.refers_to_identifier(reference):
                place = places.setdefault(schema.object_type(reference.table), [])
                if (name, reference.columns) not in place:
                    place.append((name, reference.columns))
    return places


def _code(kind: str, places: list[Place], reader: KeyReader) -> Coded:
    cells = [reader.cells(table, columns) for table, columns in places]
    widths = {len(columns) for _, columns in places}
    if len(widths) > 1:
        raise DataError(f"objects {kind!r} have identifiers of {' and '.join(map(str, sorted(widths)))} columns")
    if widths == {1}:
        return code_identifiers([cell for (cell,) in cells])
    return code_composite(cells, places[0][1])


def _through(table: str, key: ForeignKey, schema: Schema, reader: KeyReader, found: KeyCodes) -> np.ndarray:
    """Codes of a foreign key to another column than the identifier, which must have each value once."""
    other = schema.tables[key.table]
    place = key.table, other.primary_key
    if row_key(schema, key.table).type is None or place not in found.codes:
        raise DataError(f"{table}.{key.columns[0]} refers to {key.table!r}, whose rows are no objects of their own")
    here, there = reader.cells(table, key.columns), reader.cells(key.table, key.references)
    coded = code_composite([here, there], key.columns)
    index = pd.Index(coded.codes[1][coded.codes[1] >= 0])
    if not index.is_unique:
        raise DataError(f"{table}.{key.columns[0]} refers to {key.table}.{key.references[0]}, which is not unique")
    row = np.append(index.get_indexer(coded.codes[0]), -1)[:-1]
    rows = np.flatnonzero(coded.codes[1] >= 0)
    codes = np.append(found.codes[place][rows], np.int32(-1))[row]
    return np.asarray(np.where(coded.codes[0] < 0, -1, codes), np.int32)


def _dangling(table: str, key: ForeignKey, schema: Schema, found: KeyCodes) -> list[str]:
    """A note about referred objects that the other table does not describe."""
    column = f"{table}.{', '.join(key.columns)}"
    if key.table not in schema.tables:
        return [f"{column} refers to {key.table!r}, which is no table: its objects have no description"]
    identifiers = found.codes.get((key.table, schema.tables[key.table].primary_key))
    codes = found.codes[table, key.columns]
    if identifiers is None or not schema.refers_to_identifier(key):
        return []
    described = np.zeros(len(found.objects[schema.object_type(key.table)]) + 1, bool)
    described[identifiers] = True
    described[-1] = True  # a missing cell refers to nothing
    n_rows = int((~described[codes]).sum())
    if not n_rows:
        return []
    n_objects = len(np.unique(codes[~described[codes]]))
    return [
        f"{column} refers in {counted(n_rows, 'row')} to {n_objects} {key.table} that are not in the table "
        f"{key.table!r}: they are objects without a description"
    ]
