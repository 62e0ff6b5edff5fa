"""CSV and TSV files, with or without a header row: their cells, and errors that point into the file."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from omnirank.core.errors import FileFormatError, ParameterError, setting
from omnirank.core.immutable import first_repeated
from omnirank.core.parameters import check, choice, count
from omnirank.core.text import counted, there_are
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import iso_seconds
from omnirank.data.files import (
    EXACT_NUMBERS,
    MARK,
    Blocks,
    BlockStream,
    Content,
    TextSource,
    check_duplicates_option,
    duplicates_hint,
    file_ending,
    marked,
    number_names,
)
from omnirank.data.header import footers, is_short_header, joined_names, n_titles, separator_of, starts_with_units
from omnirank.data.numbers import Diagnosis, NumberFormat, TextKinds
from omnirank.data.table import LARGEST_EXACT, Levels, Table, any_text_rounded, numbered_names

_SEPARATORS = {".tsv": "\t", ".tab": "\t"}
# The line by which a file names its separator to a spreadsheet.
_DECLARED = re.compile(rb'"?sep=([^\n])"?[^\w\n]*\n', re.IGNORECASE)
MISSING_CELLS = ("", "?", "NA", "NaN", "nan", "N/A", "n/a", "<NA>", "NULL", "null", "#N/A", "#NV", "#NA")
# A name that no other program quotes unless it quotes all names.
PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_SHOWN = 60
_SPACE = " \u00a0"
# Rows by which columns of text are known before pandas reads them.
_FIRST_ROWS = 100
_SHOWN_NAMES = 5
_BLOCK_ROWS = 2**16
_SETTINGS: Any = {"index_col": False, "keep_default_na": False, "skipinitialspace": True, "engine": "c"}
_SETTINGS |= {"low_memory": False, "encoding": "utf-8"} | EXACT_NUMBERS


def read_delimited(
    path: PathLike,
    *,
    target: ColumnChoice | None = None,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    source: Any = None,
    **reading: Any,
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
    target, features : column choice, optional
        Where ``features`` is given, columns of neither are left out.
    key, ignore : column choice, optional
        Columns that are left out: they may hold anything, and are read as text.
    nominal : column choice, optional
        Columns to be taken as nominal although they hold numbers.
    source : TextSource, optional
        What gives the text, if not the file.
    **reading
        How the text is read: fields of :class:`omnirank.data.csv.TextFormat`.

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
    file = DelimitedText(Path(path), TextFormat(**reading), source)
    names = file.names
    chosen = _chosen({"nominal": nominal, "ignore": ignore, "key": key}, names)
    if features is not None:
        chosen |= set(range(len(names))) - _chosen({"features": features, "target": target}, names)
    frame = file.frame(chosen | file.texts) if file.n_rows > 0 else pd.DataFrame()
    if not len(frame):  # blank lines of a file of one column count as rows
        file.fail("there is no row of data", file.last_line)
    if file.format.footer is None:
        file.refuse_footers(
            [next((str(c) for c in row if c == c), "") for row in frame.tail(8).itertuples(index=False)]
        )
    dtypes = frame.dtypes
    others = [i for i in range(len(names)) if dtypes[i].kind in "bO" and not isinstance(dtypes[i], pd.StringDtype)]
    booleans = {i for i in others if any(isinstance(cell, bool | np.bool_) for cell in frame[i].dropna().head(1))}
    codes = file.codes({i: frame[i].min() for i in file.digits.keys() - chosen if dtypes[i].kind in "iuf"})
    chosen |= codes
    if booleans | codes:  # of which pandas loses the spelling
        frame = file.frame(chosen | file.texts | booleans)
    table = _typed_table(file, frame, chosen)
    integers = frozenset(names[i] for i in np.flatnonzero([dtype.kind in "iu" for dtype in frame.dtypes]))
    del frame
    return Content.of_table(file.path, table, integers=integers, notes=(*file.source.notes, *file.notes))


def read_frame(path: PathLike, *, separator: str | None = None, encoding: str = "utf-8") -> pd.DataFrame:
    """Read delimited text with a row of names as a data frame, with or without rows.

    Columns have the types that pandas gives them: a column of numbers and text is text. Whole numbers that floats
    cannot hold, beside missing cells, stay text.

    Parameters
    ----------
    path : str or Path
        The file, plain or gzipped.
    separator : str
        The character between cells.
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
    how = TextFormat(separator=separator, header=True, encoding=encoding, skip=0)
    file = DelimitedText(Path(path), how)
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
    counted_texts = {i: text_counts_of(frame[i]) for i in np.flatnonzero(~is_number).tolist()}
    text_kinds = {i: TextKinds(file.format).add(counts) for i, (_, counts) in counted_texts.items() if i not in nominal}
    kinds = file.kinds_of(text_kinds, points=bool((numbers % 1 > 0).any()))
    for i in counted_texts:
        codes, counts = counted_texts[i]
        kind = kinds.get(i, "text")
        if kind == "text":
            columns[i], levels[i] = _coded(file, codes, counts)
        elif kind == "date":
            seconds = iso_seconds(list(counts))
            assert seconds is not None
            columns[i] = np.append(seconds, np.nan)[codes]
            dates.add(names[i])
        else:
            columns[i] = np.array([*text_kinds[i].values, np.nan], np.float64)[codes]
            if any_text_rounded(counts):
                rounded.add(names[i])
    table = Table.from_columns(names, [columns[i] for i in range(len(names))], levels)
    censored = [of.n_censored for of in text_kinds.values() if of.n_censored]
    if censored:
        how = {"missing": "missing", "limit": "the limit", "half": "half the limit"}[file.format.censored]
        number = f"{counted(sum(censored), 'cell')} in {counted(len(censored), 'column')}"
        file.notes += (f"values below or above a limit ({number}) are taken as {how}",)
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
    return codes, dict(zip(map(str, distinct.tolist()), counts.tolist(), strict=True))


