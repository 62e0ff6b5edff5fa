"""What further fits find for a report: a fixed number of them, on examples that were not ranked, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError
from omnirank.rankers.base import BaseRanker
from omnirank.report.halves import halved
from omnirank.report.subject import AGAIN, HALVES, OTHERS, SHUFFLED, Subject, fit_further, remade_ranker


class SeenRows(BaseRanker):
    """Keeps which rows it saw, by the feature that numbers them."""

    seen: list[set[float]] = []  # noqa: RUF012

    def _rank(self, dataset):
        cells = np.nan_to_num(dataset.features.numeric)
        self.seen.append(set(cells[:, 0].tolist()))
        return self._ranking(dataset, np.abs(np.corrcoef(cells.T, dataset.target.values[:, 0])[-1, :-1]), "seen")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(60.0), rng.normal(size=(60, 3))])
    return om.Dataset(X, X[:, 1] + 0.1 * rng.normal(size=60), task="regression")


def found_for(ranker, data, **options):
    """What further fits find for a ranker that is fitted to the data, or already fitted to others."""
    fitted = ranker if hasattr(ranker, "ranking_") else ranker.fit(data)
    SeenRows.seen.clear()
    subject = Subject(fitted.ranking_, data, fitted)
    fit_further(subject, n_jobs=1, **options)
    return subject


def test_the_number_of_fits_is_fixed(data):
    found = found_for(SeenRows(), data)
    assert [len(rows) for rows in SeenRows.seen] == [60] + [30] * 10 + [60]  # again, halves, shuffled
    assert found.halves.n == found.stability.n_resamples == 10
    assert found.shuffled is not None
    assert found.missing == {}


def test_without_fits_there_is_a_reason_for_all_that_is_missing(data):
    found = found_for(SeenRows(), data, fits=False)
    assert SeenRows.seen == []
    assert found.missing == dict.fromkeys((AGAIN, HALVES, SHUFFLED, OTHERS), "no further fits were asked for")


def test_methods_of_pairs_are_left_out_where_there_are_many(data, monkeypatch):
    monkeypatch.setattr("omnirank.report.subject._MOST_COMPARISONS", 60 * 60 * 4 - 1)
    found = found_for(SeenRows(), data)
    assert "relief" not in found.others
    assert "univariate" in found.others
    assert found.missing[OTHERS] == "relief was left out: there are too many pairs of examples to compare"


class TestHalves:
    def test_no_example_judges_a_ranking_that_saw_it(self, data):
        found = found_for(SeenRows(), data)
        seen = SeenRows.seen[1:-1]  # the first and the last saw all
        for pair in range(found.halves.n // 2):
            first, second = seen[2 * pair : 2 * pair + 2]
            assert not first & second
            assert len(first | second) == 60
            folds = halved(data, 0, pair)
            assert [set(fold.train.tolist()) for fold in folds] == [first, second]
            assert [set(fold.test.tolist()) for fold in folds] == [second, first]

    @pytest.mark.slow
    def test_the_curve_is_that_of_the_top_features(self):
        data, truth = om.datasets.make_regression(200, n_relevant=2, n_irrelevant=10, random_state=0)
        ranker = om.UnivariateRanker().fit(data)
        halves = found_for(ranker, data).halves
        assert halves.curve.chosen_size == 2
        assert halves.wins == halves.n
        assert halves.baseline == "equal weights"
        relevant = [name for name, matters in zip(data.feature_names, truth.relevant, strict=True) if matters]
        assert set(ranker.ranking_.top(2)) == set(relevant)

    def test_too_few_examples_are_not_halved(self):
        data = om.Dataset(np.random.default_rng(0).random((6, 3)), ["a", "b"] * 3)
        ranker = om.UnivariateRanker().fit(data)
        found = found_for(ranker, data)
        assert found.missing[HALVES] == "rankings are judged on at least 8 labelled examples, there are 6"


class TestAgain:
    @pytest.mark.slow
    def test_p_values_and_other_scores_come_from_one_fit(self):
        data = om.datasets.load_sample("iris")
        ranker = om.EnsembleRanker(n_trees=16, random_state=0).fit(data)
        found = found_for(ranker, data)
        assert found.repeats
        assert ranker.ranking_.p_values is None
        own = om.significance(om.EnsembleRanker(n_trees=16, random_state=0), data)
        np.testing.assert_array_equal(found.ranking.p_values, own.p_values)
        assert {"genie3", "symbolic"} <= set(found.others)

    @pytest.mark.slow
    def test_other_data_are_noticed(self):
        data = om.datasets.load_sample("iris")
        ranker = om.EnsembleRanker(n_trees=4, random_state=0).fit(data.take(slice(100)))
        found = found_for(ranker, data)
        assert found.repeats is False
        assert found.ranking.p_values is None


@pytest.mark.parametrize("name", ["unbiased", "permutation", "relief", "univariate", "chi2", "random"])
def test_a_ranking_tells_enough_to_be_made_again(name):
    data = om.datasets.load_sample("iris")
    made = om.make_ranker(name)
    if "random_state" in made.get_params():
        made.set_params(random_state=5)
    if "n_trees" in made.get_params():
        made.set_params(n_trees=6, max_features=2)
    ranking = made.fit(data).ranking_
    again = remade_ranker(ranking).fit(data).ranking_
    np.testing.assert_array_equal(ranking.scores, again.scores)


def test_what_cannot_be_made_again_says_why():
    with pytest.raises(DataError, match="no registered method"):
        remade_ranker(om.Ranking(["a"], [1.0], "mine"))
    data = om.datasets.load_sample("iris").keep_labels(50, random_state=0)
    weighted = om.EnsembleRanker(n_trees=2, supervision=0.5, feature_weights=[1, 1, 0, 1], random_state=0)
    with pytest.raises(DataError, match="digest"):
        remade_ranker(weighted.fit(data).ranking_)
