"""Sparse rows of an ARFF file, ``{index value, ...}``: all entries of a block at once, or row by row."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import FileFormatError
from omnirank.data.arff.byte_parsing import Domain, parse_floats, parse_indices
from omnirank.data.arff.rows import Cells, RowReader, without_comments

_OPEN, _CLOSE, _COMMA, _BLANK, _LINE_END = b"{}, \n"


class SparseColumns:
    """The entries being gathered: columns, values and how many each row has.

    Parameters
    ----------
    cells : Cells
        The declared columns.
    path : Path or None
        The file, for error messages.
    """

    def __init__(self, cells: Cells, path: Path | None = None) -> None:
        self.cells = cells
        self.path = path
        in_table = np.sort(np.concatenate([cells.numbers, cells.nominals]))
        self.slot = np.full(cells.n_columns, -1, np.int32)
        self.slot[in_table] = np.arange(len(in_table))
        self.columns: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.counts: list[np.ndarray] = []
        self.texts: dict[int, list[str | None]] = {i: [] for i in cells.texts}
        self.labels: list[tuple[str, ...] | None] = []
        self.weights: list[tuple[int, float]] = []
        self.n_rows = 0
        self.rounded: set[str] = set()

    def add(self, columns: np.ndarray, values: np.ndarray, counts: np.ndarray) -> None:
        """Append rows: slots and values of their entries (NaN = missing), and how many each row has."""
        self.columns.append(columns.astype(np.int32))
        self.values.append(_compact(values))
        self.counts.append(counts.astype(np.int32))
        self.n_rows += len(counts)

    def add_rows(self, rows: list[tuple[dict[int, Any], float | None]]) -> None:
        """Append rows of (values by column, weight)."""
        columns: list[int] = []
        values: list[float] = []
        counts = []
        for offset, (entries, weight) in enumerate(rows):
            if weight is not None:
                self.weights.append((self.n_rows + offset, weight))
            kept = sorted((int(self.slot[i]), v, i) for i, v in entries.items() if self.slot[i] >= 0)
            columns += [slot for slot, _, _ in kept]
            values += [np.nan if self.cells.attributes[i].levels is not None and v < 0 else v for _, v, i in kept]
            counts.append(len(kept))
            for i, column in self.texts.items():
                column.append(entries.get(i))
            if self.cells.labels is not None:
                self.labels.append(entries[self.cells.labels])
        self.add(np.array(columns, np.int32), np.array(values, np.float64), np.array(counts, np.int32))

    def _check_first_values(self, counts: np.ndarray) -> None:
        """An absent cell means the first declared value: there must be one."""
        for i in self.cells.nominals:
            if not self.cells.attributes[i].levels and counts[self.slot[i]] < self.n_rows:
                raise FileFormatError(
                    f"the attribute {self.cells.attributes[i].name!r} has no values, but absent cells of a "
                    "sparse row mean the first value",
                    path=self.path,
                )

    def finished(self) -> Any:
        """Return all entries as one CSC matrix; the gathered parts are given up."""
        counts = np.concatenate([np.zeros(1, np.int32), *self.counts])
        n_entries = int(counts.sum(dtype=np.int64))
        # One index type for all parts: scipy would copy them to a common one.
        index_type = np.int32 if n_entries < 2**31 else np.int64
        starts = np.cumsum(counts, dtype=index_type)
        columns = np.concatenate([np.empty(0, np.int32), *self.columns]).astype(index_type, copy=False)
        self.columns.clear()
        values = np.concatenate([np.empty(0, np.uint8), *self.values])
        self.values.clear()
        # The conversion holds the entries twice: it runs on the narrow values, which are widened after.
        rows = sparse.csr_array((values, columns, starts), shape=(self.n_rows, int((self.slot >= 0).sum())))
        del values, columns
        matrix = rows.tocsc()
        del rows
        self._check_first_values(np.diff(matrix.indptr))
        matrix.eliminate_zeros()
        parts = (matrix.data.astype(np.float64, copy=False), matrix.indices, matrix.indptr)
        return sparse.csc_array(parts, shape=matrix.shape)


def _compact(values: np.ndarray) -> np.ndarray:
    """The same values in the smallest type that holds them exactly."""
    for dtype in (np.uint8, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = values.astype(dtype)
        if np.array_equal(narrow, values, equal_nan=True):
            return narrow
    return values


def read_sparse(
    blocks: Iterable[tuple[int, bytes]], cells: Cells, path: Path | None = None, *, exact: bool = False
) -> SparseColumns:
    """Read blocks of sparse rows; ``exact`` reads every row by itself (the same result, slower)."""
    columns = SparseColumns(cells, path)
    reader = RowReader(cells, path)
    plain = not (exact or cells.dates or cells.texts or cells.labels is not None)
    fast = _BlockReader(cells) if plain else None
    for first_line, block in blocks:
        if fast is None or not fast.read(block, columns):
            columns.add_rows([_row(reader, number, line) for number, line in reader.rows(first_line, block)])
    columns.rounded = reader.rounded
    return columns


def _row(reader: RowReader, number: int, line: str) -> tuple[dict[int, Any], float | None]:
    entries, weight = reader.sparse(number, line)
    labels = reader.cells.labels
    if labels is not None and labels not in entries:
        reader.fail("the sparse row gives no labels: write ? for an unlabelled row", number, labels)
    return entries, weight


class _BlockReader:
    """Reads a block at once, or says that it cannot and leaves the columns as they were."""

    def __init__(self, cells: Cells) -> None:
        self.n_columns = cells.n_columns
        self.first_index = cells.first_index
        by_levels: dict[tuple[str, ...], int] = {}
        self.domain_of = np.full(cells.n_columns, -1)
        for i in cells.nominals:
            self.domain_of[i] = by_levels.setdefault(cells.attributes[i].levels or (), len(by_levels))
        self.domains = [Domain(levels) for levels in by_levels]
        self.possible = all(domain.usable for domain in self.domains)

    def read(self, block: bytes, columns: SparseColumns) -> bool:
        rows = without_comments(block) if self.possible else None
        if rows is None or b"'" in rows or b'"' in rows:
            return False
        if not rows:
            return True
        data = np.frombuffer(rows.replace(b"\t", b" "), np.uint8)
        line_ends = np.flatnonzero(data == _LINE_END)
        if not _one_brace_pair_a_line(data, line_ends):
            return False
        entries = _entries(data, line_ends)
        if entries is None:
            return False
        starts, ends, row = entries
        index = parse_indices(data, starts[0::2], ends[0::2])
        if index is None:
            return False
        index = index - self.first_index
        if ((index < 0) | (index >= self.n_columns)).any():
            return False
        if not ((np.diff(index) > 0) | (np.diff(row) > 0)).all():
            return False
        values = self._values(data, index, starts[1::2], ends[1::2])
        if values is None:
            return False
        columns.add(index, values, np.bincount(row, minlength=len(line_ends)))
        return True

    def _values(self, data: np.ndarray, index: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
        values = np.empty(len(index))
        domain_of = self.domain_of[index]
        numeric = domain_of < 0
        numbers = parse_floats(data, starts[numeric], ends[numeric])
        if numbers is None:
            return None
        values[numeric] = numbers
        for number, domain in enumerate(self.domains):
            here = domain_of == number
            codes = domain.codes(data, starts[here], ends[here])
            if codes is None:
                return None
            values[here] = np.where(codes < 0, np.nan, codes)
        return values


def _one_brace_pair_a_line(data: np.ndarray, line_ends: np.ndarray) -> bool:
    line_starts = np.concatenate([[0], line_ends[:-1] + 1])
    opening, closing = data == _OPEN, data == _CLOSE
    return bool(
        opening[line_starts].all() and closing[line_ends - 1].all() and opening.sum() == len(line_ends) == closing.sum()
    )


def _entries(data: np.ndarray, line_ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Spans of the words, index and value in turn, and the row of each pair.

    None unless commas part pairs of words everywhere.
    """
    word = (data != _BLANK) & (data != _COMMA) & (data != _OPEN) & (data != _CLOSE) & (data != _LINE_END)
    starts = np.flatnonzero(word[1:] & ~word[:-1]) + 1  # the first byte is a brace
    ends = np.flatnonzero(~word[1:] & word[:-1]) + 1
    n_words = np.diff(np.searchsorted(starts, line_ends), prepend=0)
    if (n_words % 2).any():
        return None
    # A line with words ends its last pair, other pairs end at a comma; {} has neither pair nor comma.
    is_break = data == _COMMA
    is_break[line_ends[n_words > 0]] = True
    breaks = np.flatnonzero(is_break)
    indices, values = starts[0::2], starts[1::2]
    if len(breaks) != len(indices) or (values > breaks).any() or (indices[1:] < breaks[:-1]).any():
        return None
    return starts, ends, np.repeat(np.arange(len(line_ends)), n_words // 2)
