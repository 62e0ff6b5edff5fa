"""Variances of columns of any scale and offset, dense or sparse.

Two things go wrong if variances are computed carelessly. Squares of numbers beyond 1e154 overflow and those below
1e-162 vanish: columns of extreme range are divided by a power of two first, which changes no digit. And
E[x^2] - E[x]^2, which needs the stored cells of a sparse column only, loses all digits where the mean is large against
the spread: such columns are centred. They are nearly full, so that nothing is saved by leaving their cells absent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

# Columns whose range lies between these are squared as they are.
_SMALLEST, _LARGEST = 2.0**-332, 2.0**332
# Cells between these (or 0) cannot give another range: numbers that differ do so by at least 2^-53 of their size.
_SMALLEST_CELL = 2.0**-270
# Plain sums of a column's cells are precise enough if its mean square is at most this many times its variance.
_MOST_CANCELLING = 17.0

# Columns are not centred on a mean that is more than this many times as large as a tenth of their values.
_MOST_LARGER = 4096
# Columns that are copied at once.
_AT_ONCE = 64


def column_units(matrix: Any) -> np.ndarray:
    """Return the power of two by which each column is divided before squares are taken.

    It is 1, except for columns with a range below 1e-100 or above 1e100.

    Parameters
    ----------
    matrix : ndarray or csr_array
        Columns; NaN is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.core.variances import column_units
    >>> column_units(np.array([[1.0, 2.0**-500, -2.0**1023], [9.0, 2.0**-501, 2.0**1023]])).tolist() == [
    ...     1.0, 2.0**-501, 2.0**1023]
    True
    >>> column_units(sparse.csr_array([[2.0**-500], [0.0]])).tolist() == [2.0**-500]
    True
    """
    units = np.ones(matrix.shape[1])
    cells = matrix.data if sparse.issparse(matrix) else matrix
    size = np.abs(cells)
    with np.errstate(invalid="ignore"):
        unusual = ((size < _SMALLEST_CELL) & (size > 0)) | (size > _LARGEST / 2)
    if not unusual.any():
        return units
    low, high = _ends(matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        span = high - low
        span = np.where(np.isinf(span), high / 2 - low / 2, span)
        odd = ((span > 0) & (span < _SMALLEST)) | (span > _LARGEST)
    units[odd] = np.ldexp(1.0, np.frexp(span[odd])[1] - 1)
    return units


def _ends(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest known value of each column; absent cells are 0."""
    if not sparse.issparse(matrix):
        return np.fmin.reduce(matrix, axis=0), np.fmax.reduce(matrix, axis=0)
    low, high = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    by_column = sparse.csc_array(matrix)
    counts = np.diff(by_column.indptr)
    for c in np.flatnonzero(counts):
        cells = by_column.data[by_column.indptr[c] : by_column.indptr[c + 1]]
        low[c], high[c] = np.fmin.reduce(cells), np.fmax.reduce(cells)
        if counts[c] < matrix.shape[0]:
            low[c], high[c] = np.fmin(low[c], 0.0), np.fmax(high[c], 0.0)
    return low, high


def divided(matrix: Any, units: np.ndarray) -> Any:
    """Return the columns, each in its own unit; the matrix itself where all units are 1.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.variances import divided
    >>> divided(np.array([[4.0, 3.0]]), np.array([2.0, 1.0])).tolist()
    [[2.0, 3.0]]
    """
    if (units == 1).all():
        return matrix
    if not sparse.issparse(matrix):
        return matrix / units
    quotients = sparse.csr_array(matrix, copy=True)
    quotients.data = quotients.data / units[quotients.indices]
    return quotients


