"""How sure a ranking is: resamples, intervals, indices, words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import omnirank as om
from omnirank.core.ranking.comparison import kuncheva_index
from omnirank.data.dataset import strata
from omnirank.data.resampling import resampled_rows
from omnirank.data.task_registry import TASKS
from omnirank.errors import ParameterError
from omnirank.evaluation.stability import Stability, spearman_index, top_k_index
from omnirank.testing import tiny_dataset


def made(ranks, level=0.9, k=1, order=None):
    ranks = np.array(ranks)
    order = np.argsort(ranks.mean(axis=0), kind="stable") if order is None else np.array(order)
    return Stability(tuple("abcdefghij"[: ranks.shape[1]]), ranks, order, level, k, "draws")


@st.composite
def many_ranks(draw):
    d = draw(st.integers(2, 7))
    return np.array(draw(st.lists(st.permutations(range(1, d + 1)), min_size=3, max_size=6)))


# -- indices, against their definitions ---------------------------------------------------------------------


@pytest.mark.slow
@given(many_ranks(), st.data())
def test_indices_are_means_over_pairs(ranks, data):
    n, d = ranks.shape
    k = data.draw(st.integers(1, d))
    tops = [set(np.flatnonzero(row <= k).tolist()) for row in ranks]
    kuncheva = np.mean([kuncheva_index(a, b, d) for a, b in combinations(tops, 2)])
    assert top_k_index(ranks, k).value == pytest.approx(kuncheva)
    assert spearman_index(ranks).value == pytest.approx(max(_plain_spearman(ranks), -1 / (n - 1)))


def nogueira(chosen, level):
    """The index and its variance as the paper has them, cell by cell, for sets of any size."""
    from scipy.stats import norm

    m, d = chosen.shape
    p = chosen.mean(axis=0)
    sizes = chosen.sum(axis=1)
    mean = sizes.mean()
    bottom = mean / d * (1 - mean / d)
    phi = 1 - np.mean(m / (m - 1) * p * (1 - p)) / bottom
    parts = []
    for i in range(m):
        inner = np.mean([chosen[i, f] * p[f] for f in range(d)]) - sizes[i] * mean / d**2
        inner += phi / 2 * (2 * mean * sizes[i] / d**2 - sizes[i] / d - mean / d + 1)
        parts.append(inner / bottom)
    variance = 4 / m**2 * sum((part - np.mean(parts)) ** 2 for part in parts)
    width = norm.ppf((1 + level) / 2) * np.sqrt(variance)
    return phi, max(phi - width, -1 / (m - 1)), min(phi + width, 1)


@pytest.mark.slow
@given(many_ranks(), st.data(), st.sampled_from([0.5, 0.9, 0.99]))
def test_interval_of_the_top_k_is_that_of_the_paper(ranks, data, level):
    k = data.draw(st.integers(1, ranks.shape[1] - 1))
    found = top_k_index(ranks, k, level)
    np.testing.assert_allclose(found, nogueira((ranks <= k).astype(float), level), atol=1e-12)


def _plain_spearman(ranks):
    return np.mean([spearmanr(a, b).statistic for a, b in combinations(ranks, 2)])


@pytest.mark.slow
@given(many_ranks(), st.sampled_from([0.5, 0.9]))
def test_interval_of_pairs_is_by_the_jackknife(ranks, level):
    from scipy.stats import norm

    m = len(ranks)
    found = spearman_index(ranks, level)
    without = [_plain_spearman(np.delete(ranks, i, axis=0)) for i in range(m)] if m > 3 else None
    if without is not None:
        error = np.sqrt((m - 1) / m * sum((value - np.mean(without)) ** 2 for value in without))
        width = norm.ppf((1 + level) / 2) * error
        assert found.lower == pytest.approx(max(-1 / (m - 1), found.value - width))
        assert found.upper == pytest.approx(min(1, found.value + width))


def test_equal_and_random_rankings():
    same = np.tile(np.arange(1, 9), (5, 1))
    for index in (top_k_index(same, 3), top_k_index(same, 8), spearman_index(same)):
        np.testing.assert_allclose(index, 1.0)
    assert spearman_index(np.ones((3, 1), int)).value == 1.0
    np.testing.assert_allclose(spearman_index(np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]])), [-0.5, -0.5, -0.5])
    rng = np.random.default_rng(0)
    noise = np.array([rng.permutation(30) + 1 for _ in range(200)])
    assert abs(top_k_index(noise, 5).value) < 0.02
    assert abs(spearman_index(noise).value) < 0.02


# -- intervals and words ------------------------------------------------------------------------------------


@pytest.mark.slow
@given(many_ranks(), st.sampled_from([0.5, 0.8, 0.9]))
def test_intervals_hold_their_share(ranks, level):
    found = made(ranks, level)
    for i, own in enumerate(ranks.T):
        inside = np.mean((own >= found.lower[i]) & (own <= found.upper[i]))
        assert inside >= level - 1e-12
        assert found.lower[i] in own
        assert found.upper[i] in own


@given(many_ranks(), st.sampled_from([0.5, 0.9]))
def test_certain_sets(ranks, level):
    found = made(ranks, level)
    n = ranks.shape[1]
    slow = [
        b
        for b in range(1, n + 1)
        if all(np.mean(ranks[:, i] <= b) >= level - 1e-12 for i in found.order[:b].tolist())
        and all(np.mean(ranks[:, i] > b) >= level - 1e-12 for i in found.order[b:].tolist())
    ]
    assert found.certain_sets == slow
    assert found.certain_sets[-1] == n


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([[1, 2, 3]] * 3, "all places are certain"),
        ([[1, 2, 3], [2, 3, 1], [3, 1, 2]], "no place is certain"),
        ([[1, 2, 3, 4], [1, 2, 4, 3], [1, 2, 4, 3]], "the first 2 are certain"),
        ([[1, 2, 3], [1, 3, 2], [1, 3, 2]], "the first is certain"),
        ([[1, 2, 3, 4, 5], [2, 1, 3, 5, 4], [2, 1, 3, 5, 4]], "no place is certain, the top 2, 3 as a whole"),
    ],
)
def test_words(ranks, words):
    assert made(ranks).summary == f"{words} (in all of draws)"
    assert made(ranks * 4).summary == f"{words} (90 %, draws)"


def test_the_last_place_is_not_certain_because_the_others_rarely_take_it():
    """Each feature is last in one resample of ten: nine of ten stay before the last place, but none is there."""
    ranks = [[(place + draw) % 10 + 1 for place in range(10)] for draw in range(10)]
    assert made(ranks).summary == "no place is certain (90 %, draws)"


def test_few_resamples_have_a_range_and_no_interval():
    ranks = np.array([[1, 2], [1, 2], [2, 1], [1, 2]])
    few = made(ranks.tolist())
    assert few.is_range
    assert (few.lower.tolist(), few.upper.tolist()) == ([1, 1], [2, 2])
    assert few.range_coverage == pytest.approx(0.6)
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(20_000, 5))
    inside = (drawn[:, 4] > drawn[:, :4].min(axis=1)) & (drawn[:, 4] < drawn[:, :4].max(axis=1))
    assert inside.mean() == pytest.approx(few.range_coverage, abs=0.01)
    many = made(ranks.tolist() * 5)
    assert not many.is_range
    assert many.lower.tolist() == [1, 1]


# -- resamples ----------------------------------------------------------------------------------------------


def test_true_features_are_certain_and_noise_is_not():
    data, truth = om.datasets.make_regression(300, n_relevant=3, n_irrelevant=9, random_state=1)
    found = om.stability(om.UnivariateRanker(), data, n_resamples=30, random_state=0)
    assert 3 in found.certain_sets
    assert found.certain_sets[found.certain_sets.index(3) + 1] > 8
    assert found.top_probability(3)[truth.relevant].min() > 0.95
    assert found.top_probability(3)[~truth.relevant].max() < 0.1
    assert (found.upper - found.lower)[~truth.relevant].mean() > 4
    frame = found.to_frame()
    assert set(frame["feature"][:3]) == {n for n, r in zip(data.feature_names, truth.relevant, strict=True) if r}
    assert frame.columns.tolist()[5:] == ["top_1", "top_2", "top_4", "top_8"]
    assert frame["rank"].tolist() == list(range(1, 13))


@pytest.mark.parametrize("share", [0.3, 0.5, None])
def test_resamples_are_of_examples_by_stratum(share):
    X = np.arange(60.0)[:, None]
    y = np.array(["a"] * 10 + ["b"] * 30 + [None] * 20, dtype=object)
    data = om.Dataset(X, y)
    part = data.take(resampled_rows(strata(data), share, np.random.default_rng(0)))
    sizes = [10, 30, 20] if share is None else [10 * share, 30 * share, 20 * share]
    rows = part.X[:, 0]
    counts = [np.sum((rows >= low) & (rows < high)) for low, high in ((0, 10), (10, 40), (40, 60))]
    np.testing.assert_allclose(counts, sizes, atol=1)
    assert (len(set(rows.tolist())) == len(rows)) == (share is not None)


@pytest.mark.every(2)
@pytest.mark.parametrize("task", TASKS)
def test_every_task(task):
    data = tiny_dataset(task)
    found = om.stability(om.EnsembleRanker(n_trees=5, random_state=0), data, n_resamples=4)
    assert found.ranks.shape == (4, 5)
    assert (np.sort(found.ranks, axis=1) == np.arange(1, 6)).all()


def test_order_is_that_of_a_ranking_of_the_same_data():
    data, _ = om.datasets.make_classification(60, n_relevant=2, n_irrelevant=4, labelled=40, random_state=0)
    ranker = om.UnivariateRanker().fit(data)
    assert om.stability(ranker, data, n_resamples=3, random_state=0).order.tolist() == ranker.ranking_.order.tolist()
    other = om.UnivariateRanker().fit(om.Dataset(-np.cumsum(data.X, axis=0), data.y))
    found = om.stability(other, data, n_resamples=3, random_state=0)
    assert found.order.tolist() == np.argsort(found.mean_ranks, kind="stable").tolist()


def test_arrays_and_hierarchies():
    data = tiny_dataset("hierarchical-multi-label")
    ranker = om.EnsembleRanker(n_trees=3, random_state=0, hierarchy=data.hierarchy, n_features_to_select="auto")
    found = om.stability(ranker, data.X, data.y, n_resamples=3)
    plain = om.stability(om.EnsembleRanker(n_trees=3, random_state=0), data, n_resamples=3)
    np.testing.assert_array_equal(found.ranks, plain.ranks)


def test_wrong_use():
    data = tiny_dataset("regression")
    for options in ({"n_resamples": 2}, {"resample": "jackknife"}, {"share": 1.0}, {"level": 0}, {"k": 9}):
        with pytest.raises(ParameterError):
            om.stability(om.UnivariateRanker(), data, **options)
