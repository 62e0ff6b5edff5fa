"""What is known of the tables: identifiers, foreign keys, kinds of columns, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from omnirank.core.errors import DataError
from omnirank.core.suggestions import did_you_mean

# A table whose rows are objects although no column identifies them.
ROWS = ("*",)


@dataclass(frozen=True)
class ForeignKey:
    """Columns that hold identifiers of the rows of a table.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    table : str
        The table that they refer to, or a type of objects that no table describes.
    references : tuple of str
        The columns that they refer to; empty: the identifier of that table.
    inferred : bool
        Whether names and values suggest it, and nobody said so.
    """

    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...] = ()
    inferred: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class TableSchema:
    """What is known of one table.

    Parameters
    ----------
    name : str
        The table.
    columns : mapping of str to str or None
        Its columns that are used, with what their values are: "numeric", "nominal", "date", "nominal:<domain>", or None
        where they tell it themselves.
    primary_key : tuple of str
        The columns that identify a row; empty: none do; ("*",): every row is an object of its own.
    foreign_keys : tuple of ForeignKey
        References to other tables, or to the same one.
    inferred : bool
        Whether values and names suggest the identifier, and nobody said so.
    """

    name: str
    columns: Mapping[str, str | None]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    inferred: bool = field(default=False, compare=False)

    @property
    def key_columns(self) -> frozenset[str]:
        """Columns of foreign keys."""
        return frozenset(column for key in self.foreign_keys for column in key.columns)


@dataclass(frozen=True)
class Schema:
    """The tables of a data set and how they are linked.

    Parameters
    ----------
    tables : mapping of str to TableSchema
        What is known of each table.

    Examples
    --------
    >>> from omnirank.relational.schema import ForeignKey, Schema, TableSchema
    >>> movies = TableSchema("movies", {"id": None, "genre": "nominal"}, ("id",))
    >>> ratings = TableSchema("ratings", {"movie": None}, (), (ForeignKey(("movie",), "movies"),))
    >>> Schema({"movies": movies, "ratings": ratings}).object_type("movies")
    'movies'
    """

    tables: Mapping[str, TableSchema]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", MappingProxyType(dict(sorted(self.tables.items()))))

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema, (dict(self.tables),)  # a view of a mapping cannot be pickled

    def object_type(self, table: str) -> str:
        """Return the type of the objects that a table describes.

        It is the table's name, unless its identifier is a foreign key (a table of actors among the persons): then it is
        the type behind that key.
        """
        seen = {table}
        while table in self.tables:
            own = self.tables[table]
            parent = next((k for k in own.foreign_keys if own.primary_key and k.columns == own.primary_key), None)
            if parent is None or parent.table in seen or not self.refers_to_identifier(parent):
                return table
            table = parent.table
            seen.add(table)
        return table

    def refers_to_identifier(self, key: ForeignKey) -> bool:
        """Whether a foreign key holds identifiers of the other table, not values of another column."""
        if key.table not in self.tables or not key.references:
            return True
        return key.references == self.tables[key.table].primary_key

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as ``schema.json`` and ``schema.toml`` hold it.

        Examples
        --------
        >>> from omnirank.relational.schema import Schema, TableSchema
        >>> Schema({"movies": TableSchema("movies", {"id": None, "year": "numeric"}, ("id",))}).to_dict()
        {'tables': {'movies': {'primary_key': ['id'], 'foreign_keys': [], 'columns': {'year': 'numeric'}}}}
        """
        return {
            "tables": {
                name: {
                    "primary_key": list(table.primary_key),
                    "foreign_keys": [
                        {"columns": list(key.columns), "references": [key.table, *key.references]}
                        for key in table.foreign_keys
                    ],
                    "columns": {column: kind for column, kind in table.columns.items() if kind is not None},
                }
                for name, table in self.tables.items()
            }
        }


def column_of(given: Any, tables: Mapping[str, Iterable[str]], what: str) -> tuple[str, str]:
    """Return the table and the column that a name ``table.column`` or a pair of names means.

    Parameters
    ----------
    given : str or pair of str
        The name; of a name with several dots every division is tried.
    tables : mapping of str to iterable of str
        Names of the columns of each table.
    what : str
        What is looked for, for the message.

    Examples
    --------
    >>> from omnirank.relational.schema import column_of
    >>> column_of("a.b.c", {"a": ["c"], "a.b": ["c"]}, "target")
    ('a.b', 'c')
    """
    if isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(part, str) for part in given):
        table, column = given
        if table in tables and column in set(tables[table]):
            return table, column
        _refuse(f"{what}: ", table, column, tables)
    if not isinstance(given, str) or "." not in given:
        raise DataError(f"{what}: give 'table.column', or a pair (table, column), not {given!r}")
    places = [i for i, letter in enumerate(given) if letter == "."]
    pairs = [(given[:i], given[i + 1 :]) for i in places]
    found = [(table, column) for table, column in pairs if table in tables and column in set(tables[table])]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(f"{what}: {given!r} may mean {' or '.join(map(repr, found))}: give the pair")
    table, column = next(((t, c) for t, c in pairs if t in tables), pairs[0])
    return _refuse(f"{what}: ", table, column, tables)


def _refuse(before: str, table: str, column: str, tables: Mapping[str, Iterable[str]]) -> tuple[str, str]:
    if table not in tables:
        raise DataError(f"{before}there is no table {table!r}{did_you_mean(table, tables)}")
    raise DataError(f"{before}table {table!r} has no column {column!r}{did_you_mean(column, list(tables[table]))}")
