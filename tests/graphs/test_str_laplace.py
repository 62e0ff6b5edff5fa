"""STR-Laplace against its formula, and what it must find and refuse."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features

N = 24


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_the_score_is_its_formula(layout, step, seed):
    frame, given = features(layout, seed, N)
    y = np.random.default_rng(seed + 9).normal(size=N) * 12 + 100
    labelled = np.arange(N) % step == 0
    columns, owner = reference.columns_of(frame)
    some = [float(v) if known else None for v, known in zip(y, labelled, strict=True)]
    scores = reference.str_laplace(columns, some, 4, 3.0, len(set(owner)))
    expected = reference.by_feature(columns, owner, reference.turned(scores), frame.shape[1])
    ranker = om.STRLaplaceRanker(n_neighbors=4, labelled_weight=3.0)
    found = ranker.fit(given, np.where(labelled, y, np.nan)).feature_importances_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_the_feature_behind_the_target_comes_first():
    X = np.random.default_rng(1).normal(size=(200, 10))
    y = np.where(np.arange(200) < 60, np.tanh(X[:, 6]), np.nan)
    for target in (y, np.tanh(X[:, 6])):
        assert om.STRLaplaceRanker().fit(X, target).ranking_.top(1) == ["x6"]


def test_equal_targets_have_scores():
    X = np.random.default_rng(1).normal(size=(30, 4))
    assert np.isfinite(om.STRLaplaceRanker(task="regression").fit(X, np.full(30, 2.5)).feature_importances_).all()


def test_what_it_is_not_for_is_refused():
    X = np.random.default_rng(1).normal(size=(30, 4))
    with pytest.raises(DataError, match=r"needs a target.*methods that need none: .*laplacian"):
        om.STRLaplaceRanker().fit(X)
    with pytest.raises(DataError, match=r"does not handle classification; it handles regression; .*relieff"):
        om.STRLaplaceRanker().fit(X, X[:, 0] > 0)
    with pytest.raises(DataError, match="at least two"):
        om.STRLaplaceRanker().fit(X, np.where(np.arange(30) == 3, 1.5, np.nan))
