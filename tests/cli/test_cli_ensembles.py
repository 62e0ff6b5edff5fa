"""``omnirank rank`` with ensembles of trees."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import omnirank as om
from tools.command import run


def figures(*arguments):
    return list(csv.DictReader(io.StringIO(run(*arguments, "--csv").stdout)))


@pytest.fixture
def targets(tmp_path):
    """Generated multi-target data in an ARFF file."""
    data, _ = om.datasets.make_multi_target_regression(80, n_relevant=2, n_redundant=0, n_irrelevant=4, random_state=0)
    path = tmp_path / "targets.arff"
    om.write_arff(data, path)
    return path


def test_options_are_those_of_the_ranker(targets):
    options = ["--ensemble", "extra-trees", "--trees", "7", "--max-features", "0.5", "--min-leaf", "3", "--seed", "4"]
    found = figures("rank", targets, "-t", "last:3", "--method", "symbolic", *options)
    ranker = om.EnsembleRanker(
        "symbolic", "extra-trees", n_trees=7, max_features=0.5, min_samples_leaf=3, random_state=4
    )
    expected = ranker.fit(om.load(targets, "last:3")).ranking_
    assert [row["feature"] for row in found] == expected.top(6)
    assert [float(row["score"]) for row in found] == expected.scores[expected.order].tolist()
    assert [float(row["standard_error"]) for row in found] == expected.standard_errors[expected.order].tolist()


@pytest.mark.parametrize(("method", "ending"), [("genie3", "json"), ("permutation", "csv")])
def test_scores_by_target(targets, tmp_path, method, ending):
    out = tmp_path / f"ranking.{ending}"
    options = ["-t", "last:3", "--method", method, "--trees", "10", "--per-target"]
    result = run("rank", targets, *options, "--out", out)
    ranking = om.Ranking.load(out)
    assert ranking.per_target.scores.shape == (3, 6)
    assert ranking.parameters["n_trees"] == 10
    for name in ranking.per_target.names:
        assert f"{', '.join(ranking.for_target(name).top(5))}" in " ".join(result.stdout.split())
    for row in figures("rank", targets, *options):
        i = ranking.names.index(row["feature"])
        own = [float(row[f"score: {name}"]) for name in ranking.per_target.names]
        np.testing.assert_array_equal(own, ranking.per_target.scores[:, i])


def test_trees_may_be_auto(targets):
    text = run("rank", targets, "-t", "last:3", "--trees", "auto", "--max-features", "all").stdout
    assert "unbiased: Impurity reductions" in text


def test_the_time_may_end_it(targets, tmp_path):
    out = tmp_path / "ranking.json"
    options = ["-t", "last:3", "--trees", "1000000", "--max-seconds", "0.2"]
    text = " ".join(run("rank", targets, *options, "--out", out).stdout.split())
    found = om.Ranking.load(out)
    assert f"{found.certainty().summary}; the time ended before there were 1000000 trees" in text
    assert found.state.count == found.parameters["n_trees"] < 1000000
    assert "confidence" not in run("rank", targets, *options, "--csv").stdout


def test_many_targets_are_not_all_printed(tmp_path):
    data, _ = om.datasets.make_multi_label(60, n_labels=25, random_state=0)
    om.write_arff(data, tmp_path / "labels.arff")
    text = run("rank", tmp_path / "labels.arff", "-t", "last:25", "--trees", "3", "--per-target").stdout
    assert "... and 5 more targets" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ensemble", "forest"], "choose one of random-forest, extra-trees, bagging"),
        (["--trees", "many"], "--trees many"),
        (["--trees", "0"], "--trees 0"),
        (["--max-seconds", "0"], "--max-seconds 0"),
        (["--max-features", "99"], "a whole number from 1 to 6 (the number of features)"),
        (["--min-leaf", "0"], "--min-leaf 0.0: choose a number above 0"),
        (["--method", "univariate", "--trees", "5"], "--trees 5: method 'univariate' has no such parameter"),
        (["--method", "symbolic", "--per-target", "--trees", "2"], "cannot be split by target"),
    ],
)
def test_wrong_options(targets, options, message):
    result = run("rank", targets, "-t", "last:3", *options, code=2)
    assert message in result.stderr
    assert result.stderr.startswith("error: ")


def test_the_default_method_needs_no_target(targets):
    assert "unbiased: " in run("rank", targets, "--task", "clustering").stdout
