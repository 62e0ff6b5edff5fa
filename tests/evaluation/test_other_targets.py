"""A ranking made for one target is not evaluated for another one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError


def named(target, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=40)).to_numpy()
    return om.Dataset(X, y if target is None else pd.Series(y, name=target))


def test_a_ranking_for_another_target_of_the_same_task_is_refused(tmp_path):
    data = named("weight")
    ranking = om.UnivariateRanker().fit(named("height")).ranking_
    ranking.save(tmp_path / "ranking.json")
    for given in (ranking, om.Ranking.load(tmp_path / "ranking.json")):
        with pytest.raises(DataError, match="made for another target: 'height', that of the data is 'weight'"):
            om.evaluate(given, data, data, 3)


@pytest.mark.parametrize(("made_for", "used_for"), [("height", "height"), (None, "height"), ("height", None)])
def test_the_same_target_and_targets_without_a_name_go_together(made_for, used_for):
    data = named(used_for)
    assert om.evaluate(om.UnivariateRanker().fit(named(made_for)), data, data, 3)


def test_a_ranking_without_target_goes_with_every_target():
    data = named("height")
    ranking = om.UnivariateRanker().fit(named("height").features.to_frame()).ranking_
    assert ranking.targets == ()
    assert om.evaluate(ranking, data, data, 3)


def test_one_of_several_targets_is_enough():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = pd.DataFrame(rng.normal(size=(40, 2)), columns=["p", "q"])
    both = om.Dataset(X, Y)
    ranking = om.EnsembleRanker(n_trees=3, random_state=0, per_target=True).fit(both).ranking_
    assert om.evaluate(ranking.for_target("q"), both, both, 3)
