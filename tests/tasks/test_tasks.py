"""Tasks: the registry, predictions and their types, errors of use."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.task_registry import TASKS
from omnirank.errors import ParameterError
from omnirank.tasks import Task, get_task

TREE = Hierarchy.from_paths(["a", "a/b", "c"])


def predict(y, means, threshold=0.5, **options):
    target, name = target_from(y, **options)
    task = get_task(name)
    return task.predict(np.asarray(means, float), task.columns(target, options.get("hierarchy")), threshold)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_names_itself_its_measure_and_distances(name):
    task = get_task(name)
    assert isinstance(task, Task)
    assert task.name == name
    assert task.default_measure
    assert task.distances


def test_unknown_task():
    with pytest.raises(ParameterError, match="task='ranking': choose one of auto, classification, "):
        get_task("ranking")


@pytest.mark.parametrize(
    ("y", "expected", "kind"),
    [
        (np.array([3, 7]), [7, 3], "i"),
        (np.array([3.0, 7.0]), [7, 3], "i"),
        (np.array([3.0, 7.0, np.nan]), [7, 3], "i"),
        (np.array([-1, 1]), [1, -1], "i"),
        (np.array([True, False]), [True, False], "b"),
        (np.array(["u", "v"]), ["v", "u"], "U"),
        (np.array(["u\0", "v"], dtype=object), ["v", "u\0"], "O"),
        (pd.Categorical([2.5, 0.5]), [2.5, 0.5], "f"),
    ],
)
def test_classes_are_predicted_in_their_own_type(y, expected, kind):
    found = predict(y, [[0.2, 0.8], [0.5, 0.5]])
    assert found.tolist() == expected
    assert found.dtype.kind == kind


def test_ties_between_classes_go_to_the_first_level():
    assert predict(["u", "v", "w"], [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]).tolist() == ["u", "v"]


def test_several_classes():
    found = predict([["u", 3], ["v", 4]], [[0.9, 0.1, 0.3, 0.7]])
    assert found.tolist() == [["u", 4]]
    assert type(found[0, 1]) is int
    assert predict(np.array([[1, 2], [3, 4]]), [[0.9, 0.1, 0.3, 0.7]]).dtype.kind == "i"


def test_numbers():
    assert predict([0.5, 1.5], [[0.25], [1.5]]).tolist() == [0.25, 1.5]
    assert predict([[0.5, 1], [1, 2]], [[0.25, 4]]).tolist() == [[0.25, 4]]


def test_labels_at_or_above_the_threshold():
    labels = np.array([[0, 1], [1, 1]])
    found = predict(labels, [[0.5, 0.49], [0.51, 0.0]])
    assert found.tolist() == [[1, 0], [1, 0]]
    assert found.dtype.kind == "i"
    assert predict(labels, [[0.5, 0.3]], threshold=0.3).tolist() == [[1, 1]]


def test_mixed_targets():
    frame = pd.DataFrame({"kind": ["u", "v"], "size": [0.5, 1.5], "age": [3.5, 4.5]})
    found = predict(frame, [[0.3, 0.7, 1.25, 4.0], [0.6, 0.4, 0.5, 5.0]])
    assert found["kind"].tolist() == ["v", "u"]
    assert found["kind"].cat.categories.tolist() == ["u", "v"]
    assert found["size"].tolist() == [1.25, 0.5]
    assert found["age"].tolist() == [4.0, 5.0]


def test_clustering_predicts_the_features():
    task = get_task("clustering")
    target, _ = target_from(pd.DataFrame({"kind": ["u", "v"], "size": [0.5, 1.5]}))
    assert task.predict(np.array([[0.3, 0.7, 1.25]]), task.columns(target)).loc[0].tolist() == ["v", 1.25]


@given(st.lists(st.sets(st.sampled_from(TREE.labels)), min_size=1, max_size=6), st.floats(0.01, 1))
def test_predicted_sets_obey_the_hierarchy(sets, threshold):
    if not any(sets):
        return
    target, name = target_from(sets, hierarchy=TREE)
    task = get_task(name)
    columns = task.columns(target, TREE)
    found = task.predict(columns.dense().mean(axis=0, keepdims=True), columns, threshold)
    np.testing.assert_array_equal(TREE.close(found), found)


@given(st.data())
def test_label_sets_with_single_labels_missing_give_means_that_obey_the_hierarchy(data):
    """Closed both ways, the mean of a child's known values never exceeds that of its parent's."""
    row = st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3)
    values = np.array(data.draw(st.lists(row, min_size=1, max_size=6)))
    target, _ = target_from(values, hierarchy=TREE)
    parent, child = target.dense()[:, 0], target.dense()[:, 1]
    child_mean = child[~np.isnan(child)].mean() if not np.isnan(child).all() else 0.0
    if np.isnan(parent).all():
        assert child_mean == 0
    else:
        assert child_mean <= parent[~np.isnan(parent)].mean() + 1e-12


def test_hierarchical_task_needs_its_hierarchy():
    target, name = target_from([{"a"}, {"c"}], hierarchy=TREE)
    with pytest.raises(ParameterError, match="needs a hierarchy"):
        get_task(name).columns(target)
    with pytest.raises(ParameterError, match=r"w0=0.*\(0, 1\]"):
        get_task(name).columns(target, TREE, w0=0)


def test_weights_of_labels_follow_w0():
    target, name = target_from([{"a/b"}, {"c"}], hierarchy=TREE)
    assert get_task(name).columns(target, TREE).weights.tolist() == [1, 0.75, 1]
    assert get_task(name).columns(target, TREE, w0=1).weights.tolist() == [1, 1, 1]


# -- frequencies that are equal but for rounding -----------------------------------------------------------


def test_one_half_does_not_depend_on_the_order_of_sums():
    """Weights 0.7 + 0.1 + 0.1 of 1.8 are one half, and so are the others; one sum is rounded down."""
    weights = np.array([0.7, 0.1, 0.1, 0.9])
    half = sum(weights[:3].tolist()) / 1.8
    assert half < 0.5
    labels = get_task("multi-label")
    target, _ = target_from([[1, 0], [1, 0], [1, 0], [0, 1]], "multi-label")
    columns = labels.columns(target)
    assert labels.predict(np.array([[half, 1 - half]]), columns).tolist() == [[1, 1]]
    assert labels.error(columns, np.full((4, 2), half), columns) == labels.error(columns, np.full((4, 2), 0.5), columns)
    classes = get_task("classification")
    target, _ = target_from(["a", "b"])
    columns = classes.columns(target)
    assert classes.predict(np.array([[half, 1 - half], [0.5, 0.5]]), columns).tolist() == ["a", "a"]
    assert classes.error(columns, np.full((2, 2), [half, 1 - half]), columns) == 0.5


@pytest.mark.slow
def test_predictors_decide_one_half_by_the_same_rule():
    X = np.zeros((4, 1))
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0]):
        weights = np.array([0.7, 0.1, 0.1, 0.9])[order] * 4
        model = om.PCTClassifier(pruning=None, random_state=0).fit(X, Y[order], sample_weight=weights)
        assert model.predict(X[:1]).tolist() == [[1, 1]]
        assert np.round(model.predict_proba(X[:1])).tolist() == [[1, 1]]
