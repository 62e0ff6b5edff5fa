"""Rows of an ARFF file, dense or sparse, read cell by cell."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError, FileFormatError
from omnirank.core.text import counted
from omnirank.data.arff.header import Attribute
from omnirank.data.arff.tokens import EMPTY, NUMBER, TokenError, after_blanks, read_token, split_cells
from omnirank.data.files import EXACT_NUMBERS
from omnirank.data.table import LARGEST_EXACT, Table, any_text_rounded

_INDEX = re.compile(r"[0-9]+", re.ASCII)
_ENTRIES = re.compile(r"(?:[0-9]{1,9} [^ \n]+(?:\n|$))*")
_ENTRY_END = re.compile(r"[,}]")
_SHOWN = 60
_CHARACTERS_AT_ONCE = 1 << 22
# Quotes, and blanks other than spaces.
_ODD = re.compile(r"['\"\x00-\x09\x0b-\x1f\x7f]")


class Rows:
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
        self.is_sparse: bool | None = None  # as the first row is
        self._kinds = kinds = [attribute.kind for attribute in attributes]
        self.numbers = [i for i, kind in enumerate(kinds) if kind in ("numeric", "date")]
        self.nominals = [i for i, kind in enumerate(kinds) if kind == "nominal"]
        # cells of string, key and hierarchical attributes
        self.texts: dict[int, list[Any]] = {i: [] for i, kind in enumerate(kinds) if kind in ("string", "key")}
        self.label_column = kinds.index("hierarchical") if "hierarchical" in kinds else None
        self.labels: list[Any] = []
        self._beside = self.texts if self.label_column is None else self.texts | {self.label_column: self.labels}
        self.weights: dict[int, float] = {}
        self.n_rows = 0
        self.rounded: set[str] = set()  # names of columns of whole numbers that floats change
        self._label_sets: dict[str, tuple[str, ...]] = {}
        # codes by text, where cells may be bare
        self._levels = [{text: i for i, text in enumerate(a.levels or ()) if text} for a in attributes]
        self._readers = [self._reader(attribute) for attribute in attributes]
        self._blocks: list[tuple[np.ndarray, ...]] = []

    def _reader(self, attribute: Attribute) -> Callable[[str | None], Any]:
        """What reads the text of a cell (None: missing); KeyError or ValueError where it does not fit."""
        if attribute.kind == "numeric":
            return _plain_number
        if attribute.levels is not None:
            codes: dict[str | None, int] = {level: code for code, level in enumerate(attribute.levels)} | {None: -1}
            return codes.__getitem__
        if attribute.to_seconds is not None:
            seconds = attribute.to_seconds
            return lambda text: math.nan if text is None else seconds(text)
        return (lambda text: text) if attribute.labels is None else self._label_set

    def read(self, lines: Iterable[tuple[int, str]]) -> None:
        """Read lines, each given with its number."""
        rows: list[tuple[int, str]] = []
        size = 0
        for number, line in lines:
            stripped = line.strip(" \t")
            if stripped and not stripped.startswith("%"):
                rows.append((number, stripped))
                size += len(stripped)
            if size > _CHARACTERS_AT_ONCE:
                self._read_rows(rows)
                rows, size = [], 0
        if rows:
            self._read_rows(rows)

    def _read_rows(self, rows: list[tuple[int, str]]) -> None:
        """Read rows column by column if they are plain, else cell by cell."""
        if self._add_plain([line for _, line in rows]):
            self.n_rows += len(rows)
            return
        found = []
        for number, line in rows:
            found.append(self._row(number, self._unweighted(line)))
            self.n_rows += 1
        self._add(found)

    def _add(self, rows: list[tuple[Sequence[int], list[Any]]]) -> None:
        (self._add_sparse if self.is_sparse else self._add_dense)(rows)

    def _row(self, number: int, line: str) -> tuple[Sequence[int], list[Any]]:
        """The columns of a row that are given, and their values."""
        is_sparse = line.startswith("{")
        if self.is_sparse not in (None, is_sparse):
            odd, others = ("sparse", "dense") if is_sparse else ("dense", "sparse")
            self._fail(f"a {odd} row among {others} ones: all rows of a file must be of one kind", number)
        self.is_sparse = is_sparse
        columns: Sequence[int] = range(len(self.attributes))
        try:
            if is_sparse:
                columns, cells = self._entries(number, line)
            else:
                cells = split_cells(line)
        except TokenError as problem:
            self._fail(f"{problem} (character {problem.at + 1} of the row)", number)
        if len(cells) != len(columns):
            found = counted(len(cells), "cell")
            self._fail(f"the row has {found}, but {len(self.attributes)} attributes are declared", number)
        if line.isascii() and line.isprintable() and "_" not in line and EMPTY not in cells:
            readers = [self._readers[i] for i in columns] if is_sparse else self._readers
            try:
                return columns, [read(cell) for read, cell in zip(readers, cells, strict=True)]
            except (KeyError, ValueError, DataError):
                pass  # numbers that want a closer look, or an error, which is said below
        return columns, [self._value(i, cell, number) for i, cell in zip(columns, cells, strict=True)]

    def _value(self, column: int, text: str | None, number: int) -> Any:
        """The value of a cell; unlike the readers of columns it tells all odd numbers from others."""
        try:
            if text is EMPTY:
                raise ValueError(f"{EMPTY}: a missing value is written ?")
            if self.attributes[column].kind == "numeric" and text is not None:
                return self._number(column, text.strip(" "))
            return self._readers[column](text)
        except (DataError, KeyError, ValueError) as error:
            none = f"{str(text)[:_SHOWN]!r} is none of the declared values{_listed(self.attributes[column])}"
            problem = none if isinstance(error, KeyError) else str(error)
            self._fail(f"attribute {self.attributes[column].name!r}: {problem}", number, column)

    def _number(self, column: int, text: str) -> float:
        if not NUMBER.fullmatch(text):
            what = "is infinite" if re.fullmatch(r"[+-]?inf(inity)?", text, re.IGNORECASE) else "is not a number"
            hint = ": a missing value is written ?" if text.lower() == "nan" else ""
            raise ValueError(f"{text[:_SHOWN]!r} {what}{hint}")
        value = float(text)
        if math.isinf(value):
            raise ValueError(f"{text[:_SHOWN]!r} is too large for a number")
        if any_text_rounded([text]):
            self.rounded.add(self.attributes[column].name)
        return value

    def _unweighted(self, line: str) -> str:
        """The row without the weight ``{w}`` at its end, which is kept."""
        opening = line.rfind("{")
        if opening < 1 or not line.endswith("}") or line[opening - 1] not in ", \t":
            return line
        weight = line[opening + 1 : -1].strip(" \t")
        if not NUMBER.fullmatch(weight) or not 0 <= float(weight) < math.inf:
            return line
        self.weights[self.n_rows] = float(weight)
        return line[:opening].rstrip(" \t").removesuffix(",").rstrip(" \t")

    def _label_set(self, text: str | None) -> tuple[str, ...] | None:
        if text is not None and text not in self._label_sets:
            declared = next(a.labels for a in self.attributes if a.labels is not None)
            self._label_sets[text] = declared.parse(text)
        return None if text is None else self._label_sets[text]

    # -- plain rows -----------------------------------------------------------------------------------

    def _add_plain(self, lines: list[str]) -> bool:
        """Add rows of bare cells without blanks around them; False if there are others, or anything that is odd."""
        text, is_sparse = "\n".join(lines), lines[0].startswith("{")
        if (
            self.is_sparse not in (None, is_sparse)
            or not text.isascii()
            or _ODD.search(text)
            or set(self._kinds) - {"numeric", "nominal"}
        ):
            return False
        try:
            (self._add_plain_sparse if is_sparse else self._add_plain_dense)(text, lines)
        except (KeyError, ValueError, OverflowError):
            return False
        self.is_sparse = is_sparse
        return True

    def _add_plain_dense(self, text: str, lines: list[str]) -> None:
        n = len(self.attributes)
        if " " in text or "{" in text or any(line.count(",") != n - 1 for line in lines):
            raise ValueError
        frame = _plain_cells(text, ",", [float if kind == "numeric" else object for kind in self._kinds])
        numbers = frame[self.numbers].to_numpy(np.float64).T
        codes = np.empty((len(self.nominals), len(lines)), np.int32)
        for own, i in zip(codes, self.nominals, strict=True):
            found, texts = pd.factorize(frame[i])
            own[:] = np.array([*(self._levels[i][one] for one in texts), -1])[found]
        if np.isnan(numbers).sum() + (codes < 0).sum() != text.count("?") or not _are_exact(numbers):
            raise ValueError
        self._blocks.append((numbers, codes))

    def _add_plain_sparse(self, text: str, lines: list[str]) -> None:
        odd = any(line[0] != "{" or line.find("}") != len(line) - 1 for line in lines)
        if odd or "?" in text or (self.numbers and self.nominals):
            raise ValueError
        entries = "\n".join([line[1:-1] for line in lines if line != "{}"]).replace(",", "\n")
        if not _ENTRIES.fullmatch(entries):
            raise ValueError
        frame = _plain_cells(entries, " ", [int, float if self.numbers else object])
        n, counts = len(self.attributes), [0 if line == "{}" else line.count(",") + 1 for line in lines]
        columns = frame[0].to_numpy() - self.first_index
        place = np.repeat(np.arange(len(lines)), counts) * n + columns
        if (columns < 0).any() or (columns >= n).any() or (np.diff(place) <= 0).any():
            raise ValueError
        if self.numbers:
            values = frame[1].to_numpy()
        else:
            found, known = pd.factorize(frame[1])
            texts = list(known)
            which, pairs = pd.factorize(columns * len(texts) + found)
            own = (self._levels[pair // len(texts)][texts[pair % len(texts)]] for pair in pairs.tolist())
            values = np.fromiter(own, np.float64, len(pairs))[which]
        if np.isnan(values).any() or not _are_exact(values):
            raise ValueError
        self._blocks.append((np.array(counts), columns, values))

    # -- dense rows -----------------------------------------------------------------------------------

    def _add_dense(self, rows: list[tuple[Sequence[int], list[Any]]]) -> None:
        columns = list(zip(*(values for _, values in rows), strict=True))
        for i, found in self._beside.items():
            found += columns[i]
        chosen = ((self.numbers, np.float64), (self.nominals, np.int32))
        self._blocks.append(
            tuple(np.array([columns[i] for i in own], kind).reshape(len(own), len(rows)) for own, kind in chosen)
        )

    def table(self) -> Table:
        """Return the numeric, date and nominal columns."""
        if self.is_sparse:
            return self._sparse_table()
        numeric, codes = (np.concatenate(blocks, axis=1).T for blocks in zip(*self._blocks, strict=True))
        declared = [self.attributes[i] for i in sorted(self.numbers + self.nominals)]
        return Table(tuple(a.name for a in declared), tuple(a.levels for a in declared), numeric, codes)

    # -- sparse rows ----------------------------------------------------------------------------------

    def _entries(self, number: int, line: str) -> tuple[list[int], list[str | None]]:
        """Columns and texts of the cells that a sparse row gives."""
        if "'" not in line and '"' not in line and line.isprintable() and line.isascii() and line.endswith("}"):
            entries = [entry.strip(" ").partition(" ") for entry in line[1:-1].split(",")] if line != "{}" else []
            texts = [text.strip(" ") for _, _, text in entries]
            if (
                all(index.isdecimal() and len(index) < 10 for index, _, _ in entries)
                and all(texts)
                and "}" not in line[:-1]
            ):
                columns = [int(index) - self.first_index for index, _, _ in entries]
                known = all(0 <= i < len(self.attributes) for i in columns)
                if known and len(set(columns)) == len(columns) and self.label_column in (None, *columns):
                    return columns, [None if text == "?" else text for text in texts]
        return self._odd_entries(number, line)

    def _odd_entries(self, number: int, line: str) -> tuple[list[int], list[str | None]]:
        """As `_entries`, of rows with quotes, tabs or faults."""
        n, first, entries = len(self.attributes), self.first_index, dict[int, str | None]()
        at, mark = after_blanks(line, 1), ","
        if line.startswith("}", at):
            at, mark = at + 1, "}"
        while mark == ",":
            match = _INDEX.match(line, at)
            if match is None or not line[match.end() : match.end() + 1].isspace():
                raise TokenError(f"expected 'index value' (the index counted from {first})", at)
            column = int(match[0]) - first if len(match[0]) < 10 else n
            if not 0 <= column < n:
                raise TokenError(f"index {match[0][:20]}: the attributes are {first} to {n - 1 + first}", at)
            if column in entries:
                name = self.attributes[column].name
                self._fail(f"attribute {name!r}: the index {column + first} is given twice", number, column)
            token, at = read_token(line, after_blanks(line, match.end()), _ENTRY_END)
            entries[column] = token.cell
            at = after_blanks(line, at)
            mark = line[at : at + 1]
            if mark not in (",", "}") or not mark:
                raise TokenError("the row is not closed by }" if not mark else "text after the closing quote", at)
            at = after_blanks(line, at + 1)
        if line[at:].strip(" \t"):
            self._fail(f"unexpected text {line[at:].strip(' ')[:_SHOWN]!r} after the row", number)
        if self.label_column is not None and self.label_column not in entries:
            name = self.attributes[self.label_column].name
            problem = "the sparse row gives no labels: write ? for an unlabelled row"
            self._fail(f"attribute {name!r}: {problem}", number, self.label_column)
        return list(entries), list(entries.values())

    def _add_sparse(self, rows: list[tuple[Sequence[int], list[Any]]]) -> None:
        for i, found in self._beside.items():
            found += [dict(zip(*row, strict=True)).get(i) for row in rows]
        kept = [[(i, v) for i, v in zip(*row, strict=True) if i not in self._beside] for row in rows]
        columns = np.array([i for row in kept for i, _ in row], np.intp)
        values = np.array([value for row in kept for _, value in row], np.float64)
        values[(values < 0) & np.isin(columns, self.nominals)] = np.nan
        self._blocks.append((np.array([len(row) for row in kept]), columns, values))

    def _sparse_table(self) -> Table:
        counts, columns, values = (np.concatenate(parts) for parts in zip(*self._blocks, strict=True))
        starts = np.concatenate([[0], np.cumsum(counts)])
        shape = (self.n_rows, len(self.attributes))
        matrix = sparse.csr_array((values, columns, starts), shape=shape).tocsc()
        for i in self.nominals:
            if not self.attributes[i].levels and matrix.indptr[i + 1] - matrix.indptr[i] < self.n_rows:
                name = self.attributes[i].name
                problem = f"the attribute {name!r} has no values, but absent cells of a sparse row mean the first value"
                raise FileFormatError(problem, path=self.path)
        chosen = sorted(self.numbers + self.nominals)
        declared = [self.attributes[i] for i in chosen]
        return Table.from_sparse(matrix[:, chosen], [a.name for a in declared], [a.levels for a in declared])

    def _fail(self, problem: str, line: int, column: int | None = None) -> NoReturn:
        place = None if column is None else column + 1
        raise FileFormatError(problem, path=self.path, line=line, column=place)


def _plain_number(text: str | None) -> float:
    """The number in a text that consists of printable ASCII; ValueError where it may be none, or not what it seems."""
    if text is None:
        return math.nan
    value = float(text)
    if not -LARGEST_EXACT < value < LARGEST_EXACT:
        raise ValueError
    return value


def _plain_cells(text: str, separator: str, kinds: Sequence[type]) -> pd.DataFrame:
    """Cells without quotes, as pandas reads them; ? is missing, and so may be what is no number."""
    return pd.read_csv(  # type: ignore[call-overload]
        io.StringIO(text),
        sep=separator,
        header=None,
        names=list(range(len(kinds))),
        dtype=dict(enumerate(kinds)),
        na_values=["?"],
        keep_default_na=False,
        quoting=csv.QUOTE_NONE,
        **EXACT_NUMBERS,
    )


def _are_exact(values: np.ndarray) -> bool:
    """Whether all known numbers are so small that floats tell whole numbers apart."""
    return not (np.abs(values) >= LARGEST_EXACT).any()


def _listed(attribute: Attribute) -> str:
    levels = attribute.levels or ()
    shown = ", ".join(repr(v) for v in levels[:6])
    return f" ({shown}{', ...' if len(levels) > 6 else ''})" if levels else " (there are none)"
