"""From a plan to jobs: every combination of data, fold, method, evaluation and seed, with its content key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from omnirank.core.registry import get_method
from omnirank.evaluation.evaluate import OF_MEASURES
from omnirank.evaluation.experiments.fit import PREDICTORS, Loaded, fit_parts, own_code
from omnirank.evaluation.experiments.plan import DataEntry, Evaluation, MethodEntry, StudyPlan
from omnirank.evaluation.experiments.store import Job, Member, column_name, content_key
from omnirank.evaluation.folds import Fold
from omnirank.rankers.builtin import METHODS


def jobs_of(plan: StudyPlan, entry: DataEntry, loaded: Loaded) -> Iterator[tuple[Member, Job]]:
    """Yield the jobs of one data set of a plan, each with its place in the study.

    Parameters
    ----------
    plan : StudyPlan
        The plan.
    entry : DataEntry
        One of its data sets.
    loaded : Loaded
        What is in it.
    """
    data = {"source": dict(entry.source), "fingerprint": loaded.fingerprint}
    own = {method.use: own_code(method.use, loaded.dataset.task) for method in plan.methods}
    for seed in plan.seeds:
        for number, fold in enumerate(loaded.folds(plan.folds.scheme, plan.folds.parameters, seed)):
            for method in plan.methods:
                for choice, specification in method.choices():
                    for top, neighbors, evaluation in _evaluations(plan.evaluation, method):
                        named = " ".join(filter(None, (choice, top)))
                        place = Member(entry.name, method.name, named, fold.n_labelled or 0, neighbors, seed, number)
                        yield place, _job(plan, data, fold, specification, evaluation, seed, own[method.use])


def _evaluations(evaluation: Evaluation, method: MethodEntry) -> list[tuple[str, int, dict[str, Any]]]:
    """How a method is judged: the number of top features where there are several, that of neighbours, all in detail."""
    if method.use in PREDICTORS:
        return [("", 0, {name: value for name, value in evaluation.parameters.items() if name in OF_MEASURES})]
    same = dict(evaluation.parameters)
    tops = same.get("top")
    sized = [(f"top={top}", same | {"top": top}) for top in tops] if isinstance(tops, list) else [("", same)]
    counts: list[tuple[int, dict[str, Any]]] = [(k, {"n_neighbors": k}) for k in evaluation.n_neighbors] or [(0, {})]
    return [(name, k, one | number) for name, one in sized for k, number in counts]


def _job(
    plan: StudyPlan,
    data: Mapping[str, Any],
    fold: Fold,
    method: Mapping[str, Any],
    evaluation: Mapping[str, Any],
    seed: int,
    own: str,
) -> Job:
    scheme = {"scheme": plan.folds.scheme, "parameters": dict(plan.folds.parameters), "key": fold.key}
    spec: dict[str, Any] = {
        "data": dict(data),
        "fold": scheme | {"digest": fold.digest},
        "method": dict(method),
        "evaluation": dict(evaluation),
        "seed": seed,
        "code": plan.code,
    }
    if own:
        spec["own"] = own
    # What decides the results, and not where it comes from: files may move, schemes may get more folds.
    content = spec | {"data": data["fingerprint"], "fold": fold.digest}
    key = content_key(content | {"method": spec["method"] | _registered(method["use"])})
    fit = key if "grid" in method else content_key(content | {"method": fit_parts(method)[0], "evaluation": {}})
    return Job(key, fit, spec)


def _registered(use: str) -> dict[str, Any]:
    """What the name of a user's method stands for; that of omnirank's is part of the code."""
    if use in PREDICTORS or get_method(use) in METHODS:
        return {}
    method = get_method(use)
    return {"registered": [method.ranker, dict(method.parameters)]}


def _columns(member: Member) -> tuple[str, str]:
    """Columns of tables that a job may be in: the best choice of a grid stands under the name of the method."""
    return member.method, column_name(member.method, member.choice)


def study_facts(plan: StudyPlan, tasks: Mapping[str, str], members: Iterable[Member] = ()) -> dict[str, Any]:
    """Return what a report needs to know of a study; ``tasks`` by data set, ``members`` in the order of the plan."""
    return {
        "measures": list(plan.measures),
        "data": [entry.name for entry in plan.data],
        "methods": [entry.name for entry in plan.methods],
        "columns": list(dict.fromkeys(name for member in members for name in _columns(member))),
        "best_of_grid": [entry.name for entry in plan.methods if entry.select == "best"],
        "tasks": dict(tasks),
    }
