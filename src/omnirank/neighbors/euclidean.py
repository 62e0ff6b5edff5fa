"""Exact nearest neighbours in Euclidean distance, in blocks: never a matrix of all distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.core.parallel import blocks, run_parallel

# Rows of a block, and cells of its distances (of these 64 MB): as many as keep the products fast.
_MOST_ROWS = 256
_MOST_CELLS = 2**23
# Candidates beyond k, so that ties at the border are seldom cut.
_SPARE = 4
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
    step = max(1, _MOST_CELLS // max(1, values.shape[1]))
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
    largest = 4 * float(np.einsum("ij,ij->i", values, values).max())
    search = _Nearest(values, k, _TIE * largest if largest > 0 else 1.0)
    parts = run_parallel(search, blocks(n, -(-n // size)), n_jobs, description="finding neighbours")
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class _Nearest:
    """The k nearest of the rows of a block."""

    values: np.ndarray
    k: int
    unit: float

    def __call__(self, rows: range) -> np.ndarray:
        own = np.arange(rows.start, rows.stop)
        squared = squared_distances(self.values[own], self.values)
        squared[np.arange(len(own)), own] = np.inf
        n_kept = min(self.k + _SPARE, squared.shape[1] - 1)
        chosen = np.argpartition(squared, n_kept - 1, axis=1)[:, :n_kept]
        rounded = np.rint(np.take_along_axis(squared, chosen, axis=1) / self.unit)
        found = _sorted(chosen, rounded, self.k)
        # where all candidates from the k-th on are tied, examples that come first may be among those left out
        kth = np.partition(rounded, self.k - 1, axis=1)[:, self.k - 1]
        doubtful = (kth == rounded.max(axis=1)) & (n_kept < squared.shape[1] - 1)
        if doubtful.any():
            whole = np.rint(squared[doubtful] / self.unit)
            everyone = np.broadcast_to(np.arange(squared.shape[1]), whole.shape)
            found[doubtful] = _sorted(everyone, whole, self.k)
        return found


def _sorted(ids: np.ndarray, rounded: np.ndarray, k: int) -> np.ndarray:
    """The first k by distance, then by number."""
    order = np.lexsort((ids, rounded), axis=1)[:, :k]
    return np.take_along_axis(ids, order, axis=1)
