"""The permutation score of relations: against a slow reference, a known truth, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError, ParameterError
from omnirank.relational import RelationalDataset, RelationalRanker
from omnirank.relational.permutation import permuted
from reference.relational_permutation import slow_scores

MOVIES = om.datasets.make_movies(60, 40, random_state=0)


def with_weights(data: RelationalDataset) -> np.ndarray:
    return np.where(np.arange(len(data)) % 7 == 0, 0.0, 1.0 + np.arange(len(data)) % 3)


@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
def test_scores_are_those_of_the_reference(weighted):
    weight = with_weights(MOVIES) if weighted else np.ones(len(MOVIES))
    ranker = RelationalRanker("permutation", n_trees=13, random_state=3)
    ranker.fit(MOVIES, sample_weight=weight if weighted else None)
    relations = list(MOVIES.database.relations)
    own = [name for name, relation in MOVIES.database.relations.items() if relation.table == "users"]
    tables = ranker.rankings_["table"].names
    cases = [
        ("relation", relations.index(name), [name]) for name in ("ratings_stars", "ratings_user_id", "movies_year")
    ]
    for by, place, names in [*cases, ("table", tables.index("users"), own)]:
        group = place if by == "relation" else len(relations) + place
        expected = slow_scores(ranker, MOVIES, weight, names, group)
        found = ranker.rankings_[by]
        assert found.scores[place] == pytest.approx(expected.mean(), abs=1e-12)
        spread = expected.std(ddof=1) / np.sqrt(len(expected))
        assert found.standard_errors[place] == pytest.approx(spread, abs=1e-12)


@pytest.mark.slow
def test_what_decides_is_first_and_the_rest_is_near_0():
    found = RelationalRanker("permutation", n_trees=20, random_state=0).fit(MOVIES)
    assert set(found.ranking_.top(4)) == {"ratings_movie_id", "ratings_stars", "ratings_user_id", "users_age"}
    scores = dict(zip(found.ranking_.names, found.ranking_.scores, strict=True))
    assert all(abs(scores[name]) < 0.1 for name in ("movies_year", "movies_country", "users_gender", "nations_name"))
    assert list(found.rankings_) == ["relation", "column", "link", "table"]
    assert found.ranking_.method == "relational-permutation"


def test_workers_do_not_change_a_bit():
    one, two = (
        om.make_ranker("relational-permutation", n_trees=5, random_state=1, n_jobs=n).fit(MOVIES).ranking_
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.scores, two.scores)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["year", "labels"])
def test_numbers_and_label_sets_partly_unknown(column):
    frames = om.datasets.make_movies(60, 40, as_frames=True, random_state=0)
    rng = np.random.default_rng(0)
    if column == "labels":
        means = frames["ratings"].groupby("movie_id")["stars"].mean().reindex(frames["movies"]["id"]).to_numpy()
        frames["movies"]["labels"] = [{"good"} if mean > 5.5 else {"bad", "odd"} for mean in means]
    else:
        frames["movies"]["year"] = frames["movies"]["year"].where(rng.random(60) < 0.8)
    data = RelationalDataset.from_frames(frames, target=f"movies.{column}", exclude=["movies.genre"])
    found = RelationalRanker("permutation", n_trees=8, random_state=0).fit(data)
    assert np.isfinite(found.ranking_.scores).all()
    if column == "labels":
        assert "ratings_stars" in found.ranking_.top(2)


def test_a_permutation_keeps_values_and_degrees():
    database = MOVIES.database
    new = permuted(database, ["ratings_movie_id", "ratings_stars"], np.random.default_rng(0))
    for name in ("ratings_movie_id", "ratings_stars"):
        before, after = database.relations[name].facts, new.relations[name].facts
        np.testing.assert_array_equal(before[0], after[0])
        assert (before[1] != after[1]).any()
        np.testing.assert_array_equal(np.sort(before[1]), np.sort(after[1]))
    assert new.relations["users_age"] is database.relations["users_age"]


def test_facts_with_one_place_get_other_objects(tmp_path):
    facts = "".join(f"big(a{i}).\n" if i % 2 else f"near(a{i}, a{i - 1}).\n" for i in range(1, 40))
    (tmp_path / "facts.txt").write_text(facts)
    (tmp_path / "target.txt").write_text("".join(f"kind(a{i}, {'x' if i % 2 else 'y'}).\n" for i in range(40)))
    data = RelationalDataset.from_facts(tmp_path / "facts.txt", tmp_path / "target.txt")
    new = permuted(data.database, ["big"], np.random.default_rng(0)).relations["big"].facts[0]
    assert len(new) == data.database.relations["big"].n_facts
    assert set(new) != set(data.database.relations["big"].facts[0])
    assert RelationalRanker("permutation", n_trees=5, random_state=0).fit(data).ranking_.scores.max() > 0.1


def test_what_has_no_permutation_score_is_refused():
    with pytest.raises(ParameterError, match="out-of-bag"):
        RelationalRanker("permutation", ensemble="boosting").fit(MOVIES)
    with pytest.raises(DataError, match="there is no aggregate to rank"):
        RelationalRanker("permutation", by="aggregate", n_trees=2, random_state=0).fit(MOVIES)


@pytest.mark.filterwarnings("ignore:.*every prediction will be the same")
@pytest.mark.parametrize("target", ["rows.y", ["rows.same", "rows.too"]])
def test_nothing_to_learn_scores_0(target):
    rows = pd.DataFrame({"id": range(10), "x": [1.0] * 10, "y": ["a", "b"] * 5, "same": 1.5, "too": 2.5})
    data = RelationalDataset.from_frames({"rows": rows}, target=target)
    found = RelationalRanker("permutation", n_trees=3, random_state=0).fit(data)
    assert (found.ranking_.scores == 0).all()
