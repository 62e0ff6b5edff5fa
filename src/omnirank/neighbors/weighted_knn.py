"""Neighbours in a distance that weighs features by a ranking, and what they predict."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, setting
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import check, check_weights, count
from omnirank.data.table import Table, is_sparse
from omnirank.neighbors.few_pairs import are_few, nearest_of_all
from omnirank.neighbors.mixed_distances import Ranges
from omnirank.neighbors.weighted_cells import weighted_examples

# Rough distances that a worker holds at a time: bounds the memory whatever the number of training examples.
_CELLS = 1 << 21
_LARGEST = float(np.finfo(np.float64).max)
_FEWEST_ROWS = 16
_MOST_ROWS = 512


def ranking_weights(importances: np.ndarray) -> np.ndarray:
    """Return the weights of features in a distance: max(importance, 0), or 1 for all where none is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.weighted_knn import ranking_weights
    >>> ranking_weights(np.array([0.5, -0.1])).tolist(), ranking_weights(np.array([0.0, -0.1])).tolist()
    ([0.5, 0.0], [1.0, 1.0])
    """
    weights = np.maximum(importances, 0.0)
    return weights if weights.any() else np.ones(len(weights))


def warn_of_many_neighbors(k: int, n_candidates: int, kind: str = "labelled ", stacklevel: int = 3) -> None:
    """Warn if all examples that may be neighbours are neighbours: then the features decide nothing.

    Parameters
    ----------
    k : int
        Number of neighbours that was asked for.
    n_candidates : int
        Number of training examples that may be neighbours.
    kind : str
        Which examples these are.
    stacklevel : int
        Whose line the warning names: 3 is the caller of the caller.

    Examples
    --------
    >>> from omnirank.neighbors.weighted_knn import warn_of_many_neighbors
    >>> warn_of_many_neighbors(5, 6)
    """
    if k >= n_candidates:
        warnings.warn(
            f"{setting('n_neighbors', k)}, but there are only {n_candidates} {kind}training examples: predictions "
            "then hardly depend on the features; give a smaller number",
            UserWarning,
            stacklevel=stacklevel,
        )


def weighted_neighbors(train: Table, test: Table, weights: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    r"""Return the numbers of the k training examples nearest to each test example, nearest first.

    The distance is :math:`\sum_i w_i d_i^2` with the distances of cells as in `table_cells`: ranges are those of the
    training examples, and test values outside them are farther than 1. Ties go to the example that comes first. The
    nearest for a smaller k are the first of those for a larger one.

    Parameters
    ----------
    train, test : Table
        Features of the training and the test examples, with the same columns and levels.
    weights : ndarray
        Weight of each feature, not negative; not all 0.
    k : int
        Number of neighbours; all training examples where there are fewer.
    n_jobs : int or None
        Number of workers.

    Notes
    -----
    Distances are first computed roughly, as products of matrices in single precision, with a bound of their error.
    The training examples that can be among the nearest, given that bound, are then measured cell by cell in double
    precision; where they are too many, products in double precision come in between. Distances that agree in their
    leading 36 bits are ties. So the result depends neither on the order of summation nor on the number of workers.
    Where pairs are few, all of them are measured.

    Sparse features stay sparse where few cells are stored, none of them is missing, and there are at most two levels.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eq. (11), whose
    square root leaves the order of the neighbours as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.weighted_knn import weighted_neighbors
    >>> train = Table.from_numeric(np.array([[0.0, 9.0], [1.0, 0.0], [2.0, 4.0]]))
    >>> test = Table.from_numeric(np.array([[0.1, 0.0]]))
    >>> weighted_neighbors(train, test, np.array([1.0, 0.0]), 2).tolist()
    [[0, 1]]
    """
    return _nearest(train, test, weights, k, n_jobs)[0]


def weighted_nearest(
    train: Table, test: Table, weights: np.ndarray, k: int, ranges: Ranges
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `weighted_neighbors` returns, and the keys by which neighbours are ordered before their numbers.

    The nearest of several blocks of training examples are those with the lowest keys.

    Parameters
    ----------
    train, test, weights, k
        As in `weighted_neighbors`.
    ranges : Ranges
        Ranges of all training examples, of which ``train`` are some.
    """
    from omnirank.neighbors.kernels.nearest import fill_keys

    ids, examples = _nearest(train, test, weights, k, 1, ranges)
    keys = np.empty(ids.shape)
    fill_keys(examples.pairs(), ids, keys)
    return ids, keys


