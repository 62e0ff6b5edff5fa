"""Scores of replicates that rank some of the features each: draws of features, and one score per feature in the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from omnirank.core.seeds import stream

AGGREGATES = ("mean", "rank-mean", "median")
# Draws of each feature that the number of iterations is for, and the probability to miss it in each tenth of them.
_TIMES, _MISSED = 10, 0.01


def automatic_iterations(share: float) -> int:
    """Return 10 ceil(log 0.01 / log(1 - share)): a tenth of them miss a feature with a probability of 1 %.

    Parameters
    ----------
    share : float
        Share of the features that each replicate ranks.

    Examples
    --------
    >>> from omnirank.rankers._replicates import automatic_iterations
    >>> automatic_iterations(0.1), automatic_iterations(1.0)
    (440, 10)
    """
    return _TIMES * (1 if share >= 1 else max(1, math.ceil(math.log(_MISSED) / math.log1p(-share))))


def feature_draws(n_features: int, size: int, n_iterations: int, entropy: int) -> list[np.ndarray]:
    """Return the features of each replicate, ascending.

    There are more replicates than asked for where features are left: each is in two of them at least (in one, if one
    replicate was asked for), so that it has a score and a standard error. The added ones draw from these first.

    Parameters
    ----------
    n_features, size : int
        Number of features, of all and of one replicate.
    n_iterations : int
        Number of replicates.
    entropy : int
        Seed; replicate i has the stream of key 2i.

    Examples
    --------
    >>> from omnirank.rankers._replicates import feature_draws
    >>> [len(draw) for draw in feature_draws(10, 3, 1, 0)]
    [3, 3, 3, 3]
    """
    draws: list[np.ndarray] = []
    counts = np.zeros(n_features, dtype=np.intp)
    least = min(2, n_iterations)
    while len(draws) < n_iterations or counts.min() < least:
        order = stream(entropy, 2 * len(draws)).permutation(n_features)
        if len(draws) >= n_iterations:
            order = order[np.argsort(counts[order] >= least, kind="stable")]
        draws.append(np.sort(order[:size]))
        counts[draws[-1]] += 1
    return draws


def joined_scores(
    draws: Sequence[np.ndarray], scores: Sequence[np.ndarray], n_features: int, aggregate: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return one score per feature over the replicates in which it is, and its standard error.

    Parameters
    ----------
    draws : sequence of ndarray
        Features of each replicate; each feature is in one of them at least.
    scores : sequence of ndarray
        Scores of these.
    n_features : int
        Number of all features.
    aggregate : {"mean", "rank-mean", "median"}
        Mean of the scores; mean of the places, from 0 for the last to 1 for the first of a replicate; or median.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers._replicates import joined_scores
    >>> draws = [np.array([0, 1]), np.array([0, 1])]
    >>> scores, errors = joined_scores(draws, [np.array([1.0, 0.0]), np.array([3.0, 0.0])], 2, "mean")
    >>> scores.tolist(), errors.tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """
    owner = np.concatenate(draws)
    values = np.concatenate([_places(own) for own in scores] if aggregate == "rank-mean" else list(scores))
    counts = np.bincount(owner, minlength=n_features)
    means = np.bincount(owner, values, minlength=n_features) / counts
    if aggregate == "median":
        order = np.lexsort((values, owner))
        ends = np.cumsum(counts)
        middle = values[order]
        joined = middle[ends - counts + (counts - 1) // 2] / 2 + middle[ends - counts + counts // 2] / 2
    else:
        joined = means
    if counts.min() < 2:
        return joined, None
    squares = np.bincount(owner, (values - means[owner]) ** 2, minlength=n_features)
    errors = np.sqrt(squares / (counts - 1) / counts)
    # the median of normal numbers varies by that factor more than their mean
    return joined, errors * (math.sqrt(math.pi / 2) if aggregate == "median" else 1.0)


def _places(scores: np.ndarray) -> np.ndarray:
    """Place of each score among all: 1 for the largest, 0 for the smallest; one score alone is in the middle."""
    if len(scores) == 1:
        return np.array([0.5])
    return np.asarray((rankdata(scores) - 1) / (len(scores) - 1))
