import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.core.ranking.comparison import compare_rankings, fuzzy_jaccard, jaccard_index, kuncheva_index
from omnirank.core.ranking.ranking import Ranking
from omnirank.errors import DataError, ParameterError
from reference import core_comparison as reference

# few distinct values, so that ties and zeros are common; and sizes that differ by many orders
values = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, 0.1, 1e-12, 1e12, 1e-300]) | st.floats(0, 1e6, width=32)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=12)


def ranking(scores, names=None):
    names = [f"x{i}" for i in range(len(scores))] if names is None else names
    return Ranking(names, scores, "genie3")


@given(pairs)
def test_fuzzy_jaccard_agrees_with_its_definition(pair):
    a, b = zip(*pair, strict=True)
    expected = [reference.fuji(a, b, j) for j in range(1, len(a) + 1)]
    np.testing.assert_allclose(fuzzy_jaccard(a, b), expected, rtol=1e-12)


@given(pairs)
def test_fuzzy_jaccard_is_symmetric_and_ends_at_one(pair):
    a, b = zip(*pair, strict=True)
    curve = fuzzy_jaccard(a, b)
    np.testing.assert_allclose(curve, fuzzy_jaccard(b, a), rtol=1e-12)
    assert curve[-1] == 1
    assert np.all((curve >= 0) & (curve <= 1 + 1e-12))
    assert np.all(fuzzy_jaccard(a, a) == 1)


def test_fuzzy_jaccard_of_the_worked_example():
    np.testing.assert_array_equal(fuzzy_jaccard([4, 2, 1], [3, 6, 3]), [0.5, 1, 1])


def test_fuzzy_jaccard_does_not_lose_small_scores_beside_huge_ones():
    # 1e20 leaves the sums at j = 2; a running sum with subtraction would have lost the 1 by then
    a, b = [1.0, 8.0, 4.0, 2.0], [2.0, 1.0, 1e20, 3.0]
    expected = [reference.fuji(a, b, j) for j in range(1, 5)]
    np.testing.assert_allclose(fuzzy_jaccard(a, b), expected, rtol=1e-12)


def test_fuzzy_jaccard_refuses_negative_scores_and_other_shapes():
    with pytest.raises(DataError, match="not negative"):
        fuzzy_jaccard([1, -1], [1, 1])
    with pytest.raises(DataError, match="shape"):
        fuzzy_jaccard([1, 2], [1])


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12))
def test_correlations_agree_with_their_definitions(pair):
    a, b = zip(*pair, strict=True)
    comparison = compare_rankings(ranking(a), ranking(b))
    np.testing.assert_allclose(comparison.kendall, reference.kendall_tau_b(a, b), atol=1e-12)
    np.testing.assert_allclose(comparison.spearman, reference.spearman(a, b), atol=1e-12)


@given(pairs, st.data())
def test_top_k_measures_agree_with_their_definitions(pair, data):
    a, b = zip(*pair, strict=True)
    n = len(a)
    k = data.draw(st.integers(1, n))
    comparison = compare_rankings(ranking(a), ranking(b), k=k)
    common = len(reference.top(a, k) & reference.top(b, k))
    assert comparison.jaccard == pytest.approx(common / (2 * k - common))
    expected = 1 if k == n else (common * n - k * k) / (k * (n - k))
    assert comparison.kuncheva == pytest.approx(expected)
    assert comparison.to_dict()["k"] == k


@given(pairs, st.randoms())
def test_rankings_are_aligned_by_name(pair, random):
    a, b = zip(*pair, strict=True)
    names = [f"x{i}" for i in range(len(a))]
    shuffled = list(range(len(a)))
    random.shuffle(shuffled)
    other = ranking([b[i] for i in shuffled], [names[i] for i in shuffled])
    straight, aligned = compare_rankings(ranking(a), ranking(b)), compare_rankings(ranking(a), other)
    np.testing.assert_array_equal(straight.fuji, aligned.fuji)
    np.testing.assert_equal(straight.to_dict(), aligned.to_dict())


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (4, 2), (5, 3), (9, 3), (10, 4), (100, 10)])
def test_default_k_is_the_square_root_rounded_up(n, k):
    a = ranking(np.arange(n))
    assert compare_rankings(a, a).k == k


def test_negative_scores_count_as_zero_in_the_fuzzy_index_only():
    a, b = ranking([2.0, -1.0, -2.0]), ranking([2.0, -2.0, -1.0])
    comparison = compare_rankings(a, b, k=2)
    np.testing.assert_array_equal(comparison.fuji, [1, 1, 1])
    assert comparison.jaccard == pytest.approx(1 / 3)
    assert comparison.spearman == pytest.approx(0.5)


def test_equal_scores_have_no_correlation():
    comparison = compare_rankings(ranking([1.0, 1.0, 1.0]), ranking([1.0, 2.0, 3.0]))
    assert math.isnan(comparison.spearman)
    assert math.isnan(comparison.kendall)


def test_different_features_are_named():
    with pytest.raises(DataError, match=r"1 only in the first \(such as 'b'\) and 2 only in the second"):
        compare_rankings(ranking([1, 2], ["a", "b"]), ranking([1, 2, 3], ["a", "c", "d"]))


@pytest.mark.parametrize("k", [0, 3, -1, 1.5, True, "2"])
def test_k_out_of_range_is_refused(k):
    with pytest.raises(ParameterError, match=r"k=.*: choose a whole number"):
        compare_rankings(ranking([1, 2]), ranking([1, 2]), k=k)


def test_set_measures():
    assert jaccard_index([], []) == 1
    assert kuncheva_index([1, 2], [1, 2], 10) == 1
    assert kuncheva_index([], [], 3) == 1
    assert kuncheva_index([0], [1], 4) == pytest.approx(-1 / 3)
    with pytest.raises(ParameterError, match="equal size"):
        kuncheva_index([1], [1, 2], 10)


@draws(5)
@given(st.integers(0, 2**32 - 1))
def test_kuncheva_of_random_sets_is_zero_on_average(seed):
    rng = np.random.default_rng(seed)
    draws = [kuncheva_index(rng.permutation(20)[:6].tolist(), rng.permutation(20)[:6].tolist(), 20) for _ in range(400)]
    assert abs(np.mean(draws)) < 0.06  # standard error of the mean is about 0.012


def test_compare_wants_rankings():
    with pytest.raises(
        TypeError, match="compare_rankings takes two Rankings, not list: a fitted ranker has one in ranking_"
    ):
        compare_rankings(ranking([1.0, 0.5]), [1.0, 0.5])
