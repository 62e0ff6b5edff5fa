"""``rank``, ``tree`` and ``evaluate`` on several tables."""

from __future__ import annotations

import csv
import io
import json
import sqlite3

import pytest

import omnirank as om
from omnirank.relational import RelationalRanker
from tools.command import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("movies")
    for name, frame in om.datasets.make_movies(as_frames=True, random_state=0).items():
        frame.to_csv(path / f"{name}.csv", index=False)
    return path


@pytest.mark.slow
def test_rank(folder, tmp_path):
    text = run("rank", folder, "-t", "movies.genre", "--trees", 5, "-o", tmp_path / "r.json").stdout
    assert "ratings_stars" in text
    assert "--by column" in text
    expected = RelationalRanker(n_trees=5, random_state=0).fit(om.datasets.make_movies(random_state=0)).ranking_
    found = om.Ranking.load(tmp_path / "r.json")
    assert found.names == expected.names
    assert found.scores.tolist() == expected.scores.tolist()
    out = run("rank", folder, "-t", "movies.genre", "--trees", 5, "--by", "column", "-k", 2, "--csv").stdout
    assert [row["feature"] for row in csv.DictReader(io.StringIO(out))] == ["ratings_stars", "users_age"]
    options = ("-m", "relational-symbolic", "--ensemble", "random-forest", "--max-features", 0.5, "--by", "table")
    assert "symbolic" in run("rank", folder, "-t", "movies.genre", "--trees", 3, *options).stdout


def test_rank_of_a_database(folder, tmp_path):
    connection = sqlite3.connect(tmp_path / "movies.db")
    for name, frame in om.datasets.make_movies(as_frames=True, random_state=0).items():
        frame.to_sql(name, connection, index=False)
    connection.close()
    options = ("-t", "movies.genre", "--trees", 3, "--csv")
    assert run("rank", f"sqlite:///{tmp_path / 'movies.db'}", *options).stdout == run("rank", folder, *options).stdout


def test_tree(folder, tmp_path):
    options = ("-t", "movies.genre", "--max-depth", 2)
    assert "mean stars of its ratings <= " in run("tree", folder, *options).stdout
    assert run("tree", folder, *options, "--dot").stdout.startswith("digraph tree")
    run("tree", folder, *options, "--json", "-o", tmp_path / "tree.json")
    found = json.loads((tmp_path / "tree.json").read_text())
    assert found["features"][0]["name"] == "mean stars of its ratings"
    assert run("tree", folder, *options, "--set", "lookahead=1", "--min-leaf", 20).exit_code == 0


@pytest.mark.slow
def test_evaluate(folder):
    presets = ("--preset", "AGG-All", "--preset", "NO-Rel")
    out = run("evaluate", folder, "-t", "movies.genre", "--folds", 3, "--set", "n_trees=5", *presets, "--csv").stdout
    found = {(row["model"], row["measure"]): float(row["value"]) for row in csv.DictReader(io.StringIO(out))}
    assert found["forest, AGG-All", "accuracy"] > 0.85
    assert found["tree, AGG-All", "accuracy"] > 0.8
    assert found["forest, NO-Rel", "accuracy"] < 0.6
    assert found["constant", "accuracy"] == pytest.approx(0.445, abs=0.01)
    text = run("evaluate", folder, "-t", "movies.genre", "--folds", 2, "--set", "n_trees=2").stdout
    assert "accuracy" in text


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rank", "--supervision", "0.5"), "--supervision is for one table"),
        (("rank", "--significance"), "--significance is for one table"),
        (("rank", "-m", "relief"), "relational-genie3"),
        (("rank", "--by", "row"), "by"),
        (("tree", "--max-leaves", "3"), "--max-leaves is for one table"),
        (("tree", "--set", "pruning=m5"), "no such parameter"),
        (("evaluate", "-m", "genie3"), "--method is for one table"),
        (("evaluate", "--preset", "all"), "preset"),
    ],
)
def test_options_that_do_not_fit(folder, arguments, message):
    command, *options = arguments
    assert message in run(command, folder, "-t", "movies.genre", *options, code=2).stderr


def test_options_of_several_tables_do_not_fit_one(folder):
    file = folder / "movies.csv"
    assert "--by is for several tables" in run("rank", file, "-t", "genre", "--by", "table", code=2).stderr
    error = run("evaluate", file, "-t", "genre", "-m", "univariate", "--preset", "NO-Rel", code=2).stderr
    assert "--preset is for several tables" in error
    assert "takes a RelationalDataset" in run("rank", file, "-t", "genre", "-m", "relational-genie3", code=2).stderr
