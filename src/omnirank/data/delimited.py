"""CSV and TSV files, with or without a header row."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from omnirank.core.errors import FileFormatError, ParameterError, setting
from omnirank.core.immutable import first_repeated
from omnirank.core.parameters import check, choice
from omnirank.core.types import PathLike
from omnirank.data.arff_tokens import NUMBER
from omnirank.data.byte_parsing import EXACT_NUMBERS
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.column_types import iso_seconds
from omnirank.data.content import Content, column_kinds, plain_name
from omnirank.data.duplicate_names import check_duplicates_option, duplicates_hint, number_names
from omnirank.data.number_texts import what_numbers_have
from omnirank.data.table import Levels, Table, numbered_names
from omnirank.data.text_source import LineBlocks, TextSource

MISSING_CELLS = ("", "?", "NA", "NaN", "nan")

_SHOWN = 60


def read_delimited(
    path: PathLike,
    *,
    separator: str = ",",
    header: str | bool = "auto",
    nominal: ColumnChoice | None = None,
    missing: Sequence[str] = (),
    duplicates: str = "error",
    unused: Mapping[str, ColumnChoice | None] | None = None,
    used: Mapping[str, ColumnChoice | None] | None = None,
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
    separator : str
        The character between cells.
    header : {"auto", True, False}
        Whether the first row holds the column names. "auto": it does if no cell of it is a number, it does not if
        every cell is a number or missing; a first row with both is an error that asks which is meant. Without
        names, columns are called x1, x2, ... by their positions, which count from 1.
    nominal : column choice, optional
        Columns to be taken as nominal although they hold numbers.
    missing : sequence of str
        What stands for a missing cell besides an empty one, ``?``, ``NA`` and ``NaN``.
    duplicates : {"error", "number"}
        What to do with a column name that was there before: raise, or call it ``name_2``, ``name_3``, ...
    unused : mapping of str to column choice, optional
        Columns that will be left out, by the parameter that says so: they may hold anything, and are read as text.
    used : mapping of str to column choice, optional
        The only columns that will not be left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.delimited import read_delimited
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.csv")
    ...     _ = path.write_text("size,colour\\n1.5,red\\n?,blue\\n")
    ...     print(read_delimited(path).table.to_frame())
       size colour
    0   1.5    red
    1   NaN   blue
    """
    if len(separator) != 1 or separator in '"\n\r' or separator.isalnum():
        raise ParameterError("separator", separator, "give one character, such as ',' or ';' or '\\t'")
    check("header", header, choice("auto", True, False))
    check_duplicates_option(duplicates)
    file = _DelimitedText(Path(path), separator, frozenset([*MISSING_CELLS, *missing]))
    first = file.first_row()
    names, has_header, notes = _names(file, first, header, duplicates)
    if file.check_cell_counts(len(names)) <= has_header:
        file.fail("there is no row of data", file.last_line)
    chosen = set() if nominal is None else set(choose_columns(nominal, names, "nominal"))
    chosen |= _chosen(unused or {}, names)
    if used is not None:
        chosen |= set(range(len(names))) - _chosen(used, names)
    frame = file.frame(len(names), has_header, chosen)
    if not len(frame):  # blank lines of a file of one column count as rows above
        file.fail("there is no row of data", file.last_line)
    table = _typed_table(file, frame, names, has_header, chosen)
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
        notes=notes,
    )


def _chosen(choices: Mapping[str, ColumnChoice | None], names: Sequence[str]) -> set[int]:
    given = {what: columns for what, columns in choices.items() if columns is not None}
    return {i for what, columns in given.items() for i in choose_columns(columns, names, what)}


def _typed_table(
    file: _DelimitedText, frame: pd.DataFrame, names: tuple[str, ...], has_header: bool, nominal: set[int]
) -> Table:
    """The columns with their types: numbers all at once, for there may be many, others one by one."""
    is_number = np.array([dtype.kind in "iuf" for dtype in frame.dtypes])
    is_number[list(nominal)] = False
    numbers = (frame if is_number.all() else frame.loc[:, is_number]).to_numpy(np.float64)
    columns: list[np.ndarray] = [np.empty(0)] * len(names)
    levels: list[Levels | None] = [None] * len(names)
    dates: set[str] = set()
    where = np.flatnonzero(is_number).tolist()
    for slot, i in enumerate(where):
        columns[i] = numbers[:, slot]
    for slot in np.flatnonzero(np.isinf(numbers).any(axis=0)).tolist():
        i = where[slot]
        _Column(file, frame[i], i, names[i], has_header).refuse_infinite()
    for i in np.flatnonzero(~is_number).tolist():
        column = _Column(file, frame[i], i, names[i], has_header)
        columns[i], levels[i] = column.nominal() if i in nominal else column.typed()
        if column.is_date:
            dates.add(names[i])
    return replace(Table.from_columns(names, columns, levels), dates=frozenset(dates))


