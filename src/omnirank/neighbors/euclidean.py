"""Exact nearest neighbours in Euclidean distance, in blocks: never a matrix of all distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.core.parallel import blocks, run_parallel

# Rows of a block, and cells of its distances: as many as keep the products fast.
_MOST_ROWS = 256
_MOST_CELLS = 2**23
# Cells of the pairs whose distances are computed at once: as many as stay in the cache.
_PAIR_CELLS = 2**16
# Candidates beyond k, so that the rounding of single precision seldom matters.
_SPARE = 8
# Distances among which the smallest is found first: rows are searched in parts of this size.
_PART = 64
# Squared distances that agree to this part of the largest possible one are ties.
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
    found = rows @ others.T
    found *= -2
    found += np.einsum("ij,ij->i", rows, rows)[:, None]
    found += np.einsum("ij,ij->i", others, others)
    return np.maximum(found, 0.0, out=found)


def pair_distances(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the squared distances of pairs of rows, from their differences: equal rows have 0 exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.euclidean import pair_distances
    >>> pair_distances(np.array([[0.0], [3.0]]), np.array([0, 1]), np.array([1, 1])).tolist()
    [9.0, 0.0]
    """
    found = np.empty(len(first))
    step = max(1, _PAIR_CELLS // max(1, values.shape[1]))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        apart = values[first[part]] - values[second[part]]
        found[part] = np.einsum("ij,ij->i", apart, apart)
    return found


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
    size = max(1, min(_MOST_ROWS, _MOST_CELLS // n))
    norms = np.einsum("ij,ij->i", values, values)
    unit = _TIE * 4 * float(norms.max()) if norms.any() else 1.0
    search = _Nearest(values, values.astype(np.float32), norms, k, unit)
    parts = run_parallel(search, blocks(n, -(-n // size)), n_jobs, description="finding neighbours")
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class _Nearest:
    """The k nearest of the rows of a block: candidates in single precision, then exact distances of these.

    Rows for which rounding, or a tie, might have hidden a neighbour are sought in double precision.
    """

    values: np.ndarray
    rough: np.ndarray
    norms: np.ndarray
    k: int
    unit: float

    def __call__(self, rows: range) -> np.ndarray:
        own = np.arange(rows.start, rows.stop)
        n = len(self.values)
        # what is added to the squared norm of the row
        rest = (-2 * self.rough[own]) @ self.rough.T
        rest += self.norms.astype(np.float32)
        rest[np.arange(len(own)), own] = np.inf
        n_kept = min(self.k + _SPARE, n - 1)
        chosen = _smallest(rest, n_kept)
        last = np.take_along_axis(rest, chosen, axis=1).max(axis=1).astype(np.float64) + self.norms[own]
        squared = pair_distances(self.values, np.repeat(own, n_kept), chosen.ravel()).reshape(chosen.shape)
        rounded = np.rint(squared / self.unit)
        order = np.lexsort((chosen, rounded), axis=1)[:, : self.k]
        found = np.take_along_axis(chosen, order, axis=1)
        kth = (np.take_along_axis(rounded, order[:, -1:], axis=1)[:, 0] + 1) * self.unit
        doubtful = (kth >= last - self._error(own, kth)) & (n_kept < n - 1)
        if doubtful.any():
            found[doubtful] = self._in_double(own[doubtful])
        return found

    def _error(self, own: np.ndarray, kth: np.ndarray) -> np.ndarray:
        """Bound of the rounding error for examples that are nearer than the k-th: their norms are bounded, too."""
        size = np.sqrt(self.norms[own])
        other = size + np.sqrt(kth)
        return 2.0**-24 * (2 * (self.values.shape[1] + 4) * size * other + 4 * other**2)

    def _in_double(self, own: np.ndarray) -> np.ndarray:
        """The k nearest by distance, then by number: both in one key."""
        n = len(self.values)
        squared = squared_distances(self.values[own], self.values)
        keys = np.rint(squared / self.unit).astype(np.int64) * n + np.arange(n)
        keys[np.arange(len(own)), own] = np.iinfo(np.int64).max
        return np.sort(np.partition(keys, self.k - 1, axis=1)[:, : self.k], axis=1) % n


def _smallest(values: np.ndarray, k: int) -> np.ndarray:
    """Places of the k smallest of each row; they lie in the k parts whose smallest values are smallest."""
    n_rows, n = values.shape
    n_parts = n // _PART
    if k >= n_parts // 2:
        return np.argpartition(values, k - 1, axis=1)[:, :k]
    whole = values[:, : n_parts * _PART].reshape(n_rows, n_parts, _PART)
    parts = np.argpartition(whole.min(axis=2), k - 1, axis=1)[:, :k]
    places = (parts[:, :, None] * _PART + np.arange(_PART)).reshape(n_rows, -1)
    left = np.broadcast_to(np.arange(n_parts * _PART, n), (n_rows, n - n_parts * _PART))
    places = np.concatenate([places, left], axis=1)
    best = np.argpartition(np.take_along_axis(values, places, axis=1), k - 1, axis=1)[:, :k]
    return np.take_along_axis(places, best, axis=1)
