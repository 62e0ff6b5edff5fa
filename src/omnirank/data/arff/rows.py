"""Rows of an ARFF file: blocks of plain cells by pandas, all others one by one.

Reading by pandas never guesses: where a block holds anything that pandas may take for something else, all its rows are
read exactly, cell by cell. That alone decides what is valid and says where a fault is.
"""

from __future__ import annotations

import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError, FileFormatError
from omnirank.core.text import counted
from omnirank.data.arff.header import Attribute
from omnirank.data.arff.tokens import NUMBER, Token, TokenError, after_blanks, read_token, split_cells
from omnirank.data.files import EXACT_NUMBERS
from omnirank.data.table import LARGEST_EXACT, Table, any_text_rounded

_INDEX = re.compile(r"[0-9]+", re.ASCII)
_ENTRY_END = re.compile(r"[,}]")
_SHOWN = 60
_CONTROLS = bytes(set(range(32)) - set(b"\n\t")) + b"\x7f"
# A quoted cell without any sign that means something inside or outside the quotes, and not ?.
_PLAIN_QUOTES = re.compile(
    rb"(?<=[,\n]) *(['\"])([^'\",\\%{}\n\t ?](?:[^'\",\\%{}\n\t?]*[^'\",\\%{}\n\t ?])?)\1(?= *[,\n])"
)
_TABS = re.compile(rb"[ \t]*,[ \t]*|[ ]*\t[ \t]*")
_LONG_BLANK = b" " * 64  # the patterns for blanks would take quadratic time on it
_MANY_DIGITS = re.compile(rb"[0-9]{16}")
_MINUS_ZERO = re.compile(rb"-0+ *[,\n]")
_BLANKS_BESIDE_SIGNS = re.compile(rb" *([,{}\n]) *")


