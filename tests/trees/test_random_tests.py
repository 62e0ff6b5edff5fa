"""Extra trees draw admissible tests: among the thresholds and sets of levels that leave enough on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.table import Table
from omnirank.ensembles.plan import GrowingData, GrowingRules
from reference.layouts import laid_out

N_TREES = 300
LEAST = 5


def thresholds(X, y, on_cells=False, **rules):
    """Threshold of the root in many trees of one feature, NaN where it is a leaf."""
    rules = {"ensemble": "extra-trees", "bootstrap": False, "min_samples_leaf": LEAST, "max_depth": 1} | rules
    with laid_out(on_cells=on_cells):
        plan = GrowingData(om.Dataset(X, y), 0).plan(GrowingRules(**rules))
    trees = [plan.grow(i) for i in range(N_TREES)]
    return np.array([tree.drawn[0] if tree.feature[0] >= 0 else np.nan for tree in trees])


@pytest.mark.parametrize("skew", ["lognormal", "one-far", "both-far"])
def test_skewed_features_split_in_every_tree(skew):
    rng = np.random.default_rng(1)
    x = rng.lognormal(0, 2, 200) if skew == "lognormal" else rng.normal(size=200)
    if skew != "lognormal":
        x[0] = 1e6
    if skew == "both-far":
        x[1:3] = -1e9
    found = thresholds(x[:, None], rng.normal(size=200))
    inner = np.sort(x)
    assert inner[LEAST - 1] <= found.min() <= found.max() < inner[-LEAST]


@pytest.mark.slow
@pytest.mark.parametrize("on_cells", [False, True])
def test_admissible_thresholds_are_uniform(on_cells):
    """Ends far off make most first draws inadmissible; the draws that replace them are still uniform."""
    x = np.concatenate([np.linspace(1, 11, 101), [-1e4, -50, 0, 0, 200, 300, 1e6]])
    found = thresholds(sparse.csc_array(x[:, None]) if on_cells else x[:, None], np.sin(x), on_cells)
    low, high = np.sort(x)[LEAST - 1], np.sort(x)[-LEAST]
    assert ((found >= low) & (found < high)).all()
    counts = np.histogram(found, bins=5, range=(low, high))[0]
    assert abs(counts - N_TREES / 5).max() < 5 * np.sqrt(N_TREES / 5)


@pytest.mark.parametrize("y", [[9, 0, 0, 0, 0, 0, 9, 9, 9, 9], [0, 0, 0, 0, 0, 9, 9, 9, 9, 9]])
def test_each_way_of_missing_values_has_thresholds_of_its_own(y):
    """Six known values, four missing: left they need one known value more, right one too."""
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1e9, *[np.nan] * 4])
    found = thresholds(x[:, None], np.array(y, float))
    expected = (0, 1) if y[0] else (4, 1e9)
    assert ((found >= expected[0]) & (found < expected[1])).all()


@pytest.mark.slow
def test_no_threshold_where_none_is_admissible():
    x = np.array([0.0, *[1.0] * 20, 2.0])
    assert np.isnan(thresholds(x[:, None], np.arange(22.0))).all()


@pytest.mark.slow
def test_levels_are_moved_until_both_sides_are_heavy_enough():
    """A level of 60 among 40 that are rare: the only admissible sets are the large level and the others."""
    codes = np.array([0] * 60 + list(range(1, 41)), np.int32)
    table = Table.from_columns(["x"], [codes], [tuple(range(41))])
    rules = GrowingRules(ensemble="extra-trees", bootstrap=False, min_samples_leaf=40, max_depth=1)
    plan = GrowingData(om.Dataset(table, np.arange(100.0)), 0).plan(rules)
    for i in range(20):
        tree = plan.grow(i)
        assert tree.feature[0] == 0
        assert sorted(tree.weight[1:].tolist()) == [40.0, 60.0]


def test_moved_levels_are_random():
    codes = np.repeat(np.arange(30, dtype=np.int32), 2)
    table = Table.from_columns(["x"], [codes], [tuple(range(30))])
    rules = GrowingRules(ensemble="extra-trees", bootstrap=False, min_samples_leaf=26, max_depth=1)
    plan = GrowingData(om.Dataset(table, np.random.default_rng(0).normal(size=60)), 0).plan(rules)
    left = np.zeros(30)
    for i in range(N_TREES):
        tree = plan.grow(i)
        assert tree.feature[0] == 0
        left[np.unique(codes[tree.rows[tree.first[1] : tree.last[1]]])] += 1
    assert abs(left - N_TREES / 2).max() < 5 * np.sqrt(N_TREES / 4)
