"""Tests that compare methods over data sets: Friedman, Nemenyi, Bonferroni-Dunn, Wilcoxon, and corrections for many.

Distributions come from scipy. Neither Friedman's nor Wilcoxon's test is corrected for ties unless asked, as in the
studies that these tests have to reproduce; scipy's functions always correct.

References
----------
J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006), for all tests
that compare methods.

Y. Benjamini, Y. Hochberg: Controlling the false discovery rate. Journal of the Royal Statistical Society B 57 (1995).
Y. Hochberg: A sharper Bonferroni procedure for multiple tests of significance. Biometrika 75 (1988).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.multiplicity import stepped_up
from omnirank.core.parameters import check, choice, number
from omnirank.core.types import ArrayLike
from omnirank.evaluation.statistics_ranks import method_ranks

_TIE_DECIMALS = 12
_CORRECTIONS = ("benjamini-hochberg", "hochberg")


# -- more than two methods ------------------------------------------------------------------------


@dataclass(frozen=True)
class FriedmanResult:
    """Outcome of Friedman's test.

    Parameters
    ----------
    chi2, chi2_p_value : float
        Friedman's statistic and its p value, chi-squared with k - 1 degrees of freedom.
    f, p_value : float
        The less conservative statistic of Iman and Davenport and its p value, F distributed with k - 1 and
        (k - 1)(N - 1) degrees of freedom; this is the one to use.
    n_datasets, n_methods : int
        N and k.
    """

    chi2: float
    chi2_p_value: float
    f: float
    p_value: float
    n_datasets: int
    n_methods: int


def friedman_test(table: pd.DataFrame, larger_is_better: bool = True, tie_correction: bool = False) -> FriedmanResult:
    """Test whether all methods perform alike.

    Parameters
    ----------
    table : DataFrame
        Performances: data sets as rows, methods as columns.
    larger_is_better : bool
        Direction of the measure.
    tie_correction : bool
        Divide the statistic by its largest value with the ties that there are, as scipy does.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import friedman_test
    >>> table = pd.DataFrame({"a": [9, 8, 9, 7], "b": [5, 6, 9.5, 4], "c": [1, 2, 3, 3]})
    >>> result = friedman_test(table)
    >>> round(result.chi2, 3), round(result.f, 3), round(result.p_value, 4)
    (6.5, 13.0, 0.0066)
    """
    ranks = method_ranks(table, larger_is_better).to_numpy()
    n_datasets, n_methods = ranks.shape
    correction = 1.0
    if tie_correction:
        sizes = [np.unique(row, return_counts=True)[1] for row in ranks]
        ties = sum(float((size**3 - size).sum()) for size in sizes)
        correction -= ties / (n_datasets * (n_methods**3 - n_methods))
    return _friedman(ranks.mean(axis=0), n_datasets, correction)


def friedman_from_ranks(ranks: ArrayLike, n_datasets: int) -> FriedmanResult:
    """Return Friedman's test from the average ranks of methods, as papers print them.

    Parameters
    ----------
    ranks : array-like
        Average rank of each method.
    n_datasets : int
        Number of data sets.

    Examples
    --------
    Four classifiers on fourteen data sets, the example of Demsar (2006):

    >>> from omnirank.evaluation.statistics import friedman_from_ranks
    >>> result = friedman_from_ranks([3.143, 2.000, 2.893, 1.964], 14)
    >>> round(result.chi2, 2), round(result.f, 2)
    (9.28, 3.69)
    """
    return _friedman(np.asarray(ranks, dtype=np.float64), n_datasets, 1.0)


def _friedman(ranks: np.ndarray, n: int, correction: float) -> FriedmanResult:
    from scipy import stats

    k = len(ranks)
    if k < 2:
        raise DataError("Friedman's test needs at least two methods")
    # All methods tied on every data set: there is no evidence against equality.
    chi2 = 12 * n / (k * (k + 1)) * float(((ranks - (k + 1) / 2) ** 2).sum()) / correction if correction > 0 else 0.0
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-12 * n * k else math.inf
    chi2_p_value = float(stats.chi2.sf(chi2, k - 1))
    if n == 1:  # a single data set leaves no degrees of freedom to F
        return FriedmanResult(chi2, chi2_p_value, math.nan, chi2_p_value, n, k)
    return FriedmanResult(chi2, chi2_p_value, f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))), n, k)


def nemenyi_distance(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the critical difference of average ranks in Nemenyi's test of all pairs of methods.

    CD = q sqrt(k (k + 1) / (6 N)), with q the quantile of the studentised range over sqrt 2.

    Parameters
    ----------
    n_methods, n_datasets : int
        k and N.
    alpha : float
        Level of significance.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import nemenyi_distance
    >>> round(nemenyi_distance(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - _checked_alpha(alpha), n_methods, np.inf)) / math.sqrt(2)
    return quantile * _standard_error(n_methods, n_datasets)


def bonferroni_dunn_distance(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the critical difference of average ranks when all methods are compared with one control only.

    Parameters
    ----------
    n_methods, n_datasets, alpha
        As in `nemenyi_distance`; the control is one of the methods.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import bonferroni_dunn_distance
    >>> round(bonferroni_dunn_distance(4, 14, alpha=0.1), 2)
    1.04
    """
    from scipy.stats import norm

    quantile = float(norm.isf(_checked_alpha(alpha) / (2 * (n_methods - 1))))
    return quantile * _standard_error(n_methods, n_datasets)


