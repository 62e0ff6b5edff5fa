"""Sparse features as kernels take them: ranks of the non-zero cells only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.data.table import Levels, check_size

# Rows x features as bits take at most this much memory; beyond it rows are looked up by feature only.
_MOST_BIT_BYTES = 2**28


def sparse_codes(matrix: Any, levels: Sequence[Levels | None], random_tests: bool = False) -> Any:
    """Return non-zero cells as kernels take them: by feature and by row, as ranks.

    Parameters
    ----------
    matrix : csc_array
        The cells; no 0 is stored.
    levels : sequence
        Levels of the nominal features, None for the others.
    random_tests : bool
        Whether trees try one random test per feature.

    Examples
    --------
    >>> from scipy import sparse
    >>> from omnirank.trees.sparse_codes import sparse_codes
    >>> codes = sparse_codes(sparse.csc_array([[0.0, 2.5], [1.0, -1.0]]), [None, None])
    >>> codes.codes.tolist(), codes.zero.tolist()
    ([1, 2, 0], [0, 1])
    """
    check_size(matrix)
    n_rows, n_features = matrix.shape
    values, ranks, zero = _ranked(matrix)
    n_codes = np.diff(values[1]).astype(np.uint32)
    wide = n_codes.max(initial=0) > np.iinfo(np.uint16).max
    ranks = ranks.astype(np.uint32 if wide else np.uint16, copy=False)
    # a rank of 0 stays a stored cell
    by_row = sparse.csr_array(sparse.csc_array((ranks, matrix.indices, matrix.indptr), shape=matrix.shape))
    return _kind(n_codes, random_tests)(
        matrix.indptr.astype(np.uint32),
        matrix.indices.astype(np.uint32),
        ranks,
        by_row.indptr.astype(np.uint32),
        by_row.indices.astype(np.uint16 if n_features <= 2**16 else np.uint32),
        by_row.data,
        zero.astype(np.uint32),
        n_codes,
        _bits(by_row, n_rows, n_features),
        values[0],
        values[1],
        np.array([0.5], matrix.dtype),
        np.array([0 if lev is None else len(lev) for lev in levels], np.int32),
    )


def with_tests(cells: Any, random_tests: bool) -> Any:
    """Return the cells for trees that try all tests, or one random test per feature."""
    return _kind(cells.n_codes, random_tests)(*cells)


def _kind(n_codes: np.ndarray, random_tests: bool) -> Any:
    from omnirank.trees.kernels.cells import BinaryCells, BinaryDraws, DrawnCells, ValuedCells

    more = n_codes.max(initial=0) > 2
    return (DrawnCells if more else BinaryDraws) if random_tests else (ValuedCells if more else BinaryCells)


def _ranked(matrix: Any) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """Distinct values of each feature (0 among them) and where they start, ranks of the cells, ranks of 0."""
    n_features = matrix.shape[1]
    if matrix.nnz == 0 or (matrix.data == 1).all():
        starts = 2 * np.arange(n_features + 1, dtype=np.int64)
        return (
            (np.tile(np.array([0, 1], matrix.dtype), n_features), starts),
            np.ones(matrix.nnz, np.uint16),
            np.zeros(n_features, np.int64),
        )
    ranks, zero = np.empty(matrix.nnz, np.int64), np.zeros(n_features, np.int64)
    parts, starts = [], np.zeros(n_features + 1, np.int64)
    for f in range(n_features):
        cells = slice(matrix.indptr[f], matrix.indptr[f + 1])
        distinct = np.unique(np.append(matrix.data[cells], matrix.dtype.type(0)))
        ranks[cells] = np.searchsorted(distinct, matrix.data[cells])
        zero[f] = np.searchsorted(distinct, 0)
        parts.append(distinct)
        starts[f + 1] = starts[f] + len(distinct)
    return (np.concatenate(parts), starts), ranks, zero


def _bits(by_row: Any, n_rows: int, n_features: int) -> np.ndarray:
    words = (n_features + 63) // 64
    if n_rows * words * 8 > _MOST_BIT_BYTES:
        return np.zeros((0, 0), np.uint64)
    bits = np.uint64(1) << (by_row.indices & 63).astype(np.uint64)
    # Cells of the same place add up in a dense array, and their bits differ.
    return sparse.csr_array((bits, by_row.indices >> 6, by_row.indptr), shape=(n_rows, words)).toarray()
