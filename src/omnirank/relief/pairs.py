"""Which pairs of examples Relief looks at, how much each counts, and how far apart its targets are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import check, choice
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.neighbors.cells import Cells, SparseCells, cells_of
from omnirank.neighbors.search import NeighborSearch, StoredNeighbors, search_among
from omnirank.tasks import get_task
from omnirank.tasks.target_distances import TargetDistance


class PairBlock(NamedTuple):
    """Pairs (rows[j], ids[j, q]) with their weights w and w d_Y; pairs of weight 0 do not count.

    fixed: (P_T, s) of the block where they are not the sums of the products and weights; features: d_X, where it takes
    the place of an unknown d_Y.
    """

    rows: np.ndarray
    ids: np.ndarray
    weights: np.ndarray
    products: np.ndarray
    fixed: tuple[float, float] | None = None
    features: np.ndarray | None = None


class DistancePairs:
    r"""Pairs of RReliefF: an example and one of its k nearest neighbours.

    Pairs of a number of neighbours are those of its block and of all blocks before (``cumulative``).

    The weight is :math:`f_r f_q \exp(-(\sigma q)^2)` with the influences f and the neighbour's place q. The
    distance is that of the targets; where no target is known in both, it is that of the features.

    Parameters
    ----------
    search : NeighborSearch
        Search in one group.
    distances : TargetDistance or None
        None: no target at all.
    influences : ndarray or None
        Influence of each example; None is 1.
    sigma : float
        How fast neighbours lose weight.
    first_place : int
        Place of the nearest neighbour.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Sec. 2.2.1
    (weights by place). Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112,
    2023. Sec. 5.2 (influences).
    """

    cumulative = True

    def __init__(
        self,
        search: NeighborSearch,
        distances: TargetDistance | None,
        influences: np.ndarray | None = None,
        sigma: float = 0.0,
        first_place: int = 1,
    ) -> None:
        self.search = search
        self.distances = distances
        self._influences = influences
        self._sigma = sigma
        self._first_place = first_place

    def __call__(self, rows: np.ndarray, ks: Sequence[int]) -> list[PairBlock]:
        """Return the pairs, cut by the place of the neighbour."""
        ids, far = (of_group[:, 0] for of_group in self.search.nearest(rows, ks[-1]))
        weights = np.where(ids >= 0, neighbor_weights(ks[-1], self._sigma, self._first_place), 0.0)
        if self._influences is not None:
            weights *= self._influences[rows][:, None] * self._influences[ids]
        features = np.where(ids >= 0, far, 0.0) / self.search.cells.n_features
        apart = features if self.distances is None else _known_or(self.distances(rows, ids), features)
        products, blocks = weights * apart, []
        for i, j in pairwise([0, *ks]):
            block = PairBlock(rows, _columns(ids, i, j), _columns(weights, i, j), _columns(products, i, j))
            blocks.append(block._replace(features=_columns(features, i, j)))
        return blocks

    def of_each(self, pairs: PairBlock, some: slice) -> Iterator[PairBlock]:
        """Yield the pairs of some rows of a block with the distances of every target alone."""
        assert self.distances is not None
        assert pairs.features is not None
        rows, ids, weights, features = (part[some] for part in (pairs.rows, pairs.ids, pairs.weights, pairs.features))
        for apart in self.distances.of_each(np.repeat(rows, ids.shape[1]), ids.ravel()):
            yield PairBlock(rows, ids, weights, weights * _known_or(apart.reshape(ids.shape), features))


class ClassPairs:
    r"""Pairs of ReliefF: an example and its k nearest of each class.

    Its own class (hits) has the target distance 0, any other class c (misses) the distance 1 and the weight
    :math:`P(c) / (1 - P(y))`; a class has that weight in all, whatever the number of its examples.

    Parameters
    ----------
    search : NeighborSearch
        Search with one group per class.
    classes : ndarray of int
        Class of each example.
    sigma : float
        How fast neighbours lose weight.
    first_place : int
        Place of the nearest neighbour.

    References
    ----------
    Robnik-Sikonja, Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. Machine Learning 53, 2003.
    """

    cumulative = False

    def __init__(self, search: NeighborSearch, classes: np.ndarray, sigma: float = 0.0, first_place: int = 1) -> None:
        self.search = search
        self._classes = classes
        self._shares = np.bincount(classes, minlength=search.n_groups) / len(classes)
        self._sigma = sigma
        self._first_place = first_place

    def __call__(self, rows: np.ndarray, ks: Sequence[int]) -> list[PairBlock]:
        """Return the pairs of each number of neighbours."""
        nearest = self.search.nearest(rows, ks[-1])[0]
        own = self._classes[rows]
        hits = np.arange(self.search.n_groups) == own[:, None]
        rest = 1.0 - self._shares[own]
        misses = np.where(hits, 0.0, self._shares) / np.where(rest > 0, rest, 1.0)[:, None]
        blocks = []
        for k in ks:
            ids = nearest[:, :, :k]
            weights = np.where(ids >= 0, neighbor_weights(k, self._sigma, self._first_place), 0.0)
            total = weights.sum(axis=2, keepdims=True)
            weights /= np.where(total > 0, total, 1.0)
            products = weights * misses[:, :, None]
            weights = np.where(hits[:, :, None], weights, products)
            n_missed = float(np.count_nonzero(rest > 0))
            flat = [np.ascontiguousarray(a).reshape(len(rows), -1) for a in (ids, weights, products)]
            blocks.append(PairBlock(rows, flat[0], flat[1], flat[2], (n_missed, n_missed + len(rows))))
        return blocks


PairRule: TypeAlias = DistancePairs | ClassPairs


def _known_or(distances: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(distances), others, distances)


def _columns(values: np.ndarray, start: int, stop: int) -> np.ndarray:
    return np.ascontiguousarray(values[:, start:stop])


def neighbor_weights(k: int, sigma: float, first_place: int = 1) -> np.ndarray:
    """Return exp(-(sigma q)^2) for k places q, from 1 on as published, or from 0 on as in CLUS.

    Examples
    --------
    >>> from omnirank.relief.pairs import neighbor_weights
    >>> neighbor_weights(3, 0.0).tolist()
    [1.0, 1.0, 1.0]
    """
    return np.exp(-((sigma * np.arange(first_place, first_place + k)) ** 2))


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
    n_jobs : int or None
        Number of workers.
    first_place : int
        Place of the nearest neighbour, by which it is weighted.
    """

    algorithm: str
    target_distance: str
    hierarchy_weight: float
    sigma: float
    n_jobs: int | None
    first_place: int = 1

    def rules(
        self, dataset: Dataset, pairs: Sequence[Influence], stored: int = 0, rows: np.ndarray | None = None
    ) -> list[PairRule]:
        """Return the pairs of examples for each of several influences.

        Parameters
        ----------
        dataset : Dataset
            The examples.
        pairs : sequence of (float, float)
            The influences; they matter only where some examples are unlabelled.
        stored : int
            How many neighbours are kept, so that they are searched once.
        rows : ndarray of int, optional
            Whose neighbours are kept; by default those of all examples.
        """
        target, weighting = dataset.target, (float(self.sigma), self.first_place)
        cells = cells_of(dataset.features)
        classes = None
        if target is not None and self.form(dataset) == "relieff":
            classes = np.unique(target.values[:, 0], return_inverse=True)[1]
        search = search_among(cells, classes)
        if stored:
            search = StoredNeighbors(search, stored, self.n_jobs, rows)
        if classes is not None:
            return [ClassPairs(search, classes, *weighting) for _ in pairs]
        distances = None if target is None else self.distances(target, dataset.task, dataset.hierarchy)
        if target is None or target.labelled.all():
            return [DistancePairs(search, distances, None, *weighting) for _ in pairs]
        far = nearest_labelled(cells, target.labelled, self.n_jobs)
        weights = [influences(far, target.labelled, *pair) for pair in pairs]
        return [DistancePairs(search, distances, influence_of, *weighting) for influence_of in weights]

    def form(self, dataset: Dataset) -> str:
        """Return "relieff" or "rrelieff".

        "auto" is "relieff" for one class target that is known everywhere: hits and misses are its Hamming distance.

        Examples
        --------
        >>> import omnirank as om
        >>> from omnirank.relief.pairs import PairSettings
        >>> settings = PairSettings("auto", "auto", 0.75, 0.0, None)
        >>> X = [[0.0], [1.0], [2.0]]
        >>> [settings.form(om.Dataset(X, y)) for y in (["a", "b", "b"], ["a", "b", None], [0.5, 1.5, 2.5])]
        ['relieff', 'rrelieff', 'rrelieff']
        """
        is_hamming = dataset.target is not None and self._kind_of_distance(dataset.task) == "hamming"
        if self.algorithm != "auto":
            return self.algorithm
        if dataset.target is None or not dataset.labelled.all():
            return "rrelieff"
        return "relieff" if is_hamming and get_task(dataset.task).is_one_class else "rrelieff"

    def _kind_of_distance(self, task: str) -> str:
        allowed = get_task(task).distances
        kind = allowed[0] if self.target_distance == "auto" else self.target_distance
        return str(check("target_distance", kind, choice("auto", *allowed), task))

    def distances(self, target: Target, task: str, hierarchy: Hierarchy | None) -> TargetDistance:
        """Return how far apart the targets of examples are."""
        return get_task(task).distance(target, self._kind_of_distance(task), hierarchy, self.hierarchy_weight)


