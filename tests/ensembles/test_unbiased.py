"""Out-of-bag covariances: against their definition for every task, and what they promise of noise."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.dataset import Dataset
from omnirank.data.target import Target
from omnirank.ensembles import unbiased as module
from omnirank.ensembles.p_values import ExampleSums
from omnirank.ensembles.plan import ENSEMBLES, GrowingData, GrowingRules
from omnirank.ensembles.run import noise_factors
from omnirank.ensembles.scores import ScoredTree, ScoreOptions
from omnirank.trees.tree import tree_from_grown
from reference import ensembles_unbiased as reference
from reference.ensembles_cases import DAG, TASKS, TREE, random_dataset, random_features, random_weights


def planned(data, weight=None, seed=0, **rules):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny data: levels look like identifiers
        return GrowingData(data, seed, weight).plan(GrowingRules(**{"normalize_targets": True} | rules))


def check(plan, i=0):
    """One tree against the definitions: by target, by example and in one number; and the credit at the root."""
    counts = plan.counts(i)
    grown = plan.grow(i, counts)
    assert (grown.feature[1:] >= 0).any()
    tree, tolerance = tree_from_grown(grown, plan.dataset.features), {"rtol": 1e-9, "atol": 1e-10 * plan.weight.sum()}
    found = module.unbiased(ScoredTree(plan, grown, counts, options=ScoreOptions(per_target=True)))
    row = module.unbiased(ScoredTree(plan, grown, counts)).row
    expected = reference.unbiased(plan, tree, counts)
    np.testing.assert_allclose(row, expected.sum(axis=0), **tolerance)
    np.testing.assert_array_equal(row, found.row)
    np.testing.assert_allclose(found.table, expected[: plan.columns.n_variables], **tolerance)
    by_example = module.unbiased(ScoredTree(plan, grown, counts, options=ScoreOptions(p_values=True)))
    np.testing.assert_array_equal(row, by_example.row)
    if plan.feature_part is not None and plan.rules.supervision > 0:  # p values are about the target
        assert by_example.contributions == ()
        check_root(plan, tolerance)
        return row
    (kept,) = by_example.contributions
    np.testing.assert_allclose(kept.in_bag, reference.in_bag(plan, tree, counts), **tolerance)
    by_example = summed(plan, by_example.contributions)
    np.testing.assert_allclose(by_example, reference.contributions(plan, tree, counts), **tolerance)
    plain = reference.contributions(plan, tree, counts, widened=False)
    np.testing.assert_allclose(plain.sum(axis=0), row, **tolerance)
    check_root(plan, tolerance)
    return row


def check_root(plan, tolerance, number=float):
    credit, by_group, themselves = reference.root(plan, number)
    options = ScoreOptions(per_target=True)
    found = module.credit_at_root(plan, module.described_parts(plan), options, by_group.shape[1])
    np.testing.assert_allclose(found.row, credit.sum(axis=0), **tolerance)
    np.testing.assert_allclose(found.table, credit[: plan.columns.n_variables], **tolerance)
    np.testing.assert_allclose(found.by_example, by_group, **tolerance)
    np.testing.assert_allclose(found.of_themselves, themselves, **tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["multi-label", "hierarchical-multi-label", "mixed-targets"])
def test_credit_at_the_root_is_exact_for_weights_of_any_size(task):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = random_dataset(rng, task, 14, 0.25, sparse_labels=True)
        data = data.take(data.labelled)
        plan = planned(data, 10.0 ** rng.uniform(-12, 12, data.n_examples))
        with localcontext(prec=70):
            check_root(plan, {"rtol": 1e-8, "atol": 1e-10 * plan.weight.sum()}, Decimal)


@pytest.mark.parametrize("n_groups", [3, 8, 30])
def test_credit_of_groups_is_as_defined(n_groups):
    rng = np.random.default_rng(n_groups)
    groups = rng.integers(0, n_groups, 40)
    data = random_dataset(rng, "mixed-targets", 40, 0.2)
    weight = random_weights(rng, 40)
    data, weight, groups = data.take(data.labelled), weight[data.labelled], groups[data.labelled]
    plan = GrowingData(data, 0, weight, groups=groups).plan(GrowingRules(normalize_targets=True))
    check_root(plan, {"rtol": 1e-9, "atol": 1e-10 * plan.weight.sum()})


def test_credit_at_the_root_depends_on_the_order_of_numbers_only():
    rng = np.random.default_rng(0)
    X, y, weight = random_features(rng, 40), rng.normal(size=(40, 2)).round(1), random_weights(rng, 40)
    y[:8, 0] = np.nan
    credits = []
    for target in (y, np.column_stack([np.exp(9 * y[:, 0]), -y[:, 1]])):  # seen from the other end: the same
        plan = planned(Dataset(X, target), weight)
        credits.append(module.credit_at_root(plan, module.described_parts(plan), ScoreOptions(), 40))
    for one, other in zip(*credits, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


def test_the_ranking_is_that_of_credit_at_the_root_and_below_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 24))
    X[:, 12:] = rng.integers(0, 3, (50, 12))
    y = np.column_stack([X[:, 0] + rng.normal(size=50), X[:, 12] + rng.normal(size=50)])
    fitted = om.EnsembleRanker(n_trees=5, per_target=True, random_state=0).fit(X, y)
    ranking, genie3 = fitted.ranking_, fitted.rankings_["genie3"]
    plan = planned(Dataset(X, y), seed=ranking.seeds.ranges[0][0], ensemble="extra-trees")
    trees = [tree_from_grown(plan.grow(i), plan.dataset.features) for i in range(5)]
    below = np.mean([reference.unbiased(plan, tree, plan.counts(i)) for i, tree in enumerate(trees)], axis=0)
    factors = [reference.noise_factor(m, False) for m in (50, 3)]
    root = reference.root(plan)[0] * np.repeat(factors, 12)
    kinds = [0] * 12 + [1] * 12
    for found, own in ((ranking.scores, slice(None)), *((ranking.per_target.scores[j], [j]) for j in (0, 1))):
        other = genie3.scores if own == slice(None) else genie3.per_target.scores[own[0]]
        expected = reference.confirmed(below[own].sum(axis=0), root[own].sum(axis=0), other, kinds)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("nominal", [False, True])
def test_credit_at_the_root_is_scaled_by_what_noise_of_a_kind_has(nominal):
    found = noise_factors(np.arange(2, 40) * (-1 if nominal else 1))
    np.testing.assert_allclose(found, [reference.noise_factor(m, nominal) for m in range(2, 40)], rtol=1e-9)
    assert abs(noise_factors(np.array([10**6]))[0] - 1) < 1e-5


def summed(plan, contributions):
    """Contributions as a matrix (examples, features)."""
    sums = ExampleSums(plan.n_examples, plan.dataset.n_features)
    sums.add(contributions)
    return sums._blocks[0].T


CASES = [(task, None) for task in TASKS if task != "hierarchical-multi-label"]
CASES += [("hierarchical-multi-label", hierarchy) for hierarchy in (TREE, DAG)]


@pytest.mark.slow
@pytest.mark.parametrize(("task", "hierarchy"), CASES, ids=lambda given: given if isinstance(given, str) else "")
@pytest.mark.parametrize("unknown", [0.0, 0.25])
@pytest.mark.parametrize("weighted", [False, True])
def test_score_is_as_defined(task, hierarchy, unknown, weighted):
    for seed, ensemble in enumerate(ENSEMBLES):
        rng = np.random.default_rng(seed)
        data = random_dataset(rng, task, 40, unknown, hierarchy, sparse_labels=bool(seed % 2))
        data = data.take(data.labelled)
        weight = random_weights(rng, data.n_examples) if weighted else None
        check(planned(data, weight, seed, ensemble=ensemble, normalize_targets=seed != 1))


@pytest.mark.slow
@pytest.mark.every(16)
@pytest.mark.parametrize(("task", "hierarchy"), CASES, ids=lambda given: given if isinstance(given, str) else "")
@pytest.mark.parametrize("level", [0.0, 0.4])
def test_score_with_few_labels_is_as_defined(task, hierarchy, level):
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        data = random_dataset(rng, task, 40, 0.2 * seed, hierarchy, sparse_labels=True)
        data = data.hide_labels(np.arange(40) % 3 > 0)
        check(planned(data, random_weights(rng, 40), seed, supervision=level))


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_score_without_target_is_as_defined(ensemble):
    rng = np.random.default_rng(0)
    data = Dataset(random_features(rng, 40))
    check(planned(data, random_weights(rng, 40), ensemble=ensemble, supervision=0.0))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "labels", "no target", "few labels"])
def test_score_of_sparse_features_is_as_defined(kind):
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 30), density=0.1, random_state=rng, format="csr")
    X.data = np.ceil(6 * X.data)  # thresholds are values of rows out of the bag
    y = X @ rng.normal(size=(30, 3)) + rng.normal(size=(60, 3)) / 4
    if kind == "labels":
        target = Target.labels(sparse.csr_array((y > 0.4).astype(float)), list("abc"))
        plan = planned(Dataset(X, target, task="multi-label"))
    elif kind == "numbers":
        plan = planned(Dataset(X, y))
    elif kind == "no target":
        plan = planned(Dataset(X), supervision=0.0)
        assert isinstance(module.described_parts(plan).own[0], module._SparseColumns)
    else:
        plan = planned(Dataset(X, y).hide_labels(np.arange(60) % 2 > 0), supervision=0.5)
    check(plan)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.0, 0.4, None])
def test_score_of_more_columns_than_rows_is_as_defined(level):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 61))).add_prefix("x") + 5
    frame["kind"] = pd.Categorical(rng.choice(list("abc"), 30))
    data = Dataset(frame) if level is None else Dataset(frame, frame["x1"] + frame["x2"])
    data = data if level is None else data.hide_labels(np.arange(30) % 3 > 0)
    plan = planned(data, random_weights(rng, 30), supervision=level or 0.0, max_features=0.5)
    parts = module.described_parts(plan)
    assert isinstance((parts.features or parts.own)[0], module._RowProducts)
    check(plan)


@pytest.mark.slow
def test_blocks_of_columns_do_not_show(monkeypatch):
    rng = np.random.default_rng(0)
    plan = planned(random_dataset(rng, "mixed-targets", 40), supervision=0.5)
    whole = check(plan)
    monkeypatch.setattr(module, "_MOST_CELLS", 2 * 40)
    np.testing.assert_allclose(check(plan), whole, rtol=1e-12)


def test_of_many_columns_of_features_some_judge_for_all(monkeypatch):
    plan = planned(Dataset(np.random.default_rng(0).normal(size=(30, 12))), supervision=0.0)
    parts = module.described_parts(plan).own
    (every,) = module._judges(plan, parts)
    monkeypatch.setattr(module, "_MOST_JUDGES", 8)
    (some,) = module._judges(plan, parts)
    assert (len(every.owner), len(some.owner)) == (12, 8)
    np.testing.assert_allclose((some.values**2).sum(), (every.values**2).sum())


def test_shifted_targets_have_the_same_scores():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (80, 4)).astype(float)
    y = np.column_stack([X[:, 0] + rng.integers(0, 4, 80), X[:, 1] + rng.integers(0, 4, 80)])
    options = {"n_trees": 10, "ensemble": "extra-trees", "random_state": 0}
    here, there = (om.EnsembleRanker("unbiased", **options).fit(X, y + shift).ranking_.scores for shift in (0, 4096.0))
    np.testing.assert_allclose(there, here, rtol=1e-7)


def test_no_example_out_of_bag_is_undefined():
    plan = planned(random_dataset(np.random.default_rng(0), "regression"))
    counts = np.ones(plan.n_examples)
    found = module.unbiased(ScoredTree(plan, plan.grow(0, counts), counts))
    assert found.undefined
    assert not found.row.any()


@pytest.mark.parametrize(
    "kind", ["classes", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("few labels", "no target", "sparse"))]
)
def test_features_among_thousands_are_found(kind):
    """A tree tests few of them: by what it tests alone, most of the true ones would be tied with noise."""
    rng = np.random.default_rng(0)
    second = np.arange(60) % 2 > 0
    X = rng.normal(size=(60, 1500))
    X[:, :15] += 1.6 * second[:, None]
    if kind == "sparse":
        X = np.where(rng.random(X.shape) < 0.1, np.exp(X), 0.0)
        X[:, :15] *= second[:, None]
    y = np.array(["a", "b"], dtype=object)[second.astype(int)]
    if kind == "few labels":
        y[rng.permutation(60)[30:]] = None
    given = {} if kind == "no target" else {"y": y}
    level = {"few labels": 1.0, "no target": 0.0}.get(kind, 1.0)
    fitted = om.EnsembleRanker(n_trees=20, supervision=level, p_values=True, random_state=0)
    ranking = fitted.fit(sparse.csr_array(X) if kind == "sparse" else X, **given).ranking_
    above = (ranking.scores[:15, None] > ranking.scores[15:]).mean()
    assert above > {"sparse": 0.8, "no target": 0.6}.get(kind, 0.95)
    assert np.median(ranking.p_values[:15]) < np.median(ranking.p_values[15:]) / 2


def root_of(X, y, weight=None, nominal=None):
    plan = planned(Dataset(X, y, nominal=nominal), weight)
    return module.credit_at_root(plan, module.described_parts(plan), ScoreOptions(), len(y))


@pytest.mark.parametrize("kind", ["numbers", "sparse", "levels"])
def test_light_examples_cost_no_digits(kind):
    """Examples of weight 1e-30, alone with the smallest, the largest or the hidden value, are as those of 1e-10."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 5, (30, 3)).astype(float), rng.normal(size=30)
    X[:2] = 0, 5, 0
    X[2] = 5, 0, 5
    given = sparse.csr_array(X) if kind == "sparse" else X
    light = np.arange(30) < 3
    found = [
        root_of(given, y, np.where(light, unit, 1.0), [0, 1, 2] if kind == "levels" else None)
        for unit in (1e-10, 1e-30, 1e-200)
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.row, found[0].row, rtol=1e-7)
        np.testing.assert_allclose(other.of_themselves, found[0].of_themselves, rtol=1e-7)
        np.testing.assert_allclose(other.by_example, found[0].by_example, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_target_that_is_constant_where_a_feature_is_known_says_exactly_nothing(as_sparse):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (12, 2)).astype(float), rng.choice(["a", "b", "c"], 12)
        X[y != "a", 0] = np.nan
        weight = rng.choice([0.3, 1.0, 1.7], 12)
        credit = root_of(sparse.csc_array(X) if as_sparse else X, y, weight)
        assert credit.row[0] == credit.of_themselves[0] == 0
        assert not credit.by_example[0].any()
        assert credit.by_example[1].any()


