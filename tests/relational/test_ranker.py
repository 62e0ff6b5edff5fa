"""Rankings of relations: a single table, a known truth, stages, files, and who is paid for a test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from tests.relational.plain import one_table

import omnirank as om
from omnirank.core.seeds import root_entropy
from omnirank.ensembles.plan import bootstrap_counts
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.relational import RelationalDataset, RelationalForest, RelationalRanker
from omnirank.relational.kernels.groups import same_halves
from omnirank.relational.paths import Feature, Step, new_steps
from omnirank.relational.ranker import tree_credits
from omnirank.trees.tree import Tree

MOVIES = om.datasets.make_movies(random_state=0)


@pytest.mark.parametrize("ensemble", ["bagging", "random-forest"])
@pytest.mark.parametrize("sample", ["iris", "linnerud"])
def test_a_single_table_gives_the_scores_of_the_tabular_ranker(ensemble, sample):
    dataset = om.datasets.load_sample(sample)
    expected = om.EnsembleRanker("genie3", ensemble, n_trees=7, min_samples_leaf=1, random_state=3).fit(dataset)
    found = RelationalRanker("genie3", ensemble=ensemble, n_trees=7, tie_break="random", random_state=3).fit(
        one_table(dataset)
    )
    for importance in ("genie3", "symbolic"):
        ours, theirs = found._ranking_at(importance, "column"), expected.rankings_[importance]
        assert ours.names == tuple(f"rows_{name}" for name in theirs.names)
        np.testing.assert_array_equal(ours.scores, theirs.scores)
        np.testing.assert_array_equal(ours.standard_errors, theirs.standard_errors)
    assert "link" not in found.rankings_
    [total] = found.rankings_["table"].scores
    assert total == pytest.approx(found.ranking_.scores.sum())


@pytest.mark.parametrize("sample", ["iris", "linnerud"])
def test_unbiased_is_what_out_of_bag_examples_confirm(sample):
    dataset = om.datasets.load_sample(sample)
    data = one_table(dataset)
    ranker = RelationalRanker(n_trees=4, tie_break="random", random_state=3).fit(data)
    table, n = ranker.model_._table(data), dataset.n_examples
    y = np.array(dataset.y)
    columns = y if sample == "linnerud" else (y[:, None] == np.unique(y)).astype(float)
    impurity = columns.var(axis=0) if sample == "linnerud" else columns.var(axis=0).sum()
    share = 1 / 3 if sample == "linnerud" else 1
    total = dict.fromkeys(data.feature_names, 0.0)
    for i, tree in enumerate(ranker.model_.trees_):
        counts = bootstrap_counts(root_entropy(3), i, (np.arange(n),))
        reach = {0: np.arange(n)}
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            left = table.column(tree.feature[node])[reach[node]] <= tree.threshold[node]
            children = reach[node][left], reach[node][~left]
            reach[node + 1], reach[int(tree.right[node])] = children
            unseen = [rows[counts[rows] == 0] for rows in children]
            if not len(unseen[0]) or not len(unseen[1]):
                continue
            mu = [np.average(columns[rows], axis=0, weights=counts[rows]) for rows in children]
            nu = [columns[rows].mean(axis=0) for rows in unseen]
            weight = len(unseen[0]) * len(unseen[1]) / (len(unseen[0]) + len(unseen[1])) * n / (counts == 0).sum()
            gain = weight * ((nu[0] - nu[1]) * (mu[0] - mu[1]) * share / impurity).sum()
            total[ranker.model_.features_[tree.feature[node]].relations[0]] += gain / 4
    assert dict(zip(ranker.ranking_.names, ranker.ranking_.scores, strict=True)) == pytest.approx(total)


def test_many_levels_win_nothing():
    """Classes by the mean price of sales; a nominal column of the shops has 40 levels that tell nothing."""
    data = mean_database(0, weight=0.25, n_towns=40)
    ranker = RelationalRanker(by="column", n_trees=20, random_state=0).fit(data)
    assert ranker.ranking_.top(1) == ["sales_price"]
    assert ranker._ranking_at("genie3", "column").top(1) == ["shops_town"]
    unrelated = ranker.ranking_.to_frame().set_index("feature")["score"].drop("sales_price")
    assert unrelated.max() < 0.25 * ranker.ranking_.scores.max()


def mean_database(seed: int, n: int = 120, weight: float = 1.0, n_towns: int = 0) -> RelationalDataset:
    """The class of a shop is whether the mean price of its sales (with noise, unless it weighs 1) is above 0."""
    rng = np.random.default_rng(seed)
    shop = np.repeat(np.arange(n), 8)
    offset = np.where(rng.random(n) < 0.5, -0.5, 0.5)
    price = offset[shop] + rng.normal(size=8 * n)
    sales = pd.DataFrame(
        {"id": np.arange(8 * n), "shop_id": shop, "price": price, "weekday": rng.integers(0, 7, 8 * n)}
    )
    sales["clerk"] = rng.choice(list("abcdefgh"), 8 * n)
    mean = sales.groupby("shop_id")["price"].mean()
    shops = pd.DataFrame({"id": range(n), "size": rng.normal(size=n), "rich": np.where(mean > 0, "yes", "no")})
    if weight < 1:
        noisy = weight * mean + (1 - weight) * rng.normal(size=n)
        shops["rich"] = np.where(noisy > 0, "yes", "no")
    if n_towns:
        shops["town"] = rng.choice([f"town {i}" for i in range(n_towns)], n)
    keys = {"shops": "id", "sales": "id", "sales.shop_id": "shops"}
    return RelationalDataset.from_frames({"shops": shops, "sales": sales}, keys=keys, target="shops.rich")


@pytest.mark.slow
def test_the_generating_relation_is_first():
    data = mean_database(0)
    train, test = data.take(slice(0, 80)), data.take(slice(80, None))
    ranker = RelationalRanker(by="column", n_trees=20, random_state=0).fit(train)
    assert ranker.model_.score(test) > 0.95
    with pytest.warns(UserWarning, match="nothing to test"):  # every shop has sales: existence tells nothing
        exists = RelationalForest(aggregates="AGG-Exist", n_trees=20, random_state=0).fit(train)
    assert exists.score(test) < 0.7
    for importance in ("unbiased", "genie3", "symbolic"):
        assert ranker._ranking_at(importance, "column").top(1) == ["sales_price"]
    assert ranker.rankings_["aggregate"].top(1) in (["mean"], ["sum"], ["identity"])
    assert "price" in ranker.rankings_["feature"].top(1)[0]
    assert set(ranker.rankings_["link"].names) == {"sales_shop_id"}


def test_existence_is_tested_at_0_only():
    rng = np.random.default_rng(0)
    shops = pd.DataFrame({"id": range(60), "rich": rng.choice(["yes", "no"], 60)})
    rich = np.flatnonzero(shops["rich"] == "yes")
    sold = np.concatenate([rng.choice(rich, 200), rng.integers(0, 60, 20)])
    frames = {"shops": shops, "sales": pd.DataFrame({"shop_id": sold, "price": rng.normal(size=len(sold))})}
    data = RelationalDataset.from_frames(frames, keys={"shops": "id", "sales.shop_id": "shops"}, target="shops.rich")
    model = RelationalForest(aggregates="AGG-Exist", n_trees=5, random_state=0).fit(data)
    thresholds = np.concatenate([tree.threshold[~tree.is_leaf] for tree in model.trees_])
    assert len(thresholds)
    assert ((thresholds >= 0) & (thresholds < 1)).all()
    assert all(set(feature.aggregates) == {"exists"} for feature in model.features_)
    assert model.score(data) > 0.75


def test_rankings_and_stages_fit_together():
    ranker = RelationalRanker(n_trees=6, random_state=0).fit(MOVIES)
    assert list(ranker.rankings_) == ["relation", "column", "link", "table", "aggregate", "feature"]
    relations = MOVIES.database.relations
    assert ranker.ranking_.names == tuple(relations)
    apart = ranker.rankings_["column"].scores.sum() + ranker.rankings_["link"].scores.sum()
    for by in ("relation", "table", "aggregate", "feature"):
        assert ranker.rankings_[by].scores.sum() == pytest.approx(apart)
        stages = ranker.staged_scores(by=by)
        assert stages.shape == (6, len(ranker.rankings_[by]))
        np.testing.assert_allclose(stages.iloc[-1], ranker.rankings_[by].scores, rtol=1e-12, atol=1e-13)
    fewer = RelationalRanker(n_trees=2, random_state=0).fit(MOVIES)
    np.testing.assert_allclose(ranker.staged_scores().loc[2], fewer.ranking_.scores, rtol=1e-12, atol=1e-13)
    assert (ranker.ranking_.standard_errors > 0).any()


@pytest.mark.slow
def test_boosting_averages_the_classes_of_an_iteration():
    ranker = RelationalRanker("symbolic", ensemble="boosting", n_trees=3, random_state=0).fit(MOVIES)
    model = ranker.model_
    assert [len(together) for together in model.trees_] == [3, 3, 3]
    shares = [sum(tree.weight[~tree.is_leaf]) / tree.weight[0] for tree in model._trees()]
    assert ranker.ranking_.scores.sum() == pytest.approx(np.mean(shares))
    stages = ranker.staged_scores()
    np.testing.assert_allclose(stages.iloc[-1] / 3, ranker.ranking_.scores)  # sums over iterations


def test_rankings_merge_and_come_back_from_files(tmp_path):
    first, second = (RelationalRanker(n_trees=3, random_state=seed).fit(MOVIES).ranking_ for seed in (0, 1))
    first.save(tmp_path / "ranking.json")
    back = om.Ranking.load(tmp_path / "ranking.json")
    merged = back.merge(second)
    np.testing.assert_allclose(merged.scores, (first.scores + second.scores) / 2)


def test_rankings_record_what_was_constructed(tmp_path):
    declared = replace(MOVIES, aggregates=("mean", "count"), modes={"ratings_movie_id": (("new", "old"),)})
    ranking = RelationalRanker(n_trees=1, random_state=0).fit(declared).ranking_
    ranking.save(tmp_path / "ranking.json")
    recorded = om.Ranking.load(tmp_path / "ranking.json").parameters
    assert list(recorded["aggregates"]) == ["count", "mean"]
    assert [list(mode) for mode in recorded["modes"]["ratings_movie_id"]] == [["new", "old"]]
    plain = RelationalRanker(n_trees=1, aggregates="NO-Rel", random_state=0).fit(declared).ranking_
    assert plain.parameters["aggregates"] == "NO-Rel"
    plain = RelationalRanker(n_trees=1, aggregates=["max", "min"], modes={}, random_state=0).fit(declared).ranking_
    assert list(plain.parameters["aggregates"]) == ["min", "max"]
    assert plain.parameters["modes"] is None


def test_workers_change_nothing():
    one, several = (RelationalRanker(n_trees=4, random_state=0, n_jobs=n).fit(MOVIES).ranking_ for n in (1, 3))
    np.testing.assert_array_equal(one.scores, several.scores)


@pytest.mark.slow
def test_other_tasks():
    labels = om.Dataset(
        np.random.default_rng(0).normal(size=(40, 2)), [{"a"} if i % 3 else {"a", "b"} for i in range(40)]
    )
    assert RelationalRanker(n_trees=2).fit(one_table(labels)).task_ == "multi-label"
    with pytest.raises(DataError, match="RelationalBoosting does not handle multi-label"):
        RelationalRanker("genie3", n_trees=2, ensemble="boosting").fit(one_table(labels))


@pytest.mark.parametrize("ensemble", ["bagging", "boosting"])
def test_nothing_to_learn_scores_0(ensemble):
    dataset = om.Dataset([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    with pytest.warns(UserWarning, match="every prediction will be the same"):
        ranker = RelationalRanker("genie3", ensemble=ensemble, n_trees=2).fit(one_table(dataset))
    assert ranker.ranking_.scores.tolist() == [0.0]


def test_what_is_refused():
    with pytest.raises(DataTypeError, match="RelationalDataset"):
        RelationalRanker().fit(om.datasets.load_sample("iris"))
    with pytest.raises(DataError, match="needs a target"):
        RelationalRanker("genie3", ensemble="boosting").fit(replace(MOVIES, target=None))
    with pytest.raises(ParameterError, match="importance='genie3'"):
        RelationalRanker(ensemble="boosting").fit(MOVIES)
    with pytest.raises(ParameterError, match="'bagging' or 'random-forest'"):
        RelationalRanker("genie3", ensemble="boosting", supervision=0.5).fit(MOVIES)
    with pytest.raises(DataError, match="holds no relation"):
        RelationalRanker().fit(MOVIES.select_features([]))
    with pytest.raises(ParameterError, match="by"):
        RelationalRanker(by="row").fit(MOVIES)
    with pytest.raises(DataError, match="there is no link to rank"):
        RelationalRanker(by="link", n_trees=1).fit(one_table(om.datasets.load_sample("iris")))
    for name in ("share", "importance"):  # in any ensemble
        with pytest.raises(ParameterError, match=name):
            RelationalRanker(**{name: "x"}).fit(MOVIES)
    assert clone(RelationalRanker(share="all")).share == "all"


# -- who is paid for a test --------------------------------------------------------------------------


STARS = Step("stars", ((0, 0),))
NATION = Step("nationID", ((0, 1),))
NAME = Step("nationName", ((0, 3),))
AGE = Step("age", ((0, 1),))

ROOT = Feature((STARS,), 2, ("mean",))
CHILD = Feature((STARS, NATION, NAME), 4, ("mode", "identity", "identity"))


def tree(feature, right, gain, weight, depth) -> Tree:
    n = len(feature)
    zeros = np.zeros(n)
    return Tree(
        np.array(feature, np.int32), zeros, np.array(right, np.int32), zeros.astype(bool), zeros.astype(np.int64),
        np.zeros(0, np.uint64), np.array(gain, float), np.array(weight, float), np.array(depth, np.int32), (None,) * 3,
    )  # fmt: skip


# 8 examples of classes (4, 2, 2); yes: (0, 2, 2), split into pure leaves; no: (4, 0, 0)
WORKED = tree([0, 1, -1, -1, -1], [4, 3, 0, 0, 0], [3, 2, 0, 0, 0], [8, 4, 2, 2, 4], [0, 1, 2, 2, 1])


def test_worked_example_symbolic():
    paid = tree_credits(WORKED, (ROOT, CHILD), WORKED.weight / 8)
    assert paid.relations == {"stars": 1.0, "nationID": 0.25, "nationName": 0.25}
    assert paid.features.tolist() == [1.0, 0.5]


def test_worked_example_genie3():
    paid = tree_credits(WORKED, (ROOT, CHILD), WORKED.gain)
    assert paid.relations == {"stars": 3.0, "nationID": 1.0, "nationName": 1.0}
    assert paid.aggregates == {"mean": 3.0, "identity": 2.0}
    assert paid.features.tolist() == [3.0, 2.0]


def test_all_steps_of_a_path_may_share():
    found = tree_credits(WORKED, (ROOT, CHILD), WORKED.gain, share="all").relations
    assert found == pytest.approx({"stars": 3 + 2 / 3, "nationID": 2 / 3, "nationName": 2 / 3})


def test_a_relation_that_occurs_twice_is_paid_twice():
    again = Step("stars", ((1, 1),))
    feature = Feature((STARS, again, Step("stars", ((0, 3),))), 5, ("mean", "mean", "mean"))
    stump = tree([0, -1, -1], [2, 0, 0], [3, 0, 0], [4, 2, 2], [0, 1, 1])
    assert tree_credits(stump, (feature,), stump.gain).relations == {"stars": 3.0}


def test_new_part():
    assert new_steps((STARS,), ()) == range(1)
    assert new_steps((STARS, NATION, NAME), (STARS, AGE)) == range(1, 3)  # backtracked to the first step
    assert new_steps((STARS, NATION), (STARS, NATION, NAME)) == range(1, 2)  # inherited as a whole: its last step
    assert new_steps((STARS,), (STARS,)) == range(1)  # as a column that is tested again
    assert new_steps((STARS, NATION), (Step("stars", ((1, 0),)), NATION)) == range(2)  # another binding


# -- equal tests ---------------------------------------------------------------------------------------


def copied_database(names=("stock", "shelf"), seed: int = 0, n: int = 80) -> RelationalDataset:
    """Shops with sales, and two tables with the same contents: what one of them tells, the other does."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(n), 4)
    price, level = rng.normal(size=4 * n), rng.normal(size=4 * n)
    total = pd.Series(level).groupby(of).mean() + 0.5 * pd.Series(price).groupby(of).mean()
    shops = pd.DataFrame({"id": range(n), "rich": np.where(total + rng.normal(0, 0.1, n) > 0, "yes", "no")})
    tables = {"shops": shops, "sales": pd.DataFrame({"shop_id": of, "price": price})}
    tables |= {name: pd.DataFrame({"shop_id": of, "level": level}) for name in names}
    keys = {"shops": "id", **{f"{name}.shop_id": "shops" for name in tables if name != "shops"}}
    return RelationalDataset.from_frames(tables, keys=keys, target="shops.rich")


