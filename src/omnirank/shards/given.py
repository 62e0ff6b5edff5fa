"""What may be given to ``fit`` beside data that do not fit in memory."""

from __future__ import annotations

from typing import Any

from omnirank.core.errors import ParameterError, advised
from omnirank.shards.dataset import ShardedDataset


def check_given(estimator: Any, data: ShardedDataset, y: Any, sample_weight: Any) -> None:
    """Refuse what is not possible with data that do not fit in memory, or what the shards say themselves.

    Parameters
    ----------
    estimator : ranker or predictor
        Whose ``fit`` was called.
    data : ShardedDataset
        The data.
    y, sample_weight
        As given to ``fit``.
    """
    if y is not None:
        raise ParameterError("the shards hold their target: y must not be given as well")
    if getattr(estimator, "hierarchy", None) is not None:
        raise ParameterError("the shards hold their hierarchy: hierarchy must not be given as well")
    if sample_weight is not None:
        advice = "draw examples in proportion to their weights and take them (data.take)"
        raise ParameterError(f"sample_weight is for data in memory: {advice}")
    if estimator.task not in ("auto", data.task):
        advice = advised("give open_shards the task", "open them with this task")
        raise ParameterError("task", estimator.task, f"the shards are opened for {data.task!r}: {advice}")
