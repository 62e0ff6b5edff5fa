"""The kernel for sparse features grows the trees that the one for dense codes grows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.table import Table
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees.tree import tree_from_grown
from reference.layouts import assert_same_splits, both_plans, laid_out

TARGETS = ("labels", "number", "numbers")


def sparse_features(rng, n, n_features, density, binary):
    X = np.where(rng.random((n, n_features)) < density, 1.0, 0.0)
    if not binary:
        X *= rng.integers(-2, 4, X.shape) + rng.choice([0.0, 0.5], X.shape)
    return X


def target(rng, X, kind):
    n = len(X)
    signal = X[:, :5].sum(axis=1)[:, None] + rng.normal(size=(n, 12)) * 0.5
    if kind == "number":
        return signal[:, 0] + 0.25
    if kind == "numbers":
        return signal[:, :3]
    return (signal > np.quantile(signal, 0.97, axis=0)).astype(int)


def grow_both(X, y, ensemble, seed, levels=None, weight=None, **rules):
    """Trees on the sparse table and on the same cells as a dense one."""
    thin = Table.from_sparse(sparse.csc_array(X), levels=levels)
    columns = [thin.column(i) for i in range(thin.n_columns)]
    full = Table.from_columns(thin.names, columns, thin.levels)
    settings = GrowingRules(ensemble=ensemble, **rules)
    plans = both_plans(om.Dataset(thin, y), om.Dataset(full, y), settings, seed, weight)
    return [(plan, plan.grow(0)) for plan in plans]


def assert_same_tree(sparse_side, dense_side):
    (thin_plan, thin), (full_plan, full) = sparse_side, dense_side
    assert_same_splits(thin, full, atol=1e-9)
    assert thin.missing_left.tolist() == full.missing_left.tolist()
    assert thin.depth.tolist() == full.depth.tolist()
    for node in range(len(thin.feature)):
        rows = [set(t.rows[t.first[node] : t.last[node]].tolist()) for t in (thin, full)]
        assert rows[0] == rows[1]
    a = tree_from_grown(thin, thin_plan.dataset.features)
    b = tree_from_grown(full, full_plan.dataset.features)
    np.testing.assert_allclose(a.threshold, b.threshold)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TARGETS, "extra-trees", "ties"])
@pytest.mark.parametrize("binary", [True, False])
def test_same_trees_as_dense_codes(kind, binary):
    """Ties of features that store a value in every row: their smallest value is no zero."""
    rng = np.random.default_rng([len(kind), binary])
    ensemble, rules = ("extra-trees", {"max_features": "all"}) if kind == "extra-trees" else ("random-forest", {})
    for seed in range(6):
        X = sparse_features(rng, 300, 40, 0.08, binary)
        if kind == "ties":
            X[:, :3] = rng.integers(1, 6, 300)[:, None] * [1, 1, -1]
        y = target(rng, X, {"extra-trees": "number", "ties": "numbers"}.get(kind, kind))
        sides = grow_both(X, y, ensemble, seed, **rules)
        assert (sides[0][1].feature >= 0).sum() > 5
        assert_same_tree(*sides)


@pytest.mark.slow
def test_large_nodes_and_deep_chains():
    """Many rows, so that subtrees get columns of their own, and features so rare that chains are long."""
    rng = np.random.default_rng(5)
    X = sparse_features(rng, 3000, 200, 0.01, True)
    assert_same_tree(*grow_both(X, target(rng, X, "labels"), "random-forest", 0))


@pytest.mark.slow
def test_binary_nominal_features():
    rng = np.random.default_rng(7)
    X = sparse_features(rng, 200, 20, 0.1, True)
    levels = [("no", "yes")] * 20
    thin, full = grow_both(X, target(rng, X, "labels"), "random-forest", 2, levels=levels)
    assert thin[1].feature.tolist() == full[1].feature.tolist()
    trees = [tree_from_grown(grown, plan.dataset.features) for plan, grown in (thin, full)]
    for node in np.flatnonzero(~trees[0].is_leaf):
        assert trees[0].left_levels(node) == trees[1].left_levels(node) == ("no",)


def test_missing_cells_take_the_dense_path():
    X = sparse.csc_array(np.vstack([[[0.0, 1.0], [np.nan, 0.0], [2.0, 1.0], [0.0, 3.0]], np.zeros((36, 2))]))
    plan = GrowingData(om.Dataset(X, [0.1, 0.2, 0.9, 1.3, *np.arange(36.0)]), 0).plan(GrowingRules())
    assert plan.coded.kind != "Cells"


# -- few labels and none -----------------------------------------------------------------------------------

FEW = [("labels", True, "random-forest"), ("number", False, "random-forest"), ("numbers", False, "extra-trees")]


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "binary", "ensemble"), FEW)
def test_same_trees_with_few_labels(kind, binary, ensemble, weighted):
    rng = np.random.default_rng([TARGETS.index(kind), 9])
    for seed, (w, least) in enumerate([(0.0, 0), (0.5, 0), (0.5, 3), (0.2, 2)]):
        X = sparse_features(rng, 300, 40, 0.08, binary)
        y = target(rng, X, kind).astype(float)
        y[rng.random(300) < 0.7] = np.nan
        rules = {"supervision": w, "min_labelled_leaf": least, "max_features": "sqrt"}
        sides = grow_both(X, y, ensemble, seed, weight=rng.random(300) + 0.5 if weighted else None, **rules)
        assert (sides[0][1].feature >= 0).sum() > 5
        assert_same_tree(*sides)


def test_partly_known_label_sets_of_sparse_features():
    """Labels with gaps of their own are blocks, for which features are coded in full; the trees are the same."""
    rng = np.random.default_rng(11)
    X = sparse_features(rng, 120, 20, 0.15, False)
    y = target(rng, X, "labels").astype(float)
    y[rng.random(y.shape) < 0.4] = np.nan
    y[60:] = np.nan
    plans = []
    for on_cells in (True, False):
        with laid_out(on_cells):
            plans.append(GrowingData(om.Dataset(X, y, task="multi-label"), 0).plan(GrowingRules(supervision=0.5)))
        assert plans[-1].coded.kind != "Cells"
    for i in range(3):
        assert_same_tree(*[(plan, plan.grow(i)) for plan in plans])
