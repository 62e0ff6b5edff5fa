"""Which examples are alike, the spectrum of their graph, and how much features vary along it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parallel import blocks, run_parallel
from omnirank.core.seeds import stream
from omnirank.neighbors.weighted import DenseExamples, nearest_examples, without_self

# Examples whose distances tell the width of a kernel; of more, this many are drawn, the same ones always.
_SAMPLED = 1000
# Examples of a block of work, and those of it whose distances are worked on until they are done, while in the cache.
_ROWS = 256
_CACHED_ROWS = 32
# Cells of the pairs whose distances are computed at once: as many as stay in the cache.
_PAIR_CELLS = 2**16
# Examples of which a matrix of all pairs is held.
MOST_DENSE = 20_000


def squared_distances(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distances between rows of two matrices, by a product of matrices.

    Columns should be centred: the error is some 1e-16 of the squared norms.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import squared_distances
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
    >>> from omnirank.graphs.affinity import pair_distances
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
    >>> from omnirank.graphs.affinity import nearest_rows
    >>> nearest_rows(np.array([[0.0], [1.0], [-1.0], [5.0]]), 2).tolist()
    [[1, 2], [0, 2], [0, 1], [1, 0]]
    """
    return without_self(nearest_examples(DenseExamples.of_numbers(values), k + 1, n_jobs))


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of examples of which one is among the k nearest of the other, each in both directions.

    Attributes
    ----------
    first, second : ndarray of int
        The pairs, sorted.
    squared : ndarray
        Their squared distances.
    n_examples : int
        Number of examples.
    """

    first: np.ndarray
    second: np.ndarray
    squared: np.ndarray
    n_examples: int

    def weighted(self, weights: np.ndarray) -> Any:
        """Return a symmetric sparse matrix with these weights of the pairs."""
        start = np.searchsorted(self.first, np.arange(self.n_examples + 1))
        return sparse.csr_array((weights, self.second, start), shape=(self.n_examples, self.n_examples))

    def heat(self, width: float) -> Any:
        """Return the affinities exp(-squared distance / width) as a sparse matrix."""
        weights = np.exp(-self.squared / width)
        if len(weights) and not weights.any():
            raise ParameterError("width", width, "all affinities of neighbours vanish: choose a larger one, or 'auto'")
        return self.weighted(weights)

    def keep(self, mask: np.ndarray) -> Edges:
        """Return some of the pairs; a pair is kept in both directions, or in none."""
        return Edges(self.first[mask], self.second[mask], self.squared[mask], self.n_examples)


def neighbor_edges(values: np.ndarray, k: int, n_jobs: int | None = None) -> Edges:
    """Return the pairs of neighbours among the rows of a matrix with centred columns.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The examples.
    k : int
        Number of neighbours; all other examples where there are fewer.
    n_jobs : int or None
        Number of workers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import neighbor_edges
    >>> edges = neighbor_edges(np.array([[-2.0], [-1.0], [3.0]]), 1)
    >>> edges.first.tolist(), edges.second.tolist(), edges.squared.tolist()
    ([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 1.0, 16.0, 16.0])
    """
    n = len(values)
    nearest = nearest_rows(values, min(k, n - 1), n_jobs)
    first, second = np.repeat(np.arange(n), nearest.shape[1]), nearest.ravel()
    first, second = np.divmod(np.unique(np.concatenate([first * n + second, second * n + first])), n)
    # one of the two directions is computed, so that the affinities are symmetric in every bit
    ahead = first < second
    squared = np.empty(len(first))
    squared[ahead] = pair_distances(values, first[ahead], second[ahead])
    # sorted by the second example, and then by the first, the pairs are the other ones in their order
    squared[~ahead] = squared[ahead][np.lexsort((first[ahead], second[ahead]))]
    return Edges(first, second, squared, n)


def kernel_width(values: np.ndarray, quantile: float) -> float:
    """Return a quantile of the squared distances of all pairs of rows, or of those of 1000 rows.

    Where it is 0, as between mostly equal rows, their mean takes its place.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import kernel_width
    >>> kernel_width(np.array([[0.0], [1.0], [3.0]]), 0.5)
    4.0
    """
    values = values[np.sort(stream(0, len(values)).permutation(len(values))[:_SAMPLED])]
    square = squared_distances(values, values)
    squared = np.concatenate([row[i + 1 :] for i, row in enumerate(square)])
    # what is left of equal rows after rounding is no distance
    squared[squared < 1e-12 * squared.max(initial=0.0)] = 0.0
    width = float(np.quantile(squared, quantile)) if len(squared) else 0.0
    return width or float(squared.mean() if len(squared) else 0.0) or 1.0


def refuse_dense(n_examples: int, n_matrices: int, what: str, instead: str) -> None:
    """Raise a `DataError` where a matrix of all pairs would be held of too many examples."""
    if n_examples > MOST_DENSE:
        size = 8.0 * n_matrices * n_examples**2 / 2**30
        raise DataError(
            f"{what} holds matrices of all pairs of examples: {size:.0f} GB for {n_examples} examples; more than "
            f"{MOST_DENSE} are refused: {instead}"
        )


def full_heat(values: np.ndarray, width: float, n_jobs: int | None = None) -> np.ndarray:
    """Return the affinities exp(-squared distance / width) of all pairs, those of examples with themselves included.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import full_heat
    >>> full_heat(np.array([[-1.0], [1.0]]), 4.0).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """
    rows = blocks(len(values), -(-len(values) // _ROWS))
    affinities = np.concatenate(
        run_parallel(partial(heat_of_rows, values, width), rows, n_jobs, description="comparing examples")
    )
    np.fill_diagonal(affinities, 1.0)
    return affinities


def heat_of_rows(values: np.ndarray, width: float, rows: range) -> np.ndarray:
    """Return the affinities exp(-squared distance / width) of some rows to all.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import heat_of_rows
    >>> heat_of_rows(np.array([[-1.0], [1.0]]), 4.0, range(1)).round(4).tolist()
    [[1.0, 0.3679]]
    """
    affinities = squared_distances(values[rows.start : rows.stop], values)
    for start in range(0, len(affinities), _CACHED_ROWS):
        part = affinities[start : start + _CACHED_ROWS]
        part /= -width
        np.exp(part, out=part)
    return affinities


# Up to this size a dense decomposition is as fast, and knows no start.
_SMALL = 800
# So many restarts find the eigenvalues unless those next to them are nearly the same, as in long chains.
_RESTARTS = 150
# The Laplacian is shifted by this much, so that it can be inverted.
_SHIFT = 1e-6
# Columns of one product.
_WIDTH = 64


def smallest_pairs(affinity: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the smallest eigenvalues of :math:`I - D^{-1/2} S D^{-1/2}`, ascending, and their vectors as columns.

    Parameters
    ----------
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.
    n_pairs : int
        How many; all, where there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import smallest_pairs
    >>> eigenvalues, _ = smallest_pairs(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), 2)
    >>> eigenvalues.round(9).tolist()
    [0.0, 1.5]
    """
    n = affinity.shape[0]
    n_pairs = min(n_pairs, n)
    degree = degrees(affinity)
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    if n <= _SMALL or n_pairs >= n - 1 or not sparse.issparse(affinity):
        dense = affinity.toarray() if sparse.issparse(affinity) else affinity
        laplacian = np.eye(n) - root[:, None] * dense * root
        values, vectors = linalg.eigh(laplacian, subset_by_index=[0, n_pairs - 1])
    else:
        scale = sparse.diags_array(root)
        values, vectors = _sparse_pairs(sparse.csr_matrix(scale @ affinity @ scale), n_pairs)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return np.maximum(values, 0.0), vectors


