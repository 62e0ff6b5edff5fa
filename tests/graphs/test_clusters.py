"""MCFS, NDFS and UDFS against their formulas, and what they must find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import omnirank as om
from omnirank.core.seeds import stream
from omnirank.errors import DataError, ParameterError
from omnirank.graphs.affinity import neighbor_edges, smallest_pairs
from omnirank.graphs.regressions import cluster_indicators, embedding, ridge, sparse_fits
from omnirank.rankers import MCFSRanker, NDFSRanker, SFSSRanker, UDFSRanker
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features, graph_case


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 2])
def test_mcfs_is_its_formula(layout, d):
    given, columns, S, importances = graph_case(layout, 6)
    ranker = MCFSRanker(n_clusters=2, n_coefficients=d, n_neighbors=6).fit(given)
    expected = importances(reference.mcfs(columns, S, 2, d))
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-8)
    assert np.count_nonzero(ranker.feature_importances_) <= 2 * d


def test_copies_of_columns_are_left_out_of_regressions():
    """Else their coefficients grow to 1e13: a path of least angles ends at the least squares of the smallest sum."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = (30, 300)[seed % 2]
        X = rng.normal(size=(n, 4))
        X = np.hstack([X, 2.54 * X + 1, X @ rng.normal(size=(4, 6))])
        values, targets = (X - X.mean(axis=0)) / X.std(axis=0), rng.normal(size=(n, 3))
        most = np.abs(np.linalg.pinv(values) @ (targets - targets.mean(axis=0))).sum(axis=0)
        assert (np.abs(sparse_fits(values, targets, 14)).sum(axis=0) < 1.001 * most).all()


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
    usual = MCFSRanker(n_clusters=3).fit(X).feature_importances_
    monkeypatch.setattr("omnirank.graphs.affinity._SMALL", 10)
    first, second = (MCFSRanker(n_clusters=3).fit(X).feature_importances_ for _ in range(2))
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


def test_a_kernel_that_is_too_narrow_is_refused_and_isolated_examples_have_no_say():
    X = om.datasets.load_sample("iris").X
    few = np.array([[0.0, 0.0], [0.0, 0.1], [7.0, 0.0], [0.0, 7.0]])  # half of them are isolated
    assert np.isfinite(MCFSRanker(2, n_neighbors=1, width=0.01).fit(few).feature_importances_).all()
    with pytest.raises(ParameterError, match=r"width=0.001: 121 of 150 examples have no neighbours"):
        MCFSRanker(width=0.001).fit(X)
    # some have none here: divided by affinities of nearly 0 they gave scores of 1e22
    assert MCFSRanker(width=0.01).fit(X).feature_importances_.max() < 1000


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1e9), (2.0, 0.5, 1e6)])
def test_ndfs_is_its_formula(layout, weights):
    given, columns, S, importances = graph_case(layout, 5)
    start = cluster_indicators(np.array(columns).T, 3, int(stream(4, 0).integers(2**31)))
    expected = importances(reference.ndfs(columns, S, start, *weights, 1e-4))
    alpha, beta, gamma = weights
    ranker = NDFSRanker(n_clusters=3, alpha=alpha, beta=beta, gamma=gamma, random_state=4).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(20, 6), (6, 20)])
def test_both_systems_of_equations_have_the_same_solution(shape):
    rng = np.random.default_rng(0)
    X, F, p = rng.normal(size=shape), rng.normal(size=(shape[0], 3)), rng.random(shape[1]) + 0.1
    expected = np.linalg.inv(X.T @ X + np.diag(p)) @ X.T @ F
    np.testing.assert_allclose(ridge(X, F, p), expected, rtol=1e-9, atol=1e-12)


def test_fewer_different_examples_than_clusters():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
    assert np.isfinite(NDFSRanker(random_state=0).fit(X).feature_importances_).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_udfs_is_its_formula(layout, gamma, monkeypatch):
    monkeypatch.setattr("omnirank.graphs.regressions._MOST_ROWS", 7)
    frame, given = features(layout, 3)
    columns, owner = reference.columns_of(frame)
    kept = reference.one_level_less(columns, owner)
    scores = reference.udfs(columns, kept, 4, gamma, 2, 1e-6)
    chosen, owners = [columns[i] for i in kept], [owner[i] for i in kept]
    expected = reference.by_feature(chosen, owners, scores, frame.shape[1])
    ranker = UDFSRanker(n_clusters=2, gamma=gamma, n_neighbors=4, tol=1e-6).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-6)


def test_too_many_columns_are_refused(monkeypatch):
    monkeypatch.setattr("omnirank.rankers.clusters.MOST_DENSE", 5)
    with pytest.raises(DataError, match="pairs of columns: 0 GB for 8; more than 5 are refused"):
        UDFSRanker().fit(np.random.default_rng(0).normal(size=(40, 8)))


def test_features_behind_the_clusters_come_first():
    rng = np.random.default_rng(7)
    clusters = np.arange(150) % 3
    X = rng.normal(size=(150, 12))
    one = X + 9 * clusters[:, None] * (np.arange(12) == 3)
    assert UDFSRanker(n_clusters=1).fit(one).ranking_.top(1) == ["x3"]
    X[:, [3, 8]] += np.array([[0, 0], [7, 0], [0, 7]])[clusters]
    for ranker in (MCFSRanker(n_clusters=2), NDFSRanker(n_clusters=3, random_state=0)):
        assert set(ranker.fit(X).ranking_.top(2)) == {"x3", "x8"}
    doubled = np.column_stack([X, X[:, 3]])  # a column twice: one of the two is left out
    assert np.isfinite(MCFSRanker().fit(doubled).feature_importances_).all()


def test_an_end_before_convergence_is_told():
    X = np.random.default_rng(0).normal(size=(40, 8))
    for ranker in (NDFSRanker(random_state=0), UDFSRanker(), SFSSRanker()):
        name = type(ranker).__name__.removesuffix("Ranker").lower()
        with pytest.warns(ConvergenceWarning, match=f"{name} has not converged in 2 iterations"):
            ranker.set_params(max_iter=2, tol=0.0).fit(X, X[:, 0] > 0)
        assert ranker.n_iter_ == 2
