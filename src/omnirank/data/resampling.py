"""Random parts and resamples of the examples, in which each stratum has its share."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import check, count, share
from omnirank.core.seeds import root_entropy
from omnirank.core.types import RandomState


def part_size(n: int, share: float) -> int:
    """Return how many of n examples a share is, rounded down; at least one is in the part, and one is not.

    Examples
    --------
    >>> from omnirank.data.resampling import part_size
    >>> part_size(100, 0.29)
    29
    """
    # 0.29 * 100 = 28.999999999999996 means 29
    size = int(np.floor(share * n + 1e-9))
    if not 0 < size < n:
        raise ParameterError("share", share, f"of {n} examples, both parts need at least one example")
    return size


def random_part(strata: np.ndarray, size: int, random_state: RandomState = None) -> np.ndarray:
    """Return a mask of so many examples, drawn at random; each stratum has its share, up to one example.

    Parameters
    ----------
    strata : ndarray of shape (n_examples,)
        Number of the stratum of each example; all the same where there are none.
    size : int
        Number of examples in the part.
    random_state : None, int, RandomState or Generator
        The seed.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import random_part
    >>> chosen = random_part(np.array([0, 0, 1, 1, 1, 1]), 3, 0)
    >>> int(chosen[:2].sum()), int(chosen[2:].sum())
    (1, 2)
    """
    n = len(strata)
    rng = np.random.default_rng(root_entropy(random_state))
    order = rng.permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    # Every (n / size)-th example in this order, from a random start: a stratum is off by one at most.
    steps = (np.arange(n + 1) + rng.integers(n)) * size // n
    chosen = np.zeros(n, bool)
    chosen[order[np.diff(steps) > 0]] = True
    return chosen


def resampled_rows(
    strata: np.ndarray, share: float | None, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return the rows of a subsample (a share of the examples), or of a bootstrap sample, in ascending order.

    Parameters
    ----------
    strata : ndarray of shape (n_examples,)
        Number of the stratum of each example: each has its share in a subsample, and its size in a bootstrap sample.
    share : float or None
        Share of the examples in a subsample; None: a bootstrap sample.
    rng : Generator
        The random stream.
    groups : ndarray of shape (n_examples,), optional
        Number of the group of each example: whole groups are drawn, by the stratum of their first example.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import resampled_rows
    >>> classes = np.array([0, 0, 1, 1, 1, 1])
    >>> [classes[resampled_rows(classes, share, np.random.default_rng(0))].tolist() for share in (0.5, None)]
    [[0, 1, 1], [0, 0, 1, 1, 1, 1]]
    """
    if groups is not None:
        drawn = resampled_rows(strata[first_rows(groups)], share, rng)
        return np.repeat(np.arange(len(groups)), np.bincount(drawn, minlength=groups.max() + 1)[groups])
    if share is not None:
        return np.flatnonzero(random_part(strata, part_size(len(strata), share), rng))
    rows = [rng.choice(own, len(own)) for own in (np.flatnonzero(strata == value) for value in np.unique(strata))]
    return np.sort(np.concatenate(rows))


def first_rows(groups: np.ndarray) -> np.ndarray:
    """Return the first row of each group.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import first_rows
    >>> first_rows(np.array([0, 1, 0, 2])).tolist()
    [0, 1, 3]
    """
    return np.asarray(np.unique(groups, return_index=True)[1])


def hidden_examples(labelled: np.ndarray, amount: Any, random_state: RandomState = None) -> np.ndarray:
    """Return the row numbers of the labelled examples that lose their label when ``amount`` of them keep it.

    With the same seed, examples that keep their label at a smaller amount also keep it at a larger one.

    Parameters
    ----------
    labelled : ndarray of bool
        Which examples are labelled.
    amount : int or float
        How many of these, or which share of these, keep their label.
    random_state : None, int, RandomState or Generator
        The seed.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import hidden_examples
    >>> len(hidden_examples(np.ones(10, bool), 3, random_state=0)), len(hidden_examples(np.ones(10, bool), 0.2))
    (7, 8)
    """
    n = int(labelled.sum())
    check("labelled", amount, count(0, n, "labelled examples") | share(above=0))
    kept = int(amount) if isinstance(amount, Integral) else max(1, round(float(amount) * n))
    order = np.random.default_rng(root_entropy(random_state)).permutation(np.flatnonzero(labelled))
    return np.sort(order[kept:])
