"""The ranking methods: scikit-learn selectors with one ``Ranking`` as result."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnirank.rankers.base import BaseRanker
    from omnirank.rankers.baselines import RandomRanker, UniformRanker
    from omnirank.rankers.ensemble import EnsembleRanker
    from omnirank.rankers.laplacian import LaplacianRanker
    from omnirank.rankers.mcfs import MCFSRanker
    from omnirank.rankers.ndfs import NDFSRanker
    from omnirank.rankers.per_target import PerTargetRanker
    from omnirank.rankers.relief import ReliefRanker
    from omnirank.rankers.scls import SCLSRanker
    from omnirank.rankers.sefr import SEFRRanker
    from omnirank.rankers.sfss import SFSSRanker
    from omnirank.rankers.spec import SPECRanker
    from omnirank.rankers.str_laplace import STRLaplaceRanker
    from omnirank.rankers.udfs import UDFSRanker
    from omnirank.rankers.univariate import UnivariateRanker

# Imported on first use: the registry reads this room's table without importing any ranker.
_WHERE = {
    "BaseRanker": "omnirank.rankers.base",
    "EnsembleRanker": "omnirank.rankers.ensemble",
    "LaplacianRanker": "omnirank.rankers.laplacian",
    "MCFSRanker": "omnirank.rankers.mcfs",
    "NDFSRanker": "omnirank.rankers.ndfs",
    "PerTargetRanker": "omnirank.rankers.per_target",
    "RandomRanker": "omnirank.rankers.baselines",
    "ReliefRanker": "omnirank.rankers.relief",
    "SCLSRanker": "omnirank.rankers.scls",
    "SEFRRanker": "omnirank.rankers.sefr",
    "SFSSRanker": "omnirank.rankers.sfss",
    "SPECRanker": "omnirank.rankers.spec",
    "STRLaplaceRanker": "omnirank.rankers.str_laplace",
    "UDFSRanker": "omnirank.rankers.udfs",
    "UniformRanker": "omnirank.rankers.baselines",
    "UnivariateRanker": "omnirank.rankers.univariate",
}

__all__ = [
    "BaseRanker",
    "EnsembleRanker",
    "LaplacianRanker",
    "MCFSRanker",
    "NDFSRanker",
    "PerTargetRanker",
    "RandomRanker",
    "ReliefRanker",
    "SCLSRanker",
    "SEFRRanker",
    "SFSSRanker",
    "SPECRanker",
    "STRLaplaceRanker",
    "UDFSRanker",
    "UniformRanker",
    "UnivariateRanker",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
