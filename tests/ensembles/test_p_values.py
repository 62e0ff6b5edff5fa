"""P values of the unbiased score: the formula, what they promise of noise, and what is kept for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2, norm
from sklearn.base import clone

import omnirank as om
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.data.table import Table
from omnirank.ensembles import p_values as module
from omnirank.ensembles import permutation_moments as moments
from omnirank.ensembles.permutation_moments import permutation_moments
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.root_credit import OrderedRows
from omnirank.ensembles.scores import Contributions, ScoreOptions
from omnirank.ensembles.unbiased import credit_with_null, described_parts
from omnirank.errors import ParameterError
from omnirank.trees.tree import tree_from_grown
from reference import ensembles_permutations as permutations
from reference import ensembles_unbiased as reference
from reference.ensembles_cases import random_dataset, random_weights


def ranker(n_trees=20, importance="unbiased", **options):
    given = {"ensemble": "extra-trees", "p_values": True, "random_state": 0} | options
    return om.EnsembleRanker(importance, n_trees=n_trees, **given)


def regression():
    return random_dataset(np.random.default_rng(0), "regression", 60)


@pytest.mark.parametrize("n_trees", [1, 6])
def test_p_values_are_as_defined(n_trees):
    data = random_dataset(np.random.default_rng(0), "mixed-targets", 40, 0.2)
    weight = random_weights(np.random.default_rng(1), 40)
    labelled, weight = data.take(data.labelled), weight[data.labelled]
    asked = ranker(n_trees, supervision=1.0)
    found = clone(asked).fit(data, sample_weight=np.where(data.labelled, 1.0, 0.0))
    weighted = clone(asked).fit(labelled, sample_weight=weight)
    for fitted, given in ((found, None), (weighted, weight)):
        plan = GrowingData(labelled, fitted.ranking_.seeds.ranges[0][0], given).plan(
            GrowingRules(ensemble="extra-trees")
        )
        trees = [tree_from_grown(plan.grow(i), plan.dataset.features) for i in range(n_trees)]
        given = [(plan, tree, plan.counts(i)) for i, tree in enumerate(trees)]
        scores = [reference.unbiased(*one).sum(axis=0) for one in given]
        parts = ([part(*one) for one in given] for part in (reference.contributions, reference.in_bag))
        expected = reference.p_values(scores, *parts, reference.root(plan), reference.chance(plan))
        np.testing.assert_allclose(fitted.ranking_.p_values, expected, rtol=1e-7)


@pytest.mark.parametrize("kind", ["labels", "weights", "no target"])
def test_the_null_at_the_root_is_as_defined(kind):
    """Of weighed targets in labelled rows; without a target of the features, but for a feature's own columns."""
    data = random_dataset(np.random.default_rng(1), "mixed-targets", 40, 0.2)
    data = om.Dataset(data.features) if kind == "no target" else data
    weight = random_weights(np.random.default_rng(1), 40) if kind == "weights" else None
    fitted = ranker(3, supervision=0.0 if kind == "no target" else 0.5).fit(data, sample_weight=weight)
    rules = GrowingRules(ensemble="extra-trees", supervision=fitted.supervision_)
    plan = GrowingData(data, fitted.ranking_.seeds.ranges[0][0], weight).plan(rules)
    found = credit_with_null(plan, described_parts(plan), ScoreOptions(), 40).null
    expected = np.transpose(reference.chance(plan))
    scale = expected[1].max() / found[1].max()  # weights that are all the same have no unit
    np.testing.assert_allclose(found * [[scale], [scale], [1], [1], [1]], expected, rtol=1e-6, atol=1e-6)
    if kind != "no target":
        none = np.zeros((3, 1, data.n_features))
        expected = reference.p_values(none[:, 0], none, none[:, 0], reference.root(plan), reference.chance(plan))
        np.testing.assert_allclose(fitted.ranking_.p_values, expected, rtol=1e-6)


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_moments_are_those_of_all_permutations(n):
    rng = np.random.default_rng(n)
    y = np.exp(rng.normal(size=(n, 2)))
    y -= y.mean(axis=0)
    ties = np.arange(n)
    columns = [
        rng.normal(size=n),
        ties // 2 + 0.0,
        ties % 2 + 0.0,
        (ties < 1) + 0.0,
        np.array([0, 0, 1, 1, 1, 2, 2])[:n],
    ]
    table = Table.from_columns("abcde", columns, [None, None, None, None, ("x", "y", "z")])
    found = permutation_moments(OrderedRows(table), y, np.array([-1, -1]))
    for f, cells in enumerate(reference.cells_of(table)):
        A = permutations.centred(reference.kernel(cells, table.is_nominal[f], np.ones(n)))
        if np.abs(A).max() < 1e-9:  # one example against all others
            assert found[:, f].tolist() == [0, 0, 0]
            continue
        mean, *expected = permutations.enumerated(A, permutations.centred(y @ y.T))
        assert abs(mean) < 1e-9
        np.testing.assert_allclose(found[:2, f], expected, rtol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("factors", "pairs"), [(5, 1), (4, 2**24), (4, 1)])
