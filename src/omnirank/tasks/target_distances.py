"""Distances between the targets of neighbours, all in [0, 1]: of all targets together, and of each alone."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target

_KINDS = ("hamming", "accuracy", "f1", "subset", "euclidean-mu")


def euclidean_mu(target: Target, hierarchy: Hierarchy, weights: np.ndarray) -> float:
    """Return mu = 1 / (largest weighted Euclidean distance between two single labels).

    A label stands for itself and its ancestors; only labels that are the most specific ones of some example
    take part. With fewer than two of them mu = 1.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for hierarchical multi-label classification with tree ensemble methods.
    Acta Polytechnica Hungarica 17(10), 2020. Eq. (6).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.target_distances import euclidean_mu
    >>> hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> target, _ = target_from([{"a/b"}, {"c"}], hierarchy=hierarchy)
    >>> 1 / euclidean_mu(target, hierarchy, np.array([1.0, 0.5, 1.0])) ** 2
    2.5
    """
    final = final_labels(target, hierarchy)
    if final.sum() < 2:
        return 1.0
    largest = _largest_pair(hierarchy, final, weights)
    return float(1.0 / np.sqrt(largest)) if largest > 0 else 1.0


def final_labels(target: Target, hierarchy: Hierarchy) -> np.ndarray:
    """Return the mask of the labels that are most specific in some example: relevant, and no descendant is."""
    # a stored NaN is unknown: it is not equal to 1
    relevant = sparse.csr_array(target.values == 1).astype(np.float64)
    below = relevant @ hierarchy.ancestors.astype(np.float64)  # relevant labels below each label, and itself
    single = sparse.coo_array(below.multiply(relevant))
    final = np.zeros(hierarchy.n_labels, bool)
    final[single.coords[1][single.data == 1]] = True
    return final


def _largest_pair(hierarchy: Hierarchy, final: np.ndarray, weights: np.ndarray) -> float:
    """Largest weight of the labels that are above (or are) exactly one of two final labels."""
    paths = hierarchy.ancestors.astype(np.float64)[np.flatnonzero(final)]
    sizes = paths @ weights
    order = np.argsort(-sizes)
    paths, sizes = paths[order], sizes[order]
    weighted = sparse.csr_array(paths * weights)
    largest, step = 0.0, 128
    for start in range(0, len(sizes), step):
        # no pair from here on can be farther apart than the two sizes together
        if sizes[start] + sizes[0] <= largest:
            break
        block = slice(start, start + step)
        common = (weighted[block] @ paths.T).toarray()
        largest = max(largest, float((sizes[block, None] + sizes - 2 * common).max()))
    return largest


class TargetDistance(Protocol):
    """What Relief asks about the targets of pairs of examples; picklable."""

    target: Target

    def __call__(self, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the distances between rows[i] and ids[i, q]; NaN where nothing is known in both, or ids < 0."""

    def of_each(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the distances of pairs for every target alone, one row per target."""


class ValueDistances:
    """Numbers: mean of abs(y_j - y'_j) / (max y_j - min y_j). Classes: share of differing targets.

    Values unknown in either example are left out.

    Parameters
    ----------
    target : Target
        The target of all examples: numbers, classes or both.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eqs. (5), (7).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.target_distances import ValueDistances
    >>> numbers, _ = target_from([0.5, 1.5, 2.5])
    >>> ValueDistances(numbers)(np.array([0]), np.array([[1, 2]])).tolist()
    [[0.5, 1.0]]
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        # numbers divided by their range (halves, as the range may overflow), then the codes of levels
        self._order = np.argsort(target.is_nominal, kind="stable")
        self._n_numeric = int((~target.is_nominal).sum())
        values = target.values[:, self._order].copy()
        numbers = values[:, : self._n_numeric]
        numbers *= 0.5
        low, high = np.fmin.reduce(numbers, axis=0), np.fmax.reduce(numbers, axis=0)
        span = np.nan_to_num(high) - np.nan_to_num(low)
        numbers -= low
        numbers /= np.where(span > 0, span, 1.0)
        self._values = np.ascontiguousarray(values)

    def __call__(self, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the distances between rows[i] and ids[i, q]; NaN where nothing is known in both, or ids < 0."""
        from omnirank.tasks.kernels.targets import value_distances

        out = np.empty(ids.shape)
        value_distances(self._values, self._n_numeric, rows, ids, out)
        return out

    def of_each(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the distances of pairs for every target alone, one row per target."""
        a, b = self._values[first], self._values[second]
        distances = np.abs(a - b)
        levels = slice(self._n_numeric, None)
        unknown = np.isnan(a[:, levels]) | np.isnan(b[:, levels])
        distances[:, levels] = np.where(unknown, np.nan, a[:, levels] != b[:, levels])
        back = np.empty_like(distances)
        back[:, self._order] = distances
        return back.T


class LabelSetDistances:
    """Distances of label sets with label weights w and total weight W; a set's size is the sum of its weights.

    * hamming: size of the symmetric difference / W
    * accuracy: 1 - size of intersection / size of union
    * f1: 1 - 2 size of intersection / (size of S + size of S')
    * subset: 1 if the sets differ
    * euclidean-mu: mu sqrt(size of the symmetric difference), at most 1; mu from
      :func:`~omnirank.tasks.target_distances.euclidean_mu`

    Two empty sets have distance 0. Labels unknown in either example are left out.

    Parameters
    ----------
    target : Target
        The label sets of all examples.
    kind : str
        One of the distances above.
    hierarchy : Hierarchy, optional
        Order of the labels.
    hierarchy_weight : float
        w0 of the label weights.

    References
    ----------
    Without weights, the first four are Eqs. (3) to (6) of Petkovic, Kocev, Dzeroski: Feature ranking with Relief for
    multi-label classification: does distance matter? Discovery Science, LNCS 11198, 2018. The last is Eq. (6) of
    Petkovic, Dzeroski, Kocev: Feature ranking for hierarchical multi-label classification with tree ensemble methods.
    Acta Polytechnica Hungarica 17(10), 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.target_distances import LabelSetDistances
    >>> labels, _ = target_from(np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0]]))
    >>> LabelSetDistances(labels, "f1")(np.array([0]), np.array([[1, 2]])).tolist()
    [[0.5, 0.0]]
    """

    def __init__(
        self, target: Target, kind: str, hierarchy: Hierarchy | None = None, hierarchy_weight: float = 0.75
    ) -> None:
        self.target = target
        self._kind = _KINDS.index(kind)
        cells = target.values
        if not target.is_sparse:
            # unlabelled rows hold nothing then, as in sparse targets
            cells = sparse.csr_array(np.where(target.labelled[:, None], cells, 0.0))
        weights = np.ones(target.n_targets) if hierarchy is None else hierarchy.weights(hierarchy_weight)
        self._mu = 1.0
        if kind == "euclidean-mu" and hierarchy is not None:
            self._mu = euclidean_mu(target, hierarchy, weights)
        if kind == "subset":
            weights = np.ones(target.n_targets)
        self._sets = (
            cells.indptr.astype(np.int64),
            cells.indices.astype(np.int64),
            np.isnan(cells.data),
            np.asarray(weights, np.float64),
        )

    def __call__(self, rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the distances between rows[i] and ids[i, q]; NaN where nothing is known in both, or ids < 0."""
        from omnirank.tasks.kernels.targets import LabelLists, label_distances

        out = np.empty(ids.shape)
        label_distances(LabelLists(*self._sets), self.target.labelled, self._kind, self._mu, rows, ids, out)
        return out

    def of_each(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the distances of pairs for every label alone, one row per label."""
        a, b = (self.target.take(rows).dense() for rows in (first, second))
        return np.where(np.isnan(a) | np.isnan(b), np.nan, a != b).T
