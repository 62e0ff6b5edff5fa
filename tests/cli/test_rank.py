"""``omnirank rank``: ensembles of trees, p values, few labels."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from tools.command import rows, run


@pytest.fixture
def targets(tmp_path):
    """Generated multi-target data in an ARFF file."""
    data, _ = om.datasets.make_multi_target_regression(80, n_relevant=2, n_redundant=0, n_irrelevant=4, random_state=0)
    path = tmp_path / "targets.arff"
    om.write_arff(data, path)
    return path


def test_options_are_those_of_the_ranker(targets):
    options = ["--trees", "7", "--set", "max_features=0.5", "--set", "min_samples_leaf=3", "--seed", "4"]
    found = rows("rank", targets, "-t", "last:3", "--method", "symbolic", *options)
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
    options = ["-t", "last:3", "--method", method, "--trees", "10", "--set", "per_target=true"]
    result = run("rank", targets, *options, "--out", out)
    ranking = om.Ranking.load(out)
    assert ranking.per_target.scores.shape == (3, 6)
    assert ranking.parameters["n_trees"] == 10
    for name in ranking.per_target.names:
        assert f"{', '.join(ranking.for_target(name).top(5))}" in " ".join(result.stdout.split())
    for row in rows("rank", targets, *options):
        i = ranking.names.index(row["feature"])
        own = [float(row[f"score: {name}"]) for name in ranking.per_target.names]
        np.testing.assert_array_equal(own, ranking.per_target.scores[:, i])


def test_trees_may_be_auto_and_a_target_is_not_needed(targets):
    for options in (("-t", "last:3", "--trees", "auto", "--set", "max_features=all"), ("--task", "clustering")):
        text = run("rank", targets, *options).stdout
        assert "unbiased: " in text
        assert "relevant" not in text, "p values are not asked for"


def test_errors_say_over_what_they_are(targets):
    assert "± trees" in run("rank", targets, "-t", "last:3", "--trees", 5).stdout
    ranking = om.ResampledRanker("univariate", random_state=0).fit(om.load(targets, "last:3")).ranking_
    assert ranking.plot().get_xlabel() == "score (± one standard error over runs)"


def test_the_certainty_is_printed(targets, tmp_path):
    out = tmp_path / "ranking.json"
    options = ["-t", "last:3", "--trees", "20"]
    text = " ".join(run("rank", targets, *options, "--out", out).stdout.split())
    assert om.Ranking.load(out).certainty().summary in text
    assert "confidence" not in run("rank", targets, *options, "--csv").stdout


def test_many_targets_are_not_all_printed(tmp_path):
    data, _ = om.datasets.make_multi_label(60, n_labels=25, random_state=0)
    om.write_arff(data, tmp_path / "labels.arff")
    text = run("rank", tmp_path / "labels.arff", "-t", "last:25", "--trees", "3", "--set", "per_target=true").stdout
    assert "... and 5 more targets" in text


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
    assert f"2 of 4 features are relevant: p_adjusted is at most 0.05 (Benjamini-Hochberg, {test})" in shown
    heading = next(line for line in shown.splitlines() if "feature" in line and "rank" in line)
    assert heading.split()[-3:] == ["p_value", "p_adjusted", "relevant"]
    words = "p_value: of the feature alone; p_adjusted: corrected for testing 4 features"
    assert words in " ".join(shown.split())
    best = next(line for line in shown.splitlines() if line.split()[:1] == ["1"]).split()
    assert best[-1] == "yes"
    ranking = om.Ranking.load(out)
    expected = om.significance(om.make_ranker(method, random_state=0), om.load(table, "y"))
    assert ranking.p_values.tolist() == expected.p_values.tolist()
    assert ranking.p_value_test == expected.p_value_test
    printed = rows(*options)
    assert [float(row["p_value"]) for row in printed] == expected.p_values[expected.order].tolist()
    assert [float(row["p_adjusted"]) for row in printed] == expected.to_frame()["p_adjusted"].tolist()
    assert [row["feature"] for row in printed if row["relevant"] == "True"] == expected.relevant()


def test_what_became_of_unlabelled_examples_is_told(table):
    result = CliRunner().invoke(app, ["rank", str(table), "--target", "y", "--labelled", "0.5", "--significance"])
    assert result.exit_code == 0
    assert "supervision " in result.stderr


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


@pytest.mark.slow
def test_the_choice_of_the_level_is_shown(digits):
    result = run("rank", digits, "-t", "last", "--labelled", "0.3", "--trees", "12")
    assert "supervision 0" in result.stderr or "supervision 1" in result.stderr
    assert "300 examples, 90 labelled" in result.stdout
    asked = "{'levels': [0.5, 1], 'folds': 2, 'measure': 'accuracy'}"
    chosen = run("rank", digits, "-t", "last", "--labelled", "0.3", "--trees", "3", "--supervision", asked)
    assert "in 2-fold cross-validation" in chosen.stderr
    assert "supervision" not in run("rank", digits, "-t", "last", "--trees", "3").stderr


def test_trees_of_clusters(digits):
    result = run("tree", digits, "--task", "clustering", "--set", "max_leaves=3")
    assert result.stdout.count("cluster ") == 3
    assert "clustering: 5 nodes, 3 leaves" in result.stderr
