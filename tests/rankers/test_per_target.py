"""PerTargetRanker: the mean of the rankings for single targets."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.data.target import Target
from omnirank.errors import DataError, ParameterError
from omnirank.testing import check_ranker, tiny_dataset
from reference.ensembles_cases import DAG, TASKS, random_dataset


@pytest.mark.slow
@pytest.mark.parametrize("ranker", [om.UnivariateRanker(), om.EnsembleRanker(n_trees=3)], ids=["univariate", "trees"])
def test_omnirank_checks(ranker):
    check_ranker(om.PerTargetRanker(ranker))


def single_targets(data):
    """The data sets of single targets, by hand."""
    values = data.target.dense()
    for j, levels in enumerate(data.target.levels):
        known = ~np.isnan(values[:, j])
        X = data.take(known).features
        if data.target.is_labels:
            yield om.Dataset(X, values[known, j].astype(int))
        elif levels is None:
            yield om.Dataset(X, values[known, j], task="regression")
        else:
            cells = Target(data.target.names[j : j + 1], (levels,), values[known, j : j + 1], known[known])
            yield om.Dataset(X, cells, task="classification")


@pytest.mark.every(4)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("sparse_labels", [False, True])
def test_it_is_the_mean_over_the_targets(task, sparse_labels):
    hierarchy = DAG if task == "hierarchical-multi-label" else None
    data = random_dataset(np.random.default_rng(4), task, 30, hierarchy=hierarchy, sparse_labels=sparse_labels)
    base = om.EnsembleRanker("permutation", n_trees=4, supervision=1, random_state=3)
    fitted = om.PerTargetRanker(base).fit(data)
    expected = [om.EnsembleRanker("permutation", n_trees=4, random_state=3).fit(one) for one in single_targets(data)]
    assert set(fitted.rankings_) == {"genie3", "symbolic", "permutation"}
    for name, ranking in fitted.rankings_.items():
        scores = np.array([one.rankings_[name].scores for one in expected])
        np.testing.assert_allclose(ranking.per_target.scores, scores, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(ranking.scores, scores.mean(axis=0), rtol=1e-12, atol=1e-15)
        assert ranking.per_target.names == data.target_names
    assert fitted.ranking_.method == "permutation-per-target"
    assert fitted.task_ == task


def test_constant_targets_do_not_count():
    data = tiny_dataset("multi-target-regression")
    values = np.column_stack([data.y, np.full(data.n_examples, 3.0)])
    more = om.Dataset(data.features, values, task=data.task)
    expected = om.PerTargetRanker(om.UnivariateRanker()).fit(data)
    found = om.PerTargetRanker(om.UnivariateRanker()).fit(more)
    np.testing.assert_allclose(found.feature_importances_, expected.feature_importances_)
    assert not found.ranking_.per_target.scores[-1].any()
    nothing = om.Dataset(data.features, np.ones((data.n_examples, 2)) / 2, task=data.task)
    with pytest.raises(DataError, match=r"every target is constant .'y1', 'y2'"):
        om.PerTargetRanker(om.UnivariateRanker()).fit(nothing)


def test_seed_and_workers_go_to_the_ranker():
    data = tiny_dataset("multi-target-regression")
    ranker = om.EnsembleRanker(n_trees=4, random_state=5)
    own = om.PerTargetRanker(ranker).fit(data)
    given = om.PerTargetRanker(om.EnsembleRanker(n_trees=4), random_state=5, n_jobs=2).fit(data)
    np.testing.assert_array_equal(own.feature_importances_, given.feature_importances_)
    other = om.PerTargetRanker(ranker, random_state=6).fit(data)
    assert (own.feature_importances_ != other.feature_importances_).any()
    assert not hasattr(ranker, "ranking_")
    assert ranker.random_state == 5


def test_weights_of_examples_go_to_the_ranker():
    data = tiny_dataset("multi-target-regression")
    weight = np.r_[np.zeros(6), np.ones(data.n_examples - 6)]
    ranker = om.PerTargetRanker(om.UnivariateRanker())
    found = ranker.fit(data, sample_weight=weight).feature_importances_
    expected = om.PerTargetRanker(om.UnivariateRanker()).fit(data.take(slice(6, None)))
    np.testing.assert_allclose(found, expected.feature_importances_)
    with pytest.raises(ParameterError, match="RandomRanker takes no sample_weight"):
        om.PerTargetRanker(om.rankers.RandomRanker()).fit(data, sample_weight=weight)


def test_task_and_hierarchy_are_the_wrapper_s():
    with pytest.raises(ParameterError, match="parameters of PerTargetRanker"):
        om.PerTargetRanker(om.UnivariateRanker(task="regression")).fit(tiny_dataset("multi-target-regression"))


@pytest.mark.parametrize("influence", [(0.0, 1.0), "auto"])
def test_any_ranker_may_rank_for_single_targets(influence):
    data = tiny_dataset("multi-target-regression")
    relief = om.ReliefRanker(n_neighbors=5, influence=influence)
    ranking = om.PerTargetRanker(relief).fit(data).ranking_
    single = [relief.fit(om.Dataset(data.features, data.y[:, j])).ranking_.scores for j in range(data.n_targets)]
    np.testing.assert_allclose(ranking.per_target.scores, single, rtol=1e-12)
    assert ranking.parameters["ranker"]["name"] == "ReliefRanker"


def test_rankings_are_saved_with_what_made_them(tmp_path):
    data = tiny_dataset("multi-target-regression")
    ranking = om.PerTargetRanker(om.EnsembleRanker(n_trees=2, random_state=0)).fit(data).ranking_
    ranking.save(tmp_path / "ranking.json")
    again = om.Ranking.load(tmp_path / "ranking.json")
    assert again == ranking
    assert again.parameters["ranker"]["name"] == "EnsembleRanker"
    assert again.parameters["ranker"]["n_trees"] == 2
