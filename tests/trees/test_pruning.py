"""M5 pruning against its reference, and what a pruned tree must still be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.testing import tiny_dataset
from omnirank.trees.prototypes import column_gains
from omnirank.trees.pruning import Pruning, leaf_errors, node_errors, prune, prune_m5, without_subtrees
from reference import trees_pruning as reference
from reference.ensembles_cases import TASKS
from reference.trees_semi_supervised import problem_of

RULES = GrowingRules("bagging", bootstrap=False)


def grown_on(dataset, weight=None, rules=RULES):
    plan = GrowingData(dataset, 0, weight).plan(rules)
    return plan, plan.grow(0)


def nested(grown, node=0):
    rows = sorted(grown.rows[grown.first[node] : grown.last[node]].tolist())
    if grown.feature[node] < 0:
        return {"rows": rows, "children": []}
    return {"rows": rows, "children": [nested(grown, node + 1), nested(grown, int(grown.right[node]))]}


def reference_target(plan):
    """Clustering columns as lists, their factors, and the weights of the examples."""
    values = plan.columns.dense()[:, plan.clustering.columns]
    known = ~np.isnan(values)
    scale = plan.clustering.weights * plan.weight.sum() / (plan.weight @ known)
    return values.T.tolist(), scale.tolist(), plan.weight.tolist()


def squared_distances(grown, plan, weights):
    """E of the target in each node, by the reference, in any weights of the clustering columns."""
    values, scale, weight = reference_target(plan)
    scale = (np.array(scale) / plan.clustering.weights * weights).tolist()
    rows = [grown.rows[first:last].tolist() for first, last in zip(grown.first, grown.last, strict=True)]
    return np.array([reference.squared_distance(own, values, scale, weight) for own in rows])


def noisy(n=80, seed=0, n_targets=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    Y = (X[:, :1] > 0) + rng.normal(scale=0.7, size=(n, n_targets))
    return X, Y


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("task", TASKS)
def test_agrees_with_the_reference(task, penalty):
    plan, grown = grown_on(tiny_dataset(task), rules=replace(RULES, min_samples_leaf=1))
    pruned = prune_m5(grown, node_errors(grown, plan.columns, plan.clustering, plan.weight), penalty)
    assert nested(pruned) == reference.prune(nested(grown), *reference_target(plan), penalty)


@draws(8)
@given(seed=st.integers(0, 10_000), penalty=st.sampled_from([0.5, 1.0, 2.0]), unknown=st.booleans())
def test_agrees_with_the_reference_on_random_data(seed, penalty, unknown):
    rng = np.random.default_rng(seed)
    X, Y = noisy(40, seed)
    if unknown:
        Y[rng.random(Y.shape) < 0.3] = np.nan
        X, Y = X[~np.isnan(Y).all(axis=1)], Y[~np.isnan(Y).all(axis=1)]
    plan, grown = grown_on(om.Dataset(X, Y), rng.integers(1, 4, len(X)).astype(float))
    pruned = prune_m5(grown, node_errors(grown, plan.columns, plan.clustering, plan.weight), penalty)
    assert nested(pruned) == reference.prune(nested(grown), *reference_target(plan), penalty)


def test_trees_are_pruned_in_the_space_in_which_they_are_grown():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4)).round(1)
    X[:, 1:] += 2 * (X[:, :1] > 0)
    data = om.Dataset(X, X[:, 0] + rng.normal(size=60)).keep_labels(15, random_state=0)
    plan, grown = grown_on(data, rules=replace(RULES, supervision=0.5, min_samples_leaf=3))
    pruned = prune_m5(grown, node_errors(grown, plan.columns, plan.clustering, plan.weight, plan.feature_part))
    problem = problem_of(data, 0.5, plan.weight)
    target = problem.columns.T.tolist(), problem.scale.tolist(), plan.weight.tolist()
    assert nested(pruned) == reference.prune(nested(grown), *target, 2.0)
    assert 1 < (pruned.feature < 0).sum() < (grown.feature < 0).sum()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("block", [1, 64], ids=["column by column", "at once"])
def test_gains_of_the_columns_add_up_to_those_of_the_tests(task, block, monkeypatch):
    monkeypatch.setattr("omnirank.trees.prototypes._BLOCK", block)
    dataset = tiny_dataset(task)
    weight = np.random.default_rng(0).integers(1, 4, dataset.n_examples).astype(float)
    plan, grown = grown_on(dataset, weight, replace(RULES, min_samples_leaf=1))
    found = [gains.sum(axis=1) for _, gains in column_gains(grown, plan.columns, plan.clustering, plan.weight)]
    inner = grown.feature >= 0
    assert inner.any()
    np.testing.assert_allclose(sum(found), grown.gain[inner], atol=1e-9 * weight.sum())


@pytest.mark.slow
@pytest.mark.parametrize("task", ["multi-label", "hierarchical-multi-label"])
@pytest.mark.parametrize("w", [1.0, 0.5])
def test_labels_as_they_are(task, w):
    """Pruned in the space of labels that are not divided by their variances; features count as they did."""
    tiny = tiny_dataset(task)
    X = np.random.default_rng(1).normal(size=(tiny.n_examples, 3))
    dataset = om.Dataset(X, tiny.target, task=task, hierarchy=tiny.hierarchy)
    if w < 1:
        dataset = dataset.keep_labels(0.6, random_state=0)
    rules = replace(RULES, min_samples_leaf=3, supervision=w)
    plan, grown = grown_on(dataset, rules=rules)
    variance, alpha = plan.columns.variance, plan.columns.weights[plan.columns.variable]
    own = plan.clustering.columns
    weights = alpha[own] * (plan.clustering.weights @ variance[own]) / (alpha[own] @ variance[own])
    target = (plan.columns, plan.clustering, plan.weight)
    features = node_errors(grown, *target, plan.feature_part) - squared_distances(grown, plan, plan.clustering.weights)
    errors = features + squared_distances(grown, plan, weights)
    expected = nested(prune_m5(grown, np.maximum(errors, 0.0), 0.3))
    assert nested(prune(grown, Pruning(0.3, plain=True), *target, plan.feature_part)) == expected
    other = nested(prune_m5(grown, node_errors(grown, *target, plan.feature_part), 0.3))
    assert nested(prune(grown, Pruning(0.3), *target, plan.feature_part)) == other
    assert other != expected or task != "multi-label"


@pytest.mark.slow
def test_rare_labels_do_not_keep_common_ones_from_being_split():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    rare = rng.random((120, 30)) < 0.02
    Y = np.column_stack([X[:, 0] > 0, rare]).astype(int)
    sizes = {p: om.PCTClassifier(pruning=p, random_state=0).fit(X, Y).tree_.n_leaves for p in ("auto", "m5")}
    assert sizes["m5"] == 1 < sizes["auto"] < 20


@pytest.mark.slow
@pytest.mark.parametrize("sparse_labels", [False, True])
def test_errors_of_leaves(sparse_labels):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    Y = (rng.random((60, 20 if sparse_labels else 3)) < 0.05 + 0.2 * (X[:, :1] > 0)).astype(int)
    Y[0] = 1
    plan, grown = grown_on(om.Dataset(X, sparse.csr_array(Y) if sparse_labels else Y, task="multi-label"))
    assert plan.columns.is_sparse == sparse_labels
    found = leaf_errors(grown, plan.columns, plan.clustering, plan.weight)
    expected = [
        reference.squared_distance(leaf["rows"], *reference_target(plan)) for leaf in reference.leaves(nested(grown))
    ]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_root_error_is_the_impurity_of_the_training_set(weighted):
    rng = np.random.default_rng(3)
    X, y = noisy()
    y = np.column_stack([y, np.where(rng.random(len(y)) < 0.4, np.nan, rng.normal(size=len(y)))])
    weight = rng.integers(1, 6, len(y)) / 2 if weighted else None
    plan = GrowingData(om.Dataset(X, y), 0, weight).plan(RULES)
    errors = node_errors(plan.grow(0), plan.columns, plan.clustering, plan.weight)
    assert errors[0] == pytest.approx(plan.weight.sum())  # normalised targets: impurity 1 an example


def test_a_pruned_tree_is_a_tree_in_preorder():
    _, grown = grown_on(om.Dataset(*noisy()))
    rng = np.random.default_rng(0)
    marked = (grown.feature < 0) | (rng.random(len(grown.feature)) < 0.2)
    marked[0] = False
    pruned = without_subtrees(grown, marked)
    assert 1 < len(pruned.feature) < len(grown.feature)
    inner = np.flatnonzero(pruned.feature >= 0)
    leaf = pruned.feature < 0
    np.testing.assert_array_equal(pruned.first[inner], pruned.first[inner + 1])
    np.testing.assert_array_equal(pruned.last[inner + 1], pruned.first[pruned.right[inner]])
    np.testing.assert_array_equal(pruned.last[inner], pruned.last[pruned.right[inner]])
    np.testing.assert_array_equal(pruned.depth[inner] + 1, pruned.depth[inner + 1])
    assert pruned.weight[leaf].sum() == pytest.approx(grown.weight[0])
    assert (pruned.gain[leaf] == 0).all()


def test_prunes_noise_and_keeps_structure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    clear = np.where(X[:, 0] > 0, 1.0, -1.0) + rng.normal(scale=0.3, size=300)
    assert om.PCTRegressor(random_state=0).fit(X, clear).get_n_leaves() in range(2, 12)
    noise = rng.normal(size=300)
    assert om.PCTRegressor(random_state=0).fit(X, noise).get_n_leaves() < 15
    assert om.PCTRegressor(random_state=0, pruning=None).fit(X, noise).get_n_leaves() > 100


def test_a_larger_penalty_prunes_more():
    X, Y = noisy(200)
    sizes = [om.PCTRegressor(pruning=p, random_state=0).fit(X, Y).tree_.n_nodes for p in (None, 0, 1, 2, 8)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[3] == om.PCTRegressor(pruning="m5", random_state=0).fit(X, Y).tree_.n_nodes


@pytest.mark.parametrize("wrong", ["m6", -1.0, True])
def test_refuses_unknown_pruning(wrong):
    with pytest.raises(ValueError, match="pruning="):
        om.PCTRegressor(pruning=wrong).fit(*noisy())
