"""Errors of leaf means against the formulas, for every task, with unknown values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.tasks import get_task
from reference import tasks_errors as reference

NAN = np.nan
TREE = Hierarchy.from_paths(["a", "a/b", "c"])
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


def test_offset_of_a_million():
    values = np.array([[0.0], [0.25], [0.5], [1.25]]) + 1e6
    columns = get_task("regression").columns(Target.numeric(values, ["t"]))
    means = np.full((4, 1), values.mean())
    assert get_task("regression").error(columns, means, columns) == pytest.approx(1.0, rel=1e-9)


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
