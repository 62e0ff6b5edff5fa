"""omnirank stability, as a user meets it."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app

RUNNER = CliRunner()


def run(*arguments, code=0):
    result = RUNNER.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def data(tmp_path):
    dataset, _ = om.datasets.make_regression(150, n_relevant=2, n_irrelevant=4, random_state=0)
    om.write_arff(dataset, tmp_path / "data.arff")
    return tmp_path / "data.arff"


def test_table_is_that_of_the_library(data, tmp_path):
    arguments = ("stability", data, "--method", "univariate", "--resamples", 12, "--level", 0.8, "--seed", 3)
    text = run(*arguments, "--out", tmp_path / "table.csv", "--top", 2).stdout
    dataset = om.load(data)
    ranker = om.UnivariateRanker(random_state=3).fit(dataset)
    found = om.stability(ranker, dataset, n_resamples=12, level=0.8, random_state=3)
    assert found.summary in text
    assert f"stability of the top 3 (Kuncheva; 0 is chance): {found.indices['top_k'].value:.3f}" in text
    assert found.to_frame()["feature"][1] in text
    written = pd.read_csv(tmp_path / "table.csv")
    pd.testing.assert_frame_equal(written, found.to_frame(), check_dtype=False)
    printed = run(*arguments, "--csv").stdout.splitlines()
    assert printed[0] == ",".join(found.to_frame().columns)
    assert len(printed) == 7


def test_wrong_use(data, tmp_path):
    assert "--resamples 2" in run("stability", data, "--resamples", 2, code=2).stderr
    assert "--resample jackknife" in run("stability", data, "--resample", "jackknife", code=2).stderr
    assert "the ending must be .csv" in run("stability", data, "--out", tmp_path / "x.json", code=2).stderr
