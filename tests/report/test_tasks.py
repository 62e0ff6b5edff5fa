"""A report of every task and of odd data: sections are there or say why not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse

import omnirank as om

pytestmark = pytest.mark.usefixtures("two_pairs")
GENERATORS = {
    "classification": lambda: om.datasets.make_classification(40, random_state=0)[0],
    "several classes": lambda: om.datasets.make_multi_target_classification(40, random_state=0)[0],
    "several numbers": lambda: om.datasets.make_multi_target_regression(40, random_state=0)[0],
    "mixed": lambda: om.datasets.make_mixed_targets(40, random_state=0)[0],
    "labels": lambda: om.datasets.make_multi_label(40, random_state=0)[0],
    "hierarchy": lambda: om.datasets.make_hierarchical_multi_label(60, random_state=0)[0],
    "no target": lambda: om.datasets.make_clusters(40, random_state=0)[0],
}


def sections(text):
    """Titles of the sections, and why those that are left out are."""
    found = dict(re.findall(r'<h2 id="([\w-]+)-title">(.*?)</h2>', text))
    left = {}
    for key in found:
        body = text.split(f'<section id="{key}"')[1].split("</section>")[0]
        why = re.search(r'<p class="left-out">Left out: (.*?)</p>', body)
        if why:
            left[key] = why[1]
    return found, left


def report(tmp_path, data, ranker, **options):
    path = tmp_path / "report.html"
    ranker.fit(data).ranking_.report(path, data, ranker=ranker, seconds=0.3, n_jobs=1, **options)
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATORS)
def test_every_task_has_a_report(tmp_path, name):
    data = GENERATORS[name]()
    ranker = om.EnsembleRanker("genie3", n_trees=8, per_target=data.target is not None, random_state=0)
    found, left = sections(report(tmp_path, data, ranker))
    several = data.n_targets > 1
    assert {"summary", "data", "features", "scores", "worth", "how-many", "stability"} <= set(found)
    assert ("by-target" in found) == several
    assert ("hierarchy" in found) == (name == "hierarchy")
    assert "supervision" not in found
    assert set(left) <= {"significance"}, left


@pytest.mark.slow
def test_without_scores_by_target_a_word_says_how_to_have_them(tmp_path):
    data = GENERATORS["several numbers"]()
    _, left = sections(report(tmp_path, data, om.EnsembleRanker(n_trees=4, random_state=0), fits=False))
    assert left["by-target"].startswith("the ranking has no scores by target: rank with per_target=True")
    assert left["worth"] == "no further fits were asked for."


@pytest.mark.slow
def test_few_labels_are_told(tmp_path):
    data = om.datasets.load_sample("iris").keep_labels(30, random_state=0)
    text = report(tmp_path, data, om.EnsembleRanker(n_trees=48, random_state=0))
    found, _ = sections(text)
    assert found["supervision"] == "Few labels"
    assert "30 of 150 examples are labelled" in text
    assert re.search(r"<li>supervision [\d.]+: ", text)
    # a ranking from a file has no ranker: one is made anew, and tells after it has ranked again
    path = tmp_path / "again.html"
    om.EnsembleRanker(n_trees=48, random_state=0).fit(data).ranking_.report(path, data)
    assert re.search(r"<li>supervision [\d.]+: ", path.read_text(encoding="utf-8"))
    om.EnsembleRanker(n_trees=48, random_state=0).fit(data).ranking_.report(path, data, fits=False)
    assert "how the others were used is not known" in path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_groups_have_shares(tmp_path):
    data = om.datasets.load_sample("digits")
    found, _ = sections(report(tmp_path, data, om.UnivariateRanker(), fits=False))
    assert "groups" not in found
    grouped = om.Dataset(data.X, data.y, feature_groups={"x1": "left", "x2": "right"})
    text = report(tmp_path, grouped, om.UnivariateRanker(), fits=False)
    assert "(no group) (62)" in text


@pytest.mark.every(12)
@pytest.mark.parametrize(
    "X",
    [
        np.ones((20, 1)),
        np.column_stack([np.ones(20), np.full(20, np.nan)]),
        np.arange(20.0)[:, None],
        sparse.random(20, 300, 0.05, random_state=0, format="csr"),
    ],
    ids=["constant", "empty", "one feature", "sparse"],
)
def test_odd_features(tmp_path, X):
    data = om.Dataset(X, ["a", "b"] * 10)
    text = report(tmp_path, data, om.UnivariateRanker())
    assert "All features" in text
    assert report(tmp_path, data, om.EnsembleRanker(n_trees=4, random_state=0))


def test_missing_cells_and_nominal_features_are_checked(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"colour": ["red", None, "blue", "red"] * 10, "size": [1.0, np.nan, np.nan, 4.0] * 10})
    data = om.Dataset(frame, ["a", "b", "a", "b"] * 10)
    text = report(tmp_path, data, om.UnivariateRanker(), fits=False)
    assert "Features with missing values" in text
    rows = re.findall(r'<td class="t">(colour|size)</td><td>(\d+)</td><td>([\d.]+)</td>', text)
    assert rows == [("size", "20", "50.0"), ("colour", "10", "25.0")]


def test_several_rankings_are_compared(tmp_path):
    data = om.datasets.load_sample("iris")
    rankings = [om.make_ranker(name).fit(data).ranking_ for name in ("univariate", "chi2", "univariate")]
    path = tmp_path / "report.html"
    from omnirank.report import write_report

    write_report(rankings, path)
    text = path.read_text(encoding="utf-8")
    assert "Among the top 2 of all 3 rankings" in text
    assert "univariate #2" in text
