# ruff: noqa: F401 - names for type checkers
"""The ranking methods: scikit-learn selectors with one ``Ranking`` as result."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from omnirank.core.registry import Method, register, unregister

if TYPE_CHECKING:
    from omnirank.rankers.agnos import AgnosRanker
    from omnirank.rankers.base import BaseRanker, WeightedRanker
    from omnirank.rankers.clusters import MCFSRanker, NDFSRanker, UDFSRanker
    from omnirank.rankers.controls import DispersionRanker, RandomRanker, UniformRanker
    from omnirank.rankers.ensemble import EnsembleRanker
    from omnirank.rankers.few_labels import SCLSRanker, SFSSRanker, STRLaplaceRanker, ThreeWayRanker
    from omnirank.rankers.information import InformationRanker
    from omnirank.rankers.laplacian import LaplacianRanker, SPECRanker
    from omnirank.rankers.per_target import PerTargetRanker
    from omnirank.rankers.relief import ReliefRanker
    from omnirank.rankers.resampled import ResampledRanker
    from omnirank.rankers.sefr import SEFRRanker
    from omnirank.rankers.svm_rfe import SVMRFERanker
    from omnirank.rankers.univariate import CorrelationRanker, UnivariateRanker

# Imported on first use: the registry reads this room's table without importing any ranker.
_NAMES = {
    "agnos": ("AgnosRanker",),
    "base": ("BaseRanker", "WeightedRanker"),
    "clusters": ("MCFSRanker", "NDFSRanker", "UDFSRanker"),
    "controls": ("DispersionRanker", "RandomRanker", "UniformRanker"),
    "ensemble": ("EnsembleRanker",),
    "few_labels": ("SCLSRanker", "SFSSRanker", "STRLaplaceRanker", "ThreeWayRanker"),
    "information": ("InformationRanker",),
    "laplacian": ("LaplacianRanker", "SPECRanker"),
    "per_target": ("PerTargetRanker",),
    "relief": ("ReliefRanker",),
    "resampled": ("ResampledRanker",),
    "sefr": ("SEFRRanker",),
    "svm_rfe": ("SVMRFERanker",),
    "univariate": ("CorrelationRanker", "UnivariateRanker"),
}
_MODULE = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["Method", "register", "unregister", *_MODULE]  # noqa: PLE0604 - the names of a table


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
