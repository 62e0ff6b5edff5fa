"""The rankings that know nothing."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om

X = np.random.default_rng(0).normal(size=(10, 2000))


def test_random_scores_are_uniform_and_follow_the_seed():
    scores = om.RandomRanker(random_state=5).fit(X).feature_importances_
    assert scores.min() >= 0
    assert scores.max() < 1
    assert scores.mean() == pytest.approx(0.5, abs=0.03)
    np.testing.assert_array_equal(om.RandomRanker(random_state=5).fit(X[:3]).feature_importances_, scores)
    assert not np.array_equal(om.RandomRanker(random_state=6).fit(X).feature_importances_, scores)


def test_random_without_seed_differs_every_time():
    ranker = om.RandomRanker()
    first = ranker.fit(X).feature_importances_
    assert not np.array_equal(ranker.fit(X).feature_importances_, first)


def test_a_generator_is_advanced():
    generator = np.random.default_rng(1)
    first = om.RandomRanker(random_state=generator).fit(X).feature_importances_
    assert not np.array_equal(om.RandomRanker(random_state=generator).fit(X).feature_importances_, first)


def test_uniform_scores_are_all_one():
    ranker = om.UniformRanker(n_features_to_select=3).fit(X)
    assert set(ranker.feature_importances_) == {1.0}
    assert ranker.get_support(indices=True).tolist() == [0, 1, 2]
