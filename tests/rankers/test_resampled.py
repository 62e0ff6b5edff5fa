"""ResampledRanker and ThreeWayRanker: draws, scores over replicates, and what they must know."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from omnirank.errors import ParameterError
from omnirank.rankers import resampled as module
from omnirank.rankers.base import BaseRanker
from omnirank.rankers.resampled import AGGREGATES, automatic_iterations, feature_draws, joined_scores
from omnirank.testing import ranker_checks, tiny_dataset
from reference import rankers_resampled as reference

KNOWN = {method.name for method in om.methods()}


class Seen(BaseRanker):
    """Scores that tell what a replicate was given: the sum of a feature's cells; or the task, by ``seen``."""

    seen: ClassVar[list] = []

    def _rank(self, dataset):
        self.seen.append(dataset)
        cells = np.asarray(dataset.X, dtype=float)
        return self._ranking(dataset, np.nansum(cells, axis=0), "seen")


@pytest.fixture
def seen(monkeypatch):
    """Replicates in this process, so that what they saw can be read."""
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK", raising=False)
    monkeypatch.setattr(Seen, "seen", [])
    return Seen.seen


# -- draws and joined scores --------------------------------------------------------------------------------


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 8), st.integers(0, 1000))
def test_every_feature_is_drawn_until_it_has_a_score(n_features, size, n_iterations, seed):
    size = min(size, n_features)
    draws = feature_draws(n_features, size, n_iterations, seed)
    counts = np.bincount(np.concatenate(draws), minlength=n_features)
    assert counts.min() >= min(2, n_iterations)
    assert all(len(draw) == size and (np.diff(draw) > 0).all() for draw in draws)
    # no more are added than it takes
    assert len(draws) <= n_iterations + min(2, n_iterations) * math.ceil(n_features / size)
    # the first draws do not depend on how many there are
    for one, other in zip(draws[:n_iterations], feature_draws(n_features, size, n_iterations + 3, seed), strict=False):
        np.testing.assert_array_equal(one, other)


@given(st.data())
def test_joined_scores_agree_with_the_reference(data):
    n_features = data.draw(st.integers(1, 6))
    size, n = data.draw(st.integers(1, n_features)), data.draw(st.integers(1, 6))
    draws = feature_draws(n_features, size, n, data.draw(st.integers(0, 100)))
    values = st.integers(-3, 3).map(lambda k: k / 2)
    scores = [np.array(data.draw(st.lists(values, min_size=size, max_size=size))) for _ in draws]
    for aggregate in AGGREGATES:
        found, errors = joined_scores(draws, scores, n_features, aggregate)
        expected, deviations = reference.joined(draws, [s.tolist() for s in scores], n_features, aggregate)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert (errors is None) == (deviations is None)
        if errors is not None:
            np.testing.assert_allclose(errors, deviations, atol=1e-9)


@pytest.mark.parametrize("m", [2, 10, 294, 1001])
def test_the_number_of_iterations_is_that_of_the_paper(m):
    expected = 10 * math.ceil(math.log(0.01) / math.log(1 - 1 / math.sqrt(m)))
    assert automatic_iterations(1 / math.sqrt(m)) == expected


# -- what replicates are given ------------------------------------------------------------------------------


def test_a_bootstrap_draws_by_stratum_and_the_labelled_one_leaves_the_others_alone(seen):
    X = np.arange(40.0)[:, None]
    y = np.array(["a"] * 8 + ["b"] * 12 + [None] * 20, dtype=object)
    for examples, fixed in (("bootstrap", False), ("labelled-bootstrap", True)):
        seen.clear()
        om.ResampledRanker(Seen(), examples, n_iterations=3, random_state=0).fit(X, y)
        assert len(seen) == 3
        for part in seen:
            rows = part.X[:, 0]
            assert np.histogram(rows, [0, 8, 20, 40])[0].tolist() == [8, 12, 20]
            assert len(set(rows[rows < 20])) < 20
            assert (sorted(rows[rows >= 20]) == list(range(20, 40))) == fixed
    seen.clear()
    om.ResampledRanker(Seen(), "subsample", example_share=0.25, n_iterations=2, random_state=0).fit(X, y)
    assert [(len(part), len(set(part.X[:, 0]))) for part in seen] == [(10, 10), (10, 10)]
    seen.clear()
    om.ResampledRanker(Seen(), None, n_iterations=2, random_state=0).fit(X, y)
    assert [part.X[:, 0].tolist() for part in seen] == [X[:, 0].tolist()] * 2


