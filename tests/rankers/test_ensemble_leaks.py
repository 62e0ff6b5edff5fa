"""A feature that gives the target away: what is told where it leaves nothing to the others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataWarning


def leaking(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] > 0).astype(int)
    return np.column_stack([X[:, 1:], y]), y


def test_the_note_says_that_a_leak_hides_others():
    X, y = leaking()
    with pytest.warns(DataWarning, match="'x3' predicts .* can hide what other features tell"):
        om.UnivariateRanker().fit(X, y)


@pytest.mark.filterwarnings("ignore:feature")
def test_permutation_scores_of_trees_without_errors_are_explained():
    X, y = leaking()
    ranker = om.EnsembleRanker("permutation", ensemble="bagging", n_trees=5, random_state=0)
    with pytest.warns(UserWarning, match="all permutation scores are 0: no tree makes an error") as told:
        ranker.fit(X, y)
    assert not ranker.feature_importances_.any()
    assert told[-1].filename == __file__


@pytest.mark.filterwarnings("ignore:feature")
def test_other_scores_need_no_explanation():
    X, y = leaking()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", DataWarning)
        om.EnsembleRanker(ensemble="bagging", n_trees=5, random_state=0).fit(X, y)
