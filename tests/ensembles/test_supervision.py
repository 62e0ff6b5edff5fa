"""The level of supervision by cross-validation: who predicts, who is predicted, and which level wins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import omnirank as om
from draws import draws
from omnirank.ensembles import supervision
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.supervision import ToFit, _Comparison, best_level, resolve_supervision
from omnirank.errors import ParameterError
from omnirank.measures import measure
from omnirank.trees.pruning import M5_PENALTY, Pruning
from reference import ensembles_levels

TREE = GrowingRules("bagging", bootstrap=False, min_samples_leaf=1)


def numbers(seed=0, n=60, n_labelled=26):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return om.Dataset(X, X[:, 0] + 0.3 * rng.normal(size=n)).keep_labels(n_labelled, random_state=seed)


def clusters(seed=0, n=300, agree=True):
    """Four clusters in twenty features: the classes, or nothing to do with them (one more feature tells them)."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 4, n)
    centres = 0.9 * rng.choice([-1.0, 1.0], size=(4, 20))
    X = np.column_stack([0.5 * rng.normal(size=(n, 20)) + centres[cluster], rng.normal(size=(n, 2))])
    y = cluster if agree else (X[:, -1] > 0).astype(int)
    return om.Dataset(X, np.array(list("abcd"))[y]).keep_labels(24, random_state=seed)


def predicted(data, level, rules=TREE, to_fit=ToFit(1), folds=3):  # noqa: B008
    compared = _Comparison(data, rules, to_fit, [level], folds)
    means = np.full((len(compared.folds), 1), np.nan)
    for rows, of_fold in compared.predicted(level):
        means[rows] = of_fold
    return means[:, 0], compared.folds


# -- who predicts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pruning", [None, Pruning(M5_PENALTY)])
def test_a_fold_is_predicted_by_the_tree_of_the_others(pruning):
    data = numbers()
    means, folds = predicted(GrowingData(data, 5), 1.0, to_fit=ToFit(1, pruning))
    part = data.take(data.labelled)
    for fold in range(3):
        tree = om.PCTRegressor(min_samples_leaf=1, pruning="m5" if pruning else None, random_state=5)
        tree.fit(part.take(folds != fold))
        np.testing.assert_allclose(tree.predict(part.take(folds == fold)), means[folds == fold])


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rules", [TREE, GrowingRules("random-forest", min_samples_leaf=1)], ids=["tree", "forest"])
def test_labels_of_a_fold_do_not_change_its_predictions(level, rules):
    data, n_trees = numbers(), 1 if rules is TREE else 5
    before, folds = predicted(GrowingData(data, 2), level, rules, ToFit(n_trees))
    rows = np.flatnonzero(data.labelled)[folds == 1]
    y = np.array(data.y)
    y[rows] = y[rows][::-1]
    after, _ = predicted(GrowingData(om.Dataset(data.X, y), 2), level, rules, ToFit(n_trees))
    np.testing.assert_allclose(before[folds == 1], after[folds == 1])
    assert level == 0 or (before[folds == 0] != after[folds == 0]).any()


def test_folds_keep_groups_together_and_divide_classes_evenly():
    data = clusters()
    folds = _Comparison(GrowingData(data, 0), TREE, ToFit(1), [1.0], 3).folds
    for name in "abcd":
        counts = np.bincount(folds[data.y[data.labelled] == name], minlength=3)
        assert counts.max() - counts.min() <= 1
    groups = np.arange(data.n_examples) // 3
    whole = GrowingData(data, 0, groups=groups)
    folds = _Comparison(whole, TREE, ToFit(1), [1.0], 3).folds
    for group in np.unique(groups[data.labelled]):
        assert len(set(folds[groups[data.labelled] == group])) == 1


def test_bags_are_not_empty_where_few_examples_are_labelled():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = om.Dataset(rng.normal(size=(12, 3)), rng.normal(size=12)).keep_labels(4, random_state=seed)
        rules = GrowingRules(supervision=1.0, min_samples_leaf=1)
        plan = GrowingData(data, seed).plan(replace(rules, supervision=0.5))
        labelled = np.flatnonzero(data.labelled)
        for out in (labelled[:1], labelled[:2], labelled[1:]):
            left = replace(plan, left_out=np.isin(np.arange(12), out))
            for i in range(10):
                counts = left.counts(i)
                assert not counts[out].any()
                assert counts[labelled].any()
                drawn = plan.counts(i)
                if drawn[np.setdiff1d(labelled, out)].any():
                    assert (np.delete(counts, out) == np.delete(drawn, out)).all()
        means, _ = predicted(GrowingData(data, seed), 1.0, rules, ToFit(3))
        assert np.isfinite(means).all()


