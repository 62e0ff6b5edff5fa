"""Sums over past intervals."""

from __future__ import annotations

import numpy as np

from omnirank.core.parameters import check, count
from omnirank.core.types import ArrayLike
from omnirank.timeseries.values import read_values


def lag_sums(values: ArrayLike, n_lags: int) -> np.ndarray:
    r"""Return for each interval the sum over the ``n_lags`` intervals before it, without its own value.

    .. math:: H(i) = \sum_{j=1}^{H} E(i - j)

    Parameters
    ----------
    values : array-like of shape (n_intervals,)
        One number per interval of a grid, NaN where it is missing.
    n_lags : int
        Number of past intervals, :math:`H`.

    Returns
    -------
    ndarray of shape (n_intervals,)
        Sums; missing where one of the values is, and in the first ``n_lags`` intervals.

    Notes
    -----
    Sums of 2, 4, 8, ... values are made from sums of half as many: log2(H) additions per interval and no subtraction,
    so that neither missing values nor large ones have an effect beyond their window.

    Examples
    --------
    >>> from omnirank.timeseries import lag_sums
    >>> lag_sums([1.0, 2.0, 4.0, 8.0], 2)
    array([nan, nan,  3.,  6.])
    """
    check("n_lags", n_lags, count(1))
    block = read_values(values, "values")
    sums = np.zeros(len(block))  # of the intervals i - taken, ..., i - 1
    taken, size, left = 0, 1, int(n_lags)
    while left and taken < len(block):
        if left & 1:
            sums += _shifted(block, taken + 1)
            taken += size
        block = block + _shifted(block, size)
        size, left = 2 * size, left >> 1
    return sums  # all missing where there are no more intervals than lags


def _shifted(values: np.ndarray, by: int) -> np.ndarray:
    """Values of ``by`` intervals before; missing at the start."""
    moved = np.full(len(values), np.nan)
    moved[by:] = values[: max(0, len(values) - by)]
    return moved
