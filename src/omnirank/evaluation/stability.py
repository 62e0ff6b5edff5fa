"""How sure a ranking is: the same method on resamples of the examples, `omnirank.stability`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.parameters import check, choice, count, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import Shown
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset, strata
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.resampling import resampled_rows
from omnirank.evaluation.cross import top_sizes
from omnirank.rankers.refits import ranker_and_data, ranking_of_part, reseeded, run_refits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


RESAMPLES = ("subsample", "bootstrap")
# Keeps the streams of resamples apart from those of trees.
_RESAMPLES_KEY = 2**31 + 3


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Shown, PickledWithoutCaches):
    """Ranks of features over resamples of the examples.

    Parameters
    ----------
    names : tuple of str
        The features, in the order of the data.
    ranks : ndarray of int of shape (n_resamples, n_features)
        Rank of each feature (1 = best) in each resample; features of equal scores in random order.
    order : ndarray of int
        The features from best to worst: in the ranking of all examples where there is one, else by mean rank.
    level : float
        Level of the intervals, and the probability from which a place counts as certain.
    k : int
        Number of top features that the indices look at.
    drawn : str
        How the resamples were drawn, in words.
    n_equal : int
        Number of resamples in which all features have the same score; their ranks are random there.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability import Stability
    >>> ranks = np.array([[1, 2, 3, 4], [1, 3, 2, 4], [1, 3, 2, 4]])
    >>> found = Stability(("a", "b", "c", "d"), ranks, np.array([0, 2, 1, 3]), 0.9, 1, "3 subsamples")
    >>> found.summary
    'the first is certain, the top 3 as a whole (in all of 3 subsamples)'
    >>> found.lower.tolist(), found.upper.tolist()
    ([1, 2, 2, 4], [1, 3, 3, 4])
    """

    names: tuple[str, ...]
    ranks: np.ndarray
    order: np.ndarray
    level: float
    k: int
    drawn: str
    n_equal: int = 0

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.ranks)

    @property
    def mean_ranks(self) -> np.ndarray:
        """Mean rank of each feature."""
        return self.ranks.mean(axis=0)

    @property
    def lower(self) -> np.ndarray:
        """Lower end of the interval of each feature's rank: with `upper`, at least `level` of the resamples inside."""
        return self._quantile((1 - self.level) / 2)

    @property
    def upper(self) -> np.ndarray:
        """Upper end of the interval of each feature's rank."""
        return self._quantile((1 + self.level) / 2)

    @property
    def is_range(self) -> bool:
        """Whether `lower` and `upper` are the smallest and the largest rank: so few resamples have no inner ones."""
        return self._n_outside < 2

    @property
    def _n_outside(self) -> float:
        """Number of resamples that an interval of the level may leave out, at both ends together."""
        return round(self.n_resamples * (1 - self.level), 9)

    @property
    def range_coverage(self) -> float:
        """Probability that the rank in one more resample lies between the smallest and the largest of the n there are.

        Of n + 1 values in random order the last is neither the smallest nor the largest with probability
        (n - 1) / (n + 1): 0.6 for 4 resamples, 0.9 from 19 on.
        """
        return (self.n_resamples - 1) / (self.n_resamples + 1)

    def top_probability(self, k: int) -> np.ndarray:
        """Return the share of resamples in which each feature is among the top k."""
        check("k", k, count(1, len(self.names), "features"))
        return (self.ranks <= k).mean(axis=0)

    @cached_property
    def indices(self) -> dict[str, Index]:
        """Stability in one number, with its interval, which tells whether there were enough resamples.

        "top_k": the index of Nogueira et al. of the top k, which is the mean of Kuncheva's index, 0 for random sets;
        "spearman": of all ranks.
        """
        return {
            "top_k": top_k_index(self.ranks, self.k, self.level),
            "spearman": spearman_index(self.ranks, self.level),
        }

    @cached_property
    def certain_sets(self) -> list[int]:
        """Numbers b such that each of the first b features is among the top b, and no other one.

        Each of the first b has a rank of at most b, and each other feature a larger one, with a probability of `level`
        at least. Without the second half the last place would be certain if each other feature were rarely there.
        """
        n = len(self.names)
        reach = np.maximum.accumulate(self._quantile(self.level)[self.order])
        beyond = np.sort(self.ranks, axis=0)[int(self._n_outside)][self.order]
        # the best of the features after each place; none comes after the last
        following = np.append(np.minimum.accumulate(beyond[::-1])[::-1][1:], n + 1)
        places = np.arange(1, n + 1)
        return places[(reach <= places) & (following > places)].tolist()

    def __str__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """One line in words: which places are certain."""
        places = "all scores are equal" if self.n_equal == self.n_resamples else self._places()
        some = f", {self.n_equal} of them with equal scores only" if 0 < self.n_equal < self.n_resamples else ""
        sure = f"{100 * self.level:g} %, " if self._n_outside >= 1 else "in all of "
        return f"{places} ({sure}{self.drawn}{some})"

    def _places(self) -> str:
        sets, n = self.certain_sets, len(self.names)
        fixed = next((b for b, place in enumerate(sets) if place != b + 1), n)
        if fixed in (0, n):
            places = "all places are certain" if fixed else "no place is certain"
        else:
            places = "the first is certain" if fixed == 1 else f"the first {fixed} are certain"
        wholes = [str(place) for place in sets if fixed < place < n]
        return places + (f", the top {', '.join(wholes)} as a whole" if wholes else "")

    def to_frame(self) -> pd.DataFrame:
        """Return a table, best first: rank, feature, mean_rank, lower, upper, and top_1, top_2, top_4, ...

        The columns ``top_k`` are the probabilities of being among the top k.
        """
        import pandas as pd

        order = self.order
        columns: dict[str, Any] = {
            "rank": np.arange(1, len(order) + 1),
            "feature": [self.names[i] for i in order],
            "mean_rank": self.mean_ranks[order],
            "lower": self.lower[order],
            "upper": self.upper[order],
        }
        sizes = [k for k in top_sizes(len(order)) if k < len(order)]
        return pd.DataFrame(columns | {f"top_{k}": self.top_probability(k)[order] for k in sizes})

    def plot(self, ax: Axes | None = None, k: int = 20) -> Axes:
        """Draw the intervals of the ranks of the first k features; see `omnirank.plots.plot_rank_intervals`."""
        from omnirank.plots.ranking import plot_rank_intervals

        return plot_rank_intervals(self, ax=ax, k=k)

    def _quantile(self, q: float) -> np.ndarray:
        """The smallest rank that a share q of the resamples does not exceed."""
        return np.quantile(self.ranks, q, axis=0, method="inverted_cdf").astype(np.int64)


