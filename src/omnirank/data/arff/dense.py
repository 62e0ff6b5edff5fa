"""Dense rows of an ARFF file, block by block: all cells at once where they are plain, else row by row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.data.arff.byte_parsing import Domain, parse_floats, read_column, trim
from omnirank.data.arff.rows import Cells, RowReader, without_comments

_COMMA, _LINE_END = ord(","), ord("\n")
# A quoted cell without any sign that means something inside or outside the quotes, and not ?.
_PLAIN_QUOTES = re.compile(
    rb"(?<=[,\n])( *)(['\"])([^'\",\\%{}\n\t ?](?:[^'\",\\%{}\n\t?]*[^'\",\\%{}\n\t ?])?)\2(?= *[,\n])"
)
_TABS = re.compile(rb"[ \t]*,[ \t]*|[ ]*\t[ \t]*")
_LONG_BLANK = b" " * 64  # the pattern for tabs would take quadratic time on it


class DenseColumns:
    """The columns being filled, allocated once for as many rows as the file can hold.

    Parameters
    ----------
    cells : Cells
        The declared columns.
    n_bytes, n_lines : int
        Size of the text: a row takes a line and at least two bytes per cell.
    """

    def __init__(self, cells: Cells, n_bytes: int, n_lines: int) -> None:
        rows = min(n_lines, n_bytes // max(1, 2 * cells.n_columns - 1) + 1)
        self.cells = cells
        self.numeric = np.empty((rows, len(cells.numbers)), order="F")
        self.codes = np.empty((rows, len(cells.nominals)), np.int32, order="F")
        self.texts: dict[int, list[str | None]] = {i: [] for i in cells.texts}
        self.labels: list[tuple[str, ...] | None] = []
        self.weights: list[tuple[int, float]] = []
        self.n_rows = 0
        self.rounded: set[str] = set()

    def add(self, numeric: np.ndarray, codes: np.ndarray) -> None:
        """Append rows of numbers and codes."""
        end = self.n_rows + len(numeric)
        self.numeric[self.n_rows : end] = numeric
        self.codes[self.n_rows : end] = codes
        self.n_rows = end

    def add_rows(self, rows: list[tuple[list[Any], float | None]]) -> None:
        """Append rows of (values in column order, weight)."""
        cells = self.cells
        for offset, (_, weight) in enumerate(rows):
            if weight is not None:
                self.weights.append((self.n_rows + offset, weight))
        for i, column in self.texts.items():
            column += [values[i] for values, _ in rows]
        if cells.labels is not None:
            self.labels += [values[cells.labels] for values, _ in rows]
        numbers = np.array([[values[i] for i in cells.numbers] for values, _ in rows], np.float64)
        codes = np.array([[values[i] for i in cells.nominals] for values, _ in rows], np.int32)
        self.add(numbers.reshape(len(rows), len(cells.numbers)), codes.reshape(len(rows), len(cells.nominals)))

    def finished(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and codes of all rows, without the room that was left."""
        n = self.n_rows
        if n >= 0.9 * len(self.numeric):
            return self.numeric[:n], self.codes[:n]
        return self.numeric[:n].copy(order="F"), self.codes[:n].copy(order="F")


def read_dense(
    blocks: Iterable[tuple[int, bytes]],
    cells: Cells,
    n_bytes: int,
    n_lines: int,
    path: Path | None = None,
    *,
    exact: bool = False,
) -> DenseColumns:
    """Read blocks of dense rows; ``exact`` reads every row by itself (the same result, slower)."""
    columns = DenseColumns(cells, n_bytes, n_lines)
    reader = RowReader(cells, path)
    fast = None if exact or cells.dates else _BlockReader(cells, reader)
    for first_line, block in blocks:
        if fast is None or not fast.read(block, columns):
            columns.add_rows([reader.dense(number, line) for number, line in reader.rows(first_line, block)])
    columns.rounded = reader.rounded
    return columns


