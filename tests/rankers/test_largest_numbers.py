"""Numbers near the largest float: no warning, no infinite score, the same order as of smaller numbers."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.registry import methods
from omnirank.data.notes import find_traps
from omnirank.data.table import Table
from omnirank.evaluation.significance import copies_p_values

HUGE = 2.0**1023
N = 60


def data():
    """One feature of huge numbers; the target has noise, so that none is a leak."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    X[:, 0] *= 2.0**-2
    return X, y


def huge(X):
    X = X.copy()
    X[:, 0] *= HUGE
    return X


@pytest.mark.every(3)
@pytest.mark.parametrize("name", [m.name for m in methods() if "supervised" in m.supervision and m.name != "random"])
def test_every_method_ranks_huge_numbers_like_others(name):
    X, y = data()
    ranker = om.make_ranker(name)
    if "classification" not in type(ranker).supported_tasks:
        y = X[:, 0] + X[:, 1]
        y = y + np.random.default_rng(1).normal(size=N)
    if "random_state" in ranker.get_params(deep=False):
        ranker.set_params(random_state=0)
    usual, found = ranker.fit(X, y).ranking_, ranker.fit(huge(X), y).ranking_
    if name == "variance":
        assert found.top(1) == ["x0"]
        assert np.isfinite(found.scores).all()
    else:
        np.testing.assert_allclose(found.scores, usual.scores, rtol=1e-9, atol=1e-12)


def test_huge_numbers_are_neither_running_nor_identifiers():
    columns = np.column_stack([np.where(np.arange(N) % 2, HUGE, -HUGE), np.linspace(-1, 1, N) * HUGE])
    assert find_traps(Table.from_numeric(columns, names=["id", "b"]), None) == ()


def test_huge_whole_numbers_that_all_differ_are_still_seen_by_their_name():
    columns = np.random.default_rng(0).permuted(np.linspace(-1, 1, N) * HUGE)[:, None]
    assert [trap.kind for trap in find_traps(Table.from_numeric(columns, names=["id"]), None)] == ["identifier"]


@pytest.mark.parametrize("power", [-900, 900])
def test_p_values_do_not_depend_on_the_unit_of_scores(power):
    rng = np.random.default_rng(0)
    copies, scores = rng.normal(size=(25, 6)), rng.normal(size=(25, 6)) + np.array([3, 0, 0, 0, 0, 0])
    kinds = ["numbers"] * 6
    usual = copies_p_values(scores, copies, kinds)
    np.testing.assert_array_equal(copies_p_values(scores * 2.0**power, copies * 2.0**power, kinds), usual)


def test_one_feature_of_huge_scores_takes_no_p_value_from_others():
    rng = np.random.default_rng(0)
    copies, scores = rng.normal(size=(25, 6)), rng.normal(size=(25, 6)) + np.array([0, 9, 0, 0, 0, 0])
    scale = np.array([2.0**1000, 1, 1, 1, 1, 1])
    found = copies_p_values(scores * scale, copies * scale, ["numbers"] * 6)
    assert found[1] < 0.01
    assert np.isfinite(found).all()


def test_huge_targets_are_evaluated():
    X, _ = data()
    y = np.linspace(-1, 1, N) * HUGE
    usual = om.evaluate(np.ones(4), om.Dataset(X, y / HUGE), om.Dataset(X, y / HUGE), 5)
    found = om.evaluate(np.ones(4), om.Dataset(X, y), om.Dataset(X, y), 5)
    assert found["rrmse"] == pytest.approx(usual["rrmse"])


def test_significance_of_the_variance_of_huge_numbers():
    X, _ = data()
    found = om.significance(om.DispersionRanker("variance"), huge(X), random_state=0, n_rounds=3)
    assert np.isfinite(found.p_values).all()
