"""Columns of a table in parts: their types, on which all parts must agree, and blocks of rows as typed tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.plurals import counted
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.convert import infinite_cell, table_from, typed_table
from omnirank.data.exact_numbers import refuse_rounded
from omnirank.data.parquet import import_pyarrow, own_facts, own_metadata, rounded_names
from omnirank.data.table import Table
from omnirank.shards.parts import Part

# What cells of a column may take in memory while they are read: as pyarrow, pandas and omnirank hold them.
_BYTES_OF_NUMBER = 24
_BYTES_OF_TEXT = 160
_MOST_DIFFERENCES = 5


@dataclass(frozen=True)
class Columns:
    """Names and kinds of the columns that all parts have.

    Attributes
    ----------
    names, kinds : tuple of str
        Each column is of kind "number", "text", "boolean", "category", "date" or "nothing" (no cell is known).
    integers : frozenset of str
        Columns of numbers that all parts declare as integers.
    single : bool
        Whether all numeric cells are float32, as they are in memory then.
    nominal : frozenset of str
        Columns of numbers that are to be taken as nominal.
    levels : dict
        Levels that omnirank has noted in the files, where they are no texts.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    integers: frozenset[str]
    single: bool
    nominal: frozenset[str]
    levels: dict[str, list[Any]]

    @property
    def facts(self) -> list[Any]:
        """All of it in an order that is the same in every process, for JSON."""
        return [self.names, self.kinds, sorted(self.integers), self.single, sorted(self.nominal), self.levels]

    def is_nominal(self, name: str) -> bool:
        """Whether a column is nominal."""
        kind = self.kinds[self.names.index(name)]
        return kind in ("text", "boolean", "category") or name in self.nominal or name in self.levels

    def row_bytes(self, names: Sequence[str]) -> int:
        """Return the bytes that a row of some columns takes while it is read, about."""
        texts = sum(self.is_nominal(name) for name in names)
        return max(1, _BYTES_OF_TEXT * texts + _BYTES_OF_NUMBER * (len(names) - texts))

    def _floats(self, batch: Any) -> frozenset[str]:
        """The columns of a batch that hold plain floats; those of other types may be dates, texts or categories."""
        pyarrow, _ = import_pyarrow()
        fields = batch.schema if len(set(batch.schema.names)) == len(batch.schema.names) else ()
        found = {field.name for field in fields if pyarrow.types.is_float64(field.type)}
        return frozenset(found - self.nominal - self.levels.keys())

    def _typed(self, batch: Any) -> Table:
        """A batch as a typed table, by way of pandas."""
        frame = batch.to_pandas()
        for name in frame.columns:
            if name in self.levels:
                frame[name] = pd.Categorical(frame[name], categories=self.levels[name])
        found = typed_table(frame)
        chosen = [name for name in found.names if name in self.nominal and found.levels[found.index(name)] is None]
        return table_from(found, nominal=chosen) if chosen and found.n_rows else found

    def table(self, batch: Any, part: Part) -> Table:
        """Return a record batch of some of the columns as a typed table, with the levels that it has itself.

        Columns without known cells are numeric, whatever their kind; infinite cells are an error.
        """
        floats = self._floats(batch)
        others = [name for name in batch.schema.names if name not in floats]
        try:
            found = self._typed(batch.select(others)) if others else None
            if found is not None:
                refuse_rounded(replace(found, rounded=found.rounded | rounded_names(batch)))
        except (DataError, DataTypeError) as error:
            raise type(error)(f"shard {part.name}: {error}") from None
        if floats:
            found = _joined(batch, floats, found)
        assert found is not None
        infinite = infinite_cell(found)
        if infinite is not None:
            raise DataError(
                f"shard {part.name}: column {infinite[0]!r} holds an infinite value: use NaN for missing cells"
            )
        return found if self.single else replace(found, numeric=found.numeric.astype(np.float64, copy=False))


def _joined(batch: Any, floats: Collection[str], others: Table | None) -> Table:
    """The columns of a batch in their order: floats straight from pyarrow, which takes a third of the time."""
    columns, levels = [], []
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        own = None if name in floats or others is None else others.levels[others.index(name)]
        if name in floats:
            columns.append(cells.to_numpy(zero_copy_only=False))  # missing cells are NaN
        else:
            assert others is not None
            i = others.index(name)
            columns.append((others.numeric if own is None else others.codes)[:, others.slots[i]])
        levels.append(own)
    found = Table.from_columns(batch.schema.names, columns, levels)
    return found if others is None else replace(found, dates=others.dates)


