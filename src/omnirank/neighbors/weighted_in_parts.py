"""Nearest rows of a block to test examples, in a distance that weighs features by a ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.neighbors.in_parts import Candidates
from omnirank.neighbors.mixed_distances import Ranges
from omnirank.neighbors.used_rows import UsedRows
from omnirank.neighbors.weighted_knn import weighted_nearest


@dataclass(frozen=True, eq=False)
class WeightedSearch:
    """The search of `weighted_neighbors` for test examples, among the rows of one block after the other.

    Parameters
    ----------
    test : Table
        Features of the test examples, with the levels of the rows.
    weights : ndarray
        Weight of each feature.
    ranges : Ranges
        Ranges of all rows that may be neighbours.
    used : UsedRows
        Which rows these are.
    k : int
        Number of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.neighbors.mixed_distances import feature_ranges
    >>> from omnirank.neighbors.used_rows import UsedRows
    >>> from omnirank.neighbors.weighted_in_parts import WeightedSearch
    >>> data = om.Dataset([[0.0], [1.0], [3.0], [4.0]])
    >>> ranges = feature_ranges(data.features)
    >>> search = WeightedSearch(data.take([1]).features, np.ones(1), ranges, UsedRows(without=np.array([1])), 2)
    >>> near = search(data.take([0, 1, 2]), first=0)
    >>> near.places.tolist(), near.keys.tolist()
    ([0, 2], [0.0625, 0.25])
    """

    test: Table
    weights: np.ndarray
    ranges: Ranges
    used: UsedRows
    k: int

    @property
    def n_lists(self) -> int:
        """Number of lists: one for each test example."""
        return self.test.n_rows

    def __call__(self, block: Dataset, first: int) -> Candidates | None:
        """Return the k nearest rows of a block for each test example; their distances are the keys."""
        rows = np.flatnonzero(self.used.mask(block, first))
        if not len(rows):
            return None
        ids, keys = weighted_nearest(block.features.take(rows), self.test, self.weights, self.k, self.ranges)
        lists = np.repeat(np.arange(len(ids)), ids.shape[1])
        return Candidates(lists, rows[ids.ravel()], keys.ravel(), keys.ravel())
