"""Ways to cut a tree, beside plain reckoning and on random data."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import omnirank as om
from omnirank.clus.cutting import cut_by_c45, cut_by_examples, cut_by_f_test, merged_alike, pessimistic_extra
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import tree_from_grown

RULES = GrowingRules(ensemble="bagging", bootstrap=False, nominal_tests="greedy", tie_break="first")


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


def all_prunings(grown, node=0):
    """Every set of leaves that a tree can be cut to."""
    yield (node,)
    if grown.feature[node] >= 0:
        for left, right in product(all_prunings(grown, node + 1), all_prunings(grown, grown.right[node])):
            yield left + right


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_other_examples_choose_the_best_of_all_cuts(seed):
    train, other = data_of_numbers(seed, 24), data_of_numbers(seed + 50, 40)
    plan, grown = grown_on(train)
    tree = tree_of(plan, grown)
    cut = tree_of(plan, cut_by_examples(plan, grown, tree, other))
    found = ((cut.means(leaves_of([cut], other.features)[:, 0])[:, 0] - other.y) ** 2).sum()
    means = node_means(grown, plan.columns, leaves_only=False)[0][:, 0]
    ends = np.array([grown.last[node] for node in range(len(grown.feature))])
    leaf = leaves_of([tree], other.features)[:, 0]
    place = grown.first[leaf]  # the rows of a leaf are those of each node above it, too
    best = np.inf
    for leaves in all_prunings(grown):
        inside = (grown.first[list(leaves)] <= place[:, None]) & (place[:, None] < ends[list(leaves)])
        best = min(best, ((means[list(leaves)][inside.argmax(axis=1)] - other.y) ** 2).sum())
    assert found == pytest.approx(best)


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


def bound(data, rows):
    counts = np.bincount(data.target.values[rows, 0].astype(int), minlength=3)
    wrong = float(len(rows) - counts.max())
    return wrong + float(pessimistic_extra(np.array([wrong]), np.array([float(len(rows))]))[0])


@pytest.mark.parametrize("seed", range(6))
def test_c45_leaves_subtrees_that_save_more_than_a_tenth_of_a_mistake(seed):
    data = data_of_classes(seed)
    plan, grown = grown_on(data)
    cut = cut_by_c45(plan, grown, tree_of(plan, grown))
    tree = tree_of(plan, cut)
    assert 1 < tree.n_nodes < len(grown.feature)
    # examples are where the tests send them, and are counted there
    leaf = leaves_of([tree], data.features)[:, 0]
    for node in np.flatnonzero(tree.is_leaf):
        assert sorted(rows_of(cut, node)) == np.flatnonzero(leaf == node).tolist()
        assert tree.weight[node] == (leaf == node).sum() > 0
    assert sorted(cut.rows) == list(range(data.n_examples))
    leaves = np.flatnonzero(tree.is_leaf)
    for node in np.flatnonzero(~tree.is_leaf):
        below = leaves[(cut.first[leaves] >= cut.first[node]) & (cut.last[leaves] <= cut.last[node])]
        assert bound(data, rows_of(cut, node)) > sum(bound(data, rows_of(cut, one)) for one in below) + 0.1


@pytest.mark.slow
def test_c45_moves_a_subtree_up():
    """The first test of this tree saves nothing: the larger branch takes its place."""
    moved = 0
    for seed in range(30):
        data = data_of_classes(seed, 120)
        plan, grown = grown_on(data)
        cut = cut_by_c45(plan, grown, tree_of(plan, grown))
        known = {tuple(sorted(rows_of(grown, node))) for node in range(len(grown.feature))}
        moved += any(tuple(sorted(rows_of(cut, node))) not in known for node in range(len(cut.feature)))
    assert moved > 0


def test_in_very_deep_trees_nothing_moves_up(monkeypatch):
    monkeypatch.setattr("omnirank.clus.cutting._DEEPEST", 0)
    for seed in range(8):
        data = data_of_classes(seed, 120)
        plan, grown = grown_on(data)
        cut = cut_by_c45(plan, grown, tree_of(plan, grown))
        known = {tuple(sorted(rows_of(grown, node))) for node in range(len(grown.feature))}
        assert all(tuple(sorted(rows_of(cut, node))) in known for node in range(len(cut.feature)))


def test_the_bounds_of_c45_are_those_of_its_book():
    """Quinlan 1993, section 4.2: U_25%(0, 6) = 0.206, (0, 9) = 0.143, (0, 1) = 0.750, (1, 16) = 0.157."""
    wrong, n = np.array([0.0, 0.0, 0.0, 1.0]), np.array([6.0, 9.0, 1.0, 16.0])
    share = (wrong + pessimistic_extra(wrong, n)) / n
    assert share[:3].round(3).tolist() == [0.206, 0.143, 0.750]
    assert share[3] == pytest.approx(0.157, abs=0.006)  # by the normal distribution


def test_a_subtree_that_predicts_other_examples_as_well_as_a_leaf_is_cut():
    train = om.Dataset([[0.0], [1.0], [2.0], [3.0]], list("aaab"))
    plan = GrowingData(train, 0).plan(GrowingRules(min_samples_leaf=1, bootstrap=False))
    grown = plan.grow(0)
    assert grown.feature[0] >= 0
    other = train.take([0, 1])
    assert cut_by_examples(plan, grown, tree_of(plan, grown), other).feature.tolist() == [-1]
