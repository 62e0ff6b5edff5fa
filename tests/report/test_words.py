"""What a report says in words: tests behind p values, ranges, directions, how to repeat it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.core.ranking.accumulators import TargetScores
from omnirank.errors import DataTypeError, ParameterError
from omnirank.evaluation.selection import SelectionCurve
from omnirank.evaluation.stability import Stability
from omnirank.report.features import UNCLEAR, direction, sharing, top_counts
from omnirank.report.judgement import how_many
from omnirank.report.overview import advice, best_sentence, stability_sentence
from omnirank.report.reproduction import python_code
from omnirank.report.subject import Subject

pytestmark = pytest.mark.usefixtures("two_pairs")


def section(text, key):
    """The text of a section, as people read it."""
    body = text.split(f'<section id="{key}"')[1].split("</section>")[0]
    body = re.sub(r"<(svg|script)\b.*?</\1>", "", body, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body)))


@pytest.fixture(scope="module")
def few(two_pairs, tmp_path_factory):
    """A report of few features, with four halves."""
    data, _ = om.datasets.make_regression(120, n_relevant=3, n_irrelevant=5, random_state=0)
    ranker = om.EnsembleRanker(n_trees=20, random_state=0, n_jobs=1).fit(data)
    path = tmp_path_factory.mktemp("few") / "report.html"
    ranker.ranking_.report(path, data, ranker=ranker, seconds=0.1)
    return path.read_text(encoding="utf-8")


class TestSignificance:
    @pytest.mark.slow
    def test_the_test_and_the_correction_stand_where_p_values_do(self, few):
        for key in ("significance", "features", "methods"):
            assert "a combination of three tests: of the feature alone" in section(few, key), key
            assert "Benjamini-Hochberg" in section(few, key), key

    def test_raw_and_corrected_p_values_are_named_apart(self, few):
        table = section(few, "features")
        assert re.search(r"p_value\b.*p_adjusted\b.*relevant\b", table)
        assert "p_value: raw, of a combination of three tests" in table
        assert "p_adjusted: the same corrected for 8 features (Benjamini-Hochberg)" in table
        assert "relevant: p_adjusted is at most 0.05" in table
        assert "Significant: p_adjusted, corrected" in section(few, "significance")
        assert "rank,feature,score,standard_error,p_value,p_adjusted,relevant" in html.unescape(few)

    @pytest.mark.slow
    def test_the_unbiased_score_against_copies_is_the_permutation_test_too(self, tmp_path):
        data = om.datasets.load_sample("iris")
        trees = om.EnsembleRanker("unbiased", n_trees=5, random_state=0)
        ranking = om.significance(trees, data, method="copies", n_rounds=3)
        ranking.save(tmp_path / "ranking.csv")
        om.Ranking.load(tmp_path / "ranking.csv").report(tmp_path / "report.html", data, fits=False)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        for key in ("significance", "features", "methods"):
            assert "permutation test" in section(text, key), key
        assert "by out-of-bag" not in text

    def test_a_file_that_does_not_tell_the_test_is_said_not_to(self, tmp_path):
        """Files of an older version hold p values alone."""
        ranking = om.Ranking(["a", "b"], [2.0, 1.0], "unbiased", p_values=[1e-4, 0.5])
        ranking.report(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "shown as <1e-12" not in section(text, "features")
        said = section(text, "significance")
        assert "Test: a test that the ranking does not record" in said
        assert "by out-of-bag" not in said

    def test_small_values_are_cut_off_and_said_to_be(self, tmp_path):
        ranking = om.Ranking(["a", "b"], [2.0, 1.0], "unbiased", p_values=[1e-40, 1e-5])
        ranking.report(tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "shown as <1e-12" in section(text, "features")
        assert "&lt;1e-12</td>" in text


class TestRanges:
    def test_few_halves_give_a_range_with_its_probability(self, few):
        said = section(few, "stability")
        assert "a range and no confidence interval" in said
        assert "with a probability of 60 %" in said
        assert "om.stability" in said
        assert "smallest and largest rank in 4 halves" in section(few, "features")
        assert "90 % of 4 halves" not in few


class TestDirections:
    def test_numbers_rise_and_fall(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 3))
        data = om.Dataset(X, X[:, 0] - X[:, 1])
        assert direction(data, 0).startswith("rises (ρ 0.")
        assert re.fullmatch(r"falls \(ρ -0\.\d\d\)", direction(data, 1))
        noise = om.Dataset(X, np.sort(rng.normal(size=200)))
        assert [direction(noise, i) for i in range(3)].count(UNCLEAR) >= 2

    def test_classes_and_categories(self):
        height = np.r_[np.zeros(20), np.ones(20), np.full(20, 5.0)] + np.arange(60) / 100
        frame = pd.DataFrame({"height": height, "colour": ["red"] * 20 + ["blue"] * 20 + ["green"] * 20})
        classes = om.Dataset(frame, ["no"] * 40 + ["yes"] * 20)
        assert direction(classes, 0) == "highest in yes"
        assert direction(classes, 1) == "green goes with yes"
        numbers = om.Dataset(frame, height)
        assert direction(numbers, 1) == "highest for green"

    def test_missing_cells_and_labels_do_not_count(self):
        x = np.arange(40.0)
        y = np.r_[x[:30], np.full(10, np.nan)]
        x[:10] = np.nan
        assert direction(om.Dataset(x[:, None], y, task="regression"), 0) == "rises (ρ 1.00)"
        assert direction(om.Dataset(np.full((40, 1), np.nan), y, task="regression"), 0) == UNCLEAR


def subject_of(rankings, data=None):
    return Subject(next(iter(rankings.values())), data)


class TestSummary:
    def said(self, p_values):
        names = ["kidney, adult", *"abcdefghi"]
        ranking = om.Ranking(names, np.arange(10.0)[::-1], "unbiased", p_values=p_values)
        return best_sentence(subject_of({"unbiased": ranking}))

    def test_equal_scores_have_no_best(self):
        ranking = om.Ranking(["a", "b"], [0.0, 0.0], "genie3", targets=["price"])
        said = best_sentence(subject_of({"genie3": ranking}))
        assert said == "All 2 features have the same score for price: the order is that of the data and tells nothing."

    def test_what_is_significant_is_told_and_no_more(self):
        assert self.said(np.full(10, 0.5)).startswith("None of 10 features scores significantly above chance")
        two = self.said([1e-6, 1e-6, *[0.5] * 8])
        assert two.startswith("Of 10 features, 2 score significantly above chance: kidney, adult; and a (")
        all_of_them = self.said(np.full(10, 1e-6))
        assert "kidney, adult; a; b; c; and d. All 10 score" in all_of_them
        five = self.said([*[1e-6] * 5, *[0.5] * 5])
        assert five.startswith("Of 10 features, 5 score significantly above chance: kidney, adult; a; b; c; and d (")


class TestStability:
    def said(self, ranks):
        names = tuple("abcd")
        found = Stability(names, np.array(ranks), np.arange(4), 0.9, 1, "4 halves of the examples")
        halves = type("Few", (), {"stability": found})()
        subject = subject_of({"unbiased": om.Ranking(names, [4.0, 3.0, 2.0, 1.0], "unbiased")})
        return stability_sentence(replace(subject, halves=halves))

    def test_where_none_is_always_on_top_the_most_frequent_is_named(self):
        changing = self.said([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 3, 4]])
        assert "With other examples, the best feature would be " in changing
        assert "no feature is always first; most often a, in 75 % of them." in changing
        assert "always first: a." in self.said([[1, 2, 3, 4]] * 4)


class TestTargets:
    @pytest.mark.parametrize(("n", "words"), [(2, "both targets"), (3, "at least 2 of 3 targets")])
    def test_shared_features_say_by_how_many(self, n, words):
        scores = TargetScores([f"y{i}" for i in range(n)], [[4.0, 3.0, 2.0, 1.0, 0.0, 0.0]] * n)
        ranking = om.Ranking(list("abcdef"), np.arange(6.0)[::-1], "genie3", per_target=scores)
        shared = sharing(subject_of({"genie3": ranking}), top_counts(scores))
        assert shared == f"Shared: a and b are among the top 2 of {words}."


class TestHowMany:
    @pytest.mark.every(3)
    @pytest.mark.parametrize(
        ("p_values", "wins", "losses", "n", "why"),
        [
            ([0.5] * 8, 4, 0, 0, "no feature scores above chance"),
            ([1e-6] * 3 + [0.5] * 5, 0, 4, 0, "the ranking predicts worse than equal weights"),
            (None, 2, 2, 0, "the ranking predicts about as well as equal weights"),
            (None, 4, 0, 2, ""),
            ([1e-6] * 3 + [0.5] * 5, 2, 2, 2, ""),
        ],
    )
    def test_nothing_is_to_be_kept_where_nothing_beats_chance_or_equal_weights(self, p_values, wins, losses, n, why):
        halves = SimpleNamespace(
            n=4,
            wins=wins,
            losses=losses,
            baseline="equal weights",
            how_many="the top 2 features of 8 suffice",
            curve=SelectionCurve([1, 2, 8], [[0.5, 0.9, 0.9], [0.6, 0.9, 0.9]], "accuracy", True, "neighbors"),
        )
        ranking = om.Ranking(list("abcdefgh"), np.arange(8.0)[::-1], "unbiased", p_values=p_values)
        subject = Subject(ranking, halves=halves)
        assert subject.cut[0] == n
        assert why in subject.cut[1]
        assert any(line.startswith("To predict, keep the top 2: a and b") for line in advice(subject)) == bool(n)
        assert any(why in line for line in advice(subject))
        assert any("look at all 3 that" in line for line in advice(subject)) == ((p_values or [1.0])[0] < 0.05)
        told = how_many(subject)
        assert told["keep"] == ("a, b" if n else "")
        assert why in told["sentence"]
        assert ("suffice" in told["sentence"]) == bool(n)

    def test_where_no_number_beats_a_constant_no_cut_is_drawn(self):
        values, constant = [[0.5, 0.9, 0.9], [0.6, 0.9, 0.9]], [0.95, 0.95]
        curve = SelectionCurve([1, 2, 8], values, "accuracy", True, "neighbors", constant)
        halves = SimpleNamespace(n=4, wins=4, losses=0, baseline="equal weights", how_many=curve.summary, curve=curve)
        subject = Subject(om.Ranking(list("abcdefgh"), np.arange(8.0)[::-1], "unbiased"), halves=halves)
        assert subject.cut[0] == 0
        assert "no number of the 8 features predicts better than a constant" in subject.cut[1]
        assert how_many(subject)["keep"] == ""

    def test_without_significant_features_no_cut_is_drawn(self):
        ranking = om.Ranking(["a", "b"], [2.0, 1.0], "unbiased", p_values=[0.5, 0.5])
        assert Subject(ranking).cut == (0, "There is no cut to suggest: no feature scores above chance.")


class TestRepeating:
    def test_a_seed_that_was_drawn_is_told(self):
        data = om.datasets.load_sample("iris")
        ranking = om.EnsembleRanker(n_trees=3).fit(data).ranking_
        scope = {"data": data}
        code = "\n".join(line for line in python_code(ranking, None).splitlines() if not line.startswith("data"))
        exec(code, scope)
        assert scope["ranking"].scores.tolist() == ranking.scores.tolist()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("ranker", "method"),
        [
            (om.EnsembleRanker(n_trees=5, random_state=3), "auto"),
            (om.EnsembleRanker(n_trees=5, random_state=3), "copies"),
            (om.UnivariateRanker(random_state=3), "auto"),
        ],
    )
    def test_p_values_are_repeated(self, ranker, method):
        data = om.datasets.load_sample("iris")
        ranking = om.significance(ranker, data, method=method)
        code = "\n".join(line for line in python_code(ranking, None).splitlines() if not line.startswith("data"))
        scope = {"data": data}
        exec(code, scope)
        assert scope["ranking"].p_values.tolist() == ranking.p_values.tolist()
        assert scope["ranking"].p_value_test == ranking.p_value_test

    def test_p_values_of_a_test_of_your_own_are_not_promised(self):
        ranking = om.UnivariateRanker().fit(om.datasets.load_sample("iris")).ranking_
        ranking = replace(ranking, p_values=[0.5] * 4, p_value_test="mine")
        assert "significance" not in python_code(ranking, None)

    def test_the_paragraph_names_the_details(self, few):
        said = section(few, "methods")
        assert (
            "20 trees (extra-trees) were grown on bootstrap replicates, 8 of 8 features were tried in each node" in said
        )
        assert "The level of supervision was 1 (the target alone counts)." in said
        assert "All other parameters had their defaults." in said
        assert re.search(r"The seed was 0\. Software: omnirank \S+, numpy \S+, scikit-learn \S+, Python 3", said)


class TestOtherData:
    @pytest.mark.slow
    def test_data_in_parts_are_reported(self, tmp_path):
        rng = np.random.default_rng(0)
        for i in range(3):
            frame = pd.DataFrame({"a": rng.normal(size=20), "b": rng.normal(size=20)})
            frame.assign(kind=np.where(frame.a > 0, "yes", "no")).to_parquet(tmp_path / f"{i}.parquet")
        parts = om.open_shards(tmp_path, target="kind")
        ranking = om.UnivariateRanker().fit(parts).ranking_
        ranking.report(tmp_path / "report.html", parts, fits=False)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "60" in section(text, "data")
        assert "fingerprint of the data is not" not in text
        small = om.open_shards(tmp_path, target="kind", max_memory=1000)
        ranking.report(tmp_path / "report.html", small)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "MB in memory, more than" in section(text, "data")

    @pytest.mark.parametrize("name", [".", "report.pdf", "no/report.html"])
    def test_a_page_that_cannot_be_is_refused_before_any_fit(self, tmp_path, monkeypatch, name):
        monkeypatch.chdir(tmp_path)
        data = om.datasets.load_sample("iris")
        ranking = om.UnivariateRanker().fit(data).ranking_
        monkeypatch.setattr("omnirank.report.ranking_page.fit_further", None)
        with pytest.raises(ParameterError, match=r"folder|ending"):
            ranking.report(name, data)
        with pytest.raises(DataTypeError, match="data must be a Dataset"):
            ranking.report("report.html", [[1.0]])


def test_groups_scores_and_the_scale_of_errors_are_explained(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")})
    data = om.Dataset(X, y).with_groups(np.arange(60) // 3)
    ranker = om.EnsembleRanker(n_trees=5, random_state=0, n_jobs=1).fit(data)
    ranker.ranking_.report(tmp_path / "report.html", data, ranker=ranker)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "groups 20, kept together" in section(text, "data")
    assert "Examples of the same group (20 groups) stayed together." in section(text, "methods")
    assert "score: How much the feature helps trees to predict" in section(text, "features")
    assert "the mean or the most frequent class, which has about 1." in section(text, "summary")
