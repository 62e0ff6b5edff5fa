"""The order of the reference: public names by what they are for, then the modules behind them."""

from __future__ import annotations

GROUPS = {
    "Data": ("Dataset", "Hierarchy", "load", "ShardedDataset", "open_shards", "write_arff", "write_parquet"),
    "Rankings": ("Ranking", "compare_rankings", "make_ranker", "methods"),
    "Rankers: trees and neighbours": ("EnsembleRanker", "ReliefRanker", "PerTargetRanker"),
    "Rankers: one feature at a time": (
        "UnivariateRanker",
        "CorrelationRanker",
        "InformationRanker",
        "DispersionRanker",
    ),
    "Rankers: graphs, models and resampling": ("LaplacianRanker", "SVMRFERanker", "ResampledRanker"),
    "How many features, how sure, how good": (
        "significance",
        "select",
        "stability",
        "redundancy",
        "evaluate",
        "compare_methods",
    ),
    "Long work": ("progress",),
    "Predictors": (
        "PCTClassifier",
        "PCTRegressor",
        "PCTClusterer",
        "PCTForestClassifier",
        "PCTForestRegressor",
        "load_model",
        "predict_shards",
        "export_text",
        "export_graphviz",
        "export_json",
    ),
}
"""Every name of ``omnirank.__all__`` is in one group; the tests see to it."""

MODULES = (
    "omnirank.rankers",
    "omnirank.datasets",
    "omnirank.plots",
    "omnirank.report",
    "omnirank.relational",
    "omnirank.timeseries",
    "omnirank.measures",
    "omnirank.evaluation.folds",
    "omnirank.evaluation.cross",
    "omnirank.evaluation.stability",
    "omnirank.evaluation.statistics",
    "omnirank.evaluation.experiments",
    "omnirank.errors",
)
