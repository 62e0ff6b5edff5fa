"""Data frames become a relational data set: keys are found, tables converted, the target read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.text import counted
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import read_target
from omnirank.data.table import Table
from omnirank.relational.cells import KeyCodes, Place, RowKey, ValueCells, are_texts, code_keys, row_key, value_cells
from omnirank.relational.database import Component, Database, Facts, Relation, sorted_facts, unique_order
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.inference import complete_schema
from omnirank.relational.schema import (
    Columns,
    Declared,
    ForeignKey,
    Schema,
    TableSchema,
    column_of,
    columns_of,
    declare,
    declared_by,
    names_given,
)
from omnirank.relational.summary import RelationalRemarks


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
    >>> from omnirank.relational.tables import convert
    >>> from omnirank.relational.schema import columns_of, declare
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
    database = Database(keys.objects, {relation.name: relation for relation in relations})
    return Conversion(database, *examples.examples(), columns, examples.ordered_times, notes)


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
        cells = [*self._foreign_codes(), *(values.cells for values in self.values.values())]
        numbers = np.empty(self.n_rows, np.int32)
        numbers[np.lexsort(cells[::-1])] = np.arange(self.n_rows)
        return numbers

    def _order_rows(self) -> None:
        """Rows in the order of their keys, without those of which the key is not known or that come twice."""
        known = np.all([np.ones(self.n_rows, bool), *(codes >= 0 for codes in self.codes)], axis=0)
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
        cells = [*self.codes, *self._foreign_codes(), *(values.cells for values in self.values.values())]
        if self.is_target:  # a target may hold anything, sets of labels too
            cells += [np.array(list(map(repr, self.columns[name].to_list())), object) for name in self.target_columns]
        frame = pd.DataFrame({i: self._taken(column) for i, column in enumerate(cells)})
        same = frame.duplicated(range(len(self.codes))).to_numpy()
        differ = same & ~frame.duplicated().to_numpy()
        name = self.table.name
        if differ.any():
            row = self._taken(np.arange(self.n_rows))[differ][0]
            cell = ", ".join(f"{key}={self.columns[key].to_list()[row]!r}" for key in self.table.primary_key)
            raise DataError(
                f"the key of table {name!r} is not unique: rows with {cell} differ; "
                f"{setting('keys', {name: '*'})} takes every row as an object of its own"
            )
        self.notes.append(
            f"table {name!r} holds {counted(int(same.sum()), 'row')} that repeat others: they are left out"
        )
        order = np.lexsort([self._taken(codes) for codes in self.codes[::-1]])
        return order[~same[order]]

    def _foreign_codes(self) -> list[np.ndarray]:
        return [self.keys.codes[self.table.name, key.columns] for key in self.table.foreign_keys]

    # -- relations ----------------------------------------------------------------------------------

    def relations(self, names: Mapping[Place, str]) -> list[Relation]:
        """The relations of the table."""
        name = self.table.name
        if not self.key.is_known:
            if self.table.columns and self.n_rows:
                held = {column: set(self.columns[column].drop_nulls().to_list()) for column in self.table.columns}
                like = [(c, k) for c in held for k, own in self.keys.objects.items() if set() < held[c] <= set(own)]
                links = [f"; {setting('keys', {f'{name}.{c}': k})} links it if {c} holds {k}" for c, k in like]
                unused = f"table {name!r} has no keys: nothing leads to its rows, it is not used"
                self.fact_notes.append("".join([unused, *links[:1]]))
            return []
        self.times = self._times()
        self._ordered = tuple(self._taken(codes) for codes in self.codes)
        self.ordered_times = None if self.times is None else self._taken(self.times)
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
            found.append(self._made(names[name, ()], None, self._components(), self._ordered, self.ordered_times))
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
        arrays: Facts = (*self._ordered, self._taken(cells))
        times = self.ordered_times
        chosen = None if known is None else self._taken(known)
        if chosen is not None and not chosen.all():
            arrays = tuple(array[chosen] for array in arrays)
            times = None if times is None else times[chosen]
        return self._made(name, column, (*self._components(), component), arrays, times)

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


def _of(key: ForeignKey, schema: Schema) -> Component:
    return Component("_".join(key.columns), "object", schema.object_type(key.table))


def of_the_kinds_of(
    like: RelationalDataset, tables: Mapping[str, Columns], schema: Schema
) -> tuple[dict[str, Columns], Schema]:
    """Return tables and their schema with the kinds that the columns have in another data set.

    Parameters
    ----------
    like : RelationalDataset
        The other data set.
    tables : mapping of str to mapping of str to narwhals series
        The columns of each table.
    schema : Schema
        Keys, and the kinds that somebody has said.

    Examples
    --------
    >>> import pandas as pd
    >>> import omnirank as om
    >>> from omnirank.relational.schema import columns_of
    >>> from omnirank.relational.tables import of_the_kinds_of
    >>> codes = pd.DataFrame({"id": [1, 2], "code": ["7", "x"], "y": ["a", "b"]})
    >>> data = om.relational.RelationalDataset.from_frames({"shop": codes}, target="shop.y")
    >>> new = columns_of({"shop": pd.DataFrame({"id": [3], "code": [7]})})
    >>> tables, schema = of_the_kinds_of(data, new, data.schema)
    >>> tables["shop"]["code"].to_list(), schema.tables["shop"].columns["code"]
    (['7'], 'nominal')
    """
    found = {name: dict(columns) for name, columns in tables.items()}
    kinds = {name: dict(table.columns) for name, table in schema.tables.items()}
    for relation in like.database.relations.values():
        component, column = relation.components[-1], relation.column
        if column is None or component.kind == "object" or column not in kinds.get(relation.table, {}):
            continue
        if kinds[relation.table][column] is None:
            kinds[relation.table][column] = "date" if component.is_date else component.kind
        if are_texts(component.levels) and found[relation.table][column].dtype.is_numeric():
            found[relation.table][column] = _written(found[relation.table][column])
    return found, replace(
        schema, tables={name: replace(table, columns=kinds[name]) for name, table in schema.tables.items()}
    )


def _written(series: Any) -> Any:
    """Numbers as the texts that they were read from: whole ones without a point."""
    numbers = np.asarray(series.cast(nw.Float64).to_numpy(), np.float64).tolist()
    texts = [None if x != x else str(int(x)) if x.is_integer() else repr(x) for x in numbers]
    return nw.from_native(pd.Series(texts, dtype=object), series_only=True).alias(series.name)


class TargetPlace(NamedTuple):
    """The table of the examples, and its columns that are the target."""

    table: str
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """How the target is called."""
        return ", ".join(f"{self.table}.{column}" for column in self.columns) or self.table


def dataset_from_tables(
    frames: Mapping[str, Any],
    *,
    target: Any,
    time: Any = None,
    task: str = "auto",
    hierarchy: Hierarchy | None = None,
    like: RelationalDataset | Schema | None = None,
    name: str = "data",
    declared: Declared | None = None,
    notes: Sequence[str] = (),
    **said: Any,
) -> RelationalDataset:
    """Return a data set as :meth:`RelationalDataset.from_frames` does.

    Parameters
    ----------
    frames, target, keys, types, exclude, time, task, hierarchy, like, name
        As there.
    declared : dict of DeclaredTable, optional
        What a schema file or a database says.
    notes : sequence of str
        What the reader says.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.relational.tables import dataset_from_tables
    >>> dataset_from_tables({"t": pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]})}, target="t.y")
    <RelationalDataset 'data': 2 examples, 1 table, 1 relation, classification, 2 labelled>
    """
    tables = columns_of(frames)
    place = target_place(target, tables)
    schema, schema_notes, kinds = _schema(tables, said, like, declared, place)
    columns = {} if time is None else time_columns(time, tables)
    as_there = schema
    if isinstance(like, RelationalDataset):
        columns = dict(like.time_columns) if time is None else columns
        tables, as_there = of_the_kinds_of(like, tables, schema)
    conversion = convert(tables, as_there, place.table, columns, place.columns)
    given = _target_values(tables[place.table], place, conversion, kinds)
    numbers_are_said = any(kind in ("numeric", "date") for kind in kinds.values())
    values, found_task, doubts = read_target(given, task, hierarchy, declared=numbers_are_said)
    rows = conversion.example_rows
    own = {column: cells._replace(cells=cells.cells[rows]) for column, cells in conversion.columns.items()}
    remarks = RelationalRemarks((*notes, *schema_notes, *conversion.notes), doubts, own, values)
    examples = conversion.example_types, conversion.example_codes, values, found_task
    dataset = RelationalDataset(conversion.database, *examples, hierarchy=hierarchy, name=name, target_name=place.name)
    return replace(dataset, schema=schema, times=conversion.times, time_columns=columns, _remarks=remarks)


def target_place(target: Any, tables: Mapping[str, Collection[str]]) -> TargetPlace:
    """Return the table and the columns that a target names.

    Examples
    --------
    >>> from omnirank.relational.tables import target_place
    >>> target_place("a.y", {"a": {"x": None, "y": None}}), target_place("a", {"a": {}})
    (TargetPlace(table='a', columns=('y',)), TargetPlace(table='a', columns=()))
    """
    if isinstance(target, str) and target in tables:
        return TargetPlace(target, ())
    several = isinstance(target, list | tuple)
    if isinstance(target, tuple) and len(target) == 2 and isinstance(target[0], str) and target[0] in tables:
        several = target[1] not in tables[target[0]]  # else it is a pair of table and column
    places = [column_of(one, tables, "target") for one in target] if several else [column_of(target, tables, "target")]
    of = {table for table, _ in places}
    if len(of) != 1:
        raise ParameterError("target", target, f"name columns of one table, not of {', '.join(sorted(of)) or 'none'}")
    columns = tuple(column for _, column in places)
    if len(set(columns)) < len(columns):
        raise ParameterError("target", target, "name each column once")
    return TargetPlace(places[0][0], columns)


def _schema(
    tables: Mapping[str, Columns],
    given: Mapping[str, Any],
    like: RelationalDataset | Schema | None,
    declared: Declared | None,
    place: TargetPlace,
) -> tuple[Schema, tuple[str, ...], dict[str, str]]:
    """The schema of all columns but the target, notes about it, and the kinds of target columns that are said."""
    known = like.schema if isinstance(like, RelationalDataset) else like
    if not isinstance(known, Schema | None):
        raise ParameterError("like", like, "give a RelationalDataset, or the schema of one")
    if known is not None:
        if any(value is not None for value in given.values()):
            raise ParameterError("like says the keys, types and columns: give no others beside it")
        declared = declared_by(known, tables)
    said = declare(tables, **given, base=declared)
    if tables[place.table] and said[place.table].excluded >= set(tables[place.table]):
        raise DataError(f"the table of the target, {place.table!r}, is left out")
    said[place.table].excluded |= set(place.columns)
    schema, notes = complete_schema(tables, said, place.table)
    kinds = {column: kind for column, kind in said[place.table].kinds.items() if column in place.columns}
    return schema, () if known is not None else notes, kinds


def time_columns(time: Any, tables: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the time column of each table that has one.

    Examples
    --------
    >>> from omnirank.relational.tables import time_columns
    >>> time_columns(["orders.date"], {"orders": ["id", "date"]})
    {'orders': 'date'}
    """
    pairs = list(time.items()) if isinstance(time, Mapping) else names_given("time", time, "['orders.date']")
    found = [column_of(pair, tables, "time") for pair in pairs]
    if len({table for table, _ in found}) < len(found):
        raise ParameterError("time", time, "name one column of each table")
    return dict(found)


def _target_values(columns: Columns, place: TargetPlace, conversion: Conversion, kinds: Mapping[str, str]) -> Any:
    """The target of the examples, in their order: a frame, a table of the kinds that are said, label sets, or None."""
    if not place.columns:
        return None
    # frames, not series: older versions of narwhals do not take rows of a pyarrow column by an array
    whole = nw.concat([columns[name].alias(name).to_frame() for name in place.columns], how="horizontal")
    chosen = whole[conversion.example_rows]
    if len(place.columns) == 1 and chosen[place.columns[0]].dtype in (nw.Object, nw.List):
        cells = chosen[place.columns[0]].to_list()
        if any(isinstance(cell, set | frozenset | list | tuple | np.ndarray) for cell in cells):
            return cells
    if kinds:
        said = [kinds[name].partition(":")[0] if name in kinds else None for name in place.columns]
        found = [
            value_cells(chosen[name], f"target {name!r} of table {place.table!r}", kind)
            for name, kind in zip(place.columns, said, strict=True)
        ]
        return Table.from_columns(place.columns, [c.cells for c in found], [c.levels for c in found])
    return nw.to_native(chosen)
