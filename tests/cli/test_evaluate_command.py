"""omnirank evaluate, as a user meets it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from tools.command import rows, run


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=X[:, 0])
    frame[:50].to_csv(tmp_path / "train.csv", index=False)
    frame[50:].to_csv(tmp_path / "test.csv", index=False)
    om.Ranking(["c", "b", "a"], [0.0, 0.1, 1.0], "mine").save(tmp_path / "ranking.csv")
    return tmp_path


def test_figures_are_those_of_the_library(folder):
    shown = rows(
        *("evaluate", folder / "train.csv", "--target", "y", "--ranking", folder / "ranking.csv"),
        *("--test", folder / "test.csv", "--neighbors", 7, "--neighbors", 3),
    )
    found = {(row["measure"], int(row["n_neighbors"])): row for row in shown}
    assert list(found) == sorted(found)
    train, test = (om.load(folder / f"{name}.csv", "y") for name in ("train", "test"))
    for scores, column in (([1.0, 0.1, 0.0], "ranking"), (np.ones(3), "equal_weights")):
        for k, measures in om.evaluate(scores, train, test, [3, 7]).items():
            for name, value in measures.items():
                assert float(found[name, k][column]) == value


def test_table_for_people(folder):
    text = run(
        *("evaluate", folder / "train.csv", "--target", "y", "--ranking", folder / "ranking.csv"),
        *("--test", folder / "test.csv"),
    ).stdout
    for part in ("regression", "30 test examples", "RRMSE", "smaller", "ranking, 5 neighbours", "equal weights"):
        assert part in text


def test_method_is_fitted_to_each_training_part(folder):
    command = ("evaluate", folder / "train.csv", "--target", "y", "--method", "univariate", "--seed", 3)
    found = run(*command, "--folds", 4)
    assert found.stdout == run(*command, "--folds", 4, "--jobs", 1).stdout
    assert "the results are optimistic" not in found.stderr
    values = {row["measure"]: row for row in rows(*command, "--folds", 4)}
    assert float(values["rrmse"]["ranking"]) < float(values["rrmse"]["equal_weights"])


def test_ranking_of_the_same_data_is_noted(folder):
    shown = run("evaluate", folder / "train.csv", "--target", "y", "--ranking", folder / "ranking.csv", "--folds", 3)
    assert "optimistic" in shown.stderr
    assert "3-fold cross-validation" in shown.stdout


def test_without_target(folder):
    command = ("evaluate", folder / "train.csv", "--method", "relief", "--folds", 3, "--top", 2)
    shown = run(*command)
    assert {"measure", "n_neighbors", "ranking", "random_rankings"} == set(rows(*command)[0])
    assert shown.stdout == run(*command).stdout
    assert shown.stdout != run(*command, "--set", "n_neighbors=2", "--seed", 1).stdout


# -- data in parts that do not fit in memory -----------------------------------------------------------------


@pytest.fixture
def parts(folder):
    """What evaluates the training examples in parts, which do not fit in memory."""
    (folder / "parts").mkdir()
    frame = pd.read_csv(folder / "train.csv")
    for i in range(2):
        frame[i::2].to_parquet(folder / "parts" / f"{i}.parquet", index=False)
    return ("evaluate", folder / "parts", "--target", "y", "--read", "max_memory=20000")


@pytest.mark.slow
def test_parts_give_the_figures_of_the_library(folder, parts):
    ranking, data = om.Ranking.load(folder / "ranking.csv"), om.open_shards(folder / "parts", "y", max_memory=20000)
    options = ("--ranking", folder / "ranking.csv", "-n", 3)
    shown = rows(*parts, *options, "--test", folder / "test.csv")
    expected = om.evaluate(ranking, data, om.load(folder / "test.csv", "y"), 3)
    assert {row["measure"]: float(row["ranking"]) for row in shown} == pytest.approx(expected)
    shown = rows(*parts, *options, "--seed", 4)
    held_out = om.evaluate(ranking, data, None, 3, random_state=4)
    assert {row["measure"]: float(row["ranking"]) for row in shown} == pytest.approx(held_out)


@pytest.mark.slow
def test_parts_are_described(folder, parts):
    shown = run(*parts, "--ranking", folder / "ranking.csv", "-n", 3)
    assert "parts: regression, 50 examples in 2 files, 3 features, some examples held out" in shown.stdout
    assert "the results are optimistic" in shown.stderr
    shown = run(*parts, "--method", "univariate", "-n", 3, "--test", folder / "test.csv")
    assert "3 features, 30 test examples" in shown.stdout


@pytest.mark.parametrize(
    ("options", "name"),
    [(["--folds", 3], "--folds"), (["--labelled", 5], "--labelled"), ([], "--method without --test")],
)
def test_what_parts_cannot(parts, options, name):
    said = run(*parts, "--method", "univariate", *options, code=2).stderr
    assert f"{name} needs all examples in memory: rank the training examples" in said


def test_test_examples_that_are_training_examples_have_a_warning(folder):
    command = ("evaluate", folder / "train.csv", "--target", "y", "--method", "univariate", "--test")
    assert (
        run(*command, folder / "train.csv").stderr.count("warning: 100 % of the test examples are also training") == 1
    )
    assert "also training" not in run(*command, folder / "test.csv").stderr


def test_without_ranking_and_method_the_default_is_judged(folder):
    command = ("evaluate", folder / "train.csv", "--target", "y", "--folds", 3)
    assert rows(*command) == rows(*command, "--method", "unbiased")
