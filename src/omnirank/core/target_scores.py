"""Scores of the features for each single target, beside a ranking for all targets together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.accumulators import Accumulator, check_finishes_to
from omnirank.core.errors import DataError
from omnirank.core.immutable import frozen_floats, frozen_names
from omnirank.core.plurals import counted


@dataclass(frozen=True, eq=False)
class TargetScores:
    """Scores of the features for each single target.

    Parameters
    ----------
    names : sequence of str
        Target names.
    scores : array-like of shape (n_targets, n_features)
        Finite scores, features in the order of the ranking; kept as read-only float64.
    state : Accumulator or None
        The accumulator that gave the scores; without it the ranking cannot be merged.

    Examples
    --------
    >>> from omnirank.core.target_scores import TargetScores
    >>> TargetScores(("power", "cost"), [[1.0, 0.0], [0.5, 0.5]]).scores.shape
    (2, 2)
    """

    names: tuple[str, ...]
    scores: np.ndarray
    state: Accumulator | None = None

    def __post_init__(self) -> None:
        names = frozen_names(self.names, "target")
        scores = frozen_floats(self.scores, "per-target scores")
        if scores.ndim != 2 or len(scores) != len(names):
            raise DataError(f"per-target scores of shape {scores.shape} for {counted(len(names), 'target')}")
        check_finishes_to(self.state, scores)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "scores", scores)

    @classmethod
    def from_state(cls, names: tuple[str, ...], state: Accumulator) -> TargetScores:
        """Return the scores of an accumulator of shape (n_targets, n_features)."""
        return cls(names, state.finish()[0], state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TargetScores):
            return NotImplemented
        same_scores = np.array_equal(self.scores, other.scores)
        return self.names == other.names and same_scores and self.state == other.state

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: arrays come back from a pickle writeable
        return TargetScores, (self.names, self.scores, self.state)
