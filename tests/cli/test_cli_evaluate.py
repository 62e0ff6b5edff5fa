"""omnirank evaluate, as a user meets it."""

from __future__ import annotations

import csv
import inspect
import io

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import ParameterError
from tools.command import run


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


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
    shown = run(
        *("evaluate", folder / "train.csv", "--target", "y", "--ranking", folder / "ranking.csv"),
        *("--test", folder / "test.csv", "--neighbors", 7, "--neighbors", 3, "--csv"),
    )
    found = {(row["measure"], int(row["n_neighbors"])): row for row in rows(shown.stdout)}
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
    command = ("evaluate", folder / "train.csv", "--target", "y", "--method", "univariate", "--csv", "--seed", 3)
    found = run(*command, "--folds", 4)
    assert found.stdout == run(*command, "--folds", 4, "--jobs", 1).stdout
    assert "the results are too good" not in found.stderr
    values = {row["measure"]: row for row in rows(found.stdout)}
    assert float(values["rrmse"]["ranking"]) < float(values["rrmse"]["equal_weights"])


def test_ranking_of_the_same_data_is_noted(folder):
    shown = run("evaluate", folder / "train.csv", "--target", "y", "--ranking", folder / "ranking.csv", "--folds", 3)
    assert "too good" in shown.stderr
    assert "3-fold cross-validation" in shown.stdout


def test_without_target(folder):
    command = ("evaluate", folder / "train.csv", "--method", "relief", "--folds", 3, "--top", 2, "--csv")
    shown = run(*command)
    assert {"measure", "n_neighbors", "ranking", "random_rankings"} == set(rows(shown.stdout)[0])
    assert shown.stdout == run(*command).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give either --ranking FILE or --method NAME"),
        (["--method", "univariate", "--test", "x.csv", "--folds", "3"], "give either --test FILE or --folds K"),
        (["--method", "univariate", "--among", "all"], "--among all"),
        (["--method", "no-such-method"], "no-such-method"),
    ],
)
def test_mistakes_are_one_line(folder, options, message):
    shown = run("evaluate", folder / "train.csv", "--target", "y", *options, code=2)
    assert message in shown.stderr
    assert "Traceback" not in shown.output


def test_hits_and_misses_need_classes(folder):
    for command in ("rank", "evaluate"):
        shown = run(command, folder / "train.csv", "--target", "y", "--method", "relieff", code=2)
        assert "does not handle regression: choose the method relief" in " ".join(shown.output.split())


# -- data in parts that do not fit in memory -----------------------------------------------------------------


@pytest.fixture
def parts(folder):
    """The training examples in parts, and what reads test examples like them."""
    (folder / "parts").mkdir()
    frame = pd.read_csv(folder / "train.csv")
    for i in range(2):
        frame[i::2].to_parquet(folder / "parts" / f"{i}.parquet", index=False)
    return om.open_shards(folder / "parts", "y", max_memory=3000), lambda path: om.load(path, "y")


def evaluated(parts, **options):
    """Do what the command does with data that its options have read."""
    from omnirank.cli.evaluate import evaluate

    usual = {name: p.default for name, p in inspect.signature(evaluate.__wrapped__).parameters.items()}
    evaluate.__wrapped__(**usual | {"dataset": parts[0], "read_like_data": parts[1]} | options)


@pytest.mark.slow
def test_parts_give_the_figures_of_the_library(folder, parts, capsys, monkeypatch):
    monkeypatch.setattr("omnirank.evaluation.knn._SHARE_OF_TARGETS", 0)
    ranking = om.Ranking.load(folder / "ranking.csv")
    evaluated(parts, ranking=folder / "ranking.csv", neighbors=[3], test=folder / "test.csv", csv=True)
    shown = rows(capsys.readouterr().out)
    expected = om.evaluate(ranking, parts[0], parts[1](folder / "test.csv"), 3)
    assert {row["measure"]: float(row["ranking"]) for row in shown} == pytest.approx(expected)
    evaluated(parts, ranking=folder / "ranking.csv", neighbors=[3], csv=True, seed=4)
    shown = rows(capsys.readouterr().out)
    held_out = om.evaluate(ranking, parts[0], None, 3, random_state=4)
    assert {row["measure"]: float(row["standard_error"]) for row in shown} == pytest.approx(held_out.standard_errors)


@pytest.mark.slow
def test_parts_are_described(folder, parts, capsys, monkeypatch):
    monkeypatch.setattr("omnirank.evaluation.knn._SHARE_OF_TARGETS", 0)
    evaluated(parts, ranking=folder / "ranking.csv", neighbors=[3])
    shown = capsys.readouterr()
    assert "parts: regression, 50 examples in 2 shards, 3 features, 25 examples held out" in shown.out
    assert "±" in shown.out
    assert "if the ranking was made from these data, the results are too good" in shown.err
    evaluated(parts, method="univariate", neighbors=[3], test=folder / "test.csv")
    assert "3 features, 30 test examples" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "name"),
    [({"folds": 3}, "--folds"), ({"labelled": "5"}, "--labelled"), ({}, "--method without --test")],
)
def test_what_parts_cannot(parts, options, name):
    with pytest.raises(ParameterError, match=f"{name} needs all examples in memory: rank .* then give --ranking"):
        evaluated(parts, method="univariate", **options)


@pytest.mark.usefixtures("parts")
def test_a_folder_in_parts_is_judged_as_a_command(folder, monkeypatch):
    monkeypatch.setattr("omnirank.evaluation.knn._SHARE_OF_TARGETS", 0)
    given = [folder / "parts", "--target", "y", "--memory", "3000", "--ranking", folder / "ranking.csv"]
    assert "examples held out" in run("evaluate", *given).stdout
    assert "test examples" in run("evaluate", *given, "--test", folder / "test.csv").stdout, "a file of its own kind"
