"""Normal scores: the quantiles that the ranks of a column have in the normal distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri


def normal_scores(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the normal quantile of the share of the weight that is below each value, and half of that at it.

    A few large values decide neither mean nor variance of these scores. An example counts as its weight says, so that
    one of weight 2 is two, and one of weight 0 none.

    Parameters
    ----------
    values : ndarray (examples,)
        Numbers, all known.
    weight : ndarray (examples,)
        Weights of the examples.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.normal_scores import normal_scores
    >>> normal_scores(np.array([3.0, 1.0, 1e9, 1.0]), np.ones(4)).round(2).tolist()
    [0.32, -0.67, 1.15, -0.67]
    """
    _, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weight)
    below, above = ((np.cumsum(part) - part / 2) / mass.sum() for part in (mass, mass[::-1]))
    # from the nearer end: so far out, the share of the other one has no digits left
    at, least = above[::-1], np.finfo(np.float64).tiny
    return np.where(below <= at, ndtri(np.maximum(below, least)), -ndtri(np.maximum(at, least)))[place]
