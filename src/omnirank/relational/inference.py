"""Keys that nobody declared: unique columns called like their table, and columns that refer to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, setting
from omnirank.core.text import counted
from omnirank.relational.cells import KeyCells, KeyReader
from omnirank.relational.schema import ROWS, Columns, Declared, DeclaredTable, ForeignKey, Schema, TableSchema

# A column called like a reference is one if at least this share of its values are identifiers of the table: of names
# that end in id, and of names that are those of the table.
_CONTAINED, _MOSTLY = 0.5, 0.9
_ENDING = re.compile(r"_?(id|key|uuid|nr|no|fk)$")
_BEGINNING = re.compile(r"^(id|fk)_")
# What notes say of a column that looks like a reference.
CALLED_LIKE_KEY = "is called like a key, but refers to no table"
_CALLED_KEY = re.compile(r"_(id|key|uuid|fk)$|^(id|fk)_")


def complete_schema(
    tables: Mapping[str, Columns], declared: Declared, target_table: str | None = None
) -> tuple[Schema, tuple[str, ...]]:
    """Return the schema: what is declared, and keys that names and values suggest; and notes about the latter.

    A column identifies the rows of its table if it is called ``id`` or like the table and an ending (``movie_id``,
    ``MovieID``, ``id_movie`` in ``movies``), all its cells are known and no two are equal. A column refers to another
    table if it is called like that table, or like its identifier unless that is plain ``id``, and its values occur
    there: nine in ten, or half of them where the name ends in ``id``. A table without identifier, of which two or more
    foreign keys together differ in all rows, is identified by them.

    Parameters
    ----------
    tables : mapping of str to mapping of str to narwhals series
        The columns of each table.
    declared : mapping of str to DeclaredTable
        What is said about them.
    target_table : str, optional
        A table that is there even without columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.relational.schema import columns_of, declare
    >>> from omnirank.relational.inference import complete_schema
    >>> tables = columns_of({"movies": pd.DataFrame({"id": [1, 2]}), "ratings": pd.DataFrame({"movie_id": [2, 2]})})
    >>> schema, notes = complete_schema(tables, declare(tables))
    >>> schema.tables["movies"].primary_key, schema.tables["ratings"].foreign_keys[0].table
    (('id',), 'movies')
    """
    guess = _Guess(tables, declared, target_table)
    primary = {name: guess.primary_key(name) for name in guess.used}
    foreign = {name: guess.foreign_keys(name, primary) for name in guess.used}
    found = {}
    for name, columns in guess.used.items():
        said = declared[name].primary_key
        key = primary[name]
        if said is None and not key:
            key = guess.key_of_references(name, foreign[name])
        kinds = {column: declared[name].kinds.get(column) for column in columns}
        found[name] = TableSchema(name, kinds, key, foreign[name], said is None and bool(key))
    schema = _in_one_form(Schema(found))
    _check_references(schema)
    return schema, (*guess.notes, *_inferred_notes(schema), *guess.unresolved(schema))


class _Guess:
    """Looks for keys in the columns that are not excluded; cells of a column are read once."""

    def __init__(self, tables: Mapping[str, Columns], declared: Declared, target_table: str | None) -> None:
        self.tables = tables
        self.declared = declared
        self.target_table = target_table
        self.used = {
            name: [column for column in columns if column not in declared[name].excluded]
            for name, columns in tables.items()
            if name == target_table or any(column not in declared[name].excluded for column in columns)
        }
        self.cells = KeyReader(tables).column
        self.notes: list[str] = []

    def primary_key(self, table: str) -> tuple[str, ...]:
        said = self.declared[table].primary_key
        if said is not None:
            return said
        references = {c for key in self.declared[table].foreign_keys for c in key.columns}
        ranked = sorted((_identifier_rank(column, table), column) for column in self.used[table])
        for rank, column in ranked:
            may_be_one = rank < _NO_IDENTIFIER and column not in references and _may_be_key(self.tables[table][column])
            if may_be_one and _rows_differ([self.cells(table, column)]):
                return (column,)
        return ()

    def foreign_keys(self, table: str, primary: Mapping[str, tuple[str, ...]]) -> tuple[ForeignKey, ...]:
        said: DeclaredTable = self.declared[table]
        found = self._first_of_each([key for key in said.foreign_keys if not set(key.columns) & said.excluded], table)
        taken = {column for key in found for column in key.columns} | said.no_foreign_keys
        if not said.complete:
            for column in self.used[table]:
                if column in taken or column in said.kinds or not _may_be_key(self.tables[table][column]):
                    continue
                other = self._referred_table(table, column, primary)
                if other is not None:
                    found.append(ForeignKey((column,), other, (), True))
        order = {column: i for i, column in enumerate(self.used[table])}
        return tuple(sorted(found, key=lambda key: order.get(key.columns[0], -1)))

    def _first_of_each(self, keys: list[ForeignKey], table: str) -> list[ForeignKey]:
        """The references without those of columns that refer to another table already."""
        found: dict[tuple[str, ...], ForeignKey] = {}
        for key in keys:
            first = found.setdefault(key.columns, key)
            if first is not key:
                self.notes.append(
                    f"{table}.{', '.join(key.columns)} refers to {first.table} and {key.table}: the reference to "
                    f"{key.table} is not used"
                )
        return list(found.values())

    def _referred_table(self, table: str, column: str, primary: Mapping[str, tuple[str, ...]]) -> str | None:
        candidates = []
        for other, key in primary.items():
            if len(key) != 1 or key == ROWS or (other == table and key == (column,)):
                continue
            rank = _reference_rank(column, other, key[0], own=other == table)
            if rank is not None:
                candidates.append((rank, other))
        own_key = primary[table] == (column,)
        for rank, other in sorted(candidates):
            share = self._contained(table, column, other, primary[other][0])
            # an identifier that merely counts, as that of another table does, refers to nothing
            least = 1.0 if own_key else _MOSTLY if rank > 1 else _CONTAINED
            if share >= least and not (own_key and _plain(column) == "id"):
                return other
        return None

    def _contained(self, table: str, column: str, other: str, key: str) -> float:
        cells, there = self.cells(table, column), self.cells(other, key)
        values = cells.known_values
        if not len(values):
            return 1.0 if _ENDING.search(_plain(column)) else 0.0
        known = there.known_values
        if values.dtype.kind != known.dtype.kind:  # numbers here and texts there
            values, known = (np.array(list(map(str, cells.tolist())), object) for cells in (values, known))
        return float(pd.Series(values).isin(known).mean() if values.dtype == object else np.isin(values, known).mean())

    def key_of_references(self, table: str, keys: tuple[ForeignKey, ...]) -> tuple[str, ...]:
        """Columns of two or more references that together differ in all rows; of more, the first that do."""
        columns = [key.columns[0] for key in keys if len(key.columns) == 1]
        for n in range(2, len(columns) + 1):
            if _rows_differ([self.cells(table, column) for column in columns[:n]]):
                return tuple(columns[:n])
        return ()

    def _no_identifier(self, table: TableSchema) -> str | None:
        """The column of the target table that is called like its identifier, but is none."""
        name = table.name
        if name != self.target_table or table.primary_key or self.declared[name].primary_key is not None:
            return None
        called = [c for c in table.columns if _identifier_rank(c, name) < _LIKE_TABLE and c not in table.key_columns]
        return called[0] if called and _may_be_key(self.tables[name][called[0]]) else None

    def _examples_note(self, table: str, column: str) -> str:
        why = "its values repeat" if self.cells(table, column).known is None else "it is not always known"
        return (
            f"column {table}.{column} is called like the identifier of the examples, but {why}: every row is an "
            f"example, the column a value; {setting('keys', {table: column})} makes it one if copies are equal"
        )

    def _almost(self, name: str, column: str, schema: Schema) -> tuple[str, str] | None:
        """Why a column refers not to the table that it is called like, and what helps; None: it is called like none."""
        for other, table in schema.tables.items():
            called = (c for c in table.columns if _identifier_rank(c, other) < _LIKE_TABLE)
            key = next(iter(table.primary_key or called), ROWS[0])
            if other == name or key == ROWS[0] or _reference_rank(column, other, key, own=False) is None:
                continue
            here, there = f"{name}.{column}", f"{other}.{key}"
            if table.primary_key == (key,):
                n = len(self.cells(name, column).known_values)
                n_there = round(n * self._contained(name, column, other, key))
                advice = f"{setting('keys', {here: other})} links them" if n_there else "write the values alike"
                return f" ({n_there} of {n} values of {here} are in {there})", advice
            cells = pd.Series(self.cells(other, key).known_values)
            n = cells[cells.duplicated()].nunique()
            why = f"holds {counted(n, 'value')} more than once" if n else "is not always known"
            linked = setting("keys", {there: column, here: column})
            return f" ({there} {why}, so it is no key)", f"mend that, or {linked} links rows of the same value"
        return None

    def unresolved(self, schema: Schema) -> list[str]:
        """Notes about columns that are called like references, but are none."""
        notes = []
        for name, table in schema.tables.items():
            no_identifier = self._no_identifier(table)
            if no_identifier is not None:
                notes.append(self._examples_note(name, no_identifier))
            if self.declared[name].complete:
                continue
            for column in table.columns:
                is_key = column in table.key_columns or column in table.primary_key or column == no_identifier
                if is_key or column in self.declared[name].no_foreign_keys or column in self.declared[name].kinds:
                    continue
                called = next((other for other in schema.tables if other != name and _same_thing(column, other)), None)
                if (called or _CALLED_KEY.search(_plain(column))) and _may_be_key(self.tables[name][column]):
                    kind = _stem(column) or _plain(column)  # a table that is called so has no identifier
                    said = setting("keys", {f"{name}.{column}": "object" if kind in schema.tables else kind})
                    why, advice = self._almost(name, column, schema) or ("", f"{said} takes its values as objects")
                    notes.append(f"column {name}.{column} {CALLED_LIKE_KEY}{why}, and is taken as a value: {advice}")
        return notes


# -- names --------------------------------------------------------------------------------------------

_LIKE_TABLE = 2
_NO_IDENTIFIER = 9
_BARE = ("id", "uuid", "key")
# Rows of the same table, as a column calls them.
_KIN = ("parent", "previous", "next", "manager", "boss", "reply_to", "original")


def _plain(name: str) -> str:
    """A name in lower case, words divided by underscores."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\s\-.]+", "_", name).lower()


