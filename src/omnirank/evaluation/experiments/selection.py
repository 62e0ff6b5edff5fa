"""Parameters chosen by cross-validation inside the training examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.data.dataset import Dataset
from omnirank.evaluation.experiments.judging import Parts, judge
from omnirank.evaluation.experiments.keys import canonical_json
from omnirank.evaluation.experiments.learners import fit_parts, models_of_one_fit
from omnirank.evaluation.folds import labelled_folds
from omnirank.tasks.measuring import measure_of


def chosen_method(
    method: Mapping[str, Any], train: Dataset, seed: int, evaluation: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the method with the combination of its grid that predicts held-out labelled examples best.

    The labelled training examples are divided into folds; all unlabelled ones train each time. Of equally good
    combinations the first is taken, in the order of the grid's values (parameters in alphabetical order).

    Parameters
    ----------
    method : mapping
        With ``grid`` (lists of values by parameter) and ``select`` (``n_folds`` and perhaps ``measure``).
    train : Dataset
        The training examples.
    seed : int
        Seed of the folds and of the method.
    evaluation : mapping
        How rankings are judged.
    """
    measure = measure_of(train.task, method["select"].get("measure"))
    methods = _combinations(method)
    totals = np.zeros(len(methods))
    for parts in _inner_parts(train, method["select"]["n_folds"], seed):
        for i, model in _models(methods, parts.train, seed):
            figures = judge(model, parts, evaluation)
            totals[i] += figures[measure.name] * parts.test.n_examples
    if np.isnan(totals).any():
        raise DataError(f"{measure.name!r} is undefined in an internal fold: use fewer folds or another measure")
    best = np.argmax(totals) if measure.larger_is_better else np.argmin(totals)
    return methods[int(best)]


def _combinations(method: Mapping[str, Any]) -> list[dict[str, Any]]:
    names = sorted(method["grid"])
    plain = {key: value for key, value in method.items() if key not in ("grid", "select", "parameters")}
    return [
        plain | {"parameters": {**method["parameters"], **dict(zip(names, values, strict=True))}}
        for values in product(*(method["grid"][name] for name in names))
    ]


def _inner_parts(train: Dataset, n_folds: int, seed: int) -> Iterator[Parts]:
    for fold in labelled_folds(train, n_folds, seed):
        inner = fold.training(train)
        yield Parts(inner, inner, fold.testing(train))


def _models(methods: list[dict[str, Any]], train: Dataset, seed: int) -> Iterator[tuple[int, Any]]:
    """Fit all combinations, those that share a fit at once."""
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for i, method in enumerate(methods):
        groups.setdefault(canonical_json(fit_parts(method)[0]), {})[str(i)] = method
    for group in groups.values():
        yield from ((int(i), model) for i, model in models_of_one_fit(group, train, seed).items())
