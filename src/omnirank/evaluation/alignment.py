"""Bringing rankings, training and test data to the same features, levels and classes, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.immutable import places_of_names
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import features_like, read_features
from omnirank.data.table import Table, numbered_names
from omnirank.data.target import Target
from omnirank.data.task_registry import TASKS, is_unsupervised

# A ranking, a fitted ranker, or one score per feature.
RankingLike: TypeAlias = Ranking | BaseEstimator | ArrayLike


def ranking_of_data(ranking: RankingLike, data: Dataset) -> Ranking:
    """Return a ranking of exactly the features of the data, in their order; one made for another target is refused.

    A ranking without target goes with every target.

    Parameters
    ----------
    ranking : Ranking, fitted ranker or array-like
        As in `ranking_for`.
    data : Dataset
        The data that the ranking is used with.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.alignment import ranking_of_data
    >>> data = om.Dataset([[1], [2]], ["a", "b"], feature_names=["size"])
    >>> ranking_of_data(om.Ranking(["size"], [1.0], "genie3", task="regression"), data)
    Traceback (most recent call last):
    omnirank.core.errors.DataError: the ranking was made for another target: regression, the data are ...
    """
    matched = ranking_for(ranking, data.feature_names, data.target_names)
    made_for = matched.task if matched.task in TASKS else None
    if made_for not in (None, data.task) and not any(is_unsupervised(str(task)) for task in (made_for, data.task)):
        raise DataError(
            f"the ranking was made for another target: {matched.task}, the data are made for {data.task}; rank the "
            "features for this target"
        )
    _check_targets(matched, data.target_names)
    return matched


def ranking_for(ranking: RankingLike, names: Sequence[str], targets: Sequence[str] = ()) -> Ranking:
    """Return a ranking of exactly these features, in this order.

    Parameters
    ----------
    ranking : Ranking, fitted ranker or array-like
        An array holds one score per feature, in the order of the names.
    names : sequence of str
        The features of the data.
    targets : sequence of str
        The targets of the data: none of them is a feature of a ranking that was made for them.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.alignment import ranking_for
    >>> ranking_for(om.Ranking(["b", "a"], [2.0, 1.0], "genie3"), ["a", "b"]).scores.tolist()
    [1.0, 2.0]
    """
    names = tuple(names)
    if isinstance(ranking, type):
        raise DataTypeError(f"{ranking.__name__} is a class: give a fitted ranker, {ranking.__name__}(...).fit(data)")
    if isinstance(ranking, BaseEstimator) or hasattr(ranking, "ranking_"):
        if not hasattr(ranking, "ranking_"):
            raise DataError(f"{type(ranking).__name__} is not fitted: call fit first, or give its Ranking")
        ranking = ranking.ranking_
    if not isinstance(ranking, Ranking):
        scores = np.asanyarray(ranking)
        if scores.dtype.kind not in "iufb":
            raise DataTypeError(f"a ranking is a Ranking, a fitted ranker or an array of scores, not {ranking!r}")
        if scores.shape != (len(names),):
            raise DataError(f"scores of shape {scores.shape} for {len(names)} features")
        return Ranking(names, scores, "given")
    features = set(ranking.names)
    other = next((target for target in targets if target in features and target not in names), None)
    if other is not None:
        raise DataError(
            f"the ranking was made for another target: {other!r}, the target of the data, is a feature of it"
        )
    if ranking.names == names:
        return ranking
    places = places_of_names(ranking.names, names, "the ranking", "the data", "feature")
    constant = [name for name in ranking.constant if name in set(names)]
    scores, method = ranking.scores[places], ranking.method
    return Ranking(names, scores, method, task=ranking.task, targets=ranking.targets, constant=tuple(constant))


def _check_targets(ranking: Ranking, targets: Sequence[str]) -> None:
    """Refuse a ranking for other targets; names that nobody gave do not tell which target is meant."""
    made_for = ranking.targets
    if not made_for or not targets or _is_unnamed(made_for) or _is_unnamed(targets) or set(made_for) & set(targets):
        return
    raise DataError(
        f"the ranking was made for another target: {made_for[0]!r}, that of the data is {targets[0]!r}; rank the "
        "features for this target"
    )


def _is_unnamed(targets: Sequence[str]) -> bool:
    return tuple(targets) in (("y",), numbered_names(len(targets), "y"))


def aligned_features(train: Dataset, test: Dataset) -> Table:
    """Return the test features in the order and with the levels of the training features.

    A level that training examples do not declare is missing, with one warning.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.alignment import aligned_features
    >>> train = om.Dataset([[1.0, 2.0, 3.0]], feature_names=["a", "b", "c"])
    >>> aligned_features(train, om.Dataset([[4.0, 5.0, 6.0]], feature_names=["b", "c", "a"])).numeric.tolist()
    [[6.0, 4.0, 5.0]]
    """
    if train.feature_names != test.feature_names:
        names = test.feature_names, train.feature_names
        test = test.select_features(places_of_names(*names, "the test data", "the training data"))
    if train.features.levels == test.features.levels:
        return test.features
    reader = BaseEstimator()
    training = read_features(reader, train, reset=True)
    return features_like(reader, test, training)


def aligned_targets(train: Dataset, test: Dataset) -> tuple[Target, Target]:
    """Return the targets of both with the same variables and levels; those of the test data come after the others.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.alignment import aligned_targets
    >>> train, test = om.Dataset([[1.0], [2.0]], ["b", "c"]), om.Dataset([[1.0], [2.0]], ["a", "b"])
    >>> first, second = aligned_targets(train, test)
    >>> first.levels, second.values.ravel().tolist()
    ((('b', 'c', 'a'),), [2.0, 0.0])
    """
    check_same_task(train, test)
    assert train.target is not None
    assert test.target is not None
    return joint_targets(train.target, test.target)


def check_same_task(train: Dataset, test: Dataset) -> None:
    """Refuse training and test data without a target, or with other ones."""
    if train.target is None or test.target is None or train.task != test.task:
        raise DataError(
            f"the training data are made for {train.task}, the test data for {test.task}: both need the same target "
            "and task"
        )


def joint_targets(first: Target, second: Target) -> tuple[Target, Target]:
    """Return both targets with the variables of the first and the levels of both."""
    if first.names != second.names:
        places = places_of_names(second.names, first.names, "the test target", "the training target", "target")
        second = second.select(places)
    if first.levels == second.levels:
        return first, second
    levels: list[Any] = []
    values = second.values.copy()
    for v, (own, other) in enumerate(zip(first.levels, second.levels, strict=True)):
        if own is None or other is None:
            if own is not other:
                raise DataError(f"target {first.names[v]!r} is nominal in one of training and test data only")
            levels.append(None)
            continue
        joined = (*own, *(level for level in other if level not in set(own)))
        codes = np.array([joined.index(level) for level in other], np.float64)
        known = ~np.isnan(values[:, v])
        values[known, v] = codes[values[known, v].astype(int)]
        levels.append(joined)
    joint = tuple(levels)
    return (
        Target(first.names, joint, first.values, first.labelled, first.is_labels),
        Target(second.names, joint, values, second.labelled, second.is_labels),
    )
