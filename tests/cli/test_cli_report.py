"""``omnirank report``, and the files that ``omnirank rank`` writes beside the ranking."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app

PNG, SVG, PDF = b"\x89PNG", b"<?xml", b"%PDF"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    data, _ = om.datasets.make_classification(80, n_relevant=2, n_irrelevant=4, random_state=0)
    om.write_arff(data, path / "data.arff")
    for name, method in (("a.json", "univariate"), ("b.csv", "information-gain")):
        om.make_ranker(method).fit(om.load(path / "data.arff")).ranking_.save(path / name)
    return path


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result.output


def test_rank_writes_a_report_with_its_command(folder, tmp_path):
    out = tmp_path / "out.html"
    shown = run("rank", folder / "data.arff", "-m", "univariate", "--report", out, "--report-budget", 1)
    assert f"report written to {out}" in shown
    text = out.read_text(encoding="utf-8")
    assert f"omnirank rank {folder / 'data.arff'} -m univariate --report {out} --report-budget 1</pre>" in text
    assert "Does it help to predict?" in text
    assert "Left out: the data were not given" not in text


@pytest.mark.parametrize(("ending", "start"), [("png", PNG), ("svg", SVG), ("pdf", PDF), ("PNG", PNG)])
def test_rank_draws_the_best(folder, tmp_path, ending, start):
    out = tmp_path / f"out.{ending}"
    run("rank", folder / "data.arff", "-m", "univariate", "--plot", out, "--csv")
    assert out.read_bytes().startswith(start)


def test_wrong_endings_and_places_are_refused_before_anything_is_computed(folder, tmp_path):
    data = folder / "data.arff"
    assert "the ending must be .html" in run("rank", data, "--report", tmp_path / "out.pdf", code=2)
    assert "the ending must be .png or .svg or .pdf" in run("rank", data, "--plot", tmp_path / "out.gif", code=2)
    assert "does not exist" in run("rank", data, "--report", tmp_path / "no" / "out.html", code=2)
    assert not list(tmp_path.iterdir())


def test_report_of_rankings(folder, tmp_path):
    out = tmp_path / "out.html"
    run("report", folder / "a.json", folder / "b.csv", "--out", out)
    text = out.read_text(encoding="utf-8")
    assert "overlap of top" in text
    assert "Left out: the data were not given" in text
    run("report", folder / "a.json", "--out", out, "--data", folder / "data.arff", "--title", "<mine>", "--budget", 1)
    text = out.read_text(encoding="utf-8")
    assert "<title>&lt;mine&gt;</title>" in text
    assert "better than" in text or "worse than" in text or "as well as" in text


def test_report_of_a_study(tmp_path):
    plan = {"study": {"name": "small"}, "folds": {"n_folds": 2}}
    plan |= {"data": [{"sample": name} for name in ("iris", "wine", "breast-cancer")]}
    plan |= {"method": [{"use": name} for name in ("univariate", "uniform", "variance")]}
    om.run_plan(plan, store=tmp_path / "small.sqlite")
    out = tmp_path / "study.html"
    run("report", tmp_path / "small.sqlite", "-o", out)
    text = out.read_text(encoding="utf-8")
    for word in ("breast-cancer", "average rank", "Seconds of a fit", "★", "18, 18 done", "All measures", "<svg"):
        assert word in text, word
    assert "not both" in run("report", tmp_path / "small.sqlite", tmp_path / "a.json", "-o", out, code=2)
    assert "a study knows its data" in run(
        "report", tmp_path / "small.sqlite", "-o", out, "--data", _csv(tmp_path), code=2
    )


def _csv(folder):
    path = folder / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    return path


def test_relational_data_have_no_report(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "films.csv").write_text("id,good\n1,yes\n2,no\n3,yes\n4,no\n", encoding="utf-8")
    (tmp_path / "tables" / "roles.csv").write_text("film,actor\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    args = ("rank", tmp_path / "tables", "-t", "films.good", "--report", tmp_path / "out.html")
    assert "--report" in run(*args, code=2)
