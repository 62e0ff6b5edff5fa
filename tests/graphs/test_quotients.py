"""Laplacian score and SPEC against their formulas, and what they must find."""

from __future__ import annotations

import math

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError, ParameterError
from omnirank.graphs import affinity
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features


def expected(frame, score):
    """Importances by the formulas: score is a function of columns and the affinity's width."""
    columns, owner = reference.columns_of(frame)
    scores = score(columns, reference.quantile_of_distances(columns, 0.5))
    return reference.by_feature(columns, owner, reference.turned(scores), frame.shape[1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", ["heat", "binary"])
@pytest.mark.parametrize("seed", range(3))
def test_laplacian_score_is_its_formula(layout, kernel, seed):
    frame, given = features(layout, seed)

    def scores(columns, width):
        weight = (lambda d: math.exp(-d / width)) if kernel == "heat" else lambda d: 1.0
        S = reference.neighbor_affinity(columns, 4, weight)
        return [reference.laplacian_score(f, S) for f in columns]

    ranker = om.LaplacianRanker(n_neighbors=4, kernel=kernel).fit(given)
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, scores), rtol=1e-9)


@pytest.mark.every(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["phi1", "phi2", "phi3"])
@pytest.mark.parametrize("k", [None, 4])
def test_spec_is_its_formula(layout, form, k):
    frame, given = features(layout, 1)
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.5)

    def weight(d):
        return math.exp(-d / width)

    S = reference.full_affinity(columns, weight) if k is None else reference.neighbor_affinity(columns, k, weight)
    scores = [reference.spec_score(f, S, form, 3) for f in columns]
    turned = scores if form == "phi3" else reference.turned(scores)
    for orientation, wanted in (("original", turned), ("reversed", reference.turned(turned))):
        ranker = om.SPECRanker(form, n_vectors=3, n_neighbors=k, orientation=orientation).fit(given)
        importances = reference.by_feature(columns, owner, wanted, frame.shape[1])
        np.testing.assert_allclose(ranker.feature_importances_, importances, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("ranker", [om.LaplacianRanker(), om.SPECRanker(), om.SPECRanker("phi3", n_vectors=3)])
def test_the_indicator_of_clusters_is_best(ranker):
    rng = np.random.default_rng(5)
    clusters = np.arange(90) % 3
    X = np.column_stack([rng.normal(size=(90, 3)), rng.normal(size=(3, 3))[clusters] * 9 + rng.normal(size=(90, 3))])
    X = np.column_stack([X, clusters == 1])
    fitted = ranker.fit(X)
    assert fitted.ranking_.top(1) == ["x6"] or fitted.feature_importances_[-1] == fitted.feature_importances_.max()


def test_the_second_form_of_spec_is_the_laplacian_score_on_its_graph():
    X = np.random.default_rng(0).normal(size=(50, 4))
    laplacian = om.LaplacianRanker(6, width=2.0).fit(X)
    spec = om.SPECRanker("phi2", n_neighbors=6, width=2.0).fit(X)
    np.testing.assert_array_equal(laplacian.criterion_, spec.criterion_)


def test_constant_features_are_worst_and_data_of_them_alone_are_told():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = 7.0
    scores = om.LaplacianRanker().fit(X).feature_importances_
    assert scores[1] == scores.min()
    with pytest.warns(UserWarning, match="all features are constant"):
        assert om.LaplacianRanker().fit(np.ones((5, 2))).feature_importances_.tolist() == [0.0, 0.0]


def test_too_many_pairs_are_refused_with_the_memory_they_take(monkeypatch):
    monkeypatch.setattr(affinity, "MOST_DENSE", 40)
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(DataError, match=r"SPEC with all pairs holds .* GB for 50 examples; more than 40 are refused"):
        om.SPECRanker().fit(X)
    om.SPECRanker(n_neighbors=5).fit(X)


def test_columns_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("omnirank.graphs.columns._MOST_BYTES", 1000)
    with pytest.raises(DataError, match="hold all 30 columns of 20 examples"):
        om.LaplacianRanker().fit(np.eye(20, 30))


def test_missing_cells_are_told_once(caplog):
    frame, _ = features("missing", 0)
    with caplog.at_level("INFO", logger="omnirank"):
        om.LaplacianRanker().fit(frame)
    assert sum("take the mean or the most frequent level" in line for line in caplog.messages) == 1


@pytest.mark.parametrize("ranker", [om.LaplacianRanker(), om.SPECRanker()])
def test_a_target_is_refused_with_the_methods_that_use_one(ranker):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(DataError, match=r"is not supervised: give no target, or task='clustering'.*relief.*univariate"):
        ranker.fit(X, X[:, 0])


def test_a_width_that_leaves_no_affinity_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for ranker in (om.LaplacianRanker(width=1e-9), om.SCLSRanker(width=1e-9), om.SPECRanker(n_neighbors=3, width=1e-9)):
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
