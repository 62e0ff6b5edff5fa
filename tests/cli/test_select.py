"""How many features, how sure, which stand for each other: the commands, as a user meets them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.data.write import write_csv
from tools.command import rows, run


@pytest.fixture
def data(tmp_path):
    dataset, _ = om.datasets.make_classification(120, n_relevant=2, n_irrelevant=5, random_state=0)
    om.write_arff(dataset, tmp_path / "data.arff")
    return tmp_path / "data.arff"


@pytest.mark.slow
def test_choice_is_that_of_the_library(data, tmp_path):
    out = tmp_path / "reduced.csv"
    text = run("select", data, "--method", "univariate", "--out", out).stdout
    found = om.select(om.UnivariateRanker(random_state=0), om.load(data), random_state=0)
    assert found.summary in text
    assert f"kept: {', '.join(found.names)}" in text
    assert "macro F1 of the top features, larger is better" in text
    assert "chosen" in text
    reduced = om.load(out, "last")
    assert set(reduced.feature_names) == set(found.names)
    assert reduced.n_examples == 120
    assert reduced.y.tolist() == om.load(data).y.tolist()
    figures = rows("select", data, "-m", "univariate")
    assert [float(row["mean"]) for row in figures] == found.curve.means.tolist()
    assert [row["size"] for row in figures if row["chosen"] == "1"] == [str(found.curve.chosen_size)]


def test_keys_stay_beside_the_kept_features(tmp_path):
    dataset, _ = om.datasets.make_classification(60, n_relevant=1, n_irrelevant=2, random_state=0)
    write_csv(dataset, tmp_path / "plain.csv")
    frame = pd.read_csv(tmp_path / "plain.csv")
    frame.insert(1, "id", [f"{i:03}" for i in range(60)])
    frame["site"] = np.arange(60) // 2
    frame.to_csv(tmp_path / "data.csv", index=False)
    by = ("--target", dataset.target_names[0], "--key", "id", "--groups", "site")
    run("select", tmp_path / "data.csv", *by, "-m", "univariate", "--folds", 3, "--out", tmp_path / "kept.csv")
    kept = pd.read_csv(tmp_path / "kept.csv", dtype={"id": str})
    assert kept.columns[:2].tolist() == ["id", "site"]
    assert kept[["id", "site"]].equals(frame[["id", "site"]])
    again = run("info", tmp_path / "kept.csv", *by).stdout
    assert "features        1" in again


@pytest.mark.slow
def test_forest_and_few_labels(data):
    text = run("select", data, "--by", "forest", "-m", "univariate", "--folds", 3, "--labelled", 40).stdout
    assert "40 labelled" in text
    assert "3 folds, by forest" in text


def test_nothing_is_written_where_nothing_is_kept(data, tmp_path):
    result = run("select", data, "--by", "significance", "--alpha", 1e-290, "--out", tmp_path / "none.csv")
    assert "none.csv is not written" in result.stderr
    assert "0 of 7 features are significant" in result.stdout
    assert not (tmp_path / "none.csv").exists()


# -- rank --redundancy --------------------------------------------------------------------------------------


def test_redundancy_beside_a_ranking(tmp_path):
    dataset, truth = om.datasets.make_regression(150, n_relevant=2, n_redundant=3, n_irrelevant=3, random_state=0)
    om.write_arff(dataset, tmp_path / "copies.arff")
    arguments = ("rank", tmp_path / "copies.arff", "--method", "univariate", "--redundancy", 0.9)
    found = om.redundancy(om.UnivariateRanker().fit(dataset), dataset)
    assert len(found.redundant) == truth.redundant.sum()
    text = run(*arguments).stdout
    assert "stands also for" in text
    assert found.summary in text
    for group in found.groups:
        if group.others:
            assert f"{group.representative}  " in text
            assert ", ".join(group.others) in text
    assert "more group" in run(*arguments, "--top", 1).stdout
    shown = rows(*arguments)
    standing = dict(found.to_frame()[["feature", "representative"]].itertuples(index=False))
    assert {row["feature"]: row["representative"] for row in shown} == standing
    assert "8 features form" in run(*arguments[:-1], "0.5").stdout


# -- stability ----------------------------------------------------------------------------------------------


def test_table_is_that_of_the_library(data, tmp_path):
    arguments = ("stability", data, "--method", "univariate", "--resamples", 12, "--level", 0.8, "--seed", 3)
    text = run(*arguments, "--out", tmp_path / "table.csv", "--top", 2).stdout
    dataset = om.load(data)
    ranker = om.UnivariateRanker(random_state=3).fit(dataset)
    found = om.stability(ranker, dataset, n_resamples=12, level=0.8, random_state=3)
    assert found.summary in text
    assert f"stability of the top {found.k} (Kuncheva; 0 is chance): {found.indices['top_k'].value:.3f}" in text
    assert found.to_frame()["feature"][1] in text
    written = pd.read_csv(tmp_path / "table.csv")
    pd.testing.assert_frame_equal(written, found.to_frame(), check_dtype=False)
    printed = rows(*arguments)
    assert list(printed[0]) == list(found.to_frame().columns)
    assert len(printed) == 7


def test_few_columns_are_printed_for_many_features(tmp_path):
    pd.DataFrame(np.random.default_rng(0).normal(size=(40, 101))).add_prefix("x").to_csv(
        tmp_path / "wide.csv", index=False
    )
    text = run(
        "stability", tmp_path / "wide.csv", "--target", "last", "--method", "univariate", "--resamples", 5
    ).stdout
    assert "top 16" in text
    assert "top 32" not in text
    assert "top_64" in rows("stability", tmp_path / "wide.csv", "-t", "last", "-m", "univariate", "--resamples", 5)[0]
