"""How many features to keep: the curve, the rule, no leak, every task."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import omnirank as om
from omnirank.core.seeds import stream
from omnirank.data.task_registry import TASKS
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation import selection
from omnirank.evaluation.cross import judge
from omnirank.evaluation.folds import labelled_folds
from omnirank.evaluation.selection import SelectionCurve, selection_curve, selection_sizes
from omnirank.rankers.base import BaseRanker
from omnirank.testing import tiny_dataset


def regression(n=200, **options):
    options = {"n_relevant": 3, "n_irrelevant": 9, "random_state": 1} | options
    data, truth = om.datasets.make_regression(n, **options)
    return data, {name for name, matters in zip(data.feature_names, truth.relevant, strict=True) if matters}


# -- the rule -----------------------------------------------------------------------------------------------


def slow_choice(sizes, values, larger):
    """One standard error, word by word."""
    means = [np.mean(column) for column in np.transpose(values)]
    best = None
    for i, mean in enumerate(means):
        if best is None or (mean > means[best] if larger else mean < means[best]):
            best = i
    error = np.std(np.transpose(values)[best], ddof=1) / np.sqrt(len(values))
    for size, mean in zip(sizes, means, strict=True):
        if mean >= means[best] - error - 1e-9 if larger else mean <= means[best] + error + 1e-9:
            return sizes[best], size
    raise AssertionError


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=n, max_size=n), min_size=2, max_size=6
        )
    ),
    st.booleans(),
)
def test_rule_is_one_standard_error(values, larger):
    sizes = list(range(1, len(values[0]) + 1))
    curve = SelectionCurve(sizes, values, "accuracy", larger, "neighbors")
    assert (curve.best_size, curve.chosen_size) == slow_choice(sizes, values, larger)


def test_folds_without_a_value_do_not_count():
    values = [[0.5, np.nan, 0.9], [0.7, np.nan, np.nan]]
    curve = SelectionCurve([1, 2, 3], values, "accuracy", True, "forest")
    assert curve.means[[0, 2]].tolist() == [0.6, 0.9]
    assert np.isnan(curve.means[1])
    assert curve.chosen_size == 3
    with pytest.raises(DataError, match="not defined in any fold"):
        SelectionCurve([1], [[np.nan]], "accuracy", True, "forest")
    with pytest.raises(DataError, match="which increase"):
        SelectionCurve([2, 1], [[0.5, 0.5]], "accuracy", True, "forest")


@given(st.integers(1, 5000))
def test_sizes_grow_geometrically_up_to_all_features(n):
    sizes = selection_sizes(n)
    assert sizes[0] == 1
    assert sizes[-1] == n
    assert sizes == sorted(set(sizes))
    assert len(sizes) <= 2 * np.log2(n) + 2
    assert all(b <= max(a + 1, 1.55 * a) for a, b in pairwise(sizes))


def test_words():
    curve = SelectionCurve([1, 2, 4], [[0.5, 0.4, 0.4], [0.5, 0.6, 0.4]], "rrmse", False, "neighbors")
    assert curve.summary == (
        "all 4 features are needed, no smaller number that was tried is as good: RRMSE 0.4000 ± 0.0000, the best "
        "of all sizes (2 folds, by neighbours)"
    )
    curve = SelectionCurve([1, 2], [[0.5, 0.4], [0.5, 0.8]], "accuracy", True, "forest")
    assert curve.summary == (
        "the best feature of 2 suffices: accuracy 0.5000 ± 0.0000, the best is 0.60 ± 0.20 with 2 (2 folds, by forest)"
    )


# -- the curve ----------------------------------------------------------------------------------------------


def test_curve_is_that_of_a_plain_loop():
    data, _ = regression(90, labelled=60)
    ranker = om.UnivariateRanker()
    curve = selection_curve(ranker, data, sizes=[1, 3, 12], n_folds=4, n_neighbors=5, random_state=3)
    assert curve.values.shape == (4, 3)
    folds = labelled_folds(data, 4, stream(3, selection._FOLDS_KEY))
    for fold, values in zip(folds, curve.values, strict=True):
        train, test = data.take(fold.train), data.take(fold.test)
        assert test.labelled.all()
        assert not set(fold.train) & set(fold.test)
        assert set(np.flatnonzero(~data.labelled)) <= set(fold.train)
        ranking = clone(ranker).fit(train).ranking_
        for size, value in zip([1, 3, 12], values, strict=True):
            mask = np.zeros(12)
            mask[ranking.order[:size]] = 1.0
            assert om.evaluate(mask, train, test, 5)["rrmse"] == value


class Spy(BaseRanker):
    """Ranks by nothing, and remembers which examples it was given: the first feature is their number."""

    def __init__(self, seen=None, n_features_to_select=None):
        super().__init__(n_features_to_select=n_features_to_select)
        self.seen = seen

    def _rank(self, dataset):
        SEEN.append(set(dataset.features.numeric[:, 0].astype(int).tolist()))
        return self._ranking(dataset, -np.arange(dataset.n_features), "spy")


SEEN: list[set[int]] = []


def test_no_example_that_judges_is_ranked_with(monkeypatch):
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK", raising=False)
    rng = np.random.default_rng(0)
    data = om.Dataset(np.column_stack([np.arange(60), rng.normal(size=(60, 2))]), rng.normal(size=60))
    judged = []

    def watched(ranking, parts, evaluation):
        judged.append(set(parts.test.features.numeric[:, 0].astype(int).tolist()))
        return judge(ranking, parts, evaluation)

    monkeypatch.setattr(selection, "judge", watched)
    SEEN.clear()
    curve = selection_curve(Spy(), data, n_folds=5, random_state=0)
    assert len(SEEN) == 5
    per_fold = len(curve.sizes)
    for i, seen in enumerate(SEEN):
        for tested in judged[i * per_fold : (i + 1) * per_fold]:
            assert seen | tested == set(range(60))
            assert not seen & tested


def test_noise_looks_like_noise():
    """A ranking of all examples would find features that fit the noise; one inside the folds cannot."""
    rng = np.random.default_rng(5)
    data = om.Dataset(rng.normal(size=(60, 400)), rng.normal(size=60))
    curve = om.select(om.UnivariateRanker(), data, random_state=0).curve
    assert curve.means.min() > 0.95
    ranking = om.UnivariateRanker().fit(data).ranking_
    train, test = data.split(0.8, random_state=0)
    leaked = om.evaluate(ranking, train, test, 5, top=23, weighted=False)["rrmse"]
    assert leaked < curve.means.min() - 0.05


@pytest.mark.slow
@pytest.mark.parametrize("by", ["neighbors", "forest"])
def test_true_features_are_found(by):
    data, relevant = regression(200)
    found = om.select(om.UnivariateRanker(), data, by=by, n_folds=4, random_state=0)
    assert set(found.names) == relevant
    assert found.mask.tolist() == [name in relevant for name in data.feature_names]
    assert found.apply(data).feature_names == tuple(name for name in data.feature_names if name in relevant)
    assert found.names == tuple(found.ranking.top(3))


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["auto", "forest"])
@pytest.mark.parametrize("task", [task for task in TASKS if task != "clustering"])
def test_every_task(task, wanted):
    data = tiny_dataset(task)  # with nominal features and missing cells
    data = data.hide_labels([1, 5])
    ranker = om.EnsembleRanker(n_trees=5, random_state=0, supervision=1, n_features_to_select=wanted).fit(data)
    kept = ranker.transform(data)
    assert kept.n_features == ranker.selection_curve_.chosen_size
    assert set(kept.feature_names) == set(ranker.ranking_.top(kept.n_features))
    assert kept.n_examples == data.n_examples
    assert "strong" in kept.feature_names


def test_without_target_the_features_are_predicted():
    rng = np.random.default_rng(0)
    signals = rng.normal(size=(200, 2))
    copies = np.column_stack([signals[:, i % 2] * 10.0**i + 1e-3 * rng.normal(size=200) for i in range(8)])
    found = om.select(om.make_ranker("relief", random_state=0), copies, random_state=0)
    assert found.curve.measure == "rrmse"
    assert len(found.names) < 8
    assert {int(name[1:]) % 2 for name in found.names} == {0, 1}
    with pytest.raises(ParameterError, match="nothing for a forest to predict"):
        om.select(om.make_ranker("relief"), copies, by="forest")


def test_few_labels():
    data, _ = regression(100, labelled=12)
    found = om.select(om.UnivariateRanker(), data, random_state=0)
    assert found.curve.n_folds == 3
    with pytest.raises(DataError, match="at least 6 labelled examples, there are 5"):
        om.select(om.UnivariateRanker(), regression(100, labelled=5)[0])
    with pytest.raises(DataError, match="at least 20 labelled examples"):
        om.select(om.UnivariateRanker(), data, n_folds=20)


def test_wrong_use():
    data, _ = regression(50)
    wrong = [("by", "guess"), ("sizes", [0]), ("sizes", [99]), ("n_neighbors", 0), ("measure", "f1_macro")]
    for name, value in (*wrong, ("n_folds", "x"), ("n_folds", [3]), ("n_folds", 1)):
        with pytest.raises(ParameterError, match=name):
            om.select(om.UnivariateRanker(), data, **{name: value})


# -- rankers ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ranker_keeps_what_select_keeps():
    data, relevant = regression()
    ranker = om.EnsembleRanker(n_trees=10, random_state=0, n_features_to_select="auto").fit(data.X, data.y)
    found = om.select(clone(ranker), data.X, data.y)
    assert set(ranker.get_feature_names_out()) == set(found.names)
    np.testing.assert_array_equal(ranker.selection_curve_.values, found.curve.values)
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.get_support(), ranker.get_support())
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    assert set(clone(ranker).fit_transform(frame, data.y).columns) == relevant
    ranker.set_params(n_features_to_select=2)
    assert ranker.get_support().sum() == 2
    assert not hasattr(ranker.fit(data), "selection_curve_")
    with pytest.raises(DataError, match="fit again"):
        ranker.set_params(n_features_to_select="auto").transform(data)
    with pytest.raises(ParameterError, match="'auto'"):
        om.UnivariateRanker(n_features_to_select="many").fit(data)


@pytest.mark.slow
def test_weights_count_in_the_rankings_of_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.where(np.arange(200) < 100, X[:, 0], X[:, 1])
    weight = np.where(np.arange(200) < 100, 1.0, 1e-6)
    ranker = om.EnsembleRanker(n_trees=10, random_state=0, n_features_to_select="auto")
    plain = clone(ranker).fit(X, y).selection_curve_
    weighted = clone(ranker).fit(X, y, sample_weight=weight).selection_curve_
    first = [i for i, size in enumerate(plain.sizes) if size == 2]
    assert weighted.values[:, first].mean() > plain.values[:, first].mean()
    zero = np.where(np.arange(200) < 100, 1.0, 0.0)
    np.testing.assert_array_equal(
        clone(ranker).fit(X, y, sample_weight=zero).selection_curve_.values,
        clone(ranker).fit(X[:100], y[:100], sample_weight=np.ones(100)).selection_curve_.values,
    )


def test_significant_features():
    data, relevant = regression()
    ranker = om.UnivariateRanker(n_features_to_select="significant", random_state=0)
    assert set(clone(ranker).fit(data).get_feature_names_out()) == relevant
    assert not hasattr(ranker, "selection_curve_")
    found = om.select(om.UnivariateRanker(), data, by="significance", random_state=0)
    assert set(found.names) == relevant
    assert found.curve is None
    assert found.summary == "3 of 12 features are significant"


def test_nothing_is_significant():
    rng = np.random.default_rng(0)
    noise = om.Dataset(rng.normal(size=(60, 4)), rng.normal(size=60))
    ranker = om.UnivariateRanker(n_features_to_select="significant", random_state=0)
    with pytest.warns(UserWarning, match="no feature is significant"):
        assert ranker.fit(noise).get_support().sum() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert om.select(om.UnivariateRanker(), noise, by="significance", random_state=0).names == ()


@pytest.mark.slow
def test_a_seed_holds_for_a_ranker_without_one():
    data, _ = regression()
    one, two = (om.select(om.EnsembleRanker(n_trees=5), data, random_state=0) for _ in range(2))
    assert one.ranking.scores.tolist() == two.ranking.scores.tolist()


@pytest.mark.slow
def test_redundancy_works_with_a_ranker_that_keeps_its_sums():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    x[:, 1] = x[:, 0] + rng.normal(0, 0.01, 60)
    ranker = om.EnsembleRanker(n_trees=10, random_state=0)
    selected = om.select(ranker, x, x[:, 0] + x[:, 2], redundancy=0.9, n_folds=3, random_state=0)
    assert len({"x0", "x1"} & set(selected.names)) == 1


def test_noise_is_no_better_than_a_constant():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 4)), rng.normal(size=60)
    curve = om.select(om.UnivariateRanker(), X, noise, random_state=0).curve
    assert abs(np.mean(curve.constant) - 1) < 0.1  # the mean of the training examples
    assert not curve.beats_constant
    assert curve.summary.startswith("no number of the 4 features predicts better than a constant: RRMSE ")
    related = om.select(om.UnivariateRanker(), X, X[:, 0] + noise, random_state=0)
    assert related.curve.beats_constant
    assert "suffice" in related.summary


def test_a_constant_without_target_and_by_a_forest():
    data = om.datasets.load_sample("iris")
    for ranker, part, by in (
        (om.LaplacianRanker(), om.Dataset(data.features), "neighbors"),
        (om.UnivariateRanker(), data, "forest"),
    ):
        curve = om.select(ranker, part, by=by, n_folds=2, random_state=0).curve
        assert curve.beats_constant
        assert len(curve.constant) == curve.n_folds


def test_a_selection_applies_to_what_was_given():
    polars = pytest.importorskip("polars")
    data, _ = regression()
    chosen = om.select(om.UnivariateRanker(), data, random_state=0)
    expected = chosen.apply(data)
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    for table in (frame, polars.from_pandas(frame)):
        kept = chosen.apply(table)
        assert type(kept) is type(table)
        assert list(kept.columns) == list(expected.feature_names)
        np.testing.assert_array_equal(np.asarray(kept), expected.X)
    np.testing.assert_array_equal(chosen.apply(data.X), expected.X)
