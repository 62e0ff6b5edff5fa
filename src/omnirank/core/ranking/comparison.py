"""How much two rankings of the same features agree."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.immutable import frozen_floats, places_of_names
from omnirank.core.parameters import check, count
from omnirank.core.ranking.ranking import Ranking


@dataclass(frozen=True, eq=False)
class RankingComparison:
    """Agreement of two rankings, as `compare_rankings` returns it; 1 means that they agree fully.

    Parameters
    ----------
    n_features : int
        Number of features of each ranking.
    k : int
        Number of top features that ``jaccard`` and ``kuncheva`` look at.
    spearman, kendall : float
        Spearman's rho and Kendall's tau-b of the scores, from -1 to 1; NaN where all scores of a ranking are
        equal.
    jaccard : float
        Jaccard index of the two top-k sets, from 0 to 1.
    kuncheva : float
        Kuncheva's index of the two top-k sets: 0 is what chance gives.
    fuji : ndarray of shape (n_features,)
        Fuzzy Jaccard index FUJI(j) for j = 1, ..., n_features.
    fuji_area : float
        Area under that curve: the mean of FUJI(j) over j.
    """

    n_features: int
    k: int
    spearman: float
    kendall: float
    jaccard: float
    kuncheva: float
    fuji_area: float
    fuji: np.ndarray = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the single numbers, without the curve."""
        names = ("n_features", "k", "spearman", "kendall", "jaccard", "kuncheva", "fuji_area")
        return {name: getattr(self, name) for name in names}


def compare_rankings(a: Ranking, b: Ranking, k: int | None = None) -> RankingComparison:
    """Compare two rankings of the same features; constant features come last, whatever their scores are.

    Parameters
    ----------
    a, b : Ranking
        Rankings of the same feature names, in any order; tied features are taken in the order of ``a``.
    k : int, optional
        Number of top features to compare as sets; by default the square root of the number of features,
        rounded up.

    Returns
    -------
    RankingComparison
        Correlations of the scores and overlaps of the top features.

    Examples
    --------
    >>> from omnirank.core.ranking.comparison import compare_rankings
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> a = Ranking(["a", "b", "c"], [4.0, 2.0, 1.0], "genie3")
    >>> b = Ranking(["a", "b", "c"], [3.0, 6.0, 3.0], "relief")
    >>> comparison = compare_rankings(a, b, k=1)
    >>> comparison.fuji.tolist()
    [0.5, 1.0, 1.0]
    >>> comparison.jaccard, comparison.kuncheva, comparison.spearman
    (0.0, -0.5, 0.0)
    """
    from scipy.stats import kendalltau

    for ranking in (a, b):
        if not isinstance(ranking, Ranking):
            kind = type(ranking).__name__
            raise DataTypeError(f"compare_rankings takes two Rankings, not {kind}: a fitted ranker has one in ranking_")
    places = places_of_names(b.names, a.names, "the second ranking", "the first ranking")
    scores_a, scores_b = a.order_scores, b.order_scores[places]
    n = len(scores_a)
    k = math.isqrt(n - 1) + 1 if k is None else k
    check("k", k, count(1, n, "features"))
    top_a, top_b = (set(_order(scores)[:k].tolist()) for scores in (scores_a, scores_b))
    vary = all(scores.min() < scores.max() for scores in (scores_a, scores_b))
    curve = fuzzy_jaccard(np.maximum(scores_a, 0), np.maximum(scores_b, 0))
    return RankingComparison(
        n_features=n,
        k=int(k),
        spearman=_spearman(scores_a, scores_b) if vary else math.nan,
        kendall=float(kendalltau(scores_a, scores_b).statistic) if vary else math.nan,
        jaccard=jaccard_index(top_a, top_b),
        kuncheva=kuncheva_index(top_a, top_b, n),
        fuji_area=float(np.mean(curve)),
        fuji=curve,
    )


def jaccard_index(a: Collection[Any], b: Collection[Any]) -> float:
    """Return the number of elements in both sets over the number in any; 1 for two empty sets.

    Examples
    --------
    >>> from omnirank.core.ranking.comparison import jaccard_index
    >>> jaccard_index(["x", "y"], ["y", "z", "v"])
    0.25
    """
    either = len(set(a) | set(b))
    return len(set(a) & set(b)) / either if either else 1.0