# -- the text -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TextFormat(NumberFormat):
    """How delimited text is read.

    Parameters
    ----------
    separator : str, optional
        The character between cells; by default that of a line ``sep=;`` or of the ending, a tab for ``.tsv`` and
        ``.tab``, else a comma.
    header : {"auto", True, False} or int
        Whether the first row holds the column names, or how many rows do. "auto": it does if no cell of it is a
        number, it does not if every cell is a number or missing; a first row with both is an error that asks which is
        meant. Without names, columns are called x1, x2, ... by their positions, which count from 1.
    missing : sequence of str
        What stands for a missing cell besides an empty one, ``?``, ``NA``, ``NaN``, ``N/A``, ``NULL`` and ``#N/A``.
    duplicates : {"error", "number"}
        What to do with a column name that was there before: raise, or call it ``name_2``, ``name_3``, ...
    encoding : str
        The encoding of the file.
    skip : int, optional
        Number of lines above the table. By default titles there are an error.
    footer : int, optional
        Number of rows below the table. By default sums and remarks there are an error.
    """

    separator: str | None = None
    header: str | bool | int = "auto"
    missing: Sequence[str] = ()
    duplicates: str = "error"
    encoding: str = "utf-8"
    skip: int | None = None
    footer: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check("header", self.header, choice("auto", True, False) | count(1))
        check("skip", self.skip, choice(None) | count(0))
        check("footer", self.footer, choice(None) | count(0))
        check_duplicates_option(self.duplicates)
        if isinstance(self.missing, str):
            raise ParameterError("missing", self.missing, "give a list of texts")


