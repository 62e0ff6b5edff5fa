"""Rows of an ARFF file, one by one: the exact reading that says where a fault is.

The fast readers of dense and sparse rows hand over here whatever they do not understand at once, so this
module alone decides what is valid and what a cell means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from omnirank.core.errors import DataError, FileFormatError
from omnirank.core.text import counted
from omnirank.data.arff.header import Attribute
from omnirank.data.arff.tokens import NUMBER, Token, TokenError, after_blanks, read_token, split_cells
from omnirank.data.table import LARGEST_EXACT, any_text_rounded

_INDEX = re.compile(r"[0-9]+", re.ASCII)
_ENTRY_END = re.compile(r"[,}]")
_SHOWN = 60
_CONTROLS = bytes(set(range(32)) - set(b"\n\t")) + b"\x7f"


class Cells:
    """How columns are divided: numbers (dates too) and codes go to the table, texts and labels beside it.

    Parameters
    ----------
    attributes : sequence of Attribute
        The declared columns.
    first_index : int
        Index of the first column in sparse rows.
    """

    def __init__(self, attributes: Sequence[Attribute], first_index: int = 0) -> None:
        self.attributes = tuple(attributes)
        self.first_index = first_index
        kinds = [a.kind for a in attributes]
        self.numbers = np.array([i for i, k in enumerate(kinds) if k in ("numeric", "date")], np.intp)
        self.dates = {i for i, k in enumerate(kinds) if k == "date"}
        self.nominals = np.array([i for i, k in enumerate(kinds) if k == "nominal"], np.intp)
        self.texts = [i for i, k in enumerate(kinds) if k in ("string", "key")]
        self.labels = kinds.index("hierarchical") if "hierarchical" in kinds else None

    @property
    def n_columns(self) -> int:
        """Number of declared columns."""
        return len(self.attributes)


class RowReader:
    """Reads and checks single rows.

    Parameters
    ----------
    cells : Cells
        The columns.
    path : Path or None
        The file, for error messages.
    """

    def __init__(self, cells: Cells, path: Path | None = None) -> None:
        self.cells = cells
        self.path = path
        self.codes = [None if a.levels is None else {v: c for c, v in enumerate(a.levels)} for a in cells.attributes]
        self._label_sets: dict[str, tuple[str, ...]] = {}
        self.rounded: set[str] = set()  # names of columns of whole numbers that floats change

    def rows(self, first_line: int, block: bytes) -> Iterator[tuple[int, str]]:
        """Yield (line number, text) of the lines that hold a row."""
        for number, line in enumerate(block.decode("utf-8").split("\n"), start=first_line):
            stripped = line.strip(" \t")
            if stripped and not stripped.startswith("%"):
                yield number, stripped

    def dense(self, number: int, line: str) -> tuple[list[Any], float | None]:
        """Return the values of a dense row, one per column, and its weight."""
        if line.startswith("{"):
            self.fail("a sparse row among dense ones: all rows of a file must be of one kind", number)
        line, weight = self._split_weight(number, line)
        try:
            tokens = split_cells(line)
        except TokenError as problem:
            self.fail(str(problem), number, at=problem.at)
        if len(tokens) != self.cells.n_columns:
            self.fail(
                f"the row has {counted(len(tokens), 'cell')}, but {self.cells.n_columns} attributes are declared",
                number,
            )
        return [self._value(i, token, number) for i, token in enumerate(tokens)], weight

    def sparse(self, number: int, line: str) -> tuple[dict[int, Any], float | None]:
        """Return the values that a sparse row names, by column, and its weight."""
        if not line.startswith("{"):
            self.fail("a dense row among sparse ones: all rows of a file must be of one kind", number)
        entries: dict[int, Any] = {}
        try:
            at = self._sparse_entries(number, line, entries)
        except TokenError as problem:
            self.fail(str(problem), number, at=problem.at)
        rest = line[at:].strip(" \t")
        if not rest:
            return entries, None
        match = re.fullmatch(r"[, \t][ \t]*\{([^{}]*)\}", rest)
        if match is None:
            self.fail(f"unexpected text {rest[:_SHOWN]!r} after the row", number)
        return entries, self._weight(match[1].strip(" \t"), number)

    def _sparse_entries(self, number: int, line: str, entries: dict[int, Any]) -> int:
        at = after_blanks(line, 1)
        if line.startswith("}", at):
            return at + 1
        while True:
            match = _INDEX.match(line, at)
            if match is None or not line[match.end() : match.end() + 1].isspace():
                raise TokenError(f"expected 'index value' (the index counted from {self.cells.first_index})", at)
            n, first = self.cells.n_columns, self.cells.first_index
            column = int(match[0]) - first if len(match[0]) < 10 else n
            if not 0 <= column < n:
                raise TokenError(f"index {match[0][:20]}: the attributes are {first} to {n - 1 + first}", at)
            if column in entries:
                self.fail(f"the index {column + first} is given twice", number, column)
            token, at = read_token(line, after_blanks(line, match.end()), _ENTRY_END)
            entries[column] = self._value(column, token, number)
            at = after_blanks(line, at)
            mark = line[at : at + 1]
            if mark == "}":
                return at + 1
            if mark != ",":
                raise TokenError("the row is not closed by }" if not mark else "text after the closing quote", at)
            at = after_blanks(line, at + 1)

    def _value(self, column: int, token: Token, number: int) -> Any:
        """One cell: a float, a code, a text or a label set; NaN, -1 and None where it is missing."""
        attribute = self.cells.attributes[column]
        text = token.text
        missing = text == "?" and not token.quoted
        if not text and not token.quoted:
            self.fail("an empty cell: a missing value is written ?", number, column)
        if attribute.kind == "numeric":
            return math.nan if missing else self._number(column, text, number)
        codes = self.codes[column]
        if codes is not None:
            code = -1 if missing else codes.get(text)
            if code is None:
                self.fail(f"{text[:_SHOWN]!r} is none of the declared values{_listed(attribute)}", number, column)
            return code
        if missing:
            return None if attribute.to_seconds is None else math.nan
        try:
            if attribute.to_seconds is not None:
                return attribute.to_seconds(text)
            return text if attribute.labels is None else self._label_set(column, text)
        except (DataError, ValueError) as problem:
            self.fail(str(problem), number, column)

    def _number(self, column: int, text: str, number: int) -> float:
        text = text.strip(" ")
        if not NUMBER.fullmatch(text):
            what = "is infinite" if re.fullmatch(r"[+-]?inf(inity)?", text, re.IGNORECASE) else "is not a number"
            hint = ": a missing value is written ?" if text.lower() == "nan" else ""
            self.fail(f"{text[:_SHOWN]!r} {what}{hint}", number, column)
        value = float(text)
        if math.isinf(value):
            self.fail(f"{text[:_SHOWN]!r} is too large for a number", number, column)
        if abs(value) >= LARGEST_EXACT and any_text_rounded([text]):
            self.rounded.add(self.cells.attributes[column].name)
        return value

    def _label_set(self, column: int, text: str) -> tuple[str, ...]:
        """The labels of a cell of the hierarchical attribute."""
        if text not in self._label_sets:
            labels = self.cells.attributes[column].labels
            assert labels is not None
            self._label_sets[text] = labels.parse(text)
        return self._label_sets[text]

    def known_label_sets(self, column: int, texts: Sequence[str | None]) -> list[tuple[str, ...] | None] | None:
        """Return the label sets of many cells; None when one of them holds an unknown label."""
        try:
            return [None if text is None else self._label_set(column, text) for text in texts]
        except DataError:
            return None

    def _split_weight(self, number: int, line: str) -> tuple[str, float | None]:
        """Take the weight off a dense row: ``1,2,{0.5}``."""
        opening = line.rfind("{")
        if opening < 1 or not line.endswith("}"):
            return line, None
        row = line[:opening].rstrip(" \t")
        if not row.endswith(",") and line[opening - 1] != "\t":
            return line, None
        return row.removesuffix(","), self._weight(line[opening + 1 : -1].strip(" \t"), number)

    def _weight(self, text: str, number: int) -> float:
        if not NUMBER.fullmatch(text) or not 0 <= float(text) < math.inf:
            self.fail(f"the weight {{{text[:_SHOWN]}}} of the row is not a number of at least 0", number)
        return float(text)

    def fail(self, problem: str, line: int, column: int | None = None, at: int | None = None) -> NoReturn:
        """Raise the error: ``column`` is that of a cell (from 0), ``at`` a character of the line."""
        if column is not None:
            problem = f"attribute {self.cells.attributes[column].name!r}: {problem}"
            raise FileFormatError(problem, path=self.path, line=line, column=column + 1)
        if at is not None:
            problem = f"{problem} (character {at + 1} of the row)"
        raise FileFormatError(problem, path=self.path, line=line)


def without_comments(block: bytes) -> bytes | None:
    """Return the rows of a block, stripped; None when it holds control characters, which only text can."""
    if len(block.translate(None, _CONTROLS)) != len(block):
        return None
    if b"%" in block or b"\n\n" in block or block.startswith(b"\n") or b"\t" in block:
        lines = (line.strip(b" \t") for line in block.split(b"\n"))
        rows = [line for line in lines if line and not line.startswith(b"%")]
        return b"\n".join(rows) + b"\n" if rows else b""
    return block


def _listed(attribute: Attribute) -> str:
    levels = attribute.levels or ()
    shown = ", ".join(repr(v) for v in levels[:6])
    return f" ({shown}{', ...' if len(levels) > 6 else ''})" if levels else " (there are none)"