def stability(
    ranker: BaseEstimator,
    X: FeaturesLike,
    y: TargetLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_resamples: int = 50,
    resample: str = "subsample",
    share: float = 0.5,
    level: float = 0.9,
    k: int | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Stability:
    """Return how much the ranks of features change if the examples change.

    Standard errors over trees say how many trees are enough; they say nothing about the examples. Here the features are
    ranked anew for resamples of the examples.

    Parameters
    ----------
    ranker : ranker
        Copies of it are fitted, with seeds of their own. If it is fitted to these data, its ranking gives the order of
        the features.
    X, y
        A `Dataset`, or features and target as in ``fit``.
    sample_weight : array-like of shape (n_examples,), optional
        Weights of the examples, for rankers that take them.
    groups : array-like of shape (n_examples,), optional
        Groups of examples that are drawn together, as in :meth:`Dataset.with_groups`: repeated measurements.
    n_resamples : int
        Number of resamples, at least 3; so many fits are made, at most two at a time.
    resample : {"subsample", "bootstrap"}
        Parts of the examples, drawn without replacement; or as many examples as there are, drawn with replacement.
        Either way classes, and labelled and unlabelled examples, have their shares.
    share : float
        Share of the examples in a subsample. Halves vary as much as whole samples do: for a mean, the variance over
        random halves of n examples is that over samples of n examples.
    level : float
        Level of the intervals.
    k : int, optional
        Number of top features that the indices look at; by default the square root of the number of features,
        rounded up.
    random_state : None, int, RandomState or Generator
        Seed; None: that of the ranker.
    n_jobs : int or None
        Number of workers; None: that of the ranker. Changes no bit.

    Returns
    -------
    Stability
        Intervals of ranks, probabilities of being among the top k, indices, and one line in words.

    Notes
    -----
    Examples of a group (`Dataset.groups`: copies of each other, by default) are drawn together.

    A bootstrap sample has examples twice. These are each other's nearest neighbours, in Relief and all methods with
    neighbours, so that the scores of such samples are not like those of other data. Hence subsamples are the default.
    Rankings of half of the examples are less sure than that of all,
    so that the intervals are rather too wide than too narrow.

    References
    ----------
    N. Meinshausen, P. Buehlmann: Stability selection. Journal of the Royal Statistical Society B 72 (2010), for halves.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_regression(200, n_relevant=2, n_irrelevant=8, random_state=1)
    >>> found = om.stability(om.UnivariateRanker().fit(data), data, random_state=0)
    >>> found.summary
    'the first 2 are certain (90 %, 50 subsamples of 50 % of the examples)'
    >>> found.to_frame()[["feature", "mean_rank", "lower", "upper", "top_2"]].head(2)
      feature  mean_rank  lower  upper  top_2
    0      x5        1.0      1      1    1.0
    1      x6        2.0      2      2    1.0
    """
    check("n_resamples", n_resamples, count(3))
    check("resample", resample, choice(*RESAMPLES))
    check("share", share, number(above=0, below=1))
    check("level", level, number(above=0, below=1))
    copy, dataset = ranker_and_data(ranker, X, y, groups, sample_weight)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, dataset.n_examples)
    n = dataset.n_features
    check("k", k, choice(None) | count(1, n, "features"))
    given = getattr(copy, "random_state", None) if random_state is None else random_state
    entropy = root_entropy(stream(root_entropy(given), _RESAMPLES_KEY))
    ranked = _Resampled(dataset, entropy, share if resample == "subsample" else None, weights)
    resamples = run_refits(ranked, copy, range(n_resamples), n_jobs, "ranking resamples")
    ranks = np.array([ranks for ranks, _ in resamples], dtype=np.int32)
    part = f" of {100 * share:g} % of the examples" if resample == "subsample" else ""
    return Stability(
        names=dataset.feature_names,
        ranks=ranks,
        order=_order(getattr(ranker, "ranking_", None), dataset, ranks),
        level=float(level),
        k=math.isqrt(n - 1) + 1 if k is None else int(k),
        drawn=f"{n_resamples} {resample if part else 'bootstrap sample'}s{part}",
        n_equal=sum(equal for _, equal in resamples),
    )


