"""Nearest examples where pairs are so few that all are measured: no kernel has to be compiled for them."""

from __future__ import annotations

from typing import Any

import numpy as np

# Up to so many pairs of cells, measuring all of them takes no longer than looking for those that have to be measured.
_MOST_CELLS = 1 << 16


def are_few(n_test: int, n_train: int, n_columns: int) -> bool:
    """Whether all pairs of examples are measured."""
    return n_test * n_train * max(n_columns, 1) <= _MOST_CELLS


def nearest_of_all(distances: np.ndarray, k: int) -> np.ndarray:
    """Return the numbers of the k training examples nearest to each test example, ties by number.

    Parameters
    ----------
    distances : ndarray of shape (n_test, n_train)
        All of them; those that agree in their leading bits are ties.
    k : int
        Number of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.few_pairs import nearest_of_all
    >>> nearest_of_all(np.array([[0.3, 0.1 + 0.2, 0.1]]), 2).tolist()
    [[2, 0]]
    """
    from omnirank.neighbors.kernels.nearest import TIE_BITS

    fraction, exponent = np.frexp(distances)
    # 0 and infinity stay what they are
    keys = np.ldexp(np.rint(fraction * 2.0**TIE_BITS), exponent - TIE_BITS)
    return np.argsort(keys, axis=1, kind="stable")[:, :k].astype(np.int32)


def dense_distances(pairs: Any) -> np.ndarray:
    """Return the weighted squared distances of all pairs of test and training examples.

    Parameters
    ----------
    pairs : DensePairs
        The cells.
    """
    with np.errstate(over="ignore"):
        off = (pairs.test[:, None] - pairs.train) * pairs.factor
        found = np.asarray(np.einsum("ijc,ijc->ij", off, off))
        if not pairs.complete:
            found = np.where(np.isnan(off), _unknown(pairs), off * off).sum(axis=2)
    if pairs.test_codes.shape[1]:
        one, other = pairs.test_codes[:, None], pairs.train_codes
        missing = (one < 0) | (other < 0)
        found += np.where(missing, pairs.level_missing, pairs.level_weight * (one != other)).sum(axis=2)
    return found


def _unknown(pairs: Any) -> np.ndarray:
    """Squared distances of cells of which one or both are missing: the largest that may be."""
    one, other = np.isnan(pairs.test)[:, None], np.isnan(pairs.train)
    place = (np.where(one, pairs.train, pairs.test[:, None]) - pairs.low) / np.where(pairs.span > 0, pairs.span, 1.0)
    farthest = np.where((pairs.span > 0) & ~(one & other), np.maximum(place, 1.0 - place), 1.0)
    return np.asarray(pairs.weight * farthest * farthest)


def sparse_distances(test: Any, train: Any) -> np.ndarray:
    """Return the squared distances of all pairs of rows of two sparse matrices."""
    off = test.toarray()[:, None] - train.toarray()
    return np.asarray(np.einsum("ijc,ijc->ij", off, off))
