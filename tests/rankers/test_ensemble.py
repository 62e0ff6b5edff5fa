"""EnsembleRanker: what users rely on."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.ensembles import run
from omnirank.errors import DataError
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import TASKS, genie3_forest, random_dataset

ENSEMBLES = ("random-forest", "extra-trees", "bagging")
SCORES = ("genie3", "symbolic", "permutation")


def same_rankings(first, second):
    assert first.keys() == second.keys()
    for name in first:
        a, b = first[name], second[name]
        np.testing.assert_array_equal(a.scores, b.scores)
        np.testing.assert_array_equal(a.standard_errors, b.standard_errors)
        if a.per_target is not None:
            np.testing.assert_array_equal(a.per_target.scores, b.per_target.scores)
    return True


# -- what the scores find -----------------------------------------------------------------------------------


def relevant_and_rankings(task, ensemble, **options):
    make = getattr(om.datasets, f"make_{task.replace('-', '_')}")
    data, relevance = make(
        400, n_relevant=4, n_irrelevant=8, noise=0.1, missing_features=0.03, random_state=0, **options
    )
    assert data.task == task
    relevant = {name for name, matters in zip(data.feature_names, relevance.relevant, strict=True) if matters}
    fitted = genie3_forest("permutation", ensemble, n_trees=40, random_state=0, n_jobs=2).fit(data)
    assert set(fitted.rankings_) == set(SCORES)
    return relevant, fitted.rankings_


@pytest.mark.every(4)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_relevant_features_come_first(task, ensemble):
    relevant, rankings = relevant_and_rankings(task, ensemble)
    for name, ranking in rankings.items():
        assert set(ranking.top(4)) == relevant, name


@pytest.mark.parametrize("task", TASKS)
def test_untested_features_have_score_zero_and_both_tree_scores_the_same_support(task):
    rng = np.random.default_rng(1)
    data = random_dataset(rng, task, n=40)
    X = data.X.assign(constant=1.0, rare=np.r_[1.0, np.zeros(data.n_examples - 1)])
    data = om.Dataset(X, data.target, task=task, hierarchy=data.hierarchy)
    fitted = genie3_forest("permutation", n_trees=4, random_state=0).fit(data)
    genie3, symbolic, permutation = (fitted.rankings_[name].scores for name in SCORES)
    assert genie3[-2:].tolist() == symbolic[-2:].tolist() == permutation[-2:].tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(genie3 > 0, symbolic > 0)
    assert not permutation[genie3 == 0].any()
    assert (genie3 >= 0).all()


@pytest.mark.every(12)
@pytest.mark.parametrize(("bootstrap", "ensemble"), [(True, "RandomForest"), (False, "ExtraTrees")])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_importances_agree_with_scikit_learn(bootstrap, ensemble, n_targets):
    from sklearn import ensemble as sk

    X, y = sklearn_problem(n_targets)
    options = {"max_features": 0.5, "min_samples_leaf": 1, "bootstrap": bootstrap, "random_state": 0, "n_jobs": 2}
    theirs = getattr(sk, f"{ensemble}Regressor")(300, **options).fit(X, y / y.std(axis=0))
    kind = {"RandomForest": "random-forest", "ExtraTrees": "extra-trees"}[ensemble]
    ours = genie3_forest(ensemble=kind, n_trees=300, **options).fit(X, y)
    assert np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1] > 0.99
    shares = ours.feature_importances_ / ours.feature_importances_.sum()
    np.testing.assert_allclose(shares, theirs.feature_importances_, atol=0.02)


def sklearn_problem(n_targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = np.column_stack([X[:, j] * (3 - j) + X[:, j + 1] ** 2 + rng.normal(size=300) for j in range(n_targets)])
    return X, y[:, 0] if n_targets == 1 else y * [1.0, 10.0, 100.0]


# -- limits -------------------------------------------------------------------------------------------------


def scores_of(data, rules=None, **options):
    fitted = genie3_forest("permutation", rules=rules, n_trees=10, random_state=0, **options).fit(data)
    return [fitted.rankings_[name].scores for name in SCORES]


def test_one_target_of_several_is_the_one_target():
    data = tiny_dataset("regression")
    several = om.Dataset(data.features, data.y[:, None], task="multi-target-regression")
    np.testing.assert_array_equal(scores_of(data), scores_of(several))


def test_a_constant_target_beside_others_changes_nothing():
    data = tiny_dataset("regression")
    both = om.Dataset(
        data.features, np.column_stack([data.y, np.ones(data.n_examples)]), task="multi-target-regression"
    )
    np.testing.assert_allclose(scores_of(both), scores_of(data), rtol=1e-9, atol=1e-12)


def test_a_hierarchy_of_roots_is_multi_label():
    data = tiny_dataset("multi-label")
    roots = om.Hierarchy.flat(data.target_names)
    flat = om.Dataset(data.features, data.target, task="hierarchical-multi-label", hierarchy=roots)
    rules = {"normalize_targets": True}  # by default, labels of a hierarchy are divided by one number
    np.testing.assert_array_equal(scores_of(data, rules), scores_of(flat, rules))


def test_symbolic_counts_tests_and_the_root_counts_once():
    data = tiny_dataset("regression")
    counts = scores_of(data, symbolic_weight=1.0, max_depth=1)[1]
    assert counts.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(scores_of(data, max_depth=1)[1], counts)
    assert scores_of(data)[1].sum() > 1


def test_bagging_without_bootstrap_grows_one_tree_many_times():
    data = tiny_dataset("regression")
    with pytest.warns(UserWarning, match="the same tree up to ties"):
        fitted = genie3_forest(ensemble="bagging", bootstrap=False, n_trees=3, rules={"tie_break": "first"}).fit(data)
    # the order in which a seed leaves rows of a node may change the last digit of a sum
    np.testing.assert_allclose(fitted.ranking_.standard_errors, 0, atol=1e-12 * fitted.ranking_.scores.max())
    genie3_forest(ensemble="bagging", bootstrap=False, n_trees=1).fit(data)
    genie3_forest(bootstrap=False, n_trees=2).fit(data)


# -- trees, seeds and workers -------------------------------------------------------------------------------


def test_first_trees_are_the_smaller_ensemble():
    data = tiny_dataset("multi-label")
    options = {"importance": "permutation", "per_target": True, "random_state": 0}
    large = genie3_forest(**options, n_trees=(12, 1, 5)).fit(data)
    assert list(large.checkpoints_) == [1, 5, 12]
    small = genie3_forest(**options, n_trees=5).fit(data)
    assert same_rankings(large.checkpoints_[5], small.rankings_)
    assert large.checkpoints_[5]["genie3"] == small.rankings_["genie3"]
    assert large.checkpoints_[12]["permutation"] == large.ranking_
    assert large.checkpoints_[1]["genie3"].standard_errors is None


def test_checkpoints_do_not_depend_on_blocks(monkeypatch):
    data = tiny_dataset("multi-target-regression")
    options = {"n_trees": [3, 8, 9, 20], "per_target": True, "random_state": 0}
    whole = genie3_forest(**options).fit(data)
    monkeypatch.setattr(run, "MOST_BYTES", 1)
    cut = genie3_forest(**options).fit(data)
    assert list(cut.checkpoints_) == [3, 8, 9, 20]
    for size in whole.checkpoints_:
        assert same_rankings(whole.checkpoints_[size], cut.checkpoints_[size])


@pytest.mark.parametrize("importance", ["permutation", "unbiased"])
def test_rankings_of_different_seeds_merge(importance):
    data = tiny_dataset("multi-target-regression")
    options = {"importance": importance, "per_target": True, "n_trees": 10}
    parts = [genie3_forest(**options, random_state=seed).fit(data) for seed in (0, 1)]
    for name, first in parts[0].rankings_.items():
        second = parts[1].rankings_[name]
        merged = first.merge(second)
        assert merged.parameters["n_trees"] == 20
        if name == "unbiased":  # no mean of scores, but of what they are made of
            for part in ("mean", "root", "other_mean"):
                expected = (getattr(first.state, part) + getattr(second.state, part)) / 2
                np.testing.assert_allclose(getattr(merged.state, part), expected, rtol=1e-9, atol=1e-12)
            continue
        np.testing.assert_allclose(merged.scores, (first.scores + second.scores) / 2, rtol=1e-12, atol=1e-15)
        if merged.per_target is not None:
            expected = (first.per_target.scores + second.per_target.scores) / 2
            np.testing.assert_allclose(merged.per_target.scores, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(DataError, match="random streams 0 to 9"):
        parts[0].ranking_.merge(genie3_forest(**options, random_state=0).fit(data).ranking_)


def test_rankings_with_other_weights_do_not_merge():
    data = tiny_dataset("regression")
    first = genie3_forest(n_trees=3, random_state=0).fit(data)
    weight = np.ones(data.n_examples)
    weight[0] = 2
    second = genie3_forest(n_trees=3, random_state=1).fit(data, sample_weight=weight)
    with pytest.raises(DataError, match="different data"):
        first.ranking_.merge(second.ranking_)


@pytest.mark.slow
def test_auto_grows_until_the_ranking_has_converged():
    clear, _ = om.datasets.make_friedman(300, random_state=0)
    easy = genie3_forest(n_trees="auto", random_state=0).fit(clear)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 20)), rng.normal(size=60)
    hard = om.EnsembleRanker("permutation", n_trees="auto", max_depth=2, random_state=0).fit(*noise)
    assert 20 <= easy.n_trees_ < hard.n_trees_ == 1000
    assert easy.certainty_.remark == ""
    assert str(hard.certainty_).endswith("; the ranking has not converged after 1000 trees, the most of 'auto'")
    ranking = easy.ranking_
    assert 1 - np.mean(ranking.standard_errors**2) / np.var(ranking.scores) >= 0.99
    assert ranking.parameters["n_trees"] == easy.n_trees_
    assert genie3_forest(n_trees=easy.n_trees_, random_state=0).fit(clear).ranking_ == ranking


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_runs():
    data = tiny_dataset("regression")
    runs = [genie3_forest(n_trees=50, random_state=seed).fit(data).ranking_ for seed in range(60)]
    spread = np.std([run.scores for run in runs], axis=0, ddof=1)
    expected = np.mean([run.standard_errors for run in runs], axis=0)
    np.testing.assert_allclose(spread, expected, rtol=0.35)
