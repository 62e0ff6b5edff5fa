"""Feature ranking for any target, with all, few or no labels.

Examples
--------
>>> import omnirank as om
>>> data = om.datasets.load_sample("digits")
>>> ranking = om.make_ranker("univariate").fit(data).ranking_
>>> len(ranking.top(5))
5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnirank import datasets, errors, relational, timeseries
    from omnirank.core.ranking.comparison import compare_rankings
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.core.registry import make_ranker, methods
    from omnirank.data.arff.write import write_arff
    from omnirank.data.dataset import Dataset
    from omnirank.data.hierarchy import Hierarchy
    from omnirank.data.load import load
    from omnirank.data.models import load_model
    from omnirank.data.parquet import write_parquet
    from omnirank.ensembles.pct import PCTClassifier, PCTRegressor
    from omnirank.ensembles.pct_clusterer import PCTClusterer
    from omnirank.ensembles.pct_forest import PCTForestClassifier, PCTForestRegressor
    from omnirank.ensembles.shard_predictions import predict_shards
    from omnirank.evaluation.evaluate import evaluate
    from omnirank.evaluation.experiments.results import read_rankings, read_results
    from omnirank.evaluation.experiments.run import run_plan
    from omnirank.evaluation.redundancy import redundancy
    from omnirank.evaluation.selection import select
    from omnirank.evaluation.significance import significance
    from omnirank.evaluation.stability import stability
    from omnirank.evaluation.statistics import compare_methods
    from omnirank.neighbors.ml_knn import MLkNN
    from omnirank.rankers.agnos import AgnosRanker
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
    from omnirank.shards.dataset import ShardedDataset
    from omnirank.shards.opening import open_shards
    from omnirank.trees.export import export_graphviz, export_text
    from omnirank.trees.tree_json import export_json, tree_from_json

    __version__: str

# Every public name is imported on first use: the command line answers at once, nobody pays for unused parts.
_WHERE = {
    "AgnosRanker": "omnirank.rankers.agnos",
    "CorrelationRanker": "omnirank.rankers.correlation",
    "Dataset": "omnirank.data.dataset",
    "DispersionRanker": "omnirank.rankers.dispersion",
    "EnsembleRanker": "omnirank.rankers.ensemble",
    "Hierarchy": "omnirank.data.hierarchy",
    "InformationRanker": "omnirank.rankers.information",
    "LaplacianRanker": "omnirank.rankers.laplacian",
    "MCFSRanker": "omnirank.rankers.mcfs",
    "MLkNN": "omnirank.neighbors.ml_knn",
    "NDFSRanker": "omnirank.rankers.ndfs",
    "PCTClassifier": "omnirank.ensembles.pct",
    "PCTClusterer": "omnirank.ensembles.pct_clusterer",
    "PCTForestClassifier": "omnirank.ensembles.pct_forest",
    "PCTForestRegressor": "omnirank.ensembles.pct_forest",
    "PCTRegressor": "omnirank.ensembles.pct",
    "PerTargetRanker": "omnirank.rankers.per_target",
    "RandomRanker": "omnirank.rankers.baselines",
    "Ranking": "omnirank.core.ranking.ranking",
    "ReliefRanker": "omnirank.rankers.relief",
    "ResampledRanker": "omnirank.rankers.resampled",
    "SCLSRanker": "omnirank.rankers.scls",
    "SEFRRanker": "omnirank.rankers.sefr",
    "SFSSRanker": "omnirank.rankers.sfss",
    "SPECRanker": "omnirank.rankers.spec",
    "STRLaplaceRanker": "omnirank.rankers.str_laplace",
    "ShardedDataset": "omnirank.shards.dataset",
    "SVMRFERanker": "omnirank.rankers.svm_rfe",
    "ThreeWayRanker": "omnirank.rankers.three_way",
    "UDFSRanker": "omnirank.rankers.udfs",
    "UniformRanker": "omnirank.rankers.baselines",
    "UnivariateRanker": "omnirank.rankers.univariate",
    "compare_rankings": "omnirank.core.ranking.comparison",
    "compare_methods": "omnirank.evaluation.statistics",
    "evaluate": "omnirank.evaluation.evaluate",
    "export_graphviz": "omnirank.trees.export",
    "export_json": "omnirank.trees.tree_json",
    "export_text": "omnirank.trees.export",
    "load": "omnirank.data.load",
    "load_model": "omnirank.data.models",
    "make_ranker": "omnirank.core.registry",
    "methods": "omnirank.core.registry",
    "open_shards": "omnirank.shards.opening",
    "predict_shards": "omnirank.ensembles.shard_predictions",
    "read_rankings": "omnirank.evaluation.experiments.results",
    "read_results": "omnirank.evaluation.experiments.results",
    "redundancy": "omnirank.evaluation.redundancy",
    "run_plan": "omnirank.evaluation.experiments.run",
    "select": "omnirank.evaluation.selection",
    "significance": "omnirank.evaluation.significance",
    "stability": "omnirank.evaluation.stability",
    "tree_from_json": "omnirank.trees.tree_json",
    "write_arff": "omnirank.data.arff.write",
    "write_parquet": "omnirank.data.parquet",
}
_MODULES = ("datasets", "errors", "relational", "timeseries")

__all__ = [
    "AgnosRanker",
    "CorrelationRanker",
    "Dataset",
    "DispersionRanker",
    "EnsembleRanker",
    "Hierarchy",
    "InformationRanker",
    "LaplacianRanker",
    "MCFSRanker",
    "MLkNN",
    "NDFSRanker",
    "PCTClassifier",
    "PCTClusterer",
    "PCTForestClassifier",
    "PCTForestRegressor",
    "PCTRegressor",
    "PerTargetRanker",
    "RandomRanker",
    "Ranking",
    "ReliefRanker",
    "ResampledRanker",
    "SCLSRanker",
    "SEFRRanker",
    "SFSSRanker",
    "SPECRanker",
    "STRLaplaceRanker",
    "SVMRFERanker",
    "ShardedDataset",
    "ThreeWayRanker",
    "UDFSRanker",
    "UniformRanker",
    "UnivariateRanker",
    "__version__",
    "compare_methods",
    "compare_rankings",
    "datasets",
    "errors",
    "evaluate",
    "export_graphviz",
    "export_json",
    "export_text",
    "load",
    "load_model",
    "make_ranker",
    "methods",
    "open_shards",
    "predict_shards",
    "read_rankings",
    "read_results",
    "redundancy",
    "relational",
    "run_plan",
    "select",
    "significance",
    "stability",
    "timeseries",
    "tree_from_json",
    "write_arff",
    "write_parquet",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(_WHERE[name]), name)
    elif name in _MODULES:
        value = import_module(f"omnirank.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("omnirank")
    else:
        raise AttributeError(f"module 'omnirank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
