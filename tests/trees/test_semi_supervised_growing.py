"""Trees with few labels or none: normalisation, spaces and kernels together against the reference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from omnirank.core.seeds import kernel_seed
from omnirank.data.target import Target
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees import layout
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.partial_targets import DenseBlocks, TwoParts
from omnirank.trees.kernels.spaces import GramColumns
from reference import ensembles_cases, trees_cases
from reference import trees_growing as reference
from reference.trees_semi_supervised import problem_of

pytestmark = pytest.mark.filterwarnings("ignore:extra trees without bootstrap:UserWarning")
few = draws(1)


@pytest.fixture(autouse=True, scope="module")
def products_for_small_data():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_LEAST_GRAM_COLUMNS", 0)
        yield


LEVELS = (0.0, 0.3, 1.0)


def complete(dataset, rng, more=1):
    """The same target with features that lack no cell, more of them than examples (or as many as asked for)."""
    n = dataset.n_examples
    frame = pd.DataFrame(rng.normal(size=(n, n if more else 4)).round(1)).add_prefix("x")
    frame["kind"] = pd.Categorical(rng.choice(list("abcd"), n), categories=list("abcd"))
    return om.Dataset(frame, dataset.target, task=dataset.task, hierarchy=dataset.hierarchy)


def agree(dataset, w, weight=None, min_labelled=0.0, feature_weights=None, seed=0, ensemble="bagging", **rules):
    """Grow one tree by the package and by the reference, and compare them; returns the plan and the tree."""
    if w == 1 and dataset.target is not None:
        weight = None if weight is None else weight[dataset.labelled]
        dataset = dataset.take(dataset.labelled)
    growing = GrowingRules(
        ensemble, bootstrap=False, supervision=w, min_labelled_leaf=min_labelled, **({"max_features": "all"} | rules)
    )
    plan = GrowingData(dataset, seed, weight, feature_weights=feature_weights).plan(growing)
    grown = plan.grow(0)
    problem = problem_of(dataset, w, plan.weight, min_labelled, feature_weights)
    random_tests = ensemble == "extra-trees"
    expected = reference.grow(problem, plan.weight, plan.settings, kernel_seed(seed, 0), random_tests)
    trees_cases.assert_same(trees_cases.nodes_of(grown, problem, random_tests), expected)
    return plan, grown


def few_labels(rng, task, n, share=0.5):
    """A data set of which some examples, at least two with different targets, are labelled."""
    data = ensembles_cases.random_dataset(rng, task, n)
    hidden = rng.random(n) < share
    hidden[:4] = False
    return data.hide_labels(hidden)


@pytest.mark.filterwarnings("ignore:no split is admissible")
@pytest.mark.every(16)
@pytest.mark.parametrize("w", LEVELS)
@pytest.mark.parametrize("task", ensembles_cases.TASKS)
@few
@given(st.data())
def test_the_tree_is_that_of_the_reference(task, w, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    dataset = few_labels(rng, task, data.draw(st.integers(8, 24)))
    ensemble = data.draw(st.sampled_from(["bagging", "extra-trees"]))
    if ensemble == "bagging" and data.draw(st.booleans()):  # one kernel less to compile
        dataset = complete(dataset, rng)
    weight = rng.integers(2, 6, dataset.n_examples) / 2 if data.draw(st.booleans()) else None
    min_labelled = data.draw(st.sampled_from([0.0, 5.0])) if w < 1 else 0.0
    feature_weights = rng.integers(0, 3, dataset.n_features) / 2 if data.draw(st.booleans()) else None
    if feature_weights is not None:
        feature_weights[0] = 1.0
    values = dataset.target.dense()[dataset.labelled]
    if w == 1 and all(len(np.unique(c[~np.isnan(c)])) < 2 for c in values.T):
        return  # nothing to learn, and an error says so
    agree(
        dataset,
        w,
        weight,
        min_labelled,
        feature_weights,
        seed=data.draw(st.integers(0, 99)),
        ensemble=ensemble,
        min_samples_leaf=data.draw(st.sampled_from([1, 2])),
    )


@pytest.mark.slow
@few
@given(st.integers(0, 2**32 - 1), st.integers(4, 30), st.booleans())
def test_unsupervised_trees(seed, n, missing):
    rng = np.random.default_rng(seed)
    dataset = om.Dataset(ensembles_cases.random_features(rng, n, 0.2 if missing else 0.0))
    agree(dataset, 0.0, min_samples_leaf=1)


@pytest.mark.slow
@pytest.mark.parametrize("sparse_labels", [True, False])
@few
@given(st.integers(0, 2**32 - 1))
@example(691)  # two levels without labels mirror each other
def test_levels_without_labelled_examples(sparse_labels, seed):
    """They are ordered as if the target's mean in the node were theirs; rows without a level count in that mean."""
    rng = np.random.default_rng(seed)
    n = 30
    level = pd.Categorical(rng.choice(list("abcdef"), n), categories=list("abcdef"))
    hidden = np.isin(level, ["b", "e"]) | (rng.random(n) < 0.2)
    level[rng.random(n) < 0.25] = None
    sets = sparse.csr_array((rng.random((n, 4)) < 0.4) * ~hidden[:, None] * 1.0)
    target = Target.labels(sets, list("wxyz"), ~hidden) if sparse_labels else rng.normal(size=(n, 2)).round(1)
    task = "multi-label" if sparse_labels else "multi-target-regression"
    data = om.Dataset(pd.DataFrame({"level": level}), target, task=task).hide_labels(hidden)
    if not data.labelled.any() or not (np.ptp(data.target.dense()[data.labelled], axis=0) > 0).any():
        return
    weight = rng.integers(1, 6, n) / 2
    least = float(rng.integers(0, 7))
    for ensemble in ("bagging", "extra-trees"):
        plan, _ = agree(data, 0.8, weight, least, seed=1, ensemble=ensemble, min_samples_leaf=1)
        assert isinstance(plan.space.target, LabelSets if sparse_labels else DenseBlocks)


