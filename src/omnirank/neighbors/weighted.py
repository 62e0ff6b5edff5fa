"""Neighbours in a distance that weighs features by a ranking, and what they predict."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, setting
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import check, check_weights, count
from omnirank.data.table import Table, is_sparse
from omnirank.neighbors.cells import feature_ranges

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
    >>> from omnirank.neighbors.weighted import ranking_weights
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
    >>> from omnirank.neighbors.weighted import warn_of_many_neighbors
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

    The distance is :math:`\sum_i w_i d_i^2`, where :math:`d_i` is the difference of two numbers over the range of the
    training examples, and 1 for different levels. A missing number is the mean of the training examples. A missing
    level is their shares of levels p, with :math:`d^2 = |p - h|^2 / 2` to a level with the one-hot vector h. Ties
    go to the example that comes first. The nearest for a smaller k are the first of those for a larger one.

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

    Sparse features stay sparse where few cells are stored, none of them is missing, and there are at most two levels.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eq. (11), whose
    square root leaves the order of the neighbours as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.weighted import weighted_neighbors
    >>> train = Table.from_numeric(np.array([[0.0, 9.0], [1.0, 0.0], [2.0, 4.0]]))
    >>> test = Table.from_numeric(np.array([[0.1, 0.0]]))
    >>> weighted_neighbors(train, test, np.array([1.0, 0.0]), 2).tolist()
    [[0, 1]]
    """
    weights = check_weights("weights", weights, train.n_columns, "feature")
    check("k", k, count(1))
    if not train.n_rows:
        raise DataError("there is no training example to be a neighbour")
    used = np.flatnonzero(weights)
    examples = weighted_examples(train.select(used), test.select(used), weights[used] / weights.max())
    return nearest_examples(examples, k, n_jobs)


