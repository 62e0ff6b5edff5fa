"""Feature ranking for any target, with all, few or no labels.

Rankers of single papers are in `omnirank.rankers`, or made by name (`make_ranker`); studies are in
`om.experiments`, measures in `omnirank.measures`, data of several tables in `omnirank.relational`.

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
    from omnirank import datasets as datasets
    from omnirank import errors as errors
    from omnirank import measures as measures
    from omnirank import rankers as rankers
    from omnirank import relational as relational
    from omnirank import timeseries as timeseries
    from omnirank.core.parallel import progress as progress
    from omnirank.core.ranking.comparison import compare_rankings as compare_rankings
    from omnirank.core.ranking.ranking import Ranking as Ranking
    from omnirank.core.registry import make_ranker as make_ranker
    from omnirank.core.registry import methods as methods
    from omnirank.data.dataset import Dataset as Dataset
    from omnirank.data.hierarchy import Hierarchy as Hierarchy
    from omnirank.data.load import load as load
    from omnirank.data.models import load_model as load_model
    from omnirank.data.parquet import write_parquet as write_parquet
    from omnirank.data.write import write_arff as write_arff
    from omnirank.ensembles.clusterer import PCTClusterer as PCTClusterer
    from omnirank.ensembles.pct import PCTClassifier as PCTClassifier
    from omnirank.ensembles.pct import PCTForestClassifier as PCTForestClassifier
    from omnirank.ensembles.pct import PCTForestRegressor as PCTForestRegressor
    from omnirank.ensembles.pct import PCTRegressor as PCTRegressor
    from omnirank.ensembles.predictions import predict_shards as predict_shards
    from omnirank.evaluation import experiments as experiments
    from omnirank.evaluation.evaluate import evaluate as evaluate
    from omnirank.evaluation.redundancy import redundancy as redundancy
    from omnirank.evaluation.selection import select as select
    from omnirank.evaluation.significance import significance as significance
    from omnirank.evaluation.stability import stability as stability
    from omnirank.evaluation.statistics import compare_methods as compare_methods
    from omnirank.rankers.controls import DispersionRanker as DispersionRanker
    from omnirank.rankers.ensemble import EnsembleRanker as EnsembleRanker
    from omnirank.rankers.information import InformationRanker as InformationRanker
    from omnirank.rankers.laplacian import LaplacianRanker as LaplacianRanker
    from omnirank.rankers.per_target import PerTargetRanker as PerTargetRanker
    from omnirank.rankers.relief import ReliefRanker as ReliefRanker
    from omnirank.rankers.resampled import ResampledRanker as ResampledRanker
    from omnirank.rankers.svm_rfe import SVMRFERanker as SVMRFERanker
    from omnirank.rankers.univariate import CorrelationRanker as CorrelationRanker
    from omnirank.rankers.univariate import UnivariateRanker as UnivariateRanker
    from omnirank.shards.dataset import ShardedDataset as ShardedDataset
    from omnirank.shards.dataset import open_shards as open_shards
    from omnirank.trees.export import export_graphviz as export_graphviz
    from omnirank.trees.export import export_json as export_json
    from omnirank.trees.export import export_text as export_text

    __version__: str

# Every public name is imported on first use: the command line answers at once, nobody pays for unused parts.
_NAMES = {
    "omnirank.core.parallel": ("progress",),
    "omnirank.core.ranking.comparison": ("compare_rankings",),
    "omnirank.core.ranking.ranking": ("Ranking",),
    "omnirank.core.registry": ("make_ranker", "methods"),
    "omnirank.data.dataset": ("Dataset",),
    "omnirank.data.hierarchy": ("Hierarchy",),
    "omnirank.data.load": ("load",),
    "omnirank.data.models": ("load_model",),
    "omnirank.data.parquet": ("write_parquet",),
    "omnirank.data.write": ("write_arff",),
    "omnirank.ensembles.clusterer": ("PCTClusterer",),
    "omnirank.ensembles.pct": ("PCTClassifier", "PCTForestClassifier", "PCTForestRegressor", "PCTRegressor"),
    "omnirank.ensembles.predictions": ("predict_shards",),
    "omnirank.evaluation.evaluate": ("evaluate",),
    "omnirank.evaluation.redundancy": ("redundancy",),
    "omnirank.evaluation.selection": ("select",),
    "omnirank.evaluation.significance": ("significance",),
    "omnirank.evaluation.stability": ("stability",),
    "omnirank.evaluation.statistics": ("compare_methods",),
    "omnirank.rankers.controls": ("DispersionRanker",),
    "omnirank.rankers.ensemble": ("EnsembleRanker",),
    "omnirank.rankers.information": ("InformationRanker",),
    "omnirank.rankers.laplacian": ("LaplacianRanker",),
    "omnirank.rankers.per_target": ("PerTargetRanker",),
    "omnirank.rankers.relief": ("ReliefRanker",),
    "omnirank.rankers.resampled": ("ResampledRanker",),
    "omnirank.rankers.svm_rfe": ("SVMRFERanker",),
    "omnirank.rankers.univariate": ("CorrelationRanker", "UnivariateRanker"),
    "omnirank.shards.dataset": ("ShardedDataset", "open_shards"),
    "omnirank.trees.export": ("export_graphviz", "export_json", "export_text"),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}
_MODULES = {
    **{name: f"omnirank.{name}" for name in ("datasets", "errors", "measures", "rankers", "relational", "timeseries")},
    "experiments": "omnirank.evaluation.experiments",
}

__all__ = ["__version__", *_MODULES, *_WHERE]  # noqa: PLE0604 - the names of two tables


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(_WHERE[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    elif name == "__version__":
        from importlib.metadata import version

        value = version("omnirank")
    else:
        raise AttributeError(f"module 'omnirank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