# -- which level wins ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(3, 12), shift=st.sampled_from([0.0, 0.125, 0.375]))
@draws(60)
def test_the_winner_is_that_of_the_definition(seed, n, shift):
    rng = np.random.default_rng(seed)
    folds, weights = rng.permutation(np.arange(n) % 3), rng.choice([1.0, 2.0, 0.5], n)
    losses = {w: rng.integers(0, 9, n) / 8 - shift * (w < 1) for w in (0.0, 0.25, 0.5, 0.75, 1.0)}

    def of_folds(level):
        return ((np.flatnonzero(folds == fold), losses[level][folds == fold]) for fold in range(3))

    found = best_level([1.0, 0.75, 0.5, 0.25, 0.0], of_folds, weights)
    expected = ensembles_levels.winner({w: list(map(float, v)) for w, v in losses.items()}, list(weights), list(folds))
    assert found.level == expected
    assert found.curve[1.0] == pytest.approx(np.average(losses[1.0], weights=weights))


@pytest.mark.parametrize(("factor", "level"), [(0.95, 1.0), (1.05, 0.5)])
def test_the_gain_must_exceed_one_standard_error_of_a_mean_of_few_examples(factor, level):
    """With three examples, dividing by n and not by n - 1 would make the threshold 0.82 standard errors."""
    away = np.array([-0.2, 0.05, 0.15])
    supervised = np.array([0.6, 0.8, 0.7])
    losses = {1.0: supervised, 0.5: supervised + away - factor * away.std(ddof=1) / np.sqrt(3)}
    found = best_level([1.0, 0.5], lambda w: [(np.arange(3), losses[w])], np.ones(3))
    assert found.level == level
    assert ("so they were ignored" in found.reason) == (level == 1)


def test_a_level_that_is_clearly_worse_after_a_fold_grows_no_more_trees():
    asked = []
    losses = {1.0: [1.0, 1.1] * 3, 0.5: [2.0, 2.2, 0.0, 0.0, 0.0, 0.0], 0.0: [0.9, 0.9, 0.5, 0.5, 0.4, 0.4]}

    def of_folds(level):
        for fold in range(3):
            asked.append((level, fold))
            yield np.array([2 * fold, 2 * fold + 1]), np.array(losses[level][2 * fold : 2 * fold + 2])

    found = best_level([1.0, 0.5, 0.0], of_folds, np.ones(6))
    assert found.level == 0
    assert sorted(found.curve) == [0.0, 1.0]
    assert [fold for level, fold in asked if level == 0.5] == [0]


@pytest.mark.slow
@pytest.mark.parametrize("agree", [True, False])
def test_unlabelled_examples_are_used_where_clusters_are_classes(agree):
    rules = GrowingRules("extra-trees")
    found = [
        resolve_supervision("auto", GrowingData(clusters(seed, agree=agree), seed), rules, ToFit(50)).level
        for seed in range(6)
    ]
    assert sum(level < 1 for level in found) >= 5 if agree else sum(level < 1 for level in found) <= 1


def test_a_tree_is_judged_as_a_tree_and_a_forest_by_a_fifth_of_its_trees(monkeypatch):
    grown = []
    pruned = GrowingPlan.pruned

    def spy(plan, pruning, i, counts=None):
        if plan.left_out is not None:
            grown.append((plan.rules.ensemble, plan.rules.bootstraps, pruning, i))
        return pruned(plan, pruning, i, counts)

    monkeypatch.setattr(GrowingPlan, "pruned", spy)
    data = om.datasets.load_sample("linnerud").keep_labels(12, random_state=0)
    for n_trees, most in ((1, 1), (4, 1), (30, 6), (500, 10)):
        grown.clear()
        resolve_supervision("auto", GrowingData(data, 0), GrowingRules("extra-trees"), ToFit(n_trees))
        assert {i for *_, i in grown} == set(range(most))
        assert {ensemble for ensemble, *_ in grown} == {"extra-trees"}
        assert n_trees < 5 or len(grown) <= 3 * n_trees
    grown.clear()
    om.PCTRegressor(random_state=0).fit(data)
    assert {(bootstraps, pruning) for _, bootstraps, pruning, _ in grown} == {(False, Pruning(M5_PENALTY))}


@pytest.mark.parametrize("visited", [(0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 6, 9)], ids=["whole levels", "left early"])
def test_a_long_choice_is_announced_once_to_whoever_waits(monkeypatch, visited):
    data, rules = GrowingData(numbers(), 0), GrowingRules("extra-trees")
    compared = _Comparison(data, rules, ToFit(1), supervision.RANKING_LEVELS, 3)
    monkeypatch.setattr(supervision, "_LONG_SECONDS", 0.0)
    with pytest.warns(UserWarning, match="supervision=1 avoids it") as said:
        list(map(compared._step, visited))
    assert len(said) == 1


# -- the measures of the papers ------------------------------------------------------------------------------


