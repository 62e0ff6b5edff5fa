"""The soft-constrained Laplacian score against its formula, and at its limits."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.data.hierarchy import Hierarchy
from omnirank.errors import DataError, ParameterError
from omnirank.graphs import constraints
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features

N = 24


def targets(task, seed):
    """Return a target as users write it, and the similarity of two examples."""
    rng = np.random.default_rng(100 + seed)
    if task == "classification":
        y = rng.choice(["a", "b", "c"], N).astype(object)
        return y, lambda i, j: float(y[i] == y[j])
    if task == "multi-label":
        Y = (rng.random((N, 4)) < 0.3).astype(float)
        sets = [set(np.flatnonzero(row)) for row in Y]
        return Y, lambda i, j: reference.jaccard(sets[i], sets[j])
    raise AssertionError(task)


def similarities(similar, labelled):
    return [[similar(i, j) if i in labelled and j in labelled else None for j in range(N)] for i in range(N)]


def expected(frame, P, k=4):
    columns, owner = reference.columns_of(frame)
    width = reference.quantile_of_distances(columns, 0.2)
    scores = [reference.soft_constrained(f, columns, k, width, P) for f in columns]
    return reference.by_feature(columns, owner, reference.turned(scores), frame.shape[1])


def hidden(y, labelled):
    y = np.array(y, dtype=object if y.dtype == object else float)
    y[[i for i in range(N) if i not in labelled]] = None if y.dtype == object else np.nan
    return y


@pytest.mark.every(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("task", ["classification", "multi-label"])
@pytest.mark.parametrize("n_labelled", [N, 10, 2])
def test_the_score_is_its_formula(layout, task, n_labelled, monkeypatch):
    monkeypatch.setattr(constraints, "_ROWS", 7)
    frame, given = features(layout, 2, N)
    y, similar = targets(task, n_labelled)
    labelled = set(np.random.default_rng(1).permutation(N)[:n_labelled].tolist())
    ranker = om.SCLSRanker(n_neighbors=4, task=task).fit(given, hidden(y, labelled))
    P = similarities(similar, labelled)
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, P), rtol=1e-8)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_numbers_are_compared_by_their_distances(n_targets):
    frame, given = features("plain", 4, N)
    labelled = set(range(0, N, 2))
    Y = np.random.default_rng(5).normal(size=(N, n_targets)) * 30
    shown = sorted(labelled)
    scaled = (Y - Y[shown].mean(axis=0)) / Y[shown].std(axis=0)
    width = reference.quantile_of_distances(scaled[shown].T.tolist(), 0.2)
    P = similarities(lambda i, j: math.exp(-((scaled[i] - scaled[j]) ** 2).sum() / width), labelled)
    y = hidden(Y, labelled)
    ranker = om.SCLSRanker(n_neighbors=4).fit(given, y[:, 0] if n_targets == 1 else y)
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, P), rtol=1e-8)


def test_unknown_single_labels_are_left_out_of_the_similarity():
    frame, given = features("plain", 6, N)
    rng = np.random.default_rng(6)
    Y = (rng.random((N, 4)) < 0.5).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    Y[Y.shape[0] // 2] = np.nan
    known = [set(np.flatnonzero(~np.isnan(row))) for row in Y]
    sets = [set(np.flatnonzero(row == 1)) for row in Y]
    P = similarities(
        lambda i, j: reference.jaccard(sets[i] & known[j], sets[j] & known[i]), {i for i in range(N) if known[i]}
    )
    ranker = om.SCLSRanker(n_neighbors=4, task="multi-label").fit(given, Y)
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, P), rtol=1e-8)


def test_without_labels_it_is_the_laplacian_score():
    frame, _ = features("mixed", 0, N)
    none = om.SCLSRanker(width=2.0).fit(frame)
    hidden_all = om.SCLSRanker(width=2.0).fit(frame, [None] * N)
    laplacian = om.LaplacianRanker(width=2.0).fit(frame)
    np.testing.assert_array_equal(none.feature_importances_, hidden_all.feature_importances_)
    np.testing.assert_allclose(none.criterion_ * N / 2, laplacian.criterion_, rtol=1e-12)


def test_one_label_is_two_classes():
    frame, _ = features("plain", 0, N)
    y = np.random.default_rng(0).integers(0, 2, N).astype(float)
    y[5:9] = np.nan
    label = om.SCLSRanker(task="multi-label").fit(frame, y[:, None])
    classes = om.SCLSRanker(task="classification").fit(frame, y)
    np.testing.assert_allclose(label.feature_importances_, classes.feature_importances_, rtol=1e-12)


def test_names_of_classes_and_order_of_labels_do_not_matter():
    frame, _ = features("plain", 1, N)
    y, _ = targets("classification", 0)
    usual = om.SCLSRanker().fit(frame, y).feature_importances_
    rotated = pd.Series(y).map({"a": "b", "b": "c", "c": "a"}).to_numpy()
    np.testing.assert_allclose(om.SCLSRanker().fit(frame, rotated).feature_importances_, usual, rtol=1e-12)
    Y, _ = targets("multi-label", 0)
    usual = om.SCLSRanker(task="multi-label").fit(frame, Y).feature_importances_
    moved = om.SCLSRanker(task="multi-label").fit(frame, np.roll(Y, 1, axis=1)).feature_importances_
    np.testing.assert_allclose(moved, usual, rtol=1e-12)


def test_labels_of_a_hierarchy_are_weighted():
    frame, _ = features("plain", 1, N)
    labels = ["a", "a/b", "c"]
    rng = np.random.default_rng(0)
    Y = (rng.random((N, 3)) < 0.5).astype(int)
    Y[:, 0] |= Y[:, 1]
    weights = {0: 1.0, 1: 0.75, 2: 1.0}

    def similar(i, j):
        a, b = (set(np.flatnonzero(Y[r]).tolist()) for r in (i, j))
        return sum(weights[x] for x in a & b) / sum(weights[x] for x in a | b) if a | b else 1.0

    ranker = om.SCLSRanker(n_neighbors=4, hierarchy=Hierarchy.from_paths(labels))
    ranker.fit(frame, pd.DataFrame(Y, columns=labels))
    P = similarities(similar, set(range(N)))
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, P), rtol=1e-8)


def test_features_that_tell_the_classes_come_first():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 12))
    X[:, 4] += 3 * y
    some = np.where(np.arange(200) < 40, y, np.nan)
    assert om.SCLSRanker(task="classification").fit(X, some).ranking_.top(1) == ["x4"]


def test_mixed_targets_are_refused_with_the_methods_that_take_them():
    frame, _ = features("plain", 1, N)
    y = pd.DataFrame({"a": np.arange(N) + 0.5, "b": list("xy") * (N // 2)})
    with pytest.raises(DataError, match=r"does not handle mixed-targets; it handles .*; methods that do: .*relief"):
        om.SCLSRanker().fit(frame, y)


def test_one_class_for_all_leaves_nothing_to_tell_apart():
    frame, _ = features("plain", 1, N)
    scores = om.SCLSRanker(task="classification").fit(frame, ["a"] * N).feature_importances_
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("given", [[1.0, 2.0, 0.5, 0.0], "frequency"])
def test_labels_carry_weights(given):
    frame, _ = features("plain", 1, N)
    Y = targets("multi-label", 3)[0]
    labelled = set(range(0, N, 2))
    weights = Y[sorted(labelled)].mean(axis=0) if given == "frequency" else given

    def similar(i, j):
        a, b = (set(np.flatnonzero(Y[r]).tolist()) for r in (i, j))
        size = sum(weights[x] for x in a | b)
        return sum(weights[x] for x in a & b) / size if size else 1.0

    ranker = om.SCLSRanker(n_neighbors=4, label_weights=given, task="multi-label").fit(frame, hidden(Y, labelled))
    np.testing.assert_allclose(ranker.feature_importances_, expected(frame, similarities(similar, labelled)), rtol=1e-8)


def test_weights_of_labels_that_do_not_fit_are_refused():
    frame, _ = features("plain", 1, N)
    Y = targets("multi-label", 3)[0]
    for given in ([1.0], [1.0, -1.0, 1.0, 1.0], "rare", 3):
        with pytest.raises(ParameterError, match=r"label_weights=.*: choose None, 'frequency' or 4 numbers"):
            om.SCLSRanker(label_weights=given, task="multi-label").fit(frame, Y)
    with pytest.raises(ParameterError, match="label_weights='frequency': it is for label sets"):
        om.SCLSRanker(label_weights="frequency").fit(frame, Y[:, 0] > 0)


@pytest.mark.parametrize("unknown", [False, True])
def test_similarities_of_few_different_label_sets_are_looked_up_and_the_same(unknown, monkeypatch):
    rng = np.random.default_rng(0)
    inside = (rng.random((50, 3)) < 0.4).astype(float)
    known = np.ones((50, 3))
    if unknown:
        known[rng.random((50, 3)) < 0.2] = 0.0
        inside *= known
    computed = constraints.SetSimilarity(inside, known, np.array([1.0, 0.75, 0.5]))
    found = computed.looked_up()
    assert isinstance(found, constraints.FewSets)
    assert len(found.to_all) == len(np.unique(np.hstack([inside, known]), axis=0)) < 28
    np.testing.assert_allclose(found(slice(7, 40)), computed(slice(7, 40)), atol=1e-15)
    monkeypatch.setattr(constraints, "_FEW", 3)
    assert computed.looked_up() is computed
