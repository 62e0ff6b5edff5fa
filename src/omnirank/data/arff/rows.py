"""Rows of an ARFF file, dense or sparse, read cell by cell."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
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

_INDEX = re.compile(r"([0-9]+)(?=\s)", re.ASCII)
_BARE_ENTRY = re.compile(r"([0-9]{1,9})[ \t]+([^ \t'\",}][^ \t,}]*)[ \t]*([,}])[ \t]*", re.ASCII)
_ENTRIES = re.compile(r"(?:[0-9]{1,9} [^ \n]+(?:\n|$))*")
_ENTRY_END = re.compile(r"[,}]")
_SHOWN = 60
_CHARACTERS_AT_ONCE = 1 << 22
_TYPES = {"nominal": np.int32, "date": np.float64}
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
        self._readers = [self._reader(attribute) for attribute in attributes]
        self._quick = [_quick_number if a.kind == "numeric" else self._reader(a) for a in attributes]
        self._blocks: list[tuple[np.ndarray, ...]] = []

    def _reader(self, attribute: Attribute) -> Callable[[str | None], Any]:
        """What reads the text of a cell (None: missing); KeyError or ValueError where it does not fit."""
        if attribute.kind == "numeric":
            return partial(self._number, attribute.name)
        if attribute.levels is not None:
            codes: dict[str | None, int] = {level: code for code, level in enumerate(attribute.levels)} | {None: -1}
            return codes.__getitem__
        if attribute.to_seconds is None and attribute.labels is None:
            return lambda text: text
        missing = None if attribute.to_seconds is None else math.nan
        read = attribute.to_seconds or cache(attribute.labels.parse)  # type: ignore[union-attr]
        return lambda text: missing if text is None else read(text)

    def _number(self, name: str, text: str | None) -> float:
        if text is None:
            return math.nan
        text = text.strip(" ")
        if not NUMBER.fullmatch(text):
            what = "is infinite" if re.fullmatch(r"[+-]?inf(inity)?", text, re.IGNORECASE) else "is not a number"
            hint = ": a missing value is written ?" if text.lower() == "nan" else ""
            raise ValueError(f"{text[:_SHOWN]!r} {what}{hint}")
        value = float(text)
        if math.isinf(value):
            raise ValueError(f"{text[:_SHOWN]!r} is too large for a number")
        if abs(value) >= LARGEST_EXACT and any_text_rounded([text]):
            self.rounded.add(name)
        return value

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
        cells = []
        for number, line in rows:
            cells.append(self._row(number, self._unweighted(line)))
            self.n_rows += 1
        if self.is_sparse:
            self._add_sparse(cells)
        else:
            self._add_dense(list(zip(*(values for _, values in cells), strict=True)))

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
            size = counted(len(cells), "cell")
            self._fail(f"the row has {size}, but {len(self.attributes)} attributes are declared", number)
        if line.isascii() and line.isprintable() and "_" not in line and EMPTY not in cells:
            with suppress(KeyError, ValueError):
                return columns, [self._quick[i](cell) for i, cell in zip(columns, cells, strict=True)]
        return columns, [self._value(i, cell, number) for i, cell in zip(columns, cells, strict=True)]

    def _value(self, column: int, text: str | None, number: int) -> Any:
        try:
            if text is EMPTY:
                raise ValueError(f"{EMPTY}: a missing value is written ?")
            return self._readers[column](text)
        except (DataError, KeyError, ValueError) as error:
            none = f"{str(text)[:_SHOWN]!r} is none of the declared values{_listed(self.attributes[column])}"
            problem = none if isinstance(error, KeyError) else str(error)
            self._fail(f"attribute {self.attributes[column].name!r}: {problem}", number, column)

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

    # -- plain rows -----------------------------------------------------------------------------------

    def _add_plain(self, lines: list[str]) -> bool:
        """Add rows of bare cells without blanks around them; False if there are others, or anything that is odd."""
        text, is_sparse = "\n".join(lines), lines[0].startswith("{")
        if self.is_sparse not in (None, is_sparse) or not text.isascii() or _ODD.search(text):
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
        numeric = [i for i, kind in enumerate(self._kinds) if kind == "numeric"]
        numbers = _exact(frame[numeric].to_numpy(np.float64)).T
        columns, n_missing = dict(zip(numeric, numbers, strict=True)), np.isnan(numbers).sum()
        for i in set(range(n)).difference(numeric):
            codes, known = pd.factorize(frame[i])
            texts = [*known.tolist(), None]
            if "" in texts:
                raise ValueError
            values = map(self._readers[i], texts)
            columns[i] = np.fromiter(values, _TYPES.get(self._kinds[i], object), len(texts))[codes]
            n_missing += (codes < 0).sum()
        if n_missing != text.count("?"):
            raise ValueError
        self._add_dense(columns)

    def _add_plain_sparse(self, text: str, lines: list[str]) -> None:
        odd = any(line[0] != "{" or line.find("}") != len(line) - 1 for line in lines)
        if odd or self._beside:
            raise ValueError
        entries = "\n".join([line[1:-1] for line in lines if line != "{}"]).replace(",", "\n")
        if not _ENTRIES.fullmatch(entries):
            raise ValueError
        all_numbers = set(self._kinds) == {"numeric"}
        frame = _plain_cells(entries, " ", [int, float if all_numbers else object])
        n, counts = len(self.attributes), [0 if line == "{}" else line.count(",") + 1 for line in lines]
        columns = frame[0].to_numpy() - self.first_index
        place = np.repeat(np.arange(len(lines)), counts) * n + columns
        if (columns < 0).any() or (columns >= n).any() or (np.diff(place) <= 0).any():
            raise ValueError
        if frame[1].isna().sum() != text.count("?"):
            raise ValueError
        values = frame[1].to_numpy()
        if not all_numbers:  # each text is read once for each column
            codes, known = pd.factorize(frame[1])
            texts: list[str | None] = [*known, None]
            which, pairs = pd.factorize(columns * len(texts) + np.where(codes < 0, len(known), codes))
            readers = self._readers if "_" in text else self._quick
            own = (readers[pair // len(texts)](texts[pair % len(texts)]) for pair in pairs.tolist())
            values = np.fromiter(own, np.float64, len(pairs))[which]
        self._blocks.append((np.array(counts), columns, _exact(values)))

    # -- dense rows -----------------------------------------------------------------------------------

    def _add_dense(self, columns: Any) -> None:
        for i, cells in self._beside.items():
            cells += list(columns[i])
        chosen, n = ((self.numbers, np.float64), (self.nominals, np.int32)), len(columns[0])
        self._blocks.append(
            tuple(np.array([columns[i] for i in own], kind).reshape(len(own), n) for own, kind in chosen)
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
        n, first, entries = len(self.attributes), self.first_index, dict[int, str | None]()
        at, mark = after_blanks(line, 1), ","
        if line.startswith("}", at):
            at, mark = at + 1, "}"
        while mark == ",":
            bare = _BARE_ENTRY.match(line, at)
            match = bare or _INDEX.match(line, at)
            if match is None:
                raise TokenError(f"expected 'index value' (the index counted from {first})", at)
            column = int(match[1]) - first if len(match[1]) < 10 else n
            if not 0 <= column < n:
                raise TokenError(f"index {match[1][:20]}: the attributes are {first} to {n - 1 + first}", at)
            if column in entries:
                name = self.attributes[column].name
                self._fail(f"attribute {name!r}: the index {column + first} is given twice", number, column)
            if bare is not None:
                entries[column], mark, at = (None if bare[2] == "?" else bare[2]), bare[3], bare.end()
                continue
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
        for i, cells in self._beside.items():
            cells += [dict(zip(*row, strict=True)).get(i) for row in rows]
        kept = [[(i, v) for i, v in zip(*row, strict=True) if i not in self._beside] for row in rows]
        columns = np.array([i for row in kept for i, _ in row], np.intp)
        values = np.array([value for row in kept for _, value in row], np.float64)
        self._blocks.append((np.array([len(row) for row in kept]), columns, values))

    def _sparse_table(self) -> Table:
        counts, columns, values = (np.concatenate(parts) for parts in zip(*self._blocks, strict=True))
        values[(values < 0) & np.isin(columns, self.nominals)] = np.nan
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


def _quick_number(text: str | None) -> float:
    """The number in printable ASCII without "_"; ValueError where it may be none, or not what it seems."""
    value = math.nan if text is None else float(text)
    if text is not None and not -LARGEST_EXACT < value < LARGEST_EXACT:
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


def _exact(values: np.ndarray) -> np.ndarray:
    """The values, unless some are so large that floats do not tell whole numbers apart."""
    if (np.abs(values) >= LARGEST_EXACT).any():
        raise ValueError
    return values


def _listed(attribute: Attribute) -> str:
    levels = attribute.levels or ()
    shown = ", ".join(repr(v) for v in levels[:6])
    return f" ({shown}{', ...' if len(levels) > 6 else ''})" if levels else " (there are none)"
