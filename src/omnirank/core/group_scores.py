"""Scores of groups of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.plurals import counted

if TYPE_CHECKING:
    import pandas as pd


def summed_by_group(
    names: Sequence[str], scores: np.ndarray, groups: Mapping[str, str], as_shares: bool = False
) -> pd.Series:
    """Return the sum of the scores over each group of features, largest first; see `Ranking.group_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.group_scores import summed_by_group
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
