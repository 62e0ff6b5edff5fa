"""Fingerprints: equal data have equal hashes, however their cells lie in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Table, is_sparse
from omnirank.data.target import Target

# Cells that are hashed at a time: few enough to stay in the processor's cache.
_HASHED_BYTES = 1 << 18


def fingerprint_of(
    table: Table, target: Target | None, task: str, hierarchy: Hierarchy | None, groups: np.ndarray | None = None
) -> str:
    """Return a hash of task, names, types, cells and target, and of the groups of examples that are given.

    Examples
    --------
    >>> from omnirank.data.convert import table_from
    >>> from omnirank.data.fingerprints import fingerprint_of
    >>> zeros = [table_from([[zero]]) for zero in (0.0, -0.0)]
    >>> len({fingerprint_of(table, None, "clustering", None) for table in zeros})
    1
    """
    digest = hashlib.sha256()  # processors have instructions for it: twice as fast as others
    of_target, target_arrays = target_parts(target, hierarchy)
    digest.update(repr([task, table.names, table.levels, *of_target]).encode())
    arrays = _parts(table.matrix) if table.is_sparse else [table.numeric, table.codes]
    hash_arrays(digest, [*arrays, *target_arrays, *([] if groups is None else [groups])])
    return digest.hexdigest()[:32]


def target_parts(target: Target | None, hierarchy: Hierarchy | None) -> tuple[list[Any], list[np.ndarray]]:
    """Return what a hash of a target is made of: facts, of which the text counts, and arrays."""
    facts: list[Any] = [] if target is None else [target.names, target.levels]
    arrays = [] if target is None else [*_parts(target.values), target.labelled]
    return facts if hierarchy is None else [*facts, hierarchy.parents], arrays


def hash_arrays(digest: Any, arrays: Sequence[np.ndarray]) -> None:
    """Add arrays to a hash, however their cells lie in memory."""
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode())
        step = max(1, _HASHED_BYTES // max(1, array[:1].nbytes))
        for start in range(0, len(array), step):
            digest.update(_canonical(array[start : start + step]).data)


def _parts(values: Any) -> list[np.ndarray]:
    """The arrays that hold a matrix; the integer type of sparse indices says nothing about the data."""
    if not is_sparse(values):
        return [values]
    return [values.indptr.astype(np.int64), values.indices.astype(np.int64), values.data]


def _canonical(cells: np.ndarray) -> np.ndarray:
    """Equal cells as equal bytes in the order of rows: one zero and one NaN, though floats have several of both."""
    if cells.dtype.kind != "f":
        return np.ascontiguousarray(cells)
    cells = np.add(cells, cells.dtype.type(0), order="C")
    unknown = np.isnan(cells)
    if unknown.any():
        cells[unknown] = np.nan
    return cells
