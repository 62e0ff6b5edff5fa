"""A table in parts as one source of rows: blocks in order, or the rows that are asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.text import memory_amount
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import table_from, typed_table
from omnirank.data.files import memory_size
from omnirank.data.parquet import import_pyarrow, own_facts, own_metadata, rounded_names
from omnirank.data.table import Table, refuse_rounded
from omnirank.shards.parts import Part, parts_of, release_unused

# A block has at most so many rows, however much memory there is: larger ones leave the processor's caches.
_MOST_ROWS = 2**18
# With less memory than this, pyarrow has no threads of its own: what each of them keeps would count.
_PLENTY = 2**30
# What reading takes for each column: a page of a Parquet file, packed and unpacked, and its dictionary; or, if that is
# less, so many times the bytes of the column in a group of rows.
_MOST_READING_BYTES = 3 * 2**20
_READING_COPIES = 5
# What cells of a column may take in memory while they are read: as pyarrow, pandas and omnirank hold them.
_BYTES_OF_NUMBER = 24
_BYTES_OF_TEXT = 160


class Batch(NamedTuple):
    """Some rows of one part: its number, the number of the first row among all rows, and the cells of pyarrow."""

    part: int
    first: int
    cells: Any


class Stretch(NamedTuple):
    """Consecutive groups of rows of one part: its number, those of the groups, of the first row, and of all rows."""

    part: int
    groups: range
    first: int
    n_rows: int


class ShardSource:
    """The parts of a table, their columns, and their rows block by block.

    Parameters
    ----------
    source : str, Path or sequence of them
        As in `omnirank.shards.parts.parts_of`.
    nominal : column choice, optional
        Columns of numbers that are to be taken as nominal.
    max_memory : int, str or None
        What blocks may take while they are read, such as ``"500M"``; None: an eighth of the machine's memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from omnirank.shards.source import ShardSource
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(2):
    ...         pd.DataFrame({"size": [i, i + 0.5]}).to_parquet(pathlib.Path(folder, f"{i}.parquet"))
    ...     source = ShardSource(folder)
    ...     source.n_rows, [block.numeric.ravel().tolist() for block in source.blocks()]
    (4, [[0.0, 0.5], [1.0, 1.5]])
    """

    def __init__(self, source: Any, nominal: ColumnChoice | None = None, max_memory: int | str | None = None) -> None:
        self.parts: list[Part] = parts_of(source)
        self.columns = agreed_columns(self.parts, nominal)
        self.max_memory = memory_size() // 8 if max_memory is None else memory_amount(max_memory)
        self.folder = _folder_of(source, self.parts)

    @cached_property
    def starts(self) -> np.ndarray:
        """Number of the first row of each part among all rows, and the number of rows."""
        return np.concatenate([[0], np.cumsum([part.n_rows for part in self.parts])]).astype(np.int64)

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return int(self.starts[-1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the names, sizes, times and types of all parts."""
        states = [part.state for part in self.parts]
        names = [part.name for part in self.parts]
        if self.folder is not None:
            names = [Path(name).relative_to(self.folder).as_posix() for name in names]
        text = json.dumps([names, states, self.columns.facts])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def block_rows(self, names: Sequence[str]) -> int:
        """Return the number of rows of a block of some columns."""
        return int(np.clip(self.max_memory // self.columns.row_bytes(names), 1, _MOST_ROWS))

    @cached_property
    def reading_bytes(self) -> int:
        """What reading takes for each column, whatever the rows of a batch."""
        largest = max((part.facts.column_bytes for part in self.parts), default=0)
        return min(max(1, _READING_COPIES * largest), _MOST_READING_BYTES)

    @property
    def columns_at_once(self) -> int:
        """Number of columns of which reading takes half of the memory; at least one."""
        return max(1, self.max_memory // (2 * self.reading_bytes))

    def blocks(self, names: Sequence[str] | None = None, parts: Sequence[int] | None = None) -> Iterator[Table]:
        """Yield the rows in order, as blocks that are small enough.

        Parameters
        ----------
        names : sequence of str, optional
            Columns, by default all of them.
        parts : sequence of int, optional
            Numbers of the parts that are read, by default all of them.
        """
        for batch in self.batches(names, parts):
            yield self.columns.table(batch.cells, self.parts[batch.part])

    def batches(self, names: Sequence[str] | None = None, parts: Sequence[int] | None = None) -> Iterator[Batch]:
        """Yield the rows in order, as `blocks` does, but as record batches of pyarrow."""
        names = list(self.columns.names if names is None else names)
        n_rows = self.block_rows(names)
        for number in range(len(self.parts)) if parts is None else parts:
            yield from self.batches_of(self._stretch(number, range(len(self._group_starts[number]) - 1)), names, n_rows)

    def batches_of(self, stretch: Stretch, names: Sequence[str], n_rows: int) -> Iterator[Batch]:
        """Yield the rows of some groups of a part, as record batches of at most ``n_rows``."""
        part, first = self.parts[stretch.part], stretch.first
        for cells in part.batches(names, n_rows, stretch.groups, threads=self.max_memory >= _PLENTY):
            if cells.num_rows:
                yield Batch(stretch.part, first, cells)
                first += cells.num_rows
        release_unused()
        part.check()  # rows of a file that is rewritten meanwhile are of two files
        if first != stretch.first + stretch.n_rows:
            raise DataError(f"shard {part.name}: it had {part.n_rows} rows when it was opened, and has others now")

    def stretches(self, least: int) -> list[Stretch]:
        """Return all rows as stretches that can be read apart, of at least so many rows where their parts have them."""
        stretches = []
        for number, starts in enumerate(self._group_starts):
            start = 0
            for end in range(1, len(starts)):
                if starts[end] - starts[start] >= least or end == len(starts) - 1:
                    stretches.append(self._stretch(number, range(start, end)))
                    start = end
        return [stretch for stretch in stretches if stretch.n_rows]

    def _stretch(self, number: int, groups: range) -> Stretch:
        starts = self._group_starts[number]
        n_rows = int(starts[groups.stop] - starts[groups.start]) if groups else 0
        return Stretch(number, groups, int(self.starts[number] + starts[groups.start]), n_rows)

    @cached_property
    def _group_starts(self) -> list[np.ndarray]:
        """Number of the first row of each group among the rows of its part, and that of the part's rows."""
        return [np.concatenate([[0], np.cumsum(part.facts.group_rows)]).astype(np.int64) for part in self.parts]

    def rows(self, numbers: np.ndarray, names: Sequence[str] | None = None) -> Iterator[tuple[np.ndarray, Table]]:
        """Yield the rows that are asked for, block by block: their places in the question, and their cells.

        Only groups with such rows are read, each once.

        Parameters
        ----------
        numbers : ndarray of int
            Numbers of rows among all rows, in any order, also repeated.
        names : sequence of str, optional
            Columns, by default all of them.
        """
        numbers = np.asarray(numbers, np.int64)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= self.n_rows):
            raise DataError(f"rows are counted from 0 to {self.n_rows - 1}")
        names = list(self.columns.names if names is None else names)
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        for stretch in self.stretches(1):
            if np.diff(np.searchsorted(ordered, [stretch.first, stretch.first + stretch.n_rows]))[0] == 0:
                continue
            for batch in self.batches_of(stretch, names, self.block_rows(names)):
                first, last = np.searchsorted(ordered, [batch.first, batch.first + batch.cells.num_rows])
                if last > first:
                    cells = batch.cells.take(ordered[first:last] - batch.first)
                    yield order[first:last], self.columns.table(cells, self.parts[batch.part])


def _folder_of(source: Any, parts: Sequence[Part]) -> Path | None:
    """The folder beside whose files something may be kept."""
    if isinstance(source, str | Path) and Path(source).is_dir():
        return Path(source)
    folders = {part.path.parent for part in parts}
    (folder, *others) = islice(folders, 2)
    return None if others else folder


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
        floats = {field.name for field in fields if pyarrow.types.is_float64(field.type)}
        return frozenset(floats - self.nominal - self.levels.keys())

    def _typed(self, batch: Any) -> Table:
        """A batch as a typed table, by way of pandas."""
        frame = batch.to_pandas()
        for name in frame.columns:
            if name in self.levels:
                frame[name] = pd.Categorical(frame[name], categories=self.levels[name])
        table = typed_table(frame)
        chosen = [name for name in table.names if name in self.nominal and table.levels[table.index(name)] is None]
        return table_from(table, nominal=chosen) if chosen and table.n_rows else table

    def table(self, batch: Any, part: Part) -> Table:
        """Return a record batch of some of the columns as a typed table, with the levels that it has itself.

        Columns without known cells are numeric, whatever their kind; infinite cells are an error.
        """
        floats = self._floats(batch)
        others = [name for name in batch.schema.names if name not in floats]
        try:
            table = self._typed(batch.select(others)) if others else None
            if table is not None:
                refuse_rounded(replace(table, rounded=table.rounded | rounded_names(batch, table)))
        except (DataError, DataTypeError) as error:
            raise type(error)(f"shard {part.name}: {error}") from None
        if floats:
            table = _joined(batch, floats, table)
        assert table is not None
        if table.infinite_cell is not None:
            name = table.infinite_cell[0]
            raise DataError(f"shard {part.name}: column {name!r} holds an infinite value: use NaN for missing cells")
        return table if self.single else replace(table, numeric=table.numeric.astype(np.float64, copy=False))


def _joined(batch: Any, floats: Collection[str], others: Table | None) -> Table:
    """The columns of a batch in their order: floats straight from pyarrow, which takes a third of the time."""
    columns, levels = [], []
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        i = None if others is None or name in floats else others.index(name)
        # missing floats are NaN
        columns.append(cells.to_numpy(zero_copy_only=False) if others is None or i is None else others.column(i))
        levels.append(None if others is None or i is None else others.levels[i])
    table = Table.from_columns(batch.schema.names, columns, levels)
    return table if others is None else replace(table, dates=others.dates)


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
    from pyarrow import types

    if not parts:
        raise DataError("there are no shards")
    first = parts[0]
    names = tuple(column_names(first))
    kinds = _kinds(first)
    for part in parts[1:]:
        own = _kinds(part)
        problem = _difference(kinds, own, first)
        if problem:
            raise DataError(f"not all shards are like {first.name}: {part.name} {problem}")
        kinds |= {name: own[name] for name, kind in kinds.items() if kind == "nothing"}
    chosen = [] if nominal is None else [names[i] for i in choose_columns(nominal, names, "nominal")]
    return Columns(
        names,
        tuple(kinds[name] for name in names),
        frozenset(name for name in names if all(types.is_integer(part.schema.field(name).type) for part in parts)),
        _all_single(parts, kinds),
        frozenset(chosen),
        noted_facts(first, names)[1],
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


def noted_facts(part: Part, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return what omnirank has noted in a part: target, task and hierarchy; and levels that are no texts."""
    try:
        given = own_metadata(part.schema)
        return own_facts(given, names), dict(given.get("levels", {}))
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
            return f"has a column {name!r} of kind {own[name]}, where others have {kind}"
    return ""


def _kinds(part: Part) -> dict[str, str]:
    names = column_names(part)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"shard {part.name}: two columns are called {name!r}")
    return {name: _kind(part.schema.field(name).type, name, part) for name in names}


def _kind(arrow_type: Any, name: str, part: Part) -> str:
    from pyarrow import types

    tests = {
        "boolean": (types.is_boolean,),
        "category": (types.is_dictionary,),
        "nothing": (types.is_null,),
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "text": (types.is_string, types.is_large_string),
        "date": (types.is_date, types.is_timestamp),
    }
    for kind, own in tests.items():
        if any(test(arrow_type) for test in own):
            return kind
    where = f"shard {part.name}: column {name!r}"
    raise DataTypeError(f"{where} is of type {arrow_type}: it must hold numbers, texts or dates")


def _all_single(parts: Sequence[Part], kinds: dict[str, str]) -> bool:
    from pyarrow import types

    numeric = [name for name, kind in kinds.items() if kind in ("number", "date", "nothing")]
    return bool(numeric) and all(types.is_float32(part.schema.field(name).type) for part in parts for name in numeric)
