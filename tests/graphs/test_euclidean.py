"""Euclidean neighbours against sorting all distances, with ties and more ties than candidates."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.graphs import affinity
from omnirank.graphs.affinity import nearest_rows, pair_distances, squared_distances
from omnirank.neighbors import weighted


def sorted_all(X, k):
    apart = np.array([[round(float(((a - b) ** 2).sum()), 8) for b in X] for a in X])
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("kind", ["numbers", "few values", "equal rows", "duplicates"])
@pytest.mark.parametrize("k", [1, 5, 29])
@pytest.mark.parametrize("rows", [7, 256])
def test_nearest_rows_are_those_of_all_distances(kind, k, rows, monkeypatch):
    monkeypatch.setattr(weighted, "_MOST_ROWS", rows)
    rng = np.random.default_rng(k)
    X = rng.normal(size=(30, 4))
    if kind == "few values":
        X = rng.integers(0, 2, size=(30, 3)).astype(float)
    elif kind == "equal rows":
        X = np.ones((30, 2))
    elif kind == "duplicates":
        X = np.repeat(X[:3], 10, axis=0)
    X = X - X.mean(axis=0)
    for n_jobs in (None, 2):
        assert nearest_rows(X, k, n_jobs).tolist() == sorted_all(X, k).tolist()


@pytest.mark.parametrize("kind", ["numbers", "close", "few values", "far"])
def test_many_rows_are_searched_by_parts_and_where_single_precision_is_in_doubt(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3))
    if kind == "close":  # distances that single precision cannot tell apart
        X[:1000] = 5 + 1e-5 * X[:1000]
    elif kind == "few values":
        X = rng.integers(0, 4, size=(1500, 3)).astype(float)
    elif kind == "far":
        X[7] = 1e4
    X = X - X.mean(axis=0)
    rows = [0, 7, 400, 1499]
    apart = ((X[rows, None] - X[None]) ** 2).sum(axis=2)
    apart[np.arange(4), rows] = np.inf
    expected = np.argsort([[float(f"{a:.8g}") for a in row] for row in apart], axis=1, kind="stable")[:, :4]
    assert nearest_rows(X, 4)[rows].tolist() == expected.tolist()


@pytest.mark.parametrize("far", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("n_far", [1, 40])
def test_an_outlier_or_a_far_cluster_hides_no_neighbour(far, n_far):
    x = np.random.default_rng(3).normal(size=80)
    x[:n_far] += far
    X = (x - x.mean())[:, None]
    apart = np.abs(X - X.T)
    np.fill_diagonal(apart, np.inf)
    assert nearest_rows(X, 3).tolist() == np.argsort(apart, axis=1, kind="stable")[:, :3].tolist()


def test_distances_of_pairs_and_blocks_agree(monkeypatch):
    monkeypatch.setattr(affinity, "_PAIR_CELLS", 10)
    X = np.random.default_rng(0).normal(size=(12, 3))
    first, second = np.divmod(np.arange(144), 12)
    np.testing.assert_allclose(squared_distances(X, X).ravel(), pair_distances(X, first, second), atol=1e-12)
