"""The text of a delimited file: its rows, its names, its cells as pandas types them, and errors that point into it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from omnirank.core.errors import FileFormatError, ParameterError, setting
from omnirank.core.immutable import first_repeated
from omnirank.core.plurals import counted, there_are
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.files import BLOCK_BYTES, EXACT_NUMBERS, LineBlocks, TextSource, duplicates_hint, number_names
from omnirank.data.table import numbered_names

MISSING_CELLS = ("", "?", "NA", "NaN", "nan")
# Before the text of a quoted cell, where quotes mean text: pandas does not tell which cells were quoted.
MARK = "\x1f"
# A name that no other program quotes unless it quotes all names.
PLAIN_NAME = re.compile(r"[^\W\d]\w*")
SHOWN = 60


@dataclass
class DelimitedText:
    """The text of a file and the errors that point into it.

    Quotes protect separators, and most programs that write them mean nothing else. `write_csv` also writes text that
    would be read as a number, a date or a missing cell in quotes. It quotes some of the plain names of the header then
    and leaves others bare, as nobody else does: in such a file (``quotes_tell``) a quoted cell is text.

    Parameters
    ----------
    path : Path
        The file, plain or gzipped.
    separator : str
        The character between cells.
    missing : frozenset of str
        What stands for a missing cell.
    encoding : str
        The encoding of the file.
    """

    path: Path
    separator: str
    missing: frozenset[str]
    encoding: str = "utf-8"
    last_line: int = 1
    source: TextSource | _MarkedSource = field(init=False)

    def __post_init__(self) -> None:
        self.source = TextSource(self.path, self.encoding)
        self.quoted = any(b'"' in block for _, block in self.source.blocks())
        self.quotes_tell = self.quoted
        if self.quoted:
            self.source = _MarkedSource(self.source, self.separator)
            if not self._names_are_partly_quoted():
                self.ignore_quotes()

    def _names_are_partly_quoted(self) -> bool:
        _, names = next(self.rows(), (1, []))
        bare = [name.strip(" ") for name in names if not name.startswith(MARK)]
        if not bare or any(not name or NUMBER.fullmatch(name) for name in bare):
            return False
        return any(name.startswith(MARK) and PLAIN_NAME.fullmatch(name[1:]) for name in names)

    def ignore_quotes(self) -> None:
        """Take quoted cells as any others."""
        if isinstance(self.source, _MarkedSource):
            self.source, self.quotes_tell = self.source.plain, False

    def unmarked(self, text: str) -> str:
        """Return a cell as it is in the file."""
        return text.removeprefix(MARK) if self.quotes_tell else text

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line number, cells) of every row that is not blank."""
        lines = (text + "\n" for _, text in LineBlocks(self.source).lines())
        reader = csv.reader(lines, delimiter=self.separator, strict=True, skipinitialspace=True)
        try:
            for cells in reader:
                if cells and not (len(cells) == 1 and not cells[0].strip(" ")):
                    yield reader.line_num, cells
        except csv.Error as problem:
            self.fail(f"the quotes or cells are malformed ({problem})", max(1, reader.line_num))

    def first_row(self) -> list[str]:
        """Return the cells of the first row that is not blank."""
        line, cells = next(self.rows(), (1, None))
        if cells is None:
            self.fail("the file is empty", 1)
        if len(cells) == 1:
            other = next((s for s in ",;\t|" if s in cells[0] and s != self.separator), None)
            if other is not None:
                self.fail(f"one column only with {setting('separator', self.separator)}; did you mean {other!r}?", line)
        return [self.unmarked(cell) for cell in cells]

    def check_cell_counts(self, n_columns: int) -> int:
        """Raise unless every row has a cell for each column; pandas would fill up short ones.

        Returns the number of rows, that of the names among them.
        """
        n_rows = 0
        if self.quoted or self.separator == " ":
            for line, cells in self.rows():
                self._check_count(len(cells), n_columns, line)
                self.last_line = line
                n_rows += 1
            return n_rows
        mark = ord(self.separator) if self.separator.isascii() else -1
        if mark < 0:
            raise ParameterError("separator", self.separator, "give a character of ASCII")
        for first_line, block in self.source.blocks():
            data = np.frombuffer(block, np.uint8)
            starts = np.concatenate([[0], np.flatnonzero(data == ord("\n"))[:-1] + 1])
            counts = np.add.reduceat((data == mark).view(np.uint8), starts, dtype=np.int64) + 1
            self.last_line = first_line + len(starts) - 1
            n_rows += len(starts)
            for row in np.flatnonzero(counts != n_columns):
                text = block[starts[row] : block.index(b"\n", starts[row])]
                n_rows -= 1
                if text.strip(b" "):
                    self._check_count(int(counts[row]), n_columns, first_line + int(row))
        return n_rows

    def _check_count(self, found: int, expected: int, line: int) -> None:
        if found != expected:
            self.fail(f"the row has {counted(found, 'cell')}, but {there_are(expected, 'column')}", line)

    def frame(self, n_columns: int, has_header: bool, as_text: set[int]) -> pd.DataFrame:
        """Return the cells as pandas types them."""
        return next(self.frames(n_columns, has_header, as_text, None))

    def frames(self, n_columns: int, has_header: bool, as_text: set[int], n_rows: int | None) -> Iterator[pd.DataFrame]:
        """Yield the cells as pandas types them, so many rows at a time; None: all rows together."""
        if n_columns == 1:
            self._refuse_blank_lines()
        try:
            found: Any = pd.read_csv(  # type: ignore[call-overload]
                io.BufferedReader(_BlockStream(self.source)),
                sep=self.separator,
                header=0 if has_header else None,
                names=list(range(n_columns)),
                index_col=False,
                dtype=dict.fromkeys(as_text, str) or None,  # a dict, even an empty one, is slow
                na_values=sorted(self.missing),
                keep_default_na=False,
                skipinitialspace=True,
                engine="c",
                low_memory=False,
                encoding="utf-8",
                chunksize=n_rows,
                **EXACT_NUMBERS,
            )
            if n_rows is None:
                yield found
                return
            with found:
                yield from found
        except (ValueError, OverflowError) as problem:
            if isinstance(problem, FileFormatError):
                raise
            self.fail(f"the cells cannot be read ({str(problem).strip()[:200]})", None)

    def _refuse_blank_lines(self) -> None:
        blank = None
        for line, text in LineBlocks(self.source).lines():
            if not text.strip(" "):
                blank = blank or line
            elif blank is not None:
                self.fail("a blank line in a file of one column: write NA for a missing cell", blank)

    def locate(self, column: int, has_header: bool, wanted: Callable[[str], bool]) -> tuple[int, str]:
        """Return line and text of the first cell of a column that is wanted."""
        rows = self.rows()
        if has_header:
            next(rows)
        for line, cells in rows:
            if cells[column] not in self.missing and wanted(cells[column]):
                return line, self.unmarked(cells[column])
        return 1, ""

    def fail(self, problem: str, line: int | None, column: int | None = None) -> NoReturn:
        """Raise the error about a line (from 1) and a column (from 0)."""
        raise FileFormatError(problem, path=self.path, line=line, column=None if column is None else column + 1)


