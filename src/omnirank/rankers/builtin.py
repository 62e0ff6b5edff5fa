"""The methods that come with omnirank: one entry each, names and import paths only."""

from __future__ import annotations

from omnirank.core.registry import Method
from omnirank.data.task_registry import TASKS, TaskNames

__all__ = ["METHODS"]

_TREES = "omnirank.rankers.ensemble:EnsembleRanker"

METHODS = (
    Method(
        "genie3",
        _TREES,
        "Impurity reductions of the feature's tests in an ensemble of trees",
        tasks=TASKS,
        parameters={"score": "genie3"},
        reference="Huynh-Thu et al.: Inferring regulatory networks from expression data. PLoS ONE 5(9), 2010",
    ),
    Method(
        "symbolic",
        _TREES,
        "How many examples reach the feature's tests in an ensemble of trees",
        tasks=TASKS,
        parameters={"score": "symbolic"},
        reference="Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Mach. Learn. 109, 2020",
    ),
    Method(
        "permutation",
        _TREES,
        "Growth of the trees' out-of-bag error when the feature is permuted",
        tasks=TASKS,
        parameters={"score": "permutation"},
        reference="Breiman: Random forests. Machine Learning 45, 2001",
    ),
    Method(
        "relief",
        "omnirank.rankers.relief:ReliefRanker",
        "How features differ where the targets of neighbours differ, minus where they are the same",
        tasks=TASKS,
        reference="Robnik-Sikonja, Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. ML 53, 2003",
        aliases=("rrelieff",),
    ),
    Method(
        "relieff",
        "omnirank.rankers.relief:ReliefRanker",
        "Distance to the nearest examples of other classes minus that to the nearest of the same class",
        tasks=TaskNames("classes", single=True),
        supervision=("supervised",),
        parameters={"algorithm": "relieff"},
        reference="Kononenko: Estimating attributes: analysis and extensions of RELIEF. ECML 1994",
    ),
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
    ),
    Method(
        "uniform",
        "omnirank.rankers.baselines:UniformRanker",
        "The same score for all features: no ranking at all",
        tasks=TASKS,
    ),
)
