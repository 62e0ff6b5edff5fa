"""S-CLS, SFSS and STR-Laplace against their formulas, what they must find and refuse."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from omnirank.data.hierarchy import Hierarchy
from omnirank.errors import DataError, ParameterError
from omnirank.graphs import affinity, constraints
from omnirank.rankers import LaplacianRanker, SCLSRanker, SFSSRanker, STRLaplaceRanker
from reference import graphs_scores as reference
from reference.graphs_cases import LAYOUTS, features, graph_case

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


def s_cls(frame, P, k=4):
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
def test_s_cls_is_its_formula(layout, task, n_labelled, monkeypatch):
    monkeypatch.setattr(constraints, "_ROWS", 7)
    frame, given = features(layout, 2, N)
    y, similar = targets(task, n_labelled)
    labelled = set(np.random.default_rng(1).permutation(N)[:n_labelled].tolist())
    ranker = SCLSRanker(n_neighbors=4, task=task).fit(given, hidden(y, labelled))
    P = similarities(similar, labelled)
    np.testing.assert_allclose(ranker.feature_importances_, s_cls(frame, P), rtol=1e-8)


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
    ranker = SCLSRanker(n_neighbors=4).fit(given, y[:, 0] if n_targets == 1 else y)
    np.testing.assert_allclose(ranker.feature_importances_, s_cls(frame, P), rtol=1e-8)


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
    ranker = SCLSRanker(n_neighbors=4, task="multi-label").fit(given, Y)
    np.testing.assert_allclose(ranker.feature_importances_, s_cls(frame, P), rtol=1e-8)


def test_without_labels_it_is_the_laplacian_score():
    frame, _ = features("mixed", 0, N)
    none = SCLSRanker(width=2.0).fit(frame)
    hidden_all = SCLSRanker(width=2.0).fit(frame, [None] * N)
    laplacian = LaplacianRanker(width=2.0).fit(frame)
    np.testing.assert_array_equal(none.feature_importances_, hidden_all.feature_importances_)
    np.testing.assert_allclose(none.criterion_ * N / 2, laplacian.criterion_, rtol=1e-12)


def test_one_label_is_two_classes():
    frame, _ = features("plain", 0, N)
    y = np.random.default_rng(0).integers(0, 2, N).astype(float)
    y[5:9] = np.nan
    label = SCLSRanker(task="multi-label").fit(frame, y[:, None])
    classes = SCLSRanker(task="classification").fit(frame, y)
    np.testing.assert_allclose(label.feature_importances_, classes.feature_importances_, rtol=1e-12)


def test_names_of_classes_and_order_of_labels_do_not_matter():
    frame, _ = features("plain", 1, N)
    y, _ = targets("classification", 0)
    usual = SCLSRanker().fit(frame, y).feature_importances_
    rotated = pd.Series(y).map({"a": "b", "b": "c", "c": "a"}).to_numpy()
    np.testing.assert_allclose(SCLSRanker().fit(frame, rotated).feature_importances_, usual, rtol=1e-12)
    Y, _ = targets("multi-label", 0)
    usual = SCLSRanker(task="multi-label").fit(frame, Y).feature_importances_
    moved = SCLSRanker(task="multi-label").fit(frame, np.roll(Y, 1, axis=1)).feature_importances_
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

    ranker = SCLSRanker(n_neighbors=4, hierarchy=Hierarchy.from_paths(labels))
    ranker.fit(frame, pd.DataFrame(Y, columns=labels))
    P = similarities(similar, set(range(N)))
    np.testing.assert_allclose(ranker.feature_importances_, s_cls(frame, P), rtol=1e-8)


def test_features_that_tell_the_classes_come_first():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 12))
    X[:, 4] += 3 * y
    some = np.where(np.arange(200) < 40, y, np.nan)
    assert SCLSRanker(task="classification").fit(X, some).ranking_.top(1) == ["x4"]


def test_mixed_targets_are_refused_with_the_methods_that_take_them():
    frame, _ = features("plain", 1, N)
    y = pd.DataFrame({"a": np.arange(N) + 0.5, "b": list("xy") * (N // 2)})
    with pytest.raises(DataError, match=r"does not handle mixed-targets; it handles .*; methods that do: .*relief"):
        SCLSRanker().fit(frame, y)


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


@pytest.mark.every(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("task", ["classification", "multi-label"])
@pytest.mark.parametrize("n_labelled", [N, 9])
def test_sfss_is_its_formula(layout, task, n_labelled):
    given, columns, S, importances = graph_case(layout, 4, N)
    rng = np.random.default_rng(n_labelled)
    labelled = np.isin(np.arange(N), rng.permutation(N)[:n_labelled])
    if task == "classification":
        y = rng.integers(0, 3, N).astype(float)
        Y = (y[:, None] == np.arange(3)) * labelled[:, None]
    else:
        y = (rng.random((N, 4)) < 0.4).astype(float)
        Y = y * labelled[:, None]
    y[~labelled] = np.nan
    expected = importances(reference.sfss(columns, S, Y, labelled, 0.5, 2.0, 1e4, 1e-4))
    ranker = SFSSRanker(mu=0.5, gamma=2.0, label_weight=1e4, n_neighbors=4, task=task).fit(given, y)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-5, atol=1e-8)


def test_more_columns_than_examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 120))
    y = (X[:, 7] > 0).astype(int)
    assert SFSSRanker(task="classification").fit(X, y).ranking_.top(1) == ["x7"]


def test_features_behind_the_classes_come_first_and_names_of_classes_do_not_matter():
    rng = np.random.default_rng(3)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 12))
    X[:, 4] += 2 * y
    some = np.where(np.arange(150) < 40, y, np.nan)
    usual = SFSSRanker(task="classification").fit(X, some)
    assert usual.ranking_.top(1) == ["x4"]
    rotated = SFSSRanker(task="classification").fit(X, (some + 1) % 3)
    np.testing.assert_allclose(rotated.feature_importances_, usual.feature_importances_, rtol=1e-6)


def test_what_sfss_is_not_for_is_refused(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(DataError, match=r"does not handle regression; .*; methods that do: .*str-laplace"):
        SFSSRanker().fit(X, X[:, 0])
    with pytest.raises(DataError, match="needs a target"):
        SFSSRanker().fit(X)
    monkeypatch.setattr(affinity, "MOST_DENSE", 20)
    with pytest.raises(DataError, match="sfss holds matrices of all pairs of examples: 0 GB for 30"):
        SFSSRanker().fit(X, X[:, 0] > 0)


def test_weights_that_are_too_far_apart_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X = np.column_stack([X, X[:, 0]])
    with pytest.raises(ParameterError, match="too far apart"):
        SFSSRanker(mu=1e10, gamma=1e-6).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_str_laplace_is_its_formula(layout, step, seed):
    frame, given = features(layout, seed, N)
    y = np.random.default_rng(seed + 9).normal(size=N) * 12 + 100
    labelled = np.arange(N) % step == 0
    columns, owner = reference.columns_of(frame)
    some = [float(v) if known else None for v, known in zip(y, labelled, strict=True)]
    scores = reference.str_laplace(columns, some, 4, 3.0, len(set(owner)))
    expected = reference.by_feature(columns, owner, reference.turned(scores), frame.shape[1])
    ranker = STRLaplaceRanker(n_neighbors=4, labelled_weight=3.0)
    found = ranker.fit(given, np.where(labelled, y, np.nan)).feature_importances_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_the_feature_behind_the_target_comes_first():
    X = np.random.default_rng(1).normal(size=(200, 10))
    y = np.where(np.arange(200) < 60, np.tanh(X[:, 6]), np.nan)
    for target in (y, np.tanh(X[:, 6])):
        assert STRLaplaceRanker().fit(X, target).ranking_.top(1) == ["x6"]


def test_what_str_laplace_is_not_for_is_refused():
    X = np.random.default_rng(1).normal(size=(30, 4))
    with pytest.raises(DataError, match=r"needs a target.*methods that need none: .*laplacian"):
        STRLaplaceRanker().fit(X)
    with pytest.raises(DataError, match=r"does not handle classification; it handles regression; .*relieff"):
        STRLaplaceRanker().fit(X, X[:, 0] > 0)
    with pytest.raises(DataError, match="at least two"):
        STRLaplaceRanker().fit(X, np.where(np.arange(30) == 3, 1.5, np.nan))


def test_equal_targets_have_scores():
    X = np.random.default_rng(1).normal(size=(30, 4))
    for ranker, y in ((SCLSRanker(task="classification"), ["a"] * 30), (STRLaplaceRanker(), np.full(30, 2.5))):
        assert np.isfinite(ranker.fit(X, y).feature_importances_).all()
