"""Exact nearest neighbours in Euclidean distance, in blocks: never a matrix of all distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.core.parallel import blocks, run_parallel

# Rows of a block of work, and others with which they are compared at once: their distances stay in the cache.
_ROWS = 256
_OTHERS = 1024
# Rows of distances that are worked on until they are done, while they are in the cache.
_CACHED_ROWS = 32
# Cells of the pairs whose distances are computed at once: as many as stay in the cache.
_PAIR_CELLS = 2**16
# Candidates beyond k, so that the rounding of single precision seldom matters.
_SPARE = 8
# Squared distances that agree to this part are ties.
_TIE = 2.0**-32


def squared_distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distances between rows of two matrices, by a product of matrices.

    Columns should be centred: the error is some 1e-16 of the squared norms.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.euclidean import squared_distances
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [1.0, 0.0]])).tolist()
    [[25.0, 1.0]]
    """
    distances = (-2 * rows) @ others.T
    own, far = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->i", others, others)
    for start in range(0, len(distances), _CACHED_ROWS):
        part = distances[start : start + _CACHED_ROWS]
        part += own[start : start + _CACHED_ROWS, None]
        part += far
        np.maximum(part, 0.0, out=part)
    return distances


def pair_distances(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the squared distances of pairs of rows, from their differences: equal rows have 0 exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.euclidean import pair_distances
    >>> pair_distances(np.array([[0.0], [3.0]]), np.array([0]), np.array([1])).tolist()
    [9.0]
    """
    distances = np.empty(len(first))
    step = max(1, _PAIR_CELLS // max(1, values.shape[1]))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        apart = values[first[part]] - values[second[part]]
        distances[part] = np.einsum("ij,ij->i", apart, apart)
    return distances


def nearest_rows(values: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    """Return the numbers of the k nearest other rows of each row, nearest first; of ties the first row wins.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The examples, columns centred.
    k : int
        How many, at most n - 1.
    n_jobs : int or None
        Number of workers.

    Returns
    -------
    ndarray of shape (n, k)
        Row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.euclidean import nearest_rows
    >>> nearest_rows(np.array([[0.0], [1.0], [-1.0], [5.0]]), 2).tolist()
    [[1, 2], [0, 2], [0, 1], [1, 0]]
    """
    n = len(values)
    norms = np.einsum("ij,ij->i", values, values)
    search = _Nearest(values, norms, _filled_up(values, 0.0), _filled_up(norms, np.inf), k)
    parts = run_parallel(search, blocks(n, -(-n // _ROWS)), n_jobs, description="finding neighbours")
    return np.concatenate(parts)


def _filled_up(values: np.ndarray, filling: float) -> np.ndarray:
    """Rows in single precision, and further ones up to whole blocks of a tile's width."""
    from omnirank.neighbors.kernels.tile import tile_width

    n_more = -len(values) % tile_width(np.float32)
    more = np.full((n_more, *values.shape[1:]), filling, np.float32)
    return np.concatenate([values.astype(np.float32), more])


@dataclass(frozen=True, eq=False)
class _Nearest:
    """The k nearest of the rows of a block: candidates in single precision, then exact distances of these.

    Rows for which rounding, or a tie, might have hidden a neighbour are sought in double precision.
    """

    values: np.ndarray
    norms: np.ndarray
    rough: np.ndarray
    rough_norms: np.ndarray
    k: int

    def __call__(self, rows: range) -> np.ndarray:
        from omnirank.neighbors.kernels.euclidean import order_candidates

        own = np.arange(rows.start, rows.stop)
        n_kept = min(self.k + _SPARE, len(self.values) - 1)
        candidates, rough = self._candidates(own, n_kept)
        nearest = np.empty((len(own), self.k), np.int64)
        farthest = np.empty(len(own))
        order_candidates(self.values, own, candidates, nearest, farthest)
        kth = farthest * (1 + 2 * _TIE)
        last = rough[:, -1] + self.norms[own]
        doubtful = (kth >= last - self._error(own, kth)) & (n_kept < len(self.values) - 1)
        if doubtful.any():
            nearest[doubtful] = self._in_double(own[doubtful])
        return nearest

    def _candidates(self, own: np.ndarray, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the nearest in single precision, nearest first, and their distances less the norms of the rows."""
        from omnirank.neighbors.kernels.euclidean import keep_candidates
        from omnirank.neighbors.kernels.tile import tile_width

        width = tile_width(np.float32)
        sought = -2 * self.rough[own]
        ids = np.full((len(own), 1, n_kept), -1, np.int32)
        distances = np.full(ids.shape, np.inf, np.float32)
        for start in range(0, len(self.rough), _OTHERS):
            part = slice(start, start + _OTHERS)
            products = sought @ self.rough[part].T
            products += self.rough_norms[part]
            numbers = np.arange(start, start + products.shape[1], dtype=np.int32).reshape(-1, width)
            keep_candidates(products.reshape(-1, width), own, numbers, ids, distances)
        return ids[:, 0], distances[:, 0].astype(np.float64)

    def _error(self, own: np.ndarray, kth: np.ndarray) -> np.ndarray:
        """Bound of the rounding error for examples that are nearer than the k-th: their norms are bounded, too."""
        size = np.sqrt(self.norms[own])
        other = size + np.sqrt(kth)
        return 2.0**-24 * (2 * (self.values.shape[1] + 4) * size * other + 4 * other**2)

    def _in_double(self, own: np.ndarray) -> np.ndarray:
        """The k nearest by distance, then by number; products of matrices, less their error, say what is too far."""
        from omnirank.neighbors.kernels.euclidean import nearest_of_all

        least = squared_distances(self.values[own], self.values)
        least -= 2.0**-51 * (self.values.shape[1] + 4) * (self.norms[own, None] + self.norms)
        nearest = np.empty((len(own), self.k), np.int64)
        nearest_of_all(self.values, own, least, nearest)
        return nearest