@pytest.mark.slow
def test_spaces_that_are_chosen():
    rng = np.random.default_rng(0)
    numbers = om.Dataset(np.zeros((30, 1)), rng.normal(size=(30, 2))).hide_labels(slice(10, None))
    gaps = om.Dataset(ensembles_cases.random_features(rng, 30), numbers.target, task=numbers.task)
    spaces = {
        "complete": agree(complete(numbers, rng, more=0), 0.5)[0].space,
        "gaps": agree(gaps, 0.5)[0].space,
        "wide": agree(complete(numbers, rng), 0.5)[0].space,
        "alone": agree(complete(numbers, rng), 0.0)[0].space,
        "watched": agree(gaps, 0.0, min_labelled=2.0)[0].space,
    }
    assert isinstance(spaces["complete"], TwoParts)
    assert len(spaces["complete"].features.known) == 1
    assert isinstance(spaces["gaps"].features, DenseBlocks)
    assert len(spaces["gaps"].features.known) == 5
    assert isinstance(spaces["wide"].features, GramColumns)
    assert isinstance(spaces["alone"], GramColumns)
    assert isinstance(spaces["watched"], TwoParts)


@pytest.mark.slow
def test_products_of_rows_grow_the_trees_of_columns(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 90))
    X[:, 1] = rng.integers(0, 4, 60)
    X[:, ::7] *= 1e4
    X[:, 3] += 1e6
    frame = pd.DataFrame(X).add_prefix("x")
    frame["kind"] = pd.Categorical(rng.choice(list("abcde"), 60))
    dataset = om.Dataset(frame, X[:, :2] + X[:, 5:7]).hide_labels(slice(20, None))
    for w in (0.0, 0.5):
        rules = GrowingRules(supervision=w, max_features="sqrt")
        by_rows = GrowingData(dataset, 0).plan(rules)
        monkeypatch.setattr(layout, "_MOST_GRAM_ROWS", 0)
        by_columns = GrowingData(dataset, 0).plan(rules)
        monkeypatch.undo()
        kinds = [p.space.features if isinstance(p.space, TwoParts) else p.space for p in (by_rows, by_columns)]
        assert [isinstance(kind, GramColumns) for kind in kinds] == [True, False]
        for i in range(5):
            one, other = by_rows.grow(i), by_columns.grow(i)
            np.testing.assert_array_equal(one.feature, other.feature)
            np.testing.assert_array_equal(one.rows, other.rows)
            np.testing.assert_allclose(one.gain, other.gain, rtol=1e-7)


