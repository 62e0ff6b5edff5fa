"""Constructed columns against the definition on random databases, in all ways of computing them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.errors import DataError
from omnirank.relational.candidates import Bias, candidates
from omnirank.relational.database import Database, Relation
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
        nominal_joins=draw(st.booleans()),
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
    assert np.allclose(table.column(1) / 1e308, [1.7 * 1.75 / 3, -1.7 * 0.75, 0])
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
