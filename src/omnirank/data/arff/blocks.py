"""Rows of an ARFF file, block by block: by pandas where all cells of a block are plain, else row by row.

Reading by pandas never guesses: where a block holds anything that pandas may take for something else, the exact reader
(:mod:`omnirank.data.arff.rows`) reads all its rows, and says where a fault is.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import FileFormatError
from omnirank.data.arff.rows import Cells, RowReader, without_comments
from omnirank.data.files import EXACT_NUMBERS
from omnirank.data.table import LARGEST_EXACT

# A quoted cell without any sign that means something inside or outside the quotes, and not ?.
_PLAIN_QUOTES = re.compile(
    rb"(?<=[,\n]) *(['\"])([^'\",\\%{}\n\t ?](?:[^'\",\\%{}\n\t?]*[^'\",\\%{}\n\t ?])?)\1(?= *[,\n])"
)
_TABS = re.compile(rb"[ \t]*,[ \t]*|[ ]*\t[ \t]*")
_LONG_BLANK = b" " * 64  # the patterns for blanks would take quadratic time on it
_MANY_DIGITS = re.compile(rb"[0-9]{16}")
_MINUS_ZERO = re.compile(rb"-0+ *[,\n]")
_BLANKS_BESIDE_SIGNS = re.compile(rb" *([,{}\n]) *")


class GatheredRows(ABC):
    """The rows that are read so far: cells of the table, and beside it texts, label sets and weights.

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
        self.reader = RowReader(cells, path)
        self.texts: dict[int, list[str | None]] = {i: [] for i in cells.texts}
        self.labels: list[tuple[str, ...] | None] = []
        self.weights: list[tuple[int, float]] = []
        self.n_rows = 0

    def read(self, blocks: Iterable[tuple[int, bytes]], *, exact: bool = False) -> None:
        """Read blocks of rows; ``exact`` reads every row by itself (the same result, slower)."""
        exact |= bool(self.cells.dates)
        for first_line, block in blocks:
            plain = None if exact else without_comments(block)
            if plain is None or (plain and not self._add_block(plain)):
                self._add_rows([self._row(number, line) for number, line in self.reader.rows(first_line, block)])

    @abstractmethod
    def finished(self) -> Any:
        """Return the cells of the table of all rows."""

    @abstractmethod
    def _add_block(self, rows: bytes) -> bool:
        """Append the rows of a block; False where that is not possible, and nothing is appended."""

    @abstractmethod
    def _row(self, number: int, line: str) -> tuple[Any, float | None]:
        """Return the values of one row by column, and its weight."""

    def _add_rows(self, rows: list[tuple[Any, float | None]]) -> None:
        """Append rows of (values by column, weight)."""
        for offset, (_, weight) in enumerate(rows):
            if weight is not None:
                self.weights.append((self.n_rows + offset, weight))
        for i, column in self.texts.items():
            column += [values[i] for values, _ in rows]
        if self.cells.labels is not None:
            self.labels += [values[self.cells.labels] for values, _ in rows]