# -- laws ------------------------------------------------------------------------------------------------


def same_trees(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("task", ensembles_cases.TASKS)
def test_without_supervision_the_target_changes_no_bit(task):
    rng = np.random.default_rng(2)
    dataset = few_labels(rng, task, 40)
    rules = GrowingRules(max_features=2, supervision=0.0)
    with_target = GrowingData(dataset, 5).plan(rules)
    without = GrowingData(om.Dataset(dataset.features), 5).plan(rules)
    for i in range(3):
        same_trees(with_target.grow(i), without.grow(i))


@pytest.mark.slow
@pytest.mark.parametrize("task", ensembles_cases.TASKS)
def test_the_gain_of_a_split_is_linear_in_the_level_of_supervision(task):
    """On a fixed split; at 1 it is the supervised gain, counted for all examples instead of the labelled ones."""
    rng = np.random.default_rng(3)
    data = few_labels(rng, task, 40)
    X = pd.DataFrame({"x": rng.integers(0, 2, 40), "kind": pd.Categorical(["a"] * 40, categories=["a", "b"])})
    dataset = om.Dataset(X, data.target, task=data.task, hierarchy=data.hierarchy)
    whole, labelled = dataset, dataset.take(dataset.labelled)

    def gain(data, w):
        rules = GrowingRules("bagging", bootstrap=False, max_depth=1, min_samples_leaf=1, supervision=w)
        return GrowingData(data, 0).plan(rules).grow(0).gain[0]

    unsupervised, near = gain(whole, 0.0), gain(whole, 1 - 1e-12)
    assert unsupervised > 0
    for w in (0.1, 0.5, 0.9):
        assert gain(whole, w) == pytest.approx(w * near + (1 - w) * unsupervised)
    assert near == pytest.approx(gain(labelled, 1.0) * len(whole) / len(labelled))


def test_bootstraps_draw_labelled_and_unlabelled_examples_apart():
    rng = np.random.default_rng(4)
    dataset = om.Dataset(rng.normal(size=(100, 3)), rng.normal(size=100)).hide_labels(np.arange(0, 100, 3))
    labelled = dataset.labelled
    plan = GrowingData(dataset, 0).plan(GrowingRules(supervision=0.5))
    supervised = GrowingData(dataset.take(labelled), 0).plan(GrowingRules())
    for i in range(20):
        counts = plan.counts(i)
        assert counts[labelled].sum() == labelled.sum()
        assert counts.sum() == 100
        np.testing.assert_array_equal(counts[labelled], supervised.counts(i))
    plain = GrowingData(dataset, 0).plan(GrowingRules(supervision=0.0))
    assert any(plain.counts(i)[labelled].sum() != labelled.sum() for i in range(20))


def test_constant_features_neither_count_nor_split():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    y[10:] = np.nan
    rules = GrowingRules(bootstrap=False, max_features="all", supervision=0.4)
    plain = GrowingData(om.Dataset(X, y), 0).plan(rules).grow(0)
    more = GrowingData(om.Dataset(np.column_stack([X, np.full((30, 4), 7.0)]), y), 0).plan(rules).grow(0)
    # drawing from more features takes the ties elsewhere, but there are none
    np.testing.assert_array_equal(plain.feature, more.feature)
    np.testing.assert_allclose(plain.gain, more.gain)
    only = GrowingData(om.Dataset(np.full((30, 2), 7.0), y), 0).plan(rules).grow(0)
    assert only.feature.tolist() == [-1]
    nothing = GrowingData(om.Dataset(np.full((30, 2), 7.0)), 0).plan(rules).grow(0)
    assert nothing.feature.tolist() == [-1]


# -- extreme cases ---------------------------------------------------------------------------------------


def test_a_branch_without_known_targets_gains_what_the_features_gain():
    """All labelled examples on one side: the target's part is 0, not a reward for isolating them."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([1.0, 2.0, 4.0, np.nan, np.nan, np.nan])
    rules = GrowingRules("bagging", bootstrap=False, min_samples_leaf=1, max_depth=1)
    for w in (0.25, 0.75):
        grown = GrowingData(om.Dataset(X, y), 0).plan(GrowingRules(**vars(rules) | {"supervision": w})).grow(0)
        assert grown.gain[0] == pytest.approx((1 - w) * 6)  # the whole impurity of the only feature