class Rows(ABC):
    """The rows of a file, as far as they are read: numbers (dates too) and codes for the table, texts and labels.

    Parameters
    ----------
    attributes : sequence of Attribute
        The declared columns.
    path : Path or None
        The file, for error messages.
    first_index : int
        Index of the first column in sparse rows.
    """

    def __init__(self, attributes: Sequence[Attribute], path: Path | None = None, first_index: int = 0) -> None:
        self.attributes = tuple(attributes)
        self.path = path
        self.first_index = first_index
        kinds = [attribute.kind for attribute in attributes]
        self.numbers = [i for i, kind in enumerate(kinds) if kind in ("numeric", "date")]
        self.nominals = [i for i, kind in enumerate(kinds) if kind == "nominal"]
        self.label_column = kinds.index("hierarchical") if "hierarchical" in kinds else None
        self.texts: dict[int, list[Any]] = {i: [] for i, kind in enumerate(kinds) if kind in ("string", "key")}
        self.labels: list[Any] = []
        self.weights: dict[int, float] = {}
        self.n_rows = 0
        self.rounded: set[str] = set()  # names of columns of whole numbers that floats change
        self._codes = [None if a.levels is None else {v: c for c, v in enumerate(a.levels)} for a in attributes]
        self._label_sets: dict[str, tuple[str, ...]] = {}
        self._exact_only = "date" in kinds

    @property
    def in_table(self) -> list[int]:
        """Columns of the table, in the order of the file."""
        return sorted(self.numbers + self.nominals)

    def read(self, blocks: Iterable[tuple[int, bytes]]) -> None:
        """Read blocks of rows."""
        for first_line, block in blocks:
            plain = None if self._exact_only else _without_comments(block)
            if plain is None or (plain and not self._add_block(plain)):
                lines = enumerate(lines_with_rows(first_line, block), start=self.n_rows)
                rows = [self._row(number, self._unweighted(line, row)) for row, (number, line) in lines]
                for beside in self._beside:
                    self._column(beside).extend(row[beside] for row in rows)
                self._add_rows(rows)

    @abstractmethod
    def table(self) -> Table:
        """Return the table of all rows; what was gathered for it is given up."""

    @abstractmethod
    def _add_block(self, rows: bytes) -> bool:
        """Append the rows of a block; False where that is not possible, and nothing is appended."""

    @abstractmethod
    def _row(self, number: int, line: str) -> Any:
        """Return the values of one row by column."""

    @abstractmethod
    def _add_rows(self, rows: list[Any]) -> None:
        """Append the cells of the table of some rows."""

    @property
    def _beside(self) -> list[int]:
        """Columns that are not in the table."""
        return [*self.texts, *([] if self.label_column is None else [self.label_column])]

    def _column(self, i: int) -> list[Any]:
        return self.labels if i == self.label_column else self.texts[i]

    # -- exact reading --------------------------------------------------------------------------------

    def _unweighted(self, line: str, row: int) -> str:
        """A row without its weight, ``1,2,{0.5}``, which is kept."""
        opening = line.rfind("{")
        if opening < 1 or not line.endswith("}") or line[opening - 1] not in ", \t":
            return line
        weight = line[opening + 1 : -1].strip(" \t")
        if not NUMBER.fullmatch(weight) or not 0 <= float(weight) < math.inf:
            return line
        self.weights[row] = float(weight)
        return line[:opening].rstrip(" \t").removesuffix(",").rstrip(" \t")

    def _value(self, column: int, token: Token, number: int) -> Any:
        """One cell: a float, a code, a text or a label set; NaN, -1 and None where it is missing."""
        attribute = self.attributes[column]
        text = token.text
        missing = text == "?" and not token.quoted
        if not text and not token.quoted:
            self._fail("an empty cell: a missing value is written ?", number, column)
        if attribute.kind == "numeric":
            return math.nan if missing else self._number(column, text, number)
        codes = self._codes[column]
        if codes is not None:
            code = -1 if missing else codes.get(text)
            if code is None:
                self._fail(f"{text[:_SHOWN]!r} is none of the declared values{_listed(attribute)}", number, column)
            return code
        if missing:
            return None if attribute.to_seconds is None else math.nan
        try:
            if attribute.to_seconds is not None:
                return attribute.to_seconds(text)
            return text if attribute.labels is None else self._label_set(text)
        except (DataError, ValueError) as problem:
            self._fail(str(problem), number, column)

    def _number(self, column: int, text: str, number: int) -> float:
        text = text.strip(" ")
        if not NUMBER.fullmatch(text):
            what = "is infinite" if re.fullmatch(r"[+-]?inf(inity)?", text, re.IGNORECASE) else "is not a number"
            hint = ": a missing value is written ?" if text.lower() == "nan" else ""
            self._fail(f"{text[:_SHOWN]!r} {what}{hint}", number, column)
        value = float(text)
        if math.isinf(value):
            self._fail(f"{text[:_SHOWN]!r} is too large for a number", number, column)
        if abs(value) >= LARGEST_EXACT and any_text_rounded([text]):
            self.rounded.add(self.attributes[column].name)
        return value

    def _label_set(self, text: str) -> tuple[str, ...]:
        """The labels of a cell of the hierarchical attribute."""
        if text not in self._label_sets:
            declared = next(a.labels for a in self.attributes if a.labels is not None)
            self._label_sets[text] = declared.parse(text)
        return self._label_sets[text]

    def _fail(self, problem: str, line: int, column: int | None = None, at: int | None = None) -> NoReturn:
        """Raise the error: ``column`` is that of a cell (from 0), ``at`` a character of the line."""
        if column is not None:
            problem = f"attribute {self.attributes[column].name!r}: {problem}"
            raise FileFormatError(problem, path=self.path, line=line, column=column + 1)
        if at is not None:
            problem = f"{problem} (character {at + 1} of the row)"
        raise FileFormatError(problem, path=self.path, line=line)