# Of the unlabelled examples that are farthest from labelled ones, and of those that are nearest.
Influence: TypeAlias = tuple[float, float]

_ROWS = 256
# Distances to labelled examples that differ by less than this share of a feature are the same.
_SAME = 1e-9


def nearest_labelled(cells: Cells | SparseCells, labelled: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the distance D d_X of each example to the nearest labelled one, 0 for labelled examples."""
    search = search_among(cells, np.where(labelled, 0, -1))
    rows = np.flatnonzero(~labelled)
    parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
    nearest = run_parallel(partial(search.nearest, k=1), parts, n_jobs)
    far = np.zeros(cells.n_rows)
    if parts:
        far[rows] = np.concatenate([distances[:, 0, 0] for _, distances in nearest])
    return far


def influences(far: np.ndarray, labelled: np.ndarray, w0: float, w1: float) -> np.ndarray:
    """Return the influence of each example: 1 if it is labelled, otherwise the smaller the farther from labelled ones.

    The influence of unlabelled examples is linear in the distance: w1 for the nearest of them, w0 for the farthest,
    (w0 + w1) / 2 where all have the same distance.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Sec. 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relief.pairs import influences
    >>> influences(np.array([0.0, 1.0, 2.0, 3.0]), np.array([True, False, False, False]), 0.5, 1.0).tolist()
    [1.0, 1.0, 0.75, 0.5]
    """
    influence = np.ones(len(far))
    unlabelled = far[~labelled]
    if not len(unlabelled) or not labelled.any():
        return influence
    low, high = unlabelled.min(), unlabelled.max()
    if high - low <= _SAME:
        influence[~labelled] = (w0 + w1) / 2
    else:
        influence[~labelled] = w1 + (w0 - w1) * (unlabelled - low) / (high - low)
    return influence