def test_copies_are_credited_alike():
    """Each copy is confirmed by itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30))
    X[:, 1:10] = X[:, :1]
    plan = planned(Dataset(X, X[:, 0] + rng.normal(size=80)))
    credit = module.credit_at_root(plan, module.described_parts(plan), ScoreOptions()).row
    np.testing.assert_allclose(credit[:10], credit[0])
    assert credit[0] > 5 * np.abs(credit[10:]).max()


def noisy(rng, n=200):
    """One true feature, a number and 50 levels that say nothing."""
    levels = pd.Categorical([f"v{k}" for k in rng.integers(0, 50, n)], categories=[f"v{k}" for k in range(50)])
    x = rng.normal(size=n)
    return pd.DataFrame({"true": x, "number": rng.normal(size=n), "levels": levels}), x


TARGETS = {
    "classification": lambda x, rng: np.where(x + 2 * rng.normal(size=len(x)) > 0, "yes", "no"),
    "regression": lambda x, rng: x + 2 * rng.normal(size=len(x)),
    "multi-label": lambda x, rng: (x[:, None] + 2 * rng.normal(size=(len(x), 3)) > 0).astype(float),
}


@pytest.mark.every(12)
@pytest.mark.parametrize("task", TARGETS)
def test_noise_of_many_levels_scores_0(task):
    """Over data sets: trees of one set share its accidents, so that their spread says nothing of them."""
    scores, first = [], 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, x = noisy(rng)
        ranker = om.EnsembleRanker("unbiased", "random-forest", n_trees=10, task=task, random_state=seed)
        fitted = ranker.fit(X, TARGETS[task](x, rng))
        scores.append(fitted.ranking_.scores)
        first += fitted.rankings_["genie3"].top(1) == ["levels"]
    mean, error = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / 5
    assert (np.abs(mean) < 3 * error)[1:].all()
    assert mean[0] > 10 * error[0]
    assert first >= 20


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.0, 0.5])
def test_noise_scores_0_among_features_too(level):
    """Two features go together, number and levels with nothing: none is credited with telling itself."""
    scores = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, x = noisy(rng)
        X.insert(1, "twin", x + rng.normal(size=len(x)))
        y = np.where(np.arange(len(x)) % 4 > 0, np.nan, x + rng.normal(size=len(x)))
        fitted = om.EnsembleRanker("unbiased", n_trees=10, supervision=level, random_state=seed, task="regression")
        scores.append(fitted.fit(X, y).ranking_.scores)
    mean, error = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / 5
    assert (np.abs(mean) < 3 * error)[2:].all()
    assert (mean > 5 * error)[:2].all()
