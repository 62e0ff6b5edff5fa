"""What is known of the tables: identifiers, foreign keys, kinds of columns, and what is left out.

Users, schema files and databases declare it; `omnirank.relational.inference` completes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import narwhals.stable.v1 as nw
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.immutable import first_repeated
from omnirank.core.text import did_you_mean
from omnirank.data.columns import is_frame


def mapping_given(name: str, given: Any, example: str) -> Mapping[Any, Any]:
    """Return a mapping that may be None; an error that shows an example for anything else.

    Examples
    --------
    >>> from omnirank.relational.schema import mapping_given
    >>> mapping_given("keys", None, "{'movies': 'id'}"), mapping_given("keys", {"movies": "id"}, "{'movies': 'id'}")
    ({}, {'movies': 'id'})
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(name, given, f"give a mapping, such as {example}")
    return given


def names_given(name: str, given: Any, example: str) -> list[Any]:
    """Return one or several names, or None, as a list; an error that shows an example for what is none of these.

    Examples
    --------
    >>> from omnirank.relational.schema import names_given
    >>> names_given("exclude", "movies", "['movies']"), names_given("exclude", None, "['movies']")
    (['movies'], [])
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise ParameterError(name, given, f"give a list of names, such as {example}")
    return list(given)


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
        return key.table not in self.tables or key.references in ((), self.tables[key.table].primary_key)

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


_KINDS = ("numeric", "nominal", "date")


@dataclass
class DeclaredTable:
    """What is said about one table.

    Parameters
    ----------
    primary_key : tuple of str or None
        None: nothing is said.
    foreign_keys : list of ForeignKey
        The references that are said to exist.
    no_foreign_keys : set of str
        Columns that are said to be no references.
    complete : bool
        Whether the foreign keys are all there are: then none is inferred.
    kinds : dict of str to str
        Kinds of columns.
    excluded : set of str
        Columns to leave out.
    """

    primary_key: tuple[str, ...] | None = None
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    no_foreign_keys: set[str] = field(default_factory=set)
    complete: bool = False
    kinds: dict[str, str] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)


Declared = dict[str, DeclaredTable]
Columns = dict[str, Any]


def columns_of(frames: Mapping[str, Any]) -> dict[str, Columns]:
    """Return the columns (narwhals series by name) of each data frame, in the order of the tables' names.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.relational.schema import columns_of
    >>> list(columns_of({"movies": pd.DataFrame({"id": [1]})})["movies"])
    ['id']
    """
    if not isinstance(frames, Mapping) or not frames:
        raise DataTypeError("give the tables as a mapping of names to data frames, such as {'movies': movies}")
    tables: dict[str, Columns] = {}
    for name in sorted(frames, key=str):
        frame = _with_index(name, frames[name])
        given = frame.columns if isinstance(frame, pd.DataFrame) else getattr(frame, "column_names", ())
        names = [str(column) for column in given]
        again = first_repeated(names)
        if again is not None:  # narwhals would say so without the table
            raise DataError(f"table {name!r} has two columns called {names[again]!r}")
        if not is_frame(frame):
            raise DataTypeError(f"table {name!r} is a {type(frame).__name__}, not a data frame")
        table = nw.from_native(frame, eager_only=True)
        tables[str(name)] = {str(column): table[:, i] for i, column in enumerate(table.columns)}
    return tables


def _with_index(name: Any, frame: Any) -> Any:
    """A pandas frame with the named levels of its index as columns."""
    levels = [level for level in frame.index.names if level is not None] if isinstance(frame, pd.DataFrame) else []
    twice = next((level for level in levels if level in frame.columns), None)
    if twice is not None:
        raise DataError(f"table {name!r} has an index and a column called {twice!r}: rename one of them")
    return frame.reset_index(levels) if levels else frame


def declare(
    tables: Mapping[str, Iterable[str]],
    keys: Mapping[Any, Any] | None = None,
    types: Mapping[Any, str] | None = None,
    exclude: Sequence[Any] | str | None = None,
    base: Declared | None = None,
) -> Declared:
    """Return what is said about the tables by ``keys``, ``types`` and ``exclude``, over what was said before.

    Parameters
    ----------
    tables : mapping of str to iterable of str
        Names of the columns of each table.
    keys : mapping, optional
        A table's name to the column (or list of columns) that identifies its rows, None for none, "*" for rows that are
        objects of their own; "table.column" (or a pair; several columns as a tuple) to the table or "table.column" that
        it refers to, None for a column that is no reference.
    types : mapping, optional
        "table.column" to "numeric", "nominal", "nominal:<domain>" or "date".
    exclude : sequence or str, optional
        Tables and "table.column" to leave out.
    base : dict of DeclaredTable, optional
        What a schema file or a database says.

    Examples
    --------
    >>> from omnirank.relational.schema import declare
    >>> said = declare({"a": ["id"], "b": ["a"]}, {"a": "id", "b.a": "a"})
    >>> said["a"].primary_key, said["b"].foreign_keys[0].table
    (('id',), 'a')
    """
    declared = {name: DeclaredTable() for name in tables} | (base or {})
    for given, value in mapping_given("keys", keys, "{'movies': 'id', 'ratings.movie': 'movies'}").items():
        if isinstance(given, str) and given in tables:
            declared[given].primary_key = _primary_key(given, value, tables)
        else:
            _declare_reference(given, value, tables, declared)
    for given, kind in mapping_given("types", types, "{'atoms.type': 'nominal'}").items():
        table, column = column_of(given, tables, "types")
        if kind not in _KINDS and not (isinstance(kind, str) and kind.startswith("nominal:")):
            raise ParameterError("types", {given: kind}, f"a kind is one of {', '.join(_KINDS)} and nominal:<domain>")
        declared[table].kinds[column] = kind
    for given in names_given("exclude", exclude, "['movies', 'ratings.id']"):
        if isinstance(given, str) and given in tables:
            declared[given].excluded |= set(tables[given])
        else:
            table, column = column_of(given, tables, "exclude")
            declared[table].excluded.add(column)
    return declared


def declared_by(schema: Schema, tables: Mapping[str, Iterable[str]]) -> Declared:
    """Return a schema that was found for one data set as what is said about the tables of another one.

    Examples
    --------
    >>> from omnirank.relational.schema import declared_by
    >>> from omnirank.relational.schema import Schema, TableSchema
    >>> declared_by(Schema({"a": TableSchema("a", {"id": None}, ("id",))}), {"a": ["id", "new"]})["a"].excluded
    {'new'}
    """
    declared: Declared = {}
    for name, table in schema.tables.items():
        if name not in tables:
            raise DataError(f"there is no table {name!r}{did_you_mean(name, tables)}, which the schema has")
        there = set(tables[name])
        kinds = {column: kind for column, kind in table.columns.items() if kind is not None}
        declared[name] = DeclaredTable(
            table.primary_key, list(table.foreign_keys), set(), True, kinds, there - set(table.columns)
        )
        missing = [column for column in table.columns if column not in there]
        if missing:
            raise DataError(f"table {name!r} has no column {missing[0]!r}, which the schema has")
    for name in tables:
        declared.setdefault(name, DeclaredTable((), [], set(), True, {}, set(tables[name])))
    return declared


def _primary_key(table: str, given: Any, tables: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    if not (given is None or isinstance(given, str | tuple | list)):
        raise ParameterError(
            "keys", {table: given}, "give a column, a list of columns, '*' for every row, or None for none"
        )
    columns = () if given is None or given == "" else (given,) if isinstance(given, str) else tuple(given)
    if columns == ROWS:
        return ROWS
    for column in columns:
        if column not in set(tables[table]):
            column_of((table, column), tables, "keys")
    if first_repeated(columns) is not None:
        raise ParameterError("keys", {table: given}, "name each column once")
    return columns


def _declare_reference(given: Any, value: Any, tables: Mapping[str, Iterable[str]], declared: Declared) -> None:
    if isinstance(given, str) and "." not in given:
        raise DataError(f"keys: there is no table {given!r}{did_you_mean(given, tables)}")
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], tuple | list):
        table, columns = given[0], tuple(given[1])
        for column in columns:
            column_of((table, column), tables, "keys")
    else:
        table, column = column_of(given, tables, "keys")
        columns = (column,)
    new = None if value is None else foreign_key(columns, value, tables)
    own = declared[table]
    own.foreign_keys = [key for key in own.foreign_keys if key.columns != columns] + ([] if new is None else [new])
    if new is None:
        own.no_foreign_keys |= set(columns)


def foreign_key(columns: tuple[str, ...], refers_to: Any, tables: Mapping[str, Iterable[str]]) -> ForeignKey:
    """Return the reference of some columns to a table, a type of objects without one, or to columns of a table.

    Examples
    --------
    >>> from omnirank.relational.schema import foreign_key
    >>> foreign_key(("by",), "users.id", {"users": ["id"]})
    ForeignKey(columns=('by',), table='users', references=('id',), inferred=False)
    """
    if isinstance(refers_to, str) and (refers_to in tables or "." not in refers_to):
        return ForeignKey(columns, refers_to)
    if isinstance(refers_to, tuple | list) and refers_to:
        table, nested = str(refers_to[0]), len(refers_to) == 2 and isinstance(refers_to[1], tuple | list)
        others = tuple(refers_to[1] if nested else refers_to[1:])
    else:
        table, other = column_of(refers_to, tables, "keys")
        others = (other,)
    for other in others:
        column_of((table, other), tables, "keys")
    if others and len(others) != len(columns):
        raise DataError(f"keys: ({', '.join(columns)}) refers to {len(others)} columns of {table!r}")
    return ForeignKey(columns, table, others)
