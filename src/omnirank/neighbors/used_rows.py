"""Which rows of data in parts are used, and the ranges of their features."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.data.dataset import Dataset
from omnirank.neighbors.mixed_distances import Ranges
from omnirank.shards.dataset import ShardedDataset


@dataclass(frozen=True, eq=False)
class UsedRows:
    """Some rows of data in parts.

    Parameters
    ----------
    labelled_only : bool
        Whether rows without a known target are left out.
    without : ndarray of int
        Numbers of rows that are left out, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.neighbors.used_rows import UsedRows
    >>> data = om.Dataset([[1.0], [2.0], [3.0]], ["a", None, "b"])
    >>> UsedRows(labelled_only=True).mask(data, first=10).tolist()
    [True, False, True]
    >>> UsedRows(without=np.array([9, 12])).mask(data, first=10).tolist()
    [True, True, False]
    >>> UsedRows().are_all, UsedRows(labelled_only=True).are_all
    (True, False)
    """

    labelled_only: bool = False
    without: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def are_all(self) -> bool:
        """Whether no row is left out."""
        return not self.labelled_only and not len(self.without)

    def mask(self, block: Dataset, first: int) -> np.ndarray:
        """Return which rows of a block, whose first row has this number, are used."""
        used = block.labelled.copy() if self.labelled_only else np.ones(block.n_examples, bool)
        start, stop = np.searchsorted(self.without, [first, first + block.n_examples])
        used[self.without[start:stop] - first] = False
        return used


class FeatureFacts(NamedTuple):
    """Ranges of the numeric features, and whether a cell of a feature that has distances is missing."""

    ranges: Ranges
    some_missing: bool


def feature_facts(data: ShardedDataset, used: UsedRows, n_jobs: int | None = None) -> FeatureFacts:
    """Return the ranges of the used rows; where these are all rows, nothing is read.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    used : UsedRows
        The rows that count.
    n_jobs : int or None
        Number of workers.
    """
    summary = data.summary.loc[list(data.feature_names)]
    nominal = np.array([levels is not None for levels in data.feature_levels])
    low, high = (summary[name].to_numpy(np.float64)[~nominal] for name in ("low", "high"))
    missing = summary["missing"].to_numpy() > 0
    if not used.are_all:
        found = run_parallel(partial(_ends, data, used), range(data.n_shards), n_jobs)
        ends = np.array([part for part, _ in found if part is not None])
        low, high = np.fmin.reduce(ends[:, 0], axis=0), np.fmax.reduce(ends[:, 1], axis=0)
        missing = np.any([part for _, part in found], axis=0)
    has_distances = np.array([levels is None or len(levels) > 1 for levels in data.feature_levels])
    has_distances[~nominal] = ~np.isnan(low)
    # halves, as in `feature_ranges`
    return FeatureFacts(Ranges(low * 0.5, high * 0.5 - low * 0.5), bool((missing & has_distances).any()))


def _ends(data: ShardedDataset, used: UsedRows, part: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Smallest and largest number of the numeric features in a part, and where cells are missing."""
    found, first = None, int(data.source.starts[part])
    missing = np.zeros(data.n_features, bool)
    for table in data.tables([part]):
        block = data.dataset_of(table)
        mask = used.mask(block, first)
        first += block.n_examples
        if not mask.any():
            continue
        features = block.features.take(mask)
        ends = np.array([np.fmin.reduce(features.numeric, axis=0), np.fmax.reduce(features.numeric, axis=0)], float)
        found = ends if found is None else np.array([np.fmin(found[0], ends[0]), np.fmax(found[1], ends[1])])
        missing |= np.array(features.with_missing)
    return found, missing
