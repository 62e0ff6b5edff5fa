"""Approximate neighbours from an index, for data with so many examples that comparing all pairs takes too long."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.errors import MissingDependencyError, setting
from omnirank.neighbors.mixed_distances import Cells

# Neighbours that the index seeks beyond those asked for, since its last ones are its worst.
_SPARE = 10


class ApproximateNeighbors:
    """Neighbours of all examples by nearest-neighbour descent (pynndescent); used as a `NeighborSearch`.

    Some of the nearest may be replaced by others that are nearly as near. Those found have exact distances and are in
    the order of these. Memory is that of the data twice more, and of the lists of neighbours.

    Parameters
    ----------
    cells : Cells
        The examples.
    k : int
        Number of neighbours, less than the number of examples.
    seed : int
        Seed of the index, below 2**31.

    Notes
    -----
    The index is built by one worker: with several its result would depend on their number. A missing value takes a
    random place in the index, since no place has the right distances to all others.

    References
    ----------
    Dong, Moses, Li: Efficient k-nearest neighbor graph construction for generic similarity measures. WWW 2011.
    """

    n_groups = 1

    def __init__(self, cells: Cells, k: int, seed: int) -> None:
        try:
            from pynndescent import NNDescent
        except ImportError as error:
            asked = setting("search", "approximate")
            raise MissingDependencyError(f"{asked} needs pynndescent: pip install 'omnirank[ann]'") from error
        self.cells = cells
        n_sought = min(k + 1 + _SPARE, cells.n_rows)
        places = _places(cells, np.random.default_rng(seed))
        index = NNDescent(places, "manhattan", n_neighbors=n_sought, random_state=seed, n_jobs=1)
        self._ids, self._distances = _ordered(cells, index.neighbor_graph[0], k)

    def nearest(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and distances of k near examples, as `NeighborSearch.nearest` does."""
        return self._ids[rows, None, :k], self._distances[rows, None, :k]


def _places(cells: Cells, rng: np.random.Generator) -> np.ndarray:
    """Numbers whose L1 distance is D d_X where nothing is missing."""
    split = cells.n_numeric
    parts: list[Any] = [cells.values[:, :split]]
    rows = np.repeat(np.arange(cells.n_rows), np.diff(cells.missing_start))
    for column in np.unique(cells.missing[cells.missing < split]).tolist():
        aside = np.zeros((cells.n_rows, 1))
        unknown = rows[cells.missing == column]
        aside[unknown, 0] = rng.choice([-0.5, 0.5], len(unknown))
        parts.append(aside)
    for column in np.flatnonzero(cells.correction[split:]).tolist():
        n_levels = round(-1 / cells.correction[split + column])
        codes = cells.values[:, split + column].copy()
        unknown = np.isnan(codes)
        codes[unknown] = rng.integers(n_levels, size=unknown.sum())
        parts.append((codes[:, None] == np.arange(n_levels)) * 0.5)
    return np.hstack(parts).astype(np.float32)


def _ordered(cells: Cells, candidates: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of each row's candidates by exact distance; places that are left over are -1 and infinite."""
    from omnirank.neighbors.kernels.search import PairCells, verify

    n_rows = len(candidates)
    own = np.arange(n_rows)
    # candidates that are the row itself (or none, as the index says by -1) go to the end, where `verify` stops
    usable = (candidates >= 0) & (candidates != own[:, None])
    order = np.argsort(~usable, axis=1, kind="stable")
    listed = np.where(np.take_along_axis(usable, order, 1), np.take_along_axis(candidates, order, 1), -1)
    listed = np.ascontiguousarray(listed[:, None, :], dtype=np.int32)
    found = np.empty((n_rows, 1, k), np.int32)
    exact = np.empty(found.shape)
    pairs = PairCells(cells.values, cells.missing_start, cells.missing, cells.correction)
    rough, certain = np.zeros(listed.shape, np.float32), np.empty(n_rows, bool)
    verify(pairs, cells.n_numeric, own, listed, rough, np.zeros(2), found, exact, certain)
    return found[:, 0], exact[:, 0]
