"""The results of one ranking or predictor on one fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from omnirank.core.errors import DataError
from omnirank.core.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.evaluation.alignment import aligned_targets
from omnirank.evaluation.evaluate import evaluate
from omnirank.evaluation.experiments.learners import RankedEnsemble
from omnirank.measures import measure


class Parts(NamedTuple):
    """The parts of a fold: to train, the same with all labels that there are, and to test; tables or relational."""

    train: Any
    restored: Any
    test: Any


def judge(model: Any, parts: Parts, evaluation: Mapping[str, Any]) -> dict[str, float]:
    """Return all measures of a model.

    Parameters
    ----------
    model : Ranking, RankedEnsemble or fitted predictor
        A ranking is judged by what neighbours predict in a distance that weighs features by it, a predictor by its own
        predictions, a ranking of relations by those of its ensemble.
    parts : Parts
        The fold.
    evaluation : mapping
        Keyword arguments of `omnirank.evaluation.evaluate.evaluate`; a predictor takes those of
        `omnirank.measures.measure`.
    """
    if isinstance(model, RankedEnsemble):
        model = model.predictor
    if not isinstance(model, Ranking):
        return _of_predictor(model, parts, evaluation)
    return evaluate(model, _neighbors(parts, evaluation), parts.test, **evaluation)


def judge_counts(
    ranking: Ranking, parts: Parts, evaluation: Mapping[str, Any], counts: Sequence[int]
) -> dict[int, dict[str, float]]:
    """Return all measures of a ranking for several numbers of neighbours, from one search."""
    train = _neighbors(parts, evaluation)
    return evaluate(ranking, train, parts.test, **{**evaluation, "n_neighbors": list(counts)})


def _neighbors(parts: Parts, evaluation: Mapping[str, Any]) -> Dataset:
    """The training examples; the oracle's have the labels that the ranking has not seen."""
    return parts.restored if evaluation.get("neighbors") == "oracle" else parts.train


def _of_predictor(predictor: Any, parts: Parts, settings: Mapping[str, Any]) -> dict[str, float]:
    train, test = parts.train, parts.test
    training, truth = aligned_targets(train, test)
    if training.levels != train.target.levels:
        raise DataError("the test data have classes that the training data do not declare")
    means = predictor.predict_means(test)
    return measure(truth, means, training=training, task=train.task, hierarchy=train.hierarchy, **settings)
