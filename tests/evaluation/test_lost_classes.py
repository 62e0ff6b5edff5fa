"""Parts of the data in which a class is lost: their features tell nothing, and the whole is still ranked."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import ConstantTargetError
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import make_folds


def rare(n=40):
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, np.array(["a"] * (n - 1) + ["b"])


def rankers():
    trees = om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0)
    return [trees, om.SEFRRanker(random_state=0), om.PerTargetRanker(trees)]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", rankers(), ids=lambda ranker: type(ranker).__name__)
def test_select_and_stability_rank_parts_without_the_rare_class(ranker):
    X, y = rare()
    if isinstance(ranker, om.PerTargetRanker):
        y = np.column_stack([y, y]).astype(object)
    chosen = om.select(ranker, X, y, random_state=0)
    assert 1 <= len(chosen.names) <= 4
    found = om.stability(ranker, X, y, n_resamples=8, random_state=0)
    assert 0 < found.n_equal < 8
    assert f"{found.n_equal} of them with equal scores only" in found.summary


def test_a_ranker_chooses_its_features_where_folds_lose_a_class():
    X, y = rare()
    ranker = om.EnsembleRanker(
        "genie3", n_trees=3, min_samples_leaf=1, random_state=0, n_features_to_select="auto"
    ).fit(X, y)
    assert ranker.get_support().any()


@pytest.mark.slow
def test_forests_judge_where_folds_lose_a_class():
    X, y = rare()
    assert om.select(
        om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0), X, y, by="forest", random_state=0
    ).names


def test_resampled_trees_where_resamples_lose_a_class():
    X, y = rare()
    base = om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1)
    ranking = om.ResampledRanker(base, examples="subsample", n_iterations=6, random_state=0).fit(X, y).ranking_
    assert "genie3" in ranking.method


def test_folds_that_lose_a_class_are_evaluated():
    data = om.Dataset(*rare())
    folds = make_folds(data, "cross-validation", n_folds=4, random_state=0)
    assert (
        len(
            evaluate_folds(
                om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0), data, folds, 3
            ).frame
        )
        == 4
    )


def test_a_target_that_is_constant_everywhere_is_still_an_error():
    X, _ = rare()
    y = np.array(["a"] * len(X))
    trees = om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0)
    for asked in (om.select, om.stability, om.significance):
        with pytest.raises(ConstantTargetError, match=r"one class only \('a'\): there is nothing to learn"):
            asked(trees, X, y, random_state=0)
