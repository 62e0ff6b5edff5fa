"""What further fits find for a report: within the budget, on examples that were not ranked, the same each time."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError
from omnirank.rankers.base import BaseRanker
from omnirank.report.budget import Budget
from omnirank.report.findings import AGAIN, HALVES, OTHERS, SHUFFLED, TREE, find
from omnirank.report.halves import JudgedHalf, halved
from omnirank.report.subject import remade_ranker


class Clock:
    """A clock that fits move on."""

    now = 0.0
    seconds = 1.0
    of_parts = 1.0  # how much longer parts take than their size says
    sizes: list[int] = []  # noqa: RUF012
    rows: list[set[float]] = []  # noqa: RUF012

    @classmethod
    def reset(cls, seconds, of_parts=1.0):
        cls.now, cls.seconds, cls.of_parts, cls.sizes, cls.rows = 0.0, seconds, of_parts, [], []


class TimedRanker(BaseRanker):
    """Takes a second of the clock for all examples; keeps which rows it saw, by the feature that numbers them."""

    def _rank(self, dataset):
        share = dataset.n_examples / 60
        Clock.now += Clock.seconds * share * (Clock.of_parts if share < 1 else 1.0)
        Clock.sizes.append(dataset.n_examples)
        cells = np.nan_to_num(dataset.features.numeric)
        Clock.rows.append(set(cells[:, 0].tolist()))
        return self._ranking(dataset, np.abs(np.corrcoef(cells.T, dataset.target.values[:, 0])[-1, :-1]), "timed")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(60.0), rng.normal(size=(60, 3))])
    return om.Dataset(X, X[:, 1] + 0.1 * rng.normal(size=60), task="regression")


def search(data, times, seconds=1.0, of_parts=1.0):
    Clock.reset(seconds, of_parts)
    ranker = TimedRanker().fit(data)
    Clock.sizes.clear()
    Clock.rows.clear()
    return find(ranker.ranking_, data, ranker, Budget(times, seconds, clock=lambda: Clock.now), n_jobs=1)


class TestBudget:
    @pytest.mark.slow
    def test_further_fits_stay_within_it(self, data):
        # seconds that are well above the least budget
        for times in (1, 2, 3, 10):
            found = search(data, times, seconds=100.0)
            spent = sum(found.costs.values())
            assert spent <= times * 100, (times, found.costs)
            assert found.budget == times * 100
            assert Clock.now - 100 == pytest.approx(spent)

    @pytest.mark.slow
    @pytest.mark.parametrize("of_parts", [1.3, 1.9])
    def test_halves_that_take_longer_than_expected_end_in_time(self, data, of_parts):
        for times in (1.2, 1.6, 2, 3, 10):
            found = search(data, times, 100.0, of_parts)
            assert sum(found.costs.values()) <= times * 100, (times, found.costs)
            assert found.halves is None or found.halves.n >= 2

    def test_what_does_not_fit_has_a_reason(self, data):
        found = search(data, 1.2, seconds=100.0)
        assert found.halves is not None  # two halves take as long as the whole
        assert found.halves.stability is None
        assert found.shuffled is None
        assert "the budget of 120 s has ended: it would take about 100 s" in found.missing[SHUFFLED]
        nothing = search(data, 0.5, seconds=100.0)
        assert nothing.halves is None
        assert "budget of 50 s has ended" in nothing.missing[HALVES]

    def test_a_third_half_is_ranked_where_two_more_take_too_long(self, data):
        found = search(data, 1.6, seconds=100.0)
        assert found.halves.n == 3
        assert found.halves.stability.n_resamples == 3

    def test_what_is_left_goes_to_halves(self, data):
        found = search(data, 10, seconds=100.0)
        assert found.shuffled is not None
        assert found.halves.n >= 16

    @pytest.mark.slow
    def test_moments_have_five_seconds(self, data):
        found = search(data, 3, seconds=0.01)
        assert found.budget == 5
        assert found.halves.n == 50

    def test_no_budget_no_fits(self, data):
        found = search(data, 0)
        assert not Clock.sizes
        assert set(found.missing) == {AGAIN, HALVES, SHUFFLED, OTHERS, TREE}

    @pytest.mark.slow
    def test_the_time_of_the_ranking_is_measured_where_it_is_not_known(self, data):
        ranker = om.EnsembleRanker(n_trees=8, random_state=0).fit(data)
        found = find(ranker.ranking_, data, ranker, Budget(1.0), n_jobs=1)
        assert found.seconds == found.costs[AGAIN] > 0
        assert found.repeats


class TestHalves:
    def test_no_example_judges_a_ranking_that_saw_it(self, data):
        found = search(data, 3, seconds=100.0)
        assert set(Clock.sizes[: found.halves.n]) == {30}
        for pair in range(found.halves.n // 2):
            first, second = Clock.rows[2 * pair : 2 * pair + 2]
            assert not first & second
            assert len(first | second) == 60
            folds = halved(data, 0, pair)
            assert [set(fold.train.tolist()) for fold in folds] == [first, second]
            assert [set(fold.test.tolist()) for fold in folds] == [second, first]

    def test_only_labelled_examples_are_halved(self):
        few = om.datasets.load_sample("iris").keep_labels(40, random_state=0)
        folds = halved(few, 0, 0)
        labelled = set(np.flatnonzero(few.labelled).tolist())
        assert set(folds[0].test.tolist()) | set(folds[1].test.tolist()) == labelled
        assert [len(fold.train) for fold in folds] == [130, 130]

    def test_workers_change_no_bit(self):
        data, _ = om.datasets.make_classification(60, n_relevant=2, n_irrelevant=3, random_state=0)
        judge = JudgedHalf.of(data, 7)
        ranker = om.EnsembleRanker(n_trees=5, random_state=0)
        one, two = (
            [judge(ranker.set_params(n_jobs=jobs), (i, halved(data, 7, i // 2)[i % 2])) for i in range(4)]
            for jobs in (1, 2)
        )
        for a, b in zip(one, two, strict=True):
            assert a.ranks.tolist() == b.ranks.tolist()
            assert a[1:] == b[1:]

    @pytest.mark.slow
    def test_the_curve_is_that_of_the_top_features(self):
        data, truth = om.datasets.make_regression(200, n_relevant=2, n_irrelevant=10, random_state=0)
        ranker = om.UnivariateRanker().fit(data)
        halves = find(ranker.ranking_, data, ranker, Budget(3, 0.01), n_jobs=1).halves
        assert halves.curve.chosen_size == 2
        assert halves.wins == halves.n
        assert halves.baseline == "equal weights"
        relevant = [name for name, matters in zip(data.feature_names, truth.relevant, strict=True) if matters]
        assert set(ranker.ranking_.top(2)) == set(relevant)
        assert halves.by_target().keys() == set(data.target_names)

    def test_of_numbers_and_classes_together_no_single_target_is_measured(self):
        data, _ = om.datasets.make_mixed_targets(60, random_state=0)
        half = JudgedHalf.of(data, 0)(om.UnivariateRanker(), (0, halved(data, 0, 0)[0]))
        assert half.by_target == {}
        assert np.isfinite(half.worth)

    def test_too_few_examples_are_not_halved(self):
        data = om.Dataset(np.random.default_rng(0).random((6, 3)), ["a", "b"] * 3)
        ranker = om.UnivariateRanker().fit(data)
        found = find(ranker.ranking_, data, ranker, Budget(3, 0.1), n_jobs=1)
        assert found.missing[HALVES] == "rankings are judged on at least 8 labelled examples, there are 6"


class TestAgain:
    @pytest.mark.slow
    def test_p_values_and_stages_come_from_one_fit(self):
        data = om.datasets.load_sample("iris")
        ranker = om.EnsembleRanker(n_trees=16, random_state=0).fit(data)
        found = find(ranker.ranking_, data, ranker, Budget(3, 0.5), n_jobs=1)
        assert found.repeats
        assert ranker.ranking_.p_values is None
        own = om.significance(om.EnsembleRanker(n_trees=16, random_state=0), data)
        np.testing.assert_array_equal(found.ranking.p_values, own.p_values)
        assert list(found.stages) == [2, 4, 8, 16]
        np.testing.assert_array_equal(found.stages[16].scores, ranker.ranking_.scores)
        assert {"genie3", "symbolic"} <= set(found.others)

    @pytest.mark.slow
    def test_other_data_are_noticed(self):
        data = om.datasets.load_sample("iris")
        ranker = om.EnsembleRanker(n_trees=4, random_state=0).fit(data.take(slice(100)))
        found = find(ranker.ranking_, data, ranker, Budget(3, 0.5), n_jobs=1)
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