def _sparse_pairs(affinity: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs by products with the normalised affinities; by factors of the Laplacian where these take too long.

    Factors of graphs of many dimensions are nearly dense: at 20,000 examples of 10 features they take 300 times as long
    as products. Those of chains are as sparse as the chain.
    """
    n = affinity.shape[0]
    start = np.cos(np.arange(n, dtype=np.float64))  # fixed: the same bits every time
    try:
        values, vectors = eigsh(affinity, n_pairs, which="LA", v0=start, maxiter=_RESTARTS)
        return 1.0 - values, vectors
    except ArpackNoConvergence:
        laplacian = sparse.csc_matrix(sparse.eye_array(n) - affinity)
        shifted = sparse.csc_matrix(laplacian + _SHIFT * sparse.eye_array(n))
        factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        inverse = LinearOperator((n, n), matvec=factors.solve, dtype=np.float64)
        return eigsh(laplacian, n_pairs, sigma=-_SHIFT, which="LM", v0=start, OPinv=inverse)


def laplacian_scores(values: np.ndarray, affinity: Any) -> np.ndarray:
    r"""Return the Laplacian score of each column, smaller is better.

    .. math:: \frac{\tilde f' L \tilde f}{\tilde f' D \tilde f}, \quad
        \tilde f = f - \frac{f' D 1}{1' D 1} 1, \quad D = \mathrm{diag}(S 1), \quad L = D - S

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns f.
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.

    Examples
    --------
    A column that tells the two parts of a graph apart does not vary along its edges:

    >>> import numpy as np
    >>> from omnirank.graphs.affinity import laplacian_scores
    >>> pairs = np.kron(np.eye(2), np.ones((2, 2)))
    >>> laplacian_scores(np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 1.0], [-1.0, 0.0]]), pairs).tolist()
    [0.0, 1.0]
    """
    degree = degrees(affinity)
    scores = np.empty(values.shape[1])
    for part, columns in _parts(values):
        # from the value next to the mean: differences are exact where all degrees but tiny ones are of equal values
        nearest = np.abs(columns - (degree @ columns) / degree.sum()).argmin(axis=0)
        moved = columns - np.take_along_axis(columns, nearest[None], axis=0)
        squares = degree @ moved**2
        spread = squares - (degree @ moved) ** 2 / degree.sum()
        along = squares - np.einsum("ij,ij->j", moved, affinity @ moved)
        # a column that is constant wherever the degrees are not zero is no better than chance
        scores[part] = np.where(spread > 0, along / np.where(spread > 0, spread, 1.0), 1.0)
    return np.maximum(scores, 0.0)


def spectral_scores(values: np.ndarray, affinity: Any) -> np.ndarray:
    r"""Return :math:`\varphi_1 = \hat f' \hat L \hat f` of each column, smaller is better.

    .. math:: \hat f = \frac{D^{1/2} f}{\|D^{1/2} f\|}, \quad \hat L = D^{-1/2} L D^{-1/2}

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns f.
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.
    """
    degree = degrees(affinity)
    scores = np.empty(values.shape[1])
    for part, columns in _parts(values):
        size = degree @ columns**2
        along = size - np.einsum("ij,ij->j", columns, affinity @ columns)
        scores[part] = np.where(size > 0, along / np.where(size > 0, size, 1.0), 1.0)
    return np.maximum(scores, 0.0)


def degrees(affinity: Any) -> np.ndarray:
    """Return the sums of the rows of a dense or sparse matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import degrees
    >>> degrees(np.array([[1.0, 2.0], [2.0, 0.0]])).tolist()
    [3.0, 2.0]
    """
    return np.asarray(affinity.sum(axis=1)).ravel()


def _parts(values: np.ndarray) -> Any:
    for start in range(0, values.shape[1], _WIDTH):
        part = slice(start, start + _WIDTH)
        yield part, values[:, part]
