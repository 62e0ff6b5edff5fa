"""One small module a task: target to clustering columns, prototype to prediction, distance, error."""

from __future__ import annotations

from omnirank.core.errors import ParameterError
from omnirank.tasks.base import CLASS_TASKS, LABEL_TASKS, Task
from omnirank.tasks.classification import Classification
from omnirank.tasks.clustering import Clustering
from omnirank.tasks.columns import (
    ClusteringColumns,
    PrototypeColumns,
    clustering_columns,
    feature_columns,
    plain_columns,
    prototype_columns,
)
from omnirank.tasks.distances import target_distance
from omnirank.tasks.hierarchical import HierarchicalMultiLabel
from omnirank.tasks.mixed import MixedTargets
from omnirank.tasks.multi_label import MultiLabel
from omnirank.tasks.multi_target_classification import MultiTargetClassification
from omnirank.tasks.regression import MultiTargetRegression, Regression

__all__ = [
    "CLASS_TASKS",
    "LABEL_TASKS",
    "ClusteringColumns",
    "PrototypeColumns",
    "Task",
    "clustering_columns",
    "feature_columns",
    "get_task",
    "plain_columns",
    "prototype_columns",
    "target_distance",
]

_TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Classification(),
        MultiTargetClassification(),
        Regression(),
        MultiTargetRegression(),
        MultiLabel(),
        HierarchicalMultiLabel(),
        MixedTargets(),
        Clustering(),
    )
}


def get_task(name: str) -> Task:
    """Return the task of that name.

    Examples
    --------
    >>> from omnirank.tasks import get_task
    >>> get_task("regression").default_measure
    'rrmse'
    """
    try:
        return _TASKS[name]
    except KeyError:
        raise ParameterError(f"task={name!r} is not a task; choose one of {', '.join(_TASKS)}") from None
