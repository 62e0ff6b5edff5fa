"""Errors of predicted features, by which rankings without a target are judged.

The squared error of a number is what it says; that of a nominal feature is half the squared distance between the
indicators of its levels and their predicted frequencies, which is 0 or 1 when a single neighbour predicts.
"""

from __future__ import annotations

import numpy as np

from omnirank.tasks import PrototypeColumns
from omnirank.tasks.variances import divided

__all__ = ["feature_measures", "squared_errors"]


def squared_errors(truth: PrototypeColumns, means: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return the mean squared error of every feature over its known values; NaN where there is none.

    Parameters
    ----------
    truth : PrototypeColumns
        The features of the test examples.
    means : ndarray
        What is predicted for each column.
    unit : ndarray
        In which errors of each column are measured.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.evaluation.measures.features import squared_errors
    >>> from omnirank.tasks import prototype_columns
    >>> target, _ = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    >>> squared_errors(prototype_columns(target), np.array([[1.0, 0.0, 1.5], [1.0, 0.0, 1.5]]), np.ones(3)).tolist()
    [0.5, 0.5]
    """
    squares = (divided(truth.dense(), unit) - divided(means, unit)) ** 2
    known = ~np.isnan(squares)
    n_known = known.sum(axis=0)
    sums = np.where(known, squares, 0.0).sum(axis=0)
    by_column = np.divide(sums, n_known, out=np.full(len(sums), np.nan), where=n_known > 0)
    by_column = np.where(truth.level >= 0, by_column / 2, by_column)
    return np.bincount(truth.variable, weights=by_column, minlength=truth.n_variables)


def feature_measures(errors: np.ndarray, spread: np.ndarray, unit: np.ndarray) -> dict[str, float]:
    """Return the measures of predicted features.

    Parameters
    ----------
    errors : ndarray
        Mean squared error of every feature, NaN where it is not known.
    spread : ndarray
        The error of predicting the mean: the variance of a number, half the Gini index of a nominal feature. Features
        without spread are left out of the RRMSE.
    unit : ndarray
        In which both are measured.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.measures.features import feature_measures
    >>> feature_measures(np.array([4.0, 16.0]), np.array([4.0, 0.0]), np.ones(2))
    {'top_features_rmse': 3.0, 'mse': 10.0, 'rrmse': 1.0}
    """
    defined = ~np.isnan(errors)
    varying = defined & (spread > 0)
    with np.errstate(over="ignore"):  # squares of numbers beyond 1e154 are infinite
        squares = errors[defined] * unit[defined] ** 2
    return {
        "top_features_rmse": _mean(np.sqrt(errors[defined]) * unit[defined]),
        "mse": _mean(squares),
        "rrmse": _mean(np.sqrt(errors[varying] / spread[varying])),
    }


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