def test_some_features_and_some_labels(seen):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 16)), (rng.random((30, 9)) < 0.4).astype(int)
    om.rankers.ThreeWayRanker(Seen(), n_iterations=12, random_state=0).fit(X, labels)
    assert {part.n_features for part in seen} == {4}
    assert {part.n_targets for part in seen} == {3}
    assert {part.task for part in seen} == {"multi-label"}
    assert len({part.target_names for part in seen}) > 3
    assert len({part.feature_names for part in seen}) > 3


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_scores_are_means_of_the_base_rankers(layout):
    """The draws of one fit, repeated by hand."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.7)
    X[::7, 1] = np.nan
    X[:, 5] = 1.0  # constant: the worst score, never NaN
    labels = (np.column_stack([X[:, 0], X[:, 2], X[:, 3] + X[:, 0]]) > 0).astype(float)
    picks, draws = [], feature_draws(6, 3, 7, 11)
    labelled = np.arange(40) < 25
    labels[~labelled] = np.nan
    data = om.Dataset(layout(X), labels, task="multi-label")
    replicate = module._Replicate(data, None, 11, "labelled-bootstrap", 0.5, 2)
    for i in range(len(draws)):
        stream = module.stream(11, 2 * i + 1)
        rows = replicate._rows(stream)
        picks.append((rows, np.sort(stream.choice(3, 2, replace=False))))
    assert all(set(np.flatnonzero(~labelled)) <= set(rows) for rows, _ in picks)

    def fit(cells, sets):
        return om.UnivariateRanker(task="multi-label").fit(layout(cells), sets).feature_importances_

    expected = reference.three_way(fit, X, labels, labelled, draws, picks)
    ranker = om.ResampledRanker(
        "univariate", "labelled-bootstrap", feature_share=0.5, label_share=0.67, n_iterations=7, random_state=11
    ).fit(data)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-12)
    assert ranker.feature_importances_[5] == 0


# -- around any ranker --------------------------------------------------------------------------------------


@pytest.mark.every(8)
@pytest.mark.parametrize("method", sorted(KNOWN - {"3-3fs"}))
def test_any_method_of_the_registry(method):
    made = next(known for known in om.methods() if known.name == method)
    data = tiny_dataset(made.tasks[0], missing=False)
    base = made.make(**{"n_trees": 3} if "n_trees" in made.make().get_params() else {})
    ranker = om.ResampledRanker(base, "subsample", feature_share=0.6, n_iterations=2, random_state=0).fit(data)
    assert ranker.ranking_.method == f"{base.fit(data).ranking_.method}-resampled"
    assert ranker.ranking_.parameters["base"]["name"] == type(base).__name__
    assert np.isfinite(ranker.feature_importances_).all()


def test_weights_go_to_the_base_ranker():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    weights = np.arange(30) + 1.0
    ranker = om.ResampledRanker("univariate", None, n_iterations=2, random_state=0).fit(X, y, sample_weight=weights)
    expected = om.UnivariateRanker().fit(X, y, sample_weight=weights).feature_importances_
    np.testing.assert_allclose(ranker.feature_importances_, expected)
    assert not ranker.ranking_.standard_errors.any()
    with pytest.raises(ParameterError, match="ReliefRanker takes no sample_weight"):
        om.ResampledRanker("relief").fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": "no-such-method"}, "there is no method 'no-such-method'"),
        ({"base": 3}, "base=3: choose a ranker, or the name of a method"),
        ({"base": om.UnivariateRanker}, "choose a ranker, or the name of a method"),
        ({"base": om.UnivariateRanker(task="regression")}, "task and hierarchy are parameters of ResampledRanker"),
        ({"aggregate": "max"}, "aggregate='max'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        om.ResampledRanker(**parameters).fit([[1.0], [2.0], [3.0]], [0.5, 1.5, 2.6])


CHECKS = [
    pytest.param(check, id=f"{type(ranker).__name__}-{name}")
    for ranker in (
        om.ResampledRanker(n_iterations=3, feature_share=0.6),
        om.rankers.ThreeWayRanker("univariate", n_iterations=3),
    )
    for name, check in ranker_checks(ranker)
]


@pytest.mark.every(6)
@pytest.mark.parametrize("check", CHECKS)
def test_omnirank_checks(check):
    check()


class Small(BaseRanker):
    """Small scores are good, and turned by the largest and smallest of a fit."""

    def _rank(self, dataset):
        self.criterion_ = np.asarray(dataset.X, dtype=float).mean(axis=0)
        turned = self.criterion_.max() + self.criterion_.min() - self.criterion_
        return self._ranking(dataset, turned, "small")


def test_scores_that_each_replicate_turns_are_turned_in_the_end():
    X = np.array([1.0, 5.0, 2.0, 9.0]) + np.array([[0.0], [1.0], [-1.0]])
    ranker = om.ResampledRanker(Small(), None, feature_share=0.5, n_iterations=8, random_state=0).fit(X)
    assert ranker.feature_importances_.tolist() == [9.0, 5.0, 8.0, 1.0]
    assert not ranker.ranking_.standard_errors.any()
    places = ranker.set_params(aggregate="rank-mean").fit(X).feature_importances_
    assert places.argsort().tolist() == [3, 1, 2, 0]
    assert places.min() == 0
