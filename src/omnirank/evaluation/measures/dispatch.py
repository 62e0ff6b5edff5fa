"""All measures of a task from predicted means: the one entry that experiments and `evaluate` use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.evaluation.measures import classes, features, label_curves, label_order, label_sets, numbers
from omnirank.evaluation.measures.descriptors import measures_of
from omnirank.tasks import PrototypeColumns, get_task, prototype_columns

__all__ = ["measure", "measures_by_target"]

VARIANTS = ("standard", "clus")
VARIANCES = ("training", "test")


@dataclass(frozen=True, eq=False)
class _Case:
    """What is judged: labelled test examples only, coded as prototype columns."""

    task: str
    truth: PrototypeColumns
    means: np.ndarray
    training: PrototypeColumns
    variant: str
    variance: str
    threshold: float

    @property
    def normal(self) -> PrototypeColumns:
        """The set that the user chose, whose impurities errors are relative to."""
        return self.training if self.variance == "training" else self.truth


def measure(
    truth: Target,
    means: np.ndarray,
    *,
    training: Target,
    task: str,
    hierarchy: Hierarchy | None = None,
    variant: str = "standard",
    variance: str = "training",
    threshold: float = 0.5,
) -> dict[str, float]:
    """Return all measures of a task for predicted means.

    Parameters
    ----------
    truth : Target
        The target of the test examples. Unlabelled examples and unknown single values are left out.
    means : ndarray of shape (n, P)
        Predicted means of the columns of `omnirank.tasks.prototype_columns`: class frequencies, numbers, label
        frequencies; the format in which predictors and neighbours predict for every task.
    training : Target
        The target of the training examples, for variances.
    task : str
        The task.
    hierarchy : Hierarchy, optional
        Of the labels; weighs them in the weighted Hamming loss.
    variant : {"standard", "clus"}
        Definition of one error, coverage and ranking loss: scikit-learn's, or that behind published figures.
    variance : {"training", "test"}
        Where the variances of the RRMSE are taken from.
    threshold : float
        A label is predicted when its frequency is at least this.

    Returns
    -------
    dict
        Values by the names in `MEASURES`, the task's primary measure first.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import Target
    >>> from omnirank.evaluation.measures import measure
    >>> target = Target.numeric(np.array([[0.0], [2.0]]), ["yield"])
    >>> measure(target, np.array([[1.0], [1.0]]), training=target, task="regression")
    {'rrmse': 1.0, 'rmse': 1.0, 'mae': 1.0, 'r2': 0.0}
    """
    case = _case(truth, means, training, task, hierarchy, variant, variance, threshold)
    values = _FAMILIES[task](case)
    return {found.name: float(values[found.name]) for found in measures_of(task)}


def measures_by_target(
    truth: Target, means: np.ndarray, *, training: Target, task: str, variance: str = "training"
) -> dict[str, dict[str, float]]:
    """Return the measures of every class or number of a target, by target and measure.

    Parameters
    ----------
    truth, means, training, task, variance
        As in `measure`; not for label sets.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import Target
    >>> from omnirank.evaluation.measures import measures_by_target
    >>> target = Target.numeric(np.array([[0.0, 1.0], [2.0, 5.0]]), ["height", "mass"])
    >>> means = np.array([[1.0, 1.0], [1.0, 5.0]])
    >>> found = measures_by_target(target, means, training=target, task="multi-target-regression")
    >>> found["height"]["rrmse"], found["mass"]["rrmse"]
    (1.0, 0.0)
    """
    if task not in ("classification", "multi-target-classification", "regression", "multi-target-regression"):
        raise ParameterError(f"measures by target are for classes and numbers, not for task={task!r}")
    case = _case(truth, means, training, task, None, "standard", variance, 0.5)
    single = "regression" if task.endswith("regression") else "classification"
    found = {}
    for variable, name in enumerate(case.truth.names):
        if single == "regression":
            values = _of_numbers(case, np.array([variable]))
        else:
            values = classes.class_measures(*_of_variable(case, variable))
        found[name] = {known.name: float(values[known.name]) for known in measures_of(single)}
    return found


# -- one function a family of tasks ---------------------------------------------------------------


def _classes(case: _Case) -> dict[str, float]:
    found = [classes.class_measures(*_of_variable(case, v)) for v in range(case.truth.n_variables)]
    values = {name: _mean([one[name] for one in found]) for name in found[0]}
    if case.task != "classification":
        parts = [_of_variable(case, v) for v in range(case.truth.n_variables)]
        values["subset_accuracy"] = classes.exact_match(parts)
    return values


def _numbers(case: _Case) -> dict[str, float]:
    return _of_numbers(case, np.arange(case.truth.n_variables))


def _mixed(case: _Case) -> dict[str, float]:
    nominal = np.array([levels is not None for levels in case.truth.levels])
    found = [classes.class_measures(*_of_variable(case, int(v))) for v in np.flatnonzero(nominal)]
    return {
        "mixed_error": get_task(case.task).error(case.truth, case.means, case.training),
        "rrmse": _of_numbers(case, np.flatnonzero(~nominal))["rrmse"],
        "accuracy": _mean([one["accuracy"] for one in found]),
        "f1_macro": _mean([one["f1_macro"] for one in found]),
    }


def _label_sets(case: _Case) -> dict[str, float]:
    truth = case.truth.dense()
    return (
        label_sets.label_set_measures(truth, case.means >= case.threshold)
        | label_order.label_order_measures(truth, case.means, case.variant, case.threshold)
        | label_curves.label_curve_measures(truth, case.means)
        | {"mean_auroc": label_curves.mean_auroc(truth, case.means)}
    )


def _hierarchical(case: _Case) -> dict[str, float]:
    truth = case.truth.dense()
    weights, predicted = case.training.weights, case.means >= case.threshold
    return label_curves.label_curve_measures(truth, case.means, only_present=True) | {
        "weighted_hamming_loss": label_sets.hamming_loss(truth, predicted, weights)
    }


def _features(case: _Case) -> dict[str, float]:
    normal = case.normal
    errors = features.squared_errors(case.truth, case.means, normal.unit)
    spread = normal.impurity / np.where(_is_nominal(case.truth), 2.0, 1.0)
    first = np.searchsorted(normal.variable, np.arange(normal.n_variables))
    return features.feature_measures(errors, spread, normal.unit[first])


_FAMILIES: dict[str, Callable[[_Case], dict[str, float]]] = {
    "classification": _classes,
    "multi-target-classification": _classes,
    "regression": _numbers,
    "multi-target-regression": _numbers,
    "mixed-targets": _mixed,
    "multi-label": _label_sets,
    "hierarchical-multi-label": _hierarchical,
    "clustering": _features,
}


# -- parts ----------------------------------------------------------------------------------------


def _of_variable(case: _Case, variable: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes (-1 = unknown) of a nominal variable, and the predicted frequencies of its levels."""
    own = case.truth.variable == variable
    actual = case.truth.matrix[:, own]
    codes = np.where(np.isnan(actual[:, 0]), -1, np.argmax(actual, axis=1))
    return codes, case.means[:, own]