class DenseRows(Rows):
    """Dense rows: blocks of numbers and of codes."""

    def __init__(self, attributes: Sequence[Attribute], path: Path | None = None, first_index: int = 0) -> None:
        super().__init__(attributes, path, first_index)
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []
        self._types: dict[int, Any] = dict.fromkeys(self.nominals, "category") | dict.fromkeys(self._beside, str)

    def table(self) -> Table:
        """Return the table of all rows; what was gathered for it is given up."""
        numeric = np.empty((self.n_rows, len(self.numbers)), order="F")
        codes = np.empty((self.n_rows, len(self.nominals)), np.int32, order="F")
        end = self.n_rows
        while self._blocks:
            own_numbers, own_codes = self._blocks.pop()
            start = end - len(own_numbers)
            numeric[start:end], codes[start:end] = own_numbers, own_codes
            end = start
        declared = [self.attributes[i] for i in self.in_table]
        return Table(tuple(a.name for a in declared), tuple(a.levels for a in declared), numeric, codes)

    def _row(self, number: int, line: str) -> list[Any]:
        if line.startswith("{"):
            self._fail("a sparse row among dense ones: all rows of a file must be of one kind", number)
        try:
            tokens = split_cells(line)
        except TokenError as problem:
            self._fail(str(problem), number, at=problem.at)
        if len(tokens) != len(self.attributes):
            cells = counted(len(tokens), "cell")
            self._fail(f"the row has {cells}, but {len(self.attributes)} attributes are declared", number)
        return [self._value(i, token, number) for i, token in enumerate(tokens)]

    def _add_rows(self, rows: list[Any]) -> None:
        numbers = np.array([[row[i] for i in self.numbers] for row in rows], np.float64)
        codes = np.array([[row[i] for i in self.nominals] for row in rows], np.int32)
        self._add(numbers, codes.reshape(len(rows), len(self.nominals)), len(rows))

    def _add(self, numbers: np.ndarray, codes: np.ndarray, n_rows: int) -> None:
        numbers = numbers.reshape(n_rows, len(self.numbers))
        self._blocks.append((_compact(numbers, np.float32), _compact(codes, np.int8)))
        self.n_rows += n_rows

    def _add_block(self, rows: bytes) -> bool:
        plain = _without_quotes(rows)
        n_columns = len(self.attributes)
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
        numbers = _numbers(frame if only_numbers else frame[self.numbers], plain)
        codes = np.empty((n_rows, len(self.nominals)), np.int32)
        for slot, i in enumerate(self.nominals):
            codes[:, slot] = _lookup(frame[i], self._codes[i] or {})[frame[i].cat.codes]
        beside = {i: [None if text != text else text.strip(" ") for text in frame[i].tolist()] for i in self._beside}
        if numbers is None or (codes < -1).any() or any("" in texts for texts in beside.values()):
            return False
        try:
            if self.label_column is not None:
                texts = beside[self.label_column]
                beside[self.label_column] = [None if text is None else self._label_set(text) for text in texts]
        except DataError:
            return False
        for i, cells in beside.items():
            self._column(i).extend(cells)
        self._add(numbers, codes, n_rows)
        return True