def nearest_examples(examples: DenseExamples | SparseExamples, k: int, n_jobs: int | None = None) -> np.ndarray:
    """Return the numbers of the k training examples nearest to each test example, nearest first.

    Parameters
    ----------
    examples : DenseExamples or SparseExamples
        Test and training examples.
    k : int
        Number of neighbours; all training examples where there are fewer.
    n_jobs : int or None
        Number of workers.
    """
    from omnirank.neighbors.kernels.tile import tile_width

    n_test, n_train = examples.test.shape[0], examples.train.shape[0]
    ids = np.empty((n_test, min(k, n_train)), np.int32)
    rows, pairs = np.arange(n_test), examples.pairs()
    n_rows = min(max(_CELLS // n_train, _FEWEST_ROWS), _MOST_ROWS)
    for precision in examples.precisions:
        if not len(rows):
            break
        others = examples.others(precision, tile_width(precision), n_jobs)
        nearest = partial(_nearest_of, examples, pairs, others, ids.shape[1])
        blocks = [rows[start : start + n_rows] for start in range(0, len(rows), n_rows)]
        parts = run_parallel(nearest, blocks, n_jobs, description="searching neighbours")
        found, certain = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        ids[rows[certain]] = found[certain]
        rows = rows[~certain]
    return ids


def _nearest_of(examples: Any, pairs: Any, others: Others, k: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of some test examples, and for which of them the result is certain."""
    from omnirank.neighbors.kernels.nearest import settle

    ids, certain = np.empty((len(rows), k), np.int32), np.empty(len(rows), bool)
    rough = examples.rough(rows, others)
    most = 0 if rough.lanes.dtype == np.float64 else 2 * k + 32
    memory = np.empty(k, rough.lanes.dtype), np.empty(k)
    settle(pairs, rows, rough.lanes, examples.train.shape[0], rough.offsets, rough.errors, most, *memory, ids, certain)
    return ids, certain


def without_self(ids: np.ndarray) -> np.ndarray:
    """Return the k nearest other examples of each example, given the k + 1 nearest of all.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.weighted import without_self
    >>> without_self(np.array([[0, 1], [0, 1], [0, 1]])).tolist()
    [[1], [0], [0]]
    """
    others = ids != np.arange(len(ids))[:, None]
    # where more than k equal examples come before it, an example is not among its own nearest
    others[others.all(axis=1), -1] = False
    return ids[others].reshape(len(ids), -1)


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
    >>> from omnirank.neighbors.weighted import neighbor_means
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


# -- what neighbours say of label sets (ML-kNN) ---------------------------------------------------------------


def ml_knn_probabilities(labels: np.ndarray, near: np.ndarray, ids: np.ndarray, smoothing: float = 1.0) -> np.ndarray:
    r"""Return the probabilities of labels, given the neighbours of the training and of the test examples.

    With c the number of an example's k neighbours that have a label, the label's probability is

    .. math:: P(H_1 | c) = \frac{P(H_1) P(c | H_1)}{P(H_1) P(c | H_1) + P(H_0) P(c | H_0)},

    where :math:`P(H_1) = (s + n_1) / (2 s + n)` and :math:`P(c | H) = (s + n_{Hc}) / (s (k + 1) + n_H)` are counted
    over the training examples and their k nearest other training examples.

    Parameters
    ----------
    labels : ndarray of shape (n, L)
        0/1 labels of the training examples.
    near : ndarray of int of shape (n, k)
        Neighbours of the training examples among the others.
    ids : ndarray of int of shape (m, k)
        Neighbours of the test examples.
    smoothing : float
        The number s of imagined examples.

    References
    ----------
    Zhang, Zhou: ML-kNN: a lazy learning approach to multi-label learning. Pattern Recognition 40, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.weighted import ml_knn_probabilities
    >>> labels, near = np.array([[1.0], [1.0], [0.0]]), np.array([[1], [0], [1]])
    >>> ml_knn_probabilities(labels, near, np.array([[0], [2]])).round(3).tolist()
    [[0.628], [0.529]]
    """
    n, k = near.shape
    n_labels = labels.shape[1]
    own = labels.astype(bool)
    counts, wanted = _label_counts(labels, near), _label_counts(labels, ids)
    n_with = own.sum(axis=0)
    column = np.broadcast_to(np.arange(n_labels), counts.shape)
    prior = (smoothing + n_with) / (2 * smoothing + n)
    joint = []
    for has, n_has, share in ((own, n_with, prior), (~own, n - n_with, 1 - prior)):
        table = np.zeros((n_labels, k + 1))
        np.add.at(table, (column[has], counts[has]), 1.0)
        given = (smoothing + table) / (smoothing * (k + 1) + n_has)[:, None]
        joint.append(share * given[np.arange(n_labels), wanted])
    return np.asarray(joint[0] / (joint[0] + joint[1]))


def _label_counts(labels: np.ndarray, ids: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(ids), labels.shape[1]), np.intp)
    for place in range(ids.shape[1]):
        counts += labels[ids[:, place]].astype(np.intp)
    return counts


def other_neighbors(table: Table, weights: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    """Return the k nearest other examples of each example of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.weighted import other_neighbors
    >>> other_neighbors(Table.from_numeric(np.array([[0.0], [1.0], [3.0]])), np.ones(1), 1).ravel().tolist()
    [1, 0, 1]
    """
    return without_self(weighted_neighbors(table, table, weights, k + 1, n_jobs))


# -- examples as factors of products --------------------------------------------------------------------------

# Shares of stored cells up to which products of sparse matrices are faster than those of dense ones.
_SPARSE_SHARE = 0.06
# Rows that are brought into a matrix at a time.
_ROWS = 512
# Above 0, so that examples at distance 0 from each other are within the error.
_TINY = 1e-30


class Others(NamedTuple):
    """Training examples as a factor of products: a matrix, and what bounds the errors of the products."""

    matrix: Any
    largest: float
    sizes: Any
    width: int


class Rough(NamedTuple):
    """Approximate distances of some test examples.

    lanes (n_rows * n_blocks, width): the distances less offsets (n_rows,), infinite beyond the last training example;
    errors (n_rows,): how far they may be off.
    """

    lanes: np.ndarray
    offsets: np.ndarray
    errors: np.ndarray


def weighted_examples(train: Table, test: Table, weights: np.ndarray) -> DenseExamples | SparseExamples:
    """Return test and training examples ready for products; weights are positive, the largest is 1."""
    if _stays_sparse(train) and _stays_sparse(test):
        return SparseExamples.of(train, test, weights)
    return DenseExamples.of(train, test, weights)


def _stays_sparse(table: Table) -> bool:
    """Whether distances are squared differences of stored cells: no missing cell, no level but absent or 1."""
    if not table.is_sparse or table.n_missing:
        return False
    if any(levels is not None and len(levels) > 2 for levels in table.levels):
        return False
    return bool(table.matrix.nnz <= _SPARSE_SHARE * max(1, table.n_rows * table.n_columns))


@dataclass(frozen=True, eq=False)
class SparseExamples:
    """Sparse examples without missing cells: cells times the square roots of their weights, over their ranges.

    Parameters
    ----------
    test, train : csr_array
        The cells.
    """

    test: Any
    train: Any

    # in which distances are sought, one after the other
    precisions: ClassVar[tuple[Any, ...]] = (np.float64,)

    @classmethod
    def of(cls, train: Table, test: Table, weights: np.ndarray) -> SparseExamples:
        """Weigh the cells of both tables, by the ranges of the training table."""
        scale = np.sqrt(weights)
        numeric = np.flatnonzero(~train.is_nominal)
        numbers = train.matrix[:, numeric]
        # halves, because the difference of two numbers may be infinite
        high, low = (np.asarray(ends(axis=0).todense()).ravel() * 0.5 for ends in (numbers.max, numbers.min))
        span = 2 * (high - low) if train.n_rows else np.zeros(len(numeric))
        scale[numeric] *= np.divide(1.0, span, out=np.zeros(len(span)), where=span > 0)
        return cls(*(_scaled(table.matrix, scale) for table in (test, train)))

    def pairs(self) -> Any:
        """Return the cells from which exact distances are computed."""
        from omnirank.neighbors.kernels.nearest import SparsePairs

        parts = ((m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data) for m in (self.test, self.train))
        return SparsePairs(*(array for part in parts for array in part))

    def others(self, precision: Any, width: int, n_jobs: int | None) -> Others:
        """Return the training examples for products: transposed, with the squares of their norms."""
        sizes = _row_sums(self.train)
        return Others(self.train.T.tocsr(), float(sizes.max(initial=0.0)), sizes, width)

    def rough(self, rows: np.ndarray, others: Others) -> Rough:
        """Return approximate distances of some test examples."""
        matrix, largest, sizes, width = others
        part = self.test[rows]
        products = np.full((len(rows), -(-len(sizes) // width) * width), np.inf)
        known = products[:, : len(sizes)]
        known[:] = (part @ matrix).toarray()
        known *= -2
        known += sizes
        offsets = _row_sums(part)
        n_terms = int(np.diff(part.indptr).max(initial=0)) + 8
        bound = 2 * np.sqrt(offsets * largest) + largest + offsets
        return Rough(products.reshape(-1, width), offsets, n_terms * np.finfo(np.float64).eps * bound + _TINY)


def _scaled(matrix: Any, scale: np.ndarray) -> Any:
    scaled = (matrix @ sparse.diags_array(scale)).tocsr().astype(np.float64)
    scaled.sort_indices()
    return scaled


def _row_sums(matrix: Any) -> np.ndarray:
    """Sums of squares of the rows."""
    return np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()


@dataclass(frozen=True, eq=False)
class DenseExamples:
    """Dense examples of any kind.

    Parameters
    ----------
    test, train : ndarray
        Halves of the numbers (so that no range overflows); missing ones are the mean of the training examples.
    test_codes, train_codes : ndarray of int32
        Levels, -1 where missing.
    span, weight : ndarray
        Range (halves) in training, and weight, of each number.
    level_weight : ndarray
        Weight of each nominal feature.
    shares : tuple of ndarray
        Its shares of levels in training.
    """

    test: np.ndarray
    train: np.ndarray
    test_codes: np.ndarray
    train_codes: np.ndarray
    span: np.ndarray
    weight: np.ndarray
    level_weight: np.ndarray
    shares: tuple[np.ndarray, ...]

    precisions: ClassVar[tuple[Any, ...]] = (np.float32, np.float64)

    @classmethod
    def of_numbers(cls, values: np.ndarray) -> DenseExamples:
        """Take the rows of a matrix as test and as training examples, in plain Euclidean distance."""
        no_codes, ones = np.empty((len(values), 0), np.int32), np.ones(values.shape[1])
        return cls(values, values, no_codes, no_codes, ones, ones, np.empty(0), ())

    @classmethod
    def of(cls, train: Table, test: Table, weights: np.ndarray) -> DenseExamples:
        """Read the cells of both tables; features that no training example knows are left out."""
        ranges = feature_ranges(train)
        numeric, nominal = np.flatnonzero(~train.is_nominal), np.flatnonzero(train.is_nominal)
        n_levels = np.array([len(train.levels[i] or ()) for i in nominal.tolist()], np.int64)
        known, several = ~np.isnan(ranges.span), n_levels > 1
        far, near = (_numbers(table, numeric[known]) for table in (test, train))
        far_codes, near_codes = (_codes(table, nominal[several]) for table in (test, train))
        low, span, weight = ranges.low[known], ranges.span[known], weights[numeric][known]
        with np.errstate(over="ignore", divide="ignore"):
            tiny = (span > 0) & ~np.isfinite(1 / span)
        if tiny.any():  # ranges too small for a factor: cells are scaled beforehand
            for cells in (far, near):
                cells[:, tiny] = (cells[:, tiny] - low[tiny]) / span[tiny]
            low, span = np.where(tiny, 0.0, low), np.where(tiny, 1.0, span)
        _fill_missing(far, near, low, span)
        of_columns = zip(near_codes.T, n_levels[several], strict=True)
        counts = (np.bincount(codes[codes >= 0], minlength=n) for codes, n in of_columns)
        shares = tuple(of_levels / max(1, of_levels.sum()) for of_levels in counts)
        return cls(far, near, far_codes, near_codes, span, weight, weights[nominal][several], shares)

    @cached_property
    def _factor(self) -> np.ndarray:
        return np.divide(np.sqrt(self.weight), self.span, out=np.zeros(len(self.span)), where=self.span > 0)

    @cached_property
    def _level_start(self) -> np.ndarray:
        """Where the levels of each nominal feature start among those of all, and their end."""
        return np.cumsum([0, *map(len, self.shares)])

    def pairs(self) -> Any:
        """Return the cells from which exact distances are computed."""
        from omnirank.neighbors.kernels.nearest import DensePairs

        to_missing = [w * (1 - 2 * p + p @ p) / 2 for w, p in zip(self.level_weight, self.shares, strict=True)]
        return DensePairs(
            self.test,
            self.train,
            self.test_codes,
            self.train_codes,
            self._factor,
            self.level_weight,
            self._level_start,
            np.concatenate([*to_missing, np.empty(0)]),
        )

    # -- products ---------------------------------------------------------------------------------------

    @cached_property
    def _center(self) -> np.ndarray:
        """Mean of the training examples."""
        return np.asarray(self.train.mean(axis=0))

    def _fill(self, part: int, rows: Any, matrix: np.ndarray) -> np.ndarray:
        r"""Write test (0) or training (1) examples into a matrix; return what is added to the distances of each.

        Numbers contribute :math:`|v - v'|^2`, where v are the centred numbers times their factors, and levels
        :math:`|h - h'|^2`, where h are the one-hot vectors (shares of levels if missing) times :math:`\sqrt{w / 2}`.
        """
        numbers, codes = ((self.test, self.test_codes), (self.train, self.train_codes))[part]
        v = numbers[rows] - self._center
        v *= self._factor
        hot = self._one_hot(codes[rows])
        offsets = np.einsum("ij,ij->i", v, v) + np.einsum("ij,ij->i", hot, hot)
        sign = 1.0 if part else -2.0
        np.concatenate([sign * v, sign * hot], axis=1, out=matrix[:, :-1], casting="same_kind")
        return offsets

    @property
    def _width(self) -> int:
        """Number of columns, with the last one for what belongs to the training examples."""
        return int(len(self.weight) + self._level_start[-1] + 1)

    def _one_hot(self, codes: np.ndarray) -> np.ndarray:
        scale, start = np.sqrt(self.level_weight / 2), self._level_start
        hot = np.zeros((len(codes), start[-1]))
        rows, columns = np.nonzero(codes >= 0)
        hot[rows, start[columns] + codes[rows, columns]] = scale[columns]
        for column in np.flatnonzero((codes < 0).any(axis=0)):
            hot[codes[:, column] < 0, start[column] : start[column + 1]] = scale[column] * self.shares[column]
        return hot

    def others(self, precision: Any, width: int, n_jobs: int | None) -> Others:
        """Return the training examples for products: their largest norm, the largest number of the last column."""
        n_train = len(self.train)
        wide = np.zeros((-(-n_train // width) * width, self._width), precision)
        wide[n_train:, -1] = np.inf
        blocks = [slice(start, min(start + _ROWS, n_train)) for start in range(0, n_train, _ROWS)]
        parts, norms, sizes = zip(*run_parallel(partial(self._filled, precision), blocks, n_jobs), strict=True)
        np.concatenate(parts, out=wide[:n_train])
        return Others(wide, max(norms), max(sizes), width)

    def _filled(self, precision: Any, rows: slice) -> tuple[np.ndarray, float, float]:
        """The matrix of some training examples, its largest norm and the largest number in its last column."""
        part = np.empty((rows.stop - rows.start, self._width), precision)
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = self._fill(1, rows, part)
            part[:, -1] = sizes
            return part, float(_norms(part[:, :-1]).max()), float(np.abs(sizes).max())

    def rough(self, rows: np.ndarray, others: Others) -> Rough:
        """Return approximate distances of some test examples.

        A sum of n products rounded n times is wrong by at most n eps times the sum of their absolute values, which is
        at most the product of the norms.
        """
        wide, largest, size, width = others
        test = np.ones((len(rows), wide.shape[1]), wide.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            offsets = self._fill(0, rows, test)
            bound = _norms(test[:, :-1]) * largest + size + np.abs(offsets)
            errors = (wide.shape[1] + 8) * np.finfo(wide.dtype).eps * bound + _TINY
            return Rough(np.matmul(test, wide.T).reshape(-1, width), offsets, errors)


def _fill_missing(far: np.ndarray, near: np.ndarray, low: np.ndarray, span: np.ndarray) -> None:
    """Replace missing numbers by the means of the known ones in training."""
    some = np.flatnonzero(np.isnan(near).any(axis=0) | np.isnan(far).any(axis=0))
    scale = np.where(span[some] > 0, span[some], 1.0)
    # means of places in the range: sums of numbers may be infinite
    means = low[some] + scale * np.nanmean((near[:, some] - low[some]) / scale, axis=0)
    for cells in (far, near):
        cells[:, some] = np.where(np.isnan(cells[:, some]), means, cells[:, some])


def _numbers(table: Table, columns: np.ndarray) -> np.ndarray:
    """Halves of numbers, dense."""
    part = table.select(columns)
    cells = part.matrix.toarray() if part.is_sparse else part.numeric
    return np.ascontiguousarray(cells * 0.5, dtype=np.float64)


def _codes(table: Table, columns: np.ndarray) -> np.ndarray:
    if not len(columns):
        return np.empty((table.n_rows, 0), np.int32)
    return np.column_stack([table.column(i) for i in columns.tolist()]).astype(np.int32)


def _norms(matrix: np.ndarray) -> np.ndarray:
    """Norms of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix).astype(np.float64)) * (1 + 1e-3)