def test_cv_takes_the_level_with_the_best_measure_of_all_labelled_examples():
    data = numbers(n_labelled=30)
    found = resolve_supervision({"levels": [1, 0.5, 0], "folds": 4}, GrowingData(data, 0), TREE, ToFit(1))
    part = data.take(data.labelled)
    for level, value in found.curve.items():
        means, folds = predicted(GrowingData(data, 0), level, folds=4)
        assert folds.max() == 3
        own = measure(part.target, means[:, None], training=part.target, task=data.task)
        assert value == pytest.approx(own["rrmse"])
    assert found.level == min(found.curve, key=found.curve.get)
    assert "RRMSE" in found.reason


@pytest.mark.parametrize(("task", "title"), [("classification", "macro F1"), ("multi-label", "AU(avg PRC)")])
def test_cv_uses_the_measure_of_the_task(task, title):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X[:, :2] > 0 if task == "multi-label" else np.where(X[:, 0] > 0, "a", "b")
    data = om.Dataset(X, y, task=task).keep_labels(30, random_state=0)
    model = om.PCTClassifier(supervision="cv", random_state=0).fit(data)
    assert model.supervision_reason_.startswith(title)
    assert sorted(model.supervision_curve_) == [i / 10 for i in range(11)]
    best = max(model.supervision_curve_.values())
    assert model.supervision_ == max(w for w, value in model.supervision_curve_.items() if value == best)


def test_cv_compares_levels_of_fully_labelled_data_and_auto_does_not():
    data = clusters().take(clusters().labelled)
    model = om.PCTClassifier(supervision={"levels": [0.5, 1]}, random_state=0).fit(data)
    assert set(model.supervision_curve_) == {0.5, 1.0}
    assert om.PCTClassifier(random_state=0).fit(data).supervision_ == 1
    half = om.PCTClassifier(supervision=0.5, pruning=None, random_state=0).fit(data)
    full = om.PCTClassifier(supervision=1, pruning=None, random_state=0).fit(data)
    assert half.tree_.feature.tolist() != full.tree_.feature.tolist()


@pytest.mark.slow
def test_choices_are_plain_dicts_that_travel(tmp_path):
    asked = {"levels": [0, 0.5, 1], "folds": 2, "measure": "accuracy"}
    ranker = om.EnsembleRanker(n_trees=3, supervision=asked, random_state=0)
    assert clone(ranker).get_params()["supervision"] == asked
    ranker.fit(clusters())
    assert set(ranker.supervision_curve_) == {0.0, 0.5, 1.0}
    ranker.ranking_.save(tmp_path / "ranking.json")
    recorded = om.Ranking.load(tmp_path / "ranking.json").parameters["supervision"]
    assert {name: list(value) if name == "levels" else value for name, value in recorded.items()} == asked
    for wrong in ({"folds": 1}, {"levels": [2]}, {"level": [1]}, {"levels": []}, "best", 1.5):
        with pytest.raises(ParameterError, match="supervision="):
            om.EnsembleRanker(supervision=wrong).fit(clusters())
    with pytest.raises(ParameterError, match="measure='rrmse'"):
        om.EnsembleRanker(supervision={"measure": "rrmse"}).fit(clusters())


@pytest.mark.parametrize("seed", [1, 5])
def test_a_ranking_depends_on_the_target(seed):
    # trees without the target predict better here: they fit no noise
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 300))
    y = X[:, 0] + X[:, 1] + rng.normal(size=200)
    y[40:] = np.nan
    ranker = om.EnsembleRanker(random_state=seed).fit(X, y)
    assert set(ranker.supervision_curve_) <= {0.25, 0.5, 0.75, 1.0}
    assert max(ranker.ranking_.ranks[:2]) <= 10


def test_too_few_labels():
    data = numbers()
    whole = replace(GrowingRules(), min_samples_leaf=2)
    one = data.keep_labels(1, random_state=0)
    assert resolve_supervision("auto", GrowingData(one, 0), whole, ToFit(10)).level == 0
    two = resolve_supervision("auto", GrowingData(data.keep_labels(2, random_state=0), 0), whole, ToFit(10))
    assert 1.0 not in two.curve
    assert "too few to leave the others out" in two.reason


def test_where_nothing_beats_a_constant_unlabelled_examples_are_ignored():
    """Trees that say least of the target have the smallest loss then."""
    losses = {1.0: np.full(20, 1.4), 0.5: np.full(20, 1.2), 0.0: np.full(20, 1.03)}
    fold = lambda w: [(np.arange(20), losses[w] + np.arange(20) / 1000)]  # noqa: E731
    assert best_level([1.0, 0.5, 0.0], fold, np.ones(20)).level == 0
    chosen = best_level([1.0, 0.5, 0.0], fold, np.ones(20), constant=1.0)
    assert chosen.level == 1
    assert "1 for a constant prediction" in chosen.reason
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.exp(3 * rng.normal(size=200) + 0.3 * X[:, 0])
    y[60:] = np.nan
    assert om.PCTRegressor(random_state=0).fit(X, y).supervision_ == 1