class SparseRows(Rows):
    """Sparse rows, ``{index value, ...}``: columns and values of the entries, and how many each row has."""

    def __init__(self, attributes: Sequence[Attribute], path: Path | None = None, first_index: int = 0) -> None:
        super().__init__(attributes, path, first_index)
        self._slot = np.full(len(self.attributes), -1, np.int32)
        self._slot[self.in_table] = np.arange(len(self.in_table))
        self._entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        domains: dict[tuple[str, ...], int] = {}
        self._domain = np.full(len(self.attributes), -1)  # number of the column's levels among all that differ
        for i in self.nominals:
            levels = self.attributes[i].levels or ()
            self._domain[i] = domains.setdefault(levels, len(domains))
        self._domains = [{level: code for code, level in enumerate(levels)} for levels in domains]

    def table(self) -> Table:
        """Return the table of all rows; what was gathered for it is given up."""
        counts, columns, values = (list(arrays) for arrays in zip(*self._entries, strict=True))
        self._entries.clear()
        n_entries = sum(map(len, columns))
        # One index type for all parts: scipy would copy them to a common one.
        index_type = np.int32 if n_entries < 2**31 else np.int64
        starts = np.cumsum(np.concatenate([[0], *counts]), dtype=index_type)
        cells = (np.concatenate(values), np.concatenate(columns).astype(index_type, copy=False), starts)
        del columns, values
        # The conversion holds the entries twice: it runs on the narrow values, which are widened after.
        rows = sparse.csr_array(cells, shape=(self.n_rows, len(self.in_table)))
        del cells
        matrix = rows.tocsc()
        del rows
        given = np.diff(matrix.indptr)
        for i in self.nominals:
            if not self.attributes[i].levels and given[self._slot[i]] < self.n_rows:
                name = self.attributes[i].name
                problem = f"the attribute {name!r} has no values, but absent cells of a sparse row mean the first value"
                raise FileFormatError(problem, path=self.path)
        matrix.eliminate_zeros()
        parts = (matrix.data.astype(np.float64, copy=False), matrix.indices, matrix.indptr)
        declared = [self.attributes[i] for i in self.in_table]
        names, levels = [a.name for a in declared], [a.levels for a in declared]
        return Table.from_sparse(sparse.csc_array(parts, shape=matrix.shape), names, levels)

    def _row(self, number: int, line: str) -> dict[int, Any]:
        if not line.startswith("{"):
            self._fail("a dense row among sparse ones: all rows of a file must be of one kind", number)
        entries: dict[int, Any] = dict.fromkeys(self.texts)
        try:
            at = self._read_entries(number, line, entries)
        except TokenError as problem:
            self._fail(str(problem), number, at=problem.at)
        rest = line[at:].strip(" \t")
        if rest:
            self._fail(f"unexpected text {rest[:_SHOWN]!r} after the row", number)
        if self.label_column is not None and self.label_column not in entries:
            self._fail("the sparse row gives no labels: write ? for an unlabelled row", number, self.label_column)
        return entries

    def _read_entries(self, number: int, line: str, entries: dict[int, Any]) -> int:
        """Read the entries of a row, and return the place after them."""
        n, first, named = len(self.attributes), self.first_index, set[int]()
        at = after_blanks(line, 1)
        if line.startswith("}", at):
            return at + 1
        while True:
            match = _INDEX.match(line, at)
            if match is None or not line[match.end() : match.end() + 1].isspace():
                raise TokenError(f"expected 'index value' (the index counted from {first})", at)
            column = int(match[0]) - first if len(match[0]) < 10 else n
            if not 0 <= column < n:
                raise TokenError(f"index {match[0][:20]}: the attributes are {first} to {n - 1 + first}", at)
            if column in named:
                self._fail(f"the index {column + first} is given twice", number, column)
            named.add(column)
            token, at = read_token(line, after_blanks(line, match.end()), _ENTRY_END)
            entries[column] = self._value(column, token, number)
            at = after_blanks(line, at)
            mark = line[at : at + 1]
            if mark == "}":
                return at + 1
            if mark != ",":
                raise TokenError("the row is not closed by }" if not mark else "text after the closing quote", at)
            at = after_blanks(line, at + 1)

    def _add_rows(self, rows: list[Any]) -> None:
        columns = [sorted(i for i in entries if self._slot[i] >= 0) for entries in rows]
        values = [
            np.nan if self._domain[i] >= 0 and entries[i] < 0 else entries[i]
            for entries, own in zip(rows, columns, strict=True)
            for i in own
        ]
        counts = np.array([len(own) for own in columns], np.int32)
        self._add(counts, np.array([i for own in columns for i in own], np.intp), np.array(values, np.float64))

    def _add(self, counts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Append rows: how many entries each has, their columns and values (NaN = missing)."""
        self._entries.append((counts, self._slot[columns], _compact(values)))
        self.n_rows += len(counts)

    def _add_block(self, rows: bytes) -> bool:
        if self._beside or b"'" in rows or b'"' in rows or _LONG_BLANK in rows:
            return False
        rows = rows.replace(b"\t", b" ").replace(b", ", b",")
        if any(pair in rows for pair in (b"  ", b" ,", b", ", b"{ ", b" }", b" \n", b"\n ")) or rows.startswith(b" "):
            rows = _BLANKS_BESIDE_SIGNS.sub(rb"\1", rows)
        n_rows = rows.count(b"\n")
        if {rows.count(sign) for sign in (b"{", b"}", b"}\n")} != {n_rows} or rows.count(b"\n{") != n_rows - 1:
            return False
        lines = rows.translate(None, b"{}").split(b"\n")[:-1]
        counts = np.array([line.count(b",") + 1 if line else 0 for line in lines], np.int32)
        entries = b"\n".join(line for line in lines if line).replace(b",", b"\n") + b"\n"
        n_entries = int(counts.sum())
        if not n_entries:
            self._add(counts, np.empty(0, np.intp), np.empty(0))
            return True
        # with as many blanks as entries, none of which lacks a value, each is an index and a value
        if entries.count(b" ") != n_entries or entries[:1] in b"+-" or b"\n+" in entries or b"\n-" in entries:
            return False
        frame = _parsed(entries, 2, {1: "category"} if self.nominals else {}, " ")
        if frame is None or len(frame) != n_entries or frame[0].dtype.kind != "i":
            return False
        columns = frame[0].to_numpy() - self.first_index
        row = np.repeat(np.arange(n_rows), counts)
        if columns.min() < 0 or columns.max() >= len(self.attributes):
            return False
        if not ((np.diff(columns) > 0) | (np.diff(row) > 0)).all():
            return False
        values = self._values(frame[1], self._domain[columns]) if self.nominals else _numbers(frame[[1]], entries)
        if values is None:
            return False
        self._add(counts, columns, values.ravel())
        return True

    def _values(self, cells: pd.Series, domain: np.ndarray) -> np.ndarray | None:
        """Numbers and codes of entries, NaN where they are missing; None where a text is none of its column."""
        values = np.empty(len(cells))
        for number in np.unique(domain).tolist():
            here = domain == number
            lookup = _lookup(cells, self._domains[number]) if number >= 0 else _number_lookup(cells)
            values[here] = lookup[cells.cat.codes[here]]
        codes = domain >= 0
        if np.isinf(values).any() or (values[codes] < -1).any():
            return None
        values[codes & (values < 0)] = np.nan
        return values


def lines_with_rows(first_line: int, block: bytes) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of the lines of a block that are neither blank nor a comment."""
    for number, line in enumerate(block.decode("utf-8").split("\n"), start=first_line):
        stripped = line.strip(" \t")
        if stripped and not stripped.startswith("%"):
            yield number, stripped


def _without_comments(block: bytes) -> bytes | None:
    """The rows of a block, stripped; None when it holds control characters, which only text can."""
    if len(block.translate(None, _CONTROLS)) != len(block):
        return None
    if b"%" in block or b"\n\n" in block or block.startswith(b"\n") or b"\t" in block:
        lines = (line.strip(b" \t") for line in block.split(b"\n"))
        rows = [line for line in lines if line and not line.startswith(b"%")]
        return b"\n".join(rows) + b"\n" if rows else b""
    return block


def _without_quotes(rows: bytes) -> bytes | None:
    """Dense rows without tabs and needless quotes; None if they are not plain."""
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


def _number_lookup(cells: pd.Series) -> np.ndarray:
    """Number of each category of a column, and NaN for missing cells; infinite where a row must be read exactly."""
    texts = [str(category) for category in cells.cat.categories]
    numbers = np.array([*(float(text) if NUMBER.fullmatch(text) else np.inf for text in texts), np.nan])
    return np.where(np.abs(numbers) < LARGEST_EXACT, numbers, np.where(np.isnan(numbers), np.nan, np.inf))


def _compact(values: np.ndarray, *types: Any) -> np.ndarray:
    """The same values in the smallest type that holds them exactly."""
    for dtype in types or (np.uint8, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = values.astype(dtype)
        if np.array_equal(narrow, values, equal_nan=values.dtype.kind == "f"):
            return narrow
    return values


def _listed(attribute: Attribute) -> str:
    levels = attribute.levels or ()
    shown = ", ".join(repr(v) for v in levels[:6])
    return f" ({shown}{', ...' if len(levels) > 6 else ''})" if levels else " (there are none)"
