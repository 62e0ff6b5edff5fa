"""Nearest neighbours among examples in parts: blocks of rows stream past lists of the nearest so far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from omnirank.core.parallel import counted_steps, run_parallel, worker_count
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.shards.dataset import ShardedDataset

# All workers of a machine together have half of the memory, a third of it to read blocks and the rest to search them,
# when a cell takes so many bytes. Larger blocks gain nothing.
_SHARE_OF_WORKERS = 2
_BYTES_OF_CELL = 100
_MOST_BYTES, _MOST_ROWS = 2**26, 2**15
# Parts that each worker takes before the lists are joined: what was found so far makes later lists short.
_PARTS = 2


class Candidates(NamedTuple):
    """Rows of one block that may be neighbours, one entry per pair.

    lists: number of the list that the row may belong to; places: the row, counted from the first of the block; keys: by
    which neighbours are ordered, before their numbers; distances: the distances.
    """

    lists: np.ndarray
    places: np.ndarray
    keys: np.ndarray
    distances: np.ndarray


class BlockSearch(Protocol):
    """Finds the nearest rows of one block, the first of which has the number ``first``; picklable."""

    @property
    def n_lists(self) -> int:
        """Number of lists."""

    @property
    def k(self) -> int:
        """Length of a list."""

    def __call__(self, block: Dataset, first: int) -> Candidates | None:
        """Return the k nearest of each list, or None where no row may be a neighbour."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of the nearest so far, one entry per pair: by list, then by key, then by number.

    Parameters
    ----------
    lists, numbers, keys, distances : ndarray
        List, number of the neighbour among all rows, key and distance of each pair.
    kept : ndarray of int
        Numbers of all neighbours, ascending.
    cells : Table or None
        Their cells, as `ShardedDataset.tables` has them.
    """

    lists: np.ndarray
    numbers: np.ndarray
    keys: np.ndarray
    distances: np.ndarray
    kept: np.ndarray
    cells: Table | None

    def limits(self, n_lists: int, k: int) -> np.ndarray:
        """Return the largest key that a further neighbour of each list may have."""
        ends = np.cumsum(np.bincount(self.lists, minlength=n_lists))
        full = np.diff(ends, prepend=0) >= k
        found = np.full(n_lists, np.inf)
        found[full] = self.keys[ends[full] - 1]
        return found

    def filled(self, n_lists: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers and distances of shape (n_lists, k); -1 and infinite fill lists that are shorter."""
        ids, distances = np.full((n_lists, k), -1, np.int64), np.full((n_lists, k), np.inf)
        place = _places(self.lists)
        ids[self.lists, place], distances[self.lists, place] = self.numbers, self.distances
        return ids, distances


def nearest_in_parts(
    data: ShardedDataset, search: BlockSearch, n_jobs: int | None = None, *, keep_cells: bool = True
) -> Lists:
    """Return the nearest rows of all parts, after one pass over them.

    Neighbours are the same however the rows are divided into parts and blocks, and for any number of workers: of equal
    keys the lower number comes first. Every worker reads parts of its own.

    Parameters
    ----------
    data : ShardedDataset
        Among which rows.
    search : BlockSearch
        What the lists are, and which rows of a block may belong to them.
    n_jobs : int or None
        Number of workers.
    keep_cells : bool
        Whether the cells of the neighbours are returned.
    """
    found: Lists | None = None
    step, sizes = _PARTS * worker_count(n_jobs), BlockSizes.of(data, n_jobs)
    parts = [i for i in range(data.n_shards) if data.source.parts[i].n_rows]
    for i in counted_steps(-(-len(parts) // step), "searching neighbours"):
        limits = np.full(search.n_lists, np.inf) if found is None else found.limits(search.n_lists, search.k)
        work = partial(_nearest_in_part, data, search, sizes, limits, keep_cells)
        for more in run_parallel(work, parts[i * step : (i + 1) * step], n_jobs, progress=False):
            found = found if more is None else _joined(found, more, search.k)
    if found is None:
        nothing = np.empty(0, np.int64)
        return Lists(nothing, nothing, np.empty(0), np.empty(0), nothing, None)
    return found


class BlockSizes(NamedTuple):
    """What a worker may take at once: bytes of a block that is read, and rows of it that are searched."""

    n_bytes: int
    n_rows: int

    @classmethod
    def of(cls, data: ShardedDataset, n_jobs: int | None) -> BlockSizes:
        """Divide the memory; workers on other machines have their own."""
        n_workers = min(worker_count(n_jobs), os.cpu_count() or 1)
        own = data.source.max_memory // (_SHARE_OF_WORKERS * n_workers)
        n_rows = 2 * own // (3 * _BYTES_OF_CELL * max(1, data.n_features))
        return cls(min(own // 3, _MOST_BYTES), min(max(n_rows, 1), _MOST_ROWS))

    def tables(self, data: ShardedDataset, part: int) -> Iterator[tuple[int, Table]]:
        """Yield the cells of a part, as many rows at a time as are searched, with the number of the first row."""
        first = int(data.source.starts[part])
        for table in data.tables([part], self.n_bytes):
            for start in range(0, table.n_rows, self.n_rows):
                yield first + start, table.take(slice(start, start + self.n_rows))
            first += table.n_rows


def _nearest_in_part(
    data: ShardedDataset, search: BlockSearch, sizes: BlockSizes, limits: np.ndarray, keep_cells: bool, part: int
) -> Lists | None:
    found: Lists | None = None
    for first, table in sizes.tables(data, part):
        near = search(data.dataset_of(table), first)
        if near is None:
            continue
        close = near.keys <= limits[near.lists]
        more = _of_block(Candidates(*(values[close] for values in near)), table if keep_cells else None, first)
        found = _joined(found, more, search.k)
        limits = np.minimum(limits, found.limits(search.n_lists, search.k))
    return found


def _of_block(near: Candidates, table: Table | None, first: int) -> Lists:
    order = np.lexsort((near.places, near.keys, near.lists))
    kept = np.unique(near.places)
    lists, places, keys, distances = (values[order] for values in near)
    return Lists(lists, places + first, keys, distances, kept + first, None if table is None else table.take(kept))


def _joined(first: Lists | None, second: Lists, k: int) -> Lists:
    """The k nearest of each list, of two with other rows each."""
    if first is None:
        return second
    several = (first, second)
    lists, numbers, keys, distances = (
        np.concatenate([getattr(one, name) for one in several]) for name in ("lists", "numbers", "keys", "distances")
    )
    order = np.lexsort((numbers, keys, lists))
    order = order[_places(lists[order]) < k]
    lists, numbers, keys, distances = (values[order] for values in (lists, numbers, keys, distances))
    kept = np.unique(numbers)
    tables = [one.cells for one in several if one.cells is not None]
    cells = None
    if tables:
        before = np.concatenate([one.kept for one in several])
        by_number = np.argsort(before, kind="stable")
        cells = Table.joined(tables).take(by_number[np.searchsorted(before, kept, sorter=by_number)])
    return Lists(lists, numbers, keys, distances, kept, cells)


def _places(lists: np.ndarray) -> np.ndarray:
    """Place of each entry in its list, where entries are ordered by list."""
    starts = np.flatnonzero(np.diff(lists, prepend=-1))
    return np.arange(len(lists)) - np.repeat(starts, np.diff(starts, append=len(lists)))
