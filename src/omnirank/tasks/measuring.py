"""Predictions beside the truth: all measures of a task from predicted means, and ``score`` of classifiers.

`measure` is the one entry that experiments and `evaluate` use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, check_all, choice
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.data.task_registry import all_tasks, task_named, task_target
from omnirank.measures.table import Measure
from omnirank.measures.variables import class_measures, number_measures
from omnirank.tasks.base import Case, Task, get_task
from omnirank.tasks.columns import PrototypeColumns

VARIANTS = ("standard", "clus")
VARIANCES = ("training", "test")


class _Measures(Mapping[str, Measure]):
    """The measures of all tasks, also of those that are registered later."""

    def _all(self) -> dict[str, Measure]:
        return {measure.name: measure for task in cast(list[Task], all_tasks()) for measure in task.measures}

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

    Parameters
    ----------
    task : str
        Name of the task.

    Examples
    --------
    >>> from omnirank.measures import measures_of
    >>> [found.name for found in measures_of("regression")]
    ['rrmse', 'rmse', 'mae', 'r2']
    """
    return get_task(task).measures


def primary_measure(task: str) -> Measure:
    """Return the measure that judges rankings of a task unless another one is chosen.

    Parameters
    ----------
    task : str
        Name of the task.

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
    own = {measure.name: measure for measure in measures_of(task)}
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
    return {one.name: float(values[one.name]) for one in measures_of(task)}


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
    wanted = [by_target.name for by_target in measures_of(task_named(kind, single=True))]
    by_target = {}
    for variable, name in enumerate(case.truth.names):
        if kind == "numbers":
            values = number_measures(*case.numbers(np.array([variable])))
        else:
            values = class_measures(*case.classes(variable))
        by_target[name] = {known: float(values[known]) for known in wanted}
    return by_target


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


# -- score of classifiers: the share of examples whose known classes or labels are all predicted right -------------


def true_target(
    X: FeaturesLike, y: TargetLike | None, task: str, names: Sequence[str], hierarchy: Hierarchy | None = None
) -> Target | None:
    """Return what is to be predicted, with labels in the order of the training data.

    Parameters
    ----------
    X : Dataset or features
        A Dataset brings its target.
    y : array-like
        The classes or label sets of features, written as in ``fit``.
    task : str
        The task that was learned.
    names : sequence of str
        Names of the targets in training.
    hierarchy : Hierarchy, optional
        Of the labels.

    Examples
    --------
    >>> from omnirank.tasks.measuring import true_target
    >>> true_target([[0.0]], [{"b"}], "multi-label", ["a", "b"]).dense().tolist()
    [[0.0, 1.0]]
    """
    labels = task_target(task).kind == "labels"
    if not isinstance(X, Dataset):
        if y is None:
            raise DataError("score compares predictions with y: give the target of the examples in X")
        return target_from(y, task, hierarchy, names if labels and hierarchy is None else None)[0]
    return in_training_order(X.target, task, names)


def in_training_order(target: Target | None, task: str, names: Sequence[str]) -> Target | None:
    """Return the target of a data set, with labels in the order of the training data."""
    if target is None or task_target(task).kind != "labels" or target.names == tuple(names):
        return target
    if sorted(target.names) != sorted(names):
        odd = sorted(set(target.names) ^ set(names))
        raise DataError(f"the labels are not those of the training data: {odd[0]!r} is in one of them only")
    place = {name: i for i, name in enumerate(target.names)}
    return target.select([place[name] for name in names])


def target_of(target: Target | None, predicted: np.ndarray) -> Target:
    """Return the target that goes with predictions; an error where there is none, or of other examples."""
    if target is None:
        raise DataError("there is no target to compare the predictions with: give y, or data that name their target")
    if target.n_examples != len(predicted):
        raise DataError(f"X has {counted(len(predicted), 'row')}, y has {target.n_examples}")
    return target


def share_right(target: Target | None, predicted: np.ndarray, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of labelled examples predicted right: the class, all classes, or the whole label set.

    Unlabelled examples do not count; of partly labelled ones what is known does.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.measuring import share_right
    >>> share_right(target_from(["a", None, "b"])[0], np.array(["a", "a", "a"]))
    0.5
    """
    target = target_of(target, predicted)
    n = target.n_examples
    if not target.labelled.any():
        raise DataError("no example of y has a known target: there is nothing to compare predictions with")
    truth = target.dense()
    known = ~np.isnan(truth)
    actual = truth if target.is_labels else np.asarray(target.to_array()).reshape(n, -1)
    right = (np.asarray(actual == predicted.reshape(n, -1)) | ~known).all(axis=1)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n)[target.labelled]
    return float(np.average(right[target.labelled], weights=weights))
