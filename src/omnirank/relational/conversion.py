"""Tables become relations: one for each column, over what identifies the rows (see the room's `Database`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, setting
from omnirank.core.plurals import counted
from omnirank.relational.cells import ValueCells, value_cells
from omnirank.relational.database import Component, Database, Relation
from omnirank.relational.declared import Columns
from omnirank.relational.facts import Facts, sorted_facts, unique_order
from omnirank.relational.keys import KeyCodes, Place, RowKey, code_keys, row_key
from omnirank.relational.levels import share_levels
from omnirank.relational.schema import ForeignKey, Schema, TableSchema


@dataclass
class Conversion:
    """What comes out of the tables.

    Parameters
    ----------
    database : Database
        The descriptive relations.
    example_types, example_codes
        The examples: types and codes of the objects that identify a row of the target table.
    example_rows : ndarray
        Row of the target table of each example.
    columns : dict of str to ValueCells
        Cells of the target table by the name of their relation, in the order of its rows.
    times : ndarray or None
        Cut-off time of each example.
    notes : list of str
        What to know.
    """

    database: Database
    example_types: tuple[str, ...]
    example_codes: tuple[np.ndarray, ...]
    example_rows: np.ndarray
    columns: dict[str, ValueCells]
    times: np.ndarray | None
    notes: list[str]


def convert(
    tables: Mapping[str, Columns],
    schema: Schema,
    target_table: str,
    times: Mapping[str, str],
    target_columns: Sequence[str] = (),
) -> Conversion:
    """Return the relations of some tables and the examples in one of them.

    Parameters
    ----------
    tables : mapping of str to mapping of str to narwhals series
        The columns of each table.
    schema : Schema
        Keys and kinds of the columns to be used, without the target.
    target_table : str
        The table of which rows are examples.
    times : mapping of str to str
        For some tables, the column that says when a row was known.
    target_columns : sequence of str
        Columns of the target; rows that differ in them are not the same.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.relational.conversion import convert
    >>> from omnirank.relational.declared import columns_of, declare
    >>> from omnirank.relational.inference import complete_schema
    >>> tables = columns_of({"movies": pd.DataFrame({"id": [3, 1], "year": [1999, 2001]})})
    >>> found = convert(tables, complete_schema(tables, declare(tables))[0], "movies", {})
    >>> [array.tolist() for array in found.database.relations["movies_year"].facts]
    [[0, 1], [2001.0, 1999.0]]
    """
    keys = code_keys(tables, schema)
    notes = list(keys.notes)
    names = _relation_names(schema)
    relations: list[Relation] = []
    examples: _Rows | None = None
    columns: dict[str, ValueCells] = {}
    for name, table in schema.tables.items():
        is_target = name == target_table
        rows = _Rows(tables[name], table, schema, keys, times.get(name), is_target, tuple(target_columns))
        relations += rows.relations(names)
        notes += [*rows.notes, *rows.fact_notes]
        if is_target:
            examples = rows
            columns = {names[name, (column,)]: cells for column, cells in rows.values.items()}
    assert examples is not None
    kinds = [kind for table in schema.tables.values() for kind in table.columns.values() if kind is not None]
    relations = share_levels(relations, {kind.partition(":")[2] for kind in kinds if ":" in kind})
    database = Database(keys.objects, {relation.name: relation for relation in relations})
    return Conversion(database, *examples.examples(), columns, examples.example_times(), notes)


def _relation_names(schema: Schema) -> dict[Place, str]:
    """Names of the relations: table_column, with a dot where two would be called the same."""
    places: list[Place] = [(t.name, (column,)) for t in schema.tables.values() for column in t.columns]
    places += [(t.name, k.columns) for t in schema.tables.values() for k in t.foreign_keys if len(k.columns) > 1]
    places += [(t.name, ()) for t in schema.tables.values()]
    plain = {place: "_".join((place[0], *place[1])) for place in places}
    uses = Counter(plain.values())
    return {place: name if uses[name] == 1 else ".".join((place[0], *place[1])) for place, name in plain.items()}


@dataclass
class _Rows:
    """The rows of one table: what identifies them, in which order their facts come, what they hold."""

    columns: Columns
    table: TableSchema
    schema: Schema
    keys: KeyCodes
    time_column: str | None
    is_target: bool
    target_columns: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    fact_notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        first = next(iter(self.columns.values()), None)
        self.n_rows = 0 if first is None else len(first)
        self.values: dict[str, ValueCells] = {}
        self.key = row_key(self.schema, self.table.name, self.is_target)
        if self.is_target and not self.table.primary_key and self.key.foreign_keys and not self._references_differ():
            self.key = RowKey(self.table.name, by_rows=True)
        self._read_values()
        self.codes = self._key_codes()
        self._order_rows()

    # -- cells --------------------------------------------------------------------------------------

    def _read_values(self) -> None:
        """Cells of the columns that are no keys, and of an identifier's columns where it has several."""
        table = self.table
        keys = table.key_columns | (set(table.primary_key) if len(table.primary_key) == 1 else set())
        told = []
        for column, kind in table.columns.items():
            if column in keys:
                continue
            where = f"column {column!r} of table {table.name!r}"
            plain = None if kind is None else kind.partition(":")[0]
            cells = value_cells(self.columns[column], where, plain)
            if cells.from_text:
                told.append(f"{column} ({'dates' if cells.is_date else 'numbers'})")
            self.values[column] = cells
        if told:
            nominal = setting("types", {f"{table.name}.{told[0].split(' (')[0]}": "nominal"})
            self.notes.append(
                f"table {table.name!r} holds numbers or dates as text, taken as such: {', '.join(told)}; {nominal} "
                "takes them as categories"
            )

    def _times(self) -> np.ndarray | None:
        """When each row was known; a row without a time counts as later than all."""
        if self.time_column is None:
            return None
        cells = self.values.get(self.time_column)
        if cells is None or cells.levels is not None:
            raise DataError(f"time: {self.table.name}.{self.time_column} holds neither dates nor numbers")
        unknown = np.isnan(cells.cells)
        if unknown.any():
            what = "examples without a time see all facts" if self.is_target else "they count as later than any example"
            self.notes.append(
                f"{self.table.name}.{self.time_column} is missing in {counted(int(unknown.sum()), 'row')}: {what}"
            )
        return np.where(unknown, np.inf, cells.cells)

    # -- what identifies a row ----------------------------------------------------------------------

    def _references_differ(self) -> bool:
        codes = [self.keys.codes[self.table.name, key.columns] for key in self.key.foreign_keys]
        return all((c >= 0).all() for c in codes) and unique_order(codes) is not None

    def _key_codes(self) -> tuple[np.ndarray, ...]:
        name = self.table.name
        if self.key.by_rows:
            self.keys.objects[name] = np.arange(self.n_rows)
            return (self._row_numbers(),)
        if self.key.type is not None:
            return (self.keys.codes[name, self.table.primary_key],)
        return tuple(self.keys.codes[name, key.columns] for key in self.key.foreign_keys)

    def _row_numbers(self) -> np.ndarray:
        """Numbers of rows that are objects: as given in the target table, else in the order of their cells."""
        if self.is_target or not self.n_rows:
            return np.arange(self.n_rows, dtype=np.int32)
        cells = [self.keys.codes[self.table.name, key.columns] for key in self.table.foreign_keys]
        cells += [values.cells for values in self.values.values()]
        numbers = np.empty(self.n_rows, np.int32)
        numbers[np.lexsort(cells[::-1])] = np.arange(self.n_rows)
        return numbers

    def _order_rows(self) -> None:
        """Rows in the order of their keys, without those of which the key is not known or that come twice."""
        known = np.ones(self.n_rows, bool)
        for codes in self.codes:
            known &= codes >= 0
        self.rows: np.ndarray | None = None if known.all() else np.flatnonzero(known)
        self.is_unique = False
        if not self.codes:
            return
        if self.rows is not None:
            without = counted(self.n_rows - len(self.rows), "row")
            self.notes.append(f"table {self.table.name!r}: {without} without a known key left out")
        order = unique_order([self._taken(codes) for codes in self.codes])
        if order is None and self.table.primary_key:
            order = self._without_repeated_rows()
        if order is not None:
            self.is_unique = True
            self.rows = order if self.rows is None else self.rows[order]
            if len(self.rows) == self.n_rows and (self.rows[1:] > self.rows[:-1]).all():
                self.rows = None

    def _taken(self, cells: np.ndarray) -> np.ndarray:
        return cells if self.rows is None else cells[self.rows]

    def _without_repeated_rows(self) -> np.ndarray:
        """Order of the rows without copies of others; an error where rows of the same identifier differ."""
        codes = [self._taken(c) for c in self.codes]
        order = np.lexsort(codes[::-1])
        same = np.ones(max(0, len(order) - 1), bool)
        for c in codes:
            same &= c[order][1:] == c[order][:-1]
        others = [self.keys.codes[self.table.name, key.columns] for key in self.table.foreign_keys]
        others += [values.cells for values in self.values.values()]
        if self.is_target:  # a target may hold anything, sets of labels too
            written = [[repr(cell) for cell in self.columns[name].to_list()] for name in self.target_columns]
            others += [pd.factorize(np.array(texts, object))[0] for texts in written]
        for cells in others:
            taken = self._taken(cells)[order]
            differ = same & (taken[1:] != taken[:-1]) & ~((taken[1:] != taken[1:]) & (taken[:-1] != taken[:-1]))
            if differ.any():
                row = order[int(np.flatnonzero(differ)[0])]
                row = int(row if self.rows is None else self.rows[row])
                names = self.table.primary_key
                cell = ", ".join(f"{name}={self.columns[name].to_list()[row]!r}" for name in names)
                raise DataError(
                    f"the key of table {self.table.name!r} is not unique: rows with {cell} differ; "
                    f"{setting('keys', {self.table.name: '*'})} takes every row as an object of its own"
                )
        copies = counted(int(same.sum()), "row")
        self.notes.append(f"table {self.table.name!r} holds {copies} that repeat others: they are left out")
        return order[np.concatenate([[True], ~same])] if len(order) else order

    # -- relations ----------------------------------------------------------------------------------

    def relations(self, names: Mapping[Place, str]) -> list[Relation]:
        """The relations of the table."""
        name = self.table.name
        if not self.key.is_known:
            if self.table.columns and self.n_rows:
                self.fact_notes.append(f"table {name!r} has no keys: nothing leads to its rows, it is not used")
            return []
        self.times = self._times()
        self._ordered = tuple(self._taken(codes) for codes in self.codes)
        self._ordered_times = None if self.times is None else self._taken(self.times)
        self._collapsed = 0
        found = []
        references = [key for key in self.table.foreign_keys if key not in self.key.foreign_keys]
        for column in self.table.columns:
            for key in references:
                if key.columns[0] == column:
                    codes = self.keys.codes[name, key.columns]
                    component = _of(key, self.schema)
                    found.append(self._relation(names[name, key.columns], column, component, codes, codes >= 0))
            if column in self.values:
                cells = self.values[column]
                component = self._value(column, cells)
                found.append(self._relation(names[name, (column,)], column, component, cells.cells, cells.known))
        if not found and not self.is_target:
            found.append(self._link(names[name, ()]))
        if self._collapsed:
            self.fact_notes.append(
                f"table {name!r} has no identifier, and {counted(self._collapsed, 'fact')} of its rows repeat others: "
                f"they count once; {setting('keys', {name: '*'})} takes every row as an object of its own"
            )
        return found

    def _components(self) -> tuple[Component, ...]:
        name = self.table.name
        if self.key.type is not None:
            column = "row" if self.key.by_rows else "_".join(self.table.primary_key)
            return (Component(column, "object", name if self.key.by_rows else self.schema.object_type(name)),)
        return tuple(_of(key, self.schema) for key in self.key.foreign_keys)

    def _value(self, column: str, cells: ValueCells) -> Component:
        kind = self.table.columns[column] or ""
        domain = kind.partition(":")[2] or f"{self.table.name}.{column}"
        if cells.levels is None:
            return Component(column, "numeric", "date" if cells.is_date else "numeric", None, cells.is_date)
        return Component(column, "nominal", domain, cells.levels)

    def _relation(
        self, name: str, column: str, component: Component, cells: np.ndarray, known: np.ndarray | None
    ) -> Relation:
        chosen = None if known is None else self._taken(known)
        if chosen is not None and chosen.all():
            chosen = None
        arrays: Facts = (*self._ordered, self._taken(cells))
        if chosen is not None:
            arrays = tuple(array[chosen] for array in arrays)
        times = self._ordered_times
        if chosen is not None and times is not None:
            times = times[chosen]
        return self._made(name, column, (*self._components(), component), arrays, times)

    def _link(self, name: str) -> Relation:
        """The relation of a table that holds keys only."""
        return self._made(name, None, self._components(), self._ordered, self._ordered_times)

    def _made(
        self, name: str, column: str | None, components: tuple[Component, ...], arrays: Facts, times: np.ndarray | None
    ) -> Relation:
        if not self.is_unique:
            n_facts = len(arrays[0])
            arrays, times = sorted_facts(arrays, times)
            self._collapsed += n_facts - len(arrays[0])
        return Relation(name, self.table.name, column, components, arrays, times)

    # -- examples -----------------------------------------------------------------------------------

    def examples(self) -> tuple[tuple[str, ...], tuple[np.ndarray, ...], np.ndarray]:
        """Types, codes and rows of the examples, in the order of their codes."""
        rows = np.arange(self.n_rows) if self.rows is None else self.rows
        return tuple(c.type for c in self._components()), self._ordered, rows

    def example_times(self) -> np.ndarray | None:
        """Cut-off time of each example."""
        return self._ordered_times


def _of(key: ForeignKey, schema: Schema) -> Component:
    return Component("_".join(key.columns), "object", schema.object_type(key.table))