def agreed_columns(parts: Sequence[Part], nominal: ColumnChoice | None = None) -> Columns:
    """Return the columns of all parts; parts that disagree are named in the error.

    Parts agree where they have the same columns, in any order, of the same kind. A column that has no known cell in a
    part agrees with any.

    Parameters
    ----------
    parts : sequence of Part
        The parts.
    nominal : column choice, optional
        Columns of numbers that are to be taken as nominal.
    """
    if not parts:
        raise DataError("there are no shards")
    first = parts[0]
    names = tuple(column_names(first))
    found = _kinds(first)
    kinds = dict(found)
    differences = []
    for part in parts[1:]:
        own = _kinds(part)
        problem = _difference(kinds, own, first)
        if problem:
            differences.append(f"{part.name} {problem}")
            continue
        kinds |= {name: own[name] for name, kind in kinds.items() if kind == "nothing"}
    if differences:
        shown = "; ".join(differences[:_MOST_DIFFERENCES])
        more = f"; and {len(differences) - _MOST_DIFFERENCES} more" if len(differences) > _MOST_DIFFERENCES else ""
        raise DataError(f"{counted(len(differences), 'shard')} differ from {first.name}: {shown}{more}")
    chosen = [] if nominal is None else [names[i] for i in choose_columns(nominal, names, "nominal")]
    return Columns(
        names,
        tuple(kinds[name] for name in names),
        frozenset(name for name in names if all(_is_integer(part.schema.field(name).type) for part in parts)),
        _all_single(parts, kinds),
        frozenset(chosen),
        noted_facts(first, names)["levels"],
    )


def column_names(part: Part) -> list[str]:
    """Return the names of the columns of a part; the index of a data frame is none of them, as in memory."""
    index = index_columns(part)
    return [str(name) for name in part.schema.names if name not in index]


def index_columns(part: Part) -> set[str]:
    """Return the names of the columns in which pandas has written the index of a data frame."""
    schema = part.schema
    try:
        noted = schema.pandas_metadata
        return set() if noted is None else {name for name in noted["index_columns"] if isinstance(name, str)}
    except (ValueError, LookupError, TypeError) as problem:
        raise DataError(f"shard {part.name}: the metadata of pandas are malformed ({problem})") from None


def noted_facts(part: Part, names: Sequence[str]) -> dict[str, Any]:
    """Return what omnirank has noted in a part: target, task, hierarchy, and levels that are no texts."""
    try:
        given = own_metadata(part.schema)
        return own_facts(given, names) | {"levels": dict(given.get("levels", {}))}
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as problem:
        raise DataError(f"shard {part.name}: the omnirank metadata are malformed ({problem})") from None


def _difference(kinds: dict[str, str], own: dict[str, str], first: Part) -> str:
    lacking = [name for name in kinds if name not in own]
    if lacking:
        return f"has no column {lacking[0]!r}"
    more = [name for name in own if name not in kinds]
    if more:
        return f"has a column {more[0]!r} that {first.name} does not have"
    for name, kind in kinds.items():
        if own[name] != kind and "nothing" not in (kind, own[name]):
            return f"has {_WORDS[own[name]]} in column {name!r}, where there are {_WORDS[kind]} before"
    return ""


_WORDS = {
    "number": "numbers",
    "text": "texts",
    "boolean": "booleans",
    "category": "categories",
    "date": "dates",
}


def _kinds(part: Part) -> dict[str, str]:
    names = column_names(part)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"shard {part.name}: two columns are called {name!r}")
    return {name: _kind(part.schema.field(name).type, name, part) for name in names}


def _kind(found: Any, name: str, part: Part) -> str:
    import_pyarrow()
    from pyarrow import types

    tests = {
        "boolean": types.is_boolean,
        "category": types.is_dictionary,
        "nothing": types.is_null,
    }
    for kind, holds in tests.items():
        if holds(found):
            return kind
    if types.is_integer(found) or types.is_floating(found) or types.is_decimal(found):
        return "number"
    if types.is_string(found) or types.is_large_string(found):
        return "text"
    if types.is_date(found) or types.is_timestamp(found):
        return "date"
    raise DataTypeError(f"shard {part.name}: column {name!r} is of type {found}: it must hold numbers, texts or dates")


def _is_integer(found: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(found))


def _all_single(parts: Sequence[Part], kinds: dict[str, str]) -> bool:
    from pyarrow import types

    numeric = [name for name, kind in kinds.items() if kind in ("number", "date", "nothing")]
    return bool(numeric) and all(types.is_float32(part.schema.field(name).type) for part in parts for name in numeric)
