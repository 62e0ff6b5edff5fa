"""The ranking methods: scikit-learn selectors with one ``Ranking`` as result."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnirank.rankers.agnos import AgnosRanker
    from omnirank.rankers.base import BaseRanker
    from omnirank.rankers.baselines import RandomRanker, UniformRanker
    from omnirank.rankers.correlation import CorrelationRanker
    from omnirank.rankers.dispersion import DispersionRanker
    from omnirank.rankers.ensemble import EnsembleRanker
    from omnirank.rankers.information import InformationRanker
    from omnirank.rankers.per_target import PerTargetRanker
    from omnirank.rankers.relief import ReliefRanker
    from omnirank.rankers.resampled import ResampledRanker
    from omnirank.rankers.svm_rfe import SVMRFERanker
    from omnirank.rankers.three_way import ThreeWayRanker
    from omnirank.rankers.univariate import UnivariateRanker

# Imported on first use: the registry reads this room's table without importing any ranker.
_WHERE = {
    "AgnosRanker": "omnirank.rankers.agnos",
    "BaseRanker": "omnirank.rankers.base",
    "CorrelationRanker": "omnirank.rankers.correlation",
    "DispersionRanker": "omnirank.rankers.dispersion",
    "EnsembleRanker": "omnirank.rankers.ensemble",
    "InformationRanker": "omnirank.rankers.information",
    "PerTargetRanker": "omnirank.rankers.per_target",
    "RandomRanker": "omnirank.rankers.baselines",
    "ReliefRanker": "omnirank.rankers.relief",
    "ResampledRanker": "omnirank.rankers.resampled",
    "SVMRFERanker": "omnirank.rankers.svm_rfe",
    "ThreeWayRanker": "omnirank.rankers.three_way",
    "UniformRanker": "omnirank.rankers.baselines",
    "UnivariateRanker": "omnirank.rankers.univariate",
}

__all__ = [
    "AgnosRanker",
    "BaseRanker",
    "CorrelationRanker",
    "DispersionRanker",
    "EnsembleRanker",
    "InformationRanker",
    "PerTargetRanker",
    "RandomRanker",
    "ReliefRanker",
    "ResampledRanker",
    "SVMRFERanker",
    "ThreeWayRanker",
    "UniformRanker",
    "UnivariateRanker",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
