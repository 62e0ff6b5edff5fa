"""How stable rankings of resamples are: indices of top sets and of whole orders, each with an interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
    >>> from omnirank.evaluation.stability_indices import top_k_index
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
    >>> from omnirank.evaluation.stability_indices import spearman_index
    >>> spearman_index(np.array([[1, 2, 3], [1, 2, 3], [1, 2, 3]])).value
    1.0
    """
    n_rankings, d = ranks.shape
    if d == 1:
        return Index(1.0, 1.0, 1.0)
    centred = ranks - (d + 1) / 2
    return _over_pairs(centred @ centred.T / (d * (d * d - 1) / 12), level, -1 / (n_rankings - 1))


def overlap_index(ranks: np.ndarray, persistence: float = 0.9, level: float = 0.9) -> Index:
    r"""Return the mean of the rank-biased overlap over all pairs of rankings; the top counts most.

    .. math:: \mathrm{RBO} = (1 - p) \sum_{j \geq 1} p^{j - 1} |T_j \cap T'_j| / j

    with :math:`T_j` the top j features, and the overlap 1 beyond the last feature [1]_. It lies between 0 and 1.

    Parameters
    ----------
    ranks, level
        As in `spearman_index`.
    persistence : float
        p: with 0.9, 65 % of the weight is on the first 5 features and 86 % on the first 10.

    References
    ----------
    .. [1] W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings. ACM Transactions on Information
       Systems 28 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability_indices import overlap_index
    >>> round(overlap_index(np.array([[1, 2], [2, 1], [1, 2]])).value, 3)  # 0.9, 0.9 and 1
    0.933
    """
    n_rankings, d = ranks.shape
    deepest = min(d, int(np.ceil(np.log(_NEGLIGIBLE) / np.log(persistence))))
    shown = ranks[:, (ranks <= deepest).any(axis=0)]
    pairs = np.zeros((n_rankings, n_rankings))
    weight = 1 - persistence
    for j in range(1, deepest + 1):
        top = (shown <= j).astype(np.float64)
        pairs += weight * (top @ top.T) / j
        weight *= persistence
    # what is left of the weights: beyond the last feature both tops are all features
    pairs += weight / (1 - persistence)
    return _over_pairs(pairs, level, 0.0)


# Weights of depths below which overlaps are taken as full: no rounding of the index shows them.
_NEGLIGIBLE = 1e-12


def _over_pairs(pairs: np.ndarray, level: float, least: float) -> Index:
    """The mean over pairs of different rankings, with the interval by the jackknife over rankings."""
    m = len(pairs)
    others = pairs.sum(axis=1) - np.diag(pairs)
    total = float(others.sum())
    without = (total - 2 * others) / ((m - 1) * (m - 2))
    error = np.sqrt((m - 1) / m * float(np.sum((without - without.mean()) ** 2)))
    return _index(total / (m * (m - 1)), error, level, least)


def _index(value: float, error: float, level: float, least: float) -> Index:
    from scipy.stats import norm

    width = float(norm.ppf((1 + level) / 2) * error)
    value = float(np.clip(value, least, 1.0))
    return Index(value, max(least, value - width), min(1.0, value + width))
