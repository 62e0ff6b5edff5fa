"""The HTML report: one file, complete, escaped, and nothing in it that reaches out."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.report import write_report

pytestmark = pytest.mark.usefixtures("two_pairs")
NASTY = (
    "<script>alert(1)</script>",
    "</script><b>x",
    "a & b",
    '" onmouseover="alert(2)',
    "{{ 7 * 7 }}",
    "$x_1$",
    "=1+1",
    "<!--",
    "naïve µ ☃",
)


class Page(HTMLParser):
    """Elements, ids, references and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data):
        self.texts.append(data)

    def titles(self) -> list[str]:
        return [attributes["href"][1:] for tag, attributes in self.tags if attributes.get("href", "").startswith("#")]


@pytest.fixture(scope="module")
def small(two_pairs):
    data, _ = om.datasets.make_regression(120, n_relevant=3, n_irrelevant=5, random_state=0)
    ranker = om.EnsembleRanker(n_trees=20, random_state=0, n_jobs=1).fit(data)
    return data, ranker


def written(tmp_path, ranking, data=None, **options):
    path = tmp_path / "report.html"
    ranking.report(path, data, **options)
    return path.read_text(encoding="utf-8")


def csv_of(text: str) -> list[str]:
    return json.loads(re.search(r'id="ranking-csv">(.*?)</script>', text)[1]).splitlines()


@pytest.mark.slow
def test_one_file_that_loads_nothing(tmp_path, small):
    data, ranker = small
    text = written(tmp_path, ranker.ranking_, data, ranker=ranker, seconds=0.1)
    page = Page(text)
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:;")
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "action", "data", "srcset"):
            if name in attributes:
                assert attributes[name].startswith(("#", "data:image/png")), (tag, attributes)
    assert "url(http" not in text
    assert "@import" not in text
    assert [tag for tag, _ in page.tags if tag in ("link", "iframe", "object", "embed")] == []


@pytest.mark.slow
def test_ids_are_unique_and_anchors_lead_somewhere(tmp_path, small):
    data, ranker = small
    page = Page(written(tmp_path, ranker.ranking_, data, ranker=ranker, seconds=0.1))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    shared = {name for name in ids if ids.count(name) > 1}
    # equal markers of two pictures are called the same
    assert all(re.fullmatch(r"[mp][0-9a-f]{10}|image[0-9a-f]+", name) for name in shared), shared
    assert {target for target in page.titles() if target} <= set(ids)


@pytest.mark.slow
def test_names_are_escaped_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, len(NASTY)))
    target = '<img src=x onerror="alert(3)">'
    data = om.Dataset(X, X[:, 0] + X[:, 1], feature_names=NASTY, target_names=[target], name="</title><script>")
    ranker = om.UnivariateRanker().fit(data)
    text = written(tmp_path, ranker.ranking_, data, ranker=ranker, seconds=0.5)
    page = Page(text)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert len(scripts) == 2  # ours, and the CSV file
    assert not [tag for tag, _ in page.tags if tag in ("b", "img")]
    assert not [a for _, a in page.tags if any(name.startswith("on") for name in a)]
    shown = "\n".join(page.texts)
    for name in (*NASTY, target):
        assert name in shown, name
    assert csv_of(text)[0] == "rank,feature,score"
    assert any("'=1+1" in line for line in csv_of(text))


@pytest.mark.slow
def test_letters_that_fonts_or_files_lack_are_no_obstacle(tmp_path):
    names = ["基因 1", "a\0b", "half \ud800", "bell \x07", "\ufffe"]
    rng = np.random.default_rng(0)
    data = om.Dataset(rng.normal(size=(40, 5)), ["no\x01", "yes\0"] * 20, feature_names=names, target_names=["目标\0"])
    ranker = om.EnsembleRanker(n_trees=4, random_state=0).fit(data)
    text = written(tmp_path, ranker.ranking_, data, ranker=ranker, seconds=0.1)
    assert text.count("基因 1") >= 3
    assert "half ?" in text


@pytest.mark.slow
def test_the_same_ranking_gives_the_same_page(tmp_path, small):
    data, ranker = small
    assert written(tmp_path, ranker.ranking_, data) == written(tmp_path, ranker.ranking_, data)


def test_the_csv_file_is_the_ranking(tmp_path, small):
    _, ranker = small
    path = tmp_path / "ranking.csv"
    path.write_text("\n".join(csv_of(written(tmp_path, ranker.ranking_))), encoding="utf-8")
    read = om.Ranking.load(path)
    np.testing.assert_array_equal(np.sort(read.scores), np.sort(ranker.ranking_.scores))
    assert read.top(8) == ranker.ranking_.top(8)


@pytest.mark.slow
def test_what_is_missing_is_left_out_with_a_word(tmp_path, small):
    data, ranker = small
    without = written(tmp_path, ranker.ranking_)
    assert "the data were not given" in without
    assert "Whether the ranking helps to predict was not checked" in without
    no_fits = written(tmp_path, ranker.ranking_, data, fits=False)
    assert "no further fits were asked for" in no_fits


def test_a_report_needs_a_ranking_and_data_of_its_features(tmp_path, small):
    data, ranker = small
    path = tmp_path / "report.html"
    with pytest.raises(DataError, match="no ranking to report"):
        write_report([], path)
    with pytest.raises(DataTypeError, match="not of EnsembleRanker"):
        write_report([ranker], path)
    with pytest.raises(DataTypeError, match="data must be a Dataset"):
        ranker.ranking_.report(path, data.X)
    with pytest.raises(DataError):
        ranker.ranking_.report(path, om.datasets.load_sample("iris"))
    with pytest.raises(ParameterError, match="give a ranker"):
        ranker.ranking_.report(path, data, ranker="genie3")
    assert not path.exists()


def test_the_report_names_features_that_add_nothing(tmp_path):
    x, z, e, u = np.random.default_rng(0).normal(size=(4, 200))
    data = om.Dataset(np.column_stack([x, x + e, z]), x + z + u)
    ranking = om.significance(om.EnsembleRanker(n_trees=10, random_state=0), data, given="others")
    page = written(tmp_path, ranking, data, fits=False)
    assert "It adds something if the other features do not tell the same" in page
    assert "Relevant features that add something: 2." in page
    assert "Corrected p values of the best features" in page
    assert "x1 tells nothing that x0 does not." in page
