"""Targets of variables: classes, numbers, both, or none, where the features take the place of targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from omnirank.core.variances import divided
from omnirank.data.table import categorical
from omnirank.data.target import decode, side_by_side
from omnirank.measures.table import F1_MACRO, SUBSET_ACCURACY, Measure, mean_defined, smaller
from omnirank.measures.variables import (
    ACCURACY,
    CLASS_MEASURES,
    NUMBER_MEASURES,
    RRMSE,
    class_measures,
    confusion_matrix,
    confusion_measures,
    exact_match,
    known_means,
    number_measures,
    rrmse_by_target,
)
from omnirank.tasks.base import Case, Task, majority_codes, wrong_share
from omnirank.tasks.columns import PrototypeColumns

_MIXED_ERROR = smaller("mixed_error", "mixed error", "mean over targets of MSE / variance and wrong share / Gini index")


class MultiTargetClassification(Task):
    """Several classes per example; impurity, error and distance are means over the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("multi-target-classification")
    >>> columns = task.columns(target_from([["a", "x"], ["b", "y"]])[0])
    >>> task.predict(np.array([[0.9, 0.1, 0.3, 0.7]]), columns).tolist()
    [['a', 'y']]
    """

    name = "multi-target-classification"
    kind = "classes"
    measures: ClassVar[tuple[Measure, ...]] = (F1_MACRO, ACCURACY, SUBSET_ACCURACY, *CLASS_MEASURES)
    default_neighbors = 20
    # M5 charges for every leaf: few examples of many classes would be left with the root.
    default_pruning = None

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the most frequent class of every target."""
        return side_by_side(
            [decode_levels(majority_codes(means, columns, v), lev) for v, lev in enumerate(columns.levels)]
        )

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the mean over targets of the share of misclassified examples."""
        return float(np.mean([wrong_share(truth, means, v) for v in range(columns.n_variables)]))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the means over targets of the measures of a class, and the share of examples wholly right."""
        parts = [case.classes(v) for v in range(case.truth.n_variables)]
        by_target = [class_measures(*part) for part in parts]
        means = {name: mean_defined([one[name] for one in by_target]) for name in by_target[0]}
        return means | {"subset_accuracy": exact_match(parts)}


class Classification(MultiTargetClassification):
    """One class per example; the impurity is the Gini index, the prototype the class frequencies.

    Error: share of misclassified examples. Distance: 1[y != y'].

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("classification")
    >>> columns = task.columns(target_from(["no", "yes"])[0])
    >>> task.predict(np.array([[0.2, 0.8]]), columns).tolist()
    ['yes']
    """

    name = "classification"
    single = True
    measures = (F1_MACRO, ACCURACY, *CLASS_MEASURES)

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the most frequent class."""
        return decode_levels(majority_codes(means, columns, 0), columns.levels[0])

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return 1 - macro F1; 1 where it is undefined."""
        found = confusion_measures(confusion_matrix(*Case(truth, means, columns).classes(0)))
        return float(1.0 - np.nan_to_num(found["f1_macro"]))


def decode_levels(codes: np.ndarray, levels: tuple[Any, ...] | None) -> np.ndarray:
    """Return the levels of codes, of the type that users gave them in; strings as NumPy holds them, not as objects.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.tasks.variables import decode_levels
    >>> decode_levels(np.array([1, 0]), (3, 7)).tolist()
    [7, 3]
    >>> decode_levels(np.array([1, 0]), ("no", "yes"))
    array(['yes', 'no'], dtype='<U3')
    """
    values = decode(codes, levels or ())
    # NumPy takes trailing null characters off its strings
    plain = bool(levels) and all(isinstance(level, str) and not level.endswith("\0") for level in levels or ())
    return values.astype(np.array(levels).dtype) if plain and not (codes < 0).any() else values


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
        """Return the relative mean squared error; targets as in `loss`."""
        return float(np.mean(_relative_errors(truth, means, columns) ** 2))

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the RRMSE; targets constant in training are left out, those without a known value count 0."""
        return float(np.mean(_relative_errors(truth, means, columns)))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the measures of the predicted numbers."""
        return number_measures(*case.numbers(np.arange(case.truth.n_variables)))


def _relative_errors(truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> np.ndarray:
    """The RRMSE of every target that varies in training, 0 where no value is known."""
    varying = columns.variance > 0
    if not varying.any():
        return np.zeros(1)
    truth_of, means_of = columns.scaled(truth.matrix)[:, varying], columns.scaled(means)[:, varying]
    return np.nan_to_num(rrmse_by_target(truth_of, means_of, columns.variance[varying]))


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
        columns_by_name: dict[str, Any] = {}
        for v, (name, levels) in enumerate(zip(columns.names, columns.levels, strict=True)):
            if levels is None:
                columns_by_name[name] = means[:, columns.variable == v][:, 0]
            else:
                columns_by_name[name] = categorical(majority_codes(means, columns, v), levels)
        return pd.DataFrame(columns_by_name, index=pd.RangeIndex(len(means)))

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the mean over variables of their error relative to their training impurity."""
        varying = columns.impurity > 0
        errors = np.nan_to_num(squared_errors(truth, means, columns.unit))
        for v, levels in enumerate(columns.levels):
            if levels is not None:
                errors[v] = wrong_share(truth, means, v)
        return float(np.mean(errors[varying] / columns.impurity[varying])) if varying.any() else 0.0

    def measure(self, case: Case) -> dict[str, float]:
        """Return the error, the RRMSE of the numbers and two measures of the classes."""
        nominal = case.is_nominal
        by_target = [class_measures(*case.classes(int(v))) for v in np.flatnonzero(nominal)]
        return {
            "mixed_error": self.error(case.truth, case.means, case.training),
            "accuracy": mean_defined([one["accuracy"] for one in by_target]),
            "f1_macro": mean_defined([one["f1_macro"] for one in by_target]),
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
    >>> from omnirank.tasks.variables import squared_errors
    >>> target, _ = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    >>> squared_errors(prototype_columns(target), np.array([[1.0, 0.0, 1.5], [1.0, 0.0, 1.5]]), np.ones(3)).tolist()
    [0.5, 0.5]
    """
    by_column = known_means((divided(truth.dense(), unit) - divided(means, unit)) ** 2)
    by_column = np.where(truth.level >= 0, by_column / 2, by_column)
    return np.bincount(truth.variable, weights=by_column, minlength=truth.n_variables)
