"""Tasks: the registry, predictions and their types, errors of use."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import r2_score

import omnirank as om
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.errors import ParameterError
from omnirank.tasks import get_task
from omnirank.tasks.measuring import in_training_order
from reference import tasks_errors as reference

TREE = Hierarchy.from_paths(["a", "a/b", "c"])


def predict(y, means, threshold=0.5, **options):
    target, name = target_from(y, **options)
    task = get_task(name)
    return task.predict(np.asarray(means, float), task.columns(target, options.get("hierarchy")), threshold)


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


# -- errors of leaf means against the formulas, for every task, with unknown values ----------------


NAN = np.nan
LEVELS = list("uvw")


def lists_of(values):
    return [[None if np.isnan(cell) else cell for cell in column] for column in np.asarray(values).T]


@st.composite
def coded(draw, kinds, n):
    """A frame of numbers and classes, its lists of values, and leaf means for it."""
    frame, lists = {}, []
    for i, kind in enumerate(kinds):
        cell = st.floats(-5, 5, width=16) if kind == "number" else st.sampled_from(LEVELS)
        values = draw(st.lists(st.one_of(st.none(), cell), min_size=n, max_size=n))
        frame[f"t{i}"] = pd.Series(values, dtype=float if kind == "number" else pd.CategoricalDtype(LEVELS))
        lists.append(values)
    width = sum(1 if kind == "number" else 3 for kind in kinds)
    seed = draw(st.integers(0, 2**31))
    return pd.DataFrame(frame), lists, np.random.default_rng(seed).normal(size=(n, width))


def predictions_of(means, kinds):
    """What the means say: the number itself, or the level with the largest mean."""
    found, at = [], 0
    for kind in kinds:
        if kind == "number":
            found.append(means[:, at].tolist())
            at += 1
        else:
            found.append([LEVELS[int(i)] for i in np.argmax(means[:, at : at + 3], axis=1)])
            at += 3
    return found


CASES = {
    "classification": ["class"],
    "multi-target-classification": ["class", "class"],
    "regression": ["number"],
    "multi-target-regression": ["number", "number"],
    "mixed-targets": ["class", "number", "class"],
    "clustering": ["number", "class"],
}


@pytest.mark.slow
@pytest.mark.parametrize("task", CASES)
@given(st.data())
def test_errors_are_those_of_the_formulas(task, data):
    kinds = CASES[task]
    n_train, n_test = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    train_frame, train, _ = data.draw(coded(kinds, n_train))
    test_frame, test, means = data.draw(coded(kinds, n_test))
    how = "mixed-targets" if task == "clustering" else task
    columns = get_task(task).columns(target_from(train_frame, task=how)[0])
    truth = get_task(task).columns(target_from(test_frame, task=how)[0])
    predicted = predictions_of(means, kinds)
    if task.endswith("classification"):
        rates = [reference.error_rate(y, p) for y, p in zip(test, predicted, strict=True)]
        expected = sum(rates) / len(rates)
    elif task.endswith("regression"):
        expected = reference.relative_mse(test, predicted, train)
    else:
        nominal = [kind == "class" for kind in kinds]
        expected = reference.mixed_error(test, predicted, train, nominal)
    assert get_task(task).error(truth, means, columns) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.slow
@given(st.data())
def test_label_set_errors_are_those_of_the_formulas(data):
    row = st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=3, max_size=3)
    values = np.array(data.draw(st.lists(row, min_size=1, max_size=6)))
    frequency = st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.9]), min_size=3, max_size=3)
    means = np.array(data.draw(st.lists(frequency, min_size=len(values), max_size=len(values))))
    predicted = [[float(cell >= 0.5) for cell in column] for column in means.T]
    for make in (np.asarray, sparse.csr_array):
        target = Target.labels(make(values), TREE.labels)
        flat = get_task("multi-label").columns(target)
        deep = get_task("hierarchical-multi-label").columns(target, TREE)
        expected = reference.hamming_loss(lists_of(values), predicted, [1, 1, 1])
        assert get_task("multi-label").error(flat, means, flat) == pytest.approx(expected)
        expected = reference.hamming_loss(lists_of(values), predicted, [1, 0.75, 1])
        assert get_task("hierarchical-multi-label").error(deep, means, deep) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("y", "options"),
    [
        (["a", "b", "b"], {}),
        ([["a", "x"], ["b", "x"]], {}),
        ([0.5, 1.5], {}),
        ([[0.5, 1], [1, 2]], {}),
        (np.array([[0, 1], [1, 1]]), {}),
        ([{"a/b"}, {"c"}, set()], {"hierarchy": TREE}),
        (pd.DataFrame({"k": ["a", "b"], "s": [0.5, 1.5]}), {}),
    ],
)
def test_a_perfect_leaf_has_error_zero(y, options):
    target, name = target_from(y, **options)
    task = get_task(name)
    columns = task.columns(target, options.get("hierarchy"))
    assert task.error(columns, columns.dense(), columns) == 0.0
    wrong = columns.dense()[::-1]
    assert task.error(columns, wrong, columns) > 0


def test_the_default_model_has_relative_error_one():
    values = np.array([[0.5, 10.0], [1.5, NAN], [4.0, 30.0]])
    for name in ("multi-target-regression", "mixed-targets", "clustering"):
        columns = get_task(name).columns(Target.numeric(values, ["u", "v"]))
        means = np.tile(np.nanmean(values, axis=0), (3, 1))
        assert get_task(name).error(columns, means, columns) == pytest.approx(1.0)


def test_nothing_known_is_no_error():
    for name, target in (
        ("regression", Target.numeric(np.full((2, 1), NAN), ["t"])),
        ("multi-label", Target.labels(np.full((2, 1), NAN), ["t"])),
        ("multi-label", Target.labels(sparse.csr_array((2, 1)), ["t"], [False, False])),
        ("classification", target_from(pd.Categorical([None, None], categories=["a", "b"]))[0]),
    ):
        columns = get_task(name).columns(target)
        assert get_task(name).error(columns, np.ones((2, columns.n_columns)), columns) == 0.0


def test_losses_of_perfect_and_useless_predictions():
    from sklearn.metrics import f1_score

    target = target_from(["a", "b", "a", "c"])[0]
    task = get_task("classification")
    columns = task.columns(target)
    assert task.loss(columns, columns.matrix, columns) == 0
    means = np.eye(3)[[0, 0, 1, 2]]
    wanted = 1 - f1_score(target.values[:, 0], np.argmax(means, axis=1), average="macro")
    assert task.loss(columns, means, columns) == pytest.approx(wanted)
    labels = get_task("multi-label").columns(target_from(np.array([[1, 0], [0, 1]]))[0])
    assert get_task("multi-label").loss(labels, labels.dense(), labels) == 0


def test_the_loss_of_numbers_is_their_rrmse_where_unknown_and_constant_targets_count_nothing():
    task = get_task("multi-target-regression")
    training = task.columns(target_from(np.array([[0.0, 1.5, 7.5], [2.0, 3.5, 7.5]]))[0])
    truth = task.columns(Target.numeric(np.array([[0.0, np.nan, 7.5], [2.0, np.nan, 7.5]]), list("abc")))
    assert task.loss(truth, np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]), training) == 0.5
    flat = task.columns(target_from(np.full((2, 2), 1.5), "multi-target-regression")[0])
    assert task.loss(flat, np.zeros((2, 2)), flat) == 0


def test_the_loss_of_mixed_targets_is_their_error():
    target, name = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    task = get_task(name)
    columns = task.columns(target)
    means = np.array([[0.0, 1.0, 0.5], [0.0, 1.0, 1.0]])
    assert task.loss(columns, means, columns) == task.error(columns, means, columns) > 0


# -- score of classifiers: what counts, what does not ----------------------------------------------


@pytest.fixture(scope="module")
def flowers():
    return om.datasets.load_sample("iris").split(0.7, random_state=0)


def test_unlabelled_rows_do_not_count(flowers):
    train, test = flowers
    tree = om.PCTClassifier(random_state=0).fit(train.X, train.y)
    y = np.array(test.y, dtype=object)
    wrong = tree.predict(test.X) != y
    assert 0 < wrong.sum() < len(y)
    right_only = np.where(wrong, None, y)
    assert tree.score(test.X, right_only) == 1.0
    whole = om.PCTClassifier(random_state=0).fit(train)
    assert whole.score(test.hide_labels(np.flatnonzero(wrong))) == 1.0
    assert tree.score(test.X, y) == np.mean(~wrong)
    weights = np.where(wrong, 3.0, 1.0)
    assert tree.score(test.X, y, sample_weight=weights) == pytest.approx(np.average(~wrong, weights=weights))
    assert tree.score(test.X, right_only, sample_weight=weights) == 1.0


def test_nothing_labelled_is_an_error(flowers):
    train, test = flowers
    tree = om.PCTClassifier(random_state=0).fit(train.X, train.y)
    with pytest.raises(om.errors.DataError, match="no example of y has a known target"):
        tree.score(test.X, [None] * test.n_examples)
    with pytest.raises(om.errors.DataError, match="give the target of the examples in X"):
        tree.score(test.X)


def test_unknown_single_labels_do_not_count():
    X = np.array([[0.0], [0.1], [1.0], [1.1]] * 3)
    y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 3, dtype=float)
    tree = om.PCTClassifier(random_state=0).fit(X, y)
    assert tree.score(X[:3], [[1, np.nan], [np.nan, np.nan], [np.nan, 0]]) == 0.5


def test_unknown_numbers_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = np.column_stack([X[:, 0], X.sum(axis=1)])
    tree = om.PCTRegressor(random_state=0).fit(X, y)
    predicted = tree.predict(X)
    hidden = y.copy()
    hidden[:10] = np.nan
    hidden[10:20, 1] = np.nan
    weights = rng.random(60)
    wanted = [r2_score(y[n:, v], predicted[n:, v], sample_weight=weights[n:]) for v, n in ((0, 10), (1, 20))]
    assert tree.score(X, hidden, weights) == pytest.approx(np.mean(wanted))
    assert tree.score(X, y) == pytest.approx(r2_score(y, predicted))
    with pytest.raises(om.errors.DataError, match="no known value in y"):
        tree.score(X, np.where([True, False], y, np.nan))
    with pytest.raises(om.errors.DataError, match="give the target"):
        tree.score(X)


def test_labels_are_compared_by_name():
    target = Target.labels(np.array([[1.0, 0.0, 0.0]]), list("abc"))
    ordered = in_training_order(target, "multi-label", ["c", "a", "b"])
    assert ordered.names == ("c", "a", "b")
    assert ordered.dense().tolist() == [[0.0, 1.0, 0.0]]
    assert in_training_order(target, "multi-label", list("abc")) is target
    assert in_training_order(None, "multi-label", list("abc")) is None
    with pytest.raises(om.errors.DataError, match="'c' is in one of them only"):
        in_training_order(target, "multi-label", list("ab"))
