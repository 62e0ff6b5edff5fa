"""How sure a ranking is: which first features any number of further trees would keep, and p values of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.immutable import frozen_floats
from omnirank.core.parameters import check, choice, number
from omnirank.core.ranking.accumulators import ConfirmedMeans, MeanAccumulator
from omnirank.core.text import Shown, counted, top_of

if TYPE_CHECKING:
    from omnirank.core.ranking.ranking import Ranking


CONFIDENCE = 0.95
# The sentence is about the largest certain number up to this one, which people look at.
_LOOKED_AT = 20


@dataclass(frozen=True, repr=False)
class Certainty(Shown):
    """Numbers k for which the first k features are, as a set, the first k of a full run.

    A *full run* has infinitely many trees of the same kind, on the same data. It says nothing about other examples:
    :func:`omnirank.stability` does.

    Parameters
    ----------
    sizes : tuple of int
        The numbers k, ascending. All of them are right together with the given confidence.
    confidence : float
        Least probability that all of them are right.
    n_trees : int
        Number of trees.
    remark : str
        Why there are no more trees, where the user did not wish it so.

    Examples
    --------
    >>> from omnirank.core.ranking.certainty import Certainty
    >>> Certainty((1, 5), 0.95, 40).summary
    'More trees would not change the top 5 (95 % confident, 40 trees)'
    >>> Certainty((), 0.95, 20).summary
    'More trees could still change the top features (20 trees)'
    """

    sizes: tuple[int, ...]
    confidence: float
    n_trees: int
    remark: str = ""

    @property
    def size(self) -> int:
        """The number that the sentence is about: the largest up to 20, else the smallest; 0 where there is none."""
        looked_at = [k for k in self.sizes if k <= _LOOKED_AT]
        return max(looked_at) if looked_at else min(self.sizes, default=0)

    def __str__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """The result in words."""
        k, trees = self.size, counted(self.n_trees, "tree")
        if not k:
            sentence = f"More trees could still change the top features ({trees})"
        else:
            top = top_of(k)
            confident = f"{100 * self.confidence:g} % confident, {trees}"
            sentence = f"More trees would not change {top} ({confident})"
        return "; ".join(part for part in (sentence, self.remark) if part)


def replicates_of(ranking: Ranking) -> str:
    """Return over what the standard errors of a ranking are, in a word: they say nothing about other examples.

    Examples
    --------
    >>> from omnirank.core.ranking.certainty import replicates_of
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> replicates_of(Ranking(["a"], [1.0], "unbiased", parameters={"n_trees": 9}))
    'trees'
    """
    return "trees" if "n_trees" in ranking.parameters else "runs"


def certainty_of(ranking: Ranking, confidence: float = CONFIDENCE, remark: str = "") -> Certainty:
    """Return which first features of a ranking are those of a full run.

    Parameters
    ----------
    ranking : Ranking
        A ranking by the mean over trees, with what `Ranking.merge` needs.
    confidence : float
        Least probability that all numbers are right.
    remark : str
        What is added to the sentence.

    Notes
    -----
    Constant features come last in every run and are left out. `certain_sizes` has the formula.
    """
    check("confidence", confidence, number(above=0, below=1))
    if not isinstance(ranking.state, MeanAccumulator | ConfirmedMeans):
        raise DataError("it is not known how sure this ranking is: it is no mean over trees, or its sums were not kept")
    known = np.isfinite(ranking.order_scores)
    scores, errors = ranking.state.finish()
    n = ranking.state.count
    sizes = () if errors is None else certain_sizes(scores[known], errors[known], n, confidence)
    return Certainty(sizes, float(confidence), n, remark)


def certain_sizes(scores: np.ndarray, errors: np.ndarray, n: int, confidence: float = CONFIDENCE) -> tuple[int, ...]:
    r"""Return the numbers k for which the first k of the expected scores are the first k of their means, as sets.

    Parameters
    ----------
    scores, errors : ndarray (features,)
        Means over n replicates, and their standard errors.
    n : int
        Number of replicates.
    confidence : float
        Least probability that the sets are right for all the numbers returned.

    Notes
    -----
    With the scores :math:`x` in descending order and their standard errors :math:`s`, the number k is returned if

    .. math:: \min_{i \le k} (x_i - t s_i) > \max_{j > k} (x_j + t s_j) .

    That is :math:`x_i - x_j > t (s_i + s_j)` for all pairs across the border. The scores of a tree depend on each
    other, but the standard error of a difference is never larger than :math:`s_i + s_j`. If the set is wrong, one of
    the pairs is in the wrong order, and passed a test of Student's t in spite of it. There are D - 1 borders, for
    which Holm's correction is made: t is the upper :math:`\alpha / (D - 1 - r)` quantile with n - 1 degrees of freedom,
    where r borders have passed already, until no more do.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.ranking.certainty import certain_sizes
    >>> certain_sizes(np.array([0.1, 5.0, 4.8, 0.0]), np.array([0.1, 0.1, 0.1, 0.1]), n=50)
    (2,)
    """
    from scipy.special import stdtrit

    order = np.argsort(-scores, kind="stable")
    x, s = scores[order], errors[order]
    n_borders, passed = len(x) - 1, np.empty(0, np.intp)
    while len(passed) < n_borders:
        t = -stdtrit(n - 1, (1 - confidence) / (n_borders - len(passed)))
        lowest_above = np.minimum.accumulate(x - t * s)[:-1]
        highest_below = np.maximum.accumulate((x + t * s)[::-1])[::-1][1:]
        now = np.flatnonzero(lowest_above > highest_below)
        if len(now) == len(passed):
            break
        passed = now
    return tuple((passed + 1).tolist())


# -- p values --------------------------------------------------------------------------------------


# What rankings record of our own tests.
OUT_OF_BAG_TEST = "out-of-bag test"
COPIES_TEST = "permuted copies"
CORRECTIONS = {"fdr": "Benjamini-Hochberg", "family-wise": "Holm", "hochberg": "Hochberg", None: "not corrected"}
# The level of ``relevant`` in tables and files.
ALPHA = 0.05


def adjusted_p_values(p_values: Any, correction: str | None = "fdr") -> np.ndarray:
    """Return p values that can be compared with the error that is accepted for all tests together.

    With the m p values sorted, p_(1) <= ... <= p_(m), the adjusted ones are

        "fdr":          min over k >= j of p_(k) m / k                  [1]_
        "family-wise":  max over k <= j of p_(k) (m - k + 1)            [2]_
        "hochberg":     min over k >= j of p_(k) (m - k + 1)            [3]_

    and at most 1.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        P values of single tests.
    correction : {"fdr", "family-wise", "hochberg"} or None
        What ``adjusted <= alpha`` bounds: the expected share of false ones among the significant results, the
        probability of any false one (the third for independent tests only), or only that of each single one.

    References
    ----------
    .. [1] Benjamini, Hochberg: Controlling the false discovery rate. J. Royal Statistical Society B 57, 1995.
    .. [2] Holm: A simple sequentially rejective multiple test procedure. Scandinavian J. of Statistics 6, 1979.
    .. [3] Hochberg: A sharper Bonferroni procedure for multiple tests of significance. Biometrika 75, 1988.

    Examples
    --------
    >>> from omnirank.core.ranking.certainty import adjusted_p_values
    >>> adjusted_p_values([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.04, 0.04]
    >>> adjusted_p_values([0.01, 0.04, 0.03], "family-wise").tolist()
    [0.03, 0.06, 0.06]
    """
    check("correction", correction, choice(*CORRECTIONS))
    values = frozen_floats(p_values, "p values")
    if ((values < 0) | (values > 1)).any():
        raise DataError("p values are numbers from 0 to 1")
    m = len(values)
    if correction is None or not m:
        return values
    places, order = np.arange(1, m + 1), np.argsort(values, kind="stable")
    ascending, adjusted = values[order], np.empty(m)
    if correction == "family-wise":
        steps = np.maximum.accumulate(ascending * (m - places + 1))
    else:
        shares = places / m if correction == "fdr" else 1 / (m + 1 - places)
        steps = np.minimum.accumulate((ascending / shares)[::-1])[::-1]
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def p_value_columns(p_values: Any, p_given_others: Any = None) -> dict[str, np.ndarray]:
    """Return the columns that tables and files have of p values; none where there are no p values.

    ``p_value`` is that of the single test, ``p_adjusted`` the same corrected for the number of features (Benjamini and
    Hochberg), ``relevant`` tells whether ``p_adjusted`` is at most 0.05. Where there are p values given the other
    features, ``p_given_others`` has them, and ``adds`` tells whether they are at most 0.05 after the same correction.

    Examples
    --------
    >>> from omnirank.core.ranking.certainty import p_value_columns
    >>> {name: column.tolist() for name, column in p_value_columns([0.04, 0.01]).items()}
    {'p_value': [0.04, 0.01], 'p_adjusted': [0.04, 0.02], 'relevant': [True, True]}
    """
    if p_values is None:
        return {}
    adjusted = adjusted_p_values(p_values, "fdr")
    columns = {"p_value": np.asarray(p_values), "p_adjusted": adjusted, "relevant": adjusted <= ALPHA}
    if p_given_others is not None:
        columns["p_given_others"] = np.asarray(p_given_others)
        columns["adds"] = adjusted_p_values(p_given_others, "fdr") <= ALPHA
    return columns
