"""Regression: one numeric target, or several (multi-target regression)."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.measures.numbers import NUMBER_MEASURES, RRMSE, number_measures, rrmse_by_target
from omnirank.tasks.base import Case, Task, mean_squared_error
from omnirank.tasks.columns import PrototypeColumns


class MultiTargetRegression(Task):
    """Several numbers per example; the impurity is the mean of their variances relative to the training set.

    Error: relative mean squared error, (1/T) sum_j MSE_j / Var_train(y_j). Distance: mean of
    abs(y_j - y'_j) / (max y_j - min y_j) (Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression.
    Machine Learning 109, 2020. Eq. (7)).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("multi-target-regression")
    >>> columns = task.columns(target_from(np.array([[0.0, 1.5], [2.0, 0.5]]))[0])
    >>> task.error(columns, np.array([[1.0, 1.0], [1.0, 1.0]]), columns)
    1.0
    """

    name = "multi-target-regression"
    kind = "numbers"
    measures = (RRMSE, *NUMBER_MEASURES)
    distances = ("absolute",)

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the means."""
        return means

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the relative mean squared error; targets constant in training are left out."""
        varying = np.flatnonzero(columns.variance > 0).tolist()
        if not varying:
            return 0.0
        errors = [mean_squared_error(truth, means, j, columns.unit[j]) for j in varying]
        return float(np.mean(errors / columns.variance[varying]))

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the RRMSE; targets constant in training are left out, those without a known value count 0."""
        varying = columns.variance > 0
        if not varying.any():
            return 0.0
        truth_of, means_of = columns.scaled(truth.matrix)[:, varying], columns.scaled(means)[:, varying]
        found = rrmse_by_target(truth_of, means_of, columns.variance[varying])
        return float(np.mean(np.nan_to_num(found)))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the measures of the predicted numbers."""
        return number_measures(*case.numbers(np.arange(case.truth.n_variables)))


class Regression(MultiTargetRegression):
    """One number per example: multi-target regression with one target.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("regression")
    >>> task.predict(np.array([[0.25], [1.5]]), task.columns(target_from([0.5, 2.0])[0])).tolist()
    [0.25, 1.5]
    """

    name = "regression"
    single = True

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the means as a vector."""
        return means[:, 0]
