"""One small module per task: all that depends on what the target is, from its columns to its measures."""

from __future__ import annotations

from omnirank.data.task_registry import add_task, unregister_task
from omnirank.tasks.base import Case, Task, get_task, register_task
from omnirank.tasks.columns import (
    ClusteringColumns,
    PrototypeColumns,
    clustering_columns,
    feature_columns,
    plain_columns,
    prototype_columns,
)
from omnirank.tasks.multi_label import HierarchicalMultiLabel, MultiLabel
from omnirank.tasks.variables import (
    Classification,
    Clustering,
    MixedTargets,
    MultiTargetClassification,
    MultiTargetRegression,
    Regression,
)

__all__ = [
    "Case",
    "ClusteringColumns",
    "PrototypeColumns",
    "Task",
    "clustering_columns",
    "feature_columns",
    "get_task",
    "plain_columns",
    "prototype_columns",
    "register_task",
    "unregister_task",
]

for _task in (
    Classification(),
    MultiTargetClassification(),
    Regression(),
    MultiTargetRegression(),
    MultiLabel(),
    HierarchicalMultiLabel(),
    MixedTargets(),
    Clustering(),
):
    add_task(_task)
