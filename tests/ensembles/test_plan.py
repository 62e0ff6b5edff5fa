"""What the trees of a fit share: bootstraps, features a node, warnings and errors."""

from __future__ import annotations

import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules, features_per_node
from omnirank.ensembles.scores import ScoreOptions, TreeScorer
from omnirank.errors import DataError, ParameterError
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import genie3_forest


def numbers(n_features, n=40):
    rng = np.random.default_rng(0)
    return om.Dataset(rng.normal(size=(n, n_features)), rng.normal(size=n))


@pytest.mark.parametrize(
    ("ensemble", "max_features", "expected"),
    [
        ("random-forest", None, 4),
        ("extra-trees", None, 10),
        ("bagging", None, 10),
        ("bagging", "sqrt", 4),
        ("random-forest", "log2", 4),
        ("random-forest", "all", 10),
        ("random-forest", 3, 3),
        ("random-forest", np.int64(3), 3),
        ("random-forest", 0.25, 2),
        ("random-forest", 1.0, 10),
        ("random-forest", 0.001, 1),
    ],
)
def test_features_per_node(ensemble, max_features, expected):
    assert features_per_node(GrowingRules(ensemble, max_features), numbers(10)) == expected
    if isinstance(max_features, str):
        assert features_per_node(GrowingRules(ensemble, max_features), numbers(1)) == 1


@pytest.mark.parametrize(
    ("ensemble", "expected"), [("extra-trees", (100, 10, 7)), ("random-forest", (10, 10, 7)), ("bagging", (100,) * 3)]
)
def test_trees_that_cluster_features_try_few_of_them(ensemble, expected):
    for supervision, n_tried in zip((1.0, 0.5, 0.0), expected, strict=True):
        assert features_per_node(GrowingRules(ensemble, supervision=supervision), numbers(100)) == n_tried


@pytest.mark.parametrize("wrong", [0, 11, -1, 1.5, 0.0, "some", True, (1,)])
def test_wrong_numbers_of_features(wrong):
    with pytest.raises(ParameterError, match="max_features"):
        features_per_node(GrowingRules(max_features=wrong), numbers(10))


def test_extra_trees_draw_fewer_features_where_most_are_binary():
    rng = np.random.default_rng(0)
    binary = rng.integers(0, 2, (30, 6)).astype(float)
    X = np.column_stack([binary, rng.normal(size=(30, 3))])
    y = rng.normal(size=30)
    rules = GrowingRules("extra-trees")
    assert features_per_node(rules, om.Dataset(X, y)) == 3
    assert features_per_node(rules, om.Dataset(sparse.csr_array(X), y)) == 3
    assert features_per_node(rules, om.Dataset(X[:, 3:], y)) == 6
    assert features_per_node(rules, om.Dataset(np.where(X == 1, 7.0, X)[:, :6], y)) == 3
    named = om.Dataset([["a", "x"], ["b", "y"], ["a", "x"]], [0.5, 1.5, 2.5])
    assert features_per_node(rules, named) == 2  # ceil(sqrt 2)


def test_bootstrap_counts():
    plan = GrowingData(numbers(3, n=500), 7).plan(GrowingRules())
    first, again, second = plan.counts(0), plan.counts(0), plan.counts(1)
    np.testing.assert_array_equal(first, again)
    assert (first != second).any()
    assert first.sum() == second.sum() == 500
    assert 0.30 < (first == 0).mean() < 0.44  # 1/e
    assert (GrowingData(numbers(3), 7).plan(GrowingRules(bootstrap=False)).counts(0) == 1).all()


def test_grown_trees_see_counts_times_weights():
    data = tiny_dataset("regression")
    weight = np.linspace(0.5, 1.5, data.n_examples)
    plan = GrowingData(data, 0, weight).plan(GrowingRules())
    grown = plan.grow(3)
    assert grown.weight[0] == pytest.approx((plan.counts(3) * weight).sum())
    leaves = grown.feature < 0
    assert (grown.weight[leaves] >= 2 - 1e-9).all()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"ensemble": "forest"}, "random-forest, extra-trees, bagging"),
        ({"tie_break": "best"}, "tie_break"),
        ({"min_samples_leaf": -1}, "min_samples_leaf"),
        ({"max_depth": -2}, "max_depth"),
        ({"supervision": 1.5}, "supervision"),
        ({"min_labelled_leaf": -1}, "min_labelled_leaf"),
    ],
)
def test_rules_are_checked(rules, message):
    with pytest.raises(ParameterError, match=message):
        GrowingData(numbers(2), 0).plan(GrowingRules(**rules))


