"""Keys and kinds: inferred, declared, corrected, kept for other data of the same schema."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError, DataWarning, FileFormatError
from omnirank.relational import RelationalDataset, RelationalFeatures, RelationalTree
from omnirank.relational.readers import read_folder, table_files
from omnirank.relational.summary import unreached_tables
from reference.relational_tables import decoded_facts

R = RelationalDataset


def inferred(**tables):
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    schema = R.from_frames(frames, target=next(iter(tables))).schema
    return {
        name: (table.primary_key, {key.columns[0]: key.table for key in table.foreign_keys})
        for name, table in schema.tables.items()
    }


@pytest.mark.parametrize(
    ("table", "identifier", "reference"),
    [
        ("movies", "id", "movie_id"),
        ("movies", "movie_id", "movie_id"),
        ("Movies", "MovieID", "MovieID"),
        ("movie", "id_movie", "id_movie"),
        ("cities", "id", "city_id"),
        ("atoms", "id", "atom1_id"),
        ("boxes", "id", "boxid"),
        ("teams", "id", "home_team_id"),
        ("ring_strucs", "id", "ring_struc_id"),
        ("users", "id", "user"),
    ],
)
def test_keys_by_names_and_values(table, identifier, reference):
    found = inferred(**{table: {identifier: [5, 3, 9]}, "others": {"id": [1, 2, 3], reference: [5, 5, 9]}})
    assert found[table] == ((identifier,), {})
    assert found["others"] == (("id",), {reference: table})


def test_what_is_no_key():
    found = inferred(
        a={"id": [1, 1, 2], "a_id": [1.5, 2.5, 3.5]},
        b={"b": [1, 2, 2], "a_id": [7, 8, 9]},
        c={"id": [1, None, 3]},
    )
    assert found == {"a": ((), {}), "b": ((), {}), "c": ((), {})}


def test_identifiers_that_count_do_not_refer_to_each_other():
    found = inferred(a={"id": [1, 2, 3]}, b={"id": [1, 2, 3], "x": [1, 2, 3]})
    assert found == {"a": (("id",), {}), "b": (("id",), {})}


def test_rows_of_the_same_table():
    assert inferred(staff={"id": [1, 2, 3], "manager_id": [None, 1, 1]})["staff"] == (("id",), {"manager_id": "staff"})


def test_inferred_keys_are_told_and_corrected():
    frames = {"a": pd.DataFrame({"id": [1, 2]}), "b": pd.DataFrame({"id": [4, 5], "a_id": [1, 1]})}
    data = R.from_frames(frames, target="a")
    assert any(note.startswith("identifiers inferred") and "a (id), b (id)" in note for note in data.notes)
    assert any("foreign keys inferred" in note and "b.a_id -> a" in note for note in data.notes)
    other = R.from_frames(frames, target="a", keys={"b.a_id": None, "b": None})
    assert other.schema.tables["b"].foreign_keys == ()
    assert not any("inferred" in note and "b" in note.split(":")[1] for note in other.notes)


def test_columns_called_like_keys_are_told():
    frame = pd.DataFrame({"id": [1, 2], "user_id": [4, 4]})
    data = R.from_frames({"a": frame}, target="a")
    assert any("a.user_id is called like a key" in n and "keys={'a.user_id': 'user'}" in n for n in data.notes)
    data = R.from_frames({"a": frame}, target="a", keys={"a.user_id": "user"})
    assert data.database.relations["a_user_id"].components[1].type == "user"
    assert any("refers to 'user', which is no table" in note for note in data.notes)
    lines = pd.DataFrame({"order": [1, 1, 2], "line": [1, 2, 1]})  # without an identifier of its own
    frames = {"a": frame, "lines": lines, "returns": pd.DataFrame({"order": [1], "line": [2]})}
    assert any("keys={'returns.line': 'line'} takes" in note for note in R.from_frames(frames, target="a").notes)
    R.from_frames(frames, target="a", keys={"returns.line": "line"})


def test_numbers_and_dates_as_text_are_recognised_and_told():
    frame = pd.DataFrame({"size": ["1", "2.5", None], "day": ["2020-01-02", "2020-01-01", None], "x": ["1", "a", "b"]})
    data = R.from_frames({"t": frame}, target="t")
    relations = data.database.relations
    assert relations["t_size"].facts[1].tolist() == [1.0, 2.5]
    assert relations["t_day"].components[1].is_date
    assert relations["t_x"].components[1].levels == ("1", "a", "b")
    assert any("numbers or dates as text, taken as such: size (numbers), day (dates)" in note for note in data.notes)
    data = R.from_frames({"t": frame}, target="t", types={"t.size": "nominal"})
    assert data.database.relations["t_size"].components[1].levels == ("1", "2.5")


@pytest.mark.parametrize(("n_wrong", "is_reference"), [(0, True), (3, True), (40, False)])
def test_a_reference_called_like_its_table_may_have_a_few_wrong_links(n_wrong, is_reference):
    by = [999.0] * n_wrong + [float(i % 20 + 1) for i in range(100 - n_wrong)]
    frames = {
        "customers": pd.DataFrame({"customer_id": range(1, 21), "left": [True, False] * 10}),
        "orders": pd.DataFrame({"id": range(101), "customer": [*by, np.nan]}),
    }
    data = R.from_frames(frames, target="customers.left")
    assert data.database.relations["orders_customer"].is_link == is_reference
    assert any("not in the table 'customers'" in note for note in data.notes) == (is_reference and n_wrong > 0)
    assert any("orders.customer is called like a key" in note for note in data.notes) == (not is_reference)


def test_kinds_can_be_given():
    frame = pd.DataFrame({"a": [1, 2, 1], "b": [0.5, 1.5, 2.5]})
    data = R.from_frames({"t": frame}, target="t", types={"t.a": "nominal", "t.b": "date"}, exclude=[])
    assert data.database.relations["t_a"].components[1].levels == (1, 2)
    assert data.database.relations["t_b"].components[1].is_date


def test_columns_of_a_domain_are_joined_by_their_values():
    frames = {
        "a": pd.DataFrame({"id": [1, 2], "of": ["x", "z"]}),
        "b": pd.DataFrame({"id": [1, 2], "of": pd.Categorical(["z", "y"], categories=["z", "y"])}),
    }
    data = R.from_frames(frames, target="a", types={"a.of": "nominal:topic", "b.of": "nominal:topic"})
    modes = {"a_of": [("old", "new")], "b_of": [("new", "old")]}
    counts = RelationalFeatures(aggregates=["count"], modes=modes).fit(data).transform(data)
    assert counts.iloc[:, -1].tolist() == [0, 1]


# -- traps --------------------------------------------------------------------------------------------


def test_traps_are_told():
    rng = np.random.default_rng(0)
    n = 60
    act = rng.normal(size=n)
    words = ["the quick brown fox number", "jumps over a lazy dog"]
    frames = {
        "drugs": pd.DataFrame({"id": np.arange(n), "act": act, "logp": rng.normal(size=n), "active": act > 0}),
        "atoms": pd.DataFrame(
            {
                "id": np.arange(3 * n),
                "drug_id": np.arange(3 * n) % n,
                "code": rng.permutation(3 * n),
                "same": 1.0,
                "text": [f"{words[i % 2]} {i % 40}" for i in range(3 * n)],
            }
        ),
    }
    notes = "\n".join(R.from_frames(frames, target="drugs.active").notes)
    assert "feature 'drugs.act' predicts the target 'active' (nearly) perfectly" in notes
    assert "leave it out (exclude=['drugs.act'])" in notes
    assert "logp" not in notes
    assert "column atoms.code holds another value in (nearly) every row: identifiers? exclude=['atoms.code']" in notes
    assert "column atoms.same holds one value only" in notes
    assert "column atoms.text holds texts of several words" in notes


# -- folders ------------------------------------------------------------------------------------------


@pytest.fixture
def movies(tmp_path):
    for name, frame in om.datasets.make_movies(20, 15, random_state=0, as_frames=True).items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_folder_without_a_schema(movies):
    data = R.from_folder(movies, target="movies.genre")
    assert data.fingerprint == om.datasets.make_movies(20, 15, random_state=0).fingerprint
    assert data.name == movies.name
    with pytest.raises(DataError, match=r"holds the tables movies, nations, ratings, users: name the target"):
        R.from_folder(movies)


def test_folder_of_parquet_and_packed_files(movies, tmp_path):
    import gzip

    data = R.from_folder(movies, target="movies.genre")
    pd.read_csv(movies / "users.csv").to_parquet(movies / "users.parquet")
    (movies / "users.csv").unlink()
    (movies / "ratings.tsv.gz").write_bytes(
        gzip.compress((movies / "ratings.csv").read_text().replace(",", "\t").encode())
    )
    (movies / "ratings.csv").unlink()
    (movies / "notes.txt").write_text("not a table")
    assert sorted(table_files(movies)) == ["movies", "nations", "ratings", "users"]
    assert R.from_folder(movies, target="movies.genre").fingerprint == data.fingerprint


TOML = """
target = "movies.genre"
exclude = ["nations"]
time = {ratings = "weekday"}