def ranked(data, tie_break, **others):
    ranker = RelationalRanker("genie3", n_trees=10, max_path_length=2, tie_break=tie_break, random_state=0, **others)
    return ranker.fit(data)


@pytest.mark.parametrize("ensemble", ["bagging", "boosting"])
def test_copies_of_a_relation_are_paid_alike(ensemble):
    ranker = ranked(copied_database(), "share", ensemble=ensemble)
    scores = ranker.ranking_.to_frame().set_index("feature")["score"]
    assert scores["stock_level"] > 0
    assert scores["stock_level"] == pytest.approx(scores["shelf_level"], rel=1e-12)
    pairs = ranker.interchangeable_.set_index(["relation", "other"])["share"]
    assert pairs[("stock_level", "shelf_level")] == pytest.approx(1)
    assert pairs[("shelf_level", "stock_level")] == pytest.approx(1)
    assert ("sales_price", "stock_level") not in pairs
    first = ranked(copied_database(), "first")
    assert first.ranking_.to_frame().set_index("feature")["score"]["stock_level"] == 0  # the second by name
    assert first.interchangeable_.empty


def test_the_order_of_candidates_does_not_move_the_ranking():
    """Tables of other names, so in another order, with the same bootstraps."""
    names = {"drugs": "z", "atoms": "y", "bonds": "x", "ring_atom": "w", "ring_strucs": "v", "rings": "u"}
    rng = np.random.default_rng(0)
    n = 60
    of = np.repeat(np.arange(n), 6)
    tables = {name: pd.DataFrame({"of": of, "a": rng.integers(0, 3, 6 * n), "b": rng.integers(0, 3, 6 * n)})
              for name in ("atoms", "bonds", "rings")}  # fmt: skip
    rows = {name: pd.Series(np.bincount(of[table["a"] == 0], minlength=n)) for name, table in tables.items()}
    tables["drugs"] = pd.DataFrame(
        {"id": range(n), "y": (rows["atoms"] + rows["bonds"] > 4).map({True: "a", False: "b"})}
    )

    def scores(rename, tie_break):
        renamed = {rename[name]: table for name, table in tables.items()}
        keys = {rename["drugs"]: "id", **{f"{rename[t]}.of": rename["drugs"] for t in ("atoms", "bonds", "rings")}}
        data = RelationalDataset.from_frames(renamed, keys=keys, target=f"{rename['drugs']}.y")
        found = ranked(data, tie_break).rankings_["relation"].to_frame().set_index("feature")["score"]
        back = {new: old for old, new in rename.items()}
        found.index = [f"{back[name.split('_')[0]]}_{name.split('_')[1]}" for name in found.index]
        return found / found.sum()

    plain = {name: name for name in names}
    moved = {tie: (scores(plain, tie) - scores(names, tie)).abs().sum() / 2 for tie in ("share", "first")}
    assert moved["share"] <= 0.05 < moved["first"]


