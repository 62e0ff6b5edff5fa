"""Data frames become a relational data set: keys are found, tables converted, the target read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import read_target
from omnirank.data.table import Table
from omnirank.relational.arguments import names_given
from omnirank.relational.cells import ValueCells, value_cells
from omnirank.relational.conversion import Conversion, convert
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.declared import Columns, Declared, columns_of, declare, declared_by
from omnirank.relational.inference import complete_schema
from omnirank.relational.known_kinds import of_the_kinds_of
from omnirank.relational.remarks import RelationalRemarks
from omnirank.relational.schema import Schema, column_of


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
    keys: Mapping[Any, Any] | None = None,
    types: Mapping[Any, str] | None = None,
    exclude: Sequence[Any] | str | None = None,
    time: Any = None,
    task: str = "auto",
    hierarchy: Hierarchy | None = None,
    like: RelationalDataset | Schema | None = None,
    name: str = "data",
    declared: Declared | None = None,
    notes: Sequence[str] = (),
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
    >>> from omnirank.relational.from_tables import dataset_from_tables
    >>> dataset_from_tables({"t": pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]})}, target="t.y")
    <RelationalDataset 'data': 2 examples, 1 table, 1 relation, classification, 2 labelled>
    """
    tables = columns_of(frames)
    place = target_place(target, tables)
    schema, found, kinds = _schema(tables, keys, types, exclude, like, declared, place)
    columns = _time_columns(like) if time is None else time_columns(time, tables)
    as_there = schema
    if isinstance(like, RelationalDataset):
        tables, as_there = of_the_kinds_of(like, tables, schema)
    conversion = convert(tables, as_there, place.table, columns, place.columns)
    given = _target_values(tables[place.table], place, conversion, kinds)
    numbers_are_said = any(kind in ("numeric", "date") for kind in kinds.values())
    values, found_task, doubts = read_target(given, task, hierarchy, declared=numbers_are_said)
    own = {column: _of_rows(cells, conversion.example_rows) for column, cells in conversion.columns.items()}
    remarks = RelationalRemarks((*notes, *found, *conversion.notes), doubts, own, values)
    return RelationalDataset(
        conversion.database,
        conversion.example_types,
        conversion.example_codes,
        values,
        found_task,
        hierarchy=hierarchy,
        name=name,
        target_name=place.name,
        schema=schema,
        times=conversion.times,
        time_columns=columns,
        remarks=remarks,
    )


def target_place(target: Any, tables: Mapping[str, Collection[str]]) -> TargetPlace:
    """Return the table and the columns that a target names.

    Examples
    --------
    >>> from omnirank.relational.from_tables import target_place
    >>> target_place("a.y", {"a": {"x": None, "y": None}}), target_place("a", {"a": {}})
    (TargetPlace(table='a', columns=('y',)), TargetPlace(table='a', columns=()))
    """
    if isinstance(target, str) and target in tables:
        return TargetPlace(target, ())
    several = isinstance(target, list) or (isinstance(target, tuple) and not _is_pair(target, tables))
    places = [column_of(one, tables, "target") for one in target] if several else [column_of(target, tables, "target")]
    of = {table for table, _ in places}
    if len(of) != 1:
        raise ParameterError("target", target, f"name columns of one table, not of {', '.join(sorted(of)) or 'none'}")
    columns = tuple(column for _, column in places)
    if len(set(columns)) < len(columns):
        raise ParameterError("target", target, "name each column once")
    return TargetPlace(places[0][0], columns)


def _is_pair(target: tuple[Any, ...], tables: Mapping[str, Collection[str]]) -> bool:
    return len(target) == 2 and isinstance(target[0], str) and target[0] in tables and target[1] in tables[target[0]]


def _schema(
    tables: Mapping[str, Columns],
    keys: Mapping[Any, Any] | None,
    types: Mapping[Any, str] | None,
    exclude: Sequence[Any] | str | None,
    like: RelationalDataset | Schema | None,
    declared: Declared | None,
    place: TargetPlace,
) -> tuple[Schema, tuple[str, ...], dict[str, str]]:
    """The schema of all columns but the target, notes about it, and the kinds of target columns that are said."""
    known = like.schema if isinstance(like, RelationalDataset) else like
    if not isinstance(known, Schema | None):
        raise ParameterError("like", like, "give a RelationalDataset, or the schema of one")
    if known is not None:
        if keys is not None or types is not None or exclude is not None:
            raise ParameterError("like says the keys, types and columns: give no others beside it")
        declared = declared_by(known, tables)
    said = declare(tables, keys, types, exclude, declared)
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
    >>> from omnirank.relational.from_tables import time_columns
    >>> time_columns(["orders.date"], {"orders": ["id", "date"]})
    {'orders': 'date'}
    """
    pairs = list(time.items()) if isinstance(time, Mapping) else names_given("time", time, "['orders.date']")
    found = [column_of(pair, tables, "time") for pair in pairs]
    if len({table for table, _ in found}) < len(found):
        raise ParameterError("time", time, "name one column of each table")
    return dict(found)


def _time_columns(like: Any) -> dict[str, str]:
    return dict(like.time_columns) if isinstance(like, RelationalDataset) else {}


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


def _of_rows(cells: ValueCells, rows: np.ndarray) -> ValueCells:
    return (
        cells
        if len(rows) == len(cells.cells) and (rows == np.arange(len(rows))).all()
        else cells._replace(cells=cells.cells[rows])
    )
