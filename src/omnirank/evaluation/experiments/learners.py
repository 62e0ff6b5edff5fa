"""The methods of a plan as estimators, and which of them one fit serves at once."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from omnirank.core.errors import ParameterError
from omnirank.core.ranking import Ranking
from omnirank.core.registry import get_method
from omnirank.data.task_registry import task_named
from omnirank.ensembles.score_table import SCORES
from omnirank.rankers.base import BaseRanker
from omnirank.tasks import get_task

# What one fit of a relational ranker gives.
_OF_RELATIONS = ("importance", "by")

# Learners that are judged by their own predictions: an estimator for classes and labels, and one for numbers.
PREDICTORS = {
    "pct": ("omnirank.ensembles.pct", "PCTClassifier", "PCTRegressor"),
    "pct-forest": ("omnirank.ensembles.pct_forest", "PCTForestClassifier", "PCTForestRegressor"),
    "relational-tree": ("omnirank.relational", "RelationalTree", "RelationalTree"),
    "relational-forest": ("omnirank.relational", "RelationalForest", "RelationalForest"),
    "relational-boosting": ("omnirank.relational", "RelationalBoosting", "RelationalBoosting"),
}


class RankedEnsemble(NamedTuple):
    """A ranking of relations, which no distance can weigh, and the ensemble behind it, which is judged instead."""

    ranking: Ranking
    predictor: Any


def data_of(use: str) -> str:
    """Return what data a method or predictor takes: a "table", or "relational" data.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.learners import data_of
    >>> data_of("genie3"), data_of("relational-genie3"), data_of("relational-tree")
    ('table', 'relational', 'relational')
    """
    if use in PREDICTORS:
        return "relational" if use.startswith("relational-") else "table"
    return get_method(use).data


def predicts_itself(use: str) -> bool:
    """Whether a method is judged by its own predictions, and not by those of neighbours.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.learners import predicts_itself
    >>> predicts_itself("pct"), predicts_itself("relational-genie3"), predicts_itself("genie3")
    (True, True, False)
    """
    return use in PREDICTORS or data_of(use) == "relational"


def make(use: str, parameters: Mapping[str, Any], seed: int, *, single_target: bool = False) -> Any:
    """Return a method as an estimator.

    Parameters
    ----------
    use : str
        Name in the registry, or of a predictor (then for classes).
    parameters : mapping
        Its parameters; lists stand for tuples where the estimator wants these.
    seed : int
        Value of ``random_state``, where the method has one.
    single_target : bool
        Whether to rank for each target alone and average.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.learners import make
    >>> make("genie3", {"n_trees": 20}, seed=1)
    EnsembleRanker(importance='genie3', n_trees=20, random_state=1)
    """
    if use in PREDICTORS:
        return make_predictor(use, task_named("classes", single=True), parameters, seed)
    method = get_method(use)
    known = inspect.signature(method.load()).parameters
    given = dict(parameters) | ({"random_state": seed} if "random_state" in known else {})
    if "influence" in given and isinstance(given["influence"], list):
        given["influence"] = tuple(given["influence"])
    ranker = method.make(**given)
    if not single_target:
        return ranker
    from omnirank.rankers.per_target import PerTargetRanker

    return PerTargetRanker(ranker)


def make_predictor(use: str, task: str, parameters: Mapping[str, Any], seed: int) -> Any:
    """Return a predictor for a task."""
    from importlib import import_module

    kind = get_task(task).kind
    if kind == "none":
        raise ParameterError(f"method {use!r} predicts a target, but the data set has none")
    module, for_classes, for_numbers = PREDICTORS[use]
    maker = getattr(import_module(module), for_classes if kind in ("classes", "labels") else for_numbers)
    known = list(inspect.signature(maker).parameters)
    for name in parameters:
        if name not in known:
            raise ParameterError(f"method {use!r} has no parameter {name!r} for {task}; it has {', '.join(known)}")
    return maker(**parameters, random_state=seed)


def known_parameters(use: str) -> list[str]:
    """Return the names of a method's parameters."""
    if use not in PREDICTORS:
        return list(inspect.signature(get_method(use).load()).parameters)
    from importlib import import_module

    module, *makers = PREDICTORS[use]
    found = [name for maker in makers for name in inspect.signature(getattr(import_module(module), maker)).parameters]
    return list(dict.fromkeys(found))


