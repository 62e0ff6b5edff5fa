"""The command line, as a user meets it."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.cli.app import app
from omnirank.cli.options import assignments
from tools.command import rows, run


@pytest.fixture
def plants(tmp_path):
    """A table with a number, a class, an identifier and a target that is known for most rows."""
    rng = np.random.default_rng(0)
    height = rng.normal(size=40)
    kind = np.where(height > 0, "tall", "small").astype(object)
    kind[::8] = None
    colour = rng.choice(["red", "blue"], 40)
    frame = pd.DataFrame({"id": range(40), "height": height, "colour": colour, "kind": kind})
    path = tmp_path / "plants.csv"
    frame.to_csv(path, index=False)
    return path


# -- info -------------------------------------------------------------------------------------------------


def test_info_says_how_the_file_is_taken(plants):
    text = run("info", plants, "--target", "last", "--ignore", "id").stdout
    for fact in ("plants", "classification", "40, 35 labelled", "height", "colour", "kind (2 classes)"):
        assert fact in text
    assert "id" not in text.split()
    text = run("info", plants).stdout
    assert "clustering" in text
    assert "--target names one" in text


def test_info_csv_is_sorted_figures(plants):
    found = rows("info", plants, "-t", "kind")
    names = [row["fact"] for row in found]
    assert names == sorted(names)
    facts = {row["fact"]: row["value"] for row in found}
    assert facts["examples"] == "40"
    assert facts["labelled"] == "35"
    assert int(facts["classes: small"]) + int(facts["classes: tall"]) == 35
    assert str(plants) not in json.dumps(facts)


def test_info_of_label_sets_and_hierarchies(tmp_path):
    hierarchical = om.datasets.make_hierarchical_multi_label(n_examples=30, random_state=0)
    data = hierarchical[0] if isinstance(hierarchical, tuple) else hierarchical
    om.write_arff(data, tmp_path / "h.arff")
    text = run("info", tmp_path / "h.arff").stdout
    for fact in ("hierarchical-multi-label", "labels:", "label cardinality", "hierarchy"):
        assert fact in text


# -- rank -------------------------------------------------------------------------------------------------


def test_rank_prints_the_best_first(plants):
    text = run("rank", plants, "-t", "kind", "--ignore", "id", "--method", "univariate").stdout
    assert "plants: classification, 40 examples, 35 labelled, 2 features" in text
    assert text.index("height") < text.index("colour")
    assert "━" in text


def test_rank_csv_equals_the_library(plants):
    found = rows("rank", plants, "-t", "kind", "-m", "univariate")
    ranking = om.UnivariateRanker().fit(om.load(plants, "kind")).ranking_
    assert [row["feature"] for row in found] == ranking.top(3)
    assert [float(row["score"]) for row in found] == sorted(ranking.scores, reverse=True)
    assert len(rows("rank", plants, "-tkind", "-munivariate", "-k2")) == 2


def test_csv_runs_in_no_spreadsheet_and_is_read_as_it_was(plants, tmp_path):
    frame = pd.read_csv(plants).rename(columns={"height": "=cmd()"})
    frame.to_csv(plants, index=False)
    printed = run("rank", plants, "-t", "kind", "-m", "univariate", "--csv").stdout
    assert "'=cmd()" in {row["feature"] for row in rows("rank", plants, "-t", "kind", "-m", "univariate")}
    (tmp_path / "r.csv").write_text(printed)
    assert "=cmd()" in om.Ranking.load(tmp_path / "r.csv").names


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_rank_writes_the_whole_ranking(plants, tmp_path, ending):
    out = tmp_path / f"ranking.{ending}"
    text = run("rank", plants, "-t", "kind", "-m", "univariate", "-k", "1", "--out", out).stdout
    assert f"whole ranking written to {out}" in text
    assert "... and 2 more" in text
    assert len(om.Ranking.load(out)) == 3


def test_set_reads_values():
    texts = ["a=3", "b=0.5", "c=none", "d=True", "e=(0.0, 1.0)", "some-name=full"]
    assert list(assignments(texts).items())[-1] == ("some_name", "full")
    assert list(assignments(texts).values())[:-1] == [3, 0.5, None, True, (0.0, 1.0)]


def test_notes_of_the_reader_go_to_the_error_stream(plants):
    result = run("rank", plants, "--csv", "-m", "univariate")
    assert "note: no target was named" in result.stderr
    assert "note" not in result.stdout


# -- errors -----------------------------------------------------------------------------------------------


def test_warnings_are_one_line(plants, monkeypatch):
    load = om.load

    @functools.wraps(load)
    def warns(*arguments, **more):
        warnings.warn("watch\n   out", UserWarning, stacklevel=2)
        return load(*arguments, **more)

    monkeypatch.setattr("omnirank.data.load.load", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("info", plants).stderr == "warning: watch out\n"


# -- the other commands -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["80", "160"])
def test_methods_lists_the_registry(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    text = run("methods").stdout
    for method in om.methods(data=None):
        assert method.name in text
    found = rows("methods")
    assert [row["method"] for row in found] == [method.name for method in om.methods(data=None)]
    assert {row["method"]: row["data"] for row in found}["relational-genie3"] == "relational"
    assert {row["method"]: row["semi_supervised"] for row in found}["univariate"] == "0"


def test_compare_rankings(plants, tmp_path):
    files = [tmp_path / "a.json", tmp_path / "b.csv"]
    for out in files:
        run("rank", plants, "-t", "kind", "-m", "univariate", "--out", out)
    found = rows("compare-rankings", *files)
    assert {row["measure"]: row["value"] for row in found}["kendall"] == "1.0"
    assert [row["measure"] for row in found] == sorted(row["measure"] for row in found)
    assert "fuji_area" in run("compare-rankings", *files).stdout
    assert "overlaps are of the top 1 (--top)" in run("compare-rankings", *files, "--top", 1).stdout


@pytest.mark.parametrize("ending", ["arff", "arff.gz", "parquet"])
def test_convert_keeps_the_data(plants, tmp_path, ending):
    out = tmp_path / f"copy.{ending}"
    text = run("convert", plants, out, "-t", "kind").stdout
    assert "40 examples, 35 labelled, 3 features written to" in text
    before, after = om.load(plants, "kind"), om.load(out, "kind")
    assert before.feature_names == after.feature_names
    assert before.task == after.task
    np.testing.assert_array_equal(before.labelled, after.labelled)
    pd.testing.assert_frame_equal(before.X, after.X)


@pytest.mark.slow
def test_demo(tmp_path):
    out = tmp_path / "pixels.png"
    text = run("demo", "--out", out).stdout
    assert "classification, inferred" in text
    assert "1797, 100 of them labelled" in text
    assert f"Picture written to {out}" in text
    assert out.read_bytes().startswith(b"\x89PNG")
    table = [line for line in run("demo", "--out", out, env={"COLUMNS": "80"}).stdout.splitlines() if "━" in line]
    assert len(table) == 10
    assert max(map(len, table)) <= 80


# -- the frame --------------------------------------------------------------------------------------------


def test_version_and_help():
    assert run("--version").stdout == f"omnirank {om.__version__}\n"
    text = run("--help").stdout
    for command in ("info", "rank", "methods", "demo", "convert", "compare-rankings"):
        assert command in text
    assert "Reading the data:" in run("rank", "--help").stdout


@pytest.mark.parametrize("command", [info.name for info in app.registered_commands])
def test_help_is_short(command):
    text = run(command, "--help", env={"COLUMNS": "80"}).stdout
    assert len(re.findall(r"^  (-\w, )?--", text, re.MULTILINE)) - 1 <= 25
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.slow
def test_as_a_process(plants):
    """The installed command, piped: no colours, figures only on the output stream."""
    options = ["-t", "kind", "-m", "univariate", "--csv"]
    command = [sys.executable, "-m", "omnirank", "rank", plants, *options]
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert [line.split(",")[0] for line in found.stdout.splitlines()] == ["rank", "1", "2", "3"]
    told = found.stderr.splitlines()
    assert [line.split(" ", 3)[:3] for line in told] == [["note:", "feature", "'id'"], ["note:", "feature", "'height'"]]


HEAVY = {"numpy", "pandas", "sklearn", "scipy", "matplotlib", "numba"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["--help"], HEAVY),
        (["info", "TABLE"], {"sklearn", "scipy.stats", "matplotlib", "numba"}),
        (["rank", "TABLE", "--trees", "3"], {"matplotlib", "omnirank.report"}),
    ],
)
def test_commands_import_nothing_that_they_do_not_use(tmp_path, arguments, unused):
    table = tmp_path / "table.csv"
    table.write_text("a,b,target\n" + "".join(f"{i},{i % 7},{i % 5}.5\n" for i in range(40)))
    code = (
        "import sys\nfrom omnirank.cli.app import app\n"
        f"try:\n    app({[str(table) if word == 'TABLE' else word for word in arguments]!r})\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not unused & set(found.stderr.split())
