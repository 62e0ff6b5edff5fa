"""CSV and TSV files, with or without a header row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from omnirank.core.parameters import check, choice
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import iso_seconds
from omnirank.data.csv.text import MISSING_CELLS, DelimitedText, text_counts_of
from omnirank.data.files import Content, check_duplicates_option, column_kinds, plain_name
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
    check("header", header, choice("auto", True, False))
    check_duplicates_option(duplicates)
    file = DelimitedText(Path(path), separator, frozenset([*MISSING_CELLS, *missing]), encoding, header, duplicates)
    names = file.names
    chosen = _chosen({"nominal": nominal, **(unused or {})}, names)
    if used is not None:
        chosen |= set(range(len(names))) - _chosen(used, names)
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
    file = DelimitedText(Path(path), separator, frozenset([*MISSING_CELLS, *missing]), encoding, header=True)
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
    columns: list[np.ndarray] = [np.empty(0)] * len(names)
    levels: list[Levels | None] = [None] * len(names)
    dates: set[str] = set()
    where = np.flatnonzero(is_number).tolist()
    for slot, i in enumerate(where):
        columns[i] = numbers[:, slot]
    # NaN is not beyond; infinite numbers are
    large = {where[slot] for slot in np.flatnonzero((np.abs(numbers) >= LARGEST_EXACT).any(axis=0)).tolist()}
    for i in sorted(large):
        if np.isinf(columns[i]).any():
            file.refuse_infinite(i)
    texts = file.frame(large | nominal) if large else frame
    rounded = {names[i] for i in large if any_text_rounded(texts[i].dropna())}
    for i in np.flatnonzero(~is_number).tolist():
        codes, counts = text_counts_of(frame[i])
        if i in nominal:
            columns[i], levels[i] = _coded(file, codes, counts)
            continue
        columns[i], levels[i], are_dates = _typed(file, i, codes, counts)
        if are_dates:
            dates.add(names[i])
        if levels[i] is None and any_text_rounded(counts):
            rounded.add(names[i])
    table = Table.from_columns(names, columns, levels)
    return replace(table, dates=frozenset(dates), rounded=frozenset(rounded))


def _typed(
    file: DelimitedText, column: int, codes: np.ndarray, counts: Mapping[str, int]
) -> tuple[np.ndarray, Levels | None, bool]:
    """Numbers, or codes and levels, of a column that pandas has not taken for numbers; and whether they are dates."""
    numbers = {text for text in counts if NUMBER.fullmatch(text.strip(" "))}
    if not numbers:
        seconds = iso_seconds(list(counts)) if counts else None  # quoted ones, which have a mark, are none
        if seconds is not None:
            return np.append(seconds, np.nan)[codes], None, True
        return *_coded(file, codes, counts), False
    if len(numbers) < len(counts):
        file.refuse_texts(column, {text: n for text, n in counts.items() if text not in numbers})
    values = np.array([*map(float, counts), np.nan])
    if np.isinf(values).any():
        file.refuse_infinite(column)
    return values[codes], None, False


def _coded(file: DelimitedText, codes: np.ndarray, texts: Iterable[str]) -> tuple[np.ndarray, Levels]:
    """Codes and levels of texts, in the order of their values where all are numbers."""
    cells = [file.unmarked(text) for text in texts]
    levels = sorted(set(cells))
    if all(NUMBER.fullmatch(level) for level in levels):
        levels.sort(key=float)
    position = {level: code for code, level in enumerate(levels)}
    return np.array([*(position[cell] for cell in cells), -1], np.int32)[codes], tuple(levels)