[tables.movies]
primary_key = "id"
columns = {year = "nominal", minutes = "int(11)"}
exclude = ["country"]

[tables.ratings]
foreign_keys = [{column = "movie_id", references = "movies.id"}]
"""


def test_folder_with_a_schema(movies):
    (movies / "schema.toml").write_text(TOML.replace('time = {ratings = "weekday"}\n', ""))
    data = R.from_folder(movies)
    assert data.target_name == "movies.genre"
    assert data.schema.tables["ratings"].primary_key == ("id",)
    assert [key.columns for key in data.schema.tables["ratings"].foreign_keys] == [("movie_id",)]
    assert data.database.relations["movies_year"].components[1].kind == "nominal"
    assert "movies_country" not in data.database.relations
    assert "nations" not in data.schema.tables
    assert R.from_folder(movies, keys={"ratings.user_id": "users"}).schema.tables["ratings"].foreign_keys[1:]


def test_a_schema_that_was_found_can_be_written_and_read(movies):
    data = R.from_folder(movies, target="movies.genre")
    (movies / "schema.json").write_text(json.dumps({"target": "movies.genre"} | data.schema.to_dict()))
    again = R.from_folder(movies)
    assert again.schema == data.schema
    assert again.fingerprint == data.fingerprint
    assert not any("inferred" in note for note in again.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "schema.toml: it is no TOML"),
        ("targt = 1", r"says 'targt', which means nothing here \(did you mean 'target'\?\)"),
        ("[tables.film]", r"no table 'film'"),
        ("[tables.movies]\nkey = 1", r"table 'movies' says 'key'"),
        ("[tables.movies]\nprimary_key = 'nr'", "has no column 'nr'"),
        ("[tables.movies]\ncolumns = {year = 'nominl'}", "is said to be 'nominl'"),
        ("[tables.movies]\ncolumns = {years = 'nominal'}", r"no column 'years' \(did you mean 'year'\?\)"),
        ("[tables.ratings]\nforeign_keys = [{column = 'movie_id', references = 'movies.nr'}]", "has no column 'nr'"),
        ("[tables.ratings]\nforeign_keys = [{references = 'movies'}]", "malformed"),
        ("[tables.ratings]\nforeign_keys = [{column = 'movie_id'}]", "malformed .'references' is missing"),
        ("[tables.ratings]\nforeign_keys = {movie_id = 'movies'}", "'ratings' is malformed: a foreign key"),
        ("tables = 1", "malformed: tables must map names"),
        ("tables = {movies = 5}", "table 'movies' is malformed"),
        # the caller names another target
        ("target = 5", "schema.toml: target: .*not 5"),
        ("target = 'movies.gnre'", r"schema.toml: .*gnre.*did you mean"),
        ("target_table = 'film'\ntarget_column = 'genre'", "schema.toml: .*film"),
        ("time = 5", "schema.toml: time=5"),
    ],
)
def test_malformed_schemas_are_errors_that_name_the_file(movies, text, message):
    (movies / "schema.toml").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        R.from_folder(movies, target="movies.genre")


def test_folders_that_cannot_be_read(tmp_path, movies):
    with pytest.raises(DataError, match="does not exist"):
        R.from_folder(tmp_path / "none", target="a.b")
    with pytest.raises(DataError, match="is a file"):
        R.from_folder(movies / "movies.csv", target="a.b")
    (movies / "movies.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"movies.csv and movies.parquet are both table 'movies'"):
        read_folder(movies)
    (movies / "movies.csv").unlink()
    with pytest.raises(FileFormatError, match="not a Parquet file"):
        read_folder(movies)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="holds no table"):
        read_folder(empty)


def test_csv_files_of_headers_only_and_of_large_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("id,y\n1152921504606846977,k\n1152921504606846976,l\n")
    (tmp_path / "b.csv").write_text("id,a_id,x\n")
    (tmp_path / "c.csv").write_text("id,a_id\n0,1152921504606846977\n1,\n")
    data = R.from_folder(tmp_path, target="a.y")
    assert data.example_ids.tolist() == [2**60, 2**60 + 1]
    assert decoded_facts(data)["c_a_id"] == [(0, 2**60 + 1)]
    assert data.database.relations["b_x"].n_facts == 0


def test_numbers_that_refer_to_texts(tmp_path):
    (tmp_path / "a.csv").write_text("id,y\n1,k\n2,l\nx,m\n")
    (tmp_path / "b.csv").write_text("id,a_id\n0,2\n1,1\n")
    data = R.from_folder(tmp_path, target="a.y")
    assert decoded_facts(data)["b_a_id"] == [(0, "2"), (1, "1")]


def test_a_csv_file_without_names_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    with pytest.raises(FileFormatError, match="must hold the names of the columns"):
        read_folder(tmp_path)


# -- other data of the same schema --------------------------------------------------------------------


def test_other_data_take_keys_and_levels_of_the_first():
    frames = om.datasets.make_movies(30, random_state=0, as_frames=True)
    data = R.from_frames(frames, target="movies.genre")
    new = om.datasets.make_movies(5, 3, random_state=1, as_frames=True)
    new["movies"] = new["movies"].drop(columns="genre").assign(more=1.0)
    new["extra"] = pd.DataFrame({"id": [1]})
    new["movies"].loc[0, "country"] = "Atlantis"
    other = R.from_frames(new, target="movies", like=data)
    assert other.schema == data.schema
    with pytest.warns(DataWarning, match=r"taken as members of no set: movies\.country \(Atlantis\)"):
        same = other.aligned_with(data)
    known = data.database.relations["movies_country"].components[1].levels
    assert same.database.relations["movies_country"].components[1].levels == (*known, "Atlantis")
    facts = decoded_facts(other)
    assert {name: set(found) for name, found in decoded_facts(same).items()} == {n: set(f) for n, f in facts.items()}
    assert same.aligned_with(same) is same


def test_what_is_missing_in_other_data_is_named():
    data = om.datasets.make_movies(30, random_state=0)
    new = om.datasets.make_movies(5, 3, random_state=1, as_frames=True)
    no_column = new | {"users": new["users"].drop(columns="age")}
    with pytest.raises(DataError, match=r"table 'users' has no column 'age', which the schema has"):
        R.from_frames(no_column, target="movies", like=data)
    with pytest.raises(DataError, match=r"there is no users\.age, which the model was fitted to"):
        R.from_frames(no_column, target="movies").aligned_with(data)
    no_table = {name: frame for name, frame in new.items() if name != "nations"}
    with pytest.raises(DataError, match=r"there is no table 'nations'"):
        R.from_frames(no_table, target="movies", like=data)
    text = new | {"users": new["users"].assign(age=["young"] * 3)}
    with pytest.raises(DataError, match=r"users\.age is nominal here, but numeric in the data"):
        R.from_frames(text, target="movies").aligned_with(data)
    with pytest.raises(DataError, match="the examples are users, but the model was fitted to movies"):
        R.from_frames(new, target="users").aligned_with(data)


def test_empty_tables_of_other_data_have_any_kind():
    data = om.datasets.make_movies(30, random_state=0)
    new = om.datasets.make_movies(5, 3, random_state=1, as_frames=True)
    new["ratings"] = pd.DataFrame({name: [] for name in new["ratings"]})
    other = R.from_frames(new, target="movies", like=data).aligned_with(data.signature)
    relation = other.database.relations["ratings_weekday"]
    assert relation.components == data.database.relations["ratings_weekday"].components
    assert relation.n_facts == 0


def test_unseen_values_of_a_domain_are_told_by_column():
    types = {"a.of": "nominal:topic", "b.of": "nominal:topic"}

    def data(*values):
        frames = {
            "a": pd.DataFrame({"id": [1, 2], "of": values[:2]}),
            "b": pd.DataFrame({"id": [1, 2], "of": values[2:]}),
        }
        return R.from_frames(frames, target="a", types=types)

    with pytest.warns(DataWarning, match=r"a\.of \(q\); b\.of \(p, q\)"):
        other = data("x", "q", "p", "q").aligned_with(data("x", "y", "y", "z"))
    assert other.database.relations["a_of"].components[1].levels == ("x", "y", "q")
    assert decoded_facts(other) == {"a_of": [(1, "x"), (2, "q")], "b_of": [(1, "p"), (2, "q")]}


def test_words_that_end_like_keys_are_not_told():
    data = R.from_frames({"t": pd.DataFrame({"paid": [0, 1, 1], "grid": [3, 4, 4], "kiosk_no": [1, 1, 2]})}, target="t")
    assert not any("called like a key" in note for note in data.notes)


def test_several_references_from_the_same_columns():
    frames = {
        "a": pd.DataFrame({"i": [1, 2], "j": [1, 2]}),
        "b": pd.DataFrame({"i": [1, 2], "k": [5, 6]}),
        "c": pd.DataFrame({"id": [1], "i": [2]}),
        "d": pd.DataFrame({"id": [9], "i": [2], "j": [2], "k": [6]}),
    }
    keys = {
        "a": ["i", "j"],
        "b": ["i", "k"],
        "c": "i",
        ("d", ("i", "j")): "a",
        ("d", ("i", "k")): "b",
        ("d", "i"): "c",
    }
    data = R.from_frames(frames, keys=keys, target="d")
    facts = decoded_facts(data)
    assert facts["d_i_j"] == [(9, (2, 2))]
    assert facts["d_i_k"] == [(9, (2, 6))]
    assert facts["d_i"] == [(9, 2)]


@pytest.mark.parametrize("source", ["frames", "folder"])
def test_columns_of_new_data_are_of_the_kinds_of_the_data_they_are_like(tmp_path, source):
    # a few new rows may hold only categories that look like numbers
    shops = pd.DataFrame({"id": range(8), "code": ["7", "x", "7", "y"] * 2, "left": list("abab") * 2})
    data = R.from_frames({"shop": shops}, target="shop.left")
    new = shops.iloc[:1].drop(columns="left")
    if source == "frames":
        other = R.from_frames({"shop": new}, target="shop", like=data)
    else:
        new.to_csv(tmp_path / "shop.csv", index=False)
        other = R.from_folder(tmp_path, target="shop", like=data)
    assert other.aligned_with(data).database.relations["shop_code"].components[1].levels == ("7", "x", "y")
    tree = RelationalTree(random_state=0).fit(data)
    assert tree.predict(other).tolist() == ["a"]


def test_a_column_without_known_cells_is_of_any_kind_of_the_data_it_is_like():
    shops = pd.DataFrame(
        {
            "id": range(8),
            "size": [1.5, 2.5] * 4,
            "code": list("xyzx") * 2,
            "open": [True, False] * 4,
            "since": pd.date_range("2020", periods=8),
            "left": list("abab") * 2,
        }
    )
    data = R.from_frames({"shop": shops}, target="shop.left")
    for unknown in (shops.iloc[:0], shops.assign(size=None, code=None, open=None, since=None)):
        other = R.from_frames({"shop": unknown}, target="shop", like=data)
        kinds = {name: relation.components[1].kind for name, relation in other.database.relations.items()}
        assert kinds == {name: relation.components[1].kind for name, relation in data.database.relations.items()}


def test_a_date_of_every_row_is_no_identifier():
    days = pd.DataFrame(
        {"id": range(60), "shop_id": [i % 30 for i in range(60)], "day": pd.date_range("2020", periods=60)}
    )
    shops = pd.DataFrame({"id": range(30), "left": list("ab") * 15})
    data = R.from_frames({"shop": shops, "visit": days}, target="shop.left")
    assert not any("visit.day" in note for note in data.notes)


SHOP = {
    "customers": pd.DataFrame({"customer_id": range(1, 31), "age": range(20, 50), "churn": ["yes", "no"] * 15}),
    "orders": pd.DataFrame({"customer_id": [*range(1, 31)] * 2, "item_id": [1, 2, 3] * 20, "n": range(60)}),
    "items": pd.DataFrame({"item_id": [1, 2, 3], "price": [1.5, 2.5, 3.5]}),
}
TWICE = SHOP["customers"].assign(customer_id=[1, *range(1, 30)])
CODES = SHOP["orders"].assign(customer_id=[f"C{i:04d}" for i in SHOP["orders"]["customer_id"]])
ITEMS = SHOP["items"].assign(item_id=[1, 1, 2])
SOME = SHOP["orders"].assign(customer_id=[i if i < 10 else 1000 + i for i in SHOP["orders"]["customer_id"]])


@pytest.mark.parametrize(
    ("frames", "unreached", "why", "keys"),
    [
        (
            {"customers": TWICE},
            "items, orders",
            "customers.customer_id holds 1 value more than once, so it is no key",
            {"customers.customer_id": "customer_id", "orders.customer_id": "customer_id"},
        ),
        ({"orders": CODES}, "items, orders", "0 of 60 values of orders.customer_id are in customers", None),
        ({"orders": SOME}, "items, orders", "18 of 60 values of", {"orders.customer_id": "customers"}),
        (
            {"items": ITEMS},
            "items",
            "items.item_id holds 1 value more than once",
            {"items.item_id": "item_id", "orders.item_id": "item_id"},
        ),
    ],
    ids=["key twice", "other codes", "few known", "key of another table twice"],
)
def test_tables_that_nothing_leads_to_are_told_with_what_helps(frames, unreached, why, keys):
    data = R.from_frames(SHOP | frames, target="customers.churn")
    with pytest.warns(DataWarning) as warned:
        om.relational.RelationalRanker(n_trees=2, random_state=0).fit(data)
    told = [str(warning.message) for warning in warned]
    assert any(f"no keys link {unreached} to the table of the target" in text for text in told)
    reason = next(text for text in told if why in text)
    assert data.notes.count(reason) == 1
    if keys is None:
        assert "write the values alike" in reason
        return
    assert f"keys={keys!r}" in reason
    assert not unreached_tables(R.from_frames(SHOP | frames, target="customers.churn", keys=keys))


def test_tables_that_are_linked_are_not_told():
    assert not any("no keys link" in note for note in R.from_frames(SHOP, target="customers.churn").notes)
