"""UnivariateRanker against its slow reference, and the truths it must know."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from reference import rankers_univariate as reference
from reference.rankers_cases import columns, frame

NUMBERS = st.one_of(st.none(), st.integers(-3, 3).map(float), st.integers(-320, 320).map(lambda k: k / 64))
CLASSES = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))
PAIRS = st.one_of(st.none(), st.sampled_from(["no", "yes"]))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.slow
@draws(12)
@given(st.data())
def test_mixed_targets_and_none_agree_with_the_reference(data):
    n = data.draw(st.integers(2, 9))
    features = data.draw(columns(n, [NUMBERS, CLASSES, PAIRS]))
    targets = data.draw(columns(n, [NUMBERS, CLASSES, PAIRS], least=2))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    X, y = frame(features, "x"), frame(targets, "y")
    adjusted = data.draw(st.booleans())
    alone = reference.unsupervised_scores(features, weights, adjusted)
    ranker = om.UnivariateRanker(adjusted).fit(X, sample_weight=weights)
    np.testing.assert_allclose(ranker.feature_importances_, alone, rtol=1e-9, atol=1e-9)
    ranker = om.UnivariateRanker(adjusted, task="mixed-targets").fit(X, y, sample_weight=weights)
    known = y.notna().to_numpy().any()
    assert known or ranker.task_ == "clustering"
    expected = reference.scores(features, targets, weights, [1.0] * len(targets), adjusted) if known else alone
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@draws(15)
@given(st.integers(0, 10**6), st.integers(2, 20), st.sampled_from([0, 3, 14]), st.booleans())
def test_dense_and_sparse_layouts_agree_with_the_reference(seed, n, decades, adjusted):
    """Rare, frequent and constant labels, missing cells on both sides, weights of very different size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < rng.random(4))
    X[rng.random((n, 4)) < rng.choice([0.1, 0.6])] = np.nan
    y = (rng.random((n, 4)) < rng.choice([0.1, 0.5, 0.95], 4)).astype(float)
    y[rng.random((n, 4)) < rng.choice([0.0, 0.4])] = np.nan
    y[:2, 0] = 0.0, 1.0
    weights = 10.0 ** rng.uniform(-decades, 0, n)
    ranker = om.UnivariateRanker(adjusted, task="multi-label")
    expected = reference.scores(exact(X), exact(y), [Fraction(w) for w in weights], [1] * 4, adjusted)
    for layouts in ((X, y), (sparse.csr_array(X), sparse.csr_array(y)), (sparse.csc_array(X), y)):
        found = ranker.fit(*layouts, sample_weight=weights).feature_importances_
        np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9, atol=1e-11)
    whole = om.UnivariateRanker(adjusted).fit(X).feature_importances_
    thin = om.UnivariateRanker(adjusted).fit(sparse.csc_array(X)).feature_importances_
    np.testing.assert_allclose(thin, whole, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(whole, reference.unsupervised_scores(exact(X), [1] * n, adjusted), rtol=1e-9, atol=1e-11)


def exact(matrix):
    """Columns of fractions: the reference adds them up without rounding."""
    return [[None if np.isnan(cell) else Fraction(cell) for cell in column] for column in matrix.T]


def test_nothing_is_explained_of_labels_that_are_constant_where_the_feature_is_known():
    rng = np.random.default_rng(1)
    y = (rng.random((90, 6)) < 0.05).astype(float)
    y[:2] = [[0.0], [1.0]]
    y[rng.random((90, 6)) < 0.1] = np.nan
    X = rng.normal(size=(90, 4))
    X[y[:, :4] == 1] = np.nan  # label j is 0 or unknown wherever feature j is known
    weights = rng.random(90) + 0.1
    expected = reference.scores(exact(X), exact(y), [Fraction(w) for w in weights], [1] * 6)
    for layouts in ((X, y), (sparse.csr_array(X), sparse.csr_array(y))):
        found = om.UnivariateRanker(task="multi-label").fit(*layouts, sample_weight=weights).feature_importances_
        np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9, atol=1e-12)


def test_hierarchy_weights_count():
    hierarchy = om.Hierarchy.from_paths(["a", "a/b"])
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    labels = [set(), {"a"}, {"a/b"}, {"a"}]
    ranker = om.UnivariateRanker(adjusted=False, hierarchy=hierarchy).fit(X, labels)
    assert ranker.task_ == "hierarchical-multi-label"
    # each feature equals one label; their squared correlation is 1/9 and the weights are 1 and 0.75
    np.testing.assert_allclose(ranker.feature_importances_, [(1 + 0.75 / 9) / 1.75, (1 / 9 + 0.75) / 1.75])


def test_a_feature_known_twice_does_not_win():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    X = np.column_stack([y + rng.normal(size=50), np.where(np.arange(50) < 2, y, np.nan)])
    plain = om.UnivariateRanker(adjusted=False).fit(X, y).feature_importances_
    assert plain[1] == pytest.approx(2 / 50)
    good, rare = om.UnivariateRanker().fit(X, y).feature_importances_
    assert rare == 0
    assert good > 0.3


def test_more_features_than_one_block_and_any_number_of_workers():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(15, 700))
    y = X[:, 650] + 0.01 * rng.normal(size=15)
    one = om.UnivariateRanker(adjusted=False, n_jobs=1).fit(X, y)
    two = om.UnivariateRanker(adjusted=False, n_jobs=2).fit(X, y)
    assert one.ranking_.top(1) == ["x650"]
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
    expected = [np.corrcoef(X[:, j], y)[0, 1] ** 2 for j in range(700)]
    np.testing.assert_allclose(one.feature_importances_, expected)


def test_sparse_nominal_features():
    X = pd.DataFrame({"x": pd.Categorical(["p", "q", "r", "p", "p", "q"]), "z": [0, 1, 0, 0, 1, 0]})
    y = [0.5, 1.0, 2.0, 0.25, 0.5, 1.5]
    codes = np.column_stack([[0, 1, 2, 0, 0, 1], X["z"]])
    thin = om.Dataset(sparse.csr_array(codes), y, nominal=[0])
    dense = om.UnivariateRanker().fit(X, y).feature_importances_
    np.testing.assert_allclose(om.UnivariateRanker().fit(thin).feature_importances_, dense)


def test_features_of_many_levels_win_nothing_by_chance():
    rng = np.random.default_rng(5)
    n, y = 300, rng.normal(size=300)
    noise = {f"{k} levels": pd.Categorical(rng.integers(0, k, n).astype(str)) for k in (2, 10, 50, 150, 10**6)}
    X = pd.DataFrame(
        {"true": y + 2 * rng.normal(size=n), **noise, "own level": pd.Categorical(np.arange(n).astype(str))}
    )
    ranking = om.UnivariateRanker().fit(X, y).ranking_
    assert ranking.top(1) == ["true"]
    assert ranking.scores[-1] == 0
    assert om.UnivariateRanker(adjusted=False).fit(X, y).ranking_.top(1) == ["own level"]