def test_moments_of_ties_and_missing_cells(sparse, factors, pairs, monkeypatch):
    """Of the examples with a known cell; above numbers of columns and of pairs, some examples stand for all."""
    monkeypatch.setattr(moments, "_MOST_FACTORS", factors)
    monkeypatch.setattr(moments, "_MOST_PAIRS", pairs)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(90, 6)), 1) * (rng.random((90, 6)) < 0.4)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.normal(size=(90, 3)) ** 3
    y -= y.mean(axis=0)
    table = Table.from_sparse(csr_array(X)) if sparse else Table.from_numeric(X)
    found = permutation_moments(OrderedRows(table), y, np.full(3, -1))
    for f in range(6):
        known = ~np.isnan(X[:, f])
        z = y[known] - y[known].mean(axis=0)
        A = permutations.centred(reference.kernel(X[known, f].tolist(), False, np.ones(known.sum())))
        expected = permutations.moments(A, permutations.centred(z @ z.T))
        np.testing.assert_allclose(found[0, f], expected[0], rtol=1e-7)
        np.testing.assert_allclose(found[1:, f], expected[1:], rtol=0.5 if (factors, pairs) == (4, 1) else 1e-7)


def sums_of(*trees):
    """The sums over trees that test one feature: what both examples add, and what the bag promises."""
    sums, first = module.ExampleSums(2, 1), np.array([0])
    rows = np.array([0, 1])
    sums.add(Contributions(first, first, first + 2, rows, np.array(told), np.array([bag])) for told, bag in trees)
    return sums


def test_a_score_that_one_example_makes_is_of_one_term():
    """Of less than one by its moments: the skewness is at most that of the chi-squared distribution."""
    found = sums_of(*[([2.0, -1.0], 3.0)] * 2).p_values(2, np.ones(1), np.zeros(1))
    # s = 1, A = 5, B = 0, G = 3: L = 1, l = 5 / 2, V = 5
    np.testing.assert_allclose(found, chi2(1).sf(1 + np.sqrt(2) * 1 / np.sqrt(5)))


def test_sums_divide_by_the_number_of_trees():
    four, two = (sums_of(*[([3.0, 1.0], 1.0)] * n).p_values(n, np.array([4.0]), np.zeros(1)) for n in (4, 2))
    assert four == two


@pytest.mark.parametrize(("n_trees", "in_bag"), [(1, 0.0), (2, 0.0), (2, 1e-300), (2, 1e300)])
def test_p_values_are_numbers_whatever_the_bag_promises(n_trees, in_bag):
    sums = sums_of(*[([1e-17, -1e-17], in_bag)] * n_trees)
    for score in (0.0, 1e-17, -1.0, 1.0):
        scores = MeanAccumulator.empty(1).update([[score], [2 * score]][:n_trees])
        (p,) = sums.p_values(n_trees, *scores.finish())
        assert 0 < p <= 1


def test_merged_sums_are_those_of_all_trees():
    one, other = ([3.0, 1.0], 2.0), ([1.0, 2.0], 5.0)
    scores = 2, np.array([3.5]), np.array([0.5])
    merged = sums_of(one).merge(sums_of(other))
    assert merged.p_values(*scores) == sums_of(one, other).p_values(*scores) != sums_of(one).p_values(*scores)


