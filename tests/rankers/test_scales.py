"""Offsets and scales change no ranking: dense and sparse data agree, and so do tiny, usual and huge numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om

OFFSETS = (1e3, 1e7, 1e12)
# powers of two, so that thresholds between the values part other values as before
SCALES = tuple(2.0**power for power in (-532, -522, -332, 332, 498))  # 1e-160 to 1e150
N = 60


def cells(seed=0):
    """Columns of few cells that are not 0, whose values are multiples of 1/8, and a target that they tell."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((N, 6)) < 0.3, rng.integers(-20, 40, (N, 6)) / 8, 0.0)
    y = X[:, 0] + X[:, 1] + rng.normal(size=N) * 0.3
    return X, y


def shifted(offset):
    X, y = cells()
    X[:, 0] += offset
    X[:, 1] += offset
    X[:4, 1] = 0.0  # nearly full
    X[:, 4] = offset + (np.arange(N) % 3 == 0)
    return X, y


def few(y):
    return np.where(np.arange(N) % 3 == 0, y, np.nan)


def ensemble(**parameters):
    return om.EnsembleRanker(**{"n_trees": 4, "random_state": 0} | parameters)


RANKERS = {
    "unsupervised": lambda X, y: ensemble().fit(X),
    "unsupervised-permutation": lambda X, y: ensemble(importance="permutation").fit(X),
    "unsupervised-unbiased": lambda X, y: ensemble(importance="unbiased").fit(X),
    "semi-supervised": lambda X, y: ensemble(supervision=0.5).fit(X, few(y)),
    "semi-supervised-permutation": lambda X, y: ensemble(supervision=0.5, importance="permutation").fit(X, few(y)),
    "semi-supervised-unbiased": lambda X, y: ensemble(supervision=0.5, importance="unbiased").fit(X, few(y)),
    "supervised": lambda X, y: ensemble().fit(X, y),
    "extra-trees": lambda X, y: ensemble(ensemble="extra-trees").fit(X, y),
    "weighted": lambda X, y: ensemble(supervision=0.5).fit(X, few(y), sample_weight=1 + np.arange(N) % 4 / 2),
    "relief": lambda X, y: om.ReliefRanker(random_state=0).fit(X, y),
    "relief-unsupervised": lambda X, y: om.ReliefRanker(random_state=0).fit(X),
    "univariate": lambda X, y: om.UnivariateRanker().fit(X, y),
    "univariate-unsupervised": lambda X, y: om.UnivariateRanker().fit(X),
    "laplacian": lambda X, y: om.LaplacianRanker().fit(X),
    "spec": lambda X, y: om.rankers.SPECRanker().fit(X),
    "mcfs": lambda X, y: om.rankers.MCFSRanker(n_coefficients=3).fit(X),
    "ndfs": lambda X, y: om.rankers.NDFSRanker(random_state=0).fit(X),
    "s-cls": lambda X, y: om.rankers.SCLSRanker().fit(X, few(y)),
    "str-laplace": lambda X, y: om.rankers.STRLaplaceRanker().fit(X, few(y)),
    "sfss": lambda X, y: om.rankers.SFSSRanker(task="classification").fit(X, few(np.digitize(y, [0, 2]))),
    "sefr": lambda X, y: om.rankers.SEFRRanker(n_trees=4, random_state=0).fit(X, np.digitize(y, [0, 2])),
}


def scores(name, X, y):
    return RANKERS[name](X, y).feature_importances_


@pytest.mark.every(4)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("name", RANKERS)
def test_sparse_columns_with_an_offset_score_as_dense_ones(name, offset):
    X, y = shifted(offset)
    dense = scores(name, X, y)
    assert dense.any()
    np.testing.assert_allclose(scores(name, sparse.csc_array(X), y), dense, rtol=1e-9, atol=1e-9 * np.abs(dense).max())


