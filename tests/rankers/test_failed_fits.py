"""A fit that fails leaves the result of the fit before, and nothing of its own."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError


def data(n, d, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, X[:, 0] + X[:, 1]


def test_a_refit_that_cannot_choose_features_changes_nothing():
    ranker = om.UnivariateRanker(n_features_to_select="auto").fit(*data(60, 4))
    before, kept = dict(vars(ranker)), ranker.get_support()
    with pytest.raises(DataError, match="at least"):
        ranker.fit(*data(4, 6))
    assert vars(ranker) == before
    np.testing.assert_array_equal(ranker.get_support(), kept)


def test_a_first_fit_that_fails_leaves_a_ranker_that_is_not_fitted():
    ranker = om.EnsembleRanker(n_trees=2, random_state=0, n_features_to_select="auto")
    parameters = dict(vars(ranker))
    with pytest.raises(DataError, match="at least"):
        ranker.fit(*data(5, 3))
    assert vars(ranker) == parameters
