"""Ranks of numbers."""

from __future__ import annotations

import numpy as np


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of numbers from 1 for the smallest; equal ones share the mean of theirs.

    What ``scipy.stats.rankdata`` gives, without the half second that the import of ``scipy.stats`` takes.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers without NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.tied_ranks import average_ranks
    >>> average_ranks(np.array([0.5, 2.0, 0.5, 1.0]))
    array([1.5, 4. , 1.5, 3. ])
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_first = np.ones(len(values), bool)
    is_first[1:] = ascending[1:] != ascending[:-1]
    starts = np.append(np.flatnonzero(is_first), len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((starts[:-1] + starts[1:] + 1) / 2, np.diff(starts))
    return ranks