def _of_numbers(case: _Case, variables: np.ndarray) -> dict[str, float]:
    at = np.flatnonzero(np.isin(case.truth.variable, variables))
    normal = case.normal
    return numbers.number_measures(
        case.truth.matrix[:, at], case.means[:, at], normal.impurity[variables], normal.unit[at]
    )


def _is_nominal(columns: PrototypeColumns) -> np.ndarray:
    return np.array([levels is not None for levels in columns.levels], dtype=bool)


def _mean(values: list[float]) -> float:
    """Mean of the values that are defined; NaN where none is."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def _case(
    truth: Target,
    means: Any,
    training: Target,
    task: str,
    hierarchy: Hierarchy | None,
    variant: str,
    variance: str,
    threshold: float,
) -> _Case:
    """Check what is given and keep the labelled examples."""
    kind = get_task(task)
    for name, value, allowed in (("variant", variant, VARIANTS), ("variance", variance, VARIANCES)):
        if value not in allowed:
            raise ParameterError(f"{name}={value!r} is not one of {', '.join(allowed)}")
    if truth.names != training.names or truth.levels != training.levels:
        raise DataError("the test target has other variables or levels than the training target")
    if not truth.labelled.any():
        raise DataError("no test example has a known target: nothing can be measured")
    columns = kind.columns(training, hierarchy)
    means = np.asarray(means, dtype=np.float64)
    if means.shape != (truth.n_examples, columns.n_columns):
        raise DataError(
            f"means of shape {means.shape} for {truth.n_examples} examples and {columns.n_columns} columns of the "
            f"target; expected {(truth.n_examples, columns.n_columns)}"
        )
    if not truth.labelled.all():
        truth, means = truth.take(truth.labelled), means[truth.labelled]
    actual = prototype_columns(truth)
    _check_predicted(actual, means)
    return _Case(task, actual, means, columns, variant, variance, threshold)


def _check_predicted(truth: PrototypeColumns, means: np.ndarray) -> None:
    wrong = ~np.isfinite(means)
    if not truth.is_sparse:
        wrong &= ~np.isnan(truth.matrix)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        name = truth.names[truth.variable[column]]
        raise DataError(
            f"{int(wrong.sum())} predicted means are not numbers, the first for {name!r} in labelled test example "
            f"{row + 1}"
        )
