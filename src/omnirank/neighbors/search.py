"""Exact nearest neighbours among cells: blocked, in bounded memory, never a matrix of all distances."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.neighbors.cells import Cells, SparseCells

# Candidates beyond k that the search in low precision keeps, so that its rounding seldom matters: as few as suffice.
_SPARE = (4, 8)
# Rows tried first; when more than this share of them is uncertain, all are sought in double precision.
_TRIED = 16
_UNCERTAIN = 0.2


class NeighborSearch:
    """Nearest neighbours of examples among the examples of the same data.

    Parameters
    ----------
    cells : Cells
        The examples.
    groups : ndarray of int, optional
        Group of each example, -1 to leave it out: the nearest are sought in each group. By default all are one
        group.

    Notes
    -----
    The distance is D d_X = sum_i d_i, in double precision. Distances that agree when rounded to 2**-32 are ties,
    which the example that comes first wins. The search itself runs in low precision where that is safe (16 bits if
    all features are numbers, else single precision): it keeps a few candidates more than asked for, their distances are
    computed again, and rows for which rounding might have hidden a neighbour are sought in double precision. Memory is
    that of the data once more at most.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.cells import table_cells
    >>> from omnirank.neighbors.search import NeighborSearch
    >>> cells = table_cells(Table.from_numeric(np.array([[0.0], [1.0], [3.0], [4.0]])))
    >>> ids, distances = NeighborSearch(cells).nearest(np.array([0, 2]), 2)
    >>> ids[:, 0].tolist(), distances[:, 0].tolist()
    ([[1, 2], [3, 1]], [[0.25, 0.75], [0.25, 0.5]])
    """

    def __init__(self, cells: Cells, groups: np.ndarray | None = None) -> None:
        self.cells = cells
        groups = np.zeros(cells.n_rows, np.int64) if groups is None else np.asarray(groups, np.int64)
        self._members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
        numbers = cells.values[:, : cells.n_numeric]
        self._missing = _offsets(cells)
        self._offsets = self._missing + 0.5 * cells.n_numeric - numbers.sum(axis=1)
        self._both = _columns_missing_in_both(cells)
        self._masks = np.isnan(cells.values[:, self._both])
        # sums of 0, 1/2 and 1 have no rounding in single precision
        small = 2 * cells.n_features < 2**24 and not len(self._both)
        self._exact = small and _are_halves(numbers[:1]) and _are_halves(numbers)
        self._spare = _SPARE[-1]
        self._blocks: dict[Any, Any] = {}
        self._precision: Any = np.float32 if self._exact else self._safe_precision()
        # made before the search is sent: else every worker process would make them again, for every part of the work
        self._in_blocks(self._precision)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self._members)

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of the k nearest other examples of each group, nearest first.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of the examples whose neighbours are sought.
        k : int
            How many in each group; where there are fewer, the number -1 and an infinite distance fill up.

        Returns
        -------
        ids, distances : ndarray of shape (n_rows, n_groups, k)
            int32 and float64; distances are D d_X.
        """
        rows = np.asarray(rows, np.int64)
        ids, distances, certain = self._in(self._precision, rows, k)
        if not certain.all():
            again = self._in(np.float64, rows[~certain], k)
            ids[~certain], distances[~certain] = again[0], again[1]
        return ids, distances

    def _safe_precision(self) -> Any:
        """The precision in which to seek: double where a lower one leaves too much uncertain."""
        low = np.int16 if self.cells.n_numeric == self.cells.n_features <= _MOST_FEATURES else np.float32
        rows = np.unique(np.linspace(0, self.cells.n_rows - 1, _TRIED).astype(np.int64))
        for self._spare in _SPARE:
            certain = self._in(low, rows, min(10, self.cells.n_rows))[2]
            if certain.all():
                break
        return np.float64 if np.mean(~certain) > _UNCERTAIN else low

    def _in(self, precision: Any, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Nearest, found in that precision, and whether that is certain."""
        from omnirank.neighbors.kernels.search import PairCells, verify

        cells, n_rows = self.cells, len(rows)
        doubtful = precision != np.float64 and not self._exact
        # one place more than a group has examples is never taken, which shows that none is left out
        n_kept = min(k + (self._spare if doubtful else 0), 1 + max(len(group) for group in self._members))
        candidates, rough, error = self._candidates(precision, rows, n_kept)
        nearest = np.empty((n_rows, self.n_groups, k), np.int32)
        exact = np.empty(nearest.shape)
        certain = np.empty(n_rows, bool)
        pairs = PairCells(cells.values, cells.missing_start, cells.missing, cells.correction)
        memory = np.empty(n_kept), np.empty(n_kept), np.empty(n_kept, np.int32)
        verify(pairs, cells.n_numeric, rows, candidates, rough, error, nearest, exact, certain, *memory)
        return nearest, exact, certain | (not doubtful)

    def _candidates(self, precision: Any, rows: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers and distances of the n nearest of each row (and of rows that fill up), and the error bound."""
        from omnirank.neighbors.kernels.search import CHUNK, search
        from omnirank.neighbors.kernels.tile import ROWS, tile_width

        cells, blocks = self.cells, self._in_blocks(precision)
        sought = blocks.rows(rows) if precision == np.int16 else _padded_rows(self, rows, precision)
        candidates = np.empty((len(sought.ids), self.n_groups, n), np.int32)
        rough = np.empty(candidates.shape, np.float32 if precision == np.int16 else precision)
        if precision == np.int16:
            from omnirank.neighbors.kernels.int16_search import WIDTH, search_words

            memory = np.empty((ROWS, WIDTH), np.int32), np.empty((ROWS, WIDTH), np.float32)
            search_words(sought, blocks.blocks, blocks.groups, blocks.unit, candidates, rough, *memory)
            return candidates, rough, blocks.error
        n_columns = sought.cells.shape[1]
        bounds = (0, cells.n_numeric, cells.n_features, n_columns)
        search(sought, blocks, bounds, candidates, rough, np.empty((ROWS, tile_width(precision)), precision))
        # sums of at most this many terms, each rounded, stay below the distance and the sums of both rows' terms,
        # which lie between -1 and 1
        n_sums = min(n_columns, CHUNK) + n_columns // CHUNK + 6
        return candidates, rough, np.array([(2 * n_sums + 1) * n_columns, n_sums]) * 2.0**-24

    def _doubled(self, rows: np.ndarray) -> np.ndarray:
        """Cells as the search takes them: numbers as 2 x - 1."""
        values = self.cells.values[rows]
        numbers = values[:, : self.cells.n_numeric]
        numbers *= 2
        numbers -= 1
        return values

    def _in_blocks(self, precision: Any) -> Any:
        """All examples as blocks, made when they are first needed."""
        if precision not in self._blocks:
            words = precision == np.int16
            blocks = WordCells(self.cells, self._missing, self._members) if words else _make_blocks(self, precision)
            self._blocks[precision] = blocks
        return self._blocks[precision]


def _are_halves(values: np.ndarray) -> bool:
    return bool(((values == 0) | (values == 0.5) | (values == 1)).all())


def _offsets(cells: Cells) -> np.ndarray:
    """What the missing cells of a row add to its distances, whatever the other row."""
    rows = np.repeat(np.arange(cells.n_rows), np.diff(cells.missing_start))
    return np.bincount(rows, cells.correction[cells.missing], cells.n_rows)


def _columns_missing_in_both(cells: Cells) -> np.ndarray:
    """Nominal columns with missing cells: there the offsets of two rows do not simply add."""
    columns = np.unique(cells.missing)
    return columns[columns >= cells.n_numeric]


def _padded_rows(search: NeighborSearch, rows: np.ndarray, precision: Any) -> Any:
    from omnirank.neighbors.kernels.search import Rows
    from omnirank.neighbors.kernels.tile import ROWS

    cells, n_rows = search.cells, len(rows)
    n_padded = -(-n_rows // ROWS) * ROWS
    wide = np.zeros((n_padded, cells.n_features + len(search._both)), precision)
    wide[:n_rows, : cells.n_features] = search._doubled(rows)
    wide[:n_rows, cells.n_features :] = search._masks[rows] * -cells.correction[search._both]
    offset = np.zeros(n_padded, precision)
    offset[:n_rows] = search._offsets[rows]
    own = np.full(n_padded, -1, np.int32)
    own[:n_rows] = rows
    return Rows(wide, offset, own)


def _blocks_of_groups(groups: list[np.ndarray], width: int) -> list[tuple[int, np.ndarray]]:
    return [(g, rows[i : i + width]) for g, rows in enumerate(groups) for i in range(0, len(rows), width)]


def _make_blocks(search: NeighborSearch, precision: Any) -> Any:
    from omnirank.neighbors.kernels.search import Blocks
    from omnirank.neighbors.kernels.tile import tile_width

    cells, width = search.cells, tile_width(precision)
    parts = _blocks_of_groups(search._members, width)
    n_columns = cells.n_features + len(search._both)
    transposed = np.zeros((len(parts), n_columns, width), precision)
    offset = np.full((len(parts), width), np.inf, precision)
    ids = np.full((len(parts), width), -1, np.int32)
    for block, (_, members) in enumerate(parts):
        n = len(members)
        transposed[block, : cells.n_features, :n] = search._doubled(members).T
        transposed[block, cells.n_features :, :n] = search._masks[members].T
        offset[block, :n] = search._offsets[members]
        ids[block, :n] = members
    groups = np.array([group for group, _ in parts], np.int64)
    return Blocks(transposed, offset, ids, groups, np.ones(n_columns, precision))


# The range from 0 to 1 has this many units, half of them below zero; with more columns than this the sums overflow.
_UNITS = 32766
_MOST_FEATURES = 60_000


class WordCells:
    """Cells as words of 16 bits, two in each of 32 bits.

    Parameters
    ----------
    cells : Cells
        Numbers alone.
    offsets : ndarray
        What the missing cells of each example add to its distances.
    members : list of ndarray
        Numbers of the examples of each group.
    """

    def __init__(self, cells: Cells, offsets: np.ndarray, members: list[np.ndarray]) -> None:
        n_rows, n_features = cells.values.shape
        words = np.zeros((n_rows, n_features + n_features % 2), np.int16)
        np.rint(cells.values * _UNITS - _UNITS // 2, out=words[:, :n_features], casting="unsafe")
        self._sums = words.sum(axis=1, dtype=np.int32)
        self._pairs = words.view(np.int32)
        self._offsets = offsets.astype(np.float32)
        self.unit = np.float32(1 / _UNITS)
        self.blocks, self.groups = self._in_blocks(members)

    @property
    def error(self) -> np.ndarray:
        """Bound of the error of a distance d: error[0] + error[1] d.

        Both cells of a difference are wrong by half a unit at most; sums of units are exact, and what is done with
        them in single precision (one conversion, one product, two sums) is rounded, offsets relative to their size.
        """
        n_features = 2 * self._pairs.shape[1]
        return np.array([n_features / _UNITS * (1 + 2.0**-20) + n_features * 2.0**-22, 2.0**-22])

    def rows(self, rows: np.ndarray) -> Any:
        """Return the given examples, padded to whole tiles."""
        from omnirank.neighbors.kernels.int16_search import Words
        from omnirank.neighbors.kernels.tile import ROWS

        padded = np.zeros(-(-len(rows) // ROWS) * ROWS, np.int64)
        padded[: len(rows)] = rows
        own = padded.astype(np.int32)
        own[len(rows) :] = -1
        return Words(self._pairs[padded], self._sums[padded], self._offsets[padded], own)

    def _in_blocks(self, members: list[np.ndarray]) -> tuple[Any, np.ndarray]:
        from omnirank.neighbors.kernels.int16_search import WIDTH, Words

        parts = _blocks_of_groups(members, WIDTH)
        shape = (len(parts), WIDTH)
        cells = np.zeros((len(parts), self._pairs.shape[1], WIDTH), np.int32)
        sums, ids = np.zeros(shape, np.int32), np.full(shape, -1, np.int32)
        offset = np.full(shape, np.inf, np.float32)
        for block, (_, numbers) in enumerate(parts):
            n = len(numbers)
            cells[block, :, :n] = self._pairs[numbers].T
            sums[block, :n], offset[block, :n], ids[block, :n] = self._sums[numbers], self._offsets[numbers], numbers
        return Words(cells, sums, offset, ids), np.array([group for group, _ in parts], np.int64)


_ROWS = 256


class StoredNeighbors:
    """Neighbours of some examples, kept; used as a `NeighborSearch`.

    Parameters
    ----------
    search : NeighborSearch or SparseSearch
        What finds them.
    k : int
        How many are kept.
    n_jobs : int or None
        Number of workers.
    rows : ndarray of int, optional
        Whose neighbours are kept, by default those of all examples.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.cells import table_cells
    >>> from omnirank.neighbors.search import NeighborSearch
    >>> from omnirank.neighbors.search import StoredNeighbors
    >>> cells = table_cells(Table.from_numeric(np.array([[0.0], [1.0], [3.0], [4.0]])))
    >>> StoredNeighbors(NeighborSearch(cells), 3).nearest(np.array([0, 2]), 2)[0][:, 0].tolist()
    [[1, 2], [3, 1]]
    """

    def __init__(
        self, search: NeighborSearch | SparseSearch, k: int, n_jobs: int | None = None, rows: np.ndarray | None = None
    ) -> None:
        self.cells, self.n_groups = search.cells, search.n_groups
        rows = np.arange(self.cells.n_rows) if rows is None else rows
        self._place = np.full(self.cells.n_rows, -1)
        self._place[rows] = np.arange(len(rows))
        parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
        lists = run_parallel(partial(search.nearest, k=k), parts, n_jobs, description="searching neighbours")
        self._ids, self._distances = (np.concatenate(arrays) for arrays in zip(*lists, strict=True))

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of the k nearest of each group, as `NeighborSearch.nearest` does."""
        places = self._place[rows]
        return self._ids[places, :, :k], self._distances[places, :, :k]


class SparseSearch:
    """Nearest neighbours among the rows of sparse cells; used as a `NeighborSearch`, with the same results.

    Time is that of the pairs of stored cells in each column, memory that of the stored cells.

    Parameters
    ----------
    cells : SparseCells
        The examples.
    groups : ndarray of int, optional
        Group of each example, -1 to leave it out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.cells import sparse_cells
    >>> from omnirank.neighbors.search import SparseSearch
    >>> cells = sparse_cells(Table.from_sparse(sparse.csc_array([[0.0], [1.0], [3.0], [4.0]])))
    >>> ids, distances = SparseSearch(cells).nearest(np.array([0, 2]), 2)
    >>> ids[:, 0].tolist(), distances[:, 0].tolist()
    ([[1, 2], [3, 1]], [[0.25, 0.75], [0.25, 0.5]])
    """

    def __init__(self, cells: SparseCells, groups: np.ndarray | None = None) -> None:
        self.cells = cells
        self._groups = np.zeros(cells.n_rows, np.int64) if groups is None else np.asarray(groups, np.int64)
        self.n_groups = int(self._groups.max()) + 1
        self._stored, self._base = cells.stored, cells.base

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of the k nearest of each group, as `NeighborSearch.nearest` does."""
        from omnirank.neighbors.kernels.sparse_search import search_stored

        rows = np.asarray(rows, np.int64)
        ids = np.empty((len(rows), self.n_groups, k), np.int32)
        distances = np.empty(ids.shape)
        search_stored(self._stored, self._base, self._groups, rows, ids, distances)
        return ids, distances


def search_among(cells: Cells | SparseCells, groups: np.ndarray | None = None) -> Any:
    """Return the exact search among cells of either kind."""
    return NeighborSearch(cells, groups) if isinstance(cells, Cells) else SparseSearch(cells, groups)
