"""The losses by which Relief's parameters are chosen, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

import omnirank as om
from omnirank.relief.choice import candidate_rankings, cross_validated_losses, labelled_folds
from omnirank.relief.pairs import PairSettings


def few_labels(task, n=50, n_labelled=30):
    """Labelled examples that four folds share unequally: 8, 8, 7, 7."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    y = signal if task == "regression" else np.where(signal > 0.4, "a", np.where(signal > -0.3, "b", "c"))
    return om.Dataset(X, y).keep_labels(n_labelled, random_state=0)


def relevance_of(data, power):
    """Importances that depend on all that is known: how features follow the target, and how unlabelled ones spread."""
    known = data.labelled
    _, codes = np.unique(data.y[known], return_inverse=True)
    X = data.features.numeric
    return (X[known].T @ (codes - codes.mean())) ** 2**power + X[~known].var(axis=0)


def nearest_means(columns, train, test, importances, k=20):
    span = np.ptp(train, axis=0)
    away = (((test[:, None] - train) / span) ** 2) @ importances
    return columns[np.argsort(away, axis=1, kind="stable")[:, :k]].mean(axis=1)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_losses_are_those_of_neighbours_in_rankings_that_have_not_seen_the_fold(task):
    data = few_labels(task)
    rows = []

    def rankings(train):
        rows.append(train.n_examples)
        return {power: relevance_of(train, power) for power in (1, 2)}

    found = cross_validated_losses(data, rankings, np.random.default_rng(1))
    X, y, labelled = data.features.numeric, np.asarray(data.y), np.flatnonzero(data.labelled)
    expected = {1: [], 2: []}
    folds = labelled_folds(data, np.random.default_rng(1))
    assert sorted(np.bincount(folds[labelled])) == [7, 7, 8, 8]
    for fold in (np.flatnonzero(folds == i) for i in range(4)):
        others = np.setdiff1d(labelled, fold)
        ranked = data.take(folds != folds[fold[0]])
        for power in expected:
            importances = relevance_of(ranked, power)
            if task == "regression":
                values = y[others].astype(float)
                means = nearest_means(values, X[others], X[fold], importances)
                loss = np.sqrt(np.mean((means - y[fold].astype(float)) ** 2) / values.var())
            else:
                classes = np.unique(y[labelled].astype(str))
                hot = (y[others].astype(str)[:, None] == classes).astype(float)
                means = nearest_means(hot, X[others], X[fold], importances)
                truth, predicted = y[fold].astype(str), classes[np.argmax(means, axis=1)]
                seen = sorted({*truth, *predicted})
                loss = 1 - f1_score(truth, predicted, average="macro", labels=seen, zero_division=0)
            expected[power].append(loss)
    assert set(found) == set(expected)
    for power, losses in expected.items():
        np.testing.assert_allclose(found[power], losses)
    assert sorted(rows) == [42, 42, 43, 43]  # unlabelled examples rank in every fold


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rankings_of_candidates_are_those_of_the_ranker(task):
    data = few_labels(task)
    settings = PairSettings("auto", "auto", 0.75, 0.0, None)
    candidates = [(None, 15), (None, 90), ((0.0, 0.0), 20), ((0.5, 1.0), 20)]
    found = candidate_rankings(settings, candidates, True, 0, data)
    assert set(found) == set(candidates)
    for (influence, k), importances in found.items():
        wanted = om.ReliefRanker(n_neighbors=k, influence=influence).fit(data).feature_importances_
        np.testing.assert_allclose(importances, wanted, atol=1e-12)
    assert not np.allclose(found[None, 15], found[(0.0, 0.0), 20])


def test_folds_hold_labelled_examples_once_and_classes_evenly():
    y = np.array(["a"] * 8 + ["b"] * 4 + [None] * 5, dtype=object)
    folds = labelled_folds(om.Dataset(np.arange(17.0)[:, None], y), np.random.default_rng(0))
    assert (folds >= 0).tolist() == [True] * 12 + [False] * 5
    assert np.bincount(folds[8:12]).tolist() == [1, 1, 1, 1]


def test_copies_are_in_one_fold_of_the_choice():
    """A copy in the training part would choose parameters by examples that it knows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    data = om.Dataset(np.tile(X, (2, 1)), np.tile(y, 2))
    folds = labelled_folds(data, np.random.default_rng(1))
    assert folds[:20].tolist() == folds[20:].tolist()
    assert set(folds) == {0, 1, 2, 3}