class _MarkedSource:
    """A text source in which a mark stands before the text of every quoted cell."""

    def __init__(self, source: TextSource, separator: str) -> None:
        self.plain = source
        self._separator = separator.encode()

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks of the source, marked."""
        inside = False
        for line, block in self.plain.blocks(size):
            first, *parts = block.split(b'"')
            marked, before = [first], first if inside else b"\n" + first
            for part in parts:
                starts = not inside and self._ends_before_a_cell(before)
                # within quotes, a quote is doubled: it closes the cell and opens it again
                inside = starts or (not inside and not before)
                marked.append(MARK.encode() + part if starts else part)
                before = part
            yield line, b'"'.join(marked)

    def _ends_before_a_cell(self, text: bytes) -> bool:
        text = text if self._separator == b" " else text.rstrip(b" ")
        return text.endswith((b"\n", self._separator))


class _BlockStream(io.RawIOBase):
    """The blocks of a text source as one stream of bytes."""

    def __init__(self, source: TextSource | _MarkedSource) -> None:
        self._blocks = source.blocks()
        self._block = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._block:
            following = next(self._blocks, None)
            if following is None:
                return 0
            self._block = memoryview(following[1])
        n = min(len(buffer), len(self._block))
        buffer[:n] = self._block[:n]
        self._block = self._block[n:]
        return n


def column_names(
    file: DelimitedText, first: list[str], header: str | bool, duplicates: str
) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """Names of the columns, whether the first row holds them, and notes."""
    cells = first if file.quotes_tell else [cell.strip(" ") for cell in first]
    if header == "auto" and not file.quotes_tell:
        numbers = [bool(NUMBER.fullmatch(cell)) for cell in cells]
        absent = [cell in file.missing for cell in cells]
        if all(n or a for n, a in zip(numbers, absent, strict=True)) and any(numbers):
            header = False
        elif any(numbers):
            odd = cells[numbers.index(True)]
            file.fail(
                f"the first row holds numbers ({odd[:SHOWN]!r}) and text: give {setting('header')} to say whether "
                "it holds the column names",
                1,
                numbers.index(True),
            )
        else:
            header = True
    if not header:
        file.ignore_quotes()
        return numbered_names(len(cells), "x"), False, ()
    unnamed = [i for i, cell in enumerate(cells) if not cell and not file.quotes_tell]
    notes = (f"columns without a name, called x1, x2, ... by position: {len(unnamed)}",) if unnamed else ()
    names = tuple(f"x{i + 1}" if i in unnamed else cell for i, cell in enumerate(cells))
    if duplicates == "number":
        return number_names(names), True, notes
    again = first_repeated(names)
    if again is not None:
        file.fail(f"two columns are called {names[again]!r}; {duplicates_hint()}", 1, again)
    return names, True, notes
