"""From settings of CLUS to parameters of ours; what cannot be followed is told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from omnirank.clus.settings import Values
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import task_target
from omnirank.trees.pruning import Pruning

_HEURISTICS = ("variancereduction", "default")
_ENSEMBLES = {"rforest": "random-forest", "bagging": "bagging", "extratrees": "extra-trees"}
_CALLED = {"random-forest": "RForest", "bagging": "Bagging", "extra-trees": "ExtraTrees"}
_SCORES = {"genie3": "genie3", "symbolic": "symbolic", "rforest": "permutation"}
# The error of the permutation score by the kind of target, as CLUS has it.
_ERRORS = {"classes": "accuracy", "numbers": "rrmse"}
_LABEL_DISTANCES = {
    "hammingloss": "hamming",
    "mlaccuracy": "accuracy",
    "mlfone": "f1",
    "mlfonemeasure": "f1",
    "subsetaccuracy": "subset",
}
_EQUAL_WEIGHTS = "noweight"
_AVERAGE_WEIGHTS = ("expavgparentweight", _EQUAL_WEIGHTS)


@dataclass(frozen=True)
class ForestChoices:
    """An ensemble and its rankings.

    Attributes
    ----------
    rules : dict
        How trees are grown, as parameters of the rankers.
    called : str
        What CLUS calls the ensemble.
    sizes : tuple of int
        Numbers of trees, ascending.
    scores : tuple of str
        Scores of features, by our names.
    symbolic_weight : float
        Weight of the symbolic score.
    permutation_error : str
        Error of the permutation score.
    n_jobs : int
        Number of workers.
    """

    rules: dict[str, Any]
    called: str
    sizes: tuple[int, ...]
    scores: tuple[str, ...]
    symbolic_weight: float
    permutation_error: str
    n_jobs: int


def tree_choices(values: Values, dataset: Dataset) -> tuple[dict[str, Any], Pruning | None]:
    """Return how trees are grown, as parameters that all estimators of trees share, and how single ones are pruned.

    Parameters
    ----------
    values : Values
        The settings.
    dataset : Dataset
        The training examples: defaults depend on their task.
    """
    target = task_target(dataset.task)
    heuristic = values.name("Tree", "Heuristic")
    if heuristic not in _HEURISTICS:
        values.tell("Tree", "Heuristic", "tests are chosen by the reduction of variance")
    elif heuristic == "default" and target.kind in ("classes", "labels") and not target.hierarchical:
        values.notes.append(
            "[Tree] Heuristic is not given: tests are chosen by the reduction of variance (the Gini index of classes), "
            "where CLUS takes the information gain; Heuristic = VarianceReduction makes both the same"
        )
    depth = values.number("Constraints", "MaxDepth")
    growing: dict[str, Any] = {
        "min_samples_leaf": values.number("Model", "MinimalWeight", least=0),
        "max_depth": None if depth < 0 or math.isinf(depth) else int(depth),
        "tie_break": "first",
    }
    weights = values.name("Attributes", "Weights")
    if "," in weights:
        values.tell("Attributes", "Weights", "targets weigh alike")
    if dataset.hierarchy is None:
        growing["normalize_targets"] = weights == "normalize"
    growing["hierarchy_weight"] = label_weight(values, dataset)
    penalty = values.number("Tree", "M5PruningMult", least=0)
    return growing, Pruning(penalty) if _is_pruned(values, dataset) else None


def label_weight(values: Values, dataset: Dataset) -> float:
    """Return the factor of the label weights, by which the labels of a hierarchy count less with their depth."""
    kind = values.name("Hierarchical", "WType")
    if dataset.hierarchy is not None and not dataset.hierarchy.is_tree and kind not in _AVERAGE_WEIGHTS:
        values.tell("Hierarchical", "WType", "a label weighs WParam times the mean weight of its parents")
    factor = values.number("Hierarchical", "WParam", least=0, most=1)
    return 1.0 if kind == _EQUAL_WEIGHTS else factor


def _is_pruned(values: Values, dataset: Dataset) -> bool:
    """Whether a single tree is pruned by M5: where CLUS would prune by it, or no other way of its is told."""
    name, target = values.name("Tree", "PruningMethod"), task_target(dataset.task)
    if name == "none" or (name == "default" and target.hierarchical):
        return False
    by_m5 = target.kind in ("numbers", "mixed")
    if name != "m5" and not (name == "default" and by_m5):
        instead = "by M5" if by_m5 else "by M5 where it is chosen, else not"
        values.tell("Tree", "PruningMethod", f"trees are pruned {instead}")
    return by_m5 or name == "m5"


def forest_choices(values: Values, dataset: Dataset, growing: dict[str, Any], semi_supervised: bool) -> ForestChoices:
    """Return the ensemble and its rankings.

    Parameters
    ----------
    values : Values
        The settings.
    dataset : Dataset
        The training examples.
    growing : dict
        How trees are grown.
    semi_supervised : bool
        Whether unlabelled examples count.
    """
    method = values.name("Ensemble", "EnsembleMethod")
    ensemble = _ENSEMBLES.get(method)
    if ensemble is None:
        values.tell("Ensemble", "EnsembleMethod", "a random forest is grown")
        ensemble = "random-forest"
    bootstrap = values.name("Ensemble", "EnsembleBootstrapping")
    replicates = ensemble != "extra-trees" if bootstrap == "undefined" else bootstrap in ("yes", "true")
    max_features = _subspace(values, ensemble, dataset.n_features)
    kind = task_target(dataset.task)
    error = "auprc" if kind.hierarchical else _ERRORS.get(kind.kind, "auto")
    return ForestChoices(
        growing | {"ensemble": ensemble, "max_features": max_features, "bootstrap": replicates},
        _CALLED[ensemble],
        tuple(values.counts("Ensemble", "Iterations")),
        _scores(values, replicates),
        values.number("Ensemble", "SymbolicWeight"),
        "target" if semi_supervised else error if dataset.target is not None else "auto",
        max(1, int(values.number("Ensemble", "NumberOfThreads"))),
    )


def _scores(values: Values, replicates: bool) -> tuple[str, ...]:
    names = [name for name in values.names("Ensemble", "FeatureRanking") if name not in ("none", "")]
    if not set(names) <= _SCORES.keys():
        raise values.wrong("Ensemble", "FeatureRanking", "expected None, Genie3, Symbolic or RForest")
    scores = dict.fromkeys(_SCORES[name] for name in names)
    if "permutation" in scores and not replicates:
        values.tell("Ensemble", "FeatureRanking", "without bootstrapping there is no permutation score")
        del scores["permutation"]
    return tuple(scores)


def _subspace(values: Values, ensemble: str, n_features: int) -> Any:
    """How many features a node tries; bagging tries all of them."""
    if ensemble == "bagging":
        return "all"
    name = values.name("Ensemble", "SelectRandomSubspaces")
    if name in ("sqrt", "0", "00"):
        return "sqrt"
    if name == "log":
        return "log2"
    number = values.number("Ensemble", "SelectRandomSubspaces", least=0)
    if "." in values.text("Ensemble", "SelectRandomSubspaces") and number <= 1:
        return number
    return min(int(number), n_features)


def supervision_level(values: Values, dataset: Dataset, semi_supervised: bool) -> Any:
    """Return the level of supervision: 1 without -ssl; the one that is given, or those that are compared."""
    if not semi_supervised or dataset.target is None or dataset.labelled.all():
        return 1.0
    if values.name("SemiSupervised", "SemiSupervisedMethod") != "pct":
        values.tell("SemiSupervised", "SemiSupervisedMethod", "semi-supervised trees are grown (PCT)")
    levels = values.numbers("SemiSupervised", "PossibleWeights")
    if any(not 0 <= level <= 1 for level in levels):
        raise values.wrong("SemiSupervised", "PossibleWeights", "expected numbers from 0 to 1")
    if len(levels) == 1:
        return levels[0]
    return {"levels": levels, "folds": int(values.number("SemiSupervised", "InternalFolds", least=2))}


def relief_parameters(values: Values, dataset: Dataset) -> dict[str, Any]:
    """Return the parameters of the Relief ranker.

    Parameters
    ----------
    values : Values
        The settings.
    dataset : Dataset
        The training examples.
    """
    n, kind = dataset.n_examples, task_target(dataset.task)
    neighbors = {min(k, n - 1) for k in values.counts("Relief", "Neighbours")}
    iterations = {_iterations(number, n) for number in values.numbers("Relief", "Iterations")}
    distance, name = "hamming" if kind.hierarchical else "auto", values.name("Relief", "MultilabelDistance")
    if kind.kind == "labels" and not kind.hierarchical:
        distance = _LABEL_DISTANCES.get(name, "hamming")
        if name not in _LABEL_DISTANCES:
            values.tell("Relief", "MultilabelDistance", "the Hamming distance is used")
    sigma = values.number("Relief", "WeightingSigma", least=0) if values.flag("Relief", "WeightNeighbours") else 0.0
    return {
        "n_neighbors": sorted(neighbors),
        "n_iterations": sorted(iterations),
        "sigma": sigma,
        "target_distance": distance,
        "missing": "distant",
        "hierarchy_weight": label_weight(values, dataset),
        "n_jobs": max(1, int(values.number("Ensemble", "NumberOfThreads"))),
    }


def _iterations(number: float, n: int) -> int:
    """How many examples: a count, a share of at most 1, or all of them (0 or less)."""
    if number <= 0 or number >= n:
        return n
    return max(1, int(number * n + 0.5)) if number <= 1 else int(number)
