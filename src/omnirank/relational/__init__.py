"""Data sets of several linked tables: rankings, predictions and constructed features without joining them by hand."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnirank.relational.candidates import Bias
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.relational.features import RelationalFeatures
    from omnirank.relational.learners import RelationalBoosting, RelationalForest, RelationalTree
    from omnirank.relational.ranker import RelationalRanker

# Imported on first use: reading tables needs no trees.
_WHERE = {
    "Bias": "candidates",
    "RelationalBoosting": "learners",
    "RelationalDataset": "dataset",
    "RelationalFeatures": "features",
    "RelationalForest": "learners",
    "RelationalRanker": "ranker",
    "RelationalTree": "learners",
}

__all__ = [
    "Bias",
    "RelationalBoosting",
    "RelationalDataset",
    "RelationalFeatures",
    "RelationalForest",
    "RelationalRanker",
    "RelationalTree",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'omnirank.relational' has no attribute {name!r}")
    value = getattr(import_module(f"omnirank.relational.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
