"""SVMRFERanker against its slow reference, and the truths it must know."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.errors import DataError
from reference import rankers_svm_rfe as reference


def table(rng, n, n_numbers, n_nominal):
    """Numbers with gaps, levels with gaps, and a constant."""
    numbers = np.round(rng.normal(size=(n, n_numbers)), 2)
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    levels = rng.choice(list("abc"), (n, n_nominal)).astype(object)
    levels[rng.random(levels.shape) < 0.1] = None
    X = pd.DataFrame(numbers).add_prefix("x")
    for j in range(n_nominal):
        X[f"k{j}"] = pd.Categorical(levels[:, j])
    return X.assign(same=1.5)


@pytest.mark.slow
@draws(7)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 0.6]), st.sampled_from([0.1, 1.0]), st.integers(1, 3))
def test_scores_agree_with_the_reference(seed, step, C, n_targets):
    rng = np.random.default_rng(seed)
    X = table(rng, 24, 3, 2)
    signal = np.nan_to_num(X["x0"].to_numpy()) + rng.normal(size=24)
    labels = (np.column_stack([signal, rng.normal(size=24), -signal + rng.normal(size=24)]) > 0).astype(float)
    features = [
        list(X[name]) if X[name].dtype == float else X[name].astype(object).where(X[name].notna(), None).tolist()
        for name in X
    ]
    nominal = [X[name].dtype != float for name in X]
    if n_targets == 1:
        y = np.digitize(signal, [-0.5, 0.5])
        targets = [y.tolist()]
    else:
        labels[rng.random(labels.shape) < 0.1] = np.nan
        labels[0] = [0.0, 1.0, 0.0]
        y = labels[:, :n_targets]
        targets = [list(y[:, j]) for j in range(n_targets)]
    task = "classification" if n_targets == 1 else "multi-label"
    found = om.SVMRFERanker(step, C, task=task).fit(X, y).feature_importances_
    kept = [i for i in range(24) if any(t[i] == t[i] for t in targets)]
    expected = reference.scores(
        [[x[i] for i in kept] for x in features], nominal, [[t[i] for i in kept] for t in targets], step, C
    )
    np.testing.assert_allclose(found, expected)
    assert found[-1] == 0
    assert sorted(found)[-1] == 5


def test_weights_are_repetitions():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 8)), rng.integers(0, 3, 50)
    weights = rng.integers(0, 3, 50)
    repeated = np.repeat(np.arange(50), weights)
    weighted = om.SVMRFERanker().fit(X, y, sample_weight=weights).feature_importances_
    np.testing.assert_array_equal(weighted, om.SVMRFERanker().fit(X[repeated], y[repeated]).feature_importances_)
    X, y = rng.normal(size=(120, 60)), rng.integers(0, 2, 120)
    weights = 10.0 ** np.where(np.arange(120) < 60, rng.uniform(0, 6, 120), -6)  # the light rows say nothing
    weighted = om.SVMRFERanker().fit(X, y, sample_weight=weights).feature_importances_
    heavy = om.SVMRFERanker().fit(X[:60], y[:60], sample_weight=weights[:60]).feature_importances_
    np.testing.assert_array_equal(weighted, heavy)


def test_scale_and_workers_change_nothing():
    rng = np.random.default_rng(4)
    X = rng.integers(-50, 50, (60, 10)) / 8
    labels = (X[:, :3] + X[:, 3:6] > 0).astype(int)
    usual = om.SVMRFERanker(n_jobs=1).fit(X, labels).feature_importances_
    np.testing.assert_array_equal(om.SVMRFERanker(n_jobs=3).fit(X, labels).feature_importances_, usual)
    for scale in (2.0**-500, 2.0**400):
        np.testing.assert_array_equal(om.SVMRFERanker().fit(X * scale, labels).feature_importances_, usual)


def test_constant_targets_and_features_leave_nothing_to_rank():
    X = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    assert om.SVMRFERanker().fit(X, ["a", "b", "b"]).feature_importances_.tolist() == [0.0, 1.0]
    assert om.SVMRFERanker().fit(X, ["a", "a", "a"]).feature_importances_.tolist() == [0.0, 0.0]
    assert om.SVMRFERanker().fit([[1.0], [1.0]], ["a", "b"]).feature_importances_.tolist() == [0.0]


def test_wrong_use_is_refused():
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(DataError, match=r"does not handle regression.*methods that do: .*univariate"):
        om.SVMRFERanker().fit(X, [0.5, 1.5, 2.7])
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="cannot be trained to any precision: use a smaller C"):
        om.SVMRFERanker(C=1e12).fit(rng.normal(size=(40, 30)), rng.integers(0, 2, 40))
