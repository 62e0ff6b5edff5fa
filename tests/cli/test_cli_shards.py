"""``omnirank rank`` and ``omnirank fit`` on Parquet files that are parts of one table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.rankers.shard_files import LITTLE, frame_of, written
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app

RUNNER = CliRunner()
COLUMNS = ("--features", "a,b,c,d,e,n,town", "--target", "kind")


def run(*arguments, code=0):
    result = RUNNER.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return written(tmp_path_factory.mktemp("data") / "plants", frame_of(), [600, 1300])


def test_parts_that_fit_are_ranked_as_the_whole(parts, tmp_path):
    result = run("rank", parts, *COLUMNS, "--trees", 3, "--out", tmp_path / "r.json")
    assert "3 Parquet files with the same columns are read as one table; --tables reads a table from each" in (
        result.stderr.replace("\n", " ")
    )
    assert "plants: classification, 2000 examples, all labelled, 7 features" in result.stdout
    expected = om.EnsembleRanker(n_trees=3, random_state=0).fit(
        om.open_shards(parts, "kind", features="a,b,c,d,e,n,town")
    )
    assert om.Ranking.load(tmp_path / "r.json") == expected.ranking_


def test_parts_that_do_not_fit(parts, tmp_path):
    out, scratch, kept = tmp_path / "r.json", tmp_path / "scratch", tmp_path / "kept"
    options = ("--memory", LITTLE, "--scratch", scratch, "--checkpoint", kept)
    result = run("rank", parts, *COLUMNS, "--trees", 12, "--out", out, *options)
    assert "2000 examples, all labelled, 7 features" in result.stdout
    assert om.Ranking.load(out).parameters["n_samples"] > 5
    assert not any(scratch.iterdir())
    assert not any(kept.iterdir())
    assert run("rank", f"{parts}/*.parquet", *COLUMNS, "--trees", 12, "--max-memory", LITTLE, "--csv").stdout
    for option in ("--report", tmp_path / "r.html"), ("--labelled", 100), ("--redundancy",):
        result = run("rank", parts, *COLUMNS, "--memory", LITTLE, *option, code=2)
        assert f"{option[0]} needs all examples in memory" in result.stderr
    assert "room for samples of" in run("rank", parts, *COLUMNS, "--memory", "2K", code=2).stderr


def test_significance_of_parts_that_do_not_fit(parts):
    result = run("rank", parts, *COLUMNS, "--trees", 40, "--memory", LITTLE, "--significance")
    assert "of 7 features are relevant at alpha = 0.05" in result.stdout
    assert "<0.0001" in result.stdout
    refused = run("rank", parts, *COLUMNS, "--memory", LITTLE, "--significance", "--method", "univariate", code=2)
    assert "permuted copies need all examples in memory" in refused.stderr
    assert "--memory" in refused.stderr


def test_a_forest_on_parts_that_do_not_fit(parts, tmp_path):
    result = run("fit", parts, *COLUMNS, "--trees", 12, "--memory", LITTLE, "--out", tmp_path / "m.omr")
    assert "2000 examples, all labelled, 7 features, classification: 12 trees" in result.stdout
    run("predict", tmp_path / "m.omr", parts, "--out", tmp_path / "predicted")
    predicted = pd.concat(pd.read_parquet(file) for file in sorted((tmp_path / "predicted").iterdir()))
    assert np.mean(predicted["kind"].to_numpy() == frame_of()["kind"].to_numpy()) > 0.7
    single = run("fit", parts, *COLUMNS, "--single", "--memory", LITTLE, "--out", tmp_path / "t.omr", code=2)
    assert "more than --memory" in single.stderr


def test_several_tables_stay_several_tables(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"id": range(40), "age": rng.normal(size=40), "kind": rng.choice(["x", "y"], 40)})
    people.to_parquet(folder / "people.parquet")
    assert "read as one table" in run("rank", folder, "--target", "kind", "--trees", 2).stderr.replace("\n", " ")
    assert "read as one table" not in run("rank", folder, "--target", "people.kind", "--trees", 2).stderr
    assert "read as one table" not in run("rank", folder, "--target", "people.kind", "--trees", 2, "--tables").stderr
    pd.DataFrame({"who": rng.integers(0, 40, 90), "sum": rng.normal(size=90)}).to_parquet(folder / "sales.parquet")
    options = ("--key", "people=id,sales.who=people", "--trees", 2)
    assert "sales" in run("rank", folder, "--target", "people.kind", *options).stdout
    refused = run("rank", folder, "--target", "kind", "--shards", code=2).stderr.replace("\n", " ")
    assert "differ" in refused


def test_options_for_something_else(parts, tmp_path):
    frame_of(20).to_csv(tmp_path / "a.csv", index=False)
    frame_of(20).to_parquet(tmp_path / "a.parquet")
    text = run("rank", tmp_path / "a.parquet", *COLUMNS, "--tables", "--scratch", tmp_path, code=2).stderr
    assert "is for Parquet files that are parts of one table" in text.replace("\n", " ")
    assert "is for whole files" in run("rank", parts, *COLUMNS, "--header", "no", code=2).stderr
    assert "Parquet" in run("rank", tmp_path / "a.csv", *COLUMNS, "--memory", "1G", code=2).stderr
