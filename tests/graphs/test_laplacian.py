"""Laplacian score and SPEC against their formulas and scikit-feature, and what they must find."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from omnirank.errors import DataError, ParameterError
from omnirank.graphs import affinity
from omnirank.graphs.affinity import laplacian_scores, neighbor_edges
from omnirank.graphs.regressions import embedding, sparse_fits
from omnirank.rankers import LaplacianRanker, SCLSRanker, SPECRanker
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features


def expected(frame, score):
    """Importances by the formulas: score is a function of columns and the affinity's width."""
    columns, owner = reference.columns_of(frame)
    scores = score(columns, reference.quantile_of_distances(columns, 0.5))
    return reference.by_feature(columns, owner, reference.turned(scores), frame.shape[1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(3))
def test_laplacian_score_is_its_formula(layout, seed):
    frame, given = features(layout, seed)

    def scores(columns, width):
        S = reference.neighbor_affinity(columns, 4, lambda d: math.exp(-d / width))
        return [reference.laplacian_score(f, S) for f in columns]

    ranker = LaplacianRanker(n_neighbors=4).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, scores), rtol=1e-9)


@pytest.mark.every(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["phi1", "phi2"])
@pytest.mark.parametrize("k", [None, 4])
def test_spec_is_its_formula(layout, form, k):
    frame, given = features(layout, 1)
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.5)

    def weight(d):
        return math.exp(-d / width)

    S = reference.full_affinity(columns, weight) if k is None else reference.neighbor_affinity(columns, k, weight)
    scores = [reference.spec_score(f, S, form) for f in columns]
    turned = reference.turned(scores)
    for orientation, wanted in (("original", turned), ("reversed", reference.turned(turned))):
        ranker = SPECRanker(form, n_neighbors=k, orientation=orientation).fit(given)
        importances = reference.by_feature(columns, owner, wanted, frame.shape[1])
        np.testing.assert_allclose(ranker.feature_importances_, importances, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("ranker", [LaplacianRanker(), SPECRanker()])
def test_the_indicator_of_clusters_is_best(ranker):
    rng = np.random.default_rng(5)
    clusters = np.arange(90) % 3
    X = np.column_stack([rng.normal(size=(90, 3)), rng.normal(size=(3, 3))[clusters] * 9 + rng.normal(size=(90, 3))])
    X = np.column_stack([X, clusters == 1])
    fitted = ranker.fit(X)
    assert fitted.ranking_.top(1) == ["x6"] or fitted.feature_importances_[-1] == fitted.feature_importances_.max()


def test_the_second_form_of_spec_is_the_laplacian_score_on_its_graph():
    X = np.random.default_rng(0).normal(size=(50, 4))
    laplacian = LaplacianRanker(6, width=2.0).fit(X)
    spec = SPECRanker("phi2", n_neighbors=6, width=2.0).fit(X)
    np.testing.assert_array_equal(laplacian.criterion_, spec.criterion_)


def test_constant_features_are_worst_and_data_of_them_alone_are_told():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = 7.0
    scores = LaplacianRanker().fit(X).feature_importances_
    assert scores[1] == scores.min()
    with pytest.warns(UserWarning, match="all features are constant"):
        assert LaplacianRanker().fit(np.ones((5, 2))).feature_importances_.tolist() == [0.0, 0.0]


def test_too_many_pairs_are_refused_with_the_memory_they_take(monkeypatch):
    monkeypatch.setattr(affinity, "MOST_DENSE", 40)
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(DataError, match=r"SPEC with all pairs holds .* GB for 50 examples; more than 40 are refused"):
        SPECRanker().fit(X)
    SPECRanker(n_neighbors=5).fit(X)


def test_columns_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("omnirank.graphs.columns._MOST_BYTES", 1000)
    with pytest.raises(DataError, match="hold all 30 columns of 20 examples"):
        LaplacianRanker().fit(pd.DataFrame(np.eye(20, 27)).add_prefix("x").assign(level=list("abcc") * 5))


def test_missing_cells_are_told_once(caplog):
    frame, _ = features("missing", 0)
    with caplog.at_level("INFO", logger="omnirank"):
        LaplacianRanker().fit(frame)
    assert sum("take the mean or the most frequent level" in line for line in caplog.messages) == 1


def test_a_width_that_leaves_no_affinity_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for ranker in (LaplacianRanker(width=1e-9), SCLSRanker(width=1e-9), SPECRanker(n_neighbors=3, width=1e-9)):
        with pytest.raises(ParameterError, match=r"width=1e-09: .* choose a larger one"):
            ranker.fit(X)


@pytest.mark.parametrize("kind", ["numbers", "few values", "sorted", "all equal", "two"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.99, 1.0])
def test_the_width_of_a_kernel_is_the_quantile_of_all_squared_distances_to_the_last_bit(kind, share):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    if kind == "few values":
        X = rng.integers(0, 2, size=(400, 4)).astype(float)
    elif kind == "sorted":  # a sample of every so many pairs is not a random one
        X = np.sort(X, axis=0) ** 3
    elif kind == "all equal":
        X = np.ones((400, 2))
    elif kind == "two":
        X = X[:2]
    squared = affinity.squared_distances(X, X)[np.triu_indices(len(X), 1)]
    squared[squared < 1e-12 * squared.max()] = 0.0
    expected = float(np.quantile(squared, share)) or float(squared.mean()) or 1.0
    assert affinity.kernel_width(X, share) == expected


@pytest.mark.parametrize("form", ["phi1", "phi2"])
@pytest.mark.parametrize(("width", "problem"), [(1e-300, "vanish"), (1e-3, "vanish"), (1e300, "are equal")])
def test_a_width_that_tells_no_examples_apart_is_refused(form, width, problem):
    X = np.random.default_rng(0).normal(size=(40, 4))
    with pytest.raises(ParameterError, match=f"all affinities {problem}"):
        SPECRanker(form, width=width).fit(X)


def test_examples_that_are_there_twice_are_like_each_other_at_any_width():
    X = np.random.default_rng(0).normal(size=(20, 4))
    scores = SPECRanker(width=1e-10).fit(np.vstack([X, X])).feature_importances_
    assert np.isfinite(scores).all()


# Results of scikit-feature where it computes the same: recorded figures, since it is no dependency.
#
# They were obtained with the public repository jundongl/scikit-feature (commit 48cffad), NumPy 2, on `peer_data()`::
#
#     W = construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=1.5)
#     lap_score(X, W=W)
#     spec(X, style=style, W=rbf_kernel(X, gamma=0.1))  # for NumPy 2, D[i, i] = X_sum[i] reads D[i, i] = X_sum[i, 0]
#     abs(mcfs(X, n_selected_features=3, W=W, n_clusters=2)).max(axis=1)
#
# Its W has 1 on the diagonal, and its kernel is exp(-d^2 / (2 t^2)). Its NDFS and UDFS are not compared: the one
# subtracts W from the degrees row by row, the other puts all neighbourhoods in the places of the first ones.
LAPLACIAN = [0.31178657554074, 0.24315088509275, 0.30153596325131, 0.26120779435047, 0.33374028432277, 0.32636757896163]
SPEC = {
    "phi1": [
        0.78019078368947,
        0.77126906526183,
        0.80007438809423,
        0.79429711924900,
        0.80037211157881,
        0.80440805167634,
    ],
    "phi2": [
        0.78019531675102,
        0.77352528511716,
        0.80033057165841,
        0.79477829552894,
        0.80298888032053,
        0.80475949066098,
    ],
}
MCFS = [0.016342324131148, 0.032826412576533, 0.025948476126997, 0.023544677367030, 0.01156595377119, 0.0]


def peer_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X[:, 0] += 3 * (np.arange(40) % 2)
    X[:, 3] += 2 * (np.arange(40) % 3)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def with_loops(X):
    return neighbor_edges(X, 5).heat(2 * 1.5**2) + sparse.eye_array(len(X))


def test_laplacian_score_of_scikit_feature():
    np.testing.assert_allclose(laplacian_scores(peer_data(), with_loops(peer_data())), LAPLACIAN, rtol=1e-10)


@pytest.mark.parametrize("form", SPEC)
def test_spec_of_scikit_feature(form):
    found = SPECRanker(form, width=10.0).fit(peer_data()).criterion_
    np.testing.assert_allclose(found, SPEC[form], rtol=1e-10)


def test_mcfs_of_scikit_feature():
    found = sparse_fits(peer_data(), embedding(with_loops(peer_data()), 2), 3)
    np.testing.assert_allclose(np.abs(found).max(axis=1), MCFS, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("n", [200, 400, 1000])
def test_a_column_that_tells_one_far_example_from_all_others_is_no_better_than_chance(n):
    """Its graph score is 1: the only edges of that example, however light, are where the column changes."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 3)), np.arange(n) == n // 2])
    for rows in (np.arange(n), rng.permutation(n), rng.permutation(n)):
        assert LaplacianRanker().fit(X[rows].astype(float)).criterion_[3] == pytest.approx(1, rel=1e-9)