@pytest.mark.every(4)
@pytest.mark.parametrize("name", RANKERS)
def test_an_offset_of_a_full_column_changes_no_score(name):
    """Multiples of 1/8 keep their differences exactly, whatever is added."""
    X, y = cells()
    X[:, 0] += 10.0  # full columns: one that is sparse would lose its zeros
    usual = scores(name, X, y)
    for offset in OFFSETS:
        moved = X.copy()
        moved[:, 0] += offset
        for given in (moved, sparse.csc_array(moved)):
            # prototypes of features around 1e12 are rounded to 1e-4, and errors of features with them
            rtol = 1e-5 if "permutation" in name else 1e-7
            np.testing.assert_allclose(scores(name, given, y), usual, rtol=rtol, atol=1e-9 * np.abs(usual).max())


@pytest.mark.every(24)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", RANKERS)
def test_the_scale_of_columns_changes_no_score(name, scale):
    X, y = cells()
    usual = scores(name, X, y)
    one, every = X.copy(), X * scale
    one[:, 1] *= scale
    for given in (one, every, sparse.csc_array(one), sparse.csc_array(every)):
        np.testing.assert_allclose(scores(name, given, y), usual, rtol=1e-7, atol=1e-9 * np.abs(usual).max())


@pytest.mark.every(10)
@pytest.mark.parametrize("scale", [*SCALES, 2.0**67, 2.0**996, 2.0**-996])
@pytest.mark.parametrize("score", ["genie3", "permutation", "unbiased"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array])
def test_the_scale_of_a_target_changes_no_score(score, layout, scale):
    """Powers of two keep every digit, so that no bit changes where they are normalised away."""
    X, y = cells()
    several = np.column_stack([y, X[:, 2] + y])
    for target, scaled in ((y, y * scale), (several, several * [scale, 1.0])):
        one, other = (ensemble(importance=score, per_target=True).fit(layout(X), t) for t in (target, scaled))
        np.testing.assert_array_equal(other.feature_importances_, one.feature_importances_)
        np.testing.assert_array_equal(other.ranking_.per_target.scores, one.ranking_.per_target.scores)


@pytest.mark.every(12)
@pytest.mark.parametrize("scale", [2.0**-530, 2.0**-1000, 2.0**500, 2.0**1015])
def test_predictions_scale_with_the_target(scale):
    X, y = cells()
    for model in (om.PCTRegressor(random_state=0), om.PCTForestRegressor(n_trees=3, random_state=0)):
        usual = model.fit(X, y).predict(X)
        np.testing.assert_array_equal(model.fit(X, y * scale).predict(X), usual * scale)
        some = model.fit(X, few(y)).predict(X)
        np.testing.assert_array_equal(model.fit(X, few(y) * scale).predict(X), some * scale)


@pytest.mark.parametrize("scale", [2.0**-530, 2.0**500])
def test_evaluations_scale_with_the_target(scale):
    X, y = cells()
    ranking = om.UnivariateRanker().fit(X, y).ranking_
    halves = slice(0, None, 2), slice(1, None, 2)
    one, other = (om.evaluate(ranking, *(om.Dataset(X[h], t[h]) for h in halves)) for t in (y, y * scale))
    assert one["rrmse"] == other["rrmse"]
    assert one["r2"] == other["r2"]
    assert one["rmse"] * scale == other["rmse"]
    assert one["mae"] * scale == other["mae"]


@pytest.mark.parametrize("scale", [2.0**-530, 2.0**500])
def test_unnormalised_targets_of_extreme_range_are_refused(scale):
    X, y = cells()
    with pytest.raises(om.errors.DataError, match="normalize_targets=True"):
        om.PCTRegressor(normalize_targets=False).fit(X, y * scale)


@pytest.mark.parametrize("ensemble_kind", ["bagging", "extra-trees"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array])
def test_thresholds_between_numbers_whose_difference_is_infinite(layout, ensemble_kind):
    rng = np.random.default_rng(0)
    X = np.where(np.arange(40) % 4 == 0, 0.0, rng.uniform(-1.7, 1.7, 40))[:, None]
    y = X[:, 0] + 0.01
    usual, huge = (
        om.PCTForestRegressor(ensemble=ensemble_kind, n_trees=3, random_state=0).fit(layout(cells), y)
        for cells in (X, X * 1e308)
    )
    np.testing.assert_allclose(huge.predict(layout(X * 1e308)), usual.predict(layout(X)), rtol=1e-12)
