"""Euclidean distances, and exact nearest neighbours in them."""

from __future__ import annotations

import numpy as np

from omnirank.neighbors.weighted import DenseExamples, nearest_examples, without_self

# Rows of distances that are worked on until they are done, while they are in the cache.
_CACHED_ROWS = 32
# Cells of the pairs whose distances are computed at once: as many as stay in the cache.
_PAIR_CELLS = 2**16


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
    >>> pair_distances(np.array([[0.0], [3.0]]), np.array([0, 1]), np.array([1, 1])).tolist()
    [9.0, 0.0]
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
    return without_self(nearest_examples(DenseExamples.of_numbers(values), k + 1, n_jobs))
