"""Identifiers become dense integers: an object's code is its place among the sorted identifiers of its type.

Several columns speak of the same objects: the identifier of a table and the foreign keys that refer to it. They are
coded together, so that a foreign key without a row (dangling) has an object too, of which nothing else is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError

# Integers are coded by offset where their range is at most so many times the number of cells.
_SPARSEST = 4
_LARGEST_PRODUCT = 2**62


class KeyCells(NamedTuple):
    """Cells of a key column, and which of them are known (None: all)."""

    values: np.ndarray
    known: np.ndarray | None = None

    @property
    def known_values(self) -> np.ndarray:
        """The cells that are known."""
        return self.values if self.known is None else self.values[self.known]


class Coded(NamedTuple):
    """Sorted identifiers, and the int32 codes of each column (-1 = missing)."""

    identifiers: np.ndarray
    codes: tuple[np.ndarray, ...]


def code_identifiers(columns: Sequence[KeyCells]) -> Coded:
    """Return the identifiers in some columns, sorted, and the codes of the columns' cells.

    Integers in a dense range are coded by their offset, others are looked up by hashes. Where one column holds integers
    and another one texts, all are taken as texts.

    Parameters
    ----------
    columns : sequence of KeyCells
        Columns that hold identifiers of the same objects.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.identifiers import KeyCells, code_identifiers
    >>> references = KeyCells(np.array([10, 0, 20]), np.array([True, False, True]))
    >>> coded = code_identifiers([KeyCells(np.array([30, 10])), references])
    >>> coded.identifiers.tolist(), [codes.tolist() for codes in coded.codes]
    ([10, 20, 30], [[2, 0], [0, -1, 1]])
    """
    columns = _of_one_type(columns)
    if columns and columns[0].values.dtype.kind == "i":
        coded = _by_offset(columns)
        if coded is not None:
            return coded
    found = [pd.unique(column.known_values) for column in columns]
    identifiers = _sorted(pd.unique(np.concatenate(found))) if found else np.empty(0, np.int64)
    _check_count(len(identifiers))
    index = pd.Index(identifiers)
    return Coded(identifiers, tuple(_looked_up(index, column) for column in columns))


def code_composite(columns: Sequence[tuple[KeyCells, ...]], names: Sequence[str]) -> Coded:
    """Return the identifiers that consist of several cells, in lexicographic order, and their codes.

    Parameters
    ----------
    columns : sequence of tuple of KeyCells
        For each place where the identifiers occur, the columns that form them.
    names : sequence of str
        Fields of the structured array of identifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.identifiers import KeyCells, code_composite
    >>> cells = KeyCells(np.array([7, 7, 5])), KeyCells(np.array(["b", "a", "b"], object))
    >>> coded = code_composite([cells], ["order", "line"])
    >>> coded.identifiers.tolist(), coded.codes[0].tolist()
    ([(5, 'b'), (7, 'a'), (7, 'b')], [2, 1, 0])
    """
    parts = [code_identifiers(column) for column in zip(*columns, strict=True)]
    sizes = [max(1, len(part.identifiers)) for part in parts]
    if float(np.prod([float(size) for size in sizes])) > _LARGEST_PRODUCT:
        raise DataError(f"the key ({', '.join(names)}) has too many columns of too many values")
    combined = []
    for place in range(len(columns)):
        number = np.zeros(len(parts[0].codes[place]), np.int64)
        known = np.ones(len(number), bool)
        for part, size in zip(parts, sizes, strict=True):
            codes = part.codes[place]
            known &= codes >= 0
            number = number * size + codes
        combined.append(KeyCells(number, None if known.all() else known))
    coded = code_identifiers(combined)
    fields = np.unravel_index(coded.identifiers, sizes) if len(coded.identifiers) else [np.empty(0, int)] * len(sizes)
    dtype = [(name, part.identifiers.dtype) for name, part in zip(_different(names), parts, strict=True)]
    identifiers = np.empty(len(coded.identifiers), dtype)
    for (name, _), part, field in zip(dtype, parts, fields, strict=True):
        identifiers[name] = part.identifiers[field]
    return Coded(identifiers, coded.codes)


def _different(names: Sequence[str]) -> list[str]:
    """Names of fields; NumPy has no two of the same name and no empty one."""
    return [name or f"part {i}" if name not in names[:i] else f"{name} {i}" for i, name in enumerate(names)]


def _of_one_type(columns: Sequence[KeyCells]) -> list[KeyCells]:
    """Columns without known cells take the type of the others; of several types the most general is taken."""
    kinds = {column.values.dtype.kind for column in columns if len(column.known_values)}
    if kinds <= {"i"}:
        return [KeyCells(_as_type(c, np.dtype(np.int64)), c.known) for c in columns]
    if kinds <= {"i", "f"}:
        return [KeyCells(_as_type(c, np.dtype(np.float64)), c.known) for c in columns]
    return [KeyCells(_as_type(c, np.dtype(object)), c.known) for c in columns]


def _as_type(column: KeyCells, dtype: np.dtype) -> np.ndarray:
    values = column.values
    if values.dtype.kind == dtype.kind:
        return values
    if dtype.kind == "O":
        return np.array([str(value) for value in values.tolist()], object)
    if values.dtype.kind == "O":  # nothing is known in it
        return np.zeros(len(values), dtype)
    return values.astype(dtype)


def _by_offset(columns: Sequence[KeyCells]) -> Coded | None:
    """Codes of integers in a dense range, in one pass without sorting; None where the range is wide."""
    known = [column.known_values for column in columns]
    ranges = [(int(values.min()), int(values.max())) for values in known if len(values)]
    if not ranges:
        return None
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    span = high - low + 1
    if span > _SPARSEST * sum(map(len, known)) + 1024 or span > np.iinfo(np.int32).max:
        return None
    present = np.zeros(span, bool)
    for values in known:
        present[values - low] = True
    place = None if present.all() else np.cumsum(present, dtype=np.int32) - np.int32(1)
    identifiers = np.arange(low, high + 1) if place is None else low + np.flatnonzero(present)
    codes = []
    for column in columns:
        values = column.values if column.known is None else np.where(column.known, column.values, low)
        found = (values - low).astype(np.int32) if place is None else place[values - low]
        codes.append(found if column.known is None else np.where(column.known, found, np.int32(-1)))
    return Coded(identifiers, tuple(codes))


def _looked_up(index: pd.Index, column: KeyCells) -> np.ndarray:
    codes = index.get_indexer(pd.Index(column.values, dtype=index.dtype)).astype(np.int32)
    return codes if column.known is None else np.where(column.known, codes, np.int32(-1))


def _sorted(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values)
    return np.array(sorted(values.tolist()), object) if values.dtype == object else np.sort(values)


def _check_count(n: int) -> None:
    if n > np.iinfo(np.int32).max:
        raise DataError(f"{n} different identifiers are more than omnirank can number ({np.iinfo(np.int32).max})")
