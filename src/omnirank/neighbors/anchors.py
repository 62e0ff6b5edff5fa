"""Nearest rows of a block to examples that are held in memory, in the distance of Relief."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.data.dataset import Dataset
from omnirank.neighbors.in_parts import Candidates
from omnirank.neighbors.mixed_distances import Cells, Ranges, table_cells
from omnirank.neighbors.search import NeighborSearch
from omnirank.neighbors.used_rows import UsedRows


@dataclass(frozen=True, eq=False)
class AnchorSearch:
    """The search of `NeighborSearch` for anchors, among the rows of one block after the other.

    Parameters
    ----------
    anchors : Cells
        The examples whose neighbours are sought.
    numbers : ndarray of int
        Their numbers among all rows: none is its own neighbour.
    ranges : Ranges
        Scale of the numbers.
    used : UsedRows
        Which rows may be neighbours.
    k : int
        Number of neighbours in each group.
    group_of : ndarray of int, optional
        Group of each class of the first target, -1 where no example has it; by default all rows are one group.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.neighbors.anchors import AnchorSearch
    >>> from omnirank.neighbors.mixed_distances import feature_ranges, table_cells
    >>> from omnirank.neighbors.used_rows import UsedRows
    >>> data = om.Dataset([[0.0], [1.0], [3.0], [4.0]])
    >>> ranges = feature_ranges(data.features)
    >>> anchors = table_cells(data.take([0]).features, ranges)
    >>> near = AnchorSearch(anchors, np.array([0]), ranges, UsedRows(), 2)(data.take([0, 1, 2]), first=0)
    >>> near.places.tolist(), near.distances.tolist()
    ([1, 2], [0.25, 0.75])
    """

    anchors: Cells
    numbers: np.ndarray
    ranges: Ranges
    used: UsedRows
    k: int
    group_of: np.ndarray | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return 1 if self.group_of is None else int(self.group_of.max()) + 1

    @property
    def n_lists(self) -> int:
        """Number of lists: one for each anchor and group, groups of an anchor together."""
        return len(self.numbers) * self.n_groups

    def __call__(self, block: Dataset, first: int) -> Candidates | None:
        """Return the k nearest rows of a block for each anchor and group."""
        from omnirank.neighbors.kernels.tile import TIE

        groups = self._groups(block, first)
        if (groups < 0).all():
            return None
        n_rows, n_anchors = block.n_examples, len(self.numbers)
        cells = table_cells(block.features, self.ranges).followed_by(self.anchors)
        search = NeighborSearch(cells, np.concatenate([groups, np.full(n_anchors, -1)]))
        place = self.numbers - first
        inside = (place >= 0) & (place < n_rows)
        ids, distances = search.nearest(np.where(inside, place, n_rows + np.arange(n_anchors)), self.k)
        anchor, group, q = np.nonzero(ids >= 0)
        far = distances[anchor, group, q]
        places = ids[anchor, group, q].astype(np.int64)
        return Candidates(anchor * self.n_groups + group, places, np.rint(far / TIE), far)

    def _groups(self, block: Dataset, first: int) -> np.ndarray:
        found = np.zeros(block.n_examples, np.int64)
        if self.group_of is not None:
            assert block.target is not None
            found = self.group_of[np.nan_to_num(block.target.values[:, 0]).astype(np.intp)]
        return np.where(self.used.mask(block, first), found, -1)
