"""Which pairs of examples Relief looks at, how much each counts, and how far apart its targets are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from omnirank.neighbors.search import NeighborSearch
from omnirank.tasks.target_distances import TargetDistance


class PairBlock(NamedTuple):
    """Pairs (rows[j], ids[j, q]) with their weights w and w d_Y; pairs of weight 0 do not count.

    fixed: (P_T, s) of the block where they are not the sums of the products and weights.
    """

    rows: np.ndarray
    ids: np.ndarray
    weights: np.ndarray
    products: np.ndarray
    fixed: tuple[float, float] | None = None


class PairRule(Protocol):
    """How pairs come from rows: one list of blocks for each number of neighbours.

    Where ``cumulative`` is true the pairs of a number of neighbours are those of its block and of all blocks before.
    """

    search: NeighborSearch
    cumulative: bool

    def __call__(self, rows: np.ndarray, ks: Sequence[int]) -> list[PairBlock]:
        """Return the pairs of the given rows for each of several numbers of neighbours, in ascending order."""


class DistancePairs:
    r"""Pairs of RReliefF: an example and one of its k nearest neighbours.

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
        ids, far = (found[:, 0] for found in self.search.nearest(rows, ks[-1]))
        weights = np.where(ids >= 0, neighbor_weights(ks[-1], self._sigma, self._first_place), 0.0)
        if self._influences is not None:
            weights *= self._influences[rows][:, None] * self._influences[ids]
        apart = self.apart(rows, ids, far)
        products = weights * apart
        return [
            PairBlock(rows, _columns(ids, i, j), _columns(weights, i, j), _columns(products, i, j))
            for i, j in pairwise([0, *ks])
        ]

    def apart(self, rows: np.ndarray, ids: np.ndarray, far: np.ndarray) -> np.ndarray:
        """Return the target distances, given the feature distances D d_X; 0 where there is no neighbour."""
        features = np.where(ids >= 0, far, 0.0) / self.search.cells.n_features
        if self.distances is None:
            return features
        found = self.distances(rows, ids)
        return np.where(np.isnan(found), features, found)


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
    shares : ndarray, optional
        Shares of the classes among all examples, where the search holds some of them only.

    References
    ----------
    Robnik-Sikonja, Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. Machine Learning 53, 2003.
    """

    cumulative = False

    def __init__(
        self,
        search: NeighborSearch,
        classes: np.ndarray,
        sigma: float = 0.0,
        first_place: int = 1,
        shares: np.ndarray | None = None,
    ) -> None:
        self.search = search
        self._classes = classes
        self._shares = np.bincount(classes, minlength=search.n_groups) / len(classes) if shares is None else shares
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