class _BlockReader:
    """Reads a block at once, or says that it cannot and leaves the columns as they were."""

    def __init__(self, cells: Cells, reader: RowReader) -> None:
        self.cells = cells
        self.reader = reader
        groups: dict[tuple[str, ...], list[int]] = {}
        for slot, i in enumerate(cells.nominals):
            groups.setdefault(cells.attributes[i].levels or (), []).append(slot)
        self.domains = [(Domain(levels), np.array(slots)) for levels, slots in groups.items()]
        self.possible = all(domain.usable for domain, _ in self.domains)
        self.only_numbers = len(cells.numbers) == cells.n_columns

    def read(self, block: bytes, columns: DenseColumns) -> bool:
        plain = _plain(block) if self.possible else None
        if plain is None:
            return False
        if not plain:
            return True
        data = np.frombuffer(plain, np.uint8)
        starts = np.concatenate([[0], np.flatnonzero(data == _LINE_END)[:-1] + 1])
        commas = np.add.reduceat((data == _COMMA).view(np.uint8), starts, dtype=np.int64)
        if (commas != self.cells.n_columns - 1).any():
            return False
        if self.only_numbers and not (b" " in plain and b"?" in plain):
            values = read_column(plain.replace(b",", b"\n"))
            if values is None or len(values) != len(starts) * self.cells.n_columns:
                return False
            if np.isinf(values).any() or np.isnan(values).sum() != plain.count(b"?"):
                return False
            columns.add(values.reshape(len(starts), -1), np.empty((len(starts), 0), np.int32))
            return True
        return self._mixed(data, len(starts), columns)

    def _mixed(self, data: np.ndarray, n_rows: int, columns: DenseColumns) -> bool:
        ends = np.flatnonzero((data == _COMMA) | (data == _LINE_END))
        starts = np.concatenate([[0], ends[:-1] + 1])
        if (data == ord(" ")).any():
            trimmed = trim(data, starts, ends)
            if trimmed is None:
                return False
            starts, ends = trimmed
        if (starts == ends).any():
            return False
        return self._spans(data, starts.reshape(n_rows, -1), ends.reshape(n_rows, -1), columns)

    def _spans(self, data: np.ndarray, starts: np.ndarray, ends: np.ndarray, columns: DenseColumns) -> bool:
        n_rows = len(starts)
        numbers = self.cells.numbers
        values = parse_floats(data, starts[:, numbers].ravel(), ends[:, numbers].ravel())
        if values is None:
            return False
        codes = np.empty((n_rows, len(self.cells.nominals)), np.int32)
        for domain, slots in self.domains:
            where = self.cells.nominals[slots]
            found = domain.codes(data, starts[:, where].ravel(), ends[:, where].ravel())
            if found is None:
                return False
            codes[:, slots] = found.reshape(n_rows, -1)
        return self._beside(data, starts, ends, columns, values.reshape(n_rows, -1), codes)

    def _beside(
        self,
        data: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        columns: DenseColumns,
        values: np.ndarray,
        codes: np.ndarray,
    ) -> bool:
        """Add the rows, texts and label sets too; only now, when nothing can fail but a label set."""
        raw = data.tobytes()
        texts = {
            i: [_text(raw[s:e]) for s, e in zip(starts[:, i].tolist(), ends[:, i].tolist(), strict=True)]
            for i in ([] if self.cells.labels is None else [self.cells.labels]) + self.cells.texts
        }
        if self.cells.labels is not None:
            known = self.reader.known_label_sets(self.cells.labels, texts[self.cells.labels])
            if known is None:
                return False
            columns.labels += known
        for i, column in columns.texts.items():
            column += texts[i]
        columns.add(values, codes)
        return True


def _text(cell: bytes) -> str | None:
    return None if cell == b"?" else cell.decode("utf-8")


def _plain(block: bytes) -> bytes | None:
    """Return the rows of a block without comments and needless quotes; None if it is not plain."""
    rows = without_comments(block)
    if rows is None or b"{" in rows or b"}" in rows or _LONG_BLANK in rows:
        return None
    if b"\t" in rows:
        rows = _TABS.sub(b",", rows)
    if b"'" in rows or b'"' in rows:
        rows = _PLAIN_QUOTES.sub(rb"\3", b"\n" + rows)[1:]
        if b"'" in rows or b'"' in rows:
            return None
    return rows
