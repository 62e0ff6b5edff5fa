"""Delimited text of any size as a folder of Parquet files: read twice, in blocks, to find its types and to write it."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError
from omnirank.core.files import unfinished_path
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import iso_seconds
from omnirank.data.csv.text import MISSING_CELLS, DelimitedText, text_counts_of
from omnirank.data.parquet import METADATA_KEY, import_pyarrow, metadata_of

_BLOCK_ROWS = 2**16
# Of texts among numbers, so many different ones are kept for the error.
_MOST_TEXTS = 1000


@dataclass
class _Found:
    """What the cells of a column are, as far as it is read."""

    numbers: bool = False
    integers: bool = True
    infinite: bool = False
    texts: bool = False
    dates: bool = True
    others: Counter = field(default_factory=Counter)

    def add(self, cells: pd.Series) -> None:
        """Take further cells into account."""
        kind = cells.dtype.kind
        known = cells.dropna()
        if kind in "iuf":
            self.numbers |= len(known) > 0
            self.integers &= kind == "i"
            self.infinite |= bool(np.isinf(known).any())
            return
        self.integers = False
        if not len(known):
            return
        distinct = text_counts_of(known)[1]
        others = {text: n for text, n in distinct.items() if not NUMBER.fullmatch(text.strip(" "))}
        self.numbers |= len(others) < len(distinct)
        # older versions of pandas leave numbers that are too large as texts
        self.infinite |= any(math.isinf(float(text)) for text in distinct.keys() - others.keys())
        self.texts |= bool(others)
        self.dates &= iso_seconds(list(others)) is not None
        if len(self.others) < _MOST_TEXTS:
            self.others.update(others)

    @property
    def kind(self) -> str:
        """Return "integer", "number", "date" or "text"."""
        if self.numbers or not self.texts:
            return "integer" if self.integers and self.numbers else "number"
        return "date" if self.dates else "text"


def convert_csv(
    path: PathLike,
    folder: PathLike,
    *,
    target: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    separator: str = ",",
    header: str | bool = "auto",
    missing: Sequence[str] = (),
    duplicates: str = "error",
    encoding: str = "utf-8",
    rows_per_file: int = 1_000_000,
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
    separator, header, missing, duplicates, encoding
        As in :func:`omnirank.load`.
    rows_per_file : int
        Most rows of a file.

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
    file = DelimitedText(Path(path), separator, frozenset([*MISSING_CELLS, *missing]), encoding, header, duplicates)
    names = file.names
    if file.n_rows <= 0:
        file.fail("there is no row of data", file.last_line)
    left_out = set() if ignore is None else set(choose_columns(ignore, names, "ignore"))
    as_text = set() if nominal is None else set(choose_columns(nominal, names, "nominal")) - left_out
    marked = [] if target is None else [names[i] for i in choose_columns(target, names, "target")]
    kinds = _column_kinds(file, left_out, as_text)
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


def _column_kinds(file: DelimitedText, left_out: set[int], as_text: set[int]) -> dict[int, str]:
    """What each column that is not left out holds."""
    found = {i: _Found() for i in range(len(file.names)) if i not in left_out | as_text}
    for frame in file.frames(left_out | as_text, _BLOCK_ROWS):
        for i, column in found.items():
            column.add(frame[i])
    for i, column in found.items():
        if column.numbers and column.texts:
            file.refuse_texts(i, column.others)
        if column.infinite:
            file.refuse_infinite(i)
    kinds = dict.fromkeys(as_text, "text") | {i: column.kind for i, column in found.items()}
    return dict(sorted(kinds.items()))


def _write(
    file: DelimitedText,
    kinds: dict[int, str],
    folder: Path,
    metadata: dict[bytes, bytes],
    rows_per_file: int,
) -> None:
    pyarrow, parquet = import_pyarrow()
    names = file.names
    texts = {i for i in range(len(names)) if kinds.get(i, "text") not in ("integer", "number")}
    writer, number, left = None, 0, 0
    try:
        for frame in file.frames(texts, min(_BLOCK_ROWS, rows_per_file)):
            columns = {names[i]: _arrow(frame[i], kind, pyarrow, file) for i, kind in kinds.items()}
            table = pyarrow.table(columns).replace_schema_metadata(metadata or None)
            if left < table.num_rows:
                if writer is not None:
                    writer.close()
                writer = parquet.ParquetWriter(
                    folder / f"part-{number:05}.parquet", table.schema, write_page_checksum=True
                )
                number, left = number + 1, rows_per_file
            assert writer is not None
            writer.write_table(table)
            left -= table.num_rows
    finally:
        if writer is not None:
            writer.close()


def _arrow(cells: pd.Series, kind: str, pyarrow: Any, file: DelimitedText) -> Any:
    if kind == "integer":
        return pyarrow.array(cells.to_numpy(np.int64))
    if kind == "number":
        return pyarrow.array(cells.to_numpy(np.float64), from_pandas=True)
    if kind == "date":
        seconds = pd.to_datetime(cells, format="ISO8601", utc=True)
        return pyarrow.array(seconds.dt.tz_localize(None).astype("datetime64[us]"), from_pandas=True)
    return pyarrow.array(cells.map(file.unmarked, na_action="ignore"), pyarrow.string(), from_pandas=True)
