"""Numeric features in bins: what measures of tables of counts need."""

from __future__ import annotations

import numpy as np

from omnirank.data.table import Table

BINNINGS = ("equal-frequency", "equal-width")


def feature_codes(table: Table, i: int, weights: np.ndarray, n_bins: int, binning: str) -> tuple[np.ndarray, bool]:
    """Return a feature as numbers of levels or bins from 0 on (-1 = missing), and whether values were put into bins.

    Levels of a nominal feature stay as they are, and so do the values of a number that has at most ``n_bins``
    different ones.

    Parameters
    ----------
    table : Table
        The features.
    i : int
        Which of them.
    weights : ndarray of shape (n_rows,)
        Weights of the examples.
    n_bins : int
        Number of bins.
    binning : {"equal-frequency", "equal-width"}
        How bins are made.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.rankers._discretization import feature_codes
    >>> table = Table.from_numeric(np.array([[0.0], [0.0], [1.0], [9.0], [np.nan]]))
    >>> feature_codes(table, 0, np.ones(5), 2, "equal-frequency")
    (array([ 0,  0,  1,  1, -1]), True)
    >>> feature_codes(table, 0, np.ones(5), 3, "equal-width")
    (array([ 0,  0,  1,  2, -1]), False)
    """
    if table.is_nominal[i]:
        return table.column(i), False
    values, codes = (_stored_values if table.is_sparse else _values)(table, i)
    binned = len(values) > n_bins
    if binned:
        known = codes >= 0
        of = codes[known]
        codes[known] = (_widths if binning == "equal-width" else _frequencies)(values, of, weights[known], n_bins)[of]
    return codes, binned


def _values(table: Table, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The different values of a number, ascending, and which of them each example has (-1 = missing)."""
    cells = table.column(i)
    known = ~np.isnan(cells)
    codes = np.full(len(cells), -1, dtype=np.intp)
    values, codes[known] = np.unique(cells[known], return_inverse=True)
    return values, codes


def _stored_values(table: Table, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The same from the stored cells of a sparse table: most of its columns are short."""
    matrix = table.matrix
    part = slice(matrix.indptr[i], matrix.indptr[i + 1])
    rows, cells = matrix.indices[part], matrix.data[part]
    known = ~np.isnan(cells)
    values, of = np.unique(cells[known], return_inverse=True)
    zero = int(np.searchsorted(values, 0.0))
    if len(rows) < table.n_rows:
        values, of = np.insert(values, zero, 0.0), of + (of >= zero)
    codes = np.full(table.n_rows, zero, dtype=np.intp)
    codes[rows] = -1
    codes[rows[known]] = of
    return values, codes


def _frequencies(values: np.ndarray, of: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of each value: that of the middle of its ranks, so that examples of one value are never parted.

    A value that most examples share gets a bin of its own, wherever in the order it is.
    """
    sizes = np.bincount(of, weights)
    ends = np.cumsum(sizes)
    middle = (ends - sizes / 2) / ends[-1]
    return np.minimum((n_bins * middle).astype(np.intp), n_bins - 1)


def _widths(values: np.ndarray, of: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Bin of each value by its place between the smallest and the largest, in halves, which do not overflow."""
    place = (values / 2 - values[0] / 2) / (values[-1] / 2 - values[0] / 2)
    return np.minimum((n_bins * place).astype(np.intp), n_bins - 1)
