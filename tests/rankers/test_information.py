"""Rankings by information, counts, correlation and spread against their slow references, and what they must know."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_selection import chi2, mutual_info_classif, mutual_info_regression

import omnirank as om
from draws import draws
from omnirank.errors import DataError, ParameterError
from omnirank.rankers.information import LABEL_SETS, MEASURES
from reference import rankers_information as reference
from reference.rankers_cases import columns, frame

# ties among few values, and enough values for bins
NUMBERS = st.one_of(st.none(), st.integers(-2, 2).map(float), st.integers(-64, 64).map(lambda k: k / 8))
FEW = st.one_of(st.none(), st.sampled_from([0.0, 1.5]))
CLASSES = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))
SAME = st.one_of(st.none(), st.just(2.5))


@pytest.mark.slow
@draws(15)
@given(st.data())
def test_class_targets_agree_with_the_reference(data):
    n = data.draw(st.integers(2, 14))
    features = data.draw(columns(n, [NUMBERS, FEW, CLASSES, SAME]))
    targets = data.draw(columns(n, [CLASSES], most=3))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    if not any(v is not None for column in targets for v in column):
        return
    given_ = {"measure": data.draw(st.sampled_from(list(MEASURES))), "n_bins": data.draw(st.integers(2, 5))}
    y = pd.DataFrame({f"y{j}": pd.Categorical(column, categories=list("abc")) for j, column in enumerate(targets)})
    task = "multi-target-classification" if len(targets) > 1 else "classification"
    y = y if len(targets) > 1 else y["y0"]
    ranker = om.InformationRanker(**given_, task=task).fit(frame(features, "x", list("abc")), y, sample_weight=weights)
    expected = reference.scores(features, targets, weights, **given_)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@draws(12)
@given(st.data())
def test_label_sets_agree_with_the_reference_dense_and_sparse(data):
    n, d, n_labels = (data.draw(st.integers(low, 14)) for low in (2, 1, 2))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = rng.integers(-9, 9, (n, d)) / 4 * (rng.random((n, d)) < rng.random(d))
    X[rng.random((n, d)) < 0.1] = np.nan
    y = (rng.random((n, n_labels)) < 0.4).astype(float)
    y[rng.random((n, n_labels)) < data.draw(st.sampled_from([0.0, 0.2]))] = np.nan
    y[0] = 1.0
    measure, sets = data.draw(st.sampled_from(list(MEASURES))), data.draw(st.sampled_from(LABEL_SETS))
    least = 2 if sets == "pruned-powerset" else 1
    features = [list(X[:, i]) for i in range(d)]
    if sets == "binary-relevance":
        targets = [list(y[:, j]) for j in range(n_labels)]
        known = np.ones(n, dtype=bool)
    else:
        known = ~np.isnan(y).all(axis=1)  # bins are those of all labelled examples
        targets = [reference.label_set_classes(y.tolist(), least)]
    ranker = om.InformationRanker(measure, sets, n_bins=3, min_count=least, task="multi-label")
    if all(v is None for v in targets[0]) and sets != "binary-relevance":
        with pytest.raises(DataError, match="no label set is that of 2 examples"):
            ranker.fit(X, y)
        return
    found = ranker.fit(X, y).feature_importances_
    thin = ranker.fit(sparse.csr_array(X), sparse.csr_array(y)).feature_importances_
    np.testing.assert_array_equal(thin, found)
    if sets == "binary-relevance":
        expected = reference.scores(features, targets, [1.0] * n, measure, n_bins=3)
    else:
        rows = np.flatnonzero(known)
        kept = [[column[i] for i in rows] for column in features]
        own = [targets[0][i] for i in rows]
        varies = len({v for v in own if v is not None}) > 1
        expected = [reference.score(x, own, [1.0] * len(rows), measure, 3) if varies else 0.0 for x in kept]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@draws(8)
@given(st.data())
def test_correlation_agrees_with_the_reference(data):
    n = data.draw(st.integers(2, 9))
    features = data.draw(columns(n, [NUMBERS, FEW, CLASSES, SAME]))
    targets = data.draw(columns(n, [NUMBERS], most=3))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    rows = [i for i in range(n) if any(column[i] is not None for column in targets)]
    if not rows:
        return
    y = np.array([[np.nan if v is None else v for v in column] for column in targets]).T
    y, task = (y, "multi-target-regression") if len(targets) > 1 else (y[:, 0], "regression")
    ranker = om.CorrelationRanker(task=task).fit(frame(features, "x", list("abc")), y, sample_weight=weights)
    b = [weights[i] for i in rows]
    counted = [[t[i] for i in rows] for t in targets if reference.varies(t)]
    expected = [
        np.mean([reference.correlation([x[i] for i in rows], t, b) for t in counted]) if counted else 0.0
        for x in features
    ]
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@draws(12)
@given(st.data())
def test_spread_agrees_with_the_reference(data):
    n = data.draw(st.integers(2, 9))
    features = data.draw(columns(n, [NUMBERS, FEW, CLASSES, SAME]))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    for measure in ("variance", "dispersion"):
        ranker = om.DispersionRanker(measure).fit(frame(features, "x", list("abc")), sample_weight=weights)
        expected = [reference.spread(x, weights, measure) for x in features]
        np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-12)


def test_spread_of_sparse_and_extreme_columns():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 4)) < 0.3, rng.normal(size=(30, 4)), 0.0) * [1.0, 1e-160, 1e150, 1e307]
    for measure in ("variance", "dispersion"):
        dense = om.DispersionRanker(measure).fit(X).feature_importances_
        np.testing.assert_array_equal(om.DispersionRanker(measure).fit(sparse.csc_array(X)).feature_importances_, dense)
        assert np.isfinite(dense).all()
        assert dense[0] > 0
    # the spread of a column relative to its range does not depend on its units
    unit = np.where(X[:, 2] == 0, 0.0, X[:, 2] / 2.0**498)
    np.testing.assert_allclose(om.DispersionRanker("dispersion").fit(unit[:, None]).feature_importances_, dense[2])


def test_counts_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (200, 6)).astype(float)
    y = (X[:, 0] + rng.integers(0, 3, 200) > 3).astype(int)
    found = om.InformationRanker().fit(X, y).feature_importances_
    np.testing.assert_allclose(found, mutual_info_classif(X, y, discrete_features=True), atol=1e-12)
    np.testing.assert_allclose(om.InformationRanker("mutual-information").fit(X, y).feature_importances_, found)
    # scikit-learn's chi2 sums the feature's values: for one level in a 0/1 column, half of the table
    hot = (X[:, :1] == np.arange(4)).astype(float)
    whole = om.InformationRanker("chi2").fit(X[:, :1], y).feature_importances_[0]
    np.testing.assert_allclose(chi2(hot, y)[0].sum(), whole)


def test_mutual_information_of_numbers_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    ranker = om.InformationRanker("mutual-information", random_state=0)
    expected = [mutual_info_regression(X[:, [i]], y, random_state=1)[0] for i in range(3)]
    np.testing.assert_allclose(ranker.fit(X, y).feature_importances_, expected, atol=0.02)
    classes = np.digitize(y, [-0.5, 0.5])
    expected = [mutual_info_classif(X[:, [i]], classes, random_state=1)[0] for i in range(3)]
    np.testing.assert_allclose(ranker.fit(X, classes).feature_importances_, expected, atol=0.02)
    # with missing cells: the known part, times its share
    gaps = X.copy()
    gaps[::4, 0] = np.nan
    rest = np.arange(120) % 4 > 0
    part = ranker.fit(X[rest], y[rest]).feature_importances_[0]
    np.testing.assert_allclose(ranker.fit(gaps, y).feature_importances_[0], 0.75 * part, atol=0.02)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_mutual_information_bears_any_scale(offset):
    rng = np.random.default_rng(3)
    X = rng.integers(-500, 500, (80, 2)) / 8 + offset
    y = X[:, 0] + rng.integers(-100, 100, 80) / 8
    ranker = om.InformationRanker("mutual-information", random_state=0)
    usual = ranker.fit(X, y).feature_importances_
    for scale in (2.0**-500, 2.0**498):
        np.testing.assert_allclose(ranker.fit(X * scale, y * scale).feature_importances_, usual, atol=1e-9)


def test_mixed_targets_join_counts_and_neighbours():
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"level": pd.Categorical(rng.choice(list("ab"), 90)), "number": rng.normal(size=90)})
    y = pd.DataFrame({"kind": pd.Categorical(X["level"]), "size": X["number"] + 0.1 * rng.normal(size=90)})
    ranker = om.InformationRanker("mutual-information", random_state=0, task="mixed-targets").fit(X, y)
    single = [
        om.InformationRanker("mutual-information", random_state=0).fit(X, y[name]).feature_importances_ for name in y
    ]
    np.testing.assert_allclose(ranker.feature_importances_, np.mean(single, axis=0))


def test_few_examples_and_classes_of_one_example_give_no_information():
    ranker = om.InformationRanker("mutual-information", n_bins=2, random_state=0)
    X = [[0.1], [0.2], [0.3], [0.4]]
    assert ranker.fit(X, list("abcd")).feature_importances_[0] == 0
    assert ranker.fit(X, [0.5, 1.7, 2.5, 9.1]).feature_importances_[0] >= 0


def test_constant_features_and_targets_score_zero():
    X = np.column_stack([np.full(8, 0.1), np.arange(8)])
    for measure in (*MEASURES, "mutual-information"):
        scores = om.InformationRanker(measure, n_bins=4).fit(X, list("aabbabab")).feature_importances_
        assert scores[0] == 0
        assert scores[1] > 0 or measure == "mutual-information"
        assert not om.InformationRanker(measure).fit(X, ["same"] * 8).feature_importances_.any()
    assert not om.InformationRanker("mutual-information", n_bins=4).fit(X, np.full(8, 0.5)).feature_importances_.any()
    assert om.CorrelationRanker().fit(X, np.arange(8) + 0.5).feature_importances_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("measure", [*MEASURES, "mutual-information"])
def test_the_order_of_rows_and_columns_and_monotone_scales_change_nothing(measure):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, 5))
    if measure != "mutual-information":  # where equal numbers are parted by noise, which goes by the places of rows
        X[rng.random((90, 5)) < 0.3] = 0.0
    X[rng.random((90, 5)) < 0.1] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) + rng.normal(size=90) > 0, "a", "b")
    ranker = om.InformationRanker(measure, n_bins=6, random_state=0)
    usual = ranker.fit(X, y).feature_importances_
    rows, columns = rng.permutation(90), rng.permutation(5)
    np.testing.assert_allclose(ranker.fit(X[rows], y[rows]).feature_importances_, usual, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ranker.fit(X[:, columns], y).feature_importances_, usual[columns], rtol=1e-9, atol=1e-12)
    if measure != "mutual-information":  # bins of equal frequency go by ranks
        np.testing.assert_allclose(ranker.fit(np.exp(X), y).feature_importances_, usual, rtol=1e-9)


def test_the_unit_of_weights_moves_no_value_to_another_bin():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y = rng.integers(0, 40, size=(60, 4)), rng.integers(0, 3, size=60)
        scores = [
            om.InformationRanker(n_bins=10).fit(X, y, sample_weight=np.full(60, unit)).feature_importances_
            for unit in (1.0, 1 / 7, 0.1, 3e5)
        ]
        np.testing.assert_allclose(scores[1:], [scores[0]] * 3, rtol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_constant_label_does_not_count_whatever_the_weights(measure):
    """The weight of the examples without it is a difference of sums, which rounding leaves above 0."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, label = rng.integers(0, 3, size=(12, 2)), rng.integers(0, 2, size=(12, 1))
        weight = rng.random(12)
        alone, beside = (
            om.InformationRanker(measure, task="multi-label").fit(X, y, sample_weight=weight).feature_importances_
            for y in (label, np.hstack([label, np.where(rng.random((12, 1)) < 0.3, np.nan, 1.0)]))
        )
        np.testing.assert_allclose(beside, alone, rtol=1e-9)


