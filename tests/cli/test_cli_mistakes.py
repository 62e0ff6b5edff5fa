"""Mistakes at the command line that had no answer, or a wrong one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from tools.command import run


@pytest.fixture
def eggs(tmp_path):
    """Counts from 0 to 7, a category and a number."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=80), "colour": rng.choice(["red", "blue"], 80)})
    frame["eggs"] = rng.integers(0, 8, 80)
    frame.to_csv(tmp_path / "eggs.csv", index=False)
    return tmp_path / "eggs.csv"


@pytest.fixture
def model(eggs):
    path = eggs.parent / "model.omr"
    run("fit", eggs, "--target", "eggs", "--task", "regression", "--trees", 3, "--out", path)
    return path


SAID = "the whole numbers of 'eggs' are taken as 8 classes; if they are counts, say --task regression"


@pytest.mark.every(2)
@pytest.mark.parametrize("command", [["rank", "--trees", 3], ["info"], ["tree"], ["select", "-m", "univariate"]])
def test_counts_that_are_taken_as_classes_are_told(eggs, command):
    name, *options = command
    assert SAID in " ".join(run(name, eggs, "--target", "eggs", *options).output.split())
    for task in ("classification", "regression"):
        assert "whole numbers" not in run(name, eggs, "--target", "eggs", "--task", task, *options).output


@pytest.mark.slow
def test_missing_columns_are_named_as_such(eggs, model):
    for lacking in ("size", "colour"):
        less = eggs.parent / "less.csv"
        pd.read_csv(eggs).drop(columns=lacking).to_csv(less, index=False)
        said = run("predict", model, less, "--out", eggs.parent / "out.csv", code=2).output
        assert f"there is no column '{lacking}', which the model was fitted on" in said
        assert "nominal" not in said


def test_data_before_the_model(eggs, model):
    said = run("predict", eggs, model, "--out", eggs.parent / "out.csv", code=2).output
    assert "model.omr is the model: it comes first" in " ".join(said.split())
    said = run("predict", eggs, eggs, "--out", eggs.parent / "out.csv", code=2).output
    assert "not a model" in said


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "films.csv").write_text("id,good\n7,yes\n2,no\n3,yes\n4,no\n", encoding="utf-8")
    (folder / "roles.csv").write_text("film,actor\n7,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    return folder


def test_a_folder_is_shown_without_a_target(shop):
    said = run("info", shop).output
    assert "no target is named: rows of films are the examples here" in " ".join(said.split())
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