def nemenyi_p_values(ranks: pd.Series, n_datasets: int) -> pd.DataFrame:
    """Return the p values of Nemenyi's test for all pairs of methods.

    Parameters
    ----------
    ranks : Series
        Average rank of each method.
    n_datasets : int
        Number of data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import nemenyi_p_values
    >>> float(nemenyi_p_values(pd.Series({"a": 1.0, "b": 2.0}), 8).loc["a", "b"].round(4))
    0.0047
    """
    from scipy.stats import studentized_range

    values = ranks.to_numpy(dtype=np.float64)
    distance = np.abs(values[:, None] - values) / _standard_error(len(values), n_datasets)
    p_values = studentized_range.sf(distance * math.sqrt(2), len(values), np.inf)
    np.fill_diagonal(p_values, 1.0)
    return pd.DataFrame(np.clip(p_values, 0.0, 1.0), index=ranks.index, columns=ranks.index)


def _standard_error(n_methods: int, n_datasets: int) -> float:
    if n_methods < 2 or n_datasets < 1:
        raise ParameterError(f"{n_methods} methods on {n_datasets} data sets cannot be compared")
    return math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


def _checked_alpha(alpha: float) -> float:
    return float(check("alpha", alpha, number(above=0, below=1)))


# -- two methods ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class WilcoxonResult:
    """Outcome of Wilcoxon's signed-rank test.

    Parameters
    ----------
    first, second : float
        Sums of the ranks of differences in favour of larger values of the first and of the second method.
    z, p_value : float
        Normal statistic, and its two-sided p value.
    n : int
        Number of differences.
    """

    first: float
    second: float
    z: float
    p_value: float
    n: int


def wilcoxon_test(first: ArrayLike, second: ArrayLike, tie_correction: bool = False) -> WilcoxonResult:
    """Test whether two methods perform alike, from their performances on the same data sets.

    Zero differences are ranked and split evenly between both sides. Differences that agree to 1e-12 of the largest
    performance are ties. The p value is that of the normal approximation.

    Parameters
    ----------
    first, second : array-like
        Performances.
    tie_correction : bool
        Correct the variance for ties, as scipy does.

    Examples
    --------
    One method better on all of 24 data sets:

    >>> import numpy as np
    >>> from omnirank.evaluation.statistics import wilcoxon_test
    >>> f"{wilcoxon_test(np.arange(1, 25), np.zeros(24)).p_value:.2e}"
    '1.82e-05'
    """
    from scipy.stats import norm, rankdata

    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise DataError(f"performances of shapes {a.shape} and {b.shape} cannot be compared in pairs")
    # Differences of rounded numbers, such as 0.3 - 0.2 and 0.2 - 0.1, must tie.
    scale = max(float(np.abs(a).max()), float(np.abs(b).max())) or 1.0
    difference = np.round((a - b) / scale, _TIE_DECIMALS)
    if np.isnan(difference).any():
        raise DataError("a performance is missing: leave out its data set")
    n = len(difference)
    ranks = rankdata(np.abs(difference))
    zero = ranks[difference == 0].sum() / 2
    plus, minus = ranks[difference > 0].sum() + zero, ranks[difference < 0].sum() + zero
    variance = n * (n + 1) * (2 * n + 1) / 24
    if tie_correction:
        sizes = np.unique(ranks, return_counts=True)[1]
        variance -= float((sizes**3 - sizes).sum()) / 48
    z = (min(plus, minus) - n * (n + 1) / 4) / math.sqrt(variance) if variance > 0 else 0.0
    return WilcoxonResult(float(plus), float(minus), float(z), float(min(1.0, 2 * norm.sf(abs(z)))), n)


# -- many tests -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Correction:
    """Which of many hypotheses are rejected.

    Parameters
    ----------
    rejected : ndarray of bool
        One per hypothesis, in the order given.
    thresholds : ndarray
        What each p value is compared with.
    adjusted : ndarray
        Adjusted p values: a hypothesis is rejected at every level from this on.
    """

    rejected: np.ndarray
    thresholds: np.ndarray
    adjusted: np.ndarray


def correct_p_values(p_values: ArrayLike, alpha: float = 0.05, method: str = "benjamini-hochberg") -> Correction:
    """Decide on many hypotheses at once.

    Both methods step up: with p values in increasing order and i0 the last one that is at most its threshold, the
    first i0 hypotheses are rejected.

    Parameters
    ----------
    p_values : array-like
        One per hypothesis.
    alpha : float
        Level of significance.
    method : {"benjamini-hochberg", "hochberg"}
        Thresholds i alpha / t, which bound the share of false rejections, or alpha / (t + 1 - i), which bound the
        probability of any.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import correct_p_values
    >>> p_values = [0.0119, 0.00664, 0.2]
    >>> correct_p_values(p_values).rejected.tolist()
    [True, True, False]
    >>> correct_p_values(p_values, method="hochberg").thresholds.round(4).tolist()
    [0.025, 0.0167, 0.05]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or ((p < 0) | (p > 1) | np.isnan(p)).any():
        raise DataError("p values are a list of numbers from 0 to 1")
    check("method", method, choice(*_CORRECTIONS))
    t = len(p)
    place = np.arange(1, t + 1)
    factor = place / t if method == "benjamini-hochberg" else 1 / (t + 1 - place)
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= factor * _checked_alpha(alpha))
    n_rejected = below[-1] + 1 if len(below) else 0
    rejected, thresholds = np.zeros(t, dtype=bool), np.empty(t)
    rejected[order] = place <= n_rejected
    thresholds[order] = factor * alpha
    return Correction(rejected, thresholds, stepped_up(p, factor))
