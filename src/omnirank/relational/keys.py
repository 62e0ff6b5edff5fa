"""Objects of a database: which rows are objects, and the codes of identifiers and foreign keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError
from omnirank.core.plurals import counted
from omnirank.relational.cells import key_cells
from omnirank.relational.declared import Columns
from omnirank.relational.identifiers import Coded, KeyCells, code_composite, code_identifiers
from omnirank.relational.schema import ROWS, ForeignKey, Schema

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
    >>> from omnirank.relational.keys import row_key
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
    >>> from omnirank.relational.declared import columns_of, declare
    >>> from omnirank.relational.inference import complete_schema
    >>> from omnirank.relational.keys import code_keys
    >>> tables = columns_of({"a": pd.DataFrame({"id": [7, 5]}), "b": pd.DataFrame({"a_id": [5, 6, 7]})})
    >>> keys = code_keys(tables, complete_schema(tables, declare(tables))[0])
    >>> keys.objects["a"].tolist(), keys.codes["b", ("a_id",)].tolist()
    ([5, 6, 7], [0, 1, 2])
    """
    found = KeyCodes()
    reader = _Reader(tables)
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


class _Reader:
    """Key cells of the columns, each read once."""

    def __init__(self, tables: Mapping[str, Columns]) -> None:
        self.tables = tables
        self._read: dict[tuple[str, str], KeyCells] = {}

    def cells(self, table: str, columns: tuple[str, ...]) -> tuple[KeyCells, ...]:
        for column in columns:
            if (table, column) not in self._read:
                where = f"column {column!r} of table {table!r}"
                self._read[table, column] = key_cells(self.tables[table][column], where)
        return tuple(self._read[table, column] for column in columns)


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


def _code(kind: str, places: list[Place], reader: _Reader) -> Coded:
    cells = [reader.cells(table, columns) for table, columns in places]
    widths = {len(columns) for _, columns in places}
    if len(widths) > 1:
        raise DataError(f"objects {kind!r} have identifiers of {' and '.join(map(str, sorted(widths)))} columns")
    if widths == {1}:
        return code_identifiers([cell for (cell,) in cells])
    return code_composite(cells, places[0][1])


def _through(table: str, key: ForeignKey, schema: Schema, reader: _Reader, found: KeyCodes) -> np.ndarray:
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
    identifiers = _identifier_codes(key.table, schema, found)
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


def _identifier_codes(table: str, schema: Schema, found: KeyCodes) -> np.ndarray | None:
    own = schema.tables[table]
    return found.codes.get((table, own.primary_key))