def _singulars(name: str) -> set[str]:
    """What a name may be the plural of, itself included; words are not divided."""
    name = _plain(name).replace("_", "")
    found = {name}
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y")):
        if name.endswith(ending) and len(name) > len(ending) + 1:
            found.add(name.removesuffix(ending) + instead)
    return found


def _same_thing(name: str, table: str) -> bool:
    return bool(_singulars(name) & _singulars(table))


def _stem(column: str) -> str | None:
    """What a column called like a key refers to: ``movie`` of ``movie_id``; None where it is not called so."""
    plain = _plain(column)
    for pattern in (_ENDING, _BEGINNING):
        stem = pattern.sub("", plain)
        if stem != plain and stem and (pattern is _BEGINNING or "_" in plain or plain.endswith("id")):
            return stem
    return None


def _identifier_rank(column: str, table: str) -> int:
    plain, stem = _plain(column), _stem(column)
    if plain in _BARE:
        return 0
    if stem is not None and _same_thing(stem, table):
        return 1
    return _LIKE_TABLE if _same_thing(plain, table) else _NO_IDENTIFIER


def _reference_rank(column: str, other: str, key: str, own: bool) -> int | None:
    """How well a column's name refers to a table: 0 best, above 1 only if all its values do; None: not at all."""
    stem, plain = _stem(column), _plain(column)
    if stem is not None:
        bare = re.sub(r"_?\d+$", "", stem)
        if _same_thing(bare, other):
            return 0
        words = bare.split("_")
        if any(_same_thing("_".join(words[i:]), other) for i in range(1, len(words))):
            return 1
        if own and bare in _KIN:
            return 1
    if plain == _plain(key) and plain not in (*_BARE, "name", "nr", "no", "code"):
        return 1
    return 2 if _same_thing(re.sub(r"_?\d+$", "", plain), other) and not own else None


