"""All measures of a task from predicted means, for every task."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.data.task_registry import TASKS
from omnirank.errors import DataError, ParameterError
from omnirank.measures import MEASURES, measure, measures_by_target, measures_of, primary_measure
from omnirank.tasks import get_task, prototype_columns
from omnirank.testing import tiny_dataset


def test_the_table_names_every_tasks_primary_measure_first():
    for task in TASKS:
        names = [found.name for found in measures_of(task)]
        assert names[0] == get_task(task).default_measure == primary_measure(task).name
        assert len(set(names)) == len(names)
    assert set(MEASURES.values()) == {found for task in TASKS for found in measures_of(task)}
    assert all(found.definition and found.title for found in MEASURES.values())


def problem(task):
    """A target of each task, and predicted means of it."""
    data = tiny_dataset(task, missing=False)
    target = Target.from_table(data.features) if data.target is None else data.target
    shape = target.n_examples, prototype_columns(target).n_columns
    return target, np.random.default_rng(0).random(shape), data.hierarchy


@pytest.mark.parametrize("task", TASKS)
def test_every_measure_of_every_task_in_a_fixed_order(task):
    target, means, hierarchy = problem(task)
    found = measure(target, means, training=target, task=task, hierarchy=hierarchy)
    assert list(found) == [known.name for known in measures_of(task)]
    assert all(type(value) is float and np.isfinite(value) for value in found.values())


@pytest.mark.parametrize("task", TASKS)
def test_perfect_predictions(task):
    target, _, hierarchy = problem(task)
    found = measure(target, prototype_columns(target).dense(), training=target, task=task, hierarchy=hierarchy)
    for name, value in found.items():
        if name == "coverage":
            continue
        best = 1.0 if MEASURES[name].larger_is_better else 0.0
        # an example with an empty set has no right top label
        slack = np.mean(~target.dense().any(axis=1)) if name == "one_error" else 1e-12
        assert value == pytest.approx(best, abs=slack), name


@pytest.mark.parametrize("task", [task for task in TASKS if task != "clustering"])
def test_unlabelled_examples_are_left_out(task):
    target, means, hierarchy = problem(task)
    given = {"training": target, "task": task, "hierarchy": hierarchy}
    rows = np.arange(0, target.n_examples, 3)
    kept = np.setdiff1d(np.arange(target.n_examples), rows)
    hidden, blank = target.hide(rows), means.copy()
    blank[rows] = np.nan
    assert measure(hidden, blank, **given) == measure(target.take(kept), means[kept], **given)


@pytest.mark.parametrize("task", ["classification", "regression", "multi-label", "mixed-targets"])
def test_error_of_the_task_agrees(task):
    target, means, _ = problem(task)
    columns = prototype_columns(target)
    error = get_task(task).error(columns, means, columns)
    found = measure(target, means, training=target, task=task)
    expected = {
        "classification": lambda: 1 - found["accuracy"],
        "regression": lambda: found["rrmse"] ** 2,
        "multi-label": lambda: found["hamming_loss"],
        "mixed-targets": lambda: found["mixed_error"],
    }[task]()
    assert error == pytest.approx(expected)


def test_weighted_hamming_loss_is_the_error_of_hierarchies():
    target, means, hierarchy = problem("hierarchical-multi-label")
    task = get_task("hierarchical-multi-label")
    columns = task.columns(target, hierarchy)
    found = measure(target, means, training=target, task=task.name, hierarchy=hierarchy)
    assert found["weighted_hamming_loss"] == pytest.approx(task.error(columns, means, columns))
    stricter = measure(target, means, training=target, task=task.name, hierarchy=hierarchy, threshold=0.9)
    assert stricter["weighted_hamming_loss"] != found["weighted_hamming_loss"]
    assert stricter["pooled_auprc"] == found["pooled_auprc"]


def test_labels_without_examples_count_0_in_label_sets_and_not_at_all_in_hierarchies():
    hierarchy = Hierarchy.flat(["a", "b"])
    truth = Target.labels(np.array([[1.0, 0.0], [0.0, 0.0]]), ["a", "b"])
    means = np.array([[0.9, 0.3], [0.1, 0.2]])
    flat = measure(truth, means, training=truth, task="multi-label")
    tree = measure(truth, means, training=truth, task="hierarchical-multi-label", hierarchy=hierarchy)
    assert (flat["mean_auprc"], tree["mean_auprc"]) == (0.5, 1.0)
    assert flat["weighted_auprc"] == tree["weighted_auprc"] == 1.0
    assert flat["mean_auroc"] == 0.75


def test_variances_of_the_training_or_the_test_set():
    training = Target.numeric(np.array([[0.0], [4.0]]), ["y"])
    truth = Target.numeric(np.array([[0.0], [2.0]]), ["y"])
    means = np.array([[1.0], [1.0]])
    assert measure(truth, means, training=training, task="regression")["rrmse"] == 0.5
    assert measure(truth, means, training=training, task="regression", variance="test")["rrmse"] == 1.0


def test_targets_one_by_one():
    target, means, _ = problem("multi-target-regression")
    found = measures_by_target(target, means, training=target, task="multi-target-regression")
    assert list(found) == list(target.names)
    whole = measure(target, means, training=target, task="multi-target-regression")
    for name in ("rrmse", "rmse", "mae", "r2"):
        assert np.mean([one[name] for one in found.values()]) == pytest.approx(whole[name])
    target, means, _ = problem("multi-target-classification")
    found = measures_by_target(target, means, training=target, task="multi-target-classification")
    codes = target.values[:, 1]
    assert found["y2"]["accuracy"] == metrics.accuracy_score(codes, means[:, 3:].argmax(axis=1))
    with pytest.raises(ParameterError, match="multi-label"):
        measures_by_target(target, means, training=target, task="multi-label")


def test_several_classes_wholly_right():
    target, _ = target_from([["a", "x"], ["b", "y"], ["a", None]])
    means = np.array([[0.9, 0.1, 0.9, 0.1], [0.9, 0.1, 0.1, 0.9], [0.9, 0.1, 0.1, 0.9]])
    found = measure(target, means, training=target, task="multi-target-classification")
    assert found["subset_accuracy"] == pytest.approx(2 / 3)
    assert found["accuracy"] == pytest.approx((2 / 3 + 1) / 2)


def test_what_is_wrong_is_named():
    target = Target.numeric(np.array([[0.0], [4.0]]), ["yield"])
    means = np.zeros((2, 1))
    given = {"training": target, "task": "regression"}
    for truth, predicted, message in (
        (target, np.zeros((2, 2)), r"shape \(2, 2\).*expected \(2, 1\)"),
        (target, np.array([[0.0], [np.nan]]), r"1 predicted means.*'yield' in labelled test example 2"),
        (target.hide([0, 1]), means, "no test example"),
        (Target.numeric(np.zeros((2, 1)), ["other"]), means, "other variables"),
    ):
        with pytest.raises(DataError, match=message):
            measure(truth, predicted, **given)
    for name, value in (("variance", "all"), ("variant", "own"), ("task", "sorting")):
        with pytest.raises(ParameterError, match=f"{name}='{value}'"):
            measure(target, means, **given | {name: value})


# -- published figures ----------------------------------------------------------------------------
