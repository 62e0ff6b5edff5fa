"""One claim: read the data, fit once, judge each of the rankings that the fit gives."""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, OmnirankError
from omnirank.core.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.evaluation.experiments.judging import Parts, judge, judge_counts
from omnirank.evaluation.experiments.keys import canonical_json, code_version
from omnirank.evaluation.experiments.learners import RankedEnsemble, fit_parts, models_of_one_fit
from omnirank.evaluation.experiments.own_code import own_code
from omnirank.evaluation.experiments.selection import chosen_method
from omnirank.evaluation.experiments.sources import NumberedFold, folds_of, load_source

# What this process has fitted before, and how many examples are enough to compile what a fit needs.
_warm: set[str] = set()
_FEW = 40
# The users' code that this process has imported, by method and task.
_own: dict[tuple[str, str], str] = {}


def perform(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the jobs of a claim; whatever goes wrong is part of the outcome, not an exception.

    Parameters
    ----------
    claim : mapping
        ``fit``, ``specs`` (by key), and of the study ``code``, ``modules``, ``keep_rankings``.

    Returns
    -------
    dict
        ``fit``, ``done`` (figures, seconds of the fit and perhaps the ranking, by key) and ``failed`` (error and
        traceback, by key); JSON-like.
    """
    outcome: dict[str, Any] = {"fit": claim["fit"], "done": {}, "failed": {}}
    specs = claim["specs"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there would be one per fold; fits one by one show them
        try:
            _prepare(claim)
            parts = _parts(next(iter(specs.values())))
        except Exception as error:  # the other claims go on
            return outcome | {"failed": dict.fromkeys(specs, _failure(error))}
        for key, result in _results(specs, _fitted(specs, parts.train), parts, claim["keep_rankings"]):
            if isinstance(result, Exception):
                outcome["failed"][key] = _failure(result)
            else:
                outcome["done"][key] = result
    return outcome


class _Fitted(NamedTuple):
    """A model, or why there is none."""

    model: Any
    seconds: float
    error: Exception | None = None


def _prepare(claim: Mapping[str, Any]) -> None:
    if claim["code"] not in (None, code_version()):
        raise OmnirankError(
            f"this worker runs omnirank {code_version()}, the study {claim['code']}: install the same version on all "
            "machines"
        )
    for module in claim["modules"]:
        import_module(module)


def _parts(spec: Mapping[str, Any]) -> Parts:
    """The parts of the fold; a supervised method neither learns from unlabelled examples nor has them as neighbours."""
    parts = Parts(*_fold(spec).parts())
    if not spec["method"]["labelled_only"] or parts.train.target is None:
        return parts
    return parts._replace(train=parts.train.take(parts.train.labelled))


def _fold(spec: Mapping[str, Any]) -> NumberedFold:
    loaded = load_source(spec["data"]["source"])
    if loaded.fingerprint != spec["data"]["fingerprint"]:
        raise DataError("the data are not those that were planned: they have changed since; run the plan again")
    use, task = spec["method"]["use"], loaded.dataset.task
    if (use, task) not in _own:
        _own[use, task] = own_code(use, task)
    if _own[use, task] != spec.get("own", ""):
        raise OmnirankError(
            f"modules behind method {use!r} or task {task!r} have been edited: run the plan again, with new workers"
        )
    wanted = spec["fold"]
    folds = folds_of(loaded, wanted["scheme"], wanted["parameters"], spec["seed"])
    return next(fold for fold in folds if fold.key == wanted["key"] and fold.digest == wanted["digest"])


def _fitted(specs: Mapping[str, Mapping[str, Any]], train: Dataset) -> dict[str, _Fitted]:
    """Fit once for all jobs of a claim; where that fails, each on its own, so that one does not fail the others."""
    _warm_up(specs, train)
    start = time.perf_counter()
    try:
        methods = {key: _method(spec, train) for key, spec in specs.items()}
        models = models_of_one_fit(methods, train, next(iter(specs.values()))["seed"])
        seconds = time.perf_counter() - start
        return {key: _Fitted(model, seconds) for key, model in models.items()}
    except Exception as error:
        if len(specs) == 1:
            return {key: _Fitted(None, 0.0, error) for key in specs}
    return {key: fitted for key, spec in specs.items() for key, fitted in _fitted({key: spec}, train).items()}


def _warm_up(specs: Mapping[str, Mapping[str, Any]], train: Dataset) -> None:
    """Fit to a few examples where this process fits the like for the first time: compiling is not part of the time."""
    first = next(iter(specs.values()))
    fit = fit_parts(first["method"])[0]
    mark = canonical_json([fit, first["data"]["fingerprint"]])
    ours = str(fit.get("ranker", "omnirank.")).startswith("omnirank.")
    if mark in _warm or "grid" in first["method"] or not ours or train.n_examples <= 2 * _FEW:
        return
    _warm.add(mark)
    rows = np.concatenate([np.flatnonzero(mask)[:_FEW] for mask in (train.labelled, ~train.labelled)])
    with suppress(Exception):  # too few examples for the method, perhaps
        models_of_one_fit({key: spec["method"] for key, spec in specs.items()}, train.take(rows), first["seed"])


def _method(spec: Mapping[str, Any], train: Dataset) -> Mapping[str, Any]:
    """The method with all its parameters; those of a grid are chosen on the training examples."""
    method = spec["method"]
    return chosen_method(method, train, spec["seed"], spec["evaluation"]) if "grid" in method else method


def _results(
    specs: Mapping[str, Mapping[str, Any]], fitted: Mapping[str, _Fitted], parts: Parts, keep_rankings: bool
) -> Iterator[tuple[str, dict[str, Any] | Exception]]:
    """Judge every model; jobs that differ in the number of neighbours only are judged at once."""
    groups: dict[str, list[str]] = {}
    for key, spec in specs.items():
        alike = {name: value for name, value in spec["evaluation"].items() if name != "n_neighbors"}
        groups.setdefault(canonical_json([spec["method"], alike]), []).append(key)
    for keys in groups.values():
        one = fitted[keys[0]]
        try:
            if one.error is not None:
                raise one.error
            figures = _figures({key: specs[key]["evaluation"] for key in keys}, one.model, parts)
            yield from ((key, _result(figures[key], fitted[key], parts.test, keep_rankings)) for key in keys)
        except Exception as error:  # the other groups go on
            yield from ((key, error) for key in keys)


def _figures(evaluations: Mapping[str, Mapping[str, Any]], model: Any, parts: Parts) -> dict[str, Mapping[str, float]]:
    if not isinstance(model, Ranking) or any("n_neighbors" not in evaluation for evaluation in evaluations.values()):
        return {key: judge(model, parts, evaluation) for key, evaluation in evaluations.items()}
    counts: dict[str, int] = {key: evaluation["n_neighbors"] for key, evaluation in evaluations.items()}
    found = judge_counts(model, parts, next(iter(evaluations.values())), sorted(set(counts.values())))
    return {key: found[k] for key, k in counts.items()}


def _result(figures: Mapping[str, float], fitted: _Fitted, test: Dataset, keep_ranking: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "figures": {name: value if math.isfinite(value) else None for name, value in figures.items()},
        "seconds": fitted.seconds,
        "n_test": test.n_examples if test.target is None else int(test.labelled.sum()),
    }
    ranking = fitted.model.ranking if isinstance(fitted.model, RankedEnsemble) else fitted.model
    if keep_ranking and isinstance(ranking, Ranking):
        result["ranking"] = {name: list(getattr(ranking, name)) for name in ("names", "constant")}
        result["ranking"]["scores"] = ranking.scores.tolist()
    return result


def _failure(error: Exception) -> dict[str, Any]:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, MemoryError):
        text = f"out of memory: {text}"
    return {
        "error": text,
        "traceback": "".join(traceback.format_exception(error)),
        "out_of_memory": isinstance(error, MemoryError),
    }
