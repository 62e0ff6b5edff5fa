"""Leaves that predict the same, on random data."""

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.clus.models import merged_alike
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import tree_from_grown


@pytest.mark.parametrize("seed", range(3))
def test_leaves_that_predict_the_same_are_merged_and_nothing_else_changes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2)).round(2)
    table = pd.DataFrame(X).assign(c=pd.Categorical.from_codes(rng.integers(0, 3, 80), list("uvw")))
    y = np.where(rng.random(80) < 0.25, rng.integers(0, 3, 80), (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5))
    data = om.Dataset(table, np.array(list("xyz"))[y])
    plan = GrowingData(data, 0).plan(GrowingRules(ensemble="bagging", bootstrap=False, tie_break="first"))
    grown = plan.grow(0)

    def tree_and_leaves(grown):
        tree = tree_from_grown(grown, data.features, *node_means(grown, plan.columns))
        return tree, tree.means(leaves_of([tree], data.features)[:, 0]).argmax(axis=1)

    before, predicted = tree_and_leaves(grown)
    after, still_predicted = tree_and_leaves(merged_alike(plan, grown))
    assert (predicted == still_predicted).all()
    assert after.n_nodes < before.n_nodes
    for node in np.flatnonzero(after.feature >= 0):
        left, right = node + 1, int(after.right[node])
        if after.is_leaf[left] and after.is_leaf[right]:
            assert np.diff(after.means(np.array([left, right])).argmax(axis=1)) != 0
