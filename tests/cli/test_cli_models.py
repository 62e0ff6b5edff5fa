"""``omnirank fit`` and ``omnirank predict``, as a user meets them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from tools.command import run


@pytest.fixture
def folder(tmp_path):
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
    return tmp_path


COLUMNS = ("--features", "height,colour,wet,code", "--nominal", "code")


def test_a_forest_is_fitted_written_and_used(folder):
    model, out = folder / "m.omr", folder / "out.csv"
    result = run("fit", folder / "train.csv", "-t", "kind", *COLUMNS, "--out", model, "--trees", 7, "--seed", 3)
    assert "50 examples, all labelled, 4 features, classification: 7 trees with" in result.stdout
    assert "model written to" in result.stdout
    data = om.load(folder / "train.csv", "kind", features="height,colour,wet,code", nominal="code")
    expected = om.PCTForestClassifier(n_trees=7, random_state=3).fit(data)
    new = om.load(folder / "new.csv", "kind", features="height,colour,wet,code", nominal="code")
    result = run("predict", model, folder / "new.csv", "--out", out)
    assert "predictions for 30 examples written" in result.stdout
    assert pd.read_csv(out)["kind"].tolist() == expected.predict(new).tolist()


def test_probabilities_and_keys(folder):
    model, out = folder / "m.omr", folder / "out.csv"
    run("fit", folder / "train.csv", "-t", "kind", *COLUMNS, "--out", model, "--trees", 5)
    run("predict", model, folder / "new.csv", "--out", out, "--key", "name", "--probabilities")
    found = pd.read_csv(out, dtype={"name": str})
    assert list(found.columns) == ["name", "kind", "p(small)", "p(tall)"]
    assert found["name"].tolist() == [f"00{i}" for i in range(50, 80)]
    assert np.allclose(found["p(small)"] + found["p(tall)"], 1)


@pytest.mark.every(2)
@pytest.mark.parametrize("given", ["new.csv", "new.parquet"])
@pytest.mark.parametrize("written", ["out.csv", "out.csv.gz", "out.parquet"])
def test_files_of_either_kind_give_the_same(folder, given, written):
    model = folder / "m.omr"
    run("fit", folder / "train.csv", "-t", "size", *COLUMNS, "--out", model, "--trees", 5)
    result = run("predict", model, folder / given, "--out", folder / written)
    assert "warning" not in result.stderr, "levels of other types that read alike are the same"
    read = pd.read_parquet if written.endswith("parquet") else pd.read_csv
    new = om.load(folder / "new.csv", features="height,colour,wet,code", nominal="code")
    assert read(folder / written)["size"].tolist() == om.load_model(model).predict(new).tolist()


def test_label_sets(folder):
    model, out = folder / "m.omr", folder / "out.csv"
    run("fit", folder / "train.csv", "-t", "l1,l2", *COLUMNS, "--task", "multi-label", "--out", model, "--trees", 5)
    run("predict", model, folder / "new.csv", "--out", out, "--probabilities", "--threshold", 0.9)
    found = pd.read_csv(out)
    assert list(found.columns) == ["l1", "l2", "p(l1)", "p(l2)"]
    assert found["l1"].tolist() == (found["p(l1)"] >= 0.9).astype(int).tolist()


def test_single_trees_and_clusters(folder):
    model, out = folder / "m.omr", folder / "out.parquet"
    run("fit", folder / "train.csv", "-t", "size", *COLUMNS, "--out", model, "--single", "--max-depth", 2)
    loaded = om.load_model(model)
    assert isinstance(loaded, om.PCTRegressor)
    assert loaded.max_depth == 2
    run("fit", folder / "train.csv", "--features", "height,wet", "--out", model, "--single", "--set", "max_leaves=3")
    run("predict", model, folder / "new.csv", "--out", out)
    assert set(pd.read_parquet(out)["cluster"]) <= {0, 1, 2}


@pytest.mark.filterwarnings("default")  # few trees leave examples in every bag
def test_options_are_parameters(folder):
    model = folder / "m.omr"
    options = ("--trees", 3, "--ensemble", "extra-trees", "--max-features", "sqrt", "--min-leaf", 4, "--jobs", 1)
    result = run(
        *("fit", folder / "train.csv", "-t", "kind", *COLUMNS, "--out", model, *options),
        *("--set", "oob_score=true", "--supervision", 1),
    )
    assert "out-of-bag error" in result.stdout
    known = om.load_model(model).get_params()
    expected = {"n_trees": 3, "ensemble": "extra-trees", "max_features": "sqrt", "min_samples_leaf": 4, "n_jobs": 1}
    assert expected.items() <= known.items()
    assert known["supervision"] == 1


def test_files_without_names(folder):
    rows = pd.read_csv(folder / "train.csv")[["height", "code", "kind"]]
    rows.to_csv(folder / "plain.csv", index=False, header=False)
    run("fit", folder / "plain.csv", "--header", "no", "-t", "last", "--out", folder / "m.omr", "--trees", 3)
    result = run("predict", folder / "m.omr", folder / "plain.csv", "--header", "no", "--out", folder / "o.csv", code=2)
    assert "there are 3 columns, but the model was fitted on 2, which had no names: --ignore" in result.stderr
    more = ("--header", "no", "--ignore", "last", "--out", folder / "o.csv")
    run("predict", folder / "m.omr", folder / "plain.csv", *more)
    assert len(pd.read_csv(folder / "o.csv")) == 50


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("fit", "train.csv", "--features", "height", "--out", "m.omr"),
            "a forest needs a target: name it with --target",
        ),
        (("fit", "train.csv", "-t", "kind", "--single", "--trees", "3", "--out", "m.omr"), "leave --trees out"),
        (("fit", "train.csv", "-t", "kind", "--out", "no/m.omr"), "the folder no does not exist"),
        (("fit", "train.csv", "-t", "kind", "--out", "train.csv"), "it is the data file itself"),
        (("fit", "train.csv", "-t", "kind", "--out", "m.omr", "--set", "n_tree=3"), "did you mean 'n_trees'"),
        (("predict", "train.csv", "new.csv", "--out", "o.csv"), "train.csv: not a model"),
        (("predict", "none.omr", "new.csv", "--out", "o.csv"), "there is no file 'none.omr'"),
        (("predict", "ok.omr", "none.csv", "--out", "o.csv"), "there is no file 'none.csv'"),
        (("predict", "ok.omr", "new.csv", "--out", "o.json"), "the ending must be one of .csv"),
        (("predict", "ok.omr", "new.csv", "--out", "new.csv"), "it is the data file itself"),
        (("predict", "ok.omr", "other.csv", "--out", "o.csv"), "height"),
        (("predict", "ok.omr", "new.csv", "--out", "o.csv", "--probabilities"), "predicts neither classes nor labels"),
        (
            ("predict", "ok.omr", "new.csv", "--out", "o.csv", "--threshold", "0.3"),
            "--threshold 0.3: it is for label sets",
        ),
        (("predict", "ok.omr", "new.csv", "--out", "o.csv", "--key", "size"), "--key size: it is also a column"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(folder, monkeypatch, arguments, problem):
    monkeypatch.chdir(folder)
    run("fit", "train.csv", "-t", "size", *COLUMNS, "--out", "ok.omr", "--trees", 2)
    pd.DataFrame({"hight": [1.0], "colour": ["red"], "wet": [True], "code": [1]}).to_csv("other.csv", index=False)
    result = run(*arguments, code=2)
    assert problem in result.stderr
    assert not (folder / "o.csv").exists()


@pytest.mark.filterwarnings("default")
def test_unseen_levels_are_told_about(folder):
    model = folder / "m.omr"
    run("fit", folder / "train.csv", "-t", "kind", *COLUMNS, "--out", model, "--trees", 2)
    frame = pd.read_csv(folder / "new.csv").assign(colour="green")
    frame.to_csv(folder / "green.csv", index=False)
    result = run("predict", model, folder / "green.csv", "--out", folder / "o.csv")
    assert "levels that were not in the training data are taken as missing (1 feature, first 'colour': 'green')" in (
        result.stderr
    )


@pytest.fixture
def parts(folder):
    frame = pd.read_parquet(folder / "new.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        frame.iloc[10 * i : 10 * i + 10].to_parquet(folder / "parts" / f"{i}.parquet")
    return folder / "parts"


@pytest.mark.parametrize("pattern", ["", "*.parquet"])
def test_folders_of_parquet_files(folder, parts, pattern):
    model, out = folder / "m.omr", folder / "out"
    run("fit", folder / "train.csv", "-t", "kind", *COLUMNS, "--out", model, "--trees", 5)
    options = ("--key", "name", "--probabilities", "--memory", "10M")
    result = run("predict", model, parts / pattern, "--out", out, *options)
    assert f"predictions for 30 examples written to 3 files in {out}" in result.stdout
    found = pd.concat([pd.read_parquet(file) for file in sorted(out.iterdir())], ignore_index=True)
    run("predict", model, folder / "new.parquet", "--out", folder / "one.parquet", *options[:3])
    pd.testing.assert_frame_equal(found, pd.read_parquet(folder / "one.parquet"))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("parts", "--out", "parts"), "new or empty folder"),
        (("parts", "--out", "o", "--memory", "much"), "--memory much: it is not an amount of memory"),
        (("parts", "--out", "o", "--key", "nme"), "--key nme: there is no such column"),
        (("new.csv", "--out", "o.csv", "--memory", "1G"), "--memory is for folders"),
        (("n*.parquet", "--out", "new.csv"), "new or empty folder"),
    ],
)
def test_what_is_wrong_with_folders(folder, parts, monkeypatch, arguments, problem):
    monkeypatch.chdir(folder)
    run("fit", "train.csv", "-t", "size", *COLUMNS, "--out", "ok.omr", "--trees", 2)
    assert problem in run("predict", "ok.omr", *arguments, code=2).stderr


def test_a_csv_file_becomes_a_folder(folder):
    result = run("convert", folder / "train.csv", folder / "parts", "-t", "kind", "--ignore", "name", "--rows", 20)
    assert f"50 rows written to 3 files in {folder / 'parts'}" in result.stdout
    data = om.open_shards(folder / "parts")
    assert data.read().fingerprint == om.load(folder / "train.csv", "kind", ignore="name").fingerprint


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("new.parquet", "parts"), "only delimited text becomes a folder"),
        (("train.csv", "parts", "--features", "height"), "--features is not for folders"),
        (("train.csv", "train.csv.bak"), "the ending must be one of"),
        (("none.csv", "parts"), "there is no file 'none.csv'"),
    ],
)
def test_what_is_wrong_with_conversions(folder, monkeypatch, arguments, problem):
    monkeypatch.chdir(folder)
    assert problem in run("convert", *arguments, code=2).stderr
    assert not (folder / "parts").exists()
