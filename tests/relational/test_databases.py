"""Databases (SQLite): reflected, read as they are, never written."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from datetime import timedelta
from ipaddress import ip_address

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import omnirank as om
from omnirank.errors import DataError, DataTypeError, MissingDependencyError
from omnirank.relational import RelationalDataset
from omnirank.relational.readers import _typed, read_database
from reference.relational_tables import decoded_facts

R = RelationalDataset


@pytest.fixture
def made(tmp_path):
    """Makes a database by statements of SQL, and returns its file."""

    def make(*statements):
        with closing(sqlite3.connect(tmp_path / "shop.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        return tmp_path / "shop.db"

    return make


# Words of SQL, spaces, dots, quotes and umlauts as names; composite keys, references to the same table.
SHOP = (
    """CREATE TABLE "order" (id INTEGER PRIMARY KEY, "select" VARCHAR(20), "größe" NUMERIC(10, 2), made DATE,
    seen DATETIME, paid BOOLEAN, before INTEGER REFERENCES "order" (id))""",
    """INSERT INTO "order" VALUES (2, 'b', 1.25, '1970-01-02', NULL, 1, NULL),
    (1, 'a', NULL, NULL, '1970-01-01 00:01:00.000000', 0, 2)""",
    """CREATE TABLE "the line" ("from" INTEGER REFERENCES "order" (id), nr INTEGER, "pri""ce" FLOAT, blob BLOB,
    PRIMARY KEY ("from", nr))""",
    """INSERT INTO "the line" VALUES (2, 1, 2.5, x'00'), (1, 1, 1.5, NULL), (1, 2, NULL, NULL)""",
    """CREATE TABLE return (id INTEGER PRIMARY KEY, "from" INTEGER, nr INTEGER,
    FOREIGN KEY ("from", nr) REFERENCES "the line" ("from", nr))""",
    "INSERT INTO return VALUES (7, 1, 2)",
    "CREATE TABLE empty (id INTEGER PRIMARY KEY, x FLOAT)",
    "INSERT INTO empty VALUES (1, NULL)",
)


def test_values_that_drivers_of_servers_return_become_numbers_and_texts():
    column = sa.Column("x", sa.Text)
    hours = pd.Series([timedelta(hours=1), None]).infer_objects()
    np.testing.assert_array_equal(_typed(hours, column, sa), [3600.0, np.nan])
    addresses = pd.Series([ip_address("10.0.0.1"), None, ip_address("::1")])
    assert _typed(addresses, column, sa).tolist() == ["10.0.0.1", None, "::1"]


def test_keys_types_and_names_are_those_of_the_database(made):
    data = R.from_database(f"sqlite:///{made(*SHOP)}", target="order.select")
    assert data.y.tolist() == ["a", "b"]
    assert data.example_ids.tolist() == [1, 2]
    facts = decoded_facts(data)
    assert facts == {
        "empty_x": [],
        "order_größe": [(2, 1.25)],
        "order_made": [(2, 86400.0)],
        "order_seen": [(1, 60.0)],
        "order_paid": [(1, False), (2, True)],
        "order_before": [(1, 2)],
        "return_from_nr": [(7, (1, 2))],
        "the line_from": [((1, 1), 1), ((1, 2), 1), ((2, 1), 2)],
        "the line_nr": [((1, 1), 1.0), ((1, 2), 2.0), ((2, 1), 1.0)],
        'the line_pri"ce': [((1, 1), 1.5), ((2, 1), 2.5)],
    }
    assert data.database.relations["order_made"].components[1].is_date
    assert any("the line.blob are left out" in note for note in data.notes)


def test_a_database_gives_the_bits_of_its_frames(made):
    frames, url = om.datasets.make_movies(25, random_state=3, as_frames=True), f"sqlite:///{made(*SHOP)}"
    for name, frame in frames.items():
        frame.to_sql(name, url, index=False)
    data = R.from_database(url, target="movies.genre", tables=list(frames))
    assert data.fingerprint == om.datasets.make_movies(25, random_state=3).fingerprint
    assert any("identifiers inferred" in note for note in data.notes)


def test_nothing_is_written(tmp_path, made):
    path = made("CREATE TABLE a (id INTEGER PRIMARY KEY, y TEXT)", "INSERT INTO a VALUES (1, 'k'), (2, 'l')")
    before = path.read_bytes(), path.stat().st_mtime_ns
    path.chmod(0o444)
    said = []
    engine = sa.create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    sa.event.listen(engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    assert len(R.from_database(engine, target="a.y")) == 2
    engine.dispose()
    assert len(R.from_database(f"sqlite:///{path}", target="a.y")) == 2
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["shop.db"]
    assert all(text.lstrip().split()[0].upper() in ("BEGIN", "SELECT", "PRAGMA") for text in said)
    assert "SELECT a.id, a.y \nFROM a" in said


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(DataError, match="there is no database"):
        R.from_database(f"sqlite:///{tmp_path / 'no.db'}", target="a.b")
    assert list(tmp_path.iterdir()) == []


def test_all_tables_are_of_one_moment(tmp_path):
    path = tmp_path / "moving.db"
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA journal_mode=WAL")
    for table in "ab":
        writer.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY)")
        writer.execute(f"INSERT INTO {table} VALUES (1)")
    engine = sa.create_engine(f"sqlite:///{path}")

    @sa.event.listens_for(engine, "before_cursor_execute")
    def write_before_the_second_table(connection, cursor, statement, *others):
        if "FROM b" in statement and "SELECT b.id" in statement:
            writer.execute("INSERT INTO b VALUES (2)")

    assert {name: len(frame) for name, frame in read_database(engine).tables.items()} == {"a": 1, "b": 1}
    engine.dispose()
    assert writer.execute("SELECT count(*) FROM b").fetchone() == (2,)
    writer.close()


def test_a_locked_database_is_a_clear_error(tmp_path):
    path = tmp_path / "busy.db"
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("CREATE TABLE a (id INTEGER PRIMARY KEY)")
    locker.execute("BEGIN EXCLUSIVE")
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 0.05})
    with pytest.raises(DataError, match=r"busy\.db cannot be read: OperationalError: database is locked"):
        R.from_database(engine, target="a")
    engine.dispose()
    locker.close()


def test_a_database_that_is_cut_off_in_mid_read_gives_no_partial_data(made):
    rows = ", ".join(f"({i}, '{'x' * 20}')" for i in range(50_000))
    path = made("CREATE TABLE a (id INTEGER PRIMARY KEY, t TEXT)", f"INSERT INTO a VALUES {rows}")
    engine = sa.create_engine(f"sqlite:///{path}")

    @sa.event.listens_for(engine, "after_cursor_execute")
    def cut(connection, cursor, statement, *others):
        if "SELECT a.id" in statement:
            # stops the database after some steps of fetching rows
            connection.connection.dbapi_connection.set_progress_handler(lambda: True, 5000)

    with pytest.raises(DataError, match="cannot be read: OperationalError: interrupted"):
        R.from_database(engine, target="a")
    engine.dispose()


def test_cells_that_are_not_of_their_type(made):
    path = made(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, day DATE, mixed INTEGER, big BIGINT)",
        "INSERT INTO a VALUES (1, '2020-01-01', 5, 1), (2, '2020-01-02', 'many', NULL)",
    )
    data = R.from_database(f"sqlite:///{path}", target="a")
    assert decoded_facts(data)["a_mixed"] == [(1, "5"), (2, "many")]
    made("INSERT INTO a VALUES (3, 'tomorrow', 1, 1)")
    with pytest.raises(DataError, match="cannot be read: ValueError"):
        R.from_database(f"sqlite:///{path}", target="a")


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("movies", DataError, "is no URL of a database"),
        ("nosql://me:secret@host/db", MissingDependencyError, "nosql needs a driver"),
        (7, DataTypeError, "URL of a database or an engine"),
        ("sqlite://me:secret@host:port/db", DataError, r"me:\*\*\*@host:port/db' is no URL"),
    ],
)
def test_what_is_no_database(source, error, message):
    with pytest.raises(error, match=message) as caught:
        R.from_database(source, target="a.b")
    assert "secret" not in str(caught.value)


def test_a_database_without_tables_and_unknown_tables(made):
    path = made("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    with pytest.raises(DataError, match=r"no table 'order' \(did you mean 'orders'\?\)"):
        R.from_database(f"sqlite:///{path}", target="orders", tables=["order"])
    made("DROP TABLE orders")
    with pytest.raises(DataError, match="has no tables"):
        R.from_database(f"sqlite:///{path}", target="orders")


def test_without_sqlalchemy_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'omnirank\[databases\]'"):
        R.from_database("sqlite://", target="a.b")


def test_a_column_that_refers_to_two_tables(made):
    tables = "a (id INTEGER PRIMARY KEY, x REAL)", "b (id INTEGER PRIMARY KEY, x REAL)"
    linked = "c (id INTEGER PRIMARY KEY, of INTEGER REFERENCES a REFERENCES b)"
    rows = "a VALUES (1, 0.5)", "b VALUES (1, 0.5)", "c VALUES (1, 1)"
    path = made(*(f"CREATE TABLE {table}" for table in (*tables, linked)), *(f"INSERT INTO {row}" for row in rows))
    data = R.from_database(f"sqlite:///{path}", target="c")
    assert data.database.relations["c_of"].components[1].type == "a"
    assert any("c.of refers to a and b: the reference to b is not used" in note for note in data.notes)
