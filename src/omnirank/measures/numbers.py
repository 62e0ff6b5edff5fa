"""Measures of predicted numbers, one or several per example; NaN in the truth is unknown and left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.types import ArrayLike
from omnirank.core.variances import column_units, divided
from omnirank.data.containers import unmasked
from omnirank.measures.table import larger, mean_defined, smaller

RRMSE = smaller("rrmse", "RRMSE", "mean over targets of sqrt(MSE / variance)")
# What `number_measures` returns besides.
NUMBER_MEASURES = (
    smaller("rmse", "RMSE", "mean over targets of sqrt(MSE)"),
    smaller("mae", "MAE", "mean over targets of the mean absolute error"),
    larger("r2", "R²", "mean over targets of 1 - MSE / variance in the test set"),
)


def rrmse(truth: ArrayLike, predicted: ArrayLike, variance: ArrayLike | None = None) -> float:
    """Return the relative root mean squared error: the mean over targets of sqrt(MSE / variance).

    Parameters
    ----------
    truth, predicted : array-like of shape (n,) or (n, T)
        Numbers; NaN in the truth is unknown.
    variance : array-like of shape (T,), optional
        Variance of each target, such as that of the training set; by default that of the truth.

    Returns
    -------
    float
        Targets with variance 0 or without a known value are left out; NaN where none is left.

    Examples
    --------
    >>> from omnirank.measures import rrmse
    >>> rrmse([0.0, 2.0], [0.0, 1.0]), rrmse([0.0, 2.0], [0.0, 1.0], variance=[2.0])
    (0.7071067811865476, 0.5)
    """
    return mean_defined(rrmse_by_target(truth, predicted, variance))


def rrmse_by_target(truth: ArrayLike, predicted: ArrayLike, variance: ArrayLike | None = None) -> np.ndarray:
    """Return the relative root mean squared error of every target; NaN where it is undefined.

    Parameters
    ----------
    truth, predicted, variance
        As in `rrmse`.

    Examples
    --------
    >>> from omnirank.measures import rrmse_by_target
    >>> rrmse_by_target([[0.0, 5.0], [2.0, 5.0]], [[1.0, 5.0], [1.0, 5.0]]).tolist()
    [1.0, nan]
    """
    true, found = _columns(truth), _columns(predicted)
    if variance is None:
        unit = column_units(true)
        true, found = divided(true, unit), divided(found, unit)
        variance = _variance(true)
    variance = np.atleast_1d(np.asarray(variance, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, np.sqrt(_mean_squares(true, found) / variance), np.nan)


def rmse(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over targets of the root mean squared error.

    Examples
    --------
    >>> from omnirank.measures import rmse
    >>> rmse([0.0, 2.0], [3.0, -1.0])
    3.0
    """
    truth, predicted = _columns(truth), _columns(predicted)
    unit = column_units(np.vstack([truth, predicted]))
    return mean_defined(np.sqrt(_mean_squares(divided(truth, unit), divided(predicted, unit))) * unit)


def mae(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over targets of the mean absolute error.

    Examples
    --------
    >>> from omnirank.measures import mae
    >>> mae([0.0, 2.0], [3.0, 1.0])
    2.0
    """
    truth, predicted = _columns(truth), _columns(predicted)
    unit = column_units(np.vstack([truth, predicted]))
    return mean_defined(known_means(np.abs(divided(truth, unit) - divided(predicted, unit))) * unit)


def r2(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over targets of the coefficient of determination, 1 - MSE / variance of the truth.

    Targets that are constant in the truth are left out, where scikit-learn sets 0 or 1; NaN where none is left.

    Examples
    --------
    >>> from omnirank.measures import r2
    >>> r2([0.0, 2.0], [0.0, 1.0])
    0.5
    """
    true, found = _columns(truth), _columns(predicted)
    unit = column_units(true)
    true, found = divided(true, unit), divided(found, unit)
    variance = _variance(true)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean_defined(np.where(variance > 0, 1 - _mean_squares(true, found) / variance, np.nan))


def number_measures(
    truth: np.ndarray, predicted: np.ndarray, variance: np.ndarray, unit: np.ndarray
) -> dict[str, float]:
    """Return all measures of predicted numbers.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n, T)
        Numbers; NaN in the truth is unknown.
    variance, unit : ndarray of shape (T,)
        Variance of each target in units of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.numbers import number_measures
    >>> number_measures(np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]]), np.array([4.0]), np.ones(1))
    {'rrmse': 0.5, 'rmse': 1.0, 'mae': 1.0, 'r2': 0.0}
    """
    return {
        "rrmse": rrmse(divided(truth, unit), divided(predicted, unit), variance),
        "rmse": rmse(truth, predicted),
        "mae": mae(truth, predicted),
        "r2": r2(truth, predicted),
    }


def _columns(values: Any) -> np.ndarray:
    array = np.asarray(unmasked(values), np.float64)
    return array[:, None] if array.ndim == 1 else array


def known_means(values: np.ndarray) -> np.ndarray:
    """Return the mean of the known values of every column; NaN where there is none."""
    known = ~np.isnan(values)
    n_known = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return np.divide(sums, n_known, out=np.full(values.shape[1], np.nan), where=n_known > 0)


def _mean_squares(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return known_means((truth - predicted) ** 2)


def _variance(truth: np.ndarray) -> np.ndarray:
    """Biased variance of the known values; exactly 0 for a constant, whose mean may be rounded."""
    constant = np.array([len(np.unique(cells[~np.isnan(cells)])) < 2 for cells in truth.T], dtype=bool)
    return np.where(constant, 0.0, known_means((truth - known_means(truth)) ** 2))
