"""``omnirank rank --significance``."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from tools.command import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    lines = ["a,b,c,d,y", *(",".join(map(str, [*row, row[0] + row[1]])) for row in X.tolist())]
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("method", "test"), [("unbiased", "out-of-bag test"), ("univariate", "permuted copies")])
def test_p_values_are_printed_and_written(table, tmp_path, method, test):
    out = tmp_path / "ranking.json"
    options = ["rank", table, "--target", "y", "--method", method, "--significance"]
    shown = run(*options, "--out", out).stdout
    assert f"2 of 4 features are relevant at alpha = 0.05 ({test}, Benjamini-Hochberg)" in shown
    heading = next(line for line in shown.splitlines() if "feature" in line and "rank" in line)
    assert heading.split()[-3:] == ["p_value", "p_adjusted", "relevant"]
    words = "p_value: raw, of the single feature; p_adjusted: corrected for 4 features (Benjamini-Hochberg)"
    assert words in " ".join(shown.split())
    best = next(line for line in shown.splitlines() if line.split()[:1] == ["1"]).split()
    assert best[-1] == "yes"
    ranking = om.Ranking.load(out)
    expected = om.significance(om.make_ranker(method, random_state=0), om.load(table, "y"))
    assert ranking.p_values.tolist() == expected.p_values.tolist()
    assert ranking.p_value_test == expected.p_value_test
    rows = list(csv.DictReader(io.StringIO(run(*options, "--csv").stdout)))
    assert [float(row["p_value"]) for row in rows] == expected.p_values[expected.order].tolist()
    assert [float(row["p_adjusted"]) for row in rows] == expected.to_frame()["p_adjusted"].tolist()
    assert [row["feature"] for row in rows if row["relevant"] == "True"] == expected.relevant()


def test_without_the_option_there_are_none(table):
    assert "relevant" not in run("rank", table, "--target", "y", "--method", "univariate").stdout


def test_what_became_of_unlabelled_examples_is_told(table):
    result = CliRunner().invoke(app, ["rank", str(table), "--target", "y", "--labelled", "0.5", "--significance"])
    assert result.exit_code == 0
    assert "supervision " in result.stderr
