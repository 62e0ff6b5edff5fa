"""``omnirank rank`` and ``omnirank tree`` with few labels or none."""

from __future__ import annotations

import csv
import io

import pytest

import omnirank as om
from tools.command import run


@pytest.fixture
def digits(tmp_path):
    data = om.datasets.load_sample("digits").take(slice(0, 300))
    path = tmp_path / "digits.arff"
    om.write_arff(data, path)
    return path


def test_ranking_with_hidden_labels(digits):
    options = ["--labelled", "60", "--supervision", "0.5", "--trees", "5", "--seed", "3"]
    result = run("rank", digits, "-t", "last", *options, "--csv")
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    data = om.load(digits, "last").keep_labels(60, random_state=3)
    expected = om.EnsembleRanker(n_trees=5, supervision=0.5, random_state=3).fit(data).ranking_
    assert [row["feature"] for row in found] == expected.top(len(expected))
    assert "supervision 0.5: given" in result.stderr


def test_the_choice_of_the_level_is_shown(digits):
    result = run("rank", digits, "-t", "last", "--labelled", "0.3", "--trees", "12")
    assert "supervision 0" in result.stderr or "supervision 1" in result.stderr
    assert "errors by level of supervision: 0.25: 0." in result.stderr
    assert "300 examples, 90 labelled" in result.stdout
    few = run("rank", digits, "-t", "last", "--labelled", "0.3", "--trees", "3")
    assert "supervision 1: fewer than 12 trees are too few to compare levels" in few.stderr
    assert "supervision" not in run("rank", digits, "-t", "last", "--trees", "3").stderr


def test_trees_with_hidden_labels(digits):
    result = run("tree", digits, "-t", "last", "--labelled", "60", "--supervision", "0.5")
    assert "supervision 0.5: given" in result.stderr
    data = om.load(digits, "last").keep_labels(60, random_state=0)
    model = om.PCTClassifier(supervision=0.5, random_state=0).fit(data)
    assert result.stdout.rstrip() == om.export_text(model).rstrip()


def test_trees_of_clusters(digits):
    result = run("tree", digits, "--task", "clustering", "--max-leaves", "3")
    assert result.stdout.count("cluster ") == 3
    assert "clustering: 5 nodes, 3 leaves" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["rank", "-t", "last", "--labelled", "many"], "--labelled many"),
        (["rank", "-t", "last", "--labelled", "1000"], "a whole number from 0 to 300"),
        (["rank", "-t", "last", "--supervision", "full"], "--supervision full"),
        (["rank", "-t", "last", "--supervision", "2"], "--supervision 2.0"),
        (
            ["rank", "-t", "last", "--method", "univariate", "--supervision", "1"],
            "--supervision 1.0: method 'univariate' has no such parameter",
        ),
        (["tree", "--task", "clustering", "--supervision", "0.5"], "needs a target"),
        (["tree", "-t", "last", "--max-leaves", "3"], "trees of clusters"),
    ],
)
def test_errors_say_what_to_do(digits, options, message):
    command, *others = options
    assert message in " ".join(run(command, digits, *others, code=2).stderr.split())
