"""Columns of features beside the definitions, on random databases; indexes and kept values; the movies of the paper."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.errors import DataError
from omnirank.relational.aggregation import Values, aggregate
from omnirank.relational.candidates import Bias, candidates
from omnirank.relational.database import Database, Relation, ValueCache
from omnirank.relational.evaluation import Bindings, Evaluator, feature_columns
from omnirank.relational.paths import Feature, Request, Step, example_variables
from reference.relational import NONE, value
from reference.relational_cases import Examples, database, databases, movies, nominal, number, relation, thing

ALL = ("count", "count_unique", "min", "max", "mean", "sum", "mode", "exists")
MANY = draws(15)


@st.composite
def biases(draw, base: Database) -> Bias:
    modes = {}
    for name, r in base.relations.items():
        words = [("new",) if c.kind == "numeric" else ("old", "new", "c") for c in r.components]
        every = [mode for mode in product(*words) if "old" in mode]
        if draw(st.booleans()):
            modes[name] = draw(st.lists(st.sampled_from(every), max_size=2, unique=True))
    return Bias(
        aggregates=ALL,
        lookahead=draw(st.integers(1, 3)),
        modes=modes,
        max_candidates=None,
    )


@st.composite
def cases(draw, with_times: bool = False):
    base = draw(databases(with_times))
    kinds = tuple(base.objects)
    types = draw(st.sampled_from([(kinds[0],), (kinds[-1],), (kinds[0], kinds[-1])]))
    features = candidates(base, types, (), draw(biases(base)))
    if len(features) > 60:
        features = tuple(draw(st.lists(st.sampled_from(features), min_size=20, max_size=60, unique=True)))
    n = draw(st.integers(0, 6)) if all(base.n_objects(kind) for kind in types) else 0
    codes = tuple(
        np.array(draw(st.lists(st.integers(0, max(0, base.n_objects(kind) - 1)), min_size=n, max_size=n)), np.int32)
        for kind in types
    )
    times = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float) if with_times else None
    return Examples(base, types, codes, times), features


def reference_cells(examples: Examples, feature: Feature) -> list:
    kinds = example_variables(examples.example_types)
    rows = zip(*(codes.tolist() for codes in examples.example_codes), strict=True)
    times = [None] * len(examples.example_codes[0]) if examples.times is None else examples.times.tolist()
    return [value(examples.database, feature, row, kinds, until) for row, until in zip(rows, times, strict=True)]


def cells_of(table, i) -> list:
    cells = table.column(i).tolist()
    return cells if table.levels[i] is None else [NONE if table.levels[i][c] == NONE else c for c in cells]


def assert_same(found: list, expected: list, rounded: bool) -> None:
    if rounded:
        assert all(
            f == e or math.isclose(f, e, rel_tol=1e-9, abs_tol=1e-6) for f, e in zip(found, expected, strict=True)
        )
    else:
        assert found == expected


@MANY
@given(cases())
def test_columns_are_those_of_the_definition(case):
    assert_as_defined(*case)


@MANY
@given(cases(with_times=True))
def test_later_facts_do_not_count(case):
    assert_as_defined(*case)


def assert_as_defined(examples: Examples, features) -> None:
    table = feature_columns(examples, features)
    for i, feature in enumerate(features):
        rounded = bool({"mean", "sum"} & set(feature.aggregates))
        assert_same(cells_of(table, i), reference_cells(examples, feature), rounded)


@MANY
@given(cases(), st.integers(1, 4))
def test_all_ways_give_the_same_bits(case, block):
    examples, features = case
    whole = feature_columns(examples, features)
    requests = [Request(f.path, f.variable, f.aggregates) for f in features]
    fresh = Database(dict(examples.database.objects), dict(examples.database.relations))
    codes = dict(enumerate(examples.example_codes))
    bindings = Bindings(codes, example_variables(examples.example_types), len(codes[0]))
    walked = Evaluator(fresh, block, few=0).evaluate(requests, bindings)
    single = [
        feature_columns(
            Examples(fresh, examples.example_types, tuple(c[i : i + 1] for c in examples.example_codes)), features
        )
        for i in range(len(codes[0]))
    ]
    for i, request in enumerate(requests):
        column = whole.column(i)
        expected = column if whole.levels[i] is None else np.array([-1 if c == NONE else c for c in cells_of(whole, i)])
        assert _bits(walked[request].by_rows().array.astype(expected.dtype)) == _bits(expected)
        assert [cells_of(table, i)[0] for table in single] == cells_of(whole, i)


def _bits(array: np.ndarray) -> bytes:
    return array.tobytes()


@MANY
@given(cases())
def test_the_names_of_features_differ(case):
    _, features = case
    assert len({f.name for f in features}) == len(features)
    assert len(set(features)) == len(features)
    assert len({f.sentence for f in features}) == len(features)


def test_large_groups_have_the_same_bits_in_all_ways():
    rng = np.random.default_rng(0)
    of, x = rng.integers(0, 3, 3000).astype(np.int32), rng.normal(size=3000) * 10.0 ** rng.integers(-8, 8, 3000)
    b, a = thing("id", "b"), thing("a", "a")
    ids = np.arange(3000, dtype=np.int32)
    objects = {"a": np.arange(3), "b": np.arange(3000)}
    relations = {
        "b_a": Relation("b_a", "b", "a", (b, a), (ids, of)),
        "b_x": Relation("b_x", "b", "x", (b, number("x")), (ids, x)),
    }
    base = Database(objects, relations)
    features = candidates(base, ("a",), (), Bias())
    whole = feature_columns(Examples(base, ("a",)), features)
    for code in range(3):
        alone = Examples(Database(objects, relations), ("a",), (np.array([code], np.int32),))
        single = feature_columns(alone, features)
        few = Evaluator(Database(objects, relations), 1, few=0).evaluate(
            [Request(f.path, f.variable, f.aggregates) for f in features],
            Bindings({0: alone.example_codes[0]}, example_variables(("a",)), 1),
        )
        assert _bits(single.numeric[0]) == _bits(whole.numeric[code])
        assert [found.by_rows().array[0] for found in few.values()] == whole.numeric[code].tolist()


def test_numbers_of_any_size_stay_finite():
    big = 1.7e308
    base = database(
        {"a": ["a0", "a1", "a2"]},
        relation(
            "t",
            "x",
            [thing("id", "a"), number("x")],
            [(0, big), (0, big / 2), (0, big / 4), (1, -big), (1, -big / 2), (2, 5e-324)],
        ),
    )
    path = (Step("t_x", ((0, 0),)),)
    table = feature_columns(
        Examples(base, ("a",)), [Feature(path, 1, (name,)) for name in ("sum", "mean", "min", "max")]
    )
    largest = np.finfo(float).max
    assert table.column(0).tolist() == [largest, -largest, 5e-324]
    assert ((table.column(2) <= table.column(1)) & (table.column(1) <= table.column(3))).all()
    assert np.isfinite(table.numeric).all()


def test_the_mean_of_equal_numbers_is_that_number():
    base = database(
        {"a": ["a0"], "b": ["b0", "b1", "b2"]},
        relation("b", "a", [thing("id", "b"), thing("a", "a")], [(0, 0), (1, 0), (2, 0)]),
        relation("b", "x", [thing("id", "b"), number("x")], [(0, 0.1), (1, 0.1), (2, 0.1)]),
    )
    path = (Step("b_a", ((1, 0),)), Step("b_x", ((0, 1),)))
    assert feature_columns(Examples(base, ("a",)), [Feature(path, 2, ("mean", "identity"))]).column(0)[0] == 0.1


def test_unknown_objects_have_empty_groups():
    examples = Examples(movies(), ("movies",), (np.array([-1, 0], np.int32),))
    features = candidates(examples.database, ("movies",), (), Bias(lookahead=2))
    table = feature_columns(examples, features)
    assert table.column(table.index("count(ratings)")).tolist() == [0, 2]
    assert table.column(table.index("max(ratings.stars)")).tolist() == [-np.inf, 3]
    assert table.to_frame()["genre"].tolist() == ["<none>", "thriller"]


def test_levels_can_be_those_of_training():
    examples = Examples(movies(), ("movies",))
    (genre,) = candidates(examples.database, ("movies",), (), Bias("NO-Rel"))
    table = feature_columns(examples, [genre], levels={genre: ("thriller", "drama")})
    assert table.levels == (("thriller", "drama"),)
    assert table.column(0).tolist() == [0, 1, -1]


def test_dates_stay_dates_unless_counted_or_summed():
    base = database(
        {"a": ["a0"], "b": ["b0", "b1"]},
        relation("b", "a", [thing("id", "b"), thing("a", "a")], [(0, 0), (1, 0)]),
        relation("b", "day", [thing("id", "b"), number("day", is_date=True)], [(0, 10.0), (1, 20.0)]),
    )
    features = candidates(base, ("a",))
    assert feature_columns(Examples(base, ("a",)), features).dates == {"min(b.day)", "max(b.day)", "mean(b.day)"}


def test_a_relation_that_a_new_database_lacks_is_named():
    base = movies()
    (genre,) = candidates(base, ("movies",), (), Bias("NO-Rel"))
    others = {name: r for name, r in base.relations.items() if name != "movies_genre"}
    with pytest.raises(DataError, match="no relation 'movies_genre'"):
        feature_columns(Examples(Database(dict(base.objects), others), ("movies",)), [genre])


def test_no_features_give_a_table_without_columns():
    table = feature_columns(Examples(movies(), ("movies",)), [])
    assert (table.n_rows, table.n_columns) == (3, 0)


def test_levels_of_a_mode_are_those_of_the_column_and_ties_take_the_first():
    base = database(
        {"a": ["a0", "a1"], "b": ["b0", "b1", "b2"]},
        relation("b", "a", [thing("id", "b"), thing("a", "a")], [(0, 0), (1, 0), (2, 1)]),
        relation("b", "x", [thing("id", "b"), nominal("x", "p", "q")], [(0, 1), (1, 0)]),
    )
    feature = Feature((Step("b_a", ((1, 0),)), Step("b_x", ((0, 1),))), 2, ("mode", "identity"))
    assert feature_columns(Examples(base, ("a",)), [feature]).to_frame().iloc[:, 0].tolist() == ["p", "<none>"]


def test_a_level_that_the_joined_column_lacks_has_no_match():
    letters = nominal("x", "q", "r", domain="letters"), nominal("y", "p", "q", domain="letters")
    base = database({"a": ["a0", "a1"]}, relation("t", None, [*letters, thing("a", "a")], [(0, 0, 0), (1, 1, 1)]))
    feature = Feature((Step("t", ((2, 0),)), Step("t", ((0, 2),))), 3, ("count_unique", "identity"))
    assert feature_columns(Examples(base, ("a",)), [feature]).column(0).tolist() == [0, 1]


def test_a_pickled_database_leaves_its_indexes_behind():
    import pickle

    base = movies()
    feature_columns(Examples(base, ("movies",)), candidates(base, ("movies",)))
    copy = pickle.loads(pickle.dumps(base))
    assert base.caches.indexes
    assert not copy.caches.indexes
    assert isinstance(copy.relations["ratings_user"], Relation)


# -- indexes, and values that are kept within a bound ------------------------------------------------


def test_values_used_last_are_kept():
    cache = ValueCache(24)
    for key in "abc":
        cache.put(key, Values(np.zeros(1)))
    assert cache.get("a") is not None
    cache.put("d", Values(np.ones(1)))
    assert [cache.get(key) is not None for key in "abcd"] == [True, False, True, True]
    cache.put("large", Values(np.zeros(4)))
    assert cache.get("large") is None
    assert cache.get("d") is not None


def test_columns_do_not_depend_on_the_memory():
    base = movies()
    features = candidates(base, ("movies",), (), Bias(lookahead=4))
    plenty = feature_columns(Examples(base, ("movies",)), features)
    assert base.caches.values.get((("object", "movies"), features[0].request)) is not None
    forgetful = movies()
    forgetful.caches.values = ValueCache(0)
    assert plenty.equals(feature_columns(Examples(forgetful, ("movies",)), features))
    assert forgetful.caches.values.get((("object", "movies"), features[0].request)) is None


def test_an_index_of_several_places_finds_what_agrees_with_all():
    rows = [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0), (1, 1, 4.0)]
    triple = relation("t", None, [thing("a", "a"), thing("b", "b"), number("x")], rows)
    base = database({"a": ["a0", "a1", "a2"], "b": ["b0", "b1"]}, triple)
    index = base.index(triple.name, (0, 1))
    codes = [np.array([1, 0, 2, -1, 1, 0], np.int32), np.array([1, 1, 0, 0, 0, -1], np.int32)]
    starts, ends = index.ranges(codes)
    assert (ends - starts).tolist() == [2, 1, 0, 0, 0, 0]
    assert triple.facts[2][index.facts(np.arange(starts[0], ends[0]))].tolist() == [3, 4]
    assert not index.is_functional
    assert base.index(triple.name, (0, 1)) is index


def test_an_index_knows_functions_and_columns():
    link = relation("b", "a", [thing("id", "b"), thing("a", "a")], [(0, 1), (1, 1), (2, 0)])
    base = database({"a": ["a0", "a1", "a2"], "b": ["b0", "b1", "b2"]}, link)
    forward, back = base.index(link.name, (0,)), base.index(link.name, (1,))
    assert (forward.is_functional, forward.is_total, forward.is_plain) == (True, True, True)
    assert (back.is_functional, back.is_total, back.is_plain) == (False, False, False)
    empty = relation("e", "a", [thing("id", "b"), thing("a", "a")], [])
    index = database({"a": ["a0"], "b": []}, empty).index(empty.name, (0,))
    assert (index.is_functional, index.is_total) == (True, True)


@pytest.mark.parametrize("size", [5, 24, 25, 400])
def test_different_numbers_are_counted_in_groups_of_all_sizes(size):
    rng = np.random.default_rng(size)
    values = rng.integers(0, 9, size).astype(float)
    values[::5] = np.inf
    found = aggregate(
        Values(np.concatenate([values, values[::-1]])), np.array([0, size, 2 * size, 2 * size]), ["count_unique"]
    )
    known = len(set(values[np.isfinite(values)]))
    assert found["count_unique"].array.tolist() == [known, known, 0]


def test_the_first_of_equally_frequent_levels_is_the_mode():
    codes = np.array([2, 1, 1, 2, 0, -1, -1, -1], np.int32)
    found = aggregate(Values(codes, 3), np.array([0, 5, 8]), ["mode", "count", "count_unique"])
    assert found["mode"].array.tolist() == [1, -1]
    assert found["count"].array.tolist() == [5, 0]
    assert found["count_unique"].array.tolist() == [3, 0]


def test_a_level_called_none_takes_in_what_is_empty():
    base = database({"a": ["a0", "a1"]}, relation("a", "x", [thing("id", "a"), nominal("x", "<none>", "p")], [(0, 1)]))
    table = feature_columns(Examples(base, ("a",)), candidates(base, ("a",), (), Bias("NO-Rel")))
    assert table.to_frame()["x"].tolist() == ["p", "<none>"]


def test_strided_values_have_the_same_bits():
    values = np.random.default_rng(0).normal(size=1000) * 1e6
    table = np.stack([values, values], axis=1)
    offsets = np.array([0, 10, 1000])
    plain, strided = (aggregate(Values(v), offsets, ["sum", "mean"]) for v in (values, table[:, 0]))
    assert [plain[name].array.tobytes() for name in plain] == [strided[name].array.tobytes() for name in plain]


# -- the movies of the ensembles paper (fig. 2) ------------------------------------------------------


RATINGS = Step("ratings_movie", ((1, 0),))
USER = Step("ratings_user", ((0, 1),))
OF_USER = Step("ratings_user", ((1, 2),))
INF = math.inf
TABLE = {
    "count of ratings": (Feature((RATINGS,), None, ("count",)), [2, 1, 0]),
    "mean stars": (Feature((RATINGS, Step("ratings_stars", ((0, 1),))), 2, ("mean", "identity")), [2.5, 3, INF]),
    "max stars": (Feature((RATINGS, Step("ratings_stars", ((0, 1),))), 2, ("max", "identity")), [3, 3, -INF]),
    "mean user age": (
        Feature((RATINGS, USER, Step("users_age", ((0, 2),))), 3, ("mean", "identity", "identity")),
        [42, 62, INF],
    ),
    "min user age": (
        Feature((RATINGS, USER, Step("users_age", ((0, 2),))), 3, ("min", "identity", "identity")),
        [22, 62, INF],
    ),
    "different nations": (
        Feature((RATINGS, USER, Step("users_nation", ((0, 2),))), 3, ("count_unique", "identity", "identity")),
        [2, 1, 0],
    ),
    "sum of counts": (Feature((RATINGS, USER, OF_USER), None, ("sum", "identity", "count")), [3, 2, 0]),
    "mean of counts": (Feature((RATINGS, USER, OF_USER), None, ("mean", "identity", "count")), [1.5, 2, INF]),
    "mean of mean stars": (
        Feature(
            (RATINGS, USER, OF_USER, Step("ratings_stars", ((0, 3),))), 4, ("mean", "identity", "mean", "identity")
        ),
        [2.75, 2.5, INF],
    ),
    "walks to movies": (
        Feature((RATINGS, USER, OF_USER, Step("ratings_movie", ((0, 3),))), None, ("sum", "sum", "sum", "count")),
        [3, 2, 0],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_features_have_the_values_of_the_table(name):
    feature, expected = TABLE[name]
    database = movies()
    kinds = example_variables(("movies",))
    assert [value(database, feature, (code,), kinds) for code in range(3)] == expected
    assert feature_columns(Examples(database, ("movies",)), [feature]).column(0).tolist() == expected


def test_walks_from_a_movie_lead_back_to_it_and_to_other_movies_of_its_raters():
    path = (RATINGS, USER, OF_USER, Step("ratings_movie", ((0, 3),)))
    reached = Feature(path, 4, ("sum", "sum", "sum", "count_unique"))
    different = Feature(path, 4, ("max", "max", "count_unique", "identity"))
    table = feature_columns(Examples(movies(), ("movies",)), [reached, different])
    # m1 by r1-u1-r1, m1 and m2 by r2-u3-r2 and r2-u3-r3: three walks, of which two movies are seen by u3.
    assert table.column(0).tolist() == [3, 2, 0]
    assert table.column(1).tolist() == [2, 2, -INF]


def test_names_and_sentences():
    from omnirank.relational.candidates import Bias

    found = {f.name: f.sentence for f in candidates(movies(), ("movies",), (), Bias(lookahead=4))}
    assert found["mean(ratings.stars)"] == "mean stars of its ratings"
    assert found["mean(ratings.user.age)"] == "mean age of the users of its ratings"
    assert found["count(ratings)"] == "number of its ratings"
    assert found["count_unique(ratings.user)"] == "number of different users of its ratings"
    assert found["mode(ratings.user.nation)"] == "most frequent nation of the users of its ratings"
    assert found["genre"] == "its genre"
    nested = "mean over its ratings of (mean stars of the ratings of its user)"
    assert found["mean(ratings.user.mean(ratings.stars))"] == nested


def test_facts_after_an_example_do_not_count():
    database = movies(times=True)
    feature = TABLE["mean of mean stars"][0]
    times = np.array([19950110.0, 19950121.0, 19950121.0])
    examples = Examples(database, ("movies",), times=times)
    # On the 10th, u3 had given 2 stars only; on the 21st, m2 sees all ratings.
    assert feature_columns(examples, [feature]).column(0).tolist() == [2.5, 2.5, INF]
    early = Examples(database, ("movies",), times=np.array([19950105.0, 19950120.0, 0.0]))
    assert feature_columns(early, [TABLE["count of ratings"][0]]).column(0).tolist() == [1, 0, 0]