def test_workers_and_checkpoints_change_no_bit():
    data = regression()
    whole = ranker([5, 12, 20]).fit(data)
    assert whole.ranking_.p_values.tolist() == ranker(20, n_jobs=2).fit(data).ranking_.p_values.tolist()
    for n_trees in (5, 12):
        assert whole.checkpoints_[n_trees]["unbiased"] == ranker(n_trees).fit(data).ranking_


def test_other_scores_have_no_p_values():
    data = regression()
    fitted = ranker(3).fit(data)
    assert fitted.rankings_["genie3"].p_values is None
    assert ranker(3, p_values=False).fit(data).ranking_.p_values is None
    with pytest.raises(ParameterError, match=r"p_values=True: importance=.genie3.: use om\.significance"):
        om.EnsembleRanker("genie3", p_values=True).fit(data)


@pytest.mark.parametrize("y", [None, np.arange(12) % 2])
def test_constant_features_are_not_significant(y):
    X = np.where(np.arange(12)[:, None] < 2, [[1.0, np.nan]], np.nan)
    assert ranker(2, supervision=0.0).fit(X, y).ranking_.p_values.tolist() == [1.0, 1.0]


def test_features_that_no_tree_tests_are_not_significant():
    X = np.column_stack([np.arange(50.0), np.ones(50)])
    assert ranker(5).fit(X, np.arange(50.0) + 0.5).ranking_.p_values[1] == 1