@dataclass
class _DelimitedText:
    """The text of the file and the errors that point into it."""

    path: Path
    separator: str
    missing: frozenset[str]
    last_line: int = 1
    source: TextSource = field(init=False)

    def __post_init__(self) -> None:
        self.source = TextSource(self.path)
        self.quoted = any(b'"' in block for _, block in self.source.blocks())

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
        line, cells = next(self.rows(), (1, None))
        if cells is None:
            self.fail("the file is empty", 1)
        if len(cells) == 1:
            other = next((s for s in ",;\t|" if s in cells[0] and s != self.separator), None)
            if other is not None:
                self.fail(f"one column only with {setting('separator', self.separator)}; did you mean {other!r}?", line)
        return cells

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
            self.fail(f"the row has {found} cells, but there are {expected} columns", line)

    def frame(self, n_columns: int, has_header: bool, as_text: set[int]) -> pd.DataFrame:
        """Return the cells as pandas types them."""
        if n_columns == 1:
            self._refuse_blank_lines()
        try:
            return pd.read_csv(  # type: ignore[call-overload]
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
                **EXACT_NUMBERS,
            )
        except (ValueError, OverflowError) as problem:
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
                return line, cells[column]
        return 1, ""

    def fail(self, problem: str, line: int | None, column: int | None = None) -> NoReturn:
        raise FileFormatError(problem, path=self.path, line=line, column=None if column is None else column + 1)


class _BlockStream(io.RawIOBase):
    """The blocks of a text source as one stream of bytes."""

    def __init__(self, source: TextSource) -> None:
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


@dataclass
class _Column:
    """One column as pandas read it, to be given its type."""

    file: _DelimitedText
    cells: pd.Series
    position: int
    name: str
    has_header: bool
    is_date: bool = False

    def refuse_infinite(self) -> NoReturn:
        """Raise the error about the first infinite cell."""
        self._fail_at(lambda text: not NUMBER.fullmatch(text.strip(" ")) or np.isinf(float(text)), "is infinite")

    def typed(self) -> tuple[np.ndarray, Levels | None]:
        """Return numbers, or codes and levels."""
        texts = _texts(self.cells)
        distinct = [text for text in pd.unique(texts) if text is not None]
        numbers = [text for text in distinct if NUMBER.fullmatch(text.strip(" "))]
        if not numbers:
            seconds = iso_seconds(distinct) if distinct else None
            if seconds is not None:
                self.is_date = True
                found = dict(zip(distinct, seconds.tolist(), strict=True))
                return np.array([found.get(text, np.nan) for text in texts]), None
            return _coded(texts, sorted(distinct))
        if len(numbers) < len(distinct):
            others = Counter(text for text in texts if text is not None and not NUMBER.fullmatch(text.strip(" ")))
            about = what_numbers_have(others, "such cells")
            self._fail_at(
                lambda text: not NUMBER.fullmatch(text.strip(" ")),
                f"is text in a column of numbers{f' ({about})' if about else ''}; "
                f"{setting('nominal', self.name)} takes them as categories, {setting('ignore', self.name)} leaves them "
                f"out, {setting('missing')} names what stands for a missing cell",
            )
        values = np.array([np.nan if text is None else float(text) for text in texts])
        if np.isinf(values).any():
            self.refuse_infinite()
        return values, None

    def nominal(self) -> tuple[np.ndarray, Levels]:
        """Return codes and levels: texts, in the order of their values where all are numbers."""
        texts = _texts(self.cells)
        distinct = [text for text in pd.unique(texts) if text is not None]
        if all(NUMBER.fullmatch(text) for text in distinct):
            return _coded(texts, sorted(distinct, key=lambda text: (float(text), text)))
        return _coded(texts, sorted(distinct))

    def _fail_at(self, wanted: Callable[[str], bool], problem: str) -> NoReturn:
        line, text = self.file.locate(self.position, self.has_header, wanted)
        self.file.fail(f"column {self.name!r}: {text[:_SHOWN]!r} {problem}", line, self.position)


def _texts(cells: pd.Series) -> np.ndarray:
    """Cells as strings, None where missing; pandas reads True and False as booleans."""
    known = cells.notna().to_numpy()
    values = cells.to_numpy(dtype=object)
    return np.array([str(v) if k else None for v, k in zip(values, known, strict=True)], dtype=object)


def _coded(texts: np.ndarray, levels: list[str]) -> tuple[np.ndarray, Levels]:
    position: dict[str | None, int] = {level: code for code, level in enumerate(levels)}
    position[None] = -1
    return np.array([position[text] for text in texts], np.int32), tuple(levels)


def _names(
    file: _DelimitedText, first: list[str], header: str | bool, duplicates: str
) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """Names of the columns, whether the first row holds them, and notes."""
    cells = [cell.strip(" ") for cell in first]
    if header == "auto":
        numbers = [bool(NUMBER.fullmatch(cell)) for cell in cells]
        absent = [cell in file.missing for cell in cells]
        if all(n or a for n, a in zip(numbers, absent, strict=True)) and any(numbers):
            header = False
        elif any(numbers):
            odd = cells[numbers.index(True)]
            file.fail(
                f"the first row holds numbers ({odd[:_SHOWN]!r}) and text: give {setting('header')} to say whether "
                "it holds the column names",
                1,
                numbers.index(True),
            )
        else:
            header = True
    if not header:
        return numbered_names(len(cells), "x"), False, ()
    unnamed = [i for i, cell in enumerate(cells) if not cell]
    notes = (f"columns without a name, called x1, x2, ... by position: {len(unnamed)}",) if unnamed else ()
    names = tuple(cell or f"x{i + 1}" for i, cell in enumerate(cells))
    if duplicates == "number":
        return number_names(names), True, notes
    again = first_repeated(names)
    if again is not None:
        file.fail(f"two columns are called {names[again]!r}; {duplicates_hint()}", 1, again)
    return names, True, notes
