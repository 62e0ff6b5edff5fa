"""From a data set to the pairs of examples that Relief looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.parameters import check, choice
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.neighbors.approximate import ApproximateNeighbors
from omnirank.neighbors.cached_search import StoredNeighbors
from omnirank.neighbors.mixed_distances import table_cells
from omnirank.neighbors.sparse_cells import cells_of, search_among
from omnirank.relief.influence import Influence, influences, nearest_labelled
from omnirank.relief.pairs import ClassPairs, DistancePairs, PairRule
from omnirank.tasks import get_task
from omnirank.tasks.target_distances import TargetDistance


@dataclass(frozen=True)
class PairSettings:
    """What decides about the pairs, besides the data.

    Parameters
    ----------
    algorithm : {"auto", "relieff", "rrelieff"}
        Hits and misses by class, or neighbours of any target; "auto" as `form` says.
    target_distance : str
        Name of a distance of the task, or "auto".
    hierarchy_weight : float
        w0 of the label weights.
    sigma : float
        How fast neighbours lose weight.
    search : {"exact", "approximate"}
        How neighbours are found.
    n_jobs : int or None
        Number of workers.
    first_place : int
        Place of the nearest neighbour, by which it is weighted.
    """

    algorithm: str
    target_distance: str
    hierarchy_weight: float
    sigma: float
    search: str
    n_jobs: int | None
    first_place: int = 1

    def rules(
        self,
        dataset: Dataset,
        pairs: Sequence[Influence],
        entropy: int,
        stored: int = 0,
        rows: np.ndarray | None = None,
    ) -> list[PairRule]:
        """Return the pairs of examples for each of several influences.

        Parameters
        ----------
        dataset : Dataset
            The examples.
        pairs : sequence of (float, float)
            The influences; they matter only where some examples are unlabelled.
        entropy : int
            Seed of an approximate search.
        stored : int
            How many neighbours are kept, so that they are searched once.
        rows : ndarray of int, optional
            Whose neighbours are kept; by default those of all examples.
        """
        target, weighting = dataset.target, (float(self.sigma), self.first_place)
        # an index takes dense cells only
        cells: Any = (table_cells if self.search == "approximate" else cells_of)(dataset.features)
        classes = None
        if target is not None and self.form(dataset) == "relieff":
            classes = np.unique(target.values[:, 0], return_inverse=True)[1]
        search: Any
        if self.search == "approximate":
            search = ApproximateNeighbors(cells, stored, int(stream(entropy, 2).integers(2**31)))
        else:
            search = search_among(cells, classes)
            search = StoredNeighbors.of(search, stored, self.n_jobs, rows) if stored else search
        if classes is not None:
            return [ClassPairs(search, classes, *weighting) for _ in pairs]
        distances = None if target is None else self.distances(target, dataset.task, dataset.hierarchy)
        if target is None or target.labelled.all():
            return [DistancePairs(search, distances, None, *weighting) for _ in pairs]
        far = nearest_labelled(cells, target.labelled, self.n_jobs)
        weights = [influences(far, target.labelled, *pair) for pair in pairs]
        return [DistancePairs(search, distances, found, *weighting) for found in weights]

    def form(self, dataset: Dataset) -> str:
        """Return "relieff" or "rrelieff".

        "auto" is "relieff" for one class target that is known everywhere: hits and misses are its Hamming distance. An
        index has no neighbours by class, so that an approximate search leaves "rrelieff".

        Examples
        --------
        >>> import omnirank as om
        >>> from omnirank.relief.rules import PairSettings
        >>> settings = PairSettings("auto", "auto", 0.75, 0.0, "exact", None)
        >>> X = [[0.0], [1.0], [2.0]]
        >>> [settings.form(om.Dataset(X, y)) for y in (["a", "b", "b"], ["a", "b", None], [0.5, 1.5, 2.5])]
        ['relieff', 'rrelieff', 'rrelieff']
        """
        is_hamming = dataset.target is not None and self._kind_of_distance(dataset.task) == "hamming"
        if self.algorithm != "auto":
            return self.algorithm
        if dataset.target is None or not dataset.labelled.all() or self.search == "approximate":
            return "rrelieff"
        return "relieff" if is_hamming and get_task(dataset.task).is_one_class else "rrelieff"

    def _kind_of_distance(self, task: str) -> str:
        allowed = get_task(task).distances
        kind = allowed[0] if self.target_distance == "auto" else self.target_distance
        return str(check("target_distance", kind, choice("auto", *allowed), task))

    def distances(self, target: Target, task: str, hierarchy: Hierarchy | None) -> TargetDistance:
        """Return how far apart the targets of examples are."""
        return get_task(task).distance(target, self._kind_of_distance(task), hierarchy, self.hierarchy_weight)