def test_examples_share_sums_where_there_are_many(monkeypatch):
    """The variance is estimated from fewer terms, and the memory bounded."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = X[:, 0] + 3 * rng.normal(size=1000)
    groups = np.arange(1000) // 2  # without groups, the root needs no sums
    whole = ranker().fit(X, y, groups=groups).ranking_
    monkeypatch.setattr(module, "_MOST_CELLS", 4 * 250)
    assert module.ExampleSums(1000, 4)._blocks[0].shape == (4, 250)
    assert module.ExampleSums(1000, 40)._blocks[0].shape == (40, 128)
    shared = ranker().fit(X, y, groups=groups).ranking_
    assert shared.scores.tolist() == whole.scores.tolist()
    np.testing.assert_allclose(norm.isf(shared.p_values), norm.isf(whole.p_values), rtol=0.2)
    assert whole.p_values.tolist() != shared.p_values.tolist()


@pytest.mark.slow
def test_noise_has_p_values_above_alpha():
    """Over data sets: about one in twenty lies below 0.05; the study of the documentation has more of them."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 6))
        X[:, 3:] = X[:, 3:] > 1.2
        found.append(ranker(20, random_state=seed).fit(X, X[:, 0] + rng.normal(size=100)).ranking_.p_values)
    found = np.array(found)
    assert (found[:, 0] < 0.01).all()
    share = (found[:, 1:] < 0.05).mean()
    assert 0.02 < share < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_a_target_that_does_not_count_has_the_p_values_of_none():
    data = random_dataset(np.random.default_rng(1), "mixed-targets", 60, 0.2)
    weight = random_weights(np.random.default_rng(1), 60)
    for options in ({}, {"sample_weight": weight}, {"groups": np.arange(60) // 2}):
        found = ranker(3, supervision=0.0).fit(data, **options).ranking_
        expected = ranker(3).fit(om.Dataset(data.features), **options).ranking_
        assert found.p_values.min() < 1
        np.testing.assert_array_equal(found.p_values, expected.p_values)
        np.testing.assert_array_equal(found.scores, expected.scores)
    split = ranker(3, supervision=0.0, per_target=True).fit(data).ranking_
    assert not split.per_target.scores.any()


@pytest.mark.slow
def test_noise_without_a_target_has_p_values_above_alpha():
    """Deep trees have small nodes, in which centring takes much of the squares: the spread was 1.1 times as large."""
    found = []
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(100, 10))
        found.append(ranker(20, random_state=seed).fit(X).ranking_.p_values)
    for alpha in (0.01, 0.05, 0.1):
        shares = np.mean(np.array(found) < alpha, axis=1)  # features of a data set judge each other
        assert alpha / 3 < shares.mean() < alpha + 3 * shares.std() / np.sqrt(60)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["numbers", "skewed", "rare class", "label sets", "no target", "levels", "weights", "one tree"]
)
def test_noise_of_any_kind_has_p_values_above_alpha(kind):
    """A tree alone has no pair of examples both ways: with the skewness of forests, the share was 0.085."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 10)), rng.normal(size=100)
        if kind == "levels":
            X = pd.DataFrame({f"x{i}": rng.integers(0, 2 + 3 * i, 100).astype(str) for i in range(10)})
        y = {
            "skewed": np.exp(2 * y),
            "rare class": np.where(y > np.sort(y)[-6], "a", "b"),
            "label sets": (rng.random((100, 12)) < 0.1).astype(float),
            "no target": None,
        }.get(kind, y)
        weight = rng.exponential(size=100) if kind == "weights" else None
        n_trees, task = 1 if kind == "one tree" else 20, "multi-label" if kind == "label sets" else "auto"
        asked = ranker(n_trees, random_state=seed, task=task)
        found += asked.fit(X, y, sample_weight=weight).ranking_.p_values.tolist()
    assert 0.002 < np.mean(np.array(found) < 0.05) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 600)


def with_copies(share, seed, n=80):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 5)), rng.normal(size=n)
    rows = np.concatenate([np.arange(n), rng.permutation(n)[: round(share * n)]])
    return X, y, rows


@pytest.mark.parametrize("task", ["numbers", "label sets", "few labels", "nothing"])
def test_copies_count_as_one_example_of_their_weight(task):
    X, y, rows = with_copies(0.6, 0)
    y = np.column_stack([y > 0, y < 0.5, y > 2]).astype(float) if task == "label sets" else y
    if task == "few labels":
        y[30:] = np.nan
    given = None if task == "nothing" else y
    options = {"supervision": 0.5} if task == "few labels" else {}
    merged = om.Dataset(X, given, task="multi-label" if task == "label sets" else "auto")
    found = ranker(5, **options).fit(merged.take(rows)).ranking_
    expected = ranker(5, **options).fit(merged, sample_weight=np.bincount(rows).astype(float)).ranking_
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.p_values, expected.p_values, rtol=1e-6)


def test_noise_has_p_values_above_alpha_where_rows_repeat():
    """A copy out of bag confirmed what its twin in the bag had chosen: with 20 % of copies, most were significant."""
    found = []
    for seed in range(12):
        X, y, rows = with_copies((0.2, 1.0)[seed % 2], seed)
        found += ranker(10, random_state=seed).fit(X[rows], y[rows]).ranking_.p_values.tolist()
    assert np.mean(np.array(found) < 0.05) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
def test_noise_has_permuted_p_values_above_alpha_where_rows_repeat():
    found = []
    for seed in range(12):
        X, y, _ = with_copies(0, seed)
        X, y = np.tile(X, (4, 1)), np.tile(y, 4)
        found += om.significance(om.UnivariateRanker(), X, y, random_state=seed).p_values.tolist()
    assert np.mean(np.array(found) < 0.05) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 60)


def test_groups_are_drawn_together():
    X, y, _ = with_copies(0, 0)
    groups = np.arange(80) % 20
    plan = GrowingData(om.Dataset(X, y), 0, groups=groups).plan(GrowingRules())
    counts = plan.counts(0).reshape(4, 20)
    assert (counts == counts[0]).all()
    assert counts[0].sum() == 20
    assert om.significance(ranker(4), X, y, groups=groups) == ranker(4).fit(X, y, groups=groups).ranking_
    # groups of examples with the same noise in the target are not independent
    spread = [ranker(4).fit(X, y, groups=np.arange(80)).ranking_, ranker(4).fit(X, y).ranking_]
    assert spread[0].p_values.tolist() == spread[1].p_values.tolist()


def test_groups_with_few_labels_are_drawn_by_their_labelled_examples():
    X, y, _ = with_copies(0, 0)
    y[np.arange(80) % 3 > 0] = np.nan
    data = GrowingData(om.Dataset(X, y), 0, groups=np.arange(80) // 2)
    plan, alone = (one.plan(GrowingRules(supervision=level)) for one, level in ((data, 0.5), (data.labelled, 1.0)))
    counts = plan.counts(3)
    assert (counts[::2] == counts[1::2]).all()
    assert counts[data.dataset.labelled].tolist() == alone.counts(3).tolist()
