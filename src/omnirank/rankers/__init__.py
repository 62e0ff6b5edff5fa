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
    from omnirank.rankers.laplacian import LaplacianRanker
    from omnirank.rankers.mcfs import MCFSRanker
    from omnirank.rankers.ndfs import NDFSRanker
    from omnirank.rankers.per_target import PerTargetRanker
    from omnirank.rankers.relief import ReliefRanker
    from omnirank.rankers.resampled import ResampledRanker
    from omnirank.rankers.scls import SCLSRanker
    from omnirank.rankers.sefr import SEFRRanker
    from omnirank.rankers.sfss import SFSSRanker
    from omnirank.rankers.spec import SPECRanker
    from omnirank.rankers.str_laplace import STRLaplaceRanker
    from omnirank.rankers.svm_rfe import SVMRFERanker
    from omnirank.rankers.three_way import ThreeWayRanker
    from omnirank.rankers.udfs import UDFSRanker
    from omnirank.rankers.univariate import UnivariateRanker

# Imported on first use: the registry reads this room's table without importing any ranker.
_WHERE = {
    "AgnosRanker": "omnirank.rankers.agnos",
    "BaseRanker": "omnirank.rankers.base",
    "CorrelationRanker": "omnirank.rankers.correlation",
    "DispersionRanker": "omnirank.rankers.dispersion",
    "EnsembleRanker": "omnirank.rankers.ensemble",
    "InformationRanker": "omnirank.rankers.information",
    "LaplacianRanker": "omnirank.rankers.laplacian",
    "MCFSRanker": "omnirank.rankers.mcfs",
    "NDFSRanker": "omnirank.rankers.ndfs",
    "PerTargetRanker": "omnirank.rankers.per_target",
    "RandomRanker": "omnirank.rankers.baselines",
    "ReliefRanker": "omnirank.rankers.relief",
    "ResampledRanker": "omnirank.rankers.resampled",
    "SCLSRanker": "omnirank.rankers.scls",
    "SEFRRanker": "omnirank.rankers.sefr",
    "SFSSRanker": "omnirank.rankers.sfss",
    "SPECRanker": "omnirank.rankers.spec",
    "STRLaplaceRanker": "omnirank.rankers.str_laplace",
    "SVMRFERanker": "omnirank.rankers.svm_rfe",
    "ThreeWayRanker": "omnirank.rankers.three_way",
    "UDFSRanker": "omnirank.rankers.udfs",
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
    "LaplacianRanker",
    "MCFSRanker",
    "NDFSRanker",
    "PerTargetRanker",
    "RandomRanker",
    "ReliefRanker",
    "ResampledRanker",
    "SCLSRanker",
    "SEFRRanker",
    "SFSSRanker",
    "SPECRanker",
    "STRLaplaceRanker",
    "SVMRFERanker",
    "ThreeWayRanker",
    "UDFSRanker",
    "UniformRanker",
    "UnivariateRanker",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
