"""What rounding, memory layout and odd weights must not change."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.errors import DataError
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means


def test_pruning_is_the_same_for_mostly_zero_and_mostly_one_features():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 10)) < 0.15).astype(float)
    y = 3 * X[:, 0] + 2 * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=200)
    few, many = (om.PCTRegressor(random_state=0).fit(Z, y) for Z in (X, 1 - X))
    assert few.get_n_leaves() == many.get_n_leaves()
    np.testing.assert_allclose(few.predict(X), many.predict(1 - X))


@pytest.mark.parametrize("seed", [5, 9, 43])
def test_pruning_counts_weights_of_label_sets_as_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :1] + rng.normal(size=(60, 6)) > np.linspace(0, 2, 6)).astype(float)
    weight = np.where(Y[:, 0] == 1, 6, 1)
    Y[rng.random(60) < 0.5] = np.nan
    rows = np.repeat(np.arange(60), weight)
    tree = om.PCTClassifier(task="multi-label", supervision=0.7, random_state=0)
    weighted = tree.fit(X, Y, sample_weight=weight).get_n_leaves()
    assert tree.fit(X[rows], Y[rows]).get_n_leaves() == weighted


@pytest.mark.parametrize("partly", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_permutation_scores_of_numbers_that_trees_predict_exactly(partly):
    X, scores = np.random.default_rng(0).normal(size=(100, 4)), []
    for low, high in ((1.0, 2.0), (0.1, 0.3)):
        y = np.where(X[:, 0] > 0, high, low)
        y = np.column_stack([y, np.where(np.arange(100) % 7 > 0, y, np.nan)]) if partly else y
        task = "multi-target-regression" if partly else "regression"
        ranker = om.EnsembleRanker("permutation", "random-forest", n_trees=20, random_state=0, task=task).fit(X, y)
        assert ranker.n_undefined_ == 9
        assert ranker.ranking_.top(1) == ["x0"]
        assert ranker.ranking_.scores.max() < 10
        scores.append(ranker.ranking_.scores)
    np.testing.assert_allclose(*scores)


def test_a_leaf_of_equal_values_predicts_them_exactly():
    X = np.arange(30.0)[:, None]
    y = np.where(X[:, 0] < 13, 0.1, 0.3)
    assert set(om.PCTRegressor(random_state=0).fit(X, y).predict(X)) == {0.1, 0.3}


@pytest.mark.slow
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_permutation_score_of_sparse_features_that_trees_predict_exactly(layout):
    flag = 0.1 * (np.random.default_rng(0).random(120) < 0.1)
    X = np.column_stack([flag, 3 * flag, 7 * flag])
    ranker = om.EnsembleRanker("permutation", "random-forest", n_trees=5, random_state=0)
    with pytest.warns(UserWarning, match="all permutation scores are 0"):
        ranker.fit(layout(X))
    assert ranker.n_undefined_ == 5


@pytest.mark.slow
def test_a_leaf_of_equal_known_values_predicts_them_exactly():
    X = np.arange(30.0)[:, None]
    y = np.column_stack([np.where(X[:, 0] < 13, 0.1, 0.3)] * 2)
    y[::4, 1] = np.nan
    tree = om.PCTRegressor(random_state=0).fit(X, y, sample_weight=1 / (1 + X[:, 0] % 7) + 1)
    assert set(tree.predict(X).ravel()) == {0.1, 0.3}


@pytest.mark.slow
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_no_share_of_a_label_is_above_1(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.column_stack([np.ones(300), X[:, 0] > -1, X[:, 0] > 0]).astype(float)
    y[0] = 0.0
    for _ in range(5):
        tree = om.PCTClassifier(task="multi-label", min_samples_leaf=20, random_state=0)
        shares = tree.fit(X, layout(y), sample_weight=10.0 ** rng.uniform(-16, 2, 300)).predict_proba(X)
        assert shares.max() <= 1


@pytest.mark.slow
def test_sparse_single_precision_gives_the_trees_of_arrays():
    rng = np.random.default_rng(0)
    X = (1e7 + rng.integers(1, 9, (80, 4))).astype(np.float32)
    y = X[:, 0] - 1e7 + rng.normal(size=80)
    ranker = om.EnsembleRanker("genie3", n_trees=5, random_state=0)
    scores = [ranker.fit(Z, y).ranking_.scores for Z in (X, np.asfortranarray(X), sparse.csr_array(X))]
    for other in scores[1:]:
        np.testing.assert_array_equal(other, scores[0])


def test_the_order_of_cells_in_memory_is_no_property_of_features_that_trees_cluster():
    X = np.random.default_rng(0).normal(size=(40, 8)) + 3
    ranker = om.EnsembleRanker("genie3", n_trees=3, random_state=0)
    by_row, by_column = (ranker.fit(Z).ranking_.scores for Z in (X, np.asfortranarray(X)))
    np.testing.assert_array_equal(by_row, by_column)


def test_one_outlier_leaves_the_digits_of_the_other_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.round((X[:, 0] + 0.3 * rng.normal(size=60)) * 2**20) / 2**20
    scores = []
    for outlier in (2.0**50, 2.0**60):
        y[7] = outlier
        ranking = om.EnsembleRanker("unbiased", "random-forest", n_trees=30, random_state=0).fit(X, y).ranking_
        scores.append(ranking.state.mean * outlier)  # below the root: there, a target is its normal scores
    np.testing.assert_allclose(*scores, rtol=1e-6)


def test_a_target_without_any_level_is_predicted_as_unknown():
    X, classes = np.arange(12.0)[:, None], pd.Categorical(list("ab") * 6)
    both = pd.DataFrame({"a": classes, "b": pd.Categorical([None] * 12)})
    data, alone = om.Dataset(X, both, task="multi-target-classification"), om.Dataset(X, classes)
    assert pd.isna(om.PCTClassifier(random_state=0).fit(data).predict(X)[:, 1]).all()
    assert om.evaluate(om.UnivariateRanker(), data, n_folds=2, n_neighbors=2)["accuracy"] > 0
    permuted = om.EnsembleRanker("permutation", "bagging", n_trees=20, random_state=0).fit(data).ranking_
    assert np.isfinite(permuted.scores).all()
    numbers = om.Dataset(X, pd.DataFrame({"a": classes, "b": np.full(12, np.nan)}), task="mixed-targets")
    found = [om.InformationRanker("mutual-information", random_state=0).fit(own) for own in (numbers, alone)]
    np.testing.assert_array_equal(*(ranker.ranking_.scores for ranker in found))


@pytest.mark.parametrize("y", [[None] * 5, np.full(7, np.nan), np.empty((5, 0))])
def test_a_target_without_known_values_has_one_per_example(y):
    with pytest.raises(DataError, match="30"):
        om.Dataset(np.zeros((30, 2)), y)


@pytest.mark.parametrize(
    "weight", [pd.date_range("2020", periods=30), np.arange(1, 31).astype("m8[s]"), np.ones(30) + 5j]
)
def test_weights_are_numbers(weight):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(DataError, match="one number per example"):
        om.UnivariateRanker().fit(X, X[:, 0] > 0, sample_weight=weight)


def test_cells_of_sparse_columns_may_cancel_in_a_leaf():
    """Sums of 0 are not stored."""
    cells = sparse.csr_array([[0.5, 0.3, 0.7], [-0.5, 0.3, 0.7], [0.5, 0.3, 0.7], [-0.5, 0.3, 0.7]])
    names, levels = ("a", "b", "c"), (None, None, None)
    columns = PrototypeColumns(cells, np.ones(4, bool), np.arange(3), np.full(3, -1), names, levels, np.ones(3))
    leaf = SimpleNamespace(
        feature=np.array([-1]), first=np.array([0]), last=np.array([4]), rows=np.arange(4), row_weight=np.ones(4)
    )
    assert node_means(leaf, columns)[0].toarray().tolist() == [[0.0, 0.3, 0.7]]
