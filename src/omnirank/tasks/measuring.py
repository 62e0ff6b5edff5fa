"""All measures of a task from predicted means: the one entry that experiments and `evaluate` use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, check_all, choice
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.data.task_registry import all_tasks, task_named
from omnirank.measures.classes import class_measures
from omnirank.measures.numbers import number_measures
from omnirank.measures.table import Measure
from omnirank.tasks.base import Case, Task, get_task
from omnirank.tasks.columns import PrototypeColumns

VARIANTS = ("standard", "clus")
VARIANCES = ("training", "test")


class _Measures(Mapping[str, Measure]):
    """The measures of all tasks, also of those that are registered later."""

    def _all(self) -> dict[str, Measure]:
        return {found.name: found for task in cast(list[Task], all_tasks()) for found in task.measures}

    def __getitem__(self, name: str) -> Measure:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


MEASURES: Mapping[str, Measure] = _Measures()
"""Every measure by name."""


def measures_of(task: str) -> tuple[Measure, ...]:
    """Return the measures of a task, in the order in which `measure` gives them: the primary one first.

    Examples
    --------
    >>> from omnirank.measures import measures_of
    >>> [found.name for found in measures_of("regression")]
    ['rrmse', 'rmse', 'mae', 'r2']
    """
    return get_task(task).measures


def primary_measure(task: str) -> Measure:
    """Return the measure that judges rankings of a task unless another one is chosen.

    Examples
    --------
    >>> from omnirank.measures import primary_measure
    >>> primary_measure("multi-label").title
    'AU(avg PRC)'
    """
    return get_task(task).measures[0]


def measure_of(task: str, name: str | None = None) -> Measure:
    """Return the measure of a task that a user names, or the primary one.

    Examples
    --------
    >>> from omnirank.tasks.measuring import measure_of
    >>> measure_of("regression").name, measure_of("regression", "mae").name
    ('rrmse', 'mae')
    """
    own = {found.name: found for found in measures_of(task)}
    if name is not None:
        check("measure", name, choice(*own), task)
    return own[name or get_task(task).default_measure]


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
        Definition of one error, coverage and ranking loss: scikit-learn's, or that behind published results.
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
    >>> from omnirank.measures import measure
    >>> target = Target.numeric(np.array([[0.0], [2.0]]), ["yield"])
    >>> measure(target, np.array([[1.0], [1.0]]), training=target, task="regression")
    {'rrmse': 1.0, 'rmse': 1.0, 'mae': 1.0, 'r2': 0.0}
    """
    settings = {"variant": variant, "variance": variance, "threshold": threshold}
    case = _case(truth, means, training, task, hierarchy, **settings)
    values = get_task(task).measure(case)
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
    >>> from omnirank.measures import measures_by_target
    >>> target = Target.numeric(np.array([[0.0, 1.0], [2.0, 5.0]]), ["height", "mass"])
    >>> means = np.array([[1.0, 1.0], [1.0, 5.0]])
    >>> found = measures_by_target(target, means, training=target, task="multi-target-regression")
    >>> found["height"]["rrmse"], found["mass"]["rrmse"]
    (1.0, 0.0)
    """
    kind = get_task(task).kind
    if kind not in ("classes", "numbers"):
        raise ParameterError("task", task, "measures by target are for classes and numbers")
    case = _case(truth, means, training, task, variance=variance)
    wanted = [found.name for found in measures_of(task_named(kind, single=True))]
    found = {}
    for variable, name in enumerate(case.truth.names):
        if kind == "numbers":
            values = number_measures(*case.numbers(np.array([variable])))
        else:
            values = class_measures(*case.classes(variable))
        found[name] = {known: float(values[known]) for known in wanted}
    return found


def _case(
    truth: Target, means: Any, training: Target, task: str, hierarchy: Hierarchy | None = None, **settings: Any
) -> Case:
    """Check what is given and keep the labelled examples."""
    check_all(settings, {"variant": choice(*VARIANTS), "variance": choice(*VARIANCES)})
    if truth.names != training.names or truth.levels != training.levels:
        raise DataError("the test target has other variables or levels than the training target")
    if not truth.labelled.any():
        raise DataError("no test example has a known target: nothing can be measured")
    columns = get_task(task).columns(training, hierarchy)
    means = np.asarray(means, dtype=np.float64)
    if means.shape != (truth.n_examples, columns.n_columns):
        raise DataError(
            f"means of shape {means.shape} for {truth.n_examples} examples and {columns.n_columns} columns of the "
            f"target; expected {(truth.n_examples, columns.n_columns)}"
        )
    if not truth.labelled.all():
        truth, means = truth.take(truth.labelled), means[truth.labelled]
    actual = get_task(task).columns(truth, hierarchy)
    _check_predicted(actual, means)
    return Case(actual, means, columns, **settings)


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
