"""The text of a delimited file: its names, its rows, its cells as pandas types them, and errors that point into it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from omnirank.core.errors import FileFormatError, ParameterError, setting
from omnirank.core.immutable import first_repeated
from omnirank.core.text import counted, there_are
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.files import EXACT_NUMBERS, TextSource, duplicates_hint, number_names
from omnirank.data.notes.doubts import what_numbers_have
from omnirank.data.table import numbered_names

MISSING_CELLS = ("", "?", "NA", "NaN", "nan")

# Before the text of a quoted cell, where quotes mean text: pandas does not tell which cells were quoted.
MARK = "\x1f"
# A name that no other program quotes unless it quotes all names.
PLAIN_NAME = re.compile(r"[^\W\d]\w*")

SHOWN = 60
# Rows by which columns of text are known before pandas reads them.
_FIRST_ROWS = 100

_Blocks = Iterable[tuple[int, bytes]]


@dataclass
class DelimitedText:
    """The text of a file and the errors that point into it; one pass over it finds names and number of rows.

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
    header : {"auto", True, False}
        Whether the first row holds the names, see `omnirank.data.csv.read_delimited`.
    duplicates : {"error", "number"}
        What to do with a name that was there before.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    has_header : bool
        Whether the first row holds them.
    notes : tuple of str
        What the user should know about the names.
    n_rows : int
        Number of rows of data; blank lines of a file of one column count.
    texts : set of int
        Columns whose first cells are no numbers.
    """

    path: Path
    separator: str
    missing: frozenset[str]
    encoding: str = "utf-8"
    header: str | bool = "auto"
    duplicates: str = "error"
    quotes_tell: bool = False
    last_line: int = 1
    n_rows: int = field(init=False)

    def __post_init__(self) -> None:
        separator = self.separator
        if len(separator) != 1 or separator in '"\n\r' or separator.isalnum() or not separator.isascii():
            raise ParameterError("separator", separator, "give one character of ASCII, such as ',' or ';' or '\\t'")
        self.source = TextSource(self.path, self.encoding)
        blocks, head = self.source.blocks(), _Head()
        marked = next(self._rows(_marked(head.replayed(blocks), separator)), (1, []))[1]
        self.quotes_tell = _are_partly_quoted(marked)
        first = self._first_row(head.replayed(blocks), marked)
        self.names, self.has_header, self.notes = self._named(first)
        self.texts = self._first_texts(head.blocks)
        self.n_rows = self._counted_rows(head.replayed(blocks, forget=True)) - self.has_header

    def _first_row(self, blocks: _Blocks, marked: list[str]) -> list[str]:
        """The cells of the first row that is not blank."""
        if self.quotes_tell:
            return [self.unmarked(cell) for cell in marked]
        line, cells = next(self._rows(blocks), (1, None))
        if cells is None:
            self.fail("the file is empty", 1)
        if len(cells) == 1:
            other = next((s for s in ",;\t|" if s in cells[0] and s != self.separator), None)
            if other is not None:
                self.fail(f"one column only with {setting('separator', self.separator)}; did you mean {other!r}?", line)
        return cells

    def _named(self, first: list[str]) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
        """Names of the columns, whether the first row holds them, and notes."""
        cells = first if self.quotes_tell else [cell.strip(" ") for cell in first]
        header = self.header
        if header == "auto" and not self.quotes_tell:
            numbers = [bool(NUMBER.fullmatch(cell)) for cell in cells]
            header = not any(numbers)
            if not header and not all(n or cell in self.missing for n, cell in zip(numbers, cells, strict=True)):
                odd = numbers.index(True)
                self.fail(
                    f"the first row holds numbers ({cells[odd][:SHOWN]!r}) and text: give {setting('header')} to say "
                    "whether it holds the column names",
                    1,
                    odd,
                )
        if not header:
            self.quotes_tell = False
            return numbered_names(len(cells), "x"), False, ()
        unnamed = [i for i, cell in enumerate(cells) if not cell and not self.quotes_tell]
        notes = (f"columns without a name, called x1, x2, ... by position: {len(unnamed)}",) if unnamed else ()
        names = tuple(f"x{i + 1}" if i in unnamed else cell for i, cell in enumerate(cells))
        if self.duplicates == "number":
            return number_names(names), True, notes
        again = first_repeated(names)
        if again is not None:
            self.fail(f"two columns are called {names[again]!r}; {duplicates_hint()}", 1, again)
        return names, True, notes

    def _first_texts(self, blocks: _Blocks) -> set[int]:
        """Columns of which the first rows hold no number, but text: pandas need not try whether they are numbers."""
        try:
            rows = [cells for _, cells in islice(self._rows(blocks), self.has_header, _FIRST_ROWS)]
        except FileFormatError:  # said again where rows are counted
            return set()
        columns = [[cell for cell in column if cell not in self.missing] for column in zip(*rows, strict=False)]
        return {i for i, cells in enumerate(columns) if cells and not any(map(_is_float, cells))}

    def _counted_rows(self, blocks: Iterator[tuple[int, bytes]]) -> int:
        """Number of rows; an error unless each has a cell for each column, since pandas would fill up short ones."""
        n_rows, n_columns, mark = 0, len(self.names), ord(self.separator)
        for first_line, block in blocks:
            if b'"' in block or self.separator == " ":  # from here on, quotes may protect separators and line ends
                for line, cells in self._rows(chain([(first_line, block)], blocks)):
                    self._check_count(len(cells), line)
                    self.last_line = line
                    n_rows += 1
                return n_rows
            data = np.frombuffer(block, np.uint8)
            starts = np.concatenate([[0], np.flatnonzero(data == ord("\n"))[:-1] + 1])
            counts = np.add.reduceat((data == mark).view(np.uint8), starts, dtype=np.int64) + 1
            self.last_line = first_line + len(starts) - 1
            n_rows += len(starts)
            for row in np.flatnonzero(counts != n_columns):
                text = block[starts[row] : block.index(b"\n", starts[row])]
                n_rows -= 1
                if text.strip(b" "):
                    self._check_count(int(counts[row]), first_line + int(row))
        return n_rows

    def _check_count(self, found: int, line: int) -> None:
        if found != len(self.names):
            self.fail(f"the row has {counted(found, 'cell')}, but {there_are(len(self.names), 'column')}", line)

    def _rows(self, blocks: _Blocks) -> Iterator[tuple[int, list[str]]]:
        """Yield (line number, cells) of every row that is not blank."""
        blocks = iter(blocks)
        before = next(blocks, None)
        if before is None:
            return
        lines = (f"{line}\n" for _, block in chain([before], blocks) for line in block[:-1].decode().split("\n"))
        reader = csv.reader(lines, delimiter=self.separator, strict=True, skipinitialspace=True)
        try:
            for cells in reader:
                if cells and not (len(cells) == 1 and not cells[0].strip(" ")):
                    yield before[0] - 1 + reader.line_num, cells
        except csv.Error as problem:
            line = before[0] - 1 + max(1, reader.line_num)
            self.fail(f"the quotes or cells are malformed ({problem})", line)

    def _blocks(self) -> _Blocks:
        """The text, quoted cells marked where that tells."""
        blocks = self.source.blocks()
        return _marked(blocks, self.separator) if self.quotes_tell else blocks

    def unmarked(self, text: str) -> str:
        """Return a cell as it is in the file."""
        return text.removeprefix(MARK) if self.quotes_tell else text

    def frame(self, as_text: set[int]) -> pd.DataFrame:
        """Return the cells as pandas types them."""
        return next(self.frames(as_text, None))

    def frames(self, as_text: set[int], n_rows: int | None) -> Iterator[pd.DataFrame]:
        """Yield the cells as pandas types them, so many rows at a time; None: all rows together."""
        if len(self.names) == 1:
            self._refuse_blank_lines()
        try:
            found: Any = pd.read_csv(  # type: ignore[call-overload]
                io.BufferedReader(_BlockStream(self._blocks())),
                sep=self.separator,
                header=0 if self.has_header else None,
                names=list(range(len(self.names))),
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
        for first_line, block in self.source.blocks():
            for line, text in enumerate(block.split(b"\n")[:-1], start=first_line):
                if not text.strip(b" "):
                    blank = blank or line
                elif blank is not None:
                    self.fail("a blank line in a file of one column: write NA for a missing cell", blank)

    # -- errors that point into the file --------------------------------------------------------------

    def fail(self, problem: str, line: int | None, column: int | None = None) -> NoReturn:
        """Raise the error about a line (from 1) and a column (from 0)."""
        raise FileFormatError(problem, path=self.path, line=line, column=None if column is None else column + 1)

    def _fail_at(self, column: int, wanted: Callable[[str], bool], problem: str) -> NoReturn:
        """Raise the error about the first cell of a column that is wanted."""
        line, text = 1, ""
        for number, cells in islice(self._rows(self._blocks()), int(self.has_header), None):
            if cells[column] not in self.missing and wanted(cells[column]):
                line, text = number, self.unmarked(cells[column])
                break
        self.fail(f"column {self.names[column]!r}: {text[:SHOWN]!r} {problem}", line, column)

    def refuse_infinite(self, column: int) -> NoReturn:
        """Raise the error about the first infinite cell of a column of numbers."""
        self._fail_at(
            column, lambda text: not NUMBER.fullmatch(text.strip(" ")) or bool(np.isinf(float(text))), "is infinite"
        )

    def refuse_texts(self, column: int, texts: Mapping[str, int]) -> NoReturn:
        """Raise the error about texts in a column of numbers, of which it is known how often each occurs."""
        about, name = what_numbers_have(texts, "such cells"), self.names[column]
        self._fail_at(
            column,
            lambda text: not NUMBER.fullmatch(text.strip(" ")),
            f"is text in a column of numbers{f' ({about})' if about else ''}; "
            f"{setting('nominal', name)} takes them as categories, {setting('ignore', name)} leaves them "
            f"out, {setting('missing')} names what stands for a missing cell",
        )


def text_counts_of(cells: pd.Series) -> tuple[np.ndarray, dict[str, int]]:
    """Return the code of each cell (-1: missing), and the texts that codes stand for, with how often each occurs."""
    codes, distinct = pd.factorize(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    return codes, dict(zip(map(str, distinct), counts.tolist(), strict=True))


def _is_float(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False


def _are_partly_quoted(names: list[str]) -> bool:
    """Whether some plain names are quoted and others are bare, as `write_csv` does where quotes mean text."""
    bare = [name.strip(" ") for name in names if not name.startswith(MARK)]
    if not bare or any(not name or NUMBER.fullmatch(name) for name in bare):
        return False
    return any(name.startswith(MARK) and PLAIN_NAME.fullmatch(name[1:]) for name in names)


class _Head:
    """The first blocks of a file, kept to be looked at again."""

    def __init__(self) -> None:
        self.blocks: list[tuple[int, bytes]] = []

    def replayed(self, blocks: Iterator[tuple[int, bytes]], forget: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks that are kept, then the following ones, which are kept too unless they may be forgotten."""
        yield from self.blocks
        for block in blocks:
            if not forget:
                self.blocks.append(block)
            yield block


def _marked(blocks: _Blocks, separator: str) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks with a mark before the text of every quoted cell."""
    inside, sign = False, separator.encode()
    for line, block in blocks:
        first, *parts = block.split(b'"')
        marked, before = [first], first if inside else b"\n" + first
        for part in parts:
            text = before if sign == b" " else before.rstrip(b" ")
            starts = not inside and text.endswith((b"\n", sign))
            # within quotes, a quote is doubled: it closes the cell and opens it again
            inside = starts or (not inside and not before)
            marked.append(MARK.encode() + part if starts else part)
            before = part
        yield line, b'"'.join(marked)


class _BlockStream(io.RawIOBase):
    """Blocks of a text as one stream of bytes."""

    def __init__(self, blocks: _Blocks) -> None:
        self._blocks = iter(blocks)
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
