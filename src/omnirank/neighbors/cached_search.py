"""Neighbours that are searched once and used several times."""

from __future__ import annotations

from functools import partial

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.neighbors.mixed_distances import Cells
from omnirank.neighbors.search import NeighborSearch
from omnirank.neighbors.sparse_cells import SparseCells, SparseSearch

_ROWS = 256


class StoredNeighbors:
    """Neighbours of some examples, kept; used as a `NeighborSearch`.

    Parameters
    ----------
    cells : Cells
        The examples and their neighbours.
    n_groups : int
        Number of groups.
    rows : ndarray of int
        Whose neighbours are kept.
    ids, distances : ndarray of shape (n_rows, n_groups, k)
        The neighbours, as `NeighborSearch.nearest` returns them.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.mixed_distances import table_cells
    >>> from omnirank.neighbors.search import NeighborSearch
    >>> from omnirank.neighbors.cached_search import StoredNeighbors
    >>> cells = table_cells(Table.from_numeric(np.array([[0.0], [1.0], [3.0], [4.0]])))
    >>> StoredNeighbors.of(NeighborSearch(cells), 3).nearest(np.array([0, 2]), 2)[0][:, 0].tolist()
    [[1, 2], [3, 1]]
    """

    def __init__(
        self,
        cells: Cells | SparseCells,
        n_groups: int,
        rows: np.ndarray,
        ids: np.ndarray,
        distances: np.ndarray,
    ) -> None:
        self.cells = cells
        self.n_groups = n_groups
        self._place = np.full(cells.n_rows, -1)
        self._place[rows] = np.arange(len(rows))
        self._ids, self._distances = ids, distances

    @classmethod
    def of(
        cls,
        search: NeighborSearch | SparseSearch,
        k: int,
        n_jobs: int | None = None,
        rows: np.ndarray | None = None,
    ) -> StoredNeighbors:
        """Search the k nearest of some examples, by default of all."""
        rows = np.arange(search.cells.n_rows) if rows is None else rows
        parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
        found = run_parallel(partial(search.nearest, k=k), parts, n_jobs, description="searching neighbours")
        ids, distances = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return cls(search.cells, search.n_groups, rows, ids, distances)

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of the k nearest of each group, as `NeighborSearch.nearest` does."""
        places = self._place[rows]
        return self._ids[places, :, :k], self._distances[places, :, :k]
