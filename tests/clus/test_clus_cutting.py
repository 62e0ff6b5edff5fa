"""Ways to cut a tree, beside plain reckoning and on random data."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import omnirank as om
from omnirank.clus.cutting import cut_by_f_test, merged_alike
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import tree_from_grown

RULES = GrowingRules(ensemble="bagging", bootstrap=False, tie_break="first")


def features(rng, n):
    X = rng.normal(size=(n, 3)).round(2)
    return X, pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "c": pd.Categorical.from_codes(rng.integers(0, 3, n), list("uvw"))}
    )


def data_of_classes(seed, n=80):
    rng = np.random.default_rng(seed)
    X, table = features(rng, n)
    y = np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5))
    return om.Dataset(table, np.array(list("xyz"))[y])


def data_of_numbers(seed, n=60):
    rng = np.random.default_rng(seed)
    X, table = features(rng, n)
    return om.Dataset(table, X[:, 0] + 2 * (X[:, 1] > 0) + rng.normal(size=n))


def grown_on(dataset):
    plan = GrowingData(dataset, 0).plan(RULES)
    return plan, plan.grow(0)


def tree_of(plan, grown):
    return tree_from_grown(grown, plan.dataset.features, *node_means(grown, plan.columns))


def rows_of(grown, node):
    return grown.rows[grown.first[node] : grown.last[node]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_f_test_keeps_the_tests_that_an_analysis_of_variance_finds_significant(seed):
    data = data_of_numbers(seed)
    plan, grown = grown_on(data)
    cut = cut_by_f_test(plan, grown, 0.05)
    assert cut_by_f_test(plan, grown, 1.0) is grown
    y = data.y
    significant = {}
    for node in np.flatnonzero(grown.feature >= 0):
        left, right = (y[rows_of(grown, child)] for child in (node + 1, grown.right[node]))
        significant[tuple(sorted(rows_of(grown, node)))] = stats.f_oneway(left, right).pvalue < 0.05
    for node in range(len(cut.feature)):
        rows = tuple(sorted(rows_of(cut, node)))
        assert (cut.feature[node] >= 0) == significant.get(rows, False)


def test_a_node_of_two_examples_is_never_significant():
    plan = GrowingData(om.Dataset([[1.0], [2.0]], [0.5, 9.5]), 0).plan(
        GrowingRules(min_samples_leaf=1, bootstrap=False)
    )
    assert len(cut_by_f_test(plan, plan.grow(0), 0.9).feature) == 1


def predicted(tree, nodes):
    return tree.means(nodes).argmax(axis=1)


@pytest.mark.parametrize("seed", range(4))
def test_leaves_that_predict_the_same_are_merged_and_nothing_else_changes(seed):
    data = data_of_classes(seed)
    plan, grown = grown_on(data)
    before, merged = tree_of(plan, grown), merged_alike(plan, grown)
    after = tree_of(plan, merged)
    for node in np.flatnonzero(after.feature >= 0):
        left, right = node + 1, int(after.right[node])
        if after.is_leaf[left] and after.is_leaf[right]:
            assert predicted(after, np.array([left])) != predicted(after, np.array([right]))
    reached = [leaves_of([tree], data.features)[:, 0] for tree in (before, after)]
    assert (predicted(before, reached[0]) == predicted(after, reached[1])).all()
    assert after.n_nodes < before.n_nodes
