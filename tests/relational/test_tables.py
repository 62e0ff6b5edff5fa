"""Tables become facts: checked against rules written row by row, for shuffled rows and frames of all kinds; targets."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.relational import RelationalDataset
from omnirank.relational.schema import columns_of
from reference.relational_tables import decoded_facts, facts_of_table

MOVIES = {"id": ["m2", "m1", "m3"], "genre": ["drama", "thriller", "action"]}
RATINGS = {
    "id": ["r1", "r2", "r3"],
    "user_id": ["u1", "u3", "u3"],
    "movie_id": ["m1", "m1", "m2"],
    "stars": [3, 2, 3],
    "date": ["1995-01-05", "1995-01-06", "1995-01-21"],
}
USERS = {
    "id": ["u1", "u2", "u3"],
    "age": [22, 36, 62],
    "gender": ["m", "f", "m"],
    "nation": ["us", "it", "es"],
    "job": ["writer", "student", "engineer"],
}
KEYS = {"movies": "id", "ratings": "id", "users": "id", "ratings.user_id": "users", "ratings.movie_id": "movies"}


def mini(make=pd.DataFrame, **options):
    frames = {"movies": make(MOVIES), "ratings": make(RATINGS), "users": make(USERS)}
    return RelationalDataset.from_frames(frames, **{"target": "movies.genre"} | options)


def test_the_mini_database_of_the_spec():
    data = mini()
    assert data.example_ids.tolist() == ["m1", "m2", "m3"]
    assert data.y.tolist() == ["thriller", "drama", "action"]
    facts = decoded_facts(data)
    assert facts["ratings_stars"] == [("r1", 3.0), ("r2", 2.0), ("r3", 3.0)]
    assert facts["ratings_movie_id"] == [("r1", "m1"), ("r2", "m1"), ("r3", "m2")]
    assert facts["users_nation"] == [("u1", "us"), ("u2", "it"), ("u3", "es")]
    assert "movies_genre" not in facts
    assert data.database.relations["ratings_date"].components[1].is_date
    assert data.schema == mini(keys=KEYS).schema


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_frames_of_all_kinds_give_the_same_bits(make):
    assert mini(make).fingerprint == mini().fingerprint


def test_categoricals_integers_and_nullable_columns():
    frame = pd.DataFrame(
        {
            "id": pd.array([2, 1, 3], "Int64"),
            "kind": pd.Categorical(["b", None, "a"], categories=["b", "a"]),
            "size": pd.array([1, None, 3], "Int64"),
            "wet": [True, False, True],
        }
    )
    data = RelationalDataset.from_frames({"t": frame}, target="t")
    assert decoded_facts(data) == {
        "t_kind": [(2, "b"), (3, "a")],
        "t_size": [(2, 1.0), (3, 3.0)],
        "t_wet": [(1, False), (2, True), (3, True)],
    }
    assert data.task == "clustering"
    assert data.target is None


cells = st.none() | st.integers(0, 3)


@st.composite
def databases(draw):
    """Tables with identifiers, references (some dangle, some to the same table), duplicates, missing cells, no rows."""
    n = draw(st.integers(0, 8))
    identifiers = draw(st.lists(st.integers(0, 1000), min_size=n, max_size=n, unique=True))
    persons = [
        {"id": i, "boss": draw(st.none() | st.sampled_from([*identifiers, 5000])), "age": draw(cells)}
        for i in identifiers
    ]
    some = st.sampled_from([*identifiers, 7000])
    visits = draw(
        st.lists(st.fixed_dictionaries({"person": st.none() | some, "town": cells, "cost": cells}), max_size=12)
    )
    links = draw(st.lists(st.fixed_dictionaries({"a": some, "b": some}), max_size=8))
    return {"persons": persons, "visits": visits, "links": links}


COLUMNS = {"persons": ["id", "boss", "age"], "visits": ["person", "town", "cost"], "links": ["a", "b"]}
RANDOM_KEYS = {
    "persons": "id",
    "visits": None,
    "links": None,
    "persons.boss": "persons",
    "visits.person": "persons",
    "visits.town": "town",
    "links.a": "persons",
    "links.b": "persons",
}


def from_rows(tables, **options):
    frames = {
        name: pd.DataFrame({c: pd.array([row[c] for row in rows], "Int64") for c in COLUMNS[name]})
        for name, rows in tables.items()
    }
    return RelationalDataset.from_frames(frames, **{"keys": RANDOM_KEYS, "target": "persons"} | options)


@pytest.mark.slow
@given(databases())
def test_facts_agree_with_the_rules_row_by_row(tables):
    data = from_rows(tables)
    expected = (
        facts_of_table("persons", tables["persons"], ["id"], ["boss", "age"])
        | facts_of_table("visits", tables["visits"], ["person", "town"], ["cost"])
        | facts_of_table("links", tables["links"], ["a", "b"], [])
    )
    found = decoded_facts(data)
    assert {name: set(facts) for name, facts in found.items()} == expected
    for name, facts in found.items():
        assert facts == sorted(facts), f"{name} is not in order"
        assert len(facts) == len(set(facts)), f"{name} has a fact twice"
    assert data.example_ids.tolist() == sorted(row["id"] for row in tables["persons"])


@pytest.mark.slow
@given(databases(), st.randoms(use_true_random=False))
def test_shuffled_rows_change_no_bit(tables, random):
    shuffled = {name: random.sample(rows, len(rows)) for name, rows in tables.items()}
    for options in ({}, {"keys": RANDOM_KEYS | {"visits": "*", "links": "*"}}):
        one, other = from_rows(tables, **options), from_rows(shuffled, **options)
        assert one.fingerprint == other.fingerprint
        assert decoded_facts(one) == decoded_facts(other)


@pytest.mark.slow
@given(databases())
def test_tables_come_back_from_files_and_databases(tmp_path_factory, tables):
    folder = tmp_path_factory.mktemp("tables")
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    for name, rows in tables.items():
        frame = pd.DataFrame({c: pd.array([row[c] for row in rows], "Int64") for c in COLUMNS[name]})
        frame.to_csv(folder / f"{name}.csv", index=False, na_rep="NA")
        frame.to_sql(name, engine, index=False)
    options = {"keys": RANDOM_KEYS, "target": "persons"}
    expected = decoded_facts(from_rows(tables))
    assert decoded_facts(RelationalDataset.from_folder(folder, **options)) == expected
    assert decoded_facts(RelationalDataset.from_database(engine, **options)) == expected
    engine.dispose()


@pytest.mark.slow
@given(databases())
def test_repeated_rows_of_a_table_with_identifiers_are_one(tables):
    twice = tables | {"persons": [*tables["persons"], *tables["persons"]]}
    data = from_rows(twice)
    assert data.fingerprint == from_rows(tables).fingerprint
    assert any("'persons' holds" in note for note in data.notes) == bool(tables["persons"])


def test_rows_of_one_identifier_that_differ_are_an_error():
    frame = pd.DataFrame({"id": [1, 1, 2], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=r"key of table 't' is not unique: rows with id=1 differ; keys=\{'t': '\*'\}"):
        RelationalDataset.from_frames({"t": frame}, keys={"t": "id"}, target="t")


def test_rows_as_objects_keep_duplicates():
    customers = pd.DataFrame({"id": [1, 2], "y": ["a", "b"]})
    orders = pd.DataFrame({"customer_id": [1, 1, 2], "cost": [10.0, 10.0, 5.0]})
    frames = {"customers": customers, "orders": orders}
    collapsed = RelationalDataset.from_frames(frames, target="customers.y")
    assert decoded_facts(collapsed) == {"orders_cost": [(1, 10.0), (2, 5.0)]}
    assert any("1 fact of its rows repeat others: they count once; keys={'orders': '*'}" in n for n in collapsed.notes)
    kept = RelationalDataset.from_frames(frames, target="customers.y", keys={"orders": "*"})
    assert decoded_facts(kept) == {
        "orders_customer_id": [(0, 1), (1, 1), (2, 2)],
        "orders_cost": [(0, 10.0), (1, 10.0), (2, 5.0)],
    }


def test_dangling_references_are_objects_and_counted():
    data = RelationalDataset.from_frames(
        {"a": pd.DataFrame({"id": [1, 2]}), "b": pd.DataFrame({"id": [1, 2, 3], "a_id": [1, 9, 9]})},
        keys={"b.a_id": "a"},
        target="a",
    )
    assert data.database.objects["a"].tolist() == [1, 2, 9]
    assert data.example_ids.tolist() == [1, 2]
    assert any("b.a_id refers in 2 rows to 1 a that are not in the table 'a'" in note for note in data.notes)


def test_composite_keys_of_references_identify_rows():
    frames = {
        "users": pd.DataFrame({"id": [1, 2], "age": [20, 30]}),
        "movies": pd.DataFrame({"id": ["x", "y"], "genre": ["a", "b"]}),
        "ratings": pd.DataFrame({"user_id": [2, 1, 2], "movie_id": ["x", "x", "y"], "stars": [3, 4, 5]}),
    }
    data = RelationalDataset.from_frames(frames, target="movies.genre")
    assert data.schema.tables["ratings"].primary_key == ("user_id", "movie_id")
    assert decoded_facts(data)["ratings_stars"] == [(1, "x", 4.0), (2, "x", 3.0), (2, "y", 5.0)]
    links = RelationalDataset.from_frames(frames, target="ratings.stars")
    assert links.example_types == ("users", "movies")
    assert links.example_ids == [(1, "x"), (2, "x"), (2, "y")]
    assert links.y.tolist() == [4, 3, 5]


def test_composite_identifiers_that_others_refer_to_are_objects():
    frames = {
        "orders": pd.DataFrame({"id": [7, 8]}),
        "lines": pd.DataFrame({"order": [8, 7, 7], "line": [1, 2, 1], "price": [1.0, 2.0, 3.0]}),
        "returns": pd.DataFrame({"id": [0], "order": [7], "line": [2]}),
    }
    keys = {
        "lines": ["order", "line"],
        "lines.order": "orders",
        ("returns", ("order", "line")): "lines",
    }
    data = RelationalDataset.from_frames(frames, keys=keys, target="orders")
    assert data.database.objects["lines"].tolist() == [(7, 1), (7, 2), (8, 1)]
    facts = decoded_facts(data)
    assert facts["lines_price"] == [((7, 1), 3.0), ((7, 2), 2.0), ((8, 1), 1.0)]
    assert facts["lines_order"] == [((7, 1), 7), ((7, 2), 7), ((8, 1), 8)]
    assert facts["lines_line"] == [((7, 1), 1.0), ((7, 2), 2.0), ((8, 1), 1.0)]
    assert facts["returns_order_line"] == [(0, (7, 2))]


def test_a_table_of_a_kind_of_objects_shares_their_type():
    frames = {
        "persons": pd.DataFrame({"id": [1, 2], "age": [30, 40]}),
        "actors": pd.DataFrame({"id": [2], "fee": [5.0]}),
        "stars": pd.DataFrame({"id": [2]}),
    }
    keys = {"actors": "id", "actors.id": "persons", "stars": "id", "stars.id": "actors"}
    data = RelationalDataset.from_frames(frames, keys=keys, target="persons")
    assert decoded_facts(data) == {"actors_fee": [(2, 5.0)], "persons_age": [(1, 30.0), (2, 40.0)], "stars": [(2,)]}
    assert data.database.relations["stars"].components[0].type == "persons"


def test_cyclic_schemas():
    frames = {
        "teams": pd.DataFrame({"id": [1, 2], "captain_id": [5, 6], "y": ["a", "b"]}),
        "players": pd.DataFrame({"id": [5, 6, 7], "team_id": [1, 2, 2]}),
    }
    data = RelationalDataset.from_frames(frames, keys={"teams.captain_id": "players"}, target="teams.y")
    assert decoded_facts(data) == {
        "players_team_id": [(5, 1), (6, 2), (7, 2)],
        "teams_captain_id": [(1, 5), (2, 6)],
    }


def test_identifiers_that_refer_to_each_other_are_objects_of_their_own():
    frames = {"a": pd.DataFrame({"id": [1, 2], "x": [1.0, 2.0]}), "b": pd.DataFrame({"id": [1, 2], "z": [3.0, 4.0]})}
    data = RelationalDataset.from_frames(frames, keys={"a": "id", "b": "id", "a.id": "b", "b.id": "a"}, target="a")
    assert {"a_x", "b_z"} <= set(data.database.relations)


def test_references_to_another_column_than_the_identifier():
    frames = {
        "users": pd.DataFrame({"id": [1, 2], "mail": ["a@x", "b@x"]}),
        "posts": pd.DataFrame({"id": [1, 2, 3], "by": ["b@x", "a@x", "nobody"]}),
    }
    data = RelationalDataset.from_frames(frames, keys={"posts.by": "users.mail"}, target="users")
    assert decoded_facts(data)["posts_by"] == [(1, 2), (2, 1)]
    frames["users"]["mail"] = "same"
    with pytest.raises(DataError, match=r"refers to users\.mail, which is not unique"):
        RelationalDataset.from_frames(frames, keys={"posts.by": "users.mail"}, target="users")


def test_a_single_table_without_keys_keeps_the_order_of_its_rows():
    frame = pd.DataFrame({"x10": [3.0, 1.0, 2.0], "x2": ["a", "b", "a"], "y": [0, 1, 1]})
    data = RelationalDataset.from_frames({"t": frame}, target="t.y")
    assert list(data.database.relations) == ["t_x10", "t_x2"]
    assert decoded_facts(data)["t_x10"] == [(0, 3.0), (1, 1.0), (2, 2.0)]
    assert data.example_ids.tolist() == [0, 1, 2]
    assert data.y.tolist() == [0, 1, 1]


def test_empty_tables_and_tables_that_nothing_leads_to():
    frames = {
        "a": pd.DataFrame({"id": [1], "y": ["k"]}),
        "b": pd.DataFrame({"a_id": [], "x": []}),
        "c": pd.DataFrame({"x": [1.5]}),
        "pairs": pd.DataFrame({"one": [1, 1], "other": [1, 2]}),
    }
    data = RelationalDataset.from_frames(frames, target="a.y")
    assert data.database.relations["b_x"].n_facts == 0
    assert any(note == "table 'c' has no keys: nothing leads to its rows, it is not used" for note in data.notes)
    assert any("'pairs'" in note and "keys={'pairs.one': 'a'} links it if one holds a" in note for note in data.notes)
    data = RelationalDataset.from_frames(frames, target="a.y", keys={"pairs.one": "a"})
    assert not any("table 'pairs' has no keys" in note for note in data.notes)


def test_unicode_dots_and_words_of_sql_as_names():
    frames = {
        "order": pd.DataFrame({"id": [1, 2], "select": ["a", "b"], "größe; drop": [1.5, 2.5]}),
        "a.b": pd.DataFrame({"order_id": [1, 2], "c.d": [1.0, 2.0], "'\"": ["x", "y"]}),
    }
    data = RelationalDataset.from_frames(frames, target="order.select")
    assert list(data.database.relations) == ["a.b_c.d", "a.b_'\"", "order_größe; drop"]
    other = RelationalDataset.from_frames(frames, target=("a.b", "c.d"))
    assert other.target_names == ("c.d",)


def test_names_that_would_be_the_same_have_a_dot():
    frames = {
        "a": pd.DataFrame({"id": [1], "b_c": [1.0]}),
        "a_b": pd.DataFrame({"id": [1], "c": [1.0]}),
    }
    data = RelationalDataset.from_frames(frames, target="a")
    assert list(data.database.relations) == ["a.b_c", "a_b.c"]


def test_integers_and_texts_of_one_type_are_compared_as_texts():
    frames = {
        "a": pd.DataFrame({"id": [10, 2], "y": ["k", "l"]}),
        "b": pd.DataFrame({"id": [1, 2], "a_id": ["2", "x"]}),
    }
    data = RelationalDataset.from_frames(frames, keys={"b.a_id": "a"}, target="a.y")
    assert data.database.objects["a"].tolist() == ["10", "2", "x"]
    assert data.y.tolist() == ["k", "l"]


def test_large_identifiers_are_exact():
    big = 2**60
    frames = {
        "a": pd.DataFrame({"id": [big, big + 1], "y": ["k", "l"]}),
        "b": pd.DataFrame({"id": [0], "a_id": pd.array([big + 1], "Int64")}),
    }
    data = RelationalDataset.from_frames(frames, target="a.y")
    assert decoded_facts(data)["b_a_id"] == [(0, big + 1)]
    frames["b"] = pd.DataFrame({"id": [0, 1], "a_id": [float(big), np.nan]})
    with pytest.raises(DataError, match=r"beyond 2\*\*53 as floats"):
        RelationalDataset.from_frames(frames, keys={"b.a_id": "a"}, target="a.y")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "movie.genre"}, DataError, r"no table 'movie' \(did you mean 'movies'\?\)"),
        ({"target": "movies.genres"}, DataError, r"table 'movies' has no column 'genres' \(did you mean 'genre'\?\)"),
        ({"target": "genre"}, DataError, "give 'table.column'"),
        ({"target": ["movies.genre", "users.age"]}, ParameterError, "columns of one table"),
        ({"keys": {"ratings.by": "users"}}, DataError, "has no column 'by'"),
        ({"keys": {"user": "id"}}, DataError, r"no table 'user'"),
        ({"types": {"users.age": "number"}}, ParameterError, "a kind is one of numeric, nominal, date"),
        ({"types": {"users.job": "numeric"}}, DataError, "is to be numeric, but holds 'engineer'"),
        ({"exclude": ["users.years"]}, DataError, "has no column 'years'"),
        ({"exclude": ["movies"]}, DataError, "table of the target, 'movies', is left out"),
        ({"keys": {"movies": "genre"}}, DataError, "has the column 'genre', which is left out"),
        ({"time": {"users": "job"}}, DataError, "holds neither dates nor numbers"),
        ({"like": True, "keys": KEYS}, ParameterError, "like says the keys"),
    ],
)
def test_errors_name_what_is_wrong(options, error, message):
    if "like" in options:
        options = options | {"like": mini()}
    with pytest.raises(error, match=message):
        mini(**options)


def test_what_is_no_frame_is_refused():
    with pytest.raises(DataTypeError, match="table 'a' is a list"):
        RelationalDataset.from_frames({"a": [[1]]}, target="a")
    with pytest.raises(DataTypeError, match="mapping of names"):
        RelationalDataset.from_frames([], target="a")
    with pytest.raises(DataTypeError, match="lazy"):
        RelationalDataset.from_frames({"a": nw.from_native(pl.LazyFrame({"x": [1]})).to_native()}, target="a")


def test_examples_of_one_identifier_with_two_targets_are_an_error():
    frame = pd.DataFrame({"id": [1, 1, 2], "x": [1.0, 1.0, 3.0], "y": ["a", "b", "a"]})
    with pytest.raises(DataError, match="rows with id=1 differ"):
        RelationalDataset.from_frames({"t": frame}, keys={"t": "id"}, target="t.y")
    frame["y"] = ["a", "a", None]
    data = RelationalDataset.from_frames({"t": frame}, keys={"t": "id"}, target="t.y")
    assert data.y.tolist() == ["a", None]
    frame["y"] = [{"a"}, {"a"}, {"b"}]
    assert len(RelationalDataset.from_frames({"t": frame}, keys={"t": "id"}, target="t.y")) == 2


def test_column_names_that_are_the_same_as_text():
    with pytest.raises(DataError, match="table 't' has two columns called '1'"):
        RelationalDataset.from_frames({"t": pd.DataFrame([[1, 2]], columns=[1, "1"])}, target="t")


# -- targets -----------------------------------------------------------------------------------------


SHOPS = pd.DataFrame({"id": range(8), "size": [1, 2, 3, 1, 2, 3, 1, 2], "code": list("12341234"), "x": range(8)})


def shops(target, frame=SHOPS, **options):
    return RelationalDataset.from_frames({"shops": frame}, target=target, **options)


@pytest.mark.parametrize(
    ("column", "kind", "task"),
    [
        ("size", None, "classification"),
        ("size", "numeric", "regression"),
        ("size", "nominal", "classification"),
        ("code", "nominal", "classification"),
        ("code", "nominal:codes", "classification"),
        ("code", "numeric", "regression"),
        ("x", "nominal", "classification"),
    ],
)
def test_the_kind_of_a_target_can_be_said(column, kind, task):
    types = None if kind is None else {f"shops.{column}": kind}
    data = shops(f"shops.{column}", types=types)
    assert data.task == task
    assert data.y.tolist() == (SHOPS[column].astype(float).tolist() if task == "regression" else SHOPS[column].tolist())
    assert f"shops_{column}" not in data.database.relations


def test_kinds_of_several_targets():
    both = ["shops.size", "shops.x"]
    assert shops(both, types={"shops.size": "numeric"}).task == "multi-target-regression"
    assert shops(both, types={"shops.size": "nominal", "shops.x": "nominal"}).task == "multi-target-classification"
    with pytest.raises(DataError, match="target 'code' of table 'shops' is to be numeric, but holds 'a'"):
        shops("shops.code", SHOPS.assign(code=list("abcdabcd")), types={"shops.code": "numeric"})


def test_a_schema_file_says_the_kind_of_the_target(tmp_path):
    SHOPS.to_csv(tmp_path / "shops.csv", index=False)
    (tmp_path / "schema.toml").write_text('target = "shops.size"\n[tables.shops]\ncolumns = {size = "numeric"}\n')
    assert RelationalDataset.from_folder(tmp_path).task == "regression"


@pytest.mark.parametrize(
    ("ids", "why"), [([0, 0, 1, 2, 3, 4, 5, 6], "its values repeat"), ([None, *range(7)], "known")]
)
@pytest.mark.parametrize("name", ["id", "shop_id"])
def test_examples_without_an_identifier_are_told(ids, why, name):
    frame = SHOPS.rename(columns={"id": name}).assign(**{name: ids})
    told = [note for note in shops("shops.size", frame).notes if "is called like" in note]
    assert len(told) == 1
    assert told[0].startswith(f"column shops.{name} is called like the identifier of the examples, but it")
    assert why in told[0]
    assert not any("called like" in note for note in shops("shops.size").notes)
    every_row = shops("shops.size", frame, keys={"shops": "*"})
    assert not any("identifier of the examples" in note for note in every_row.notes)


def test_the_index_of_a_frame_is_a_column():
    movies = pd.DataFrame({"genre": ["a", "b", "a"]}, index=pd.Index([1, 2, 3], name="id"))
    ratings = pd.DataFrame({"stars": [1.0, 2.0, 3.0, 4.0]}, index=pd.Index([1, 1, 2, 3], name="movie_id"))
    data = RelationalDataset.from_frames({"movies": movies, "ratings": ratings}, target="movies.genre")
    plain = {"movies": movies.reset_index(), "ratings": ratings.reset_index()}
    assert data.fingerprint == RelationalDataset.from_frames(plain, target="movies.genre").fingerprint
    assert [kind.type for kind in data.database.relations["ratings_stars"].components] == ["movies", "numeric"]
    both = pd.DataFrame(
        {"u": [1.0, 2.0]}, index=pd.MultiIndex.from_tuples([(1, "x"), (2, "y")], names=["movie_id", None])
    )
    assert "movie_id" in columns_of({"t": both})["t"]
    assert list(columns_of({"t": pd.DataFrame({"u": [1.0]}, index=[7])})["t"]) == ["u"]  # an index without a name
    with pytest.raises(DataError, match="an index and a column called 'id'"):
        columns_of({"t": movies.assign(id=1)})
