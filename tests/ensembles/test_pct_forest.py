"""Forests as predictors: prefixes, workers, out-of-bag predictions, warm start, accuracy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import omnirank as om
from omnirank.testing import tiny_dataset
from omnirank.trees.prediction import row_blocks
from reference.ensembles_cases import CLASSIFIER_TASKS, TASKS, genie3_forest

ENSEMBLES = ("random-forest", "extra-trees", "bagging")


def forest_for(task, **more):
    kind = om.PCTForestClassifier if task in CLASSIFIER_TASKS else om.PCTForestRegressor
    return kind(**{"n_trees": 8, "random_state": 0} | more)


def many_labels(n=120, n_labels=80, seed=0):
    """Sparse label sets: prototypes are sparse too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    Y = (rng.random((n, n_labels)) < 0.03 + 0.2 * (X[:, :1] > 0) * (np.arange(n_labels) < 10)).astype(float)
    return X, sparse.csr_array(Y)


# -- averaging ----------------------------------------------------------------------------------------------


@pytest.mark.every(2)
@pytest.mark.parametrize("task", TASKS)
def test_predicts_as_the_target_is_written(task):
    data = tiny_dataset(task)
    forest = forest_for(task, oob_score=True, n_trees=40).fit(data)
    predicted = forest.predict(data)
    assert np.shape(predicted) == np.shape(data.y)
    assert 0 <= forest.oob_error_ < 1.5
    if task in CLASSIFIER_TASKS:
        found, shares = forest.oob_decision_function_, forest.predict_proba(data)
        pairs = zip(found, shares, strict=True) if isinstance(shares, list) else [(found, shares)]
        assert all(one.shape == other.shape for one, other in pairs)
    else:
        assert np.shape(forest.oob_prediction_) == np.shape(data.y)


def test_averages_the_prototypes_of_the_trees():
    data = tiny_dataset("classification")
    forest = forest_for("classification").fit(data)
    leaves = forest.apply(data)
    assert leaves.shape == (36, 8)
    mean = np.mean([tree.means(leaves[:, k]) for k, tree in enumerate(forest.trees_)], axis=0)
    np.testing.assert_allclose(forest.predict_proba(data), mean)
    np.testing.assert_array_equal(forest.predict(data), forest.classes_[mean.argmax(axis=1)])


@pytest.mark.slow
def test_sparse_prototypes():
    X, Y = many_labels()
    forest = om.PCTForestClassifier(n_trees=5, random_state=0).fit(X, Y)
    assert all(sparse.issparse(tree.values) for tree in forest.trees_)
    leaves = forest.apply(X)
    mean = np.mean([tree.means(leaves[:, k]).toarray() for k, tree in enumerate(forest.trees_)], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), mean, atol=1e-15)
    np.testing.assert_array_equal(forest.predict(X, threshold=0.3), mean >= 0.3 - 1e-9)
    dense = om.PCTForestClassifier(n_trees=5, random_state=0).fit(X, Y.toarray())
    np.testing.assert_allclose(dense.predict_proba(X), mean, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "multi-label", "multi-target-regression", "mixed-targets"])
def test_every_prefix_is_a_smaller_forest(task):
    data = tiny_dataset(task)
    large = forest_for(task, n_trees=6).fit(data)
    small = forest_for(task, n_trees=3).fit(data)
    for own, other in zip(small.trees_, large.trees_, strict=False):
        for name in ("feature", "threshold", "values"):
            np.testing.assert_array_equal(getattr(own, name), getattr(other, name))


def test_bagging_of_one_tree_without_bootstrap_is_the_single_tree():
    data = tiny_dataset("regression")
    one = om.PCTForestRegressor(ensemble="bagging", bootstrap=False, n_trees=1, random_state=5).fit(data)
    tree = om.PCTRegressor(pruning=None, random_state=5).fit(data)
    for name in ("feature", "threshold", "right", "gain", "weight", "values"):
        np.testing.assert_array_equal(getattr(one.trees_[0], name), getattr(tree.tree_, name))
    np.testing.assert_array_equal(one.predict(data), tree.predict(data))
    np.testing.assert_array_equal(one.feature_importances_, tree.feature_importances_)


def test_importances_are_those_of_the_ranker():
    data = tiny_dataset("multi-target-regression")
    forest = forest_for("multi-target-regression", n_trees=10).fit(data)
    ranker = genie3_forest(n_trees=10, max_features=1 / 3, random_state=0).fit(data)
    np.testing.assert_allclose(forest.feature_importances_, ranker.feature_importances_)


