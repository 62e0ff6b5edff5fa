"""What an error of trees takes and what it returns."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np


class ErrorGrowth(NamedTuple):
    """An error of one tree on its out-of-bag rows, and how much it grows when each feature is permuted.

    For a measure that is larger for better predictions it is the value, and how much it falls.

    Attributes
    ----------
    before : float
        The error.
    growth : ndarray (features,)
        By how much it grows.
    target_before : ndarray (targets,) or None
        The same for single targets, where that is asked for.
    target_growth : ndarray (targets, features) or None
        By how much these grow.
    """

    before: float
    growth: np.ndarray
    target_before: np.ndarray | None = None
    target_growth: np.ndarray | None = None


class OutOfBag(NamedTuple):
    """A grown tree and the rows it has not seen, with the order in which their values are permuted."""

    grown: Any
    tests: Any
    order: Any


class ErrorMeasure(Protocol):
    """What is the same for all trees of a fit; picklable."""

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
