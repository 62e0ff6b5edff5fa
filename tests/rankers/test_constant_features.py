"""Constant features come last and are not selected, whatever their scores are."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.registry import methods
from omnirank.errors import DataError

BASELINES = ("random", "uniform")

pytestmark = pytest.mark.filterwarnings("ignore:feature", "ignore:all features are constant")


def data(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    X[:, 0] = 1.0
    X[:, 3] = np.nan
    return X, X[:, 1] + 2 * rng.normal(size=n)


def fitted(name):
    X, y = data()
    ranker = om.make_ranker(name)
    if "random_state" in ranker.get_params(deep=False):
        ranker.set_params(random_state=0)
    if "supervised" not in ranker.supported_supervision:
        y = None
    elif "regression" not in ranker.supported_tasks:
        y = y > 0
    return ranker.fit(X, y)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", [m.name for m in methods() if m.name not in BASELINES])
def test_constant_features_come_last(name):
    ranker = fitted(name)
    for ranking in ranker.rankings_.values():
        assert set(ranking.constant) == {"x0", "x3"}
        assert set(ranking.top(3)) == {"x1", "x2", "x4"}
        assert set(ranking.ranks[[0, 3]]) == {4, 5}
        assert ranking.tied_ranks()[[0, 3]].tolist() == [4.5, 4.5]


def test_baselines_do_not_look_at_the_data():
    assert fitted("uniform").ranking_.top(1) == ["x0"]
    assert fitted("random").ranking_.constant == ()


@pytest.mark.parametrize("supervised", [True, False])
def test_constant_features_are_not_selected(supervised):
    X, y = data()
    chosen = om.select(om.UnivariateRanker(), X, y if supervised else None, random_state=0)
    assert not {"x0", "x3"} & set(chosen.names)
    ranker = om.UnivariateRanker(n_features_to_select="auto").fit(X, y if supervised else None)
    assert not ranker.get_support()[[0, 3]].any()


def test_files_and_merged_rankings_keep_the_constant_features(tmp_path):
    X, y = data()
    first, second = (om.EnsembleRanker(n_trees=3, random_state=0, first_tree=i).fit(X, y).ranking_ for i in (0, 3))
    assert first.merge(second).constant == ("x0", "x3")
    for path in (tmp_path / "ranking.json", tmp_path / "ranking.csv"):
        first.save(path)
        found = om.Ranking.load(path)
        assert (found.constant, found.targets) == (("x0", "x3"), ("y",))
        np.testing.assert_array_equal(found.order, first.order)
    table = (tmp_path / "ranking.csv").read_text().splitlines()[-2:]
    assert {row.split(",")[1] for row in table} == {"x0", "x3"}


def test_a_constant_feature_must_be_one_of_the_ranking():
    with pytest.raises(DataError, match="constant feature 'c' is no feature"):
        om.Ranking(["a", "b"], [1.0, 2.0], "m", constant=("c",))


def test_one_target_of_several_keeps_what_is_constant():
    X, y = data()
    ranking = om.EnsembleRanker(n_trees=3, random_state=0, per_target=True).fit(X, np.column_stack([y, y])).ranking_
    assert ranking.for_target("y2").constant == ("x0", "x3")
    assert ranking.for_target("y2").targets == ("y2",)