def kuncheva_index(a: Collection[Any], b: Collection[Any], n_features: int) -> float:
    """Return Kuncheva's index of two equally large sets: their overlap, corrected for chance.

    For sets of k out of n features with r elements in common it is (r n - k^2) / (k (n - k)) [1]_; 1 when the sets
    are equal, about 0 when they are drawn at random. Where k is 0 or n the sets cannot differ, and the index
    is 1.

    References
    ----------
    .. [1] L. I. Kuncheva: A stability index for feature selection. Artificial Intelligence and Applications
       (2007).

    Examples
    --------
    >>> from omnirank.core.ranking.comparison import kuncheva_index
    >>> kuncheva_index(["x", "y"], ["y", "z"], n_features=4)
    0.0
    """
    first, second = set(a), set(b)
    k = len(first)
    if len(second) != k or n_features < len(first | second):
        raise ParameterError(f"Kuncheva's index needs sets of equal size, not {k} and {len(second)} of {n_features}")
    if k in (0, n_features):
        return 1.0
    return (len(first & second) * n_features - k**2) / (k * (n_features - k))


def fuzzy_jaccard(scores_a: Any, scores_b: Any) -> np.ndarray:
    """Return the fuzzy Jaccard index FUJI(j) of two rankings, for j = 1, ..., n_features.

    Let F_i(j) be the j best features of ranking i, and mu_i,j(x) = 1 for a feature x in F_i(j), otherwise its
    score over that of the j-th best feature (0/0 = 1). Then

        FUJI(j) = sum of min(mu_1,j, mu_2,j) / sum of max(mu_1,j, mu_2,j)      over F_1(j) and F_2(j) together

    so that a feature just outside the other ranking's top j costs little. FUJI(n_features) = 1.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_features,)
        Scores, not negative, of the same features in the same order; ties are taken in that order.

    Returns
    -------
    ndarray of shape (n_features,)
        FUJI(1), ..., FUJI(n_features).

    Notes
    -----
    The larger membership of a feature in either top set is 1, and the smaller one differs from 1 only for a
    feature in just one of the sets. So the curve needs, for each j, the sum of one ranking's scores over
    features inside the other's top j and outside its own. A binary indexed tree gives all of them in
    O(n log n) additions; it never subtracts, so scores of very different size do no harm.

    Examples
    --------
    >>> from omnirank.core.ranking.comparison import fuzzy_jaccard
    >>> fuzzy_jaccard([4.0, 2.0, 1.0], [3.0, 6.0, 3.0])
    array([0.5, 1. , 1. ])
    """
    first, second = (frozen_floats(scores, "scores") for scores in (scores_a, scores_b))
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise DataError(f"scores of shape {first.shape} cannot be compared with shape {second.shape}")
    if min(first.min(), second.min()) < 0:
        raise DataError("the fuzzy Jaccard index needs scores that are not negative")
    n = len(first)
    order_a, order_b = _order(first), _order(second)
    place_a, place_b = _places(order_a), _places(order_b)
    j = np.arange(1, n + 1)
    # a feature is in both top sets from the j at which it has entered the later of them
    both = np.cumsum(np.bincount(np.maximum(place_a, place_b), minlength=n))
    only_one = j - both
    overlap = both.astype(np.float64)
    for scores, order, other_order, place in ((first, order_a, order_b, place_a), (second, order_b, order_a, place_b)):
        outside = _sums_outside(scores[other_order], place[other_order])
        least = scores[order]
        overlap += np.divide(outside, least, out=only_one.astype(np.float64), where=least > 0)
    return overlap / (j + only_one)


def _sums_outside(scores: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return for j = 1, ..., n the sum of ``scores[i]`` over i < j with ``places[i]`` >= j."""
    n = len(scores)
    tree = [0.0] * (n + 1)  # node i: sum over the places n - i to n - i + (lowest bit of i) - 1
    sums = np.empty(n)
    for j, (score, place) in enumerate(zip(scores.tolist(), places.tolist(), strict=True), start=1):
        node = n - place
        while node <= n:
            tree[node] += score
            node += node & -node
        total = 0.0
        node = n - j
        while node:
            total += tree[node]
            node -= node & -node
        sums[j - 1] = total
    return sums


def _order(scores: np.ndarray) -> np.ndarray:
    return np.argsort(-scores, kind="stable")


def _places(order: np.ndarray) -> np.ndarray:
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    from scipy.stats import rankdata

    ranks_x, ranks_y = (rankdata(values) - (len(values) + 1) / 2 for values in (x, y))
    rho = ranks_x @ ranks_y / math.sqrt((ranks_x @ ranks_x) * (ranks_y @ ranks_y))
    return float(np.clip(rho, -1, 1))
