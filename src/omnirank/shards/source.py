"""A table in parts as one source of rows: blocks in order, or the rows that are asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.memory import memory_amount
from omnirank.data.column_choice import ColumnChoice
from omnirank.data.table import Table
from omnirank.data.text_source import memory_size
from omnirank.shards.columns import agreed_columns
from omnirank.shards.parts import ParquetFile, Part, parts_of, release_unused

# A block has at most so many rows, however much memory there is: larger ones leave the processor's caches.
_MOST_ROWS = 2**18
# With less memory than this, pyarrow has no threads of its own: what each of them keeps would count.
_PLENTY = 2**30
# What reading takes for each column: a page of a Parquet file, packed and unpacked, and its dictionary; or, if that is
# less, so many times the bytes of the column in a group of rows.
_MOST_READING_BYTES = 3 * 2**20
_READING_COPIES = 5


class Batch(NamedTuple):
    """Some rows of one part: its number, the number of the first row among all rows, and the cells of pyarrow."""

    part: int
    first: int
    cells: Any


class Block(NamedTuple):
    """Some rows of one part: its number, the number of the first row among all rows, and the cells."""

    part: int
    first: int
    table: Table


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
    source : str, Path, sequence of them, pyarrow dataset or Dask frame
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
    ...     source.n_rows, [block.table.numeric.ravel().tolist() for block in source.blocks()]
    (4, [[0.0, 0.5], [1.0, 1.5]])
    """

    def __init__(self, source: Any, nominal: ColumnChoice | None = None, max_memory: int | str | None = None) -> None:
        self.parts: list[Part] = parts_of(source)
        self.columns = agreed_columns(self.parts, nominal)
        self.max_memory = memory_size() // 8 if max_memory is None else memory_amount(max_memory, "max_memory")
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
    def fingerprint(self) -> str | None:
        """Hash of the names, sizes, times and types of all parts; None where nothing tells whether they change."""
        states = [part.state for part in self.parts]
        if any(state is None for state in states):
            return None
        names = [_relative(part.name, self.folder) for part in self.parts]
        text = json.dumps([names, states, self.columns.facts])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def within(self, max_memory: int) -> ShardSource:
        """Return the same parts, read in blocks that take other bytes of memory."""
        other = copy(self)
        other.max_memory = max_memory
        return other

    def block_rows(self, names: Sequence[str]) -> int:
        """Return the number of rows of a block of some columns."""
        return int(np.clip(self.max_memory // self.columns.row_bytes(names), 1, _MOST_ROWS))

    @cached_property
    def reading_bytes(self) -> int:
        """What reading takes for each column, whatever the rows of a batch."""
        known = [part.column_bytes for part in self.parts]
        found = [_MOST_READING_BYTES if n_bytes is None else _READING_COPIES * n_bytes for n_bytes in known]
        return min(max([1, *found]), _MOST_READING_BYTES)

    @property
    def columns_at_once(self) -> int:
        """Number of columns of which reading takes half of the memory; at least one."""
        return max(1, self.max_memory // (2 * self.reading_bytes))

    @property
    def columns_apart(self) -> bool:
        """Whether some columns can be read without the others."""
        return all(part.columns_apart for part in self.parts)

    def blocks(self, names: Sequence[str] | None = None, parts: Sequence[int] | None = None) -> Iterator[Block]:
        """Yield the rows in order, as blocks that are small enough.

        Parameters
        ----------
        names : sequence of str, optional
            Columns, by default all of them.
        parts : sequence of int, optional
            Numbers of the parts that are read, by default all of them.
        """
        for batch in self.batches(names, parts):
            yield Block(batch.part, batch.first, self.columns.table(batch.cells, self.parts[batch.part]))

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
        found = []
        for number, starts in enumerate(self._group_starts):
            start = 0
            for end in range(1, len(starts)):
                if starts[end] - starts[start] >= least or end == len(starts) - 1:
                    found.append(self._stretch(number, range(start, end)))
                    start = end
        return [stretch for stretch in found if stretch.n_rows]

    def _stretch(self, number: int, groups: range) -> Stretch:
        starts = self._group_starts[number]
        n_rows = int(starts[groups.stop] - starts[groups.start]) if groups else 0
        return Stretch(number, groups, int(self.starts[number] + starts[groups.start]), n_rows)

    @cached_property
    def _group_starts(self) -> list[np.ndarray]:
        """Number of the first row of each group among the rows of its part, and that of the part's rows."""
        return [np.concatenate([[0], np.cumsum(part.group_rows)]).astype(np.int64) for part in self.parts]

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
    folders = {part.path.parent if isinstance(part, ParquetFile) else None for part in parts}
    (folder, *others) = islice(folders, 2)
    return None if others else folder


def _relative(name: str, folder: Path | None) -> str:
    return name if folder is None else Path(name).relative_to(folder).as_posix()
