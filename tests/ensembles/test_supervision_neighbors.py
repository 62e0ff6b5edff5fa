"""Whether neighbours prefer an unsupervised ranking: against the definition, and where it must and must not win."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import omnirank as om
from omnirank.core.seeds import stream
from omnirank.ensembles import supervision
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.supervision import _by_neighbors, neighbor_losses, resolve_supervision
from omnirank.tasks import clustering_columns, get_task
from reference import ensembles_cases
from reference.ensembles_cases import genie3_forest

pytestmark = pytest.mark.filterwarnings("ignore:feature .*identifier:UserWarning")


def columns_of(data, rules):
    part = data.take(data.labelled)
    columns = get_task(data.task).columns(part.target, data.hierarchy, rules.hierarchy_weight)
    return columns, clustering_columns(columns, None, True)


def hidden_structure(seed, n=300, n_labelled=60):
    """Twelve features made of three numbers, forty of noise; the class is an exclusive or of two of the numbers."""
    rng = np.random.default_rng(seed)
    inner = rng.normal(size=(n, 3))
    related = inner @ rng.normal(size=(3, 12)) + 0.2 * rng.normal(size=(n, 12))
    y = (inner[:, 0] > 0) != (inner[:, 1] > 0)
    X = np.column_stack([related, rng.normal(size=(n, 40))])
    return om.Dataset(X, np.array(["a", "b"])[y.astype(int)]).keep_labels(n_labelled, random_state=seed)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_losses_are_those_of_the_definition(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    y = X[:, 0] + X[:, 1] if task == "regression" else np.where(X[:, 0] > 0, "a", "b")
    data = om.Dataset(X, y, task=task).keep_labels(45, random_state=0)
    rules, entropy = GrowingRules(), 3
    columns, clustering = columns_of(data, rules)
    found = neighbor_losses(GrowingData(data, entropy), rules, clustering, 5)
    rows = np.flatnonzero(data.labelled)
    order = stream(entropy, 2**31 + 1).permutation(45)
    options = {"n_trees": 5, "random_state": entropy}
    unsupervised = genie3_forest(supervision=0, **options).fit(data).rankings_
    for fold in (order[f::3] for f in range(3)):
        hidden = data.hide_labels(rows[fold])
        supervised = genie3_forest(supervision=1, **options).fit(hidden).rankings_
        outside = np.setdiff1d(np.arange(45), fold)
        span = np.ptp(X[rows[outside]], axis=0)
        for (level, rankings), score in product(((0.0, unsupervised), (1.0, supervised)), ("genie3", "symbolic")):
            for place in fold:
                away = ((X[rows[outside]] - X[rows[place]]) / span) ** 2 @ rankings[score].scores
                nearest = outside[np.argsort(away, kind="stable")[:10]]
                means = columns.matrix[nearest].mean(axis=0)
                error = (means - columns.matrix[place])[clustering.columns] ** 2 @ clustering.weights
                assert found[score][level][place] == pytest.approx(error)


@pytest.mark.parametrize("task", ensembles_cases.TASKS)
def test_every_task_has_losses(task):
    data = ensembles_cases.random_dataset(np.random.default_rng(1), task, 60).keep_labels(30, random_state=1)
    rules = GrowingRules()
    _, clustering = columns_of(data, rules)
    found = neighbor_losses(GrowingData(data, 0), rules, clustering, 2)
    assert set(found) == {"genie3", "symbolic"}
    assert all(np.isfinite(losses).all() for by_level in found.values() for losses in by_level.values())


def test_few_examples_of_a_fold_are_judged(monkeypatch):
    data = hidden_structure(0)
    _, clustering = columns_of(data, GrowingRules())
    whole = neighbor_losses(GrowingData(data, 0), GrowingRules(), clustering, 2)
    monkeypatch.setattr(supervision, "_MOST_JUDGED", 5)
    some = neighbor_losses(GrowingData(data, 0), GrowingRules(), clustering, 2)
    for score, level in product(("genie3", "symbolic"), (0.0, 1.0)):
        judged = ~np.isnan(some[score][level])
        assert judged.sum() == 15
        np.testing.assert_array_equal(some[score][level][judged], whole[score][level][judged])


def test_too_few_labels_are_not_dealt_into_folds():
    rules = GrowingRules()
    for n_labelled, target in ((5, np.arange(30.0)), (12, np.r_[1.0, np.zeros(29)])):
        hidden = np.arange(30) >= n_labelled
        y = np.where(hidden, np.nan, target)
        data = om.Dataset(np.random.default_rng(0).normal(size=(30, 3)), y, task="regression")
        _, clustering = columns_of(data, rules)
        assert neighbor_losses(GrowingData(data, 0), rules, clustering, 2) is None
        assert resolve_supervision("auto", GrowingData(data, 0), rules, n_ranked=100).level > 0


def test_only_what_is_clear_by_both_scores_makes_a_ranking_unsupervised():
    supervised = np.random.default_rng(0).random(40)
    noise = np.random.default_rng(1).normal(size=40) / 10
    noise -= noise.mean()
    standard_error = noise.std(ddof=1) / np.sqrt(40)

    def levels(factor):
        better = supervised + noise - factor * standard_error
        return {0.0: np.append(better, np.nan), 1.0: np.append(supervised, np.nan)}

    for one, other in ((1.9, 1.9), (1.9, 2.1), (2.1, 1.9)):
        assert _by_neighbors({"genie3": levels(one), "symbolic": levels(other)}, np.ones(41)) is None
    found = _by_neighbors({"genie3": levels(2.1), "symbolic": levels(2.1)}, np.ones(41))
    assert (found.level, found.chosen, found.paired) == (0.0, True, False)
    better = supervised.mean() - 2.1 * standard_error
    assert found.curve == pytest.approx({0.0: better, 1.0: supervised.mean()})


@pytest.mark.slow
def test_features_that_hang_together_are_found_without_labels():
    shares = {"auto": [], 1: []}
    for seed in range(4):
        data = hidden_structure(seed)
        for level, found in shares.items():
            ranker = genie3_forest(n_trees=64, supervision=level, random_state=seed).fit(data)
            found.append(np.isin(ranker.ranking_.order[:12], np.arange(12)).mean())
            if level == "auto":
                assert "pairs" not in ranker.supervision_reason_ or ranker.supervision_ > 0
    assert np.mean(shares["auto"]) > np.mean(shares[1]) + 0.2


@pytest.mark.slow
def test_an_unsupervised_choice_is_the_unsupervised_ranking():
    for seed in range(10):
        data = hidden_structure(seed)
        ranker = genie3_forest(n_trees=64, random_state=seed).fit(data)
        if ranker.supervision_ == 0:
            break
    assert "predicted by neighbours" in ranker.supervision_reason_
    assert set(ranker.supervision_curve_) == {0.0, 1.0}
    alone = genie3_forest(n_trees=64, supervision=0, random_state=seed).fit(data)
    np.testing.assert_array_equal(ranker.ranking_.scores, alone.ranking_.scores)
    fitted = om.PCTForestClassifier(n_trees=3, random_state=seed).fit(data)
    assert set(fitted.supervision_curve_) == {0.25, 0.5, 0.75, 1.0}  # predictors ask out of bag only


def test_very_few_trees_are_supervised():
    data = hidden_structure(0)
    found = resolve_supervision("auto", GrowingData(data, 0), GrowingRules(), n_ranked=11)
    assert (found.level, found.reason) == (1.0, "fewer than 12 trees are too few to compare levels of supervision")
    few = data.keep_labels(2, random_state=0)
    target = few.y[few.labelled]
    if len(set(target)) == 2:
        assert resolve_supervision("auto", GrowingData(few, 0), GrowingRules(), n_ranked=11).level == 0.5
