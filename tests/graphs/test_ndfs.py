"""NDFS against its formula, its systems of equations, and what it must find."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import omnirank as om
from omnirank.core.seeds import stream
from omnirank.graphs.regressions import cluster_indicators, ridge
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1e9), (2.0, 0.5, 1e6)])
def test_the_score_is_its_formula(layout, weights):
    frame, given = features(layout, 3)
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.5)
    S = reference.neighbor_affinity(columns, 5, lambda x: math.exp(-x / width))
    start = cluster_indicators(np.array(columns).T, 3, int(stream(4, 0).integers(2**31)))
    scores = reference.ndfs(columns, S, start, *weights, 1e-4)
    expected = reference.by_feature(columns, owner, reference.effects(columns, scores), frame.shape[1])
    alpha, beta, gamma = weights
    ranker = om.NDFSRanker(n_clusters=3, alpha=alpha, beta=beta, gamma=gamma, random_state=4).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(20, 6), (6, 20)])
def test_both_systems_of_equations_have_the_same_solution(shape):
    rng = np.random.default_rng(0)
    X, F, p = rng.normal(size=shape), rng.normal(size=(shape[0], 3)), rng.random(shape[1]) + 0.1
    expected = np.linalg.inv(X.T @ X + np.diag(p)) @ X.T @ F
    np.testing.assert_allclose(ridge(X, F, p), expected, rtol=1e-9, atol=1e-12)


def test_features_behind_the_clusters_come_first():
    rng = np.random.default_rng(7)
    clusters = np.arange(150) % 3
    X = rng.normal(size=(150, 12))
    X[:, [3, 8]] += np.array([[0, 0], [7, 0], [0, 7]])[clusters]
    assert set(om.NDFSRanker(n_clusters=3, random_state=0).fit(X).ranking_.top(2)) == {"x3", "x8"}


def test_an_end_before_convergence_is_told():
    X = np.random.default_rng(0).normal(size=(40, 5))
    with pytest.warns(ConvergenceWarning, match="ndfs has not converged in 2 iterations"):
        ranker = om.NDFSRanker(max_iter=2, tol=0.0, random_state=0).fit(X)
    assert len(ranker.objectives_) == 2


def test_fewer_different_examples_than_clusters():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
    assert np.isfinite(om.NDFSRanker(random_state=0).fit(X).feature_importances_).all()
