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
    "Rankers: graphs of examples": (
        "LaplacianRanker",
        "SPECRanker",
        "MCFSRanker",
        "NDFSRanker",
        "UDFSRanker",
        "SCLSRanker",
        "SFSSRanker",
        "STRLaplaceRanker",
    ),
    "Rankers: models and resampling": (
        "SVMRFERanker",
        "AgnosRanker",
        "SEFRRanker",
        "ResampledRanker",
        "ThreeWayRanker",
    ),
    "Rankers: what any method must beat": ("RandomRanker", "UniformRanker"),
    "How many features, how sure, how good": (
        "significance",
        "select",
        "stability",
        "redundancy",
        "evaluate",
        "compare_methods",
    ),
    "Predictors": (
        "PCTClassifier",
        "PCTRegressor",
        "PCTClusterer",
        "PCTForestClassifier",
        "PCTForestRegressor",
        "MLkNN",
        "load_model",
        "predict_shards",
        "export_text",
        "export_graphviz",
        "export_json",
        "tree_from_json",
    ),
    "Experiments": ("run_plan", "read_results", "read_rankings"),
}
"""Every name of ``omnirank.__all__`` is in one group; the tests see to it."""

MODULES = (
    "omnirank.datasets",
    "omnirank.plots",
    "omnirank.report",
    "omnirank.relational",
    "omnirank.timeseries",
    "omnirank.measures",
    "omnirank.evaluation.folds",
    "omnirank.evaluation.cross",
    "omnirank.evaluation.curves",
    "omnirank.evaluation.stability",
    "omnirank.evaluation.statistics",
    "omnirank.evaluation.clustering_hypothesis",
    "omnirank.evaluation.experiments",
    "omnirank.errors",
)
