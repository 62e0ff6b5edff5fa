"""Single trees as predictors: tasks, limits between tasks, containers, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import omnirank as om
from draws import draws
from omnirank.core.errors import ParameterError
from omnirank.data.hierarchy import Hierarchy
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import CLASSIFIER_TASKS, TASKS

PRUNINGS = ("auto", "m5", None)


def model_for(task, **more):
    kind = om.PCTClassifier if task in CLASSIFIER_TASKS else om.PCTRegressor
    return kind(random_state=0, **more)


def full(kind=om.PCTRegressor, **more):
    """A tree with one example a leaf, where examples differ."""
    return kind(pruning=None, min_samples_leaf=1, random_state=0, **more)


def numbers(n=60, d=4, t=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :1] * [1.0, -2.0, 0.5][:t] + rng.normal(scale=0.5, size=(n, t))


def labels(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, :3] + rng.normal(scale=0.5, size=(n, 3)) > 0.3).astype(int)


def same_tree(a, b):
    for name in ("feature", "threshold", "right", "missing_left", "subsets", "gain", "weight", "depth", "value_row"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    dense = [t.values.toarray() if sparse.issparse(t.values) else t.values for t in (a, b)]
    np.testing.assert_array_equal(*dense)


# -- every task -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_predicts_as_the_target_is_written(task):
    data = tiny_dataset(task)
    model = model_for(task).fit(data)
    predicted = model.predict(data)
    assert model.task_ == task
    assert model.n_outputs_ == data.n_targets
    assert model.target_names_ == data.target_names
    assert np.shape(predicted) == np.shape(data.y)
    if task == "mixed-targets":
        assert (predicted["level"].astype(str) == data.y["level"].astype(str)).mean() > 0.8
        assert list(predicted.columns) == ["value", "level"]
    else:
        assert model.score(data) > 0.3
    if task not in ("mixed-targets", "hierarchical-multi-label"):
        assert model.score(data.X, data.y) == model.score(data)


@pytest.mark.parametrize("task", CLASSIFIER_TASKS)
def test_probabilities(task):
    data = tiny_dataset(task)
    model = model_for(task).fit(data)
    shares = model.predict_proba(data)
    if task == "multi-target-classification":
        assert [part.shape for part in shares] == [(36, 3), (36, 2)]
        assert [classes.tolist() for classes in model.classes_] == [["a", "b", "c"], ["no", "yes"]]
        for v, part in enumerate(shares):
            np.testing.assert_allclose(part.sum(axis=1), 1)
            np.testing.assert_array_equal(model.classes_[v][part.argmax(axis=1)], model.predict(data)[:, v])
    elif task == "classification":
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(data))
    else:
        assert shares.shape == (36, 3)
        for threshold in (0.2, 0.5, 0.9, None):
            expected = shares >= (0.5 if threshold is None else threshold)
            np.testing.assert_array_equal(model.predict(data, threshold=threshold), expected)


def test_threshold_is_for_label_sets():
    data = tiny_dataset("classification")
    with pytest.raises(ValueError, match=r"threshold=.*: it is for label sets"):
        model_for("classification").fit(data).predict(data, threshold=0.3)


def test_a_share_of_one_half_counts():
    X = np.zeros((4, 1))
    X[2:] = 1
    model = full(om.PCTClassifier).fit(X, np.array([[1, 0], [0, 0], [1, 1], [1, 1]]))
    assert model.predict([[0.0]]).tolist() == [[1, 0]]
    share = model.predict_proba([[0.0]])[0, 0]
    assert share == pytest.approx(0.5, abs=1e-15)
    assert round(share) == 1


@pytest.mark.parametrize("task", TASKS)
def test_leaves_hold_training_means(task):
    data = tiny_dataset(task, missing=False)
    model = model_for(task, pruning=None).fit(data)
    leaves = model.apply(data)
    means = model._means(data.features)
    from omnirank.tasks import get_task

    columns = get_task(task).columns(data.target, data.hierarchy).dense()
    assert model.tree_.n_leaves > 2
    for leaf in np.unique(leaves):
        np.testing.assert_allclose(
            means[leaves == leaf], columns[leaves == leaf].mean(axis=0)[None].repeat((leaves == leaf).sum(), axis=0)
        )
        assert model.tree_.weight[leaf] == (leaves == leaf).sum()


def test_a_full_tree_on_distinct_rows_reproduces_the_target():
    X, Y = numbers()
    np.testing.assert_allclose(full().fit(X, Y).predict(X), Y)
    classes = np.array(["a", "b", "c"])[np.arange(60) % 3]
    assert full(om.PCTClassifier).fit(X, classes).score(X, classes) == 1.0


def test_looking_at_the_tree():
    X, Y = numbers()
    model = om.PCTRegressor(pruning=None, random_state=0).fit(X, Y)
    tree = model.tree_
    assert model.get_n_leaves() == tree.n_leaves == (tree.n_nodes + 1) // 2
    assert model.get_depth() == tree.max_depth
    assert tree.is_leaf[model.apply(X)].all()


def test_trees_of_classes_are_pruned_where_asked_only():
    data = om.datasets.load_sample("digits").take(np.random.default_rng(0).permutation(1797)[:50])
    sizes = {pruning: om.PCTClassifier(pruning=pruning, random_state=0).fit(data).tree_.n_nodes for pruning in PRUNINGS}
    assert sizes["m5"] < 5 < sizes["auto"] == sizes[None]
    sets = {
        pruning: om.PCTClassifier(pruning=pruning, random_state=0).fit(*labels()).tree_.n_nodes for pruning in PRUNINGS
    }
    assert sets["m5"] <= sets["auto"] < sets[None]
    with pytest.raises(ParameterError, match="pruning='c45'"):
        om.PCTClassifier(pruning="c45").fit(data)


# -- one task as the limit of another -----------------------------------------------------------------------


def test_whole_numbers_are_numbers_to_a_regressor():
    X, Y = numbers(t=1)
    whole = np.round(3 * Y[:, 0]).astype(int)
    model = om.PCTRegressor(random_state=0).fit(X, whole)
    assert model.task_ == "regression"
    np.testing.assert_array_equal(model.predict(X), om.PCTRegressor(random_state=0).fit(X, whole * 1.0).predict(X))


# -- hierarchies ------------------------------------------------------------------------------------------

DAG = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e"), ("e", "f")])


def violations(shares, hierarchy):
    return sum(
        int((shares[:, child] > shares[:, parent]).sum())
        for child, above in enumerate(hierarchy.parents)
        for parent in above
    )


@draws(8)
@given(seed=st.integers(0, 10_000), unknown=st.sampled_from([0.0, 0.2, 0.6]), weighted=st.booleans())
def test_predictions_obey_the_hierarchy(seed, unknown, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3))
    Y = (rng.random((50, DAG.n_labels)) < 0.3).astype(float)
    Y = np.asarray(DAG.close(Y), float)
    Y[rng.random(Y.shape) < unknown] = np.nan
    weight = rng.random(50) + 0.5 if weighted else None
    model = full(om.PCTClassifier, hierarchy=DAG)
    model.set_params(min_samples_leaf=2)
    model.fit(X, Y, sample_weight=weight)
    new = rng.normal(size=(40, 3))
    shares = model.predict_proba(new)
    assert violations(shares, DAG) == 0
    for threshold in np.unique(shares):
        assert violations(model.predict(new, threshold=threshold), DAG) == 0


def test_the_search_for_violations_can_find_one():
    assert violations(np.array([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]), DAG) == 1


def test_unknown_labels_take_the_mean_of_the_nearest_ancestor():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    Y = np.array([[1, 1], [1, 0], [0, np.nan], [0, np.nan]])
    model = full(om.PCTClassifier, task="multi-label").fit(X, Y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), [[1, 0.5], [0, 0.5]], atol=1e-15)


# -- containers -------------------------------------------------------------------------------------------


def test_frames_and_arrays_give_the_same_predictions():
    X, Y = numbers()
    pandas = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    polars = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    expected = om.PCTRegressor(random_state=0).fit(X, Y).predict(X)
    for frame in (pandas, polars):
        model = om.PCTRegressor(random_state=0).fit(frame, Y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        np.testing.assert_array_equal(model.predict(frame), expected)
    np.testing.assert_array_equal(model.predict(pandas), expected)


def test_nominal_features_missing_values_and_unseen_levels():
    frame = pd.DataFrame({"town": ["x", "y", "z", "x", "y", "z"] * 8, "n": np.arange(48) % 5 * 1.0})
    frame.loc[[0, 7], "town"] = None
    y = np.where(frame["town"] == "y", 5.0, 1.0)
    model = om.PCTRegressor(random_state=0).fit(frame, y)
    assert model.tree_.n_leaves >= 2
    np.testing.assert_allclose(model.predict(frame), y)
    known = model.predict(pd.DataFrame({"town": [None], "n": [1.0]}))
    with pytest.warns(UserWarning, match=r"taken as missing.*'town': 'Rome'"):
        unseen = model.predict(pd.DataFrame({"town": ["Rome"], "n": [1.0]}))
    assert unseen == known == [1.0]


def test_pickles_hold_no_training_data():
    data = tiny_dataset("classification")
    model = om.PCTClassifier(random_state=3, class_weight="balanced").fit(data)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(data), model.predict_proba(data))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "tree_")
    X, Y = numbers(n=5000)
    assert len(pickle.dumps(om.PCTRegressor(random_state=0).fit(X, Y))) < X.nbytes / 4


# -- partly known targets -----------------------------------------------------------------------------------


def test_single_unknown_targets_are_used():
    X, Y = numbers(n=200)
    Y[::2, 0] = np.nan
    model = om.PCTRegressor(random_state=0).fit(X, Y)
    assert model.tree_.weight[0] == 200
    assert np.isfinite(model.predict(X)).all()


# -- weights of classes -------------------------------------------------------------------------------------


def test_class_weight_is_sample_weight():
    data = tiny_dataset("classification")
    counts = data.target.values[:, 0].astype(int)
    by_class = np.array([2.0, 1.0, 0.5])
    one = om.PCTClassifier(random_state=0, class_weight={"a": 2.0, "c": 0.5}).fit(data)
    other = om.PCTClassifier(random_state=0).fit(data, sample_weight=by_class[counts])
    same_tree(one.tree_, other.tree_)
    balanced = om.PCTClassifier(random_state=0, class_weight="balanced").fit(data)
    weight = 36 / (3 * np.bincount(counts))
    same_tree(balanced.tree_, om.PCTClassifier(random_state=0).fit(data, sample_weight=weight[counts]).tree_)


def test_class_weights_of_several_targets_are_multiplied():
    data = tiny_dataset("multi-target-classification")
    model = om.PCTClassifier(random_state=0, class_weight=[{"a": 2.0}, {"no": 3.0}]).fit(data)
    codes = data.target.values
    weight = np.where(codes[:, 0] == 0, 2.0, 1.0) * np.where(codes[:, 1] == 0, 3.0, 1.0)
    same_tree(model.tree_, om.PCTClassifier(random_state=0).fit(data, sample_weight=weight).tree_)


@pytest.mark.parametrize(
    ("task", "wrong", "message"),
    [
        ("classification", "equal", "choose 'balanced'"),
        ("classification", {"q": 1.0}, "'q' is no class of target 'y'"),
        ("classification", {"a": -1.0}, "the weight of a must be finite"),
        *(("classification", {"a": weight}, "class_weight") for weight in ("x", [1, 2], 1j, 1e120)),
        *(("classification", given, "class_weight") for given in ([3], [None], [[]], {"a": 1e308, "b": 1e308})),
        ("multi-target-classification", [{}], "list of 2"),
        ("multi-label", "balanced", "it is for classes; label sets have sample_weight"),
    ],
)
def test_wrong_class_weights(task, wrong, message):
    with pytest.raises(ParameterError, match=message):
        om.PCTClassifier(class_weight=wrong).fit(tiny_dataset(task))


# -- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "more", "message"),
    [
        ([[1.0], [2.0]], [np.nan, np.nan], {}, "no example has a known target value"),
        ([[1.0], [2.0]], None, {}, "requires y to be passed"),
        (pd.DataFrame({"a": [1.0, np.inf]}), [0.5, 1.5], {}, "'a' holds an infinite value"),
        ([[1.0], [2.0]], [0.5, 1.5], {"sample_weight": [0.0, 0.0]}, "non-zero"),
        ([[1.0], [2.0]], [0.5, 1.5], {"sample_weight": [0.1, 0.1]}, "min_samples_leaf"),
        ([[1.0], [2.0]], ["a", "b"], {}, "target 'y' is nominal"),
    ],
)
def test_bad_input(X, y, more, message):
    with pytest.raises(ValueError, match=message):
        om.PCTRegressor().fit(X, y, **more)


def test_a_classifier_refuses_numbers_and_a_regressor_classes():
    with pytest.raises(ValueError, match=r"Unknown label type.*target 'y'"):
        om.PCTClassifier().fit([[1.0], [2.0]], [0.5, 1.5])
    with pytest.raises(ValueError, match="does not handle classification"):
        om.PCTRegressor().fit(tiny_dataset("classification"))
    with pytest.raises(ValueError, match="choose one of auto, "):
        om.PCTClassifier(task="regression").fit([[1.0], [2.0]], [0, 1])


def test_one_class_is_predicted_with_a_warning():
    X = np.arange(6.0).reshape(-1, 1)
    with pytest.warns(UserWarning, match="target 'y': one class"):
        model = om.PCTClassifier().fit(X, ["a"] * 6)
    assert model.predict(X).tolist() == ["a"] * 6
    assert model.predict_proba(X).tolist() == [[1.0]] * 6
    with pytest.warns(UserWarning, match="target 'y1' and the 1 others"):
        constant = om.PCTRegressor().fit(X, np.full((6, 2), 2.5), sample_weight=np.arange(6))
    assert constant.predict(X).tolist() == [[2.5, 2.5]] * 6
    assert constant.tree_.weight.tolist() == [15.0]


def test_other_features_in_prediction_are_refused():
    X, Y = numbers()
    model = om.PCTRegressor().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("abce")))
    with pytest.raises(ValueError, match="4 features"):
        om.PCTRegressor().fit(X, Y).predict(X[:, :2])


def test_there_is_no_score_of_mixed_targets():
    data = tiny_dataset("mixed-targets")
    with pytest.raises(ValueError, match="mixed targets"):
        om.PCTRegressor().fit(data).score(data)