# -- one fit for several methods ------------------------------------------------------------------


def fit_parts(method: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide a method into what its fit is and what it takes from the fit.

    Methods whose first parts are equal are served by one fit: the scores and sizes of an ensemble, the numbers of
    neighbours and iterations of Relief.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.learners import fit_parts
    >>> fit, taken = fit_parts({"use": "symbolic", "parameters": {"n_trees": 50, "ensemble": "bagging"}})
    >>> fit["parameters"], taken
    ({'ensemble': 'bagging'}, {'importance': 'symbolic', 'n_trees': 50})
    """
    rest = {key: value for key, value in method.items() if key not in ("use", "parameters")}
    use, parameters = method["use"], dict(method["parameters"])
    if use in PREDICTORS or "grid" in method:
        return {"use": use, "parameters": parameters, **rest}, {}
    registered = get_method(use)
    given, ranker = dict(registered.parameters) | parameters, registered.load()
    full = {name: known.default for name, known in inspect.signature(ranker).parameters.items()} | given
    shared = ranker.one_fit_gives(full) if issubclass(ranker, BaseRanker) else ()
    shared = _OF_RELATIONS if registered.data == "relational" else shared
    # for single targets only the scores are kept for all of them together
    taken = {name: full[name] for name in shared if name == "importance" or not method.get("single_target")}
    own = {name: value for name, value in given.items() if name not in taken}
    # which parameters are taken is part of the fit: one that the data decide cannot be listed with numbers
    return {"ranker": registered.ranker, "parameters": own, "varied": list(taken), **rest}, taken


def models_of_one_fit(methods: Mapping[str, Mapping[str, Any]], train: Any, seed: int) -> dict[str, Any]:
    """Fit once and return the rankings of several methods that share the fit (or a fitted predictor), by their keys.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.experiments.learners import models_of_one_fit
    >>> wanted = {score: {"use": score, "parameters": {"n_trees": 5}} for score in ("genie3", "symbolic")}
    >>> found = models_of_one_fit(wanted, om.datasets.load_sample("iris"), seed=0)
    >>> [ranking.method for ranking in found.values()]
    ['genie3', 'symbolic']
    """
    parts = {key: fit_parts(method) for key, method in methods.items()}
    fit, taken = next(iter(parts.values()))
    method = next(iter(methods.values()))
    single = bool(method.get("single_target"))
    if method["use"] in PREDICTORS:
        predictor = make_predictor(method["use"], train.task, method["parameters"], seed).fit(train)
        return dict.fromkeys(methods, predictor)
    if data_of(method["use"]) == "relational":
        ranker = make(method["use"], fit["parameters"], seed).fit(train)
        return {key: RankedEnsemble(ranker.ranking_at(**part[1]), ranker.model_) for key, part in parts.items()}
    if not taken:
        ranking = make(method["use"], method["parameters"], seed, single_target=single).fit(train).ranking_
        return dict.fromkeys(methods, ranking)
    wanted = {key: part[1] for key, part in parts.items()}
    several = {name: sorted({one[name] for one in wanted.values()}) for name in taken}
    scores = several.pop("importance", [])
    # a fit gives its own score and those that cost nothing
    own = [name for name in scores if SCORES[name].on_demand] or scores[:1] or [method["use"]]
    rankers = {name: make(name, fit["parameters"], seed, single_target=single) for name in own}
    fitted = {name: ranker.with_several(**several).fit(train) for name, ranker in rankers.items()}
    return {key: fitted.get(one.get("importance"), fitted[own[0]]).ranking_at(**one) for key, one in wanted.items()}
