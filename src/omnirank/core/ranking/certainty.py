"""Which first features are certain: those that would come first with any number of further trees, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, number
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.core.ranking.ranking import Ranking

CONFIDENCE = 0.95
# The sentence is about the largest certain number up to this one, which people look at, and names some others.
_LOOKED_AT = 20
_TOLD = 3


@dataclass(frozen=True)
class Certainty:
    """Numbers k for which the first k features are, as a set, the first k of a full run.

    A *full run* has infinitely many trees of the same kind, on the same data: with as many examples per tree, too,
    where trees see some of them each (``max_samples``). It says nothing about other examples:
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
    n_examples : int or None
        Number of examples that each of them sees; None: all.

    Examples
    --------
    >>> from omnirank.core.ranking.certainty import Certainty
    >>> Certainty((1, 5), 0.95, 40).summary
    'the first 5 are the first 5 of a full run with 95 % confidence (40 trees); the same holds for the first alone'
    >>> Certainty((), 0.95, 20).summary
    'no first features are certain to be those of a full run with 95 % confidence (20 trees)'
    """

    sizes: tuple[int, ...]
    confidence: float
    n_trees: int
    remark: str = ""
    n_examples: int | None = None

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
        k, others = self.size, [k for k in self.sizes if k != self.size]
        said = "the first is the first" if k == 1 else f"the first {k} are the first {k}"
        said = said if k else "no first features are certain to be those"
        trees = counted(self.n_trees, "tree")
        if self.n_examples is not None:
            trees = f"{trees} of {self.n_examples} examples each"
        said = f"{said} of a full run with {100 * self.confidence:g} % confidence ({trees})"
        return "; ".join(part for part in (said, _so_are(others), self.remark) if part)


def _so_are(others: Sequence[int]) -> str:
    """The other numbers in words: the smallest, and how many more there are."""
    if not others:
        return ""
    if others == [1]:
        return "the same holds for the first alone"
    *most, last = [str(k) for k in others[:_TOLD]]
    more = f", and {len(others) - _TOLD} others" if len(others) > _TOLD else ""
    return f"the same holds for the first {', '.join(most)}{' and ' if most else ''}{last}{more}"


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
    if not isinstance(ranking.state, MeanAccumulator):
        raise DataError("it is not known how sure this ranking is: it is no mean over trees, or its sums were not kept")
    known = np.isfinite(ranking.order_scores)
    scores, errors = ranking.state.finish()
    n = ranking.state.count
    sizes = () if errors is None else certain_sizes(scores[known], errors[known], n, confidence)
    return Certainty(sizes, float(confidence), n, remark, ranking.parameters.get("max_samples"))


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
