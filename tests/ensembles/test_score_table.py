"""The table of scores: an entry is all that a score needs."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from omnirank.core.registry import get_method, methods
from omnirank.ensembles import FeatureScores, Score, register_score, unregister_score
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import SCORES, ScoreOptions, TreeScorer, get_score
from omnirank.errors import ParameterError
from omnirank.evaluation.experiments.fit import models_of_one_fit
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import genie3_forest


def out_of_bag_share(tree):
    """The share of examples out of bag where a feature is tested, which needs all that a score may ask for."""
    unseen = tree.counts == 0
    tested = np.isin(np.arange(tree.plan.dataset.n_features), tree.grown.feature)
    row = np.where(tested, unseen.mean() + tree.number, 0.0)
    table = np.tile(row, (tree.plan.columns.n_variables, 1)) if tree.options.per_target else None
    return FeatureScores(row, table, undefined=tree.number == 1)


@pytest.fixture
def toy():
    """A score from outside."""
    yield register_score("toy", Score(out_of_bag_share, "a toy", on_demand=True, needs_out_of_bag=True))
    unregister_score("toy")


def test_a_score_is_an_entry_of_the_table(toy):
    data = tiny_dataset("multi-target-regression")
    ranker = genie3_forest("toy", n_trees=3, per_target=True, random_state=0).fit(data)
    assert list(ranker.rankings_) == ["toy", "genie3", "symbolic"]
    assert ranker.ranking_.parameters["importance"] == "toy"
    assert ranker.ranking_.scores.max() > 1
    assert ranker.ranking_.per_target.scores.shape == (data.n_targets, data.n_features)
    assert ranker.n_undefined_ == 1
    assert "toy" not in genie3_forest(n_trees=2, random_state=0).fit(data).rankings_
    with pytest.raises(ParameterError, match="importance='toy': it needs out-of-bag examples"):
        genie3_forest("toy", bootstrap=False).fit(data)


def test_methods_that_cost_extra_share_no_fit_and_give_the_same_rankings(toy):
    data = tiny_dataset("regression")
    wanted = {
        (name, size): {"use": name, "parameters": {"n_trees": size}}
        for name in ("genie3", "permutation", "toy")
        for size in (2, 4)
    }
    found = models_of_one_fit(wanted, data, seed=3)
    for (name, size), ranking in found.items():
        alone = genie3_forest(name, "extra-trees", n_trees=size, random_state=3).fit(data).ranking_
        assert ranking.method == name
        np.testing.assert_array_equal(ranking.scores, alone.scores)


def test_every_score_is_a_method_of_its_name():
    for name, score in SCORES.items():
        method = get_method(name)
        assert dict(method.parameters) == {"importance": name}
        assert (method.summary, method.reference) == (score.summary, score.reference)


def test_a_score_is_registered_once(toy):
    with pytest.raises(ParameterError, match="there is a method called 'toy' already"):
        register_score("toy", toy)
    other = replace(toy, function=f"{__name__}:out_of_bag_share", summary="another toy")
    register_score("toy", other, replace=True)
    assert (get_score("toy"), get_method("toy").summary) == (other, "another toy")
    unregister_score("toy")
    assert "toy" not in [*SCORES, *(method.name for method in methods())]
    with pytest.raises(ParameterError, match="importance='toy'"):
        unregister_score("toy")
    register_score("toy", toy)


def test_workers_need_no_registration(toy):
    """What is sent to another process holds the score, which is registered in this one alone."""
    plan = GrowingData(tiny_dataset("regression"), 0).plan(GrowingRules())
    sent = pickle.dumps(TreeScorer.make(plan, ("toy",), ScoreOptions()).to_send())
    unregister_score("toy")
    assert pickle.loads(sent)(2)["toy"].row.max() > 2
    register_score("toy", toy)


@pytest.mark.parametrize("name", ["gini", None, ["genie3"], 3])
def test_there_is_no_such_score(name):
    with pytest.raises(ParameterError, match="choose one of genie3, symbolic, permutation, unbiased"):
        get_score(name)
