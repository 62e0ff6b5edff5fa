"""The methods that come with omnirank: one entry each, names and import paths only."""

from __future__ import annotations

from omnirank.core.registry import Method
from omnirank.data.infer import TASKS

__all__ = ["METHODS"]

METHODS = (
    Method(
        "univariate",
        "omnirank.rankers.univariate:UnivariateRanker",
        "Share of the target's variance that the feature explains alone",
        tasks=TASKS,
        supervision=("supervised", "unsupervised"),
        reference="Guyon, Elisseeff: An introduction to variable and feature selection. JMLR 3, 2003",
        aliases=("correlation",),
    ),
    Method(
        "random",
        "omnirank.rankers.baselines:RandomRanker",
        "Random scores: what any method must beat",
        tasks=TASKS,
        supervision=("supervised", "semi-supervised", "unsupervised"),
    ),
    Method(
        "uniform",
        "omnirank.rankers.baselines:UniformRanker",
        "The same score for all features: no ranking at all",
        tasks=TASKS,
        supervision=("supervised", "semi-supervised", "unsupervised"),
    ),
)
