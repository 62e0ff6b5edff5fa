"""MCFS against its formula, and what it must find."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.errors import ParameterError
from omnirank.graphs.affinity import neighbor_edges
from omnirank.graphs.quotients import smallest_pairs
from omnirank.graphs.regressions import embedding
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 2])
def test_the_score_is_its_formula(layout, d):
    frame, given = features(layout, 3)
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.5)
    S = reference.neighbor_affinity(columns, 6, lambda x: math.exp(-x / width))
    scores = reference.mcfs(columns, S, 2, d)
    expected = reference.by_feature(columns, owner, reference.effects(columns, scores), frame.shape[1])
    ranker = om.MCFSRanker(n_clusters=2, n_coefficients=d, n_neighbors=6).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-8)
    assert np.count_nonzero(ranker.feature_importances_) <= 2 * d


def test_the_embedding_solves_the_generalised_problem():
    rng = np.random.default_rng(0)
    S = rng.random((30, 30))
    S = S + S.T
    D = np.diag(S.sum(axis=1))
    Y = embedding(S, 4)
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(4), atol=1e-10)
    np.testing.assert_allclose((D - S) @ Y, D @ Y * np.diag(Y.T @ (D - S) @ Y), atol=1e-10)
    np.testing.assert_allclose(np.ones(30) @ D @ Y, 0, atol=1e-10)


def test_parts_of_a_graph_are_told_apart():
    S = np.kron(np.eye(3), np.ones((4, 4)))
    Y = embedding(S, 2)
    assert np.abs(Y - np.repeat(Y[::4], 4, axis=0)).max() < 1e-9
    assert len(np.unique(Y.round(6), axis=0)) == 3


def test_large_sparse_graphs_have_the_spectrum_of_dense_ones(monkeypatch):
    X = np.random.default_rng(2).normal(size=(200, 4))
    X[:, 0] += 5 * (np.arange(200) % 2)
    usual = om.MCFSRanker(n_clusters=3).fit(X).feature_importances_
    monkeypatch.setattr("omnirank.graphs.quotients._SMALL", 10)
    first, second = (om.MCFSRanker(n_clusters=3).fit(X).feature_importances_ for _ in range(2))
    np.testing.assert_allclose(first, usual, rtol=1e-6)
    np.testing.assert_array_equal(first, second)


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", ["cloud", "chain", "parts"])
def test_eigenvalues_of_sparse_graphs_are_those_of_dense_ones(kind):
    """A chain, whose eigenvalues lie close together, takes the road by factors; the others that by products."""
    n = 900
    if kind == "cloud":
        S = neighbor_edges(np.random.default_rng(0).normal(size=(n, 8)), 5).heat(4.0)
    else:
        links = np.ones(n - 1)
        if kind == "parts":
            links[299::300] = 0.0
            links *= np.random.default_rng(1).random(n - 1)
        S = sparse.diags_array([links, links], offsets=[1, -1])
    found, vectors = smallest_pairs(sparse.csr_array(S), 5)
    expected, _ = smallest_pairs(S.toarray(), 5)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    root = 1 / np.sqrt(np.asarray(S.sum(axis=1)).ravel())
    laplacian = np.eye(n) - root[:, None] * S.toarray() * root
    np.testing.assert_allclose(laplacian @ vectors, vectors * found, atol=1e-7)


def test_features_behind_the_clusters_come_first():
    rng = np.random.default_rng(7)
    clusters = np.arange(150) % 3
    X = rng.normal(size=(150, 12))
    X[:, [3, 8]] += np.array([[0, 0], [7, 0], [0, 7]])[clusters]
    assert set(om.MCFSRanker(n_clusters=2).fit(X).ranking_.top(2)) == {"x3", "x8"}
    doubled = np.column_stack([X, X[:, 3]])  # a column twice: one of the two is left out
    assert np.isfinite(om.MCFSRanker().fit(doubled).feature_importances_).all()


def test_a_kernel_that_is_too_narrow_is_refused_and_isolated_examples_have_no_say():
    X = om.datasets.load_sample("iris").X
    with pytest.raises(ParameterError, match=r"width=0.001: 121 of 150 examples have no neighbours"):
        om.MCFSRanker(width=0.001).fit(X)
    # some have none here: divided by affinities of nearly 0 they gave scores of 1e22
    assert om.MCFSRanker(width=0.01).fit(X).feature_importances_.max() < 1000
