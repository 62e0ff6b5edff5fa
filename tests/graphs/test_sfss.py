"""SFSS against its formula, and what it must find and refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import omnirank as om
from omnirank.errors import DataError, ParameterError
from omnirank.graphs import affinity
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features

N = 24


@pytest.mark.every(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("task", ["classification", "multi-label"])
@pytest.mark.parametrize("n_labelled", [N, 9])
def test_the_score_is_its_formula(layout, task, n_labelled):
    frame, given = features(layout, 3, N)
    rng = np.random.default_rng(n_labelled)
    labelled = np.isin(np.arange(N), rng.permutation(N)[:n_labelled])
    if task == "classification":
        y = rng.integers(0, 3, N).astype(float)
        Y = (y[:, None] == np.arange(3)) * labelled[:, None]
        y[~labelled] = np.nan
    else:
        y = (rng.random((N, 4)) < 0.4).astype(float)
        Y = y * labelled[:, None]
        y[~labelled] = np.nan
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.5)
    S = reference.neighbor_affinity(columns, 4, lambda x: math.exp(-x / width))
    scores = reference.sfss(columns, S, Y, labelled, 0.5, 2.0, 1e4, 1e-4)
    expected = reference.by_feature(columns, owner, reference.effects(columns, scores), frame.shape[1])
    ranker = om.SFSSRanker(mu=0.5, gamma=2.0, label_weight=1e4, n_neighbors=4, task=task).fit(given, y)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-8)


def test_more_columns_than_examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 120))
    y = (X[:, 7] > 0).astype(int)
    assert om.SFSSRanker(task="classification").fit(X, y).ranking_.top(1) == ["x7"]


def test_features_behind_the_classes_come_first_and_names_of_classes_do_not_matter():
    rng = np.random.default_rng(3)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 12))
    X[:, 4] += 2 * y
    some = np.where(np.arange(150) < 40, y, np.nan)
    usual = om.SFSSRanker(task="classification").fit(X, some)
    assert usual.ranking_.top(1) == ["x4"]
    rotated = om.SFSSRanker(task="classification").fit(X, (some + 1) % 3)
    np.testing.assert_allclose(rotated.feature_importances_, usual.feature_importances_, rtol=1e-6)


def test_what_it_is_not_for_is_refused(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(DataError, match=r"does not handle regression; .*; methods that do: .*str-laplace"):
        om.SFSSRanker().fit(X, X[:, 0])
    with pytest.raises(DataError, match="needs a target"):
        om.SFSSRanker().fit(X)
    monkeypatch.setattr(affinity, "MOST_DENSE", 20)
    with pytest.raises(DataError, match="sfss holds matrices of all pairs of examples: 0 GB for 30"):
        om.SFSSRanker().fit(X, X[:, 0] > 0)


def test_weights_that_are_too_far_apart_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X = np.column_stack([X, X[:, 0]])
    with pytest.raises(ParameterError, match="too far apart"):
        om.SFSSRanker(mu=1e10, gamma=1e-6).fit(X, X[:, 0] > 0)


def test_an_end_before_convergence_is_told():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.warns(ConvergenceWarning, match="sfss has not converged in 2 iterations"):
        om.SFSSRanker(max_iter=2, tol=0.0).fit(X, X[:, 0] > 0)
