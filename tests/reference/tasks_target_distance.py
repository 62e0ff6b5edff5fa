"""Target distances of pairs in NumPy, block by block: what compiled distances are compared with on many labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError
from omnirank.core.variances import column_units
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.tasks.target_distances import euclidean_mu

_SET_DISTANCES = ("auto", "hamming", "accuracy", "f1", "subset", "euclidean-mu")
# Pairs are compared in blocks of about this many cells, so that memory does not grow with their number.
_BLOCK_CELLS = 4_000_000


def target_distance(
    target: Target,
    first: Any,
    second: Any,
    kind: str = "auto",
    weights: np.ndarray | None = None,
    hierarchy: Hierarchy | None = None,
) -> np.ndarray:
    """Return the distances between pairs of examples of one target.

    Numbers: mean of abs(y_j - y'_j) / (max y_j - min y_j). Classes: share of differing targets. Label sets
    with label weights w and total weight W; the size of a set is the sum of its labels' weights:

    * hamming: size of the symmetric difference / W
    * accuracy: 1 - size of intersection / size of union
    * f1: 1 - 2 size of intersection / (size of S + size of S')
    * subset: 1 if the sets differ
    * euclidean-mu: mu sqrt(size of the symmetric difference), at most 1; mu from :func:`euclidean_mu`

    Two empty sets have distance 0. Values unknown in either example are left out; NaN where nothing is known
    in both.

    Parameters
    ----------
    target : Target
        All training examples (their ranges normalise numbers).
    first, second : array-like of int
        Row numbers of the pairs.
    kind : str
        "auto" (absolute differences of numbers, Hamming distance else), "absolute" (numbers), "hamming"
        (classes and label sets) or another label set distance.
    weights : ndarray, optional
        Weights of the labels; by default those of the hierarchy, without one 1.
    hierarchy : Hierarchy, optional
        Needed by "euclidean-mu".
    """
    rows = np.broadcast_arrays(np.atleast_1d(first), np.atleast_1d(second))
    if not target.is_labels:
        _check_kind(kind, ("auto", "hamming" if target.is_nominal.all() else "absolute"))
        return _mean_distance(target, *rows)
    _check_kind(kind, _SET_DISTANCES)
    if weights is None:
        weights = np.ones(target.n_targets) if hierarchy is None else hierarchy.weights()
    if kind == "euclidean-mu" and hierarchy is None:
        raise ParameterError("target_distance='euclidean-mu' needs a hierarchy")
    compare = _compare_sparse if target.is_sparse else _compare_dense
    mu = euclidean_mu(target, hierarchy, weights) if kind == "euclidean-mu" and hierarchy is not None else 1.0
    if kind == "subset":
        weights = np.ones(target.n_targets)
    cells = target.values.nnz / max(1, target.n_examples) if target.is_sparse else target.n_targets
    step = max(1, int(_BLOCK_CELLS / max(1.0, cells)))
    distances = np.empty(len(rows[0]))
    for start in range(0, len(distances), step):
        block = slice(start, start + step)
        distances[block] = _set_distance(compare(target, rows[0][block], rows[1][block], weights), kind, mu)
    return distances


def _check_kind(kind: str, allowed: tuple[str, ...]) -> None:
    if kind not in allowed:
        raise ParameterError(f"target_distance={kind!r} does not fit the target; choose {' or '.join(allowed)}")


# -- numbers and classes ------------------------------------------------------------------------------


def _mean_distance(target: Target, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    a, b = target.values[first], target.values[second]
    known = ~np.isnan(a) & ~np.isnan(b)
    span, unit = _spans(target)
    distances = np.where(target.is_nominal, a != b, np.abs(a / unit - b / unit) / span)
    count = known.sum(axis=1)
    total = np.where(known, distances, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _spans(target: Target) -> tuple[np.ndarray, np.ndarray]:
    """Range of each variable's known values, and its unit; 1 where there is none, since all distances are 0 then."""
    unit = column_units(target.values)
    unknown = np.isnan(target.values)
    highest = np.where(unknown, -np.inf, target.values / unit).max(axis=0)
    lowest = np.where(unknown, np.inf, target.values / unit).min(axis=0)
    return np.where(highest > lowest, highest - lowest, 1.0), unit


# -- label sets ---------------------------------------------------------------------------------------


class _Comparison(NamedTuple):
    """Of each pair of sets: size of symmetric difference and of intersection, what is known in both."""

    different: np.ndarray
    common: np.ndarray
    known_weight: np.ndarray
    any_known: np.ndarray


def _compare_dense(target: Target, first: np.ndarray, second: np.ndarray, w: np.ndarray) -> _Comparison:
    a, b = target.values[first], target.values[second]
    known = ~np.isnan(a) & ~np.isnan(b)
    return _Comparison((known & (a != b)) @ w, ((a == 1) & (b == 1)) @ w, known @ w, known.any(axis=1))


def _compare_sparse(target: Target, first: np.ndarray, second: np.ndarray, w: np.ndarray) -> _Comparison:
    relevant, unknown = _relevant_and_unknown(target)
    a, b = relevant[first], relevant[second]
    different = abs(a - b)
    either = unknown[first].maximum(unknown[second])
    different -= different.multiply(either)
    n_unknown = either.sum(axis=1)
    known = target.labelled[first] & target.labelled[second] & (n_unknown < target.n_targets)
    return _Comparison(different @ w, a.multiply(b) @ w, w.sum() - either @ w, known)


def _relevant_and_unknown(target: Target) -> tuple[Any, Any]:
    """Two 0/1 matrices: the relevant and the unknown labels of each example."""
    values = target.values
    unknown = np.isnan(values.data)
    both = []
    for chosen in (~unknown, unknown):
        part = sparse.csr_array((chosen.astype(np.float64), values.indices, values.indptr), values.shape, copy=True)
        part.eliminate_zeros()
        both.append(part)
    return both[0], both[1]


def _set_distance(pairs: _Comparison, kind: str, mu: float) -> np.ndarray:
    different, common, known_weight, any_known = pairs
    if kind == "subset":
        distance = (different > 0).astype(np.float64)
    elif kind == "euclidean-mu":
        distance = np.minimum(1.0, mu * np.sqrt(different))
    elif kind == "accuracy":
        distance = _ratio(different, different + common)
    elif kind == "f1":
        distance = _ratio(different, different + 2 * common)
    else:
        distance = _ratio(different, known_weight)
    return np.where(any_known, distance, np.nan)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Share of a whole, 0 where that is 0; sums of fractions may round to a little more than 1."""
    return np.where(whole > 0, np.minimum(1.0, part / np.where(whole > 0, whole, 1.0)), 0.0)
