"""UDFS against its formula, and what it must find."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import omnirank as om
from omnirank.errors import DataError
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_the_score_is_its_formula(layout, gamma, monkeypatch):
    monkeypatch.setattr("omnirank.graphs.regressions._MOST_ROWS", 7)
    frame, given = features(layout, 3)
    columns, owner = reference.columns_of(frame)
    kept = reference.one_level_less(columns, owner)
    scores = reference.udfs(columns, kept, 4, gamma, 2, 1e-6)
    chosen, owners = [columns[i] for i in kept], [owner[i] for i in kept]
    expected = reference.by_feature(chosen, owners, scores, frame.shape[1])
    ranker = om.UDFSRanker(n_clusters=2, gamma=gamma, n_neighbors=4, tol=1e-6).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-6)


def test_the_feature_behind_the_clusters_comes_first():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 12))
    X[:, 3] += 9 * (np.arange(150) % 3)
    assert om.UDFSRanker(n_clusters=1).fit(X).ranking_.top(1) == ["x3"]


def test_an_end_before_convergence_is_told():
    X = np.random.default_rng(0).normal(size=(40, 8))
    with pytest.warns(ConvergenceWarning, match="udfs has not converged in 2 iterations"):
        om.UDFSRanker(max_iter=2, tol=0.0).fit(X)


def test_too_many_columns_are_refused(monkeypatch):
    monkeypatch.setattr("omnirank.rankers.udfs.MOST_DENSE", 5)
    with pytest.raises(DataError, match="pairs of columns: 0 GB for 8; more than 5 are refused"):
        om.UDFSRanker().fit(np.random.default_rng(0).normal(size=(40, 8)))