def test_hierarchies_are_obeyed():
    data = om.datasets.make_hierarchical_multi_label(n_examples=150, random_state=0)[0]
    forest = om.PCTForestClassifier(n_trees=10, random_state=0).fit(data)
    shares = forest.predict_proba(data)
    pairs = [(child, parent) for child, above in enumerate(data.hierarchy.parents) for parent in above]
    assert pairs
    for child, parent in pairs:
        assert (shares[:, child] <= shares[:, parent]).all()


# -- blocks of rows ---------------------------------------------------------------------------------------


def test_blocks_cover_all_rows_once():
    for n in (1, 255, 257, 5000, 20000):
        for workers in (1, 2, 7):
            found = row_blocks(n, 30, workers)
            assert np.concatenate([np.arange(n)[block] for block in found]).tolist() == list(range(n))


# -- out of bag ---------------------------------------------------------------------------------------------


def test_out_of_bag_predictions_come_from_trees_that_have_not_seen_the_example():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(scale=0.3, size=80)
    forest = om.PCTForestRegressor(n_trees=30, oob_score=True, random_state=0).fit(X, y)
    from omnirank.core.seeds import stream

    sums, counts = np.zeros(80), np.zeros(80)
    for i, tree in enumerate(forest.trees_):
        out = np.bincount(stream(0, i).integers(0, 80, 80), minlength=80) == 0
        sums[out] += tree.means(tree.apply(X))[out, 0]
        counts[out] += 1
    np.testing.assert_allclose(forest.oob_prediction_, sums / counts)
    expected = np.mean((forest.oob_prediction_ - y) ** 2) / np.var(y)
    assert forest.oob_error_ == pytest.approx(expected)
    assert forest.oob_error_ > np.mean((forest.predict(X) - y) ** 2) / np.var(y)


def test_examples_that_are_not_used_are_out_of_every_bag():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[:10] = None
    forest = om.PCTForestClassifier(n_trees=20, oob_score=True, supervision=1, random_state=0).fit(X, y)
    assert forest.oob_decision_function_.shape == (80, 2)
    np.testing.assert_allclose(forest.oob_decision_function_[:10], forest.predict_proba(X[:10]))
    assert np.isfinite(forest.oob_error_)


@pytest.mark.parametrize("task", ["classification", "mixed-targets"])
def test_examples_in_every_bag_are_unknown(task):
    data = tiny_dataset(task)
    with pytest.warns(UserWarning, match="in the bag of every tree"):
        forest = forest_for(task, n_trees=2, oob_score=True).fit(data)
    if task == "classification":
        unknown = np.isnan(forest.oob_decision_function_).all(axis=1)
    else:
        unknown = forest.oob_prediction_.isna().all(axis=1).to_numpy()
    assert 0 < unknown.sum() < 36
    assert forest.oob_error_ >= 0


def test_out_of_bag_needs_a_bootstrap_and_is_not_kept():
    data = tiny_dataset("regression")
    with pytest.raises(ValueError, match="oob_score=True: it needs"):
        forest_for("regression", oob_score=True, bootstrap=False).fit(data)
    forest = forest_for("regression", oob_score=True, n_trees=40).fit(data)
    assert not hasattr(forest.set_params(oob_score=False).fit(data), "oob_error_")


# -- the rest ---------------------------------------------------------------------------------------------


@pytest.mark.every(16)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("name", ["digits", "diabetes"])
def test_about_as_accurate_as_scikit_learn(name, ensemble):
    train, test = om.datasets.load_sample(name).split(random_state=0)
    if name == "digits":
        ours, theirs = om.PCTForestClassifier, RandomForestClassifier
    else:
        ours, theirs = om.PCTForestRegressor, RandomForestRegressor
    features = None if ensemble == "bagging" else "sqrt"
    found = ours(ensemble=ensemble, n_trees=60, random_state=0, n_jobs=2).fit(train).score(test)
    peer = theirs(60, max_features=features, random_state=0, n_jobs=2).fit(train.X, train.y).score(test.X, test.y)
    assert found > peer - 0.03


def test_regressors_draw_a_third_of_the_features():
    """Measured on 21 public sets: see the user guide on predictors."""
    data = om.datasets.make_friedman(120, random_state=0)[0]
    options = {"n_trees": 4, "random_state": 0}

    def importances(model):
        return model.fit(data).feature_importances_.tolist()

    default = importances(om.PCTForestRegressor(**options))
    assert default == importances(om.PCTForestRegressor(max_features=1 / 3, **options))
    assert default != importances(om.PCTForestRegressor(max_features="sqrt", **options))
    bagging = importances(om.PCTForestRegressor("bagging", **options))
    assert bagging == importances(om.PCTForestRegressor("bagging", max_features="all", **options))