class DelimitedText:
    """The text of a file and the errors that point into it; one pass over it finds names and number of rows.

    Quotes protect separators, and most programs that write them mean nothing else. `write_csv` also writes text that
    would be read as a number, a date or a missing cell in quotes. It quotes some of the plain names of the header then
    and leaves others bare, as nobody else does: in such a file (``quotes_tell``) a quoted cell is text.

    Rows without any value are left out, and so are columns without name and value.

    Parameters
    ----------
    path : Path
        The file, plain or gzipped.
    format : TextFormat
        How it is read.
    source : TextSource, optional
        What gives the text, if not the file.

    Attributes
    ----------
    missing : frozenset of str
        What stands for a missing cell.
    names : tuple of str
        Names of the columns.
    has_header : bool
        Whether the first row holds them.
    notes : tuple of str
        What the user should know about names and empty rows.
    n_rows : int
        Number of rows of data; blank lines of a file of one column count.
    texts : set of int
        Columns whose first cells are no numbers.
    digits : dict of int to int
        How long the first cells are, of columns where these are digits, as many in each; 0 where none is known.
    """

    def __init__(self, path: Path, format: TextFormat, source: Any = None) -> None:
        self.path, self.format, self.last_line = path, format, 1
        self.source = source or TextSource(path, format.encoding)
        self.missing = frozenset([*MISSING_CELLS, *self.format.missing])
        self._start = self.format.skip or 0
        start, head, whole = tee(self.source.blocks(), 3)
        self._find_separator(next(start, (1, b""))[1])
        lines, marked = self._first_rows(head)
        del start, head
        if not marked:
            self.fail("the file is empty", 1)
        rows = [[cell.removeprefix(MARK) for cell in cells] for cells in marked]
        self.quotes_tell = _are_partly_quoted(marked[0])
        titles = n_titles(rows) if self.format.skip is None and not self.quotes_tell else 0
        if titles:
            skip = lines[titles - 1]
            title = " ".join(filter(None, rows[0]))[:_SHOWN]
            self.fail(
                f"there is text above the table ({title!r}): {setting('skip', skip)} leaves out the first "
                f"{counted(skip, 'line')}",
                lines[0],
                cure={"skip": skip},
            )
        first, n_header = self._head(rows)
        self.names, self.has_header, self.notes = self._named(first, lines[0])
        n_header = n_header if self.has_header else 0
        self._start = lines[n_header - 1] if n_header else self._start
        self.last_line = max(1, self._start)
        self._n_columns = len(self.names)
        self._used = list(range(self._n_columns))
        is_auto = self.format.header == "auto" and not self.quotes_tell
        if is_auto and n_header and starts_with_units(rows[1:], self.missing):
            self.fail(
                f"the row below the names looks like units or more names: {setting('header', 2)} joins both, "
                f"{setting('header', 1)} takes it as data. If each column is an example, transpose the table first",
                lines[1] if len(lines) > 1 else None,
                cure={"header": 2},
            )
        self.n_rows = self._counted_rows(self._blocks(whole)) - (self.format.footer or 0)
        del whole
        self._leave_out_empty_columns()
        data, none = rows[n_header : n_header + max(0, self.n_rows)], self.missing
        known = [[row[i] for row in data if i < len(row) and row[i] not in none] for i in self._used]
        value = self.format.value
        self.texts = {
            i for i, cells in enumerate(known) if cells and not any(is_float(c) or value(c) is not None for c in cells)
        }
        sizes = {i: _n_digits(cells) for i, cells in enumerate(known)}
        self.digits = {i: max(of, default=0) for i, of in sizes.items() if len(of) < 2 and 0 not in of}

    def _find_separator(self, head: bytes) -> None:
        """Take the separator of a line ``sep=;``, or that of the ending unless another one divides the lines better."""
        declared = _DECLARED.match(head)
        if declared:
            self._start = max(1, self._start)
        given = self.format.separator or (declared[1].decode() if declared else None)
        usual = _SEPARATORS.get(file_ending(self.path), ",")
        if not given:
            lines = head.split(b"\n", self._start + _FIRST_ROWS + 1)[self._start : -1]
            best = separator_of([line.decode() for line in lines], usual)
            if best and best != usual:
                self.fail(
                    f"the cells seem to be separated by {best!r}, not by {usual!r}: did you mean "
                    f"{setting('separator', best)}?",
                    self._start + 1,
                    cure={"separator": best},
                )
        self.separator = separator = given or usual
        if len(separator) != 1 or separator in '"\n\r' or separator.isalnum() or not separator.isascii():
            raise ParameterError("separator", separator, "give one character of ASCII, such as ',' or ';' or '\\t'")
        # lines without a value, of which blank ones are left
        self._empty = (
            None if separator == " " else re.compile(rb"(?m)^[ %b]*%b[ %b]*$" % ((re.escape(separator.encode()),) * 3))
        )

    def _first_rows(self, blocks: Blocks) -> tuple[list[int], list[list[str]]]:
        """The first rows, with marks of quoted cells, and the line in which each ends."""
        lines: list[int] = []
        rows: list[list[str]] = []
        try:
            for line, cells in islice(self._rows(marked(self._table(blocks), self.separator)), _FIRST_ROWS):
                lines.append(line)
                rows.append(cells)
        except FileFormatError:  # raised again where rows are counted, unless there is none before
            if not rows:
                raise
        return lines, rows

    def _head(self, rows: list[list[str]]) -> tuple[list[str], int]:
        """The cells that may be names, and the number of their rows."""
        size = max(map(len, rows))
        if is_short_header(rows, size):
            is_end = all(not cells[-1] for cells in rows[1:])
            rows[0] = [*rows[0], ""] if is_end else ["", *rows[0]]
        header = self.format.header
        n = header if isinstance(header, int) and not isinstance(header, bool) else 1
        if n > 1 and (n >= len(rows) or len({len(cells) for cells in rows[:n]}) > 1):
            self.fail(f"{setting('header', n)}, but these rows have different lengths, or no row of data below", None)
        return joined_names(rows[:n]) if n > 1 else rows[0], n

    def _named(self, first: list[str], line: int) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
        """Names of the columns, whether the first row holds them, and notes."""
        cells = first
        if not self.quotes_tell:  # a name may be broken over lines
            cells = [" ".join(cell.split()) if "\n" in cell else cell.strip(_SPACE) for cell in first]
        header = self.format.header
        if header == "auto" and not self.quotes_tell:
            numbers = [bool(NUMBER.fullmatch(cell)) for cell in cells]
            header = not any(numbers)
            if not header and not all(n or cell in self.missing for n, cell in zip(numbers, cells, strict=True)):
                odd = numbers.index(True)
                found = f"the first row holds numbers ({cells[odd][:_SHOWN]!r}) and text"
                years = [cell for cell, n in zip(cells, numbers, strict=True) if n]
                cure = {"header": True} if len({y for y in years if y.isdigit()}) == len(years) > 1 else None
                self.fail(
                    f"{found}: give {setting('header')} to say whether it holds the column names", line, odd, cure
                )
        if not header:
            self.quotes_tell, self._unnamed = False, []
            return numbered_names(len(cells), "x"), False, ()
        unnamed = [i for i, cell in enumerate(cells) if not cell and not self.quotes_tell]
        notes = (f"columns without a name, called x1, x2, ... by position: {len(unnamed)}",) if unnamed else ()
        self._unnamed = unnamed
        names = tuple(f"x{i + 1}" if i in unnamed else cell for i, cell in enumerate(cells))
        if self.format.duplicates == "number":
            return number_names(names), True, notes
        again = first_repeated(names)
        if again is not None:
            problem = f"two columns are called {names[again]!r}; {duplicates_hint()}"
            self.fail(problem, line, again, {"duplicates": "number"})
        return names, True, notes

    def _counted_rows(self, blocks: Blocks) -> int:
        """Number of rows; an error unless each has a cell for each column, since pandas would fill up short ones."""
        n_rows, sign, blocks = 0, self.separator.encode(), iter(blocks)
        for first_line, block in blocks:
            if b'"' in block or self.separator == " ":  # from here on, quotes may protect separators and line ends
                for line, cells in self._rows(chain([(first_line, block)], blocks)):
                    self._check_count(len(cells), line)
                    self.last_line = line
                    n_rows += 1
                return n_rows
            for self.last_line, text in enumerate(block[:-1].split(b"\n"), start=first_line):
                if text.strip(b" "):
                    self._check_count(text.count(sign) + 1, self.last_line)
                    n_rows += 1
        return n_rows

    def _leave_out_empty_columns(self) -> None:
        """Leave out columns that have neither a name nor a value."""
        empty = set(self._unnamed if self.n_rows > 0 else ())
        for frame in self.frames(empty, _BLOCK_ROWS, empty) if empty else ():
            empty -= {i for i in empty if frame[i].notna().any()}
        if empty:
            self._used = [i for i in self._used if i not in empty]
            self.names = tuple(self.names[i] for i in self._used)
            left = len(self._unnamed) - len(empty)
            self.notes = (f"columns without a name, called x1, x2, ... by position: {left}",) if left else ()

    def _check_count(self, n_cells: int, line: int) -> None:
        if n_cells != len(self.names):
            self.fail(f"the row has {counted(n_cells, 'cell')}, but {there_are(len(self.names), 'column')}", line)

    def _rows(self, blocks: Blocks) -> Iterator[tuple[int, list[str]]]:
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

    def _blocks(self, blocks: Blocks | None = None) -> Blocks:
        """The text below the titles and the header, quoted cells marked where that tells."""
        blocks = self._table(self.source.blocks() if blocks is None else blocks)
        return marked(blocks, self.separator) if self.quotes_tell else blocks

    def _table(self, blocks: Blocks) -> Blocks:
        for line, block in blocks:
            if line <= self._start:
                parts = block.split(b"\n", self._start - line + 1)
                line, block = line + len(parts) - 1, parts[-1]
            if self._empty is not None and self._empty.search(block):
                block = self._empty.sub(b"", block)
            if block:
                yield line, block

    def unmarked(self, text: str) -> str:
        """Return a cell as it is in the file."""
        return text.removeprefix(MARK) if self.quotes_tell else text

    def numbers(self, cells: pd.Series) -> np.ndarray:
        """Return the cells of a column of numbers as floats."""
        if cells.dtype.kind in "iuf":
            return cells.to_numpy(np.float64)
        codes, counts = text_counts_of(cells)
        return np.array([*map(self.format.value, counts), np.nan], np.float64)[codes]

    def codes(self, least: Mapping[int, float]) -> set[int]:
        """Return which columns of numbers, each with its least one, hold digits with leading zeros: ``007``."""
        if self.format.padded == "numbers":
            return set()
        doubtful = {i for i, low in least.items() if 0 <= low < 10.0 ** (min(self.digits[i] or 300, 300) - 1)}
        sizes: dict[int, set[int]] = {i: set() for i in doubtful}
        for frame in self.frames(doubtful, _BLOCK_ROWS, {self._used[i] for i in doubtful}) if doubtful else ():
            for i, padded in sizes.items():
                padded |= _n_digits(frame[self._used[i]].dropna().unique())
        padded = {i for i, own in sizes.items() if len(own) == 1 and least[i] < 10.0 ** (max(own) - 1) and max(own) > 1}
        if padded:
            named = ", ".join(repr(self.names[i]) for i in sorted(padded)[:_SHOWN_NAMES])
            more = f" and {len(padded) - _SHOWN_NAMES} more" if len(padded) > _SHOWN_NAMES else ""
            how = f"{setting('padded', 'numbers')} reads numbers"
            self.notes += (f"digits with leading zeros are taken as categories: {named}{more}; {how}",)
        return padded

    def frame(self, as_text: set[int]) -> pd.DataFrame:
        """Return the cells as pandas types them."""
        return next(self.frames(as_text, None))

    def frames(
        self, as_text: set[int], n_rows: int | None, only: Iterable[int] | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield the cells as pandas types them, so many rows at a time (None: all), of all or only some columns."""
        if self._n_columns == 1:
            self._refuse_blank_lines()
        chosen = self._used if only is None else sorted(only)
        try:
            frames: Any = pd.read_csv(
                io.BufferedReader(BlockStream(self._blocks())),
                sep=self.separator,
                header=None,
                names=list(range(self._n_columns)),
                usecols=None if len(chosen) == self._n_columns else chosen,
                dtype={self._used[i]: str for i in as_text} or None,  # a dict, even an empty one, is slow
                decimal="," if self.format.decimal == "," else ".",
                na_values=sorted(self.missing),
                chunksize=n_rows,
                nrows=self.n_rows if self.format.footer else None,
                **_SETTINGS,
            )
            for frame in [frames] if n_rows is None else frames:
                frame.columns = range(len(chosen)) if only is None else chosen
                yield frame
        except pd.errors.EmptyDataError:
            yield pd.DataFrame()
        except (ValueError, OverflowError) as problem:
            if isinstance(problem, FileFormatError):
                raise
            self.fail(f"the cells cannot be read ({str(problem).strip()[:200]})", None)

    def _refuse_blank_lines(self) -> None:
        blank = None
        for first_line, block in self._blocks():
            for line, text in enumerate(block.split(b"\n")[:-1], start=first_line):
                if not text.strip(b" "):
                    blank = blank or line
                elif blank is not None:
                    self.fail("a blank line in a file of one column: write NA for a missing cell", blank)

    # -- errors that point into the file --------------------------------------------------------------

    def fail(
        self, problem: str, line: int | None, column: int | None = None, cure: Mapping[str, Any] | None = None
    ) -> NoReturn:
        """Raise the error about a line (from 1) and a column (from 0), with the settings that cure it."""
        place = None if column is None else column + 1
        problem += f" ({self.source.notes[0]})" if self.source.notes else ""
        raise FileFormatError(problem, path=self.path, line=line, column=place, cure=cure)

    def _line_of(self, column: int, wanted: Callable[[str], bool]) -> tuple[int, str]:
        """The line and the text of the first cell of a column that is wanted."""
        for line, cells in self._rows(self._blocks()):
            cell = cells[self._used[column]]
            if cell not in self.missing and wanted(cell):
                return line, self.unmarked(cell)
        return 1, ""

    def refuse_footers(self, texts: list[str]) -> None:
        """Raise an error where the last rows hold sums or remarks, by the first text of each."""
        if n := len(below := footers(texts)):
            ways = f"{setting('footer', n)} leaves out the last {counted(n, 'row')}, {setting('footer', 0)} keeps all"
            problem = f"sums or remarks stand below the table ({', '.join(map(repr, below))}): {ways}"
            self.fail(problem, self.last_line, cure={"footer": n})

    def refuse_infinite(self, column: int) -> NoReturn:
        """Raise the error about the first infinite cell of a column of numbers."""
        values = self.format.value
        line, text = self._line_of(column, lambda text: (value := values(text)) is None or math.isinf(value))
        self.fail(f"column {self.names[column]!r}: {text[:_SHOWN]!r} is infinite", line, self._used[column])

    def _refuse_texts(self, columns: Mapping[int, Mapping[str, int]], points: bool) -> NoReturn:
        """Raise the error about texts in columns of numbers, of which it is known how often each occurs."""
        texts = {self.names[i]: {self.unmarked(t): n for t, n in own.items()} for i, own in columns.items()}
        diagnosis = Diagnosis(texts, self.format, points)
        first = diagnosis.faults[0]
        column = self.names.index(first.column)
        line, _ = self._line_of(column, lambda text: self.unmarked(text).strip(" ") == first.text.strip(" "))
        self.fail("; ".join(f.problem for f in diagnosis.faults), line, self._used[column], diagnosis.cure)

    def kinds_of(self, columns: Mapping[int, TextKinds], points: bool = False) -> dict[int, str]:
        """Return "number", "date" or "text" for each column.

        Numbers that are infinite, stand among texts or are written in another way than the format says are an error.

        Parameters
        ----------
        columns : mapping of int to TextKinds
            What the cells of the columns are.
        points : bool
            Whether some cells have decimal points.
        """
        doubtful = {i: kinds.texts for i, kinds in columns.items() if kinds.are_doubtful}
        if doubtful:
            self._refuse_texts(doubtful, points)
        for i, kinds in columns.items():
            if kinds.infinite:
                self.refuse_infinite(i)
            if len(kinds.units) > 1:
                named = f"column {self.names[i]!r} has numbers with the units {' and '.join(sorted(kinds.units)[:3])}"
                self.fail(
                    f"{named}: write them in one unit, or leave the column out ({setting('ignore', self.names[i])})",
                    None,
                )
        return {i: kinds.kind for i, kinds in columns.items()}


def _n_digits(cells: Iterable[str]) -> set[int]:
    """How long the cells are that are digits only; 0 for others."""
    return {len(text) if text.isdecimal() else 0 for text in (cell.strip(" ") for cell in cells)}


def is_float(text: str) -> bool:
    """Whether Python reads a text as a number."""
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
