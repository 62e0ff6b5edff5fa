"""Trees grown node by node, against those that are grown at once."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.seeds import kernel_seed
from omnirank.ensembles.plan import GrowingData, GrowingRules, features_per_node
from omnirank.relational.candidate_tables import CandidateTables
from omnirank.relational.growing import NodeRules, grow_tree
from tests.relational.plain import PlainConstruction


def assert_same_tree(plan, i, rules=NodeRules()):
    """Tree i of a plan, grown at once and node by node."""
    counts = plan.counts(i)
    expected = plan.coded.grow(plan.space, counts, plan.settings, kernel_seed(plan.entropy, i))
    tables = CandidateTables(PlainConstruction(plan.dataset.features))
    found = grow_tree(tables, plan.space, counts, plan.settings, kernel_seed(plan.entropy, i), rules)
    grown = found.grown
    numbers = np.array([feature.number for feature in found.features] + [-1])
    np.testing.assert_array_equal(numbers[grown.feature], expected.feature)
    for name in ("right", "missing_left", "gain", "weight", "depth", "first", "last", "subsets", "rows", "row_weight"):
        np.testing.assert_array_equal(getattr(grown, name), getattr(expected, name), err_msg=name)
    inner = expected.feature >= 0
    np.testing.assert_array_equal(grown.cut[inner], expected.cut[inner])
    return found, expected


@pytest.mark.parametrize("sample", ["iris", "linnerud", "digits"])
def test_tree_of_one_table(sample):
    data = om.datasets.load_sample(sample)
    plan = GrowingData(data, 3).plan(GrowingRules(ensemble="bagging"))
    for i in range(3):
        assert_same_tree(plan, i)
