"""Rows dealt out to random groups on disk, in one pass over the parts, and samples read back from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.parallel import blocks, on_cluster, run_parallel, worker_count
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import recoded_like
from omnirank.data.table import Table
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.samples import Samples, needed_groups
from omnirank.shards.source import Stretch
from omnirank.shards.summary import known_rows

# Rows of a batch: with their copies they stay within the processor's caches, and groups get whole pages of the disk.
_BATCH_ROWS = 2**15
# And what they take, as a share of the memory.
_SHARE_OF_BATCHES = 16
# A worker reads at least so many rows of a part, where it has them.
_STRETCH_ROWS = 2**18
# Rows that are read back at once: they are turned into columns while they are in the processor's caches.
_BACK_BYTES = 2**20
_SMALL = (np.int8, np.int16, np.int32)


class Piece(NamedTuple):
    """A file of some columns of dealt rows: in each batch, rows come by group.

    Attributes
    ----------
    path : Path
        The file.
    columns : range
        Numbers of the columns.
    ends : ndarray
        Ends of groups (batches x groups).
    """

    path: Path
    columns: range
    ends: np.ndarray


@dataclass(frozen=True)
class DealtRows:
    """The rows of data in parts by random groups, in files of fixed-width records; picklable, without the rows.

    Attributes
    ----------
    data : ShardedDataset
        The data.
    samples : Samples
        Which groups a sample has.
    pieces : tuple of Piece
        The files: all of the first columns in the order of the rows, then all of the next ones.
    """

    data: ShardedDataset
    samples: Samples
    pieces: tuple[Piece, ...]

    def read(self, sample: int) -> Dataset:
        """Return a sample: its labelled rows in the order of the data, then the unlabelled ones.

        Parameters
        ----------
        sample : int
            Number of the sample.
        """
        groups = self.samples.groups_of(sample)
        by_columns = {piece.columns: [p for p in self.pieces if p.columns == piece.columns] for piece in self.pieces}
        some = next(iter(by_columns.values()), [])
        n_rows = sum(int(_lengths(piece.ends)[:, list(groups)].sum()) for piece in some)
        if not n_rows:
            less = setting("max_memory")
            raise DataError(f"sample {sample} of {self.data.name!r} has no examples: allow less memory ({less})")
        whole = empty_rows(self.data, n_rows)
        for columns, pieces in by_columns.items():
            at = 0
            for records in chain.from_iterable(self._records(pieces, group) for group in groups):
                copy_back(records, whole, at, columns)
                at += len(records)
        return self.data.dataset_of(whole)

    def _records(self, pieces: Sequence[Piece], group: int) -> Iterator[np.ndarray]:
        """The records of a group, some at a time."""
        form = record_form(self.data, pieces[0].columns)
        most = max(1, _BACK_BYTES // form.itemsize)
        for piece in pieces:
            ends, starts = piece.ends[:, group], (piece.ends - _lengths(piece.ends))[:, group]
            try:
                with piece.path.open("rb", buffering=0) as file:
                    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                        for first in range(start, end, most):
                            file.seek(first * form.itemsize)
                            yield _read_whole(file, np.empty(min(most, end - first), form))
            except OSError as problem:
                raise DataError(f"cannot read {str(piece.path)!r}: {problem.strerror or problem}") from None


def _read_whole(file: Any, records: np.ndarray) -> np.ndarray:
    if file.readinto(records.view(np.uint8)) != records.nbytes:
        raise DataError(f"{file.name!r} has been changed during the run")
    return records


def _lengths(ends: np.ndarray) -> np.ndarray:
    """Numbers of rows, by batch and group."""
    return np.diff(ends.ravel(), prepend=0).reshape(ends.shape)


def deal_rows(
    data: ShardedDataset, samples: Samples, numbers: Sequence[int], folder: Path, n_jobs: int | None = None
) -> DealtRows:
    """Read all parts once, and write the rows of some samples to a folder, by group.

    Where reading all columns together would take more than half of the memory, some are read at a time.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    samples : Samples
        Which row is in which sample.
    numbers : sequence of int
        The samples that are needed.
    folder : Path
        Where the rows are written.
    n_jobs : int or None
        Number of workers.
    """
    deal = partial(deal_stretch, data, samples, needed_groups(samples, numbers), folder)
    stretches, n_columns, at_once = data.source.stretches(_STRETCH_ROWS), len(data._names), data.source.columns_at_once
    together = max(1, at_once - len(_telling(data)))
    columns = blocks(n_columns, -(-n_columns // together)) if at_once < n_columns else [range(n_columns)]
    if not on_cluster(n_jobs):  # whose workers have memory of their own
        n_jobs = max(1, min(worker_count(n_jobs), at_once // n_columns))
    given = [(stretch, some) for some in columns for stretch in stretches]
    return DealtRows(data, samples, tuple(run_parallel(deal, given, n_jobs, description="dealing out rows")))


def _telling(data: ShardedDataset) -> range:
    """Numbers of the columns that tell which rows are labelled, where some are and some are not."""
    end = data.n_features + data.n_targets
    return range(data.n_features if 0 < data.n_labelled < data.n_examples else end, end)


def deal_stretch(
    data: ShardedDataset, samples: Samples, needed: np.ndarray, folder: Path, given: tuple[Stretch, range]
) -> Piece:
    """Read some rows and columns of a part and write those of the needed groups to a file of the folder, by group."""
    stretch, columns = given
    path = folder / f"{stretch.part:06}-{stretch.groups.start:06}-{columns.start:06}"
    telling = _telling(data)
    read = [*columns, *(i for i in telling if i not in columns)]
    names, like, form = [data._names[i] for i in read], data._columns.select(np.array(read)), record_form(data, columns)
    row_bytes = _SHARE_OF_BATCHES * data.source.columns.row_bytes(names)
    n_rows = int(np.clip(data.source.max_memory // row_bytes, 1, _BATCH_ROWS))
    ends = [np.zeros((0, samples.n_groups), np.int64)]
    written = 0
    try:
        with path.open("wb", buffering=0) as file:
            for batch in data.source.batches_of(stretch, names, n_rows):
                table = recoded_like(data.source.columns.table(batch.cells, data.source.parts[batch.part]), like)
                labelled = np.full(table.n_rows, data.n_labelled > 0)
                if telling:
                    labelled = known_rows(table, [read.index(i) for i in telling])
                group = samples.groups(batch.first + np.arange(table.n_rows), labelled)
                group[~needed[group]] = -1
                counts = np.bincount(group[group >= 0], minlength=samples.n_groups)
                order = np.argsort(group, kind="stable")[table.n_rows - int(counts.sum()) :]
                _write_whole(file, packed(table, order, form))
                ends.append(written + np.cumsum(counts)[None, :])
                written = int(ends[-1][0, -1])
    except OSError as problem:
        raise DataError(
            f"cannot write the rows of shard {data.source.parts[stretch.part].name} to {str(folder)!r}: "
            f"{problem.strerror or problem}; scratch names another folder"
        ) from None
    return Piece(path, columns, np.concatenate(ends))


def _write_whole(file: Any, records: np.ndarray) -> None:
    left = memoryview(records.tobytes())
    while left:
        left = left[file.write(left) :]


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
    >>> from omnirank.shards.dealing import record_form
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pd.DataFrame({"size": [0.5, 1.5], "n": [7, -300], "kind": ["a", "b"]})
    ...     frame.to_parquet(pathlib.Path(folder, "plants.parquet"))
    ...     record_form(om.open_shards(folder, target="kind"))
    dtype([('c0', '<f8'), ('c1', '<i2'), ('c2', 'i1')])
    """
    names = data._columns.names
    return np.dtype([(f"c{i}", _cell_type(data, names[i])) for i in (columns or range(len(names)))])


def _cell_type(data: ShardedDataset, name: str) -> np.dtype:
    columns, summary = data.source.columns, data._summary.columns[name]
    levels = data._columns.levels[data._columns.index(name)]
    if levels is not None:
        return next(np.dtype(kind) for kind in _SMALL if len(levels) <= np.iinfo(kind).max)
    if name in columns.integers and summary.n_known:
        for kind in _SMALL:
            if np.iinfo(kind).min < summary.low and summary.high <= np.iinfo(kind).max:
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
