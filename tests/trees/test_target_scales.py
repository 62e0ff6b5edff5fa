"""Targets of heavy tails, outliers and unequal scales: rounding is relative to a node, not to the root."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

import omnirank as om
from omnirank.ensembles.plan import GrowingRules
from reference import trees_cases as cases
from reference import trees_growing as reference
from reference.layouts import assert_same_splits, both_plans
from reference.trees_growing import Problem

SHAPES = ("outlier", "cluster", "tail", "scales")


def shaped(rng, shape, n, n_columns):
    """Columns in which a few rows, or one column, are far larger than what the others differ by."""
    columns = np.round(rng.normal(size=(n, n_columns)), 2)
    if shape == "outlier":
        columns[rng.integers(n, size=2), 0] = 1e12, -3e6
    elif shape == "cluster":  # small differences far from 0
        columns[n // 3 :] += 2.0**33
    elif shape == "tail":
        columns = np.exp(8 * columns)
    else:
        columns[:, 0] = np.round(columns[:, 0]) * 2**20
    return columns


def problem_of(seed, shape, kind, n=40, mixed=False):
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    columns = shaped(rng, shape, n, {"one": 1}.get(kind, 3))
    if kind == "blocks":
        columns[rng.random(n) < 0.3, :1] = np.nan
    n_levels = [0, 0, 5] if mixed else [0, 0, 0]
    features = [
        cases.nominal_feature(rng, n, 5, 0.1) if size else cases.numeric_feature(rng, n, 0.1) for size in n_levels
    ]
    if shape == "cluster":  # the root finds it: where both sides have equal shares of it, a gain is below rounding
        features[0] = np.arange(n) * 1.0
    return Problem(features, n_levels, columns, np.ones(columns.shape[1]), np.ones(n)), cases.row_weights(rng, n)


@pytest.mark.every(32)
@pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
@pytest.mark.parametrize("kind", ["one", "dense", "blocks", "gram"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_tree_is_that_of_the_reference(shape, kind, random_tests):
    for seed in range(4):
        case = problem_of(seed, shape, kind)
        search = cases.settings(max_features=3 if shape == "cluster" else 2, min_leaf=1 + seed % 2)
        cases.agree(case, kind, search, seed, random_tests)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_nominal_features(shape):
    for seed in range(3):
        case = problem_of(seed, shape, "one", mixed=True)
        cases.agree(case, "one", cases.settings(), seed)


def sparse_side(rng, n, binary):
    X = (rng.random((n, 12)) < 0.3).astype(float)
    return X if binary else X * rng.integers(-3, 5, X.shape)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [{}, {"supervision": 0.4}, {"ensemble": "extra-trees"}], ids=str)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_sparse_and_dense_kernels_grow_the_same_tree(shape, n_columns, binary, rules):
    for seed in range(3):
        rng = np.random.default_rng([seed, SHAPES.index(shape)])
        X = sparse_side(rng, 150, binary)
        y = shaped(rng, shape, 150, n_columns)
        if "supervision" in rules:
            y[rng.random(150) < 0.4] = np.nan
            X[:, 0] = np.where(X[:, 0] != 0, shaped(rng, shape, 150, 1)[:, 0], 0.0)
        given = GrowingRules(normalize_targets=False, max_features="sqrt", **rules)
        task = "multi-target-regression" if n_columns > 1 else "regression"
        plans = both_plans(*(om.Dataset(cells, y, task=task) for cells in (sparse.csc_array(X), X)), given, seed)
        # a last digit of 2^33 is 1e-6 of the differences
        assert_same_splits(*(plan.grow(0) for plan in plans), rtol=1e-5)


TARGETS = {
    "one outlier among counts": lambda f, rng: np.where(np.arange(len(f)) == 7, 1e6, rng.poisson(20 * f)),
    "exponential": lambda f, rng: np.exp(6 * f),
    "one wrong price": lambda f, rng: np.where(np.arange(len(f)) == 7, 1e12, np.round(10 + 40 * f, 2)),
    "far from 0": lambda f, rng: 1e9 + np.round(f, 3),
}


@pytest.mark.parametrize("name", TARGETS)
def test_trees_are_as_large_as_those_of_scikit_learn(name):
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    y = TARGETS[name](X[:, 0], rng)
    theirs = DecisionTreeRegressor(random_state=0).fit(X, y)
    ours = om.PCTRegressor(min_samples_leaf=1, pruning=None).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), y, rtol=1e-12)
    if np.allclose(theirs.predict(X), y, rtol=1e-12):  # else it is theirs that are too small
        assert abs(ours.tree_.n_leaves - theirs.get_n_leaves()) <= 0.02 * theirs.get_n_leaves()
    assert ours.tree_.n_leaves > 0.98 * theirs.get_n_leaves()


def test_small_targets_count_beside_large_ones():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = np.column_stack([X[:, 0], 1e6 * (X[:, 1] > 0.5)])
    model = om.PCTRegressor(normalize_targets=False, min_samples_leaf=1, pruning=None).fit(X, y)
    assert np.abs(model.predict(X)[:, 0] - y[:, 0]).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "dense", "blocks", "gram"])
def test_a_constant_node_is_a_leaf_and_so_is_one_of_which_no_test_takes_anything(kind):
    rng = np.random.default_rng(0)
    X = [np.repeat([0.0, 1.0, 0.0, 1.0], 50), np.repeat([0.0, 0.0, 1.0, 1.0], 50), rng.random(200)]
    constant = np.where(X[0] > 0, 0.1, 1e9 / 3)[:, None] * np.ones(3 if kind != "one" else 1)
    problem = Problem(X, [0, 0, 0], constant, np.ones(constant.shape[1]), np.ones(200))
    weight = rng.random(200)
    assert cases.grow(problem, kind, weight, cases.settings(), 0).feature.tolist() == [0, -1, -1]
    either = np.where(X[0] == X[1], 0.1, 1e6 + 0.7)[:, None] * np.ones(3 if kind != "one" else 1)
    problem = Problem(X[:2], [0, 0], either, np.ones(either.shape[1]), np.ones(200))
    assert cases.grow(problem, kind, np.ones(200), cases.settings(), 0).feature.tolist() == [-1]


def light_side(seed, missing=0.0):
    """Label sets of rows of which some weigh 1e-7 of the others, and features that split these off, on either side."""
    rng = np.random.default_rng(seed)
    n, weight = 30, np.ones(30)
    weight[rng.choice(n, 8, replace=False)] = 2.0**-23 * rng.integers(1, 4, 8)
    columns = (rng.random((n, 9)) < 0.3).astype(float)
    light = (weight < 1) * 4.0
    features = [light + rng.integers(0, 3, n), -light + rng.integers(0, 3, n), rng.integers(0, 4, n) * 1.0]
    for cells in features:
        cells[rng.random(n) < missing] = np.nan
    return Problem(features, [0, 0, 0], columns, rng.integers(1, 4, 9) / 2, np.ones(n)), weight


@pytest.mark.slow
@pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["labels", "dense"])
def test_gains_of_light_sides_keep_their_digits(kind, missing, random_tests):
    for seed in range(5):
        problem, weight = light_side(seed, missing)
        search = cases.settings(min_leaf=2.0**-24)
        found = cases.nodes_of(cases.grow(problem, kind, weight, search, seed, random_tests), problem, random_tests)
        expected = reference.grow(problem, weight, search, seed, random_tests)
        assert [node.feature for node in found] == [node.feature for node in expected]
        np.testing.assert_allclose([node.gain for node in found], [node.gain for node in expected], rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("binary", [True, False])
def test_gains_of_light_sides_on_sparse_features(binary):
    """Features that light rows alone have, or all others."""
    for seed in range(4):
        rng = np.random.default_rng([seed, binary])
        weight = np.where(rng.random(120) < 0.2, 2.0**-23, 1.0)
        X = sparse_side(rng, 120, binary)
        X[:, 0], X[:, 1] = weight < 1, weight == 1
        labels = (rng.random((120, 40)) < 0.05 + 0.1 * (weight < 1)[:, None]).astype(int)
        rules = GrowingRules(min_samples_leaf=1e-8, bootstrap=False)
        sets = sparse.csr_array(labels)
        data = (om.Dataset(cells, sets, task="multi-label") for cells in (sparse.csc_array(X), X))
        assert_same_splits(*(plan.grow(0) for plan in both_plans(*data, rules, seed, weight)))
