"""``omnirank rank`` and ``omnirank fit`` on Parquet files that are parts of one table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.rankers.shard_files import LITTLE, frame_of, written

import omnirank as om
from tools.command import run

LITTLE_MEMORY = ("--read", f"max_memory={LITTLE}")
FEATURES = "a,b,c,d,e,n,town"
COLUMNS = ("--read", f"features={FEATURES}", "--target", "kind")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return written(tmp_path_factory.mktemp("data") / "plants", frame_of(), [600, 1300])


def test_parts_that_fit_are_ranked_as_the_whole(parts, tmp_path):
    result = run("rank", parts, *COLUMNS, "--trees", 3, "--out", tmp_path / "r.json")
    assert "3 Parquet files with the same columns are read as one table; --target table.column reads several" in (
        result.stderr.replace("\n", " ")
    )
    assert "plants: classification, 2000 examples, all labelled, 7 features" in result.stdout
    expected = om.EnsembleRanker(n_trees=3, random_state=0).fit(
        om.open_shards(parts, "kind", features="a,b,c,d,e,n,town")
    )
    assert om.Ranking.load(tmp_path / "r.json") == expected.ranking_


@pytest.mark.slow
def test_parts_that_do_not_fit(parts, tmp_path):
    out, scratch = tmp_path / "r.json", tmp_path / "scratch"
    options = (*LITTLE_MEMORY, "--read", f"scratch={scratch}")
    result = run("rank", parts, *COLUMNS, "--trees", 12, "--out", out, *options)
    assert "2000 examples, all labelled, 7 features" in result.stdout
    assert om.Ranking.load(out).parameters["n_samples"] > 5
    assert not any(scratch.iterdir())
    assert run("rank", f"{parts}/*.parquet", *COLUMNS, "--trees", 12, *LITTLE_MEMORY, "--csv").stdout
    for option in ("--labelled", 100), ("--redundancy", 0.9):
        result = run("rank", parts, *COLUMNS, *LITTLE_MEMORY, *option, code=2)
        assert f"{option[0]} needs all examples in memory" in result.stderr


@pytest.mark.slow
def test_a_report_of_parts_that_do_not_fit(parts, tmp_path):
    run("rank", parts, *COLUMNS, "--trees", 12, *LITTLE_MEMORY, "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "All features" in page
    assert "MB in memory, more than --read max_memory" in page


def test_significance_of_parts_that_do_not_fit(parts):
    result = run("rank", parts, *COLUMNS, "--trees", 40, *LITTLE_MEMORY, "--significance")
    assert "of 7 features are relevant: p_adjusted is at most 0.05" in result.stdout
    assert "<0.0001" in result.stdout
    refused = run("rank", parts, *COLUMNS, *LITTLE_MEMORY, "--significance", "--method", "univariate", code=2)
    assert "permuted copies need all examples in memory" in refused.stderr
    assert "--read max_memory" in refused.stderr


@pytest.mark.slow
def test_a_forest_on_parts_that_do_not_fit(parts, tmp_path):
    result = run("fit", parts, *COLUMNS, "--trees", 12, *LITTLE_MEMORY, "--out", tmp_path / "m.omr")
    assert "2000 examples, all labelled, 7 features, classification: 12 trees" in result.stdout
    run("predict", tmp_path / "m.omr", parts, "--out", tmp_path / "predicted")
    predicted = pd.concat(pd.read_parquet(file) for file in sorted((tmp_path / "predicted").iterdir()))
    assert np.mean(predicted["kind"].to_numpy() == frame_of()["kind"].to_numpy()) > 0.7
    single = run("fit", parts, *COLUMNS, "--single", *LITTLE_MEMORY, "--out", tmp_path / "t.omr", code=2)
    assert "more than --read max_memory" in single.stderr


@pytest.mark.slow
def test_several_tables_stay_several_tables(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"id": range(40), "age": rng.normal(size=40), "kind": rng.choice(["x", "y"], 40)})
    people.to_parquet(folder / "people.parquet")
    assert "read as one table" in run("rank", folder, "--target", "kind", "--trees", 2).stderr.replace("\n", " ")
    assert "read as one table" not in run("rank", folder, "--target", "people.kind", "--trees", 2).stderr
    pd.DataFrame({"who": rng.integers(0, 40, 90), "sum": rng.normal(size=90)}).to_parquet(folder / "sales.parquet")
    options = ("--key", "people=id,sales.who=people", "--trees", 2)
    assert "sales" in run("rank", folder, "--target", "people.kind", *options).stdout
    refused = run("rank", folder, "--target", "kind", "--read", "max_memory=1G", code=2).stderr.replace("\n", " ")
    assert "sales.parquet has no column 'id'" in refused


def test_what_is_in_parts_is_told_without_reading_them_again(parts, monkeypatch):
    alone = run("info", parts, "--ignore", "size,width").stdout
    assert "clustering" in alone
    assert "none: features can be ranked" in alone
    run("info", parts, *COLUMNS)  # finds the summary, which is kept
    monkeypatch.setattr("omnirank.shards.source.ShardSource.blocks", None)
    monkeypatch.setattr("omnirank.shards.source.ShardSource.batches_of", None)
    shown = run("info", parts, *COLUMNS).stdout
    for words in ("2000, all labelled", "in 3 files", "classification", "kind (3 classes)", "7", "fit in memory"):
        assert words in " ".join(shown.split()), words
    town = next(line.split() for line in shown.splitlines() if line.split()[:1] == ["town"])
    assert town[1] == "nominal"
    assert "4 categories" in " ".join(town)
    counts = frame_of()["kind"].value_counts()
    assert ", ".join(f"{kind} {counts[kind]}" for kind in "xyz") in " ".join(shown.split())
    little, none = (
        " ".join(run("info", parts, *COLUMNS, "--read", f"max_memory={n}").stdout.split()) for n in (LITTLE, "2K")
    )
    assert "do not fit in memory: trees are grown on " in little
    assert "samples of the rows" in little
    assert "has room for samples of 1 examples, too few to grow trees on" in none
    whole, csv = om.open_shards(parts, "kind", features=FEATURES), run("info", parts, *COLUMNS, "--csv").stdout
    facts = whole.describe()
    assert f"missing cells,{facts['missing cells']}" in csv
    assert "fits in memory,1" in csv


@pytest.mark.parametrize("target", ["kind", "size", "l1,l2", "size,kind", None])
def test_facts_of_parts_are_those_of_the_whole(parts, target):
    data = om.open_shards(parts, target, features=FEATURES)
    facts, expected = data.describe(), data.read().describe()
    assert facts["shards"] == 3
    assert facts.pop("classes", None) == expected.pop("classes", None)
    assert {name: facts[name] for name in expected if name in facts} == pytest.approx(
        {name: value for name, value in expected.items() if name in facts}
    )
    assert expected.keys() - facts.keys() <= {"partly labelled", "sparse"}


@pytest.mark.slow
def test_a_tree_of_parts(parts):
    shown = run("tree", parts, *COLUMNS, "--max-depth", 3)
    data = om.open_shards(parts, "kind", features=FEATURES).read()
    model = om.PCTClassifier(max_depth=3, random_state=0).fit(data)
    assert shown.stdout.rstrip("\n") == om.export_text(model).rstrip("\n")
    few = run("tree", parts, *COLUMNS, "--max-depth", 3, *LITTLE_MEMORY)
    words = few.stderr.replace("\n", " ")
    assert "the examples do not fit in memory" in words
    n = int(words.split("grown on ")[1].split()[0])
    assert 50 < n < 1000
    assert few.stdout.startswith("a <= ")
    assert few.stdout == run("tree", parts, *COLUMNS, "--max-depth", 3, *LITTLE_MEMORY).stdout
    assert few.stdout != run("tree", parts, *COLUMNS, "--max-depth", 3, *LITTLE_MEMORY, "--seed", 1).stdout
