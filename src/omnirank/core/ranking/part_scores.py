"""Scores beside a ranking: of the features for each single target, and of groups of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.immutable import frozen_floats, frozen_names
from omnirank.core.ranking.accumulators import Accumulator, check_finishes_to
from omnirank.core.text import counted

if TYPE_CHECKING:
    import pandas as pd


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
    >>> from omnirank.core.ranking.part_scores import TargetScores
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


def summed_by_group(
    names: Sequence[str], scores: np.ndarray, groups: Mapping[str, str], as_shares: bool = False
) -> pd.Series:
    """Return the sum of the scores over each group of features, largest first; see `Ranking.group_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.ranking.part_scores import summed_by_group
    >>> summed_by_group(["a", "b"], np.array([1.0, 2.0]), {"a": "body", "b": "body"}).to_dict()
    {'body': 3.0}
    """
    import pandas as pd

    missing = [name for name in names if name not in groups]
    if missing:
        raise DataError(f"no group for {counted(len(missing), 'feature')}, the first is {missing[0]!r}")
    sums: dict[str, float] = {}
    for name, score in zip(names, scores.tolist(), strict=True):
        sums[groups[name]] = sums.get(groups[name], 0.0) + (max(score, 0.0) if as_shares else score)
    total = sum(sums.values())
    if as_shares and total > 0:
        sums = {group: value / total for group, value in sums.items()}
    series = pd.Series(sums, name="share" if as_shares else "score", dtype=np.float64)
    return series.sort_values(ascending=False, kind="stable")
