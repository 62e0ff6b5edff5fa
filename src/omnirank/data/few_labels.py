"""Hiding labels at random, to see what a few of them are worth."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from omnirank.core.parameters import check, count, share
from omnirank.core.seeds import root_entropy
from omnirank.core.types import RandomState


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
    >>> from omnirank.data.few_labels import hidden_examples
    >>> len(hidden_examples(np.ones(10, bool), 3, random_state=0)), len(hidden_examples(np.ones(10, bool), 0.2))
    (7, 8)
    """
    n = int(labelled.sum())
    check("labelled", amount, count(0, n, "labelled examples") | share(above=0))
    kept = int(amount) if isinstance(amount, Integral) else max(1, round(float(amount) * n))
    order = np.random.default_rng(root_entropy(random_state)).permutation(np.flatnonzero(labelled))
    return np.sort(order[kept:])