def dense_variances(matrix: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the biased variance of the known values of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.variances import dense_variances
    >>> dense_variances(np.array([[1.0, 5.0], [3.0, np.nan]]), np.ones(2)).tolist()
    [1.0, 0.0]
    """
    used = weight > 0
    return np.array([_variance(cells[used], weight[used]) for cells in matrix.T])


def _variance(cells: np.ndarray, weight: np.ndarray) -> float:
    known = ~np.isnan(cells)
    if not known.all():
        cells, weight = cells[known], weight[known]
    # A constant column has variance 0 exactly, though its mean may be rounded.
    if (cells == cells[:1]).all():
        return 0.0
    mean = weight @ cells / weight.sum()
    return float(weight @ (cells - mean) ** 2 / weight.sum())


def sparse_variances(matrix: Any, weight: np.ndarray) -> np.ndarray:
    """Return the biased variance of the known values of each column of a sparse matrix; absent cells are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.core.variances import sparse_variances
    >>> sparse_variances(sparse.csr_array([[0.0, 1e9], [2.0, 1e9 + 2]]), np.ones(2)).tolist()
    [1.0, 1.0]
    """
    variance, suits, cancelled = _from_sums(matrix, weight)
    offset = np.flatnonzero(~suits | cancelled)
    if len(offset):
        variance[offset] = dense_variances(matrix[:, offset].toarray(), weight)
    return variance


def suits_sparse_sums(matrix: Any, weight: np.ndarray) -> np.ndarray:
    """Return which columns of a sparse matrix may be summed without centring, over their stored cells alone.

    Variances and gains come from sums of cells and of their squares, in which a mean that is large against the spread
    cancels. A share p of stored cells bounds it, mean^2 <= p / (1 - p) Var: columns that do not suit store more than
    16 of 17 cells. Columns of 0 and 1 always suit, since p - p^2 loses no more than 1 - p does.

    Parameters
    ----------
    matrix : csr_array
        Columns; absent cells are 0, a stored NaN is unknown.
    weight : ndarray
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.core.variances import suits_sparse_sums
    >>> suits_sparse_sums(sparse.csr_array([[0.0, 1e9, 1.0], [2e9, 1e9 + 2, 1.0]]), np.ones(2)).tolist()
    [True, False, True]
    """
    return _from_sums(matrix, weight)[1]


def _from_sums(matrix: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variances from sums over the stored cells, which columns suit sums, and whether a variance has lost digits."""
    n_columns = matrix.shape[1]
    unknown = np.isnan(matrix.data)
    stored_weight = np.repeat(weight, np.diff(matrix.indptr))
    values = np.where(unknown, 0.0, matrix.data)
    known = weight.sum() - np.bincount(matrix.indices, stored_weight * unknown, n_columns)
    first = np.bincount(matrix.indices, stored_weight * values, n_columns)
    second = np.bincount(matrix.indices, stored_weight * values**2, n_columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = second / known - (first / known) ** 2
        # below 1e-14 of the mean square is rounding, not variance
        varies = (known > 0) & (variance > 1e-14 * second / known)
        spread = _MOST_CANCELLING * variance >= second / known
        # only light rows are 0, or known: what they weigh is rounding in the sums
        cancelled = (variance < 1e-6 * second / known) | (known < 1e-6 * weight.sum())
    other = np.bincount(matrix.indices, (values != 0) & (values != 1), n_columns) > 0
    return np.where(varies, variance, 0.0), spread | ~other | ~(known > 0), cancelled


def centred_for_sums(matrix: Any, weight: np.ndarray) -> Any:
    """Return a sparse matrix, all known, with its columns of large offset centred (:func:`suits_sparse_sums`).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from omnirank.core.variances import centred_for_sums
    >>> centred_for_sums(sparse.csr_array([[0.0, 1e9], [2.0, 1e9 + 2]]), np.ones(2)).toarray().tolist()
    [[0.0, -1.0], [2.0, 1.0]]
    """
    suits = suits_sparse_sums(matrix, weight)
    if suits.all():
        return matrix
    offset = np.flatnonzero(~suits)
    cells = matrix[:, offset].toarray()
    cells -= np.average(cells, axis=0, weights=weight)
    order = np.argsort(np.concatenate([np.flatnonzero(suits), offset]))
    return sparse.csr_array(sparse.hstack([matrix[:, np.flatnonzero(suits)], sparse.csr_array(cells)])[:, order])


def near_centres(values: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the means of columns (NaN = unknown), or 0 where an outlier has moved them far from most values.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.variances import near_centres
    >>> values = np.array([[1.0, 1.0], [2.0, 1e18]])
    >>> near_centres(values, values.mean(axis=0)).tolist()
    [1.5, 0.0]
    """
    tenth = len(values) // 10
    sizes = (np.abs(values[:, start : start + _AT_ONCE]) for start in range(0, len(means), _AT_ONCE))
    tenths = (np.partition(np.where(size > 0, size, np.inf), tenth, axis=0)[tenth] for size in sizes)
    small = np.concatenate([means[:0], *tenths])
    return np.where(np.abs(means) > _MOST_LARGER * small, 0.0, means)
