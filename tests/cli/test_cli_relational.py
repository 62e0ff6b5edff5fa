"""``omnirank info`` on several tables."""

from __future__ import annotations

import csv
import io
import sqlite3
from functools import partial

import pytest

import omnirank as om
from tools import command

run = partial(command.run, env={"COLUMNS": "200"})


def facts(*arguments):
    return {row["fact"]: row["value"] for row in csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout))}


@pytest.fixture
def movies(tmp_path):
    folder = tmp_path / "movies"
    folder.mkdir()
    for name, frame in om.datasets.make_movies(20, 15, random_state=0, as_frames=True).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_info_on_a_folder(movies):
    text = run("info", movies, "--target", "movies.genre").stdout
    for words in ("classification", "20, all labelled", "genre (3 classes)", "nation_id -> nations", "age (numeric)"):
        assert words in text
    assert "ratings_movie_id" in text
    assert "identifiers inferred from names and values: movies (id)" in text
    assert "--key ... corrects them" in text


def test_keys_kinds_and_columns_are_corrected(movies):
    text = run(
        "info", movies, "-t", "movies.genre", "--key", "ratings.user_id=", "--nominal", "ratings.user_id,movies.year",
        "--ignore", "nations,movies.minutes",
    ).stdout  # fmt: skip
    table = text.split("table")[1].split("link")[0]
    assert "user_id -> users" not in table
    assert "year (" in table
    assert "levels" in table
    assert "minutes" not in table
    assert "nations" not in text.split("note:")[0].replace("nation_id", "")


def test_info_on_a_database(tmp_path, movies):
    path = tmp_path / "movies.db"
    connection = sqlite3.connect(path)
    for name, frame in om.datasets.make_movies(20, 15, random_state=0, as_frames=True).items():
        frame.to_sql(name, connection, index=False)
    connection.close()
    found = facts("info", f"sqlite:///{path}", "-t", "movies.genre")
    assert found == facts("info", movies, "-t", "movies.genre") | {"name": "movies.db"}
    assert (found["relations"], found["link relations"], found["objects: users"]) == ("12", "3", "15")


def test_info_on_facts(tmp_path):
    paths = {name: tmp_path / name for name in ("facts.txt", "pos.txt", "neg.txt", "bk.txt")}
    paths["facts.txt"].write_text("age(ana, 3).\nage(bob, 4).\n")
    paths["pos.txt"].write_text("likes(ana, bob).\n")
    paths["neg.txt"].write_text("likes(bob, ana).\n")
    paths["bk.txt"].write_text("mode: likes(+person, +person).\nmode: age(+person, -years).\n")
    given = ["--target-facts", paths["pos.txt"], "--target-facts", paths["neg.txt"], "--settings", paths["bk.txt"]]
    text = run("info", paths["facts.txt"], *given).stdout
    assert "person, person" in text
    assert "likes (2 classes)" in text
    assert "positive and negative" in run("info", paths["facts.txt"], "--settings", paths["bk.txt"], code=2).stderr


def test_errors_in_the_words_of_the_command(movies, tmp_path):
    assert "name the target by --target table.column, or by a table alone" in run("rank", movies, code=2).stderr
    assert "--separator ';' is for one table" in run("info", movies, "--separator", ";", code=2).stderr
    assert "--time" in run("info", movies / "users.csv", "--time", "a.b", code=2).stderr
    assert "write table=column" in run("info", movies, "-t", "movies", "--key", "id", code=2).stderr
    assert "there is no database" in run("info", f"sqlite:///{tmp_path}/no.db", "-t", "a", code=2).stderr
    assert "is a folder" in run("select", movies, code=2).stderr


def test_a_file_of_sqlite_is_named_by_its_url(tmp_path):
    path = tmp_path / "films.db"
    sqlite3.connect(path).close()
    assert f"sqlite:///{path}" in run("info", path, code=2).stderr
    assert "sqlite:///" in run("convert", path, tmp_path / "a.csv", code=2).stderr


def test_a_file_of_facts_asks_for_those_of_the_target(tmp_path):
    path = tmp_path / "facts.txt"
    path.write_text("% people\nlikes(ana, beef).\n")
    assert "--target-facts" in run("info", path, code=2).stderr
    path.write_text("a b c\n")
    assert "--target-facts" not in run("info", path, code=2).stderr


def test_commands_on_one_table_say_how_several_become_one(tmp_path):
    assert "omnirank features" in run("select", tmp_path, "--target", "a.y", code=2).stderr


def test_help_says_how_targets_and_keys_of_several_tables_are_written():
    text = " ".join(run("rank", "--help").stdout.replace("│", " ").split())
    assert "table.column" in text
    assert "visits=*" in text
    assert "visits=*" not in run("select", "--help").stdout
