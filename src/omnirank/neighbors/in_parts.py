"""Nearest neighbours among examples in parts: blocks of rows stream past lists of the nearest so far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.parallel import counted_steps, run_parallel, worker_count
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.neighbors.cells import Cells, Ranges, table_cells
from omnirank.neighbors.search import NeighborSearch
from omnirank.neighbors.weighted import weighted_nearest
from omnirank.shards.dataset import ShardedDataset

# All workers of a machine together have half of the memory, a third of it to read blocks and the rest to search them,
# when a cell takes so many bytes. Larger blocks gain nothing.
_SHARE_OF_WORKERS = 2
_BYTES_OF_CELL = 100
_MOST_BYTES, _MOST_ROWS = 2**26, 2**15
# Parts that each worker takes before the lists are joined: what was found so far makes later lists short.
_PARTS = 2
_ORDER = ["list", "key", "number"]


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of the nearest so far.

    Parameters
    ----------
    pairs : DataFrame
        As `pairs_of` describes them: by list, then by key, then by number.
    cells : Table
        Cells of all neighbours (`kept`), as `ShardedDataset.tables` has them.
    """

    pairs: pd.DataFrame
    cells: Table

    @classmethod
    def of(cls, pairs: pd.DataFrame, table: Table, first: int) -> Lists:
        """Return the lists of a block, whose first row has this number."""
        return cls(pairs.sort_values(_ORDER), table.take(np.unique(pairs["number"]) - first))

    @property
    def kept(self) -> np.ndarray:
        """Numbers of all neighbours, ascending."""
        return np.unique(self.pairs["number"])

    @property
    def places(self) -> np.ndarray:
        """Place of each pair in its list, from 0."""
        return self.pairs.groupby("list").cumcount().to_numpy()

    def limits(self, n_lists: int, k: int) -> np.ndarray:
        """Return the largest key that a further neighbour of each list may have."""
        last = self.pairs[self.places == k - 1]
        largest = np.full(n_lists, np.inf)
        largest[last["list"]] = last["key"]
        return largest

    def filled(self, n_lists: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers and distances of shape (n_lists, k); -1 and infinite fill lists that are shorter."""
        ids, distances = np.full((n_lists, k), -1, np.int64), np.full((n_lists, k), np.inf)
        at = self.pairs["list"].to_numpy(), self.places
        ids[at], distances[at] = self.pairs["number"], self.pairs["distance"]
        return ids, distances

    def joined(self, others: Lists, k: int) -> Lists:
        """Return the k nearest of each list, of these and of those of other rows."""
        pairs = pd.concat([self.pairs, others.pairs]).sort_values(_ORDER).groupby("list").head(k)
        before = pd.Index(np.concatenate([self.kept, others.kept]))
        kept = before.get_indexer(np.unique(pairs["number"]))
        return Lists(pairs, Table.joined([self.cells, others.cells]).take(kept))


def pairs_of(lists: np.ndarray, numbers: np.ndarray, keys: np.ndarray, distances: np.ndarray) -> pd.DataFrame:
    """Return pairs as a data frame.

    Parameters
    ----------
    lists : ndarray of int
        Number of the list to which the neighbour may belong.
    numbers : ndarray of int
        Number of the neighbour among all rows.
    keys : ndarray
        By which neighbours are ordered, before their numbers.
    distances : ndarray
        The distances.
    """
    return pd.DataFrame({"list": lists, "number": numbers, "key": keys, "distance": distances})


def nearest_in_parts(data: ShardedDataset, search: AnchorSearch | WeightedSearch, n_jobs: int | None = None) -> Lists:
    """Return the nearest rows of all parts, with their cells, after one pass over them.

    Neighbours are the same however the rows are divided into parts and blocks, and for any number of workers: of equal
    keys the lower number comes first. Every worker reads parts of its own.

    Parameters
    ----------
    data : ShardedDataset
        Among which rows; some of them may be neighbours.
    search : AnchorSearch or WeightedSearch
        What the lists are, and which rows of a block may belong to them.
    n_jobs : int or None
        Number of workers.
    """
    nearest: Lists | None = None
    step, sizes = _PARTS * worker_count(n_jobs), BlockSizes.of(data, n_jobs)
    parts = [i for i in range(data.n_shards) if data.source.parts[i].n_rows]
    for i in counted_steps(-(-len(parts) // step), "searching neighbours"):
        limits = np.full(search.n_lists, np.inf) if nearest is None else nearest.limits(search.n_lists, search.k)
        work = partial(_nearest_in_part, data, search, sizes, limits)
        for more in run_parallel(work, parts[i * step : (i + 1) * step], n_jobs, progress=False):
            nearest = more if nearest is None else nearest if more is None else nearest.joined(more, search.k)
    assert nearest is not None
    return nearest


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
    data: ShardedDataset, search: AnchorSearch | WeightedSearch, sizes: BlockSizes, limits: np.ndarray, part: int
) -> Lists | None:
    nearest: Lists | None = None
    for first, table in sizes.tables(data, part):
        pairs = search(data.dataset_of(table), first)
        if pairs is None:
            continue
        more = Lists.of(pairs[pairs["key"].to_numpy() <= limits[pairs["list"]]], table, first)
        nearest = more if nearest is None else nearest.joined(more, search.k)
        limits = np.minimum(limits, nearest.limits(search.n_lists, search.k))
    return nearest


@dataclass(frozen=True, eq=False)
class UsedRows:
    """Some rows of data in parts.

    Parameters
    ----------
    labelled_only : bool
        Whether rows without a known target are left out.
    without : ndarray of int
        Numbers of rows that are left out, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.neighbors.in_parts import UsedRows
    >>> data = om.Dataset([[1.0], [2.0], [3.0]], ["a", None, "b"])
    >>> UsedRows(labelled_only=True).mask(data, first=10).tolist()
    [True, False, True]
    >>> UsedRows(without=np.array([9, 12])).mask(data, first=10).tolist()
    [True, True, False]
    >>> UsedRows().are_all, UsedRows(labelled_only=True).are_all
    (True, False)
    """

    labelled_only: bool = False
    without: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def are_all(self) -> bool:
        """Whether no row is left out."""
        return not self.labelled_only and not len(self.without)

    def mask(self, block: Dataset, first: int) -> np.ndarray:
        """Return which rows of a block, whose first row has this number, are used."""
        used = block.labelled.copy() if self.labelled_only else np.ones(block.n_examples, bool)
        start, stop = np.searchsorted(self.without, [first, first + block.n_examples])
        used[self.without[start:stop] - first] = False
        return used


class FeatureFacts(NamedTuple):
    """Ranges of the numeric features, and whether a cell of a feature that has distances is missing."""

    ranges: Ranges
    some_missing: bool


def feature_facts(data: ShardedDataset, used: UsedRows, n_jobs: int | None = None) -> FeatureFacts:
    """Return the ranges of the used rows; where these are all rows, nothing is read.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    used : UsedRows
        The rows that count.
    n_jobs : int or None
        Number of workers.
    """
    summary = data.summary.loc[list(data.feature_names)]
    nominal = np.array([levels is not None for levels in data.feature_levels])
    low, high = (summary[name].to_numpy(np.float64)[~nominal] for name in ("low", "high"))
    missing = summary["missing"].to_numpy() > 0
    if not used.are_all:
        parts = run_parallel(partial(_ends, data, used), range(data.n_shards), n_jobs)
        ends = np.array([part for part, _ in parts if part is not None])
        low, high = np.fmin.reduce(ends[:, 0], axis=0), np.fmax.reduce(ends[:, 1], axis=0)
        missing = np.any([part for _, part in parts], axis=0)
    has_distances = np.array([levels is None or len(levels) > 1 for levels in data.feature_levels])
    has_distances[~nominal] = ~np.isnan(low)
    # halves, as in `feature_ranges`
    return FeatureFacts(Ranges(low * 0.5, high * 0.5 - low * 0.5), bool((missing & has_distances).any()))


def _ends(data: ShardedDataset, used: UsedRows, part: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Smallest and largest number of the numeric features in a part, and where cells are missing."""
    ends_so_far, first = None, int(data.source.starts[part])
    missing = np.zeros(data.n_features, bool)
    for table in data.tables([part]):
        block = data.dataset_of(table)
        mask = used.mask(block, first)
        first += block.n_examples
        if not mask.any():
            continue
        features = block.features.take(mask)
        ends = np.array([np.fmin.reduce(features.numeric, axis=0), np.fmax.reduce(features.numeric, axis=0)], float)
        ends_so_far = (
            ends
            if ends_so_far is None
            else np.array([np.fmin(ends_so_far[0], ends[0]), np.fmax(ends_so_far[1], ends[1])])
        )
        missing |= np.array(features.with_missing)
    return ends_so_far, missing


@dataclass(frozen=True, eq=False)
class AnchorSearch:
    """The search of `NeighborSearch` for anchors, among the rows of one block after the other.

    Parameters
    ----------
    anchors : Cells
        The examples whose neighbours are sought.
    numbers : ndarray of int
        Their numbers among all rows: none is its own neighbour.
    ranges : Ranges
        Scale of the numbers.
    used : UsedRows
        Which rows may be neighbours.
    k : int
        Number of neighbours in each group.
    group_of : ndarray of int, optional
        Group of each class of the first target, -1 where no example has it; by default all rows are one group.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.neighbors.in_parts import AnchorSearch
    >>> from omnirank.neighbors.cells import feature_ranges, table_cells
    >>> from omnirank.neighbors.in_parts import UsedRows
    >>> data = om.Dataset([[0.0], [1.0], [3.0], [4.0]])
    >>> ranges = feature_ranges(data.features)
    >>> anchors = table_cells(data.take([0]).features, ranges)
    >>> near = AnchorSearch(anchors, np.array([0]), ranges, UsedRows(), 2)(data.take([0, 1, 2]), first=0)
    >>> near["number"].tolist(), near["distance"].tolist()
    ([1, 2], [0.25, 0.75])
    """

    anchors: Cells
    numbers: np.ndarray
    ranges: Ranges
    used: UsedRows
    k: int
    group_of: np.ndarray | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return 1 if self.group_of is None else int(self.group_of.max()) + 1

    @property
    def n_lists(self) -> int:
        """Number of lists: one for each anchor and group, groups of an anchor together."""
        return len(self.numbers) * self.n_groups

    def __call__(self, block: Dataset, first: int) -> pd.DataFrame | None:
        """Return the k nearest rows of a block for each anchor and group."""
        from omnirank.neighbors.kernels.tile import TIE

        groups = self._groups(block, first)
        if (groups < 0).all():
            return None
        n_rows, n_anchors = block.n_examples, len(self.numbers)
        cells = table_cells(block.features, self.ranges).followed_by(self.anchors)
        search = NeighborSearch(cells, np.concatenate([groups, np.full(n_anchors, -1)]))
        place = self.numbers - first
        inside = (place >= 0) & (place < n_rows)
        ids, distances = search.nearest(np.where(inside, place, n_rows + np.arange(n_anchors)), self.k)
        anchor, group, q = np.nonzero(ids >= 0)
        far = distances[anchor, group, q]
        numbers = first + ids[anchor, group, q].astype(np.int64)
        return pairs_of(anchor * self.n_groups + group, numbers, np.rint(far / TIE), far)

    def _groups(self, block: Dataset, first: int) -> np.ndarray:
        groups = np.zeros(block.n_examples, np.int64)
        if self.group_of is not None:
            assert block.target is not None
            groups = self.group_of[np.nan_to_num(block.target.values[:, 0]).astype(np.intp)]
        return np.where(self.used.mask(block, first), groups, -1)


@dataclass(frozen=True, eq=False)
class WeightedSearch:
    """The search of `weighted_neighbors` for test examples, among the rows of one block after the other.

    Parameters
    ----------
    test : Table
        Features of the test examples, with the levels of the rows.
    weights : ndarray
        Weight of each feature.
    ranges : Ranges
        Ranges of all rows that may be neighbours.
    used : UsedRows
        Which rows these are.
    k : int
        Number of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.neighbors.cells import feature_ranges
    >>> from omnirank.neighbors.in_parts import UsedRows
    >>> from omnirank.neighbors.in_parts import WeightedSearch
    >>> data = om.Dataset([[0.0], [1.0], [3.0], [4.0]])
    >>> ranges = feature_ranges(data.features)
    >>> search = WeightedSearch(data.take([1]).features, np.ones(1), ranges, UsedRows(without=np.array([1])), 2)
    >>> near = search(data.take([0, 1, 2]), first=0)
    >>> near["number"].tolist(), near["key"].tolist()
    ([0, 2], [0.0625, 0.25])
    """

    test: Table
    weights: np.ndarray
    ranges: Ranges
    used: UsedRows
    k: int

    @property
    def n_lists(self) -> int:
        """Number of lists: one for each test example."""
        return self.test.n_rows

    def __call__(self, block: Dataset, first: int) -> pd.DataFrame | None:
        """Return the k nearest rows of a block for each test example; their distances are the keys."""
        rows = np.flatnonzero(self.used.mask(block, first))
        if not len(rows):
            return None
        ids, keys = weighted_nearest(block.features.take(rows), self.test, self.weights, self.k, self.ranges)
        lists = np.repeat(np.arange(len(ids)), ids.shape[1])
        return pairs_of(lists, first + rows[ids.ravel()], keys.ravel(), keys.ravel())
