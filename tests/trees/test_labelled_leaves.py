"""``min_labelled_leaf``: a child has no labelled examples or at least so many; one rule for both growing kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.core.seeds import kernel_seed
from omnirank.data.table import Table
from omnirank.ensembles.plan import GrowingData, GrowingRules
from reference import trees_cases
from reference import trees_growing as reference
from reference.layouts import both_plans, laid_out
from reference.trees_semi_supervised import problem_of

# the refusal of all splits is what some of these data are made for
pytestmark = [
    pytest.mark.filterwarnings("ignore:no split is admissible:UserWarning"),
    pytest.mark.filterwarnings("ignore:extra trees without bootstrap:UserWarning"),
]


def sparse_cells(rng, n, binary=False):
    X = np.where(rng.random((n, 6)) < 0.3, rng.integers(1, 4, (n, 6)), 0.0)
    return (X > 0).astype(float) if binary else X


def grown_both(X, y, ensemble, w, least, seed=0, weight=None):
    """Trees of both kernels and of the reference on the same cells."""
    rules = GrowingRules(
        ensemble, bootstrap=False, max_features="all", min_samples_leaf=1, supervision=w, min_labelled_leaf=least
    )
    data = om.Dataset(Table.from_numeric(X), y)
    plans = both_plans(data, data, rules, seed, weight)
    full = plans[1]
    problem = problem_of(full.dataset, w, full.weight, least)
    random_tests = ensemble == "extra-trees"
    expected = reference.grow(problem, full.weight, full.settings, kernel_seed(seed, 0), random_tests)
    return problem, random_tests, expected, [(plan, plan.grow(0)) for plan in plans]


def labelled_in_leaves(plan, grown):
    known = plan.columns.labelled[grown.rows] * grown.row_weight
    leaves = np.flatnonzero(grown.feature < 0)
    return np.array([known[grown.first[i] : grown.last[i]].sum() for i in leaves])


@pytest.mark.slow
@pytest.mark.parametrize("ensemble", ["bagging", "extra-trees"])
@draws(4)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1, 2, 3, 5, 10]), st.sampled_from([0.0, 0.5]))
def test_both_kernels_follow_the_rule_of_the_reference(ensemble, seed, n_labelled, least, w):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(14, 40))
    X, y = sparse_cells(rng, n), rng.normal(size=n)
    y[rng.permutation(n)[n_labelled:]] = np.nan
    weight = rng.integers(1, 5, n) / 2 if rng.random() < 0.5 else None
    problem, random_tests, expected, found = grown_both(X, y, ensemble, w, least, seed % 100, weight)
    for plan, grown in found:
        if plan.coded.kind != "Cells":
            trees_cases.assert_same(trees_cases.nodes_of(grown, problem, random_tests), expected)
        assert grown.feature.tolist() == [-1 if node.feature is None else node.feature for node in expected]
        np.testing.assert_allclose(grown.gain, [node.gain for node in expected], rtol=1e-7, atol=1e-9)
        if len(grown.feature) > 1:
            in_leaves = labelled_in_leaves(plan, grown)
            assert ((in_leaves == 0) | (in_leaves >= least - 1e-9)).all()


@pytest.mark.slow
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("ensemble", ["random-forest", "extra-trees"])
def test_fewer_labelled_examples_than_a_leaf_needs(ensemble, binary):
    """Six labelled examples are neither none nor ten, wherever a split sends them."""
    rng = np.random.default_rng(4)
    X = sparse_cells(rng, 80, binary)
    y = np.where(np.arange(80) < 6, rng.normal(size=80), np.nan)
    scores = []
    for on_cells in (True, False):
        rules = {"n_trees": 4, "supervision": 0.5, "min_labelled_leaf": 10, "random_state": 0}
        ranker = om.EnsembleRanker("genie3", ensemble, **rules)  # the default has credit at the root without any split
        with laid_out(on_cells):
            scores.append(ranker.fit(X, y).feature_importances_)
    assert not np.any(scores)


@pytest.mark.slow
def test_a_target_of_which_nothing_is_known_is_predicted_as_0():
    y = np.column_stack([np.arange(8.0), np.full(8, np.nan)])
    assert not om.PCTRegressor().fit(y[:, :1], y).predict(y[:, :1])[:, 1].any()


@pytest.mark.slow
def test_a_split_that_keeps_enough_labelled_examples_together_is_admissible():
    """Five labelled rows, at least three a leaf: both sides cannot have three, but one may have all five."""
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = np.concatenate([np.arange(5) + 0.5, np.full(15, np.nan)])
    for on_cells in (True, False):
        for least, splits in ((3, True), (5, True), (6, False)):
            rules = GrowingRules("bagging", bootstrap=False, supervision=0.5, min_labelled_leaf=least)
            with laid_out(on_cells):
                grown = GrowingData(om.Dataset(X, y), 0).plan(rules).grow(0)
            assert (grown.feature[0] >= 0) == splits
