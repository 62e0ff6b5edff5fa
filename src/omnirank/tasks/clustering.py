"""Clustering: no target; the features take its place."""

from __future__ import annotations

import numpy as np

from omnirank.core.variances import divided
from omnirank.measures.numbers import RRMSE, known_means
from omnirank.measures.table import mean_defined, smaller
from omnirank.tasks.case import Case
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.mixed import MixedTargets


class Clustering(MixedTargets):
    """No target: the features are what clusters are made of and what a leaf's prototype describes.

    Examples
    --------
    >>> from omnirank.tasks import get_task
    >>> get_task("clustering").default_measure
    'top_features_rmse'
    """

    name = "clustering"
    kind = "none"
    measures = (
        smaller("top_features_rmse", "mean RMSE", "mean over all features of sqrt(MSE)"),
        RRMSE,
        smaller("mse", "MSE", "mean over all features of the mean squared error"),
    )
    default_neighbors = 1

    def measure(self, case: Case) -> dict[str, float]:
        """Return the measures of the predicted features; those without spread are left out of the RRMSE."""
        normal = case.normal
        errors = squared_errors(case.truth, case.means, normal.unit)
        # the error of predicting the mean: the variance of a number, half the Gini index of a nominal feature
        spread = normal.impurity / np.where(case.is_nominal, 2.0, 1.0)
        relative = np.divide(errors, spread, out=np.full(len(errors), np.nan), where=spread > 0)
        unit = normal.unit[np.searchsorted(normal.variable, np.arange(normal.n_variables))]
        with np.errstate(over="ignore"):  # squares of numbers beyond 1e154 are infinite
            squares = errors * unit**2
        return {
            "top_features_rmse": mean_defined(np.sqrt(errors) * unit),
            "mse": mean_defined(squares),
            "rrmse": mean_defined(np.sqrt(relative)),
        }


def squared_errors(truth: PrototypeColumns, means: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return the mean squared error of every feature over its known values; NaN where there is none.

    That of a nominal feature is half the squared distance between the indicators of its levels and their predicted
    frequencies, which is 0 or 1 when a single neighbour predicts.

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
    >>> from omnirank.tasks import prototype_columns
    >>> from omnirank.tasks.clustering import squared_errors
    >>> target, _ = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    >>> squared_errors(prototype_columns(target), np.array([[1.0, 0.0, 1.5], [1.0, 0.0, 1.5]]), np.ones(3)).tolist()
    [0.5, 0.5]
    """
    by_column = known_means((divided(truth.dense(), unit) - divided(means, unit)) ** 2)
    by_column = np.where(truth.level >= 0, by_column / 2, by_column)
    return np.bincount(truth.variable, weights=by_column, minlength=truth.n_variables)
