"""One small module per task: all that depends on what the target is, from its columns to its measures."""

from __future__ import annotations

from omnirank.data.task_registry import add_task
from omnirank.tasks.base import Task
from omnirank.tasks.case import Case
from omnirank.tasks.classification import Classification, MultiTargetClassification
from omnirank.tasks.clustering import Clustering
from omnirank.tasks.columns import (
    ClusteringColumns,
    PrototypeColumns,
    clustering_columns,
    feature_columns,
    plain_columns,
    prototype_columns,
)
from omnirank.tasks.hierarchical import HierarchicalMultiLabel
from omnirank.tasks.mixed import MixedTargets
from omnirank.tasks.multi_label import MultiLabel
from omnirank.tasks.registry import get_task, register_task, unregister_task
from omnirank.tasks.regression import MultiTargetRegression, Regression

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
