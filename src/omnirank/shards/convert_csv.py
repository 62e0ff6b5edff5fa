"""Delimited text of any size as a folder of Parquet files: read twice, in blocks, to find its types and to write it."""

from __future__ import annotations

import json
import shutil
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError
from omnirank.core.files import unfinished_path
from omnirank.core.types import PathLike
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import iso_seconds, moments
from omnirank.data.csv import DelimitedText, TextFormat, text_counts_of
from omnirank.data.load import with_all_cures
from omnirank.data.notes import caller_outside
from omnirank.data.numbers import TextKinds
from omnirank.data.parquet import METADATA_KEY, import_pyarrow, metadata_of

_BLOCK_ROWS = 2**16


@dataclass
class _Cells(TextKinds):
    """What the cells of a column are, as far as it is read."""

    integers: bool = True
    least: float = np.inf

    def add_cells(self, cells: pd.Series) -> None:
        """Take further cells into account."""
        known = cells.dropna()
        self.integers &= cells.dtype.kind == "i"
        if cells.dtype.kind in "iuf":
            self.numbers |= len(known) > 0
            self.least = min(self.least, known.min()) if len(known) else self.least
            self.infinite |= bool(np.isinf(known).any())
        else:
            self.add(text_counts_of(known)[1])


def convert_csv(
    path: PathLike,
    folder: PathLike,
    *,
    target: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    rows_per_file: int = 1_000_000,
    **reading: Any,
) -> list[Path]:
    """Write delimited text of any size as a folder of Parquet files, for :func:`omnirank.open_shards`.

    Columns have the types that :func:`omnirank.load` gives them: numbers, dates, and texts for all else. The file is
    read in blocks, once to find the types and once to write the cells.

    Parameters
    ----------
    path : str or Path
        The text file, plain or gzipped.
    folder : str or Path
        A folder that is not there yet; it appears when all is written.
    target : column choice, optional
        Columns that the files mark as target.
    ignore : column choice, optional
        Columns to leave out.
    nominal : column choice, optional
        Columns of numbers that are written as texts.
    rows_per_file : int
        Most rows of a file.
    **reading
        How the text is read, as by :func:`omnirank.load`: fields of :class:`omnirank.data.csv.TextFormat`.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.shards.convert_csv import convert_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "plants.csv")
    ...     _ = path.write_text("height,kind\\n1.5,a\\n0.5,b\\n0.7,a\\n")
    ...     files = convert_csv(path, pathlib.Path(folder, "plants"), target="kind", rows_per_file=2)
    ...     len(files), om.open_shards(pathlib.Path(folder, "plants"))
    (2, <ShardedDataset 'plants': 3 examples in 2 shards, 1 feature, classification, 1 target>)
    """
    import_pyarrow()
    folder = Path(folder)
    if folder.exists():
        raise DataError(f"there is something at {str(folder)!r} already: name a new folder")
    chosen = {"ignore": ignore, "nominal": nominal}
    given = reading | {name: columns for name, columns in chosen.items() if columns is not None}
    file, kinds = with_all_cures(lambda settings: _typed(Path(path), **given | settings), str(path), given)
    marked = [] if target is None else [file.names[i] for i in choose_columns(target, file.names, "target")]
    metadata = {METADATA_KEY: json.dumps(metadata_of(marked)).encode()} if marked else {}
    unfinished = unfinished_path(folder)
    try:
        unfinished.mkdir(parents=True)
        _write(file, kinds, unfinished, metadata, rows_per_file)
        unfinished.rename(folder)
    except OSError as problem:
        raise DataError(f"cannot write {str(folder)!r}: {problem.strerror or problem}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return sorted(folder.iterdir())


def _typed(
    path: Path, ignore: ColumnChoice | None = None, nominal: ColumnChoice | None = None, **reading: Any
) -> tuple[DelimitedText, dict[int, str]]:
    """The text, and what each column that is not left out holds."""
    file = DelimitedText(path, TextFormat(**reading))
    if file.n_rows <= 0:
        file.fail("there is no row of data", file.last_line)
    left_out = set() if ignore is None else set(choose_columns(ignore, file.names, "ignore"))
    as_text = set() if nominal is None else set(choose_columns(nominal, file.names, "nominal")) - left_out
    cells = {i: _Cells(file.format) for i in range(len(file.names)) if i not in left_out | as_text}
    for frame in file.frames(left_out | as_text, _BLOCK_ROWS):
        for i, column in cells.items():
            column.add_cells(frame[i])
    kinds = dict.fromkeys(as_text, "text") | file.kinds_of(cells)
    codes = file.codes({i: cells[i].least for i in file.digits.keys() & cells.keys() if kinds[i] == "number"})
    kinds |= dict.fromkeys(codes, "text")
    for text in file.notes[-1:] if codes else ():
        warnings.warn(text, UserWarning, stacklevel=caller_outside())
    integers = {i for i, column in cells.items() if column.integers and column.numbers} - codes
    return file, {i: "integer" if i in integers else kinds[i] for i in sorted(kinds)}


def _write(
    file: DelimitedText, kinds: dict[int, str], folder: Path, metadata: dict[bytes, bytes], rows_per_file: int
) -> None:
    pyarrow, parquet = import_pyarrow()
    names = file.names
    texts = {i for i in range(len(names)) if kinds.get(i, "text") not in ("integer", "number")}
    number, left = 0, 0
    with ExitStack() as stack:
        for frame in file.frames(texts, min(_BLOCK_ROWS, rows_per_file)):
            columns = {names[i]: _arrow(frame[i], kind, pyarrow, file) for i, kind in kinds.items()}
            table = pyarrow.table(columns).replace_schema_metadata(metadata or None)
            if left < table.num_rows:
                stack.close()
                path = folder / f"part-{number:05}.parquet"
                writer = stack.enter_context(parquet.ParquetWriter(path, table.schema, write_page_checksum=True))
                number, left = number + 1, rows_per_file
            writer.write_table(table)
            left -= table.num_rows


def _arrow(cells: pd.Series, kind: str, pyarrow: Any, file: DelimitedText) -> Any:
    if kind == "integer":
        return pyarrow.array(cells.to_numpy(np.int64))
    if kind == "number":
        return pyarrow.array(file.numbers(cells), from_pandas=True)
    if kind == "date":
        codes, counts = text_counts_of(cells)
        seconds = iso_seconds(list(counts))
        assert seconds is not None
        return pyarrow.array(moments(np.append(seconds, np.nan)[codes]))
    return pyarrow.array(cells.map(file.unmarked, na_action="ignore"), pyarrow.string(), from_pandas=True)
