"""Which features are candidates: the rule of links, modes, presets, chains of aggregates, caps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.errors import ParameterError
from omnirank.relational import RelationalDataset
from omnirank.relational.candidates import Bias, Candidates, candidates
from omnirank.relational.database import Component, Database, Relation, sorted_facts
from omnirank.relational.growing import CandidateTables, RelationalConstruction
from omnirank.relational.paths import Step
from reference.relational_cases import database, databases, movies, nominal, number, relation, thing


def names(base, types=("movies",), inherited=(), **bias) -> list[str]:
    return [f.name for f in candidates(base, types, inherited, Bias(**bias))]


def ternary():
    """Ratings without an identifier of their own: user, movie and stars in one fact."""
    return database(
        {"movies": ["m1", "m2"], "users": ["u1", "u2"]},
        relation(
            "ratings",
            "stars",
            [thing("user", "users"), thing("movie", "movies"), number("stars")],
            [(0, 0, 3.0), (1, 0, 2.0), (1, 1, 3.0)],
        ),
        relation("users", "age", [thing("id", "users"), number("age")], [(0, 22.0), (1, 62.0)]),
        relation("movies", "genre", [thing("id", "movies"), nominal("genre", "a", "b")], [(0, 0), (1, 1)]),
    )


def test_one_step_reads_own_columns_and_counts_related_rows():
    assert names(movies(), lookahead=1) == ["genre", "count(ratings)"]


def test_two_steps_aggregate_the_columns_of_related_rows():
    assert names(movies(), lookahead=2)[2:] == [
        "count_unique(ratings.user)",
        *[f"{name}(ratings.stars)" for name in ("count_unique", "min", "max", "mean", "sum")],
        *[f"{name}(ratings.date)" for name in ("count_unique", "min", "max", "mean", "sum")],
    ]


def test_facts_of_three_components_reach_the_age_of_users_in_two_steps():
    found = names(ternary(), lookahead=2)
    assert "mean(ratings.user.age)" in found
    assert found[:8] == [
        "count(ratings)",
        "count_unique(ratings.user)",
        *[f"{name}(ratings.stars)" for name in ("count_unique", "min", "max", "mean", "sum")],
        "genre",
    ]


def test_the_root_does_not_reach_what_a_child_does():
    base = movies()
    assert not any("age" in name for name in names(base, lookahead=2))
    child = names(base, inherited=(Step("ratings_movie", ((1, 0),)),), lookahead=2)
    assert "mean(ratings.user.age)" in child
    assert set(names(base, lookahead=2)) < set(child)


def test_every_prefix_of_the_inherited_path_is_continued():
    base = movies()
    inherited = (Step("ratings_movie", ((1, 0),)), Step("ratings_user", ((0, 1),)), Step("users_age", ((0, 2),)))
    found = candidates(base, ("movies",), inherited, Bias(lookahead=1))
    paths = {f.path for f in found}
    assert all(path[:-1] in {inherited[:k] for k in range(4)} for path in paths)
    assert {len(path) for path in paths} == {1, 2, 3}
    assert "genre" in {f.name for f in found}


def test_paths_have_at_most_the_given_length():
    found = candidates(movies(), ("movies",), (Step("ratings_movie", ((1, 0),)),), Bias(lookahead=3, max_path_length=2))
    assert max(f.size for f in found) == 2


def test_no_step_leads_straight_back_but_siblings_are_reached():
    found = candidates(movies(), ("movies",), (), Bias(lookahead=2))
    assert not any(f.relations == ("ratings_movie", "ratings_movie") for f in found)
    siblings = candidates(movies(), ("ratings",), (), Bias(lookahead=2))
    assert any(f.relations == ("ratings_movie", "ratings_movie") for f in siblings)
    assert "movie.count(ratings)" in {f.name for f in siblings}


def test_a_step_continues_from_a_new_variable_of_the_step_before():
    modes = {"ratings_stars": [("new", "old", "new"), ("old", "old", "new")]}
    found = candidates(ternary(), ("movies",), (), Bias(lookahead=3, modes=modes))
    for feature in found:
        n_known = 1
        fresh: set[int] = {0}
        for step in feature.path:
            assert fresh & {variable for _, variable in step.bound}
            n_fresh = {"ratings_stars": 3, "users_age": 2, "movies_genre": 2}[step.relation] - len(step.bound)
            fresh = set(range(n_known, n_known + n_fresh)) or {variable for _, variable in step.bound}
            n_known += n_fresh


def test_modes_bind_several_places_and_check_facts():
    link = relation("likes", None, [thing("a", "users"), thing("b", "users")], [(0, 1), (1, 0), (1, 1)])
    base = database({"users": ["u1", "u2"]}, link)
    found = candidates(base, ("users",), (), Bias(lookahead=2, modes={"likes": [("old", "new"), ("old", "old")]}))
    checks = [f for f in found if f.variable is None and f.path[-1].bound == ((0, 1), (1, 0))]
    assert {f.aggregates for f in checks} == {(name, "count") for name in ("min", "max", "mean", "sum")}
    assert len({f.name for f in found}) == len(found)


def test_constants_give_a_step_per_value_and_excluded_relations_none():
    base = ternary()
    modes = {"movies_genre": [("old", "c")], "ratings_stars": []}
    found = candidates(base, ("movies",), (), Bias(lookahead=1, modes=modes))
    assert [f.path[0].constants for f in found] == [((1, "a"),), ((1, "b"),)]
    assert [f.name for f in found] == ["count(genre[genre=a])", "count(genre[genre=b])"]


def test_a_check_of_the_example_alone_is_not_continued():
    words = relation("words", None, [thing("page", "pages"), thing("word", "words")], [(0, 0), (0, 1), (1, 1)])
    links = relation("links", None, [thing("source", "pages"), thing("target", "pages")], [(0, 0), (0, 1)])
    base = database({"pages": ["p", "q"], "words": ["and", "or"]}, links, words)
    modes = {"words": [("old", "c")], "links": [("old", "new")]}
    root = names(base, ("pages",), lookahead=1, modes=modes)
    assert root == ["count(links[source])", "count(words[word=and])", "count(words[word=or])"]
    check, link = Step("words", ((0, 0),), ((1, "and"),)), Step("links", ((0, 0),))
    # below a test of the check, "and" with anything else is that, or nothing
    assert names(base, ("pages",), (check,), lookahead=1, modes=modes) == root
    # a check of what a step leads to is continued
    behind = Step("words", ((0, 1),), ((1, "and"),))
    found = candidates(base, ("pages",), (link, behind), Bias(lookahead=1, modes=modes))
    assert (link, behind, Step("words", ((0, 1),), ((1, "or"),))) in {feature.path for feature in found}


@draws(10)
@given(databases(), st.sampled_from([None, 1, 2, 3]), st.sampled_from(["AGG-Exist", "NO-Rel"]), st.data())
def test_the_part_of_a_path_that_is_continued_has_the_same_candidates(base, most, preset, data):
    bias = Bias(preset, lookahead=data.draw(st.integers(1, 2)), max_path_length=most, max_candidates=100)
    types = (next(iter(base.objects)),)
    found = Candidates(base, types, bias)
    inherited = ()
    for _ in range(3):
        groups, _ = found.by_path(inherited)
        if groups:
            inherited = data.draw(st.sampled_from(groups))[0].path
    part = found.continued_part(inherited)
    assert part == inherited[: len(part)]
    assert found.by_path(part) == found.by_path(inherited)


def test_nominal_domains_are_joined_only_if_asked():
    genre = nominal("genre", "a", "b")
    base = database(
        {"movies": ["m1", "m2", "m3"]},
        relation("movies", "genre", [thing("id", "movies"), genre], [(0, 0), (1, 1), (2, 1)]),
    )
    assert not any(f.relations == ("movies_genre", "movies_genre") for f in candidates(base, ("movies",)))
    joined = candidates(base, ("movies",), (), Bias(modes={"movies_genre": [("old", "new"), ("new", "old")]}))
    assert any(f.relations == ("movies_genre", "movies_genre") for f in joined)


def test_existential_tests_count_matches_of_the_whole_path():
    found = candidates(movies(), ("movies",), (), Bias("AGG-Exist", lookahead=3))
    assert all(set(f.aggregates) == {"exists"} and f.variable is None for f in found)
    # Every movie has a genre, every rating a user and stars: nothing to ask there.
    assert [f.name for f in found] == ["exists(ratings)", "exists(ratings.user.ratings)"]


def test_without_relations_only_own_columns_are_left():
    assert names(movies(), aggregates="NO-Rel", lookahead=3) == ["genre"]
    assert names(movies(), ("ratings",), aggregates="NO-Rel", lookahead=3) == ["stars", "date"]


def test_a_table_with_a_row_per_example_is_another_table():
    base = database(
        {"a": ["a0", "a1"]},
        relation("a", "x", [thing("id", "a"), number("x")], [(0, 1.0), (1, 2.0)]),
        relation("more", "y", [thing("a", "a"), number("y")], [(0, 1.0), (1, 2.0)]),
    )
    assert names(base, ("a",), aggregates="NO-Rel") == ["x"]
    assert names(base, ("a",)) == ["x", "more.y"]


def test_aggregates_can_be_chosen():
    found = names(movies(), lookahead=2, aggregates=("mean", "count"))
    assert found == ["genre", "count(ratings)", "mean(ratings.stars)", "mean(ratings.date)"]


def test_aggregates_that_are_named_are_told_from_those_of_the_preset():
    base = movies()
    assert names(base, aggregates="AGG-Exist", lookahead=1) == ["exists(ratings)"]
    assert names(base, aggregates=["exists"], lookahead=1) == ["genre", "exists(ratings)"]


def test_a_column_with_missing_cells_also_tells_where_it_is_known():
    base = database({"a": ["a0", "a1"]}, relation("a", "x", [thing("id", "a"), number("x")], [(0, 1.0)]))
    found = candidates(base, ("a",), (), Bias(lookahead=1))
    assert [(f.name, f.sentence) for f in found] == [("x", "its x"), ("count(x)", "whether its x is known")]


def test_rows_that_refer_to_rows_of_their_table_are_called_by_the_column():
    parts = [thing("id", "staff"), thing("boss_id", "staff")]
    base = database({"staff": ["ana", "bob", "eva"]}, relation("staff", "boss_id", parts, [(1, 0), (2, 0)]))
    found = {f.name: f.sentence for f in candidates(base, ("staff",), (), Bias(lookahead=2))}
    assert found["count(staff[boss])"] == "number of its staff[boss]"
    assert found["count(boss)"] == "whether its boss is known"


def test_counts_of_aggregated_numbers_are_left_out():
    for feature in candidates(movies(), ("movies",), (), Bias(lookahead=4)):
        outer, *inner = feature.aggregates
        if any(name in ("min", "max", "mean", "sum", "count") for name in inner):
            assert outer in ("min", "max", "mean", "sum", "identity")


def test_too_many_candidates_are_cut_with_a_warning():
    base = movies()
    every = candidates(base, ("movies",), (), Bias(lookahead=4))
    with pytest.warns(UserWarning, match="more than 7 candidate"):
        few = candidates(base, ("movies",), (), Bias(lookahead=4, max_candidates=7))
    assert few == every[:7]


def test_a_table_with_two_keys_to_the_same_table_has_clear_names():
    base = database(
        {"matches": ["x", "y", "z"], "teams": ["s", "t"]},
        relation("matches", "home", [thing("id", "matches"), thing("home_id", "teams")], [(0, 0), (1, 1), (2, 1)]),
        relation("matches", "away", [thing("id", "matches"), thing("away_id", "teams")], [(0, 1), (1, 0), (2, 0)]),
        relation("teams", "size", [thing("id", "teams"), number("size")], [(0, 1.0), (1, 2.0)]),
    )
    found = names(base, ("teams",), lookahead=3)
    assert {"count(matches[home])", "count(matches[away])", "mean(matches[home].away.size)"} < set(found)
    assert len(set(found)) == len(found)
    assert "home.size" in names(base, ("matches",), lookahead=2)


@pytest.mark.parametrize(
    ("modes", "complaint"),
    [
        ({"ratings_star": []}, "no such relation .did you mean 'ratings_stars'"),
        ({"ratings_stars": [("old",)]}, "each of the 2 components"),
        ({"ratings_stars": [("old", "some")]}, "say old, new, any or c"),
        ({"ratings_stars": [("new", "new")]}, "at least one component is old"),
        ({"ratings_stars": [("old", "c")]}, "the numbers of stars can only be new"),
    ],
)
def test_modes_that_do_not_fit_are_refused(modes, complaint):
    with pytest.raises(ParameterError, match=complaint):
        candidates(movies(), ("movies",), (), Bias(modes=modes))


@pytest.mark.parametrize("wrong", [{"aggregates": "all"}, {"lookahead": 0}, {"aggregates": ("median",)}])
def test_wrong_biases_are_refused(wrong):
    with pytest.raises(ParameterError):
        Bias(**wrong)


def test_features_survive_a_pickle():
    found = candidates(movies(), ("movies",))
    copies = pickle.loads(pickle.dumps(found))
    assert copies == found
    assert [hash(f) for f in copies] == [hash(f) for f in found]


def test_facts_with_times_may_not_be_known_yet():
    found = candidates(movies(times=True), ("movies",), (), Bias("AGG-Exist", lookahead=2))
    # Every rating has stars, but not before it was given: an earlier example may see none.
    assert "exists(ratings.stars)" in {f.name for f in found}
    assert "count(stars)" in names(movies(times=True), ("ratings",), lookahead=1)
    assert "count(stars)" not in names(movies(), ("ratings",), lookahead=1)


def ring_of_objects(n=60, n_relations=12):
    """Objects that many relations link to each other: paths multiply at every step."""
    rng = np.random.default_rng(0)
    kind = Component("1", "object", "things"), Component("2", "object", "things")
    relations = {}
    for i in range(n_relations):
        facts = sorted_facts((rng.integers(0, n, 3 * n).astype(np.int32), rng.integers(0, n, 3 * n).astype(np.int32)))
        relations[f"r{i:02}"] = Relation(f"r{i:02}", f"r{i:02}", None, kind, facts[0])
    return Database({"things": np.arange(n)}, relations)


def test_of_too_many_paths_a_sample_is_taken():
    base = ring_of_objects()
    with pytest.warns(UserWarning, match="of the longest paths a sample is taken"):
        few = candidates(base, ("things",), (), Bias(lookahead=2, max_candidates=200))
    every = candidates(base, ("things",), (), Bias(lookahead=2, max_candidates=None))
    assert len(few) == 200 < len(every)
    assert set(few) <= set(every)
    assert [f for f in few if len(f.path) == 1] == [f for f in every if len(f.path) == 1]
    last = {feature.path[-1].relation for feature in few if len(feature.path) == 2}
    assert len(last) == 12  # not those that come first by name
    sampled = Candidates(base, ("things",), Bias(lookahead=2, max_candidates=200))
    assert sampled.continued_part(few[-1].path) == ()  # no room for longer paths: all nodes have the same candidates


def test_a_fit_makes_few_tables_where_paths_multiply():
    base = ring_of_objects()
    y = np.arange(60) % 2
    target = om.Dataset(np.zeros((60, 1)), y, task="classification").target
    data = RelationalDataset(base, ("things",), (np.arange(60, dtype=np.int32),), target, "classification")
    tables = CandidateTables(RelationalConstruction.of(data, Bias(lookahead=2, max_path_length=4, max_candidates=300)))
    with pytest.warns(UserWarning, match="a sample is taken"):
        root = tables.table(())
    for block in root.blocks[-5:]:
        assert tables.table(block.features[0].path) is root
    assert len(root.coded.codes) == 300