@given(st.integers(0, 10_000))
def test_features_that_divide_rows_alike(seed):
    rng = np.random.default_rng(seed)
    n, missing = int(rng.integers(2, 7)), np.iinfo(np.uint16).max
    codes = rng.integers(0, 3, (8, n)).astype(np.uint16)
    codes[rng.random(codes.shape) < 0.15] = missing
    n_levels = np.where(rng.random(8) < 0.5, 3, 0).astype(np.int32)
    one = rng.permutation(n)[: int(rng.integers(1, n))].astype(np.uint32)
    two = np.setdiff1d(np.arange(n), one).astype(np.uint32)
    found = same_halves(codes, n_levels, missing, one, two)
    for f in range(8):
        tests = [set(range(k + 1)) for k in range(3)] if not n_levels[f] else [{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}]
        tests += [set(), {0, 1, 2}]
        halves = [frozenset(i for i in range(n) if codes[f, i] in test or (left and codes[f, i] == missing))
                  for test in tests for left in (False, True)]  # fmt: skip
        assert found[f] == (frozenset(one.tolist()) in halves or frozenset(two.tolist()) in halves)


def test_a_text_that_names_each_row_hides_nothing():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"id": range(60), "mail": [f"p{i}@x" for i in range(60)], "age": rng.normal(size=60)})
    people["ill"] = np.where(people["age"] + rng.normal(scale=0.3, size=60) > 0, "yes", "no")
    people.loc[:2, "mail"] = None
    with pytest.warns(om.errors.DataWarning, match="'people.mail' has 57 levels"):
        ranking = RelationalRanker(n_trees=10, random_state=0).fit(
            RelationalDataset.from_frames({"people": people}, target="people.ill")
        )
    scores = dict(zip(ranking.ranking_.names, ranking.ranking_.scores, strict=True))
    assert scores["people_mail"] == 0 < scores["people_age"]
