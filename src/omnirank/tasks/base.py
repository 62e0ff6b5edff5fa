"""What a task is: all that methods and their evaluation ask about the target; and tasks by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from omnirank.core.errors import DataTypeError, ParameterError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.data.task_registry import KINDS, TaskTarget, add_task, all_tasks, task_target
from omnirank.measures.table import Measure, first_largest
from omnirank.tasks.columns import (
    ClusteringColumns,
    PrototypeColumns,
    clustering_columns,
    plain_columns,
    prototype_columns,
)
from omnirank.tasks.target_distances import TargetDistance, ValueDistances


@dataclass(frozen=True, eq=False)
class Case:
    """Predicted means of labelled examples, beside the truth.

    Attributes
    ----------
    truth : PrototypeColumns
        The coded target of the examples.
    means : ndarray (n, P)
        What is predicted for its columns.
    training : PrototypeColumns
        The coded training target.
    variant, variance, threshold
        As in `omnirank.measures.measure`.
    """

    truth: PrototypeColumns
    means: np.ndarray
    training: PrototypeColumns
    variant: str = "standard"
    variance: str = "training"
    threshold: float = 0.5

    @property
    def normal(self) -> PrototypeColumns:
        """The set that the user chose: errors are relative to its impurities, in its units."""
        return self.training if self.variance == "training" else self.truth

    @property
    def is_nominal(self) -> np.ndarray:
        """Which variables are nominal."""
        return np.array([levels is not None for levels in self.truth.levels], dtype=bool)

    def classes(self, variable: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes (-1 = unknown) of a nominal variable, and the predicted frequencies of its levels."""
        own = self.truth.variable == variable
        actual = self.truth.matrix[:, own]
        codes = np.where(np.isnan(actual).any(axis=1), -1, first_largest(actual))
        return codes, self.means[:, own]

    def numbers(self, variables: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the true values of numeric variables, the predicted ones, their variances, and the units of these."""
        at = np.flatnonzero(np.isin(self.truth.variable, variables))
        normal = self.normal
        return self.truth.matrix[:, at], self.means[:, at], normal.impurity[variables], normal.unit[at]


class Task(TaskTarget, ABC):
    """What to know of one sort of target, besides its name and kind.

    Attributes
    ----------
    measures : tuple of Measure
        What `measure` returns; the first of them judges rankings and predictors unless another one is chosen.
    default_neighbors : int
        Number of neighbours that judge a ranking, as in the studies from which the protocols come.
    default_pruning : str or None
        What ``pruning="auto"`` of a single tree is: "m5"; "plain", by the errors of unscaled labels; or None.
    normalizes_targets : bool
        What ``normalize_targets=None`` is: whether each target is divided by its variance on the training set. Where it
        is not, every target must be one column, such as a label.
    distances : tuple of str
        Target distances that Relief may use; the first is the default.
    """

    measures: ClassVar[tuple[Measure, ...]]
    default_neighbors: ClassVar[int] = 5
    default_pruning: ClassVar[str | None] = "m5"
    normalizes_targets: ClassVar[bool] = True
    distances: ClassVar[tuple[str, ...]] = ("hamming",)

    @property
    def default_measure(self) -> str:
        """Name of the measure that judges rankings and predictors unless another one is chosen."""
        return self.measures[0].name

    def columns(self, target: Target, hierarchy: Hierarchy | None = None, w0: float = 0.75) -> PrototypeColumns:
        """Return the target as prototype columns, with the weights of its variables."""
        return prototype_columns(target)

    def clustering(
        self, columns: PrototypeColumns, sample_weight: np.ndarray | None = None, normalize: bool | None = None
    ) -> ClusteringColumns:
        """Return the clustering columns of the coded target.

        Parameters
        ----------
        columns : PrototypeColumns
            The coded training target.
        sample_weight : ndarray, optional
            Weights of the examples in the training variances.
        normalize : bool or None
            Whether every variable is divided by its impurity on the training set. None: as the task says; where it
            says no, all are divided by the same number, so that they count as much together as they would then.
        """
        clustered = clustering_columns(columns, sample_weight, normalize is not False)
        if normalize is None and not self.normalizes_targets:
            return plain_columns(columns, clustered, sample_weight)
        return clustered

    @abstractmethod
    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return what leaf means (n, P) predict, as users write the target."""

    @abstractmethod
    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the error of leaf means on examples with a known target (0 = perfect).

        Parameters
        ----------
        truth : PrototypeColumns
            The coded target of the examples.
        means : ndarray (n, P)
            Their leaves' means.
        columns : PrototypeColumns
            The coded training target, for the normalisation.
        """

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the loss of neighbours' predictions (0 = perfect), by which parameters of a ranking are chosen.

        Parameters as in `error`.
        """
        return self.error(truth, means, columns)

    @abstractmethod
    def measure(self, case: Case) -> dict[str, float]:
        """Return the values of all `measures`, by name."""

    def distance(
        self, target: Target, kind: str, hierarchy: Hierarchy | None = None, w0: float = 0.75
    ) -> TargetDistance:
        """Return how far apart the targets of pairs of examples are, for Relief.

        Parameters
        ----------
        target : Target
            The target of all examples.
        kind : str
            One of ``distances``.
        hierarchy : Hierarchy, optional
            Order of the labels.
        w0 : float
            As in `columns`.
        """
        return ValueDistances(target)


def majority_codes(means: np.ndarray, columns: PrototypeColumns, variable: int) -> np.ndarray:
    """Return the most frequent level of a nominal variable; ties go to the first level."""
    return first_largest(means[:, columns.variable == variable])


def wrong_share(truth: PrototypeColumns, means: np.ndarray, variable: int) -> float:
    """Return the share of examples with a known level whose majority level is another."""
    own = truth.variable == variable
    actual = truth.matrix[:, own]
    known = ~np.isnan(actual[:, 0])
    if not known.any():
        return 0.0
    return float(np.mean(np.argmax(actual[known], axis=1) != first_largest(means[known][:, own])))


def get_task(name: str) -> Task:
    """Return the task of that name.

    Examples
    --------
    >>> from omnirank.tasks import get_task
    >>> get_task("regression").default_measure
    'rrmse'
    """
    return cast(Task, task_target(name))


def register_task(task: Task, *, replace: bool = False) -> Task:
    """Add a task to those that ``task=`` may name, and return it.

    Studies are run by processes of their own, which know tasks of entry points only: see
    `omnirank.data.task_registry`.

    Parameters
    ----------
    task : Task
        The task.
    replace : bool
        Whether a task of the same name may be replaced; otherwise that is an error.

    Examples
    --------
    Counts, which are numbers, but never predicted below 0:

    >>> import omnirank as om
    >>> from omnirank.tasks import register_task, unregister_task
    >>> from omnirank.tasks.variables import Regression
    >>> class Counts(Regression):
    ...     name = "counts"
    ...
    ...     def predict(self, means, columns, threshold=0.5):
    ...         return super().predict(means, columns).clip(min=0)
    >>> task = register_task(Counts())
    >>> om.UnivariateRanker(task="counts").fit([[0.0], [1.0]], [2, 4]).task_
    'counts'
    >>> unregister_task("counts")
    """
    if not isinstance(task, Task):
        raise DataTypeError(f"{task!r} is no task: give an instance of a subclass of omnirank.tasks.Task")
    if task.name == "auto" or task.kind not in KINDS:
        raise ParameterError(f"task {task.name!r} of kind {task.kind!r}: 'auto' is no name; kinds: {', '.join(KINDS)}")
    tasks = cast(list[Task], [other for other in all_tasks() if other.name != task.name])
    known = {measure.name: measure for other in tasks for measure in other.measures}
    for measure in task.measures:
        if known.get(measure.name, measure) != measure:
            raise ParameterError(f"task {task.name!r}: there is another measure called {measure.name!r} already")
    add_task(task, replace)
    return task
