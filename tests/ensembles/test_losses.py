"""Errors of trees: which there are, and what they do with what is unknown."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import omnirank as om
from omnirank.ensembles.errors import ErrorGrowth, _MeasureErrors, error_measure
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import ERRORS, check_error, out_of_bag, relative_growth
from omnirank.errors import ParameterError
from omnirank.measures.labels import area_from_counts, auprc
from omnirank.tasks.measuring import measure_of, measures_of
from omnirank.testing import tiny_dataset


@pytest.mark.parametrize("error", ERRORS)
def test_errors_know_their_tasks(error):
    tasks = ("classification", "multi-target-classification", "regression", "multi-target-regression")
    tasks += ("multi-label", "hierarchical-multi-label", "mixed-targets")
    for task in tasks:
        if task in ERRORS[error] or error in [one.name for one in measures_of(task)]:
            check_error(error, task)
        else:
            with pytest.raises(ParameterError, match=f"not for {task}"):
                check_error(error, task)
    check_error(error)


def test_unknown_errors_are_refused():
    with pytest.raises(ParameterError, match="auto, accuracy, rrmse, auprc"):
        check_error("msre")
    with pytest.raises(ParameterError, match="f1_macro"):
        check_error("mae", "classification")
    plan = GrowingData(tiny_dataset("regression"), 0).plan(GrowingRules())
    with pytest.raises(ParameterError, match="permutation_error='mae' has no errors by target"):
        error_measure(plan, "mae", per_target=True)


@pytest.mark.parametrize(
    ("task", "error"),
    [("classification", "accuracy"), ("multi-target-regression", "rrmse"), ("hierarchical-multi-label", "auprc")],
)
@pytest.mark.parametrize("level", [1.0, 0.5])
def test_any_measure_agrees_with_errors_of_their_own_kernels(task, error, level):
    data = tiny_dataset(task)
    if level < 1:
        data = data.hide_labels(np.arange(data.n_examples) % 4 == 0)
    plan = GrowingData(data, 3).plan(GrowingRules(supervision=level))
    counts = plan.counts(0)
    case = out_of_bag(plan, plan.grow(0, counts), counts, 0)
    fast = error_measure(plan, error).growth(case)
    assert fast.growth.any()
    found = _MeasureErrors(plan, measure_of(task, {"auprc": "pooled_auprc"}.get(error, error))).growth(case)
    np.testing.assert_allclose(relative_growth(found).row, relative_growth(fast).row, atol=1e-12)


def test_trees_of_undefined_measures_are_left_out():
    X, y = np.random.default_rng(0).normal(size=(2, 60, 3))
    found = om.EnsembleRanker("permutation", permutation_error="r2", n_trees=20, random_state=0).fit(
        X, y[:, 0] + X[:, 0]
    )
    assert 0 < found.n_undefined_ < 20
    assert np.isfinite(found.ranking_.scores).all()


@pytest.mark.parametrize("task", ["regression", "classification", "multi-label", "mixed-targets"])
def test_the_error_before_is_that_of_the_task(task):
    """The error of the single tree on its out-of-bag rows, by the task's own definition."""
    from omnirank.tasks import get_task
    from omnirank.trees.prototypes import node_means
    from omnirank.trees.tree import routing_matrix, tree_from_grown

    data = tiny_dataset(task)
    plan = GrowingData(data, 3).plan(GrowingRules())
    counts = plan.counts(0)
    grown = plan.grow(0, counts)
    found = error_measure(plan).growth(out_of_bag(plan, grown, counts, 0))
    rows = np.flatnonzero(counts == 0)
    leaves = tree_from_grown(grown, data.features).apply(routing_matrix(data.features))[rows]
    means, node_row = node_means(grown, plan.columns)
    truth = get_task(task).columns(data.take(rows).target, data.hierarchy)
    assert found.before == pytest.approx(get_task(task).error(truth, means[node_row[leaves]], plan.columns))


def test_growth_relative_to_no_error_is_zero():
    growth = np.array([0.5, 0.0])
    scores, _, undefined, _ = relative_growth(ErrorGrowth(0.0, growth))
    assert scores.tolist() == [0.0, 0.0]
    assert undefined
    assert not relative_growth(ErrorGrowth(0.0, np.zeros(2))).undefined
    found = relative_growth(ErrorGrowth(1.0, growth, np.array([0.0, 2.0]), np.array([[1.0, 1.0], [1.0, 0.0]])))
    assert found[1].tolist() == [[0.0, 0.0], [0.5, 0.0]]


# -- areas under precision-recall curves --------------------------------------------------------------------


def test_area_of_known_cases():
    assert auprc(np.array([1, 1, 0, 0]), np.array([4.0, 3.0, 2.0, 1.0])) == 1.0
    assert auprc(np.array([1, 0, 0, 0]), np.ones(4)) == 0.25
    # from (TP, FP) = (5, 5) to (10, 30), P = 20: precision 6/16, 7/22, 8/28, 9/34 at recall 0.30 to 0.45
    through = [0.5, 6 / 16, 7 / 22, 8 / 28, 9 / 34, 10 / 40]
    segment = sum((a + b) / 2 / 20 for a, b in pairwise(through))
    expected = 5 / 20 * 0.5 + segment + 10 / 20 * 0.25
    assert area_from_counts([5, 5, 10], [10, 30, 40]) == pytest.approx(expected)