def _order(ranking: Ranking | None, dataset: Dataset, ranks: np.ndarray) -> np.ndarray:
    if ranking is not None:
        # supervised rankers leave unlabelled examples out
        labelled = dataset if dataset.labelled.all() else dataset.take(dataset.labelled)
        if ranking.fingerprint in (dataset.fingerprint, labelled.fingerprint):
            return ranking.order
    return np.argsort(ranks.mean(axis=0), kind="stable")


@dataclass(frozen=True, eq=False)
class _Resampled:
    """Ranks the features on a resample: their ranks, equal scores in random order, and whether all are equal."""

    dataset: Dataset
    entropy: int
    share: float | None
    sample_weight: np.ndarray | None

    def __call__(self, ranker: Any, i: int) -> tuple[np.ndarray, bool]:
        rng = stream(self.entropy, i)
        rows = resampled_rows(strata(self.dataset), self.share, rng, self.dataset.groups)
        weights = {} if self.sample_weight is None else {"sample_weight": self.sample_weight[rows]}
        part = self.dataset.take(rows)
        scores = ranking_of_part(reseeded(ranker, rng), part, self.dataset, **weights).order_scores
        return drawn_ranks(scores, rng), bool((scores == scores[0]).all())


def drawn_ranks(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the ranks of scores (1 = largest); equal ones get theirs at random.

    In the order of the data, equal scores would seem to have places of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability import drawn_ranks
    >>> drawn_ranks(np.array([0.1, 0.7, 0.2]), np.random.default_rng(0)).tolist()
    [3, 1, 2]
    """
    order = rng.permutation(len(scores))
    order = order[np.argsort(-scores[order], kind="stable")]
    ranks = np.empty(len(scores), np.int32)
    ranks[order] = np.arange(1, len(scores) + 1)
    return ranks


class Index(NamedTuple):
    """An index of stability, 1 where all rankings are the same, with the ends of its confidence interval."""

    value: float
    lower: float
    upper: float


def top_k_index(ranks: np.ndarray, k: int, level: float = 0.9) -> Index:
    r"""Return the stability of the top k, corrected for chance: the index of Nogueira, Sechidis and Brown.

    .. math:: \Phi = 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M - 1} p_f (1 - p_f)}{\frac{k}{d} (1 - \frac{k}{d})}

    where :math:`p_f` is the share of the M rankings that have feature f among the top k of d features. As all top sets
    have the same size, it is the mean of Kuncheva's index over all pairs of rankings. It is 1 where all top sets are
    equal, about 0 where they are drawn at random, and never below -1/(M - 1); where k is d, it is 1. The interval is
    the asymptotic one of the paper [1]_, for rankings that are independent of each other.

    Parameters
    ----------
    ranks : ndarray of int of shape (M, d)
        Rank of each feature (1 = best) in each ranking.
    k : int
        Number of top features.
    level : float
        Level of the interval.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis, G. Brown: On the stability of feature selection algorithms. Journal of Machine
       Learning Research 18 (174), 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability import top_k_index
    >>> found = top_k_index(np.array([[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4]]), 2)
    >>> [round(end, 3) for end in found]
    [0.333, 0.035, 0.632]
    """
    n_rankings, d = ranks.shape
    if k == d:
        return Index(1.0, 1.0, 1.0)
    chosen = (ranks <= k).astype(np.float64)
    p = chosen.mean(axis=0)
    spread = k / d * (1 - k / d)
    value = 1 - n_rankings / (n_rankings - 1) * float(np.mean(p * (1 - p))) / spread
    # what single rankings add to the index; the terms that sets of the same size share do not vary
    parts = chosen @ p / d / spread
    variance = 4 / n_rankings**2 * float(np.sum((parts - parts.mean()) ** 2))
    return _index(value, np.sqrt(variance), level, -1 / (n_rankings - 1))


def spearman_index(ranks: np.ndarray, level: float = 0.9) -> Index:
    """Return the mean of Spearman's correlation over all pairs of rankings; all features count, also those of noise.

    Parameters
    ----------
    ranks, level
        As in `top_k_index`; the interval is by the jackknife over rankings.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability import spearman_index
    >>> spearman_index(np.array([[1, 2, 3], [1, 2, 3], [1, 2, 3]])).value
    1.0
    """
    n_rankings, d = ranks.shape
    if d == 1:
        return Index(1.0, 1.0, 1.0)
    centred = ranks - (d + 1) / 2
    pairs = centred @ centred.T / (d * (d * d - 1) / 12)
    sums = pairs.sum(axis=1) - np.diag(pairs)
    total, m = float(sums.sum()), n_rankings
    without = (total - 2 * sums) / ((m - 1) * (m - 2))
    error = np.sqrt((m - 1) / m * float(np.sum((without - without.mean()) ** 2)))
    return _index(total / (m * (m - 1)), error, level, -1 / (m - 1))


def _index(value: float, error: float, level: float, least: float) -> Index:
    from scipy.stats import norm

    width = float(norm.ppf((1 + level) / 2) * error)
    value = float(np.clip(value, least, 1.0))
    return Index(value, max(least, value - width), min(1.0, value + width))