def test_a_value_that_most_examples_share_has_a_bin_of_its_own():
    rng = np.random.default_rng(5)
    rare = rng.random(400) < 0.04
    for sign in (1.0, -1.0):
        X = np.where(rare, sign * rng.random(400), 0.0)[:, None]
        score = om.InformationRanker(n_bins=5).fit(X, rare.astype(int)).feature_importances_[0]
        share = rare.mean()
        np.testing.assert_allclose(score, -share * np.log(share) - (1 - share) * np.log(1 - share))


def test_wrong_use_is_refused_with_the_methods_that_can():
    X, y = [[0.0], [1.0], [2.0]], [0.5, 1.5, 2.7]
    with pytest.raises(DataError, match=r"does not handle regression.*methods that do: .*correlation"):
        om.InformationRanker("chi2").fit(X, y)
    with pytest.raises(DataError, match=r"does not handle classification.*information-gain"):
        om.CorrelationRanker().fit(X, ["a", "b", "a"])
    with pytest.raises(DataError, match=r"needs a target.*methods that need none: .*dispersion"):
        om.InformationRanker().fit(X)
    with pytest.raises(ParameterError, match="no sample_weight; these measures do: information-gain"):
        om.InformationRanker("mutual-information").fit(X, ["a", "b", "a"], sample_weight=[1, 2, 1])
