"""``omnirank tree``, ``fit`` and ``predict``, as a user meets them."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from tools.command import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"name": [f"00{i}" for i in range(80)], "height": rng.normal(size=80).round(3)})
    frame["colour"] = rng.choice(["red", "blue"], 80)
    frame["wet"] = rng.random(80) < 0.5
    frame["code"] = rng.integers(1, 4, 80)
    frame["kind"] = np.where((frame["height"] > 0) & frame["wet"], "tall", "small")
    frame["size"] = frame["height"] * 2 + frame["code"]
    frame["l1"], frame["l2"] = (frame["height"] > 0).astype(int), (frame["colour"] == "red").astype(int)
    frame.iloc[:50].to_csv(tmp_path / "train.csv", index=False)
    frame.iloc[50:].to_csv(tmp_path / "new.csv", index=False)
    frame.iloc[50:].to_parquet(tmp_path / "new.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COLUMNS = "--read features=height,colour,wet,code --read nominal=code"
FIT = f"fit train.csv --out m.omr {COLUMNS} "
pytestmark = pytest.mark.usefixtures("folder")


def say(command):
    """Run a command and return what came of it."""
    return run(*shlex.split(command))


def new():
    """The features of the new examples."""
    return om.load("new.csv", features="height,colour,wet,code", nominal="code")


def test_a_forest_is_fitted_written_and_used():
    result = say(FIT + "-t kind --trees 7 --seed 3")
    assert "50 examples, all labelled, 4 features, classification: 7 trees with" in result.stdout
    assert "model written to" in result.stdout
    data = om.load("train.csv", "kind", features="height,colour,wet,code", nominal="code")
    expected = om.PCTForestClassifier(n_trees=7, random_state=3).fit(data)
    result = say("predict m.omr new.csv --out out.csv --key name --probabilities")
    assert "predictions for 30 examples written" in result.stdout
    written = pd.read_csv("out.csv", dtype={"name": str})
    assert list(written.columns) == ["name", "kind", "p(small)", "p(tall)"]
    assert written["kind"].tolist() == expected.predict(new()).tolist()
    assert written["name"].tolist() == [f"00{i}" for i in range(50, 80)]
    assert np.allclose(written["p(small)"] + written["p(tall)"], 1)
    say("predict m.omr new.csv --out why.csv --explain 2")
    because = pd.read_csv("why.csv")["because"]
    first = expected.explain(new()).example(0).iloc[0]
    assert because[0].startswith(f"{first['feature']} {first['contribution']:+.3g}, ")
    assert because[0].count(",") == 1


@pytest.mark.every(2)
@pytest.mark.parametrize("data", ["new.csv", "new.parquet"])
@pytest.mark.parametrize("out", ["out.csv", "out.csv.gz", "out.parquet"])
def test_files_of_either_kind_give_the_same(data, out):
    say(FIT + "-t size --trees 5")
    result = say(f"predict m.omr {data} --out {out}")
    assert "warning" not in result.stderr, "levels of other types that read alike are the same"
    read = pd.read_parquet if out.endswith("parquet") else pd.read_csv
    assert read(out)["size"].tolist() == om.load_model("m.omr").predict(new()).tolist()


def test_label_sets():
    say(FIT + "-t l1,l2 --task multi-label --trees 5")
    say("predict m.omr new.csv --out out.csv --probabilities --threshold 0.9")
    written = pd.read_csv("out.csv")
    assert list(written.columns) == ["l1", "l2", "p(l1)", "p(l2)"]
    assert written["l1"].tolist() == (written["p(l1)"] >= 0.9).astype(int).tolist()


def test_single_trees_and_clusters():
    say(FIT + "-t size --single --set max_depth=2")
    loaded = om.load_model("m.omr")
    assert isinstance(loaded, om.PCTRegressor)
    assert loaded.max_depth == 2
    say("fit train.csv --read features=height,wet --out m.omr --single --set max_leaves=3")
    say("predict m.omr new.csv --out out.parquet")
    assert set(pd.read_parquet("out.parquet")["cluster"]) <= {0, 1, 2}


def test_files_without_names():
    pd.read_csv("train.csv")[["height", "code", "kind"]].to_csv("plain.csv", index=False, header=False)
    say("fit plain.csv --read header=no -t last --out m.omr --trees 3")
    predict = ("predict", "m.omr", "plain.csv", "--read", "header=no", "--out", "o.csv")
    told = "there are 3 columns, but the model was fitted on 2, which had no names: --ignore"
    assert told in run(*predict, code=2).stderr
    run(*predict, "--ignore", "last")
    assert len(pd.read_csv("o.csv")) == 50


@pytest.mark.filterwarnings("default")
def test_unseen_levels_are_told_about():
    say(FIT + "-t kind --trees 2")
    pd.read_csv("new.csv").assign(colour="green").to_csv("green.csv", index=False)
    told = "levels that were not in the training data are taken as missing (1 feature, first 'colour': 'green')"
    assert told in say("predict m.omr green.csv --out o.csv").stderr
    say("predict m.omr green.csv --out p.csv --read nominal=colour --key name")
    assert pd.read_csv("p.csv").drop(columns="name").equals(pd.read_csv("o.csv"))


@pytest.mark.parametrize("pattern", ["", "/*.parquet"])
def test_folders_of_parquet_files(folder, pattern):
    frame = pd.read_parquet("new.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        frame.iloc[10 * i : 10 * i + 10].to_parquet(folder / "parts" / f"{i}.parquet")
    say(FIT + "-t kind --trees 5")
    options = "--key name --probabilities"
    result = say(f"predict m.omr parts{pattern} --out out {options} --read max_memory=10M")
    assert "predictions for 30 examples written to 3 files in out" in result.stdout
    predictions = pd.concat([pd.read_parquet(file) for file in sorted((folder / "out").iterdir())], ignore_index=True)
    say(f"predict m.omr new.parquet --out one.parquet {options}")
    pd.testing.assert_frame_equal(predictions, pd.read_parquet("one.parquet"))


def test_a_csv_file_becomes_a_folder():
    result = say("convert train.csv parts -t kind --ignore name --rows 20")
    assert "50 rows written to 3 files in parts" in result.stdout
    assert om.open_shards("parts").read().fingerprint == om.load("train.csv", "kind", ignore="name").fingerprint


# -- tree ---------------------------------------------------------------------------------------------------


@pytest.fixture
def plants(tmp_path):
    rng = np.random.default_rng(0)
    height = rng.normal(size=60).round(2)
    frame = pd.DataFrame({"height": height, "width": rng.normal(size=60), "size": 2.5 * (height > 0) + 0.25})
    frame["kind"] = np.where(height > 0, "tall", "small")
    path = tmp_path / "plants.csv"
    frame.to_csv(path, index=False)
    return path


def test_prints_a_pruned_tree(plants):
    result = run("tree", plants, "--target", "kind", "--ignore", "size")
    first, *leaves = result.stdout.splitlines()
    assert first.startswith("height <= ")
    assert len(leaves) == 2
    assert "tall (100 %)" in result.stdout
    assert "3 nodes, 2 leaves, depth 1" in result.stderr


def test_is_the_tree_of_the_library(plants):
    data = om.load(plants, "size", ignore="kind")
    model = om.PCTRegressor(pruning=None, max_depth=3, random_state=4).fit(data)
    options = ("--target", "size", "--ignore", "kind", "--no-prune", "--max-depth", "3", "--seed", "4")
    assert run("tree", plants, *options).stdout == om.export_text(model) + "\n"
    assert run("tree", plants, *options, "--set", "max_depth=0").stdout != om.export_text(model) + "\n"
    document = json.loads(run("tree", plants, *options, "--json").stdout)
    assert len(document["nodes"]) == model.tree_.n_nodes


def test_a_tree_pruned_to_its_root_is_explained(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)}).to_csv(path, index=False)
    assert "--no-prune" in run("tree", path, "--target", "y").stderr
    assert "--no-prune" not in run("tree", path, "--target", "y", "--no-prune").stderr
