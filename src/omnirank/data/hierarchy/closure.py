"""Labels of a `Hierarchy`: their ancestors and weights, sets of names as a matrix, sets closed under ancestors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.parameters import check, number
from omnirank.data.containers import unmasked
from omnirank.data.hierarchy.structure import Downwards

_BLOCK_CELLS = 1 << 24  # cells of a block of rows that is made dense: 16 MiB of booleans


def ancestor_matrix(downwards: Downwards) -> sparse.csr_array:
    """Return a read-only boolean matrix, label x label: row l marks the ancestors of l and l itself."""
    n_labels = len(downwards)
    rows: list[np.ndarray] = [np.empty(0, np.int32)] * n_labels
    for label, above in downwards:
        found = np.concatenate([*(rows[parent] for parent in above), np.array([label], np.int32)])
        rows[label] = np.unique(found) if len(above) > 1 else found
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows)
    matrix = sparse.csr_array((np.ones(len(indices), bool), indices, starts), shape=(n_labels, n_labels))
    matrix.sort_indices()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    return matrix


def label_weights(downwards: Downwards, w0: float) -> np.ndarray:
    """Return the weight of each label; see `Hierarchy.weights`."""
    check("w0", w0, number(above=0, most=1))
    weights = [1.0] * len(downwards)
    for label, above in downwards:
        if above:
            weights[label] = float(w0) * sum(weights[parent] for parent in above) / len(above)
    return np.array(weights)


def encode_sets(
    label_sets: Iterable[Any], n_labels: int, find: Callable[[Any, str], int]
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the 0/1 matrix of label sets and the mask of labelled examples; see `Hierarchy.encode`.

    ``find(label, where)`` returns the column of a label; ``where`` is for its error.
    """
    indices: list[int] = []
    starts = [0]
    labelled: list[bool] = []
    for i, label_set in enumerate(label_sets, start=1):
        labelled.append(not _is_missing(label_set))
        if labelled[-1]:
            where = f"example {i} (counted from 1)"
            if isinstance(label_set, str) or not isinstance(label_set, Iterable):
                raise DataTypeError(f"{where}: {label_set!r} is not a set of label names")
            indices.extend(sorted({find(label, where) for label in label_set}))
        starts.append(len(indices))
    cells = (np.ones(len(indices)), np.array(indices, np.int32), np.array(starts))
    return sparse.csr_array(cells, shape=(len(labelled), n_labels)), np.array(labelled, dtype=bool)


def _is_missing(label_set: Any) -> bool:
    return label_set is None or label_set is pd.NA or (isinstance(label_set, float) and np.isnan(label_set))


def close_dense(label_matrix: Any, labels: Sequence[str], downwards: Downwards) -> np.ndarray:
    """Close the label sets in the rows of an array of 0, 1 and NaN; see `Hierarchy.close`."""
    values = _numbers(label_matrix)
    _check_cells(labels, values.shape, values, np.nonzero)
    present = np.ascontiguousarray((values == 1).T)  # one row per label: whole rows are combined below
    for label, above in reversed(downwards):
        for parent in above:
            present[parent] |= present[label]
    closed = present.T.astype(values.dtype, order="C")
    unknown = np.isnan(values)
    if unknown.any():
        closed[_still_unknown(present, unknown.T, downwards).T] = np.nan
    return closed


def close_sparse(label_matrix: Any, labels: Sequence[str], ancestors: Any, downwards: Downwards) -> Any:
    """Close the label sets in the rows of a sparse matrix; see `Hierarchy.close`."""
    matrix = sparse.csr_array(label_matrix, copy=True)
    matrix.sum_duplicates()
    _check_cells(labels, matrix.shape, matrix.data, lambda bad: [at[bad] for at in matrix.tocoo().coords])
    present = _cells(matrix, matrix.data == 1) @ ancestors
    closed = present.astype(matrix.dtype)
    unknown = _cells(matrix, np.isnan(matrix.data))
    if unknown.nnz:
        where = _still_unknown_sparse(present, unknown, downwards)
        missing = np.full(len(where[0]), np.nan, matrix.dtype)
        closed = closed + sparse.csr_array((missing, where), shape=matrix.shape)  # no cell is in both
    closed.sort_indices()
    if isinstance(label_matrix, sparse.spmatrix):
        closed = sparse.csr_matrix(closed)
    return closed.asformat(label_matrix.format)


def _still_unknown_sparse(present: Any, unknown: Any, downwards: Downwards) -> tuple[np.ndarray, ...]:
    """Rows and columns of the cells that stay unknown; only rows with unknown cells are made dense."""
    partial = np.flatnonzero(np.diff(unknown.indptr))
    step = max(1, _BLOCK_CELLS // unknown.shape[1])
    found = []
    for start in range(0, len(partial), step):
        rows = partial[start : start + step]
        left = _still_unknown(present[rows].toarray().T, unknown[rows].toarray().T, downwards)
        label, row = np.nonzero(left)
        found.append((rows[row], label))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def _still_unknown(present: np.ndarray, unknown: np.ndarray, downwards: Downwards) -> np.ndarray:
    """Cells (label x example) that neither a 1 below nor a 0 above settles."""
    possible = np.ascontiguousarray(present | unknown)
    for label, above in downwards:
        for parent in above:
            possible[label] &= possible[parent]
    return possible & ~present


def _cells(matrix: Any, chosen: np.ndarray) -> Any:
    """Boolean matrix that marks the chosen ones of the stored cells."""
    marked = sparse.csr_array((chosen, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    marked.eliminate_zeros()
    return marked


def _numbers(label_matrix: Any) -> np.ndarray:
    try:
        values = np.asarray(unmasked(label_matrix))
        return values if values.dtype.kind in "biuf" else values.astype(np.float64)
    except (TypeError, ValueError):
        kind = type(label_matrix).__name__
        raise DataTypeError(f"a label matrix is a table of 0, 1 and NaN: this {kind} is none") from None


def _check_cells(labels: Sequence[str], shape: tuple[int, ...], cells: np.ndarray, places: Callable[..., Any]) -> None:
    if len(shape) != 2 or shape[1] != len(labels):
        raise DataError(f"label matrix of shape {shape}: give one column for each of the {len(labels)} labels")
    bad = ~((cells == 0) | (cells == 1) | np.isnan(cells))
    if bad.any():
        rows, columns = places(bad)
        place = f"row {rows[0]} (counted from 0), label {labels[columns[0]]!r}"
        raise DataError(f"label matrix, {place}: {cells[bad][0]} is neither 0 nor 1 nor NaN (unknown)")
