"""Rows as records of fixed width, for files that are needed during a run only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnirank.data.table import Table
from omnirank.shards.dataset import ShardedDataset

_SMALL = (np.int8, np.int16, np.int32)


def record_form(data: ShardedDataset, columns: Sequence[int] | None = None) -> np.dtype:
    """Return the type of a record: the cells of a row one after the other, each as narrow as its column allows.

    Codes of levels and whole numbers of small range are small integers; of numbers, the least integer is missing.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    columns : sequence of int, optional
        Numbers of the columns that a record has, by default all of them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import omnirank as om
    >>> from omnirank.shards.records import record_form
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pd.DataFrame({"size": [0.5, 1.5], "n": [7, -300], "kind": ["a", "b"]})
    ...     frame.to_parquet(pathlib.Path(folder, "plants.parquet"))
    ...     record_form(om.open_shards(folder, target="kind"))
    dtype([('c0', '<f8'), ('c1', '<i2'), ('c2', 'i1')])
    """
    names = data._columns.names
    return np.dtype([(f"c{i}", _cell_type(data, names[i])) for i in (columns or range(len(names)))])


def _cell_type(data: ShardedDataset, name: str) -> np.dtype:
    columns, found = data.source.columns, data._summary.columns[name]
    levels = data._columns.levels[data._columns.index(name)]
    if levels is not None:
        return next(np.dtype(kind) for kind in _SMALL if len(levels) <= np.iinfo(kind).max)
    if name in columns.integers and found.n_known:
        for kind in _SMALL:
            if np.iinfo(kind).min < found.low and found.high <= np.iinfo(kind).max:
                return np.dtype(kind)
    return np.dtype(data._columns.dtype)


def packed(table: Table, order: np.ndarray, form: np.dtype) -> np.ndarray:
    """Return rows of a table, in some order, as records of its first columns."""
    records = np.empty(len(order), form)
    assert form.names is not None
    for i, name in enumerate(form.names):
        cells, kind = table.column(i)[order], form[i]
        if kind.kind == "i" and cells.dtype.kind == "f":
            cells = np.where(np.isnan(cells), np.iinfo(kind).min, cells)
        records[name] = cells
    return records


def copy_back(records: np.ndarray, whole: Table, at: int, columns: Sequence[int]) -> None:
    """Put records of some columns into the rows of a table, from a place on."""
    rows = slice(at, at + len(records))
    for i in columns:
        cells, into = records[f"c{i}"], whole.column(i)[rows]
        into[:] = cells
        if cells.dtype.kind == "i" and into.dtype.kind == "f":
            into[cells == np.iinfo(cells.dtype).min] = np.nan


def empty_rows(data: ShardedDataset, n_rows: int) -> Table:
    """Return so many rows of all columns, of which nothing is known yet."""
    like = data._columns
    shape = {"numeric": like.numeric.shape[1], "codes": like.codes.shape[1]}
    cells = {name: np.empty((n_rows, n), getattr(like, name).dtype, order="F") for name, n in shape.items()}
    return Table(like.names, like.levels, cells["numeric"], cells["codes"])
