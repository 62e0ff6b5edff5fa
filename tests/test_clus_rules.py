"""The rules of CLUS's semi-supervised trees, as the benchmark applies them to ours."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.bench_clus_few_labels import LEAST, level_of_clus, stopped

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees.pruning import without_subtrees


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_trees_are_cut_where_few_are_labelled_or_all_have_the_same_target(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] if task == "regression" else np.array(["a", "b"], object)[(X[:, 0] > 0).astype(int)]
    data = om.Dataset(X, y, task=task).keep_labels(30, random_state=0)
    grown = GrowingData(data, 0).plan(GrowingRules(supervision=0.5)).grow(0)
    expected = np.zeros(len(grown.feature), bool)
    values = data.target.dense()[:, 0]
    for node in range(len(expected)):
        place = slice(grown.first[node], grown.last[node])
        rows = grown.rows[place].astype(int)
        known = data.labelled[rows]
        few = grown.row_weight[place][known].sum() < 2 * LEAST
        expected[node] = few or len(np.unique(values[rows][known])) == 1 or grown.feature[node] < 0
    np.testing.assert_array_equal(stopped(grown, data), expected)
    cut = without_subtrees(grown, stopped(grown, data))
    assert len(cut.feature) < len(grown.feature)


def test_classes_count_by_the_share_that_is_known():
    data = om.Dataset(np.arange(10.0)[:, None], list("ab") * 5).keep_labels(2, random_state=0)
    assert level_of_clus(data, 0.5) == pytest.approx(1 / 6)
    assert level_of_clus(data, 0.0) == 0
    numbers = om.Dataset(np.arange(10.0)[:, None], np.arange(10.0), task="regression").keep_labels(2, random_state=0)
    assert level_of_clus(numbers, 0.5) == 0.5