def _nearest(
    train: Table, test: Table, weights: np.ndarray, k: int, n_jobs: int | None, ranges: Ranges | None = None
) -> tuple[np.ndarray, Any]:
    weights = check_weights("weights", weights, train.n_columns, "feature")
    check("k", k, count(1))
    if not train.n_rows:
        raise DataError("there is no training example to be a neighbour")
    used = np.flatnonzero(weights)
    if ranges is not None:
        numeric = np.flatnonzero(~train.is_nominal)
        kept = np.isin(numeric, used)
        ranges = Ranges(ranges.low[kept], ranges.span[kept])
    examples = weighted_examples(train.select(used), test.select(used), weights[used] / weights.max(), ranges)
    k = min(k, train.n_rows)
    if are_few(test.n_rows, train.n_rows, examples.n_columns):
        return nearest_of_all(examples.distances(), k), examples
    ids = np.empty((test.n_rows, k), np.int32)
    left = np.arange(test.n_rows)
    for precision in examples.precisions:
        if len(left):
            left = _search(examples, left, precision, ids, train.n_rows, n_jobs)
    return ids, examples


def _search(
    examples: Any, rows: np.ndarray, precision: Any, ids: np.ndarray, n_train: int, n_jobs: int | None
) -> np.ndarray:
    """Find the nearest of some test examples; return those for which more precision is needed."""
    from omnirank.neighbors.kernels.tile import tile_width

    width = tile_width(precision)
    examples.prepare(precision, width, n_jobs)
    nearest = _Nearest(examples, examples.pairs(), precision, width, n_train, ids.shape[1])
    n_rows = min(max(_CELLS // n_train, _FEWEST_ROWS), _MOST_ROWS)
    blocks = [rows[start : start + n_rows] for start in range(0, len(rows), n_rows)]
    parts = run_parallel(nearest, blocks, n_jobs, description="searching neighbours")
    found, certain = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    ids[rows[certain]] = found[certain]
    return rows[~certain]


@dataclass(frozen=True, eq=False)
class _Nearest:
    """Finds the k nearest of some test examples, and reports for which of them the result is certain."""

    examples: Any
    pairs: Any
    precision: Any
    width: int
    n_train: int
    k: int

    def __call__(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from omnirank.neighbors.kernels.nearest import settle

        most = 0 if self.precision == np.float64 else 2 * self.k + 32
        found, certain = np.empty((len(rows), self.k), np.int32), np.empty(len(rows), bool)
        rough = self.examples.rough(rows, self.precision, self.width)
        settle(
            self.pairs, rows, rough.lanes, self.n_train, rough.offsets, rough.errors, most,
            np.empty(self.k, rough.lanes.dtype), np.empty(self.k), found, certain,
        )  # fmt: skip
        return found, certain


def neighbor_means(values: Any, ids: np.ndarray, default: np.ndarray | None = None) -> np.ndarray:
    """Return the means of the known values of neighbours: one row per list of neighbours.

    Parameters
    ----------
    values : ndarray of shape (n, P), NaN = unknown, or scipy.sparse container
        What is known of the examples; in a sparse matrix everything is known.
    ids : ndarray of int of shape (m, k)
        Lists of neighbours.
    default : ndarray of shape (P,), optional
        The mean where the value is not known for any neighbour; by default that of all examples, or 0 if it is never
        known.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.weighted_knn import neighbor_means
    >>> neighbor_means(np.array([[1.0], [3.0], [np.nan]]), np.array([[0, 1], [1, 2], [2, 2]])).tolist()
    [[2.0], [3.0], [2.0]]
    """
    k = ids.shape[1]
    if is_sparse(values):
        ones = np.ones(ids.size)
        chosen = sparse.csr_array((ones, ids.ravel(), np.arange(len(ids) + 1) * k), shape=(len(ids), values.shape[0]))
        return (chosen @ values).toarray() / k
    known = ~np.isnan(values)
    if np.abs(values).max(initial=0.0, where=known) > _LARGEST / max(k, len(values)):
        # sums of numbers near the largest float are infinite; a power of two changes no digit
        unit = 2.0 ** math.ceil(math.log2(max(k, len(values))))
        return unit * neighbor_means(values / unit, ids, None if default is None else default / unit)
    if known.all():
        return _sums(values, ids) / k
    filled = np.where(known, values, 0.0)
    if default is None:
        default = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    n_known = _sums(known.astype(np.float64), ids)
    return np.where(n_known > 0, _sums(filled, ids) / np.maximum(n_known, 1), default)


def _sums(values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Sums of the rows in each list, nearest first: equal lists give equal bits."""
    sums = np.zeros((len(ids), values.shape[1]))
    for place in range(ids.shape[1]):
        sums += values[ids[:, place]]
    return sums