class DenseRows(GatheredRows):
    """Dense rows; the table is allocated once, for as many rows as the file can hold.

    Parameters
    ----------
    cells : Cells
        The declared columns.
    n_bytes, n_lines : int
        Size of the text: a row takes a line and at least two bytes per cell.
    path : Path or None
        The file, for error messages.
    """

    def __init__(self, cells: Cells, n_bytes: int, n_lines: int, path: Path | None = None) -> None:
        super().__init__(cells, path)
        rows = min(n_lines, n_bytes // max(1, 2 * cells.n_columns - 1) + 1)
        self.numeric = np.empty((rows, len(cells.numbers)), order="F")
        self.codes = np.empty((rows, len(cells.nominals)), np.int32, order="F")
        beside = [*cells.texts, *([] if cells.labels is None else [cells.labels])]
        self._types: dict[int, Any] = dict.fromkeys(cells.nominals.tolist(), "category") | dict.fromkeys(beside, str)

    def finished(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and codes of all rows, without the room that was left."""
        n = self.n_rows
        if n >= 0.9 * len(self.numeric):
            return self.numeric[:n], self.codes[:n]
        return self.numeric[:n].copy(order="F"), self.codes[:n].copy(order="F")

    def _row(self, number: int, line: str) -> tuple[list[Any], float | None]:
        return self.reader.dense(number, line)

    def _add_rows(self, rows: list[tuple[Any, float | None]]) -> None:
        super()._add_rows(rows)
        numbers = np.array([[values[i] for i in self.cells.numbers] for values, _ in rows], np.float64)
        codes = np.array([[values[i] for i in self.cells.nominals] for values, _ in rows], np.int32)
        self._add(numbers.reshape(len(rows), self.numeric.shape[1]), codes.reshape(len(rows), self.codes.shape[1]))

    def _add(self, numeric: np.ndarray, codes: np.ndarray) -> None:
        end = self.n_rows + len(numeric)
        self.numeric[self.n_rows : end] = numeric
        self.codes[self.n_rows : end] = codes
        self.n_rows = end

    def _add_block(self, rows: bytes) -> bool:
        plain = _without_quotes(rows)
        n_columns = self.cells.n_columns
        if plain is None or any(line.count(b",") != n_columns - 1 for line in plain.split(b"\n")[:-1]):
            return False
        n_rows = plain.count(b"\n")
        only_numbers = not self._types
        if only_numbers:  # one long column is read faster than many
            frame = _parsed(plain.replace(b",", b"\n"), 1, {})
        else:
            frame = _parsed(plain, n_columns, self._types)
        if frame is None or len(frame) != (n_rows * n_columns if only_numbers else n_rows):
            return False
        numbers = _numbers(frame if only_numbers else frame[self.cells.numbers.tolist()], plain)
        codes = self._codes(frame, n_rows)
        beside = self._beside(frame)
        if numbers is None or codes is None or beside is None:
            return False
        for i, column in self.texts.items():
            column += beside[i]
        if self.cells.labels is not None:
            self.labels += beside[self.cells.labels]
        self._add(numbers.reshape(n_rows, -1) if only_numbers else numbers, codes)
        return True

    def _codes(self, frame: pd.DataFrame, n_rows: int) -> np.ndarray | None:
        """Codes of the nominal columns; None where a cell is none of the declared values."""
        codes = np.empty((n_rows, len(self.cells.nominals)), np.int32)
        for slot, i in enumerate(self.cells.nominals.tolist()):
            lookup = _lookup(frame[i], self.reader.codes[i] or {})
            if (lookup < -1).any():
                return None
            codes[:, slot] = lookup[frame[i].cat.codes]
        return codes

    def _beside(self, frame: pd.DataFrame) -> dict[int, list[Any]] | None:
        """Texts and label sets by column; None where one is empty or a label is unknown."""
        found: dict[int, list[Any]] = {}
        for i in (i for i, kind in self._types.items() if kind is str):
            found[i] = [None if text != text else text.strip(" ") for text in frame[i].tolist()]
            if "" in found[i]:
                return None
        if self.cells.labels is not None:
            sets = self.reader.known_label_sets(self.cells.labels, found[self.cells.labels])
            if sets is None:
                return None
            found[self.cells.labels] = sets
        return found


class SparseRows(GatheredRows):
    """Sparse rows, ``{index value, ...}``: columns and values of the entries, and how many each row has."""

    def __init__(self, cells: Cells, path: Path | None = None) -> None:
        super().__init__(cells, path)
        in_table = np.sort(np.concatenate([cells.numbers, cells.nominals]))
        self.slot = np.full(cells.n_columns, -1, np.int32)
        self.slot[in_table] = np.arange(len(in_table))
        self.columns: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.counts: list[np.ndarray] = []
        levels: dict[tuple[str, ...], int] = {}
        self._domain = np.full(cells.n_columns, -1)  # number of the column's levels among all that differ
        for i in cells.nominals.tolist():
            self._domain[i] = levels.setdefault(cells.attributes[i].levels or (), len(levels))
        self._domains = [{level: code for code, level in enumerate(own)} for own in levels]

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

    def _check_first_values(self, counts: np.ndarray) -> None:
        """An absent cell means the first declared value: there must be one."""
        for i in self.cells.nominals:
            if not self.cells.attributes[i].levels and counts[self.slot[i]] < self.n_rows:
                raise FileFormatError(
                    f"the attribute {self.cells.attributes[i].name!r} has no values, but absent cells of a "
                    "sparse row mean the first value",
                    path=self.path,
                )

    def _row(self, number: int, line: str) -> tuple[dict[int, Any], float | None]:
        entries, weight = self.reader.sparse(number, line)
        labels = self.cells.labels
        if labels is not None and labels not in entries:
            self.reader.fail("the sparse row gives no labels: write ? for an unlabelled row", number, labels)
        return dict.fromkeys(self.cells.texts) | entries, weight

    def _add_rows(self, rows: list[tuple[Any, float | None]]) -> None:
        super()._add_rows(rows)
        columns: list[int] = []
        values: list[float] = []
        counts = []
        for entries, _ in rows:
            kept = sorted(i for i in entries if self.slot[i] >= 0)
            columns += kept
            values += [np.nan if self._domain[i] >= 0 and entries[i] < 0 else entries[i] for i in kept]
            counts.append(len(kept))
        self._add(np.array(columns, np.int32), np.array(values, np.float64), np.array(counts, np.int32))

    def _add(self, columns: np.ndarray, values: np.ndarray, counts: np.ndarray) -> None:
        """Append rows: columns and values of their entries (NaN = missing), and how many each row has."""
        self.columns.append(self.slot[columns])
        self.values.append(_compact(values))
        self.counts.append(counts.astype(np.int32))
        self.n_rows += len(counts)

    def _add_block(self, rows: bytes) -> bool:
        if self.cells.texts or self.cells.labels is not None or b"'" in rows or b'"' in rows or _LONG_BLANK in rows:
            return False
        rows = rows.replace(b"\t", b" ").replace(b", ", b",")
        if any(pair in rows for pair in (b"  ", b" ,", b", ", b"{ ", b" }", b" \n", b"\n ")) or rows.startswith(b" "):
            rows = _BLANKS_BESIDE_SIGNS.sub(rb"\1", rows)
        n_rows = rows.count(b"\n")
        if {rows.count(sign) for sign in (b"{", b"}", b"}\n")} != {n_rows} or rows.count(b"\n{") != n_rows - 1:
            return False
        lines = rows.translate(None, b"{}").split(b"\n")[:-1]
        counts = np.array([line.count(b",") + 1 if line else 0 for line in lines])
        entries = b"\n".join(line for line in lines if line).replace(b",", b"\n") + b"\n"
        n_entries = int(counts.sum())
        if not n_entries:
            self._add(np.empty(0, np.int32), np.empty(0), counts)
            return True
        # with as many blanks as entries, none of which lacks a value, each is an index and a value
        frame = None if entries.count(b" ") != n_entries else _parsed(entries, 2, {}, " ")
        if frame is None or len(frame) != n_entries or frame[0].dtype.kind != "i":
            return False
        if entries.startswith((b"+", b"-")) or b"\n+" in entries or b"\n-" in entries:
            return False
        columns = frame[0].to_numpy() - self.cells.first_index
        row = np.repeat(np.arange(n_rows), counts)
        if columns.min() < 0 or columns.max() >= self.cells.n_columns:
            return False
        if not ((np.diff(columns) > 0) | (np.diff(row) > 0)).all():
            return False
        values = self._values(entries, columns, frame[[1]])
        if values is None:
            return False
        self._add(columns, values, counts)
        return True

    def _values(self, entries: bytes, columns: np.ndarray, inferred: pd.DataFrame) -> np.ndarray | None:
        """Numbers, and codes of the nominal columns, whose texts pandas has to keep; NaN where they are missing."""
        domain = self._domain[columns]
        nominal = domain >= 0
        if not nominal.any():
            found = _numbers(inferred, entries)
            return None if found is None else found.ravel()
        lines = [] if nominal.all() else entries.split(b"\n")
        values = np.empty(len(columns))
        for chosen, types in ((~nominal, {}), (nominal, {1: "category"})):
            if not chosen.any():
                continue
            if not types and inferred[1].dtype.kind in "if":
                frame, text = inferred[chosen], entries
            else:
                text = b"\n".join([lines[k] for k in np.flatnonzero(chosen).tolist()]) + b"\n" if lines else entries
                frame = _parsed(text, 2, types, " ")
            if frame is None or len(frame) != int(chosen.sum()):
                return None
            found = self._codes(frame[1], domain[chosen]) if types else _numbers(frame[[1]], text)
            if found is None:
                return None
            values[chosen] = found.ravel()
        return values

    def _codes(self, cells: pd.Series, domain: np.ndarray) -> np.ndarray | None:
        codes = np.empty(len(cells))
        for number in np.unique(domain).tolist():
            here = domain == number
            codes[here] = _lookup(cells, self._domains[number])[cells.cat.codes[here]]
        if (codes < -1).any():
            return None
        return np.where(codes < 0, np.nan, codes)


def _parsed(text: bytes, n_columns: int, types: Mapping[int, Any], separator: str = ",") -> pd.DataFrame | None:
    """Cells as pandas types them, missing where they are ``?``; None where a cell may be missing for another reason."""
    try:
        frame = pd.read_csv(
            io.BytesIO(text),
            sep=separator,
            header=None,
            names=list(range(n_columns)),
            dtype=dict(types) or None,
            na_values=["?"],
            keep_default_na=False,
            skipinitialspace=True,
            engine="c",
            quoting=3,
            low_memory=False,
            encoding="utf-8",
            **EXACT_NUMBERS,  # type: ignore[call-overload]
        )
    except (ValueError, OverflowError):
        return None
    if not isinstance(frame.index, pd.RangeIndex):  # of more cells than columns, pandas makes an index
        return None
    if int(frame.isna().to_numpy().sum()) != text.count(b"?"):
        return None
    return frame


def _numbers(frame: pd.DataFrame, text: bytes) -> np.ndarray | None:
    """Cells as floats; None where one is no number, is infinite, or may be changed by pandas or by a float."""
    kinds = {dtype.kind for dtype in frame.dtypes}
    if not kinds <= {"i", "u", "f"}:
        return None
    values = frame.to_numpy(np.float64)
    if np.isinf(values).any() or ("i" in kinds and b"-0" in text and _MINUS_ZERO.search(text)):
        return None
    if (np.abs(values) >= LARGEST_EXACT).any() and _MANY_DIGITS.search(text):
        return None
    return values


def _lookup(cells: pd.Series, codes: Mapping[str, int]) -> np.ndarray:
    """Declared code of each category of a column, and -1 for missing cells; -2 where a category is not declared."""
    texts = [str(category).strip(" ") for category in cells.cat.categories]
    return np.array([*(codes.get(text, -2) if text else -2 for text in texts), -1], np.int32)


def _compact(values: np.ndarray) -> np.ndarray:
    """The same values in the smallest type that holds them exactly."""
    for dtype in (np.uint8, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = values.astype(dtype)
        if np.array_equal(narrow, values, equal_nan=True):
            return narrow
    return values


def _without_quotes(rows: bytes) -> bytes | None:
    """Return dense rows without tabs and needless quotes; None if they are not plain."""
    if b"{" in rows or b"}" in rows or _LONG_BLANK in rows:
        return None
    if b"\t" in rows:
        rows = _TABS.sub(b",", rows)
    if b"'" in rows or b'"' in rows:
        parts = _PLAIN_QUOTES.split(b"\n" + rows)  # text, quote, cell in turn; faster than replacing by a template
        parts[1::3] = [b""] * (len(parts) // 3)
        rows = b"".join(parts)[1:]
        if b"'" in rows or b'"' in rows:
            return None
    return rows
