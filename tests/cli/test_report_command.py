"""``omnirank report``, and the files that ``omnirank rank`` writes beside the ranking."""

from __future__ import annotations

import pytest

import omnirank as om
from tools.command import output

PNG, SVG, PDF = b"\x89PNG", b"<?xml", b"%PDF"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    data, _ = om.datasets.make_classification(80, n_relevant=2, n_irrelevant=4, random_state=0)
    om.write_arff(data, path / "data.arff")
    for name, method in (("a.json", "univariate"), ("b.csv", "information-gain")):
        om.make_ranker(method).fit(om.load(path / "data.arff")).ranking_.save(path / name)
    return path


@pytest.mark.slow
def test_rank_writes_a_report_with_its_command(folder, tmp_path):
    out = tmp_path / "out.html"
    shown = output("rank", folder / "data.arff", "-m", "univariate", "--report", out)
    assert f"report written to {out}" in shown
    text = out.read_text(encoding="utf-8")
    assert f"omnirank rank {folder / 'data.arff'} -m univariate --report {out}</pre>" in text
    assert "Does it help to predict?" in text
    assert "Left out: the data were not given" not in text


@pytest.mark.every(3)
@pytest.mark.parametrize(("ending", "start"), [("png", PNG), ("svg", SVG), ("pdf", PDF), ("PNG", PNG)])
def test_rank_draws_the_best(folder, tmp_path, ending, start):
    out = tmp_path / f"out.{ending}"
    output("rank", folder / "data.arff", "-m", "univariate", "--out", out, "--csv")
    assert out.read_bytes().startswith(start)


@pytest.mark.slow
def test_report_of_rankings(folder, tmp_path):
    out = tmp_path / "out.html"
    output("report", folder / "a.json", folder / "b.csv", "--out", out)
    text = out.read_text(encoding="utf-8")
    assert "overlap of top" in text
    assert "Left out: the data were not given" in text
    about = ["--data", folder / "data.arff", "--title", "<mine>"]
    output("report", folder / "a.json", "--out", out, *about)
    text = out.read_text(encoding="utf-8")
    assert "<title>&lt;mine&gt;</title>" in text
    assert "better than" in text or "worse than" in text or "as well as" in text


@pytest.mark.slow
def test_relational_data_are_reported_without_what_needs_one_table(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "films.csv").write_text("id,good\n1,yes\n2,no\n3,yes\n4,no\n", encoding="utf-8")
    (tmp_path / "tables" / "roles.csv").write_text("film,actor\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    page, picture = tmp_path / "out.html", tmp_path / "out.png"
    shown = output("rank", tmp_path / "tables", "-t", "films.good", "--report", page, "--out", picture)
    assert f"report written to {page}" in shown
    assert picture.read_bytes().startswith(PNG)
    text = page.read_text(encoding="utf-8")
    assert "roles_actor" in text
    assert "Left out: the data are several tables" in text
    assert "omnirank features" in text
    assert "rank --significance" not in text
    assert "om.Dataset(X, y)" not in text
    assert "RelationalDataset.from_folder(folder, target=&#39;films.good&#39;)" in text
    assert "4 examples, all labelled; 1 feature; classification for good" in text
    assert "<title>tables: which features matter" in text
    output("rank", tmp_path / "tables", "-t", "films.good", "--out", tmp_path / "r.json")
    again = tmp_path / "again.html"
    output("report", tmp_path / "r.json", "--data", tmp_path / "tables", "-t", "films.good", "--out", again)
    assert all("Tables and links" in one.read_text(encoding="utf-8") for one in (page, again))
