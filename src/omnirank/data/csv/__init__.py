"""CSV and TSV files, with or without a header row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import check, choice
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import iso_seconds
from omnirank.data.csv.text import MISSING_CELLS, SHOWN, DelimitedText, column_names
from omnirank.data.files import Content, check_duplicates_option, column_kinds, plain_name
from omnirank.data.notes.doubts import what_numbers_have
from omnirank.data.table import LARGEST_EXACT, Levels, Table, any_text_rounded


def read_delimited(
    path: PathLike,
    *,
    separator: str = ",",
    header: str | bool = "auto",
    nominal: ColumnChoice | None = None,
    missing: Sequence[str] = (),
    duplicates: str = "error",
    encoding: str = "utf-8",
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
    encoding : str
        The encoding of the file.
    unused : mapping of str to column choice, optional
        Columns that will be left out, by the parameter that says so: they may hold anything, and are read as text.
    used : mapping of str to column choice, optional
        The only columns that will not be left out.

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
    if len(separator) != 1 or separator in '"\n\r' or separator.isalnum():
        raise ParameterError("separator", separator, "give one character, such as ',' or ';' or '\\t'")
    check("header", header, choice("auto", True, False))
    check_duplicates_option(duplicates)
    file = DelimitedText(Path(path), separator, frozenset([*MISSING_CELLS, *missing]), encoding)
    first = file.first_row()
    names, has_header, notes = column_names(file, first, header, duplicates)
    if file.check_cell_counts(len(names)) <= has_header:
        file.fail("there is no row of data", file.last_line)
    chosen = set() if nominal is None else set(choose_columns(nominal, names, "nominal"))
    chosen |= _chosen(unused or {}, names)
    if used is not None:
        chosen |= set(range(len(names))) - _chosen(used, names)
    frame = file.frame(len(names), has_header, chosen)
    booleans = {i for i in range(len(names)) if frame.dtypes[i].kind in "bO" and _are_booleans(frame[i])}
    if booleans:  # of which pandas loses the spelling
        frame = file.frame(len(names), has_header, chosen | booleans)
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


def read_frame(
    path: PathLike, *, separator: str = ",", missing: Sequence[str] = (), encoding: str = "utf-8"
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
    file = DelimitedText(Path(path), separator, frozenset([*MISSING_CELLS, *missing]), encoding)
    first = file.first_row()
    if all(NUMBER.fullmatch(cell.strip(" ")) for cell in first):
        file.fail("the first row holds numbers: it must hold the names of the columns", 1)
    names, _, _ = column_names(file, first, True, "error")
    if file.check_cell_counts(len(names)) <= 1:
        return pd.DataFrame({name: np.empty(0, object) for name in names})
    frame = file.frame(len(names), True, set())
    inexact = {i for i in range(len(names)) if frame.dtypes[i].kind == "f" and _beyond_floats(frame[i].to_numpy())}
    if inexact:
        frame = file.frame(len(names), True, inexact)
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


def _typed_table(
    file: DelimitedText, frame: pd.DataFrame, names: tuple[str, ...], has_header: bool, nominal: set[int]
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
    large = {where[slot] for slot in np.flatnonzero((np.abs(numbers) >= LARGEST_EXACT).any(axis=0)).tolist()}
    texts = file.frame(len(names), has_header, large | nominal) if large else frame
    rounded = {names[i] for i in large if any_text_rounded(texts[i].dropna())}
    for slot in np.flatnonzero(np.isinf(numbers).any(axis=0)).tolist():
        i = where[slot]
        _Column(file, frame[i], i, names[i], has_header).refuse_infinite()
    for i in np.flatnonzero(~is_number).tolist():
        column = _Column(file, frame[i], i, names[i], has_header)
        columns[i], levels[i] = column.nominal() if i in nominal else column.typed()
        if column.is_date:
            dates.add(names[i])
        if levels[i] is None and any_text_rounded(texts_of(frame[i].dropna())):
            rounded.add(names[i])
    table = Table.from_columns(names, columns, levels)
    return replace(table, dates=frozenset(dates), rounded=frozenset(rounded))


@dataclass
class _Column:
    """One column as pandas read it, to be given its type."""

    file: DelimitedText
    cells: pd.Series
    position: int
    name: str
    has_header: bool
    is_date: bool = False

    def refuse_infinite(self) -> NoReturn:
        """Raise the error about the first infinite cell."""
        refuse_infinite(self.file, self.position, self.name, self.has_header)

    def typed(self) -> tuple[np.ndarray, Levels | None]:
        """Return numbers, or codes and levels."""
        texts = texts_of(self.cells)
        distinct = [text for text in pd.unique(texts) if text is not None]
        numbers = [text for text in distinct if NUMBER.fullmatch(text.strip(" "))]
        if not numbers:
            seconds = iso_seconds(distinct) if distinct else None  # quoted ones, which have a mark, are none
            if seconds is not None:
                self.is_date = True
                found = dict(zip(distinct, seconds.tolist(), strict=True))
                return np.array([found.get(text, np.nan) for text in texts]), None
            return self._coded(texts, distinct)
        if len(numbers) < len(distinct):
            others = Counter(text for text in texts if text is not None and not NUMBER.fullmatch(text.strip(" ")))
            refuse_texts(self.file, self.position, self.name, self.has_header, others)
        values = np.array([np.nan if text is None else float(text) for text in texts])
        if np.isinf(values).any():
            self.refuse_infinite()
        return values, None

    def nominal(self) -> tuple[np.ndarray, Levels]:
        """Return codes and levels: texts, in the order of their values where all are numbers."""
        texts = texts_of(self.cells)
        return self._coded(texts, [text for text in pd.unique(texts) if text is not None])

    def _coded(self, texts: np.ndarray, distinct: list[str]) -> tuple[np.ndarray, Levels]:
        levels = sorted({self.file.unmarked(text) for text in distinct})
        if all(NUMBER.fullmatch(level) for level in levels):
            levels.sort(key=float)
        position = {level: code for code, level in enumerate(levels)}
        codes: dict[str | None, int] = {text: position[self.file.unmarked(text)] for text in distinct}
        codes[None] = -1
        return np.array([codes[text] for text in texts], np.int32), tuple(levels)


def _fail_at(
    file: DelimitedText, position: int, name: str, has_header: bool, wanted: Callable[[str], bool], problem: str
) -> NoReturn:
    line, text = file.locate(position, has_header, wanted)
    file.fail(f"column {name!r}: {text[:SHOWN]!r} {problem}", line, position)


def refuse_infinite(file: DelimitedText, position: int, name: str, has_header: bool) -> NoReturn:
    """Raise the error about the first infinite cell of a column of numbers."""

    def is_infinite(text: str) -> bool:
        return not NUMBER.fullmatch(text.strip(" ")) or bool(np.isinf(float(text)))

    _fail_at(file, position, name, has_header, is_infinite, "is infinite")


def refuse_texts(
    file: DelimitedText, position: int, name: str, has_header: bool, others: Mapping[str, int]
) -> NoReturn:
    """Raise the error about texts in a column of numbers, of which it is known how often each occurs."""
    about = what_numbers_have(others, "such cells")
    _fail_at(
        file,
        position,
        name,
        has_header,
        lambda text: not NUMBER.fullmatch(text.strip(" ")),
        f"is text in a column of numbers{f' ({about})' if about else ''}; "
        f"{setting('nominal', name)} takes them as categories, {setting('ignore', name)} leaves them "
        f"out, {setting('missing')} names what stands for a missing cell",
    )


def texts_of(cells: pd.Series) -> np.ndarray:
    """Return cells as strings, None where missing; pandas reads True and False as booleans."""
    known = cells.notna().to_numpy()
    values = cells.to_numpy(dtype=object)
    return np.array([str(v) if k else None for v, k in zip(values, known, strict=True)], dtype=object)
