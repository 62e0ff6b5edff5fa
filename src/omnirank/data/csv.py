"""CSV and TSV files, with or without a header row: their cells, and errors that point into the file."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from omnirank.core.errors import FileFormatError, ParameterError, setting
from omnirank.core.immutable import first_repeated
from omnirank.core.parameters import check, choice
from omnirank.core.text import counted, there_are
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import iso_seconds
from omnirank.data.files import (
    EXACT_NUMBERS,
    Content,
    TextSource,
    check_duplicates_option,
    column_kinds,
    duplicates_hint,
    file_ending,
    number_names,
    plain_name,
)
from omnirank.data.notes import what_numbers_have
from omnirank.data.table import LARGEST_EXACT, Levels, Table, any_text_rounded, numbered_names

_SEPARATORS = {".tsv": "\t", ".tab": "\t"}
MISSING_CELLS = ("", "?", "NA", "NaN", "nan")
# Before the text of a quoted cell, where quotes mean text: pandas does not tell which cells were quoted.
_MARK = "\x1f"
# A name that no other program quotes unless it quotes all names.
PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_SHOWN = 60
# Rows by which columns of text are known before pandas reads them.
_FIRST_ROWS = 100
# Different texts of a column that are kept for an error.
_MOST_TEXTS = 1000
_Blocks = Iterable[tuple[int, bytes]]


def read_delimited(
    path: PathLike,
    *,
    separator: str | None = None,
    header: str | bool = "auto",
    missing: Sequence[str] = (),
    duplicates: str = "error",
    encoding: str = "utf-8",
    target: ColumnChoice | None = None,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
) -> Content:
    """Read a file of delimited text, plain or gzipped.

    Columns of numbers are numeric, columns of text (or True and False) nominal with their levels in order, columns
    of dates (2020-01-31, 2020-01-31 12:30) numeric as in data frames: seconds since 1970-01-01 UTC. A
    column with both is an error that says where, unless ``nominal`` names it. Cells may be quoted by ``"``.
    Blank lines are skipped.

    Parameters
    ----------
    path : str or Path
        The file.
    separator : str, optional
        The character between cells; by default that of the ending, a tab for ``.tsv`` and ``.tab``, else a comma.
    header : {"auto", True, False}
        Whether the first row holds the column names. "auto": it does if no cell of it is a number, it does not if
        every cell is a number or missing; a first row with both is an error that asks which is meant. Without
        names, columns are called x1, x2, ... by their positions, which count from 1.
    missing : sequence of str
        What stands for a missing cell besides an empty one, ``?``, ``NA`` and ``NaN``.
    duplicates : {"error", "number"}
        What to do with a column name that was there before: raise, or call it ``name_2``, ``name_3``, ...
    encoding : str
        The encoding of the file.
    target, features : column choice, optional
        Where ``features`` is given, columns of neither are left out.
    key, ignore : column choice, optional
        Columns that are left out: they may hold anything, and are read as text.
    nominal : column choice, optional
        Columns to be taken as nominal although they hold numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.csv import read_delimited
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.csv")
    ...     _ = path.write_text("size,colour\\n1.5,red\\n?,blue\\n")
    ...     print(read_delimited(path).table.to_frame())
       size colour
    0   1.5    red
    1   NaN   blue
    """
    check("header", header, choice("auto", True, False))
    check_duplicates_option(duplicates)
    file = DelimitedText(
        Path(path), separator or "", frozenset([*MISSING_CELLS, *missing]), encoding, header, duplicates
    )
    names = file.names
    chosen = _chosen({"nominal": nominal, "ignore": ignore, "key": key}, names)
    if features is not None:
        chosen |= set(range(len(names))) - _chosen({"features": features, "target": target}, names)
    frame = file.frame(chosen | file.texts) if file.n_rows > 0 else pd.DataFrame()
    if not len(frame):  # blank lines of a file of one column count as rows
        file.fail("there is no row of data", file.last_line)
    booleans = {i for i in range(len(names)) if frame.dtypes[i].kind in "bO" and _are_booleans(frame[i])}
    if booleans:  # of which pandas loses the spelling
        frame = file.frame(chosen | file.texts | booleans)
    table = _typed_table(file, frame, chosen)
    integers = frozenset(names[i] for i in np.flatnonzero([dtype.kind in "iu" for dtype in frame.dtypes]))
    del frame
    return Content(
        path=file.path,
        names=names,
        kinds=column_kinds(table),
        table=table,
        declared=False,
        integers=integers,
        relation=plain_name(file.path),
        notes=file.notes,
    )


def read_frame(
    path: PathLike, *, separator: str | None = None, missing: Sequence[str] = (), encoding: str = "utf-8"
) -> pd.DataFrame:
    """Read delimited text with a row of names as a data frame, with or without rows.

    Columns have the types that pandas gives them: a column of numbers and text is text. Whole numbers that floats
    cannot hold, beside missing cells, stay text.

    Parameters
    ----------
    path : str or Path
        The file, plain or gzipped.
    separator : str
        The character between cells.
    missing : sequence of str
        What stands for a missing cell besides an empty one, ``?``, ``NA`` and ``NaN``.
    encoding : str
        The encoding of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.csv import read_frame
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "empty.csv")
    ...     _ = path.write_text("size,colour\\n")
    ...     read_frame(path).shape
    (0, 2)
    """
    file = DelimitedText(Path(path), separator or "", frozenset([*MISSING_CELLS, *missing]), encoding, header=True)
    names = file.names
    if all(NUMBER.fullmatch(name) for name in names):
        file.fail("the first row holds numbers: it must hold the names of the columns", 1)
    if not file.n_rows:
        return pd.DataFrame({name: np.empty(0, object) for name in names})
    frame = file.frame(set())
    inexact = {i for i in range(len(names)) if frame.dtypes[i].kind == "f" and _beyond_floats(frame[i].to_numpy())}
    if inexact:
        frame = file.frame(inexact)
        for i in inexact:
            frame[i] = _exact(frame[i])
    if file.quotes_tell:
        texts = [i for i in range(len(names)) if frame.dtypes[i].kind == "O"]
        frame[texts] = frame[texts].map(lambda cell: file.unmarked(cell) if isinstance(cell, str) else cell)
    frame.columns = pd.Index(names)
    return frame


def _are_booleans(cells: pd.Series) -> bool:
    return any(isinstance(cell, bool | np.bool_) for cell in cells.dropna().head(1))


def _exact(texts: pd.Series) -> pd.Series:
    if not texts.dropna().str.fullmatch(r"\s*[+-]?[0-9]{1,19}\s*").all():
        return texts
    numbers = [None if text != text else int(text) for text in texts]
    if any(number is not None and not -(2**63) <= number < 2**63 for number in numbers):
        return texts
    return pd.Series(pd.array(numbers, dtype="Int64"))


def _beyond_floats(values: np.ndarray) -> bool:
    known = values[np.isfinite(values)]
    return bool((np.abs(known) >= LARGEST_EXACT).any() and (known == np.round(known)).all())


def _chosen(choices: Mapping[str, ColumnChoice | None], names: Sequence[str]) -> set[int]:
    given = {what: columns for what, columns in choices.items() if columns is not None}
    return {i for what, columns in given.items() for i in choose_columns(columns, names, what)}


def _typed_table(file: DelimitedText, frame: pd.DataFrame, nominal: set[int]) -> Table:
    """The columns with their types: numbers all at once, for there may be many, others one by one."""
    names = file.names
    is_number = np.array([dtype.kind in "iuf" for dtype in frame.dtypes])
    is_number[list(nominal)] = False
    numbers = (frame if is_number.all() else frame.loc[:, is_number]).to_numpy(np.float64)
    where = np.flatnonzero(is_number).tolist()
    columns: dict[int, np.ndarray] = dict(zip(where, numbers.T, strict=True))
    levels: list[Levels | None] = [None] * len(names)
    dates: set[str] = set()
    # NaN is not beyond; infinite numbers are
    large = {where[slot] for slot in np.flatnonzero((np.abs(numbers) >= LARGEST_EXACT).any(axis=0)).tolist()}
    for i in sorted(large):
        if np.isinf(columns[i]).any():
            file.refuse_infinite(i)
    texts = file.frame(large | nominal) if large else frame
    rounded = {names[i] for i in large if any_text_rounded(texts[i].dropna())}
    for i in np.flatnonzero(~is_number).tolist():
        codes, counts = text_counts_of(frame[i])
        kind = "text" if i in nominal else file.kind_of(i, TextKinds().add(counts))
        if kind == "text":
            columns[i], levels[i] = _coded(file, codes, counts)
        elif kind == "date":
            seconds = iso_seconds(list(counts))
            assert seconds is not None
            columns[i] = np.append(seconds, np.nan)[codes]
            dates.add(names[i])
        else:
            columns[i] = np.array([*map(float, counts), np.nan])[codes]
            if any_text_rounded(counts):
                rounded.add(names[i])
    table = Table.from_columns(names, [columns[i] for i in range(len(names))], levels)
    return replace(table, dates=frozenset(dates), rounded=frozenset(rounded))


def _coded(file: DelimitedText, codes: np.ndarray, texts: Iterable[str]) -> tuple[np.ndarray, Levels]:
    """Codes and levels of texts, in the order of their values where all are numbers."""
    cells = [file.unmarked(text) for text in texts]
    levels = sorted(set(cells))
    if all(NUMBER.fullmatch(level) for level in levels):
        levels.sort(key=float)
    position = {level: code for code, level in enumerate(levels)}
    return np.array([*(position[cell] for cell in cells), -1], np.int32)[codes], tuple(levels)


def text_counts_of(cells: pd.Series) -> tuple[np.ndarray, dict[str, int]]:
    """Return the code of each cell (-1: missing), and the texts that codes stand for, with how often each occurs."""
    codes, distinct = pd.factorize(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    return codes, dict(zip(map(str, distinct), counts.tolist(), strict=True))


@dataclass
class TextKinds:
    """What the texts of a column are, as far as they are read: numbers, dates or others."""

    numbers: bool = False
    infinite: bool = False
    dates: bool = True
    texts: Counter[str] = field(default_factory=Counter)

    def add(self, counts: Mapping[str, int]) -> TextKinds:
        """Take further texts into account, with how often each occurs."""
        texts = {text: n for text, n in counts.items() if not NUMBER.fullmatch(text.strip(" "))}
        self.numbers |= len(texts) < len(counts)
        self.infinite |= any(math.isinf(float(text)) for text in counts.keys() - texts.keys())
        self.dates &= iso_seconds(list(texts)) is not None  # quoted ones, which have a mark, are none
        if len(self.texts) < _MOST_TEXTS:
            self.texts.update(texts)
        return self


# -- the text -----------------------------------------------------------------------------------------


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
        The character between cells; where it is empty, that of the ending.
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
        separator = self.separator or _SEPARATORS.get(file_ending(self.path), ",")
        self.separator = separator
        if len(separator) != 1 or separator in '"\n\r' or separator.isalnum() or not separator.isascii():
            raise ParameterError("separator", separator, "give one character of ASCII, such as ',' or ';' or '\\t'")
        self.source = TextSource(self.path, self.encoding)
        head, blocks = tee(self.source.blocks())
        marked: list[list[str]] = []
        first_line = 1
        try:
            for line, cells in islice(self._rows(_marked(head, separator)), _FIRST_ROWS):
                first_line = first_line if marked else line
                marked.append(cells)
        except FileFormatError:  # raised again where rows are counted, unless there is none before
            if not marked:
                raise
        if not marked:
            self.fail("the file is empty", 1)
        del head
        rows = [[cell.removeprefix(_MARK) for cell in cells] for cells in marked]
        if len(rows[0]) == 1:
            other = next((sign for sign in ",;\t|" if sign in rows[0][0] and sign != separator), None)
            if other is not None:
                self.fail(
                    f"one column only with {setting('separator', separator)}; did you mean {other!r}?", first_line
                )
        self.quotes_tell = _are_partly_quoted(marked[0])
        self.names, self.has_header, self.notes = self._named(rows[0])
        columns = zip(*rows[self.has_header :], strict=False)
        known = [[cell for cell in column if cell not in self.missing] for column in columns]
        self.texts = {i for i, cells in enumerate(known) if cells and not any(map(is_float, cells))}
        self.n_rows = self._counted_rows(blocks) - self.has_header

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
                    f"the first row holds numbers ({cells[odd][:_SHOWN]!r}) and text: give {setting('header')} to say "
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

    def _check_count(self, n_cells: int, line: int) -> None:
        if n_cells != len(self.names):
            self.fail(f"the row has {counted(n_cells, 'cell')}, but {there_are(len(self.names), 'column')}", line)

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
        return text.removeprefix(_MARK) if self.quotes_tell else text

    def frame(self, as_text: set[int]) -> pd.DataFrame:
        """Return the cells as pandas types them."""
        return next(self.frames(as_text, None))

    def frames(self, as_text: set[int], n_rows: int | None) -> Iterator[pd.DataFrame]:
        """Yield the cells as pandas types them, so many rows at a time; None: all rows together."""
        if len(self.names) == 1:
            self._refuse_blank_lines()
        try:
            frames: Any = pd.read_csv(  # type: ignore[call-overload]
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
                yield frames
                return
            with frames:
                yield from frames
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
        self.fail(f"column {self.names[column]!r}: {text[:_SHOWN]!r} {problem}", line, column)

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

    def kind_of(self, column: int, kinds: TextKinds) -> str:
        """Return "number", "date" or "text"; an error where numbers are infinite or stand among texts."""
        if kinds.numbers and kinds.texts:
            self.refuse_texts(column, kinds.texts)
        if kinds.infinite:
            self.refuse_infinite(column)
        if kinds.numbers or not kinds.texts:
            return "number"
        return "date" if kinds.dates else "text"


def is_float(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
        return True
    except ValueError:
        return False


def _are_partly_quoted(names: list[str]) -> bool:
    """Whether some plain names are quoted and others are bare, as `write_csv` does where quotes mean text."""
    bare = [name.strip(" ") for name in names if not name.startswith(_MARK)]
    if not bare or any(not name or NUMBER.fullmatch(name) for name in bare):
        return False
    return any(name.startswith(_MARK) and PLAIN_NAME.fullmatch(name[1:]) for name in names)


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
            marked.append(_MARK.encode() + part if starts else part)
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
