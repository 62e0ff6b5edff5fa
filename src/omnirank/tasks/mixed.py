"""Targets of mixed kinds, numeric and nominal; and clustering, where the features take the place of targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from omnirank.core.variances import divided
from omnirank.data.table import categorical
from omnirank.measures.classes import ACCURACY, F1_MACRO, class_measures
from omnirank.measures.numbers import RRMSE, known_means, number_measures
from omnirank.measures.table import Measure, mean_defined, smaller
from omnirank.tasks.base import Case, Task, majority_codes, mean_squared_error, wrong_share
from omnirank.tasks.columns import PrototypeColumns

_MIXED_ERROR = smaller("mixed_error", "mixed error", "mean over targets of MSE / variance and wrong share / Gini index")


class MixedTargets(Task):
    """Numbers and classes together; every variable counts relative to its training impurity.

    Error: (1/T) sum_j err_j / I_j with the mean squared error and the variance of a number, the share of
    wrong levels and the Gini index of a nominal variable; variables constant in training are left out.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> target, name = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    >>> task = get_task(name)
    >>> task.predict(np.array([[0.3, 0.7, 1.25]]), task.columns(target))
      kind  size
    0    b  1.25
    """

    name = "mixed-targets"
    kind = "mixed"
    measures: ClassVar[tuple[Measure, ...]] = (_MIXED_ERROR, ACCURACY, F1_MACRO, RRMSE)
    distances = ("absolute",)

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return a DataFrame with the mean of each number and the most frequent level of each class."""
        found: dict[str, Any] = {}
        for v, (name, levels) in enumerate(zip(columns.names, columns.levels, strict=True)):
            if levels is None:
                found[name] = means[:, columns.variable == v][:, 0]
            else:
                found[name] = categorical(majority_codes(means, columns, v), levels)
        return pd.DataFrame(found, index=pd.RangeIndex(len(means)))

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the mean over variables of their error relative to their training impurity."""
        impurity = columns.impurity
        parts = []
        for v in np.flatnonzero(impurity > 0).tolist():
            if columns.levels[v] is None:
                column = int(np.argmax(columns.variable == v))
                error = mean_squared_error(truth, means, column, columns.unit[column])
            else:
                error = wrong_share(truth, means, v)
            parts.append(error / impurity[v])
        return float(np.mean(parts)) if parts else 0.0

    def measure(self, case: Case) -> dict[str, float]:
        """Return the error, the RRMSE of the numbers and two measures of the classes."""
        nominal = case.is_nominal
        found = [class_measures(*case.classes(int(v))) for v in np.flatnonzero(nominal)]
        return {
            "mixed_error": self.error(case.truth, case.means, case.training),
            "accuracy": mean_defined([one["accuracy"] for one in found]),
            "f1_macro": mean_defined([one["f1_macro"] for one in found]),
            "rrmse": number_measures(*case.numbers(np.flatnonzero(~nominal)))["rrmse"],
        }


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
    >>> from omnirank.tasks.mixed import squared_errors
    >>> target, _ = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    >>> squared_errors(prototype_columns(target), np.array([[1.0, 0.0, 1.5], [1.0, 0.0, 1.5]]), np.ones(3)).tolist()
    [0.5, 0.5]
    """
    by_column = known_means((divided(truth.dense(), unit) - divided(means, unit)) ** 2)
    by_column = np.where(truth.level >= 0, by_column / 2, by_column)
    return np.bincount(truth.variable, weights=by_column, minlength=truth.n_variables)