@pytest.mark.parametrize(("least", "enough"), [(2, True), (2.25, False)])
def test_the_examples_must_weigh_as_much_as_two_leaves(least, enough):
    data, weight, rules = numbers(2, n=8), np.full(8, 0.5), GrowingRules(min_samples_leaf=least)
    if enough:
        assert GrowingData(data, 0, weight).plan(rules).weight.sum() == 2 * least
    else:
        message = "weigh 4 together, less than two leaves of min_samples_leaf=2.25: use weights of mean 1"
        with pytest.raises(DataError, match=message):
            GrowingData(data, 0, weight).plan(rules)


def test_data_without_target_are_clustered():
    plan = GrowingData(om.Dataset(np.eye(4)), 0).plan(GrowingRules(min_samples_leaf=1, bootstrap=False))
    assert plan.task.name == "clustering"
    assert plan.columns.names == plan.dataset.feature_names
    assert (plan.grow(0).feature >= 0).any()


def test_good_data_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GrowingData(tiny_dataset("classification"), 0).plan(GrowingRules("extra-trees", bootstrap=False))


def test_columns_without_known_value_are_not_tested():
    X = np.array([[np.nan, 1.0, np.nan], [np.nan, 2.0, 1.0], [np.nan, 3.0, 2.0], [np.nan, 4.0, 3.0]])
    y = [0.5, 1.5, 2.5, 3.5]
    for features in (X, sparse.csr_array(np.where(X == 0, 1.0, X))):
        plan = GrowingData(om.Dataset(features, y), 0).plan(GrowingRules(min_samples_leaf=1))
        assert 0 not in plan.grow(0).feature


@pytest.mark.parametrize("weight", [None, np.full(40, 0.5)])
def test_a_warning_where_min_labelled_leaf_refuses_every_split(weight):
    """Fewer labelled examples than a leaf needs: whatever the test, the child that gets some has too few."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) < 6, rng.normal(size=40), np.nan)
    data = om.Dataset(rng.normal(size=(40, 3)), y)
    labelled = 6 if weight is None else 3
    with pytest.warns(UserWarning, match=f"no split is admissible.*weigh {labelled}.*min_labelled_leaf=10"):
        GrowingData(data, 0, weight).plan(GrowingRules(supervision=0.5, min_labelled_leaf=10))
    for rules in (GrowingRules(supervision=0.5, min_labelled_leaf=labelled), GrowingRules(supervision=0.5)):
        GrowingData(data, 0, weight).plan(rules)
    # supervised trees know labelled examples only
    GrowingData(data.take(data.labelled), 0).plan(GrowingRules(min_labelled_leaf=10, min_samples_leaf=1))


@pytest.mark.parametrize(("supervision", "share"), [(0, 1.0), (0.5, 0.5), ("auto", 1.0), ("cv", 1.0)])
def test_labelled_examples_without_weight_are_as_none(supervision, share):
    """What is known of no example that counts cannot be learnt: the features decide alone."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    y, weight = np.array(["a", "b", *[None] * 18], object), np.repeat([0.0, 1.0], [2, 18])
    alone = genie3_forest(n_trees=12, random_state=0).fit(X, sample_weight=weight)
    ranker = genie3_forest(n_trees=12, supervision=supervision, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(ranker.feature_importances_, share * alone.feature_importances_)


@pytest.mark.parametrize("n_labelled", [30, 20])
@pytest.mark.parametrize("level", [1.0, 0.5])
def test_examples_leave_memory_when_the_last_fit_does(n_labelled, level):
    """Without waiting for the garbage collection: the next sample of large data would come beside them."""
    dataset = om.datasets.make_friedman(30, random_state=0)[0].keep_labels(n_labelled, random_state=0)
    known, data = weakref.ref(dataset), GrowingData(dataset, 0)
    gc.disable()
    try:
        for one in {level, 1.0}:
            TreeScorer.make(data.at_level(one).plan(GrowingRules(supervision=one)), ("genie3",), ScoreOptions())(0)
        del dataset, data
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("ensemble", ["extra-trees", "random-forest"])
def test_what_travels_to_a_cluster_is_the_data_and_gives_the_same_scores(ensemble):
    dataset = numbers(20, 2000)
    plan = GrowingData(dataset, 0).plan(GrowingRules(ensemble=ensemble))
    scorer = TreeScorer.make(plan, ("unbiased", "genie3"), ScoreOptions())
    sent = pickle.dumps(scorer.to_send())
    assert len(sent) < 1.5 * dataset.X.nbytes
    assert len(pickle.dumps(scorer)) > 2 * dataset.X.nbytes
    for i in range(2):
        found, expected = pickle.loads(sent)(i), scorer(i)
        assert all(np.array_equal(found[name].row, expected[name].row) for name in expected)
