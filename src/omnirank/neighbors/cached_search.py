"""Neighbours that are searched once and used several times."""

from __future__ import annotations

from functools import partial

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.neighbors.search import NeighborSearch

_ROWS = 256


class StoredNeighbors:
    """The neighbours of all or some examples, kept; used as a `NeighborSearch`.

    Parameters
    ----------
    search : NeighborSearch
        Where they come from.
    k : int
        How many neighbours are kept.
    n_jobs : int or None
        Number of workers.
    rows : ndarray of int, optional
        Whose neighbours are kept; by default those of all examples.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.mixed_distances import table_cells
    >>> from omnirank.neighbors.search import NeighborSearch
    >>> from omnirank.neighbors.cached_search import StoredNeighbors
    >>> cells = table_cells(Table.from_numeric(np.array([[0.0], [1.0], [3.0], [4.0]])))
    >>> StoredNeighbors(NeighborSearch(cells), 3).nearest(np.array([0, 2]), 2)[0][:, 0].tolist()
    [[1, 2], [3, 1]]
    """

    def __init__(
        self, search: NeighborSearch, k: int, n_jobs: int | None = None, rows: np.ndarray | None = None
    ) -> None:
        self.cells = search.cells
        self.n_groups = search.n_groups
        rows = np.arange(self.cells.n_rows) if rows is None else rows
        self._place = np.full(self.cells.n_rows, -1)
        self._place[rows] = np.arange(len(rows))
        parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
        found = run_parallel(partial(search.nearest, k=k), parts, n_jobs, description="searching neighbours")
        self._ids = np.concatenate([ids for ids, _ in found])
        self._distances = np.concatenate([distances for _, distances in found])

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of the k nearest of each group, as `NeighborSearch.nearest` does."""
        places = self._place[rows]
        return self._ids[places, :, :k], self._distances[places, :, :k]
