"""Tables of counts of features against classes, and the measures that are computed from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from omnirank.core.errors import DataError, setting
from omnirank.data.target import Target

# Rows of label sets that are packed at once.
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class ClassTargets:
    """One target of K classes, or V labels, as columns whose sums over the examples of a bin are counts.

    Attributes
    ----------
    columns : csr_array of shape (n, K) or (n, V)
        1 for the class of an example, or for each of its labels.
    unknown : csr_array of shape (n, V), or None
        1 where a label is unknown; classes that are unknown have no 1 in their row.
    are_labels : bool
        Whether the columns are labels.
    weights : ndarray of shape (V,)
        Weights of the targets in means over them.
    """

    columns: Any
    unknown: Any
    are_labels: bool
    weights: np.ndarray

    def counts(self, codes: np.ndarray, examples: np.ndarray) -> np.ndarray:
        """Return the weights of the examples by bin, target and class: (bins, V, K).

        Parameters
        ----------
        codes : ndarray of int of shape (n,)
            Bin of each example, -1 where it is missing.
        examples : ndarray of shape (n,)
            Weights of the examples.
        """
        known = codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)])
        shape = (len(codes), int(codes.max(initial=0)) + 1)
        bins = sparse.csr_array((examples[known], codes[known], starts), shape=shape).T
        found = (bins @ self.columns).toarray()
        if not self.are_labels:
            return found[:, None, :]
        known_weight = np.asarray(bins.sum(axis=1)).reshape(-1, 1)
        if self.unknown is not None:
            known_weight = known_weight - (bins @ self.unknown).toarray()
        # differences of sums in another order may be -1e-17
        return np.stack([np.maximum(known_weight - found, 0.0), found], axis=2)

    def totals(self, examples: np.ndarray) -> np.ndarray:
        """Return the weights of all examples by target and class, whatever the feature: (V, K)."""
        return self.counts(np.zeros(len(examples), dtype=np.intp), examples)[0]


def class_targets(target: Target, weights: np.ndarray) -> list[ClassTargets]:
    """Return a target's nominal variables, one by one, or its labels, all at once."""
    if target.is_labels:
        values = target.values if target.is_sparse else sparse.csr_array(target.values)
        relevant, hidden = _cells(values, values.data == 1), _cells(values, np.isnan(values.data))
        return [ClassTargets(relevant, hidden if hidden.nnz else None, True, weights)]
    return [
        _one_class(target.values[:, j], weights[j : j + 1])
        for j, levels in enumerate(target.levels)
        if levels is not None
    ]


def _cells(values: Any, chosen: np.ndarray) -> Any:
    """1 in the chosen ones of the stored cells."""
    starts = np.concatenate([[0], np.cumsum(chosen)])[values.indptr]
    return sparse.csr_array((np.ones(int(starts[-1])), values.indices[chosen], starts), shape=values.shape)


def label_set_target(target: Target, least: int) -> ClassTargets:
    """Return label sets as classes: one class for each set that at least so many examples have.

    Examples of rarer sets, and those with an unknown label, have no class.

    Parameters
    ----------
    target : Target
        Labels.
    least : int
        Number of examples.
    """
    n = target.n_examples
    packed, complete = [], np.zeros(n, dtype=bool)
    for start in range(0, n, _ROWS):
        part = target.take(slice(start, start + _ROWS)).dense()
        complete[start : start + _ROWS] = ~np.isnan(part).any(axis=1)
        packed.append(np.packbits(part == 1, axis=1))
    sets = np.concatenate(packed)
    rows = np.ascontiguousarray(sets).view([("", np.uint8)] * sets.shape[1])[:, 0]
    _, of, sizes = np.unique(rows[complete], return_inverse=True, return_counts=True)
    classes = np.full(n, np.nan)
    classes[complete] = np.where(sizes[of] >= least, of, np.nan)
    if np.isnan(classes).all():
        raise DataError(
            f"no label set is that of {least} examples, the most frequent is that of {sizes.max(initial=0)}: choose a "
            f"smaller min_count, or {setting('label_sets', 'binary-relevance')}"
        )
    return _one_class(classes, np.ones(1))


def _one_class(values: np.ndarray, weight: np.ndarray) -> ClassTargets:
    """A target of classes by their codes, NaN where unknown."""
    known = ~np.isnan(values)
    codes = values[known].astype(np.intp)
    starts = np.concatenate([[0], np.cumsum(known)])
    shape = (len(values), int(codes.max(initial=0)) + 1)
    return ClassTargets(sparse.csr_array((np.ones(len(codes)), codes, starts), shape=shape), None, False, weight)


# -- measures of one table for each of V targets, (bins, V, K) -> (V,) ---------------------------------------


def information_gain(counts: np.ndarray) -> np.ndarray:
    """Return H(x) + H(y) - H(x, y), in nats, for each target.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers._contingency import information_gain
    >>> information_gain(np.array([[[2.0, 0.0]], [[0.0, 2.0]]])).round(4).tolist()
    [0.6931]
    """
    bins, classes, total = _margins(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        # exactly log 1 where there is one bin only
        lift = counts * total[:, None] / (bins[:, :, None] * classes)
        found = np.where(counts > 0, counts * np.log(np.where(counts > 0, lift, 1.0)), 0.0).sum(axis=(0, 2)) / total
    return np.where(total > 0, np.maximum(found, 0.0), 0.0)


def symmetrical_uncertainty(counts: np.ndarray) -> np.ndarray:
    """Return 2 (H(x) + H(y) - H(x, y)) / (H(x) + H(y)) for each target; 0 where both are constant."""
    bins, classes, total = _margins(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = _entropy(bins / total, 0) + _entropy(classes / total[:, None], 1)
        return np.where((total > 0) & (both > 0), 2 * information_gain(counts) / both, 0.0)


def chi_squared(counts: np.ndarray) -> np.ndarray:
    """Return the sum of (observed - expected)^2 / expected over the cells of the table, for each target."""
    bins, classes, total = _margins(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = bins[:, :, None] * (classes / total[:, None])
        return np.where(expected > 0, (counts - expected) ** 2 / expected, 0.0).sum(axis=(0, 2))


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "information-gain": information_gain,
    "symmetrical-uncertainty": symmetrical_uncertainty,
    "chi2": chi_squared,
}


def _margins(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums by bin (bins, V), by class (V, K), and of all (V,)."""
    bins = counts.sum(axis=2)
    return bins, counts.sum(axis=0), bins.sum(axis=0)


def _entropy(shares: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(-xlogy(shares, shares).sum(axis=axis))
