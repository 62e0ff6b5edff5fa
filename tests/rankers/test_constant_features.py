"""Constant features come last and are not selected, whatever their scores are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.core.registry import methods
from omnirank.rankers.refits import ranking_of_part

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


def test_sparse_features_are_constant_where_dense_ones_are():
    X = np.zeros((6, 7))
    X[1, 0] = X[:2, 1] = X[:, 3] = X[:5, 4] = np.nan  # 0 and missing, none known, or one known
    X[1, 1] = X[5, 2] = X[0, 6] = 1.0
    X[:, 5] = 2.0
    filled = sparse.csc_array((X.T.ravel(), np.tile(np.arange(6), 7), 6 * np.arange(8)), shape=X.shape)
    for layout in (X, sparse.csr_array(X), sparse.csc_array(X), filled):
        ranking = om.UnivariateRanker().fit(layout, [0.5, 1.5, 2.0, 1.0, 3.0, 2.5]).ranking_
        assert ranking.constant == ("x0", "x3", "x4", "x5")


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
    first, second = (om.EnsembleRanker(n_trees=3, random_state=i).fit(X, y).ranking_ for i in (0, 3))
    assert first.merge(second).constant == ("x0", "x3")
    for path in (tmp_path / "ranking.json", tmp_path / "ranking.csv"):
        first.save(path)
        found = om.Ranking.load(path)
        assert (found.constant, found.targets) == (("x0", "x3"), ("y",))
        np.testing.assert_array_equal(found.order, first.order)
    table = (tmp_path / "ranking.csv").read_text().splitlines()[-2:]
    assert {row.split(",")[1] for row in table} == {"x0", "x3"}


@pytest.mark.slow
def test_one_target_of_several_keeps_what_is_constant():
    X, y = data()
    ranking = om.EnsembleRanker(n_trees=3, random_state=0, per_target=True).fit(X, np.column_stack([y, y])).ranking_
    assert ranking.for_target("y2").constant == ("x0", "x3")
    assert ranking.for_target("y2").targets == ("y2",)


def one_constant(scores=(1.0, -1.0, -2.0, 2.0)):
    """Two constant features that score more than others."""
    return om.Ranking(["c", "a", "b", "d"], scores, "m", p_values=[0.001] * 4, constant=("c", "d"))


def test_no_selection_from_a_ranking_has_a_constant_feature():
    ranking = one_constant()
    assert ranking.positive() == []
    assert one_constant((1.0, 1.0, -2.0, 2.0)).positive() == ["a"]
    assert ranking.relevant() == ["a", "b"]
    for wanted in ({"threshold": -1.0}, {"n": 1}, {"share": 0.25}):
        assert ranking.select(**wanted).tolist() == [False, True, False, False], wanted
    for wanted in ({"threshold": -np.inf}, {"n": 3}, {"share": 1.0}):
        assert ranking.select(**wanted).tolist() == [False, True, True, False], wanted


def test_comparisons_have_constant_features_last():
    ranking = one_constant()
    last = om.Ranking(ranking.names, [-9.0, -1.0, -2.0, -9.0], "m")
    found = om.compare_rankings(ranking, last, k=2)
    assert (found.spearman, found.kendall, found.jaccard) == pytest.approx((1, 1, 1))
    other_way = om.compare_rankings(last, om.Ranking(list("dcba"), [2.0, 1.0, -2.0, -1.0], "m", constant=("c", "d")))
    assert other_way.spearman == pytest.approx(1)
    curve = om.compare_rankings(ranking, om.Ranking(ranking.names, [0.0, 2.0, 1.0, 0.0], "m")).fuji
    np.testing.assert_array_equal(curve, om.compare_rankings(last, om.Ranking(ranking.names, [0, 2, 1, 0], "m")).fuji)


def test_a_constant_feature_weighs_nothing_in_a_distance():
    X = np.random.default_rng(0).normal(size=(30, 4))
    X[:, [0, 3]] = 1.0
    train, test = (om.Dataset(X[rows], X[rows, 1], feature_names=list("cabd")) for rows in (slice(20), slice(20, 30)))
    expected = om.evaluate(om.Ranking(list("cabd"), [0.0] * 4, "m"), train, test, 3)
    assert om.evaluate(one_constant(), train, test, 3) == expected


def test_a_part_that_loses_a_class_keeps_its_constant_features_last():
    X = np.column_stack([np.ones(9), np.arange(9.0)])
    whole = om.Dataset(X, ["a"] * 8 + ["b"])
    assert ranking_of_part(om.EnsembleRanker(), whole.take(slice(8)), whole).constant == ("x0",)