# -- cells --------------------------------------------------------------------------------------------


def _may_be_key(series: Any) -> bool:
    dtype = series.dtype
    values = np.asarray(series.drop_nulls().to_numpy(), np.float64) if dtype.is_float() else np.zeros(0)
    is_whole = bool(((values == np.round(values)) | np.isnan(values)).all())
    return is_whole and not dtype.is_temporal() and str(dtype) != "Boolean"


def _rows_differ(columns: list[KeyCells]) -> bool:
    """Whether all cells are known, and no two rows are equal."""
    frame = pd.DataFrame({str(i): cells.values for i, cells in enumerate(columns)})
    return all(cells.known is None for cells in columns) and not frame.duplicated().any()


# -- what was found -----------------------------------------------------------------------------------


def _in_one_form(schema: Schema) -> Schema:
    """References to identifiers without the columns, which the other table has."""
    tables = {}
    for name, table in schema.tables.items():
        keys = (replace(k, references=()) if schema.refers_to_identifier(k) else k for k in table.foreign_keys)
        tables[name] = replace(table, foreign_keys=tuple(keys))
    return Schema(tables)


def _check_references(schema: Schema) -> None:
    for table in schema.tables.values():
        for column in table.primary_key:
            if column not in table.columns and table.primary_key != ROWS:
                raise DataError(f"the key of table {table.name!r} has the column {column!r}, which is left out")
        for key in table.foreign_keys:
            other = schema.tables.get(key.table)
            if other is None:
                continue
            identifier = key.references or other.primary_key
            if not identifier or identifier == ROWS or len(identifier) != len(key.columns):
                known, names = ", ".join(identifier) or "not known", list(key.columns)
                given = (names if len(names) > 1 else names[0]) if {*names} <= {*other.columns} else "column"
                raise DataError(
                    f"{table.name}.{key.columns[0]} refers to table {key.table!r}, whose identifier is {known}: "
                    f"give {setting('keys', {key.table: given})}"
                )


def _inferred_notes(schema: Schema) -> list[str]:
    primary = [f"{t.name} ({', '.join(t.primary_key)})" for t in schema.tables.values() if t.inferred]
    keys = [(t.name, key) for t in schema.tables.values() for key in t.foreign_keys if key.inferred]
    foreign = [f"{name}.{key.columns[0]} -> {key.table}" for name, key in keys]
    return [
        f"{what} inferred from names and values: {', '.join(names)}; {setting('keys')} corrects them"
        for what, names in (("identifiers", primary), ("foreign keys", foreign))
        if names
    ]
