"""Distances between the targets of neighbours: of all targets together, and of each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.tasks.distances import euclidean_mu

__all__ = ["TargetDistances"]

_KINDS = ("hamming", "accuracy", "f1", "subset", "euclidean-mu")


class TargetDistances:
    """Target distances of pairs, as `omnirank.tasks.distances.target_distance` defines them, by fast kernels.

    Parameters
    ----------
    target : Target
        The target of all examples.
    kind : str
        A target distance that fits the target.
    hierarchy : Hierarchy, optional
        Order of the labels.
    hierarchy_weight : float
        w0 of the label weights.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.relief.targets import TargetDistances
    >>> labels, _ = target_from(np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0]]))
    >>> TargetDistances(labels, "f1")(np.array([0]), np.array([[1, 2]])).tolist()
    [[0.5, 0.0]]
    """

    def __init__(
        self,
        target: Target,
        kind: str = "hamming",
        hierarchy: Hierarchy | None = None,
        hierarchy_weight: float = 0.75,
    ) -> None:
        self.target = target
        self._kind = kind
        if target.is_labels:
            self._values, self._n_numeric = None, 0
            self._prepare_labels(hierarchy, hierarchy_weight)
        else:
            self._values, self._n_numeric = _scaled_values(target)

    def _prepare_labels(self, hierarchy: Hierarchy | None, hierarchy_weight: float) -> None:
        target = self.target
        cells = target.values
        if not target.is_sparse:
            # unlabelled rows hold nothing then, as in sparse targets
            cells = sparse.csr_array(np.where(target.labelled[:, None], cells, 0.0))
        weights = np.ones(target.n_targets) if hierarchy is None else hierarchy.weights(hierarchy_weight)
        self._mu = 1.0
        if self._kind == "euclidean-mu" and hierarchy is not None:
            self._mu = euclidean_mu(target, hierarchy, weights)
        if self._kind == "subset":
            weights = np.ones(target.n_targets)
        self._sets = (
            cells.indptr.astype(np.int64),
            cells.indices.astype(np.int64),
            np.isnan(cells.data),
            np.asarray(weights, np.float64),
        )

    def __call__(self, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the distances between rows[i] and ids[i, q]; NaN where nothing is known in both, or ids < 0."""
        from omnirank.relief.kernels.targets import LabelSets, label_distances, value_distances

        out = np.empty(ids.shape)
        if self._values is not None:
            value_distances(self._values, self._n_numeric, rows, ids, out)
        else:
            kind = _KINDS.index(self._kind)
            label_distances(LabelSets(*self._sets), self.target.labelled, kind, self._mu, rows, ids, out)
        return out

    def of_each(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the distances of pairs for every target alone, one row a target."""
        if self._values is None:
            a, b = self._dense(first), self._dense(second)
            return np.where(np.isnan(a) | np.isnan(b), np.nan, a != b).T
        a, b = self._values[first], self._values[second]
        found = np.abs(a - b)
        levels = slice(self._n_numeric, None)
        unknown = np.isnan(a[:, levels]) | np.isnan(b[:, levels])
        found[:, levels] = np.where(unknown, np.nan, a[:, levels] != b[:, levels])
        back = np.empty_like(found)
        back[:, _numbers_first(self.target)] = found
        return back.T

    def _dense(self, rows: np.ndarray) -> np.ndarray:
        if not self.target.is_sparse:
            return self.target.values[rows]
        cells = self.target.values[rows].toarray()
        cells[~self.target.labelled[rows]] = np.nan
        return cells


def _numbers_first(target: Target) -> np.ndarray:
    return np.argsort(target.is_nominal, kind="stable")


def _scaled_values(target: Target) -> tuple[Any, int]:
    """Numbers divided by their range (halves, as the range may overflow), then the codes of levels."""
    order = _numbers_first(target)
    n_numeric = int((~target.is_nominal).sum())
    values = target.values[:, order].copy()
    numbers = values[:, :n_numeric]
    numbers *= 0.5
    low, high = np.fmin.reduce(numbers, axis=0), np.fmax.reduce(numbers, axis=0)
    span = np.nan_to_num(high) - np.nan_to_num(low)
    numbers -= low
    numbers /= np.where(span > 0, span, 1.0)
    return np.ascontiguousarray(values), n_numeric
