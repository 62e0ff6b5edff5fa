"""Several tables: ``info``, ``features``, ``rank``, ``tree`` and ``evaluate``."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

import omnirank as om
from omnirank.relational import RelationalDataset, RelationalFeatures, RelationalRanker
from tools.command import rows, run


def facts(*arguments):
    return {row["fact"]: row["value"] for row in rows(*arguments)}


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


def test_tables_and_links_are_drawn(movies, tmp_path):
    names = RelationalDataset.from_folder(movies, target="movies.genre").feature_names
    om.Ranking(names, range(len(names)), "genie3").save(tmp_path / "r.json")
    options = ("-t", "movies.genre", "-o", tmp_path / "s.svg")
    assert f"picture written to {tmp_path / 's.svg'}" in run("info", movies, *options).stderr
    plain = (tmp_path / "s.svg").read_text()
    run("info", movies, *options, "--ranking", tmp_path / "r.json")
    assert (tmp_path / "s.svg").read_text().count("<path") > plain.count("<path")
    assert "needs --out" in run("info", movies, "--ranking", tmp_path / "r.json", code=2).output
    assert "draws several tables" in run("info", movies / "users.csv", "-o", tmp_path / "s.svg", code=2).output
    report = tmp_path / "r.html"
    run("rank", movies, "-t", "movies.genre", "--trees", 2, "--report", report)
    assert "Tables and links" in report.read_text()


def test_keys_kinds_and_columns_are_corrected(movies):
    text = run(
        "info", movies, "-t", "movies.genre", "--key", "ratings.user_id=",
        "--read", "nominal=ratings.user_id,movies.year",
        "--ignore", "nations,movies.minutes",
    ).stdout  # fmt: skip
    table = text.split("table")[1].split("link")[0]
    assert "user_id -> users" not in table
    assert "year (" in table
    assert "levels" in table
    assert "minutes" not in table
    assert "nations" not in text.split("note:")[0].replace("nation_id", "")


@pytest.mark.slow
def test_info_on_a_database(tmp_path, movies):
    path = tmp_path / "movies.db"
    connection = sqlite3.connect(path)
    for name, frame in om.datasets.make_movies(20, 15, random_state=0, as_frames=True).items():
        frame.to_sql(name, connection, index=False)
    connection.close()
    found = facts("info", f"sqlite:///{path}", "-t", "movies.genre")
    assert found == facts("info", movies, "-t", "movies.genre") | {"name": "movies.db"}
    assert (found["relations"], found["link relations"], found["objects: users"]) == ("12", "3", "15")


def test_info_on_facts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("facts.txt").write_text("age(ana, 3).\nage(bob, 4).\n")
    Path("pos.txt").write_text("likes(ana, bob).\n")
    Path("neg.txt").write_text("likes(bob, ana).\n")
    Path("bk.txt").write_text("mode: likes(+person, +person).\nmode: age(+person, -years).\n")
    text = run("info", "facts.txt", "--target", "pos.txt,neg.txt", "--read", "settings=bk.txt").stdout
    assert "person, person" in text
    assert "likes (2 classes)" in text


@pytest.mark.slow
def test_features_of_a_folder_are_written_with_the_target(movies, tmp_path):
    out = tmp_path / "table.parquet"
    text = run("features", movies, "--target", "movies.genre", "--out", out).output
    assert "number of its ratings" in text
    assert "... and 2 more" in text
    assert "20 examples, all labelled, 12 features written" in text
    table = om.load(out, target="genre")
    expected = RelationalFeatures(2).fit(RelationalDataset.from_folder(movies, target="movies.genre"))
    assert list(table.feature_names) == expected.get_feature_names_out().tolist()
    assert om.make_ranker("univariate").fit(table).ranking_.names == table.feature_names


def test_aggregates_steps_and_presets_can_be_chosen(movies):
    text = run("features", movies, "--target", "movies.genre", "--aggregates", "mean,count", "--lookahead", "3").output
    assert "mean age of the users of its ratings" in text
    assert "minimum" not in text
    assert "note: table nations has no feature: --lookahead 4 goes further" in text
    assert "has no feature" not in run("features", movies, "-t", "movies.genre", "--lookahead", "4").output
    own = run("features", movies, "--target", "movies.genre", "--set", "aggregates=NO-Rel").output
    assert "its year" in own
    assert "ratings" not in own.split("feature")[1]
    assert "has no feature" not in own


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
    assert "--set by=column" in text
    expected = RelationalRanker(n_trees=5, random_state=0).fit(om.datasets.make_movies(random_state=0)).ranking_
    found = om.Ranking.load(tmp_path / "r.json")
    assert found.names == expected.names
    assert found.scores.tolist() == expected.scores.tolist()
    best = rows("rank", folder, "-t", "movies.genre", "--trees", 5, "--set", "by=column", "-k", 2)
    assert [row["feature"] for row in best] == ["ratings_stars", "users_age"]
    options = ("-m", "relational-symbolic", "--set", "ensemble=random-forest", "--set", "by=table")
    assert "symbolic" in run("rank", folder, "-t", "movies.genre", "--trees", 3, *options).stdout
    options = ("-m", "relational-permutation", "--set", "by=table", "-k", 1)
    assert [row["feature"] for row in rows("rank", folder, "-t", "movies.genre", "--trees", 5, *options)] == ["ratings"]


def test_tree(folder, tmp_path):
    options = ("-t", "movies.genre", "--max-depth", 2)
    assert "mean stars of its ratings <= " in run("tree", folder, *options).stdout
    assert run("tree", folder, *options, "--dot").stdout.startswith("digraph tree")
    run("tree", folder, *options, "--json", "-o", tmp_path / "tree.json")
    found = json.loads((tmp_path / "tree.json").read_text())
    assert found["features"][0]["name"] == "mean stars of its ratings"
    assert run("tree", folder, *options, "--set", "lookahead=1", "--set", "min_samples_leaf=20").exit_code == 0


@pytest.mark.slow
def test_evaluate(folder):
    def accuracies(*options):
        options = ("-t", "movies.genre", "--folds", 3, "--set", "n_trees=5", *options)
        measured = rows("evaluate", folder, *options)
        return {row["model"]: float(row["value"]) for row in measured if row["measure"] == "accuracy"}

    every = accuracies()
    assert every["forest"] > 0.85
    assert every["tree"] > 0.8
    assert every["constant"] == pytest.approx(0.445, abs=0.01)
    assert accuracies("--set", "aggregates=NO-Rel")["forest"] < 0.6
    text = run("evaluate", folder, "-t", "movies.genre", "--folds", 2, "--set", "n_trees=2").stdout
    assert "accuracy" in text


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "films.csv").write_text("id,good\n7,yes\n2,no\n3,yes\n4,no\n", encoding="utf-8")
    (folder / "roles.csv").write_text("film,actor\n7,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    return folder


def test_a_folder_is_shown_without_a_target(shop):
    said = run("info", shop).output
    assert "no target is named: the rows of films are the examples here" in " ".join(said.split())
    assert "actor (2 levels)" in said
    assert "roles.film -> films" in said


def test_constructed_features_have_their_identifiers(shop, tmp_path):
    plain, named = tmp_path / "plain.csv", tmp_path / "named.csv"
    assert "--ids writes" in run("features", shop, "--target", "films.good", "--out", plain).output
    run("features", shop, "--target", "films.good", "--out", named, "--ids")
    frame = pd.read_csv(named)
    assert frame["films"].tolist() == [2, 3, 4, 7]
    assert frame["roles.actor"].tolist() == ["b", "a", "b", "a"]
    assert frame["good"].tolist() == ["no", "yes", "no", "yes"]
    assert om.load(named, "good", key="films").feature_names == om.load(plain, "good").feature_names


@pytest.mark.slow
def test_relations_that_suffice_are_selected_and_ranked_without_a_target(movies):
    shared = ("-t", "movies.genre", "--by", "forest", "--folds", "3", "--trees", "5", "--seed", "0", "-j", "1")
    text = run("select", movies, *shared).stdout
    data = RelationalDataset.from_folder(movies, target="movies.genre")
    found = om.select(
        RelationalRanker(n_trees=5, random_state=0), data, by="forest", n_folds=3, random_state=0, n_jobs=1
    )
    assert f"kept: {', '.join(found.names)}" in text
    assert "12 relations" in text
    for option in (("--redundancy", "0.9"), ("--labelled", "5"), ("--out", "x.csv")):
        assert f"{option[0]} is for one table" in run("select", movies, *shared, *option, code=2).stderr
    assert "clustering" in run("rank", movies, "-t", "movies", "--trees", "5", "-j", "1").stdout
