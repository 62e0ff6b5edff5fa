"""Which examples are alike, and how much: neighbours, heat kernel, and the width of the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parallel import blocks, run_parallel
from omnirank.core.seeds import stream
from omnirank.neighbors.euclidean import nearest_rows, pair_distances, squared_distances

# Examples whose distances tell the width of a kernel; of more, this many are drawn, the same ones always.
_SAMPLED = 1000
# Examples of a block of work, and those of it whose affinities stay in the cache.
_ROWS = 256
_CACHED_ROWS = 32
# Examples of which a matrix of all pairs is held.
MOST_DENSE = 20_000


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
    if len(values) > _SAMPLED:
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
    found = np.concatenate(run_parallel(_Heat(values, width), rows, n_jobs, description="comparing examples"))
    np.fill_diagonal(found, 1.0)
    return found


@dataclass(frozen=True, eq=False)
class _Heat:
    """The affinities of the examples of a block to all."""

    values: np.ndarray
    width: float

    def __call__(self, rows: range) -> np.ndarray:
        return heat_of_rows(self.values, rows, self.width)


def heat_of_rows(values: np.ndarray, rows: range, width: float) -> np.ndarray:
    """Return the affinities exp(-squared distance / width) of some rows to all.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.affinity import heat_of_rows
    >>> heat_of_rows(np.array([[-1.0], [1.0]]), range(1), 4.0).round(4).tolist()
    [[1.0, 0.3679]]
    """
    found = squared_distances(values[rows.start : rows.stop], values)
    for start in range(0, len(found), _CACHED_ROWS):
        part = found[start : start + _CACHED_ROWS]
        part /= -width
        np.exp(part, out=part)
    return found
