"""Predictions for data that do not fit in memory: read block by block, written part by part."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.files import unfinished_path
from omnirank.core.text import counted
from omnirank.core.types import PathLike
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_columns, columns_like, recode
from omnirank.data.parquet import import_pyarrow
from omnirank.data.table import Table, is_made_up
from omnirank.ensembles.prediction_frame import prediction_frame
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.parts import ParquetFile
from omnirank.shards.source import ShardSource


def predict_shards(
    model: Any,
    source: Any,
    folder: PathLike,
    *,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    max_memory: int | str | None = None,
) -> list[Path]:
    """Predict the target of examples in parts, and write the predictions as Parquet files, one per part.

    Files are read once, in blocks, and written while they are read: neither need fit in memory. A part's predictions
    appear when it is done, so that those of finished parts are kept if something goes wrong.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, PCTForestClassifier, PCTForestRegressor or PCTClusterer
        The fitted model, such as :func:`omnirank.load_model` reads it.
    source : str, Path, sequence of them, pyarrow dataset, Dask data frame or ShardedDataset
        As in :func:`omnirank.open_shards`; columns that the model does not know are not read.
    folder : str or Path
        Where predictions are written: a new or empty folder. Files are called like those of the source.
    key : column choice, optional
        Columns that are written beside the predictions, as they are.
    ignore : column choice, optional
        Columns to leave out, where the features of the model have no names.
    probabilities : bool
        Whether there is also a column for the probability of each class or label.
    threshold : float, optional
        Label sets: frequency from which a label is predicted, by default 1/2.
    max_memory : int, str or None
        What blocks of rows may take while they are read, as in :func:`omnirank.open_shards`.

    Returns
    -------
    list of Path
        The files, in the order of the parts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import omnirank as om
    >>> model = om.PCTRegressor(pruning=None).fit(pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0]}), [0.5, 0.5, 2.5, 2.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"name": ["a", "b"], "size": [1.5, 3.5]}).to_parquet(pathlib.Path(folder, "new.parquet"))
    ...     files = om.predict_shards(model, folder, pathlib.Path(folder, "predicted"), key="name")
    ...     print(pd.read_parquet(files[0]))
      name    y
    0    a  0.5
    1    b  2.5
    """
    if isinstance(source, ShardedDataset):
        source = source.source
    parts = source if isinstance(source, ShardSource) else ShardSource(source, max_memory=max_memory)
    keys, features = _chosen(parts, model._features, key, ignore)
    names = _file_names(parts)
    folder = _new_folder(folder)
    options: dict[str, Any] = {"probabilities": probabilities, "threshold": threshold}
    unseen: dict[str, tuple[Any, str]] = {}
    written = []
    for number in range(len(parts.parts)):
        path = folder / names[number]
        _make_folder(path.parent)
        with _writing(path) as write:
            write(_no_predictions(model, parts, number, keys, options))
            for batch in parts.batches([*keys, *features], [number]):
                table = parts.columns.table(batch.cells.select(features), parts.parts[number])
                found = _known(columns_like(table, model._features, by_name=False), model._features, unseen, path.name)
                frame = prediction_frame(model, Dataset(found), **options)
                write(_with_keys(batch.cells.select(keys), frame))
        written.append(path)
    _tell_unseen(unseen)
    return written


def _chosen(
    parts: ShardSource, training: Table, key: ColumnChoice | None, ignore: ColumnChoice | None
) -> tuple[list[str], list[str]]:
    """The columns that are written beside the predictions, and those that the model wants."""
    names = parts.columns.names
    keys = [] if key is None else [names[i] for i in choose_columns(key, names, "key")]
    if not is_made_up(training.names):
        check_columns(names, training)
        return keys, list(training.names)
    left_out = {*keys, *([] if ignore is None else (names[i] for i in choose_columns(ignore, names, "ignore")))}
    return keys, [name for name in names if name not in left_out]


def _new_folder(folder: PathLike) -> Path:
    found = Path(folder)
    if found.exists() and (not found.is_dir() or any(found.iterdir())):
        raise DataError(f"predictions are written to a new or empty folder, and there is something at {str(found)!r}")
    _make_folder(found)
    return found


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {str(folder)!r} cannot be made: {error.strerror or error}") from None


def _file_names(parts: ShardSource) -> list[str]:
    """Names of the parts' predictions: those of the parts, where these have names; no two are the same."""
    names = [
        part.path.relative_to(parts.folder).with_suffix(".parquet").as_posix()
        if isinstance(part, ParquetFile) and parts.folder is not None
        else f"part-{number:05}.parquet"
        for number, part in enumerate(parts.parts)
    ]
    folded = [name.casefold() for name in names]  # of names that differ in case, some disks keep one file
    twice = next((name for name in folded if folded.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"predictions of several parts would be written to {twice!r}: rename the parts")
    return names


@contextmanager
def _writing(path: Path) -> Iterator[Any]:
    """Yield what writes tables of pyarrow to a Parquet file, which takes its name when all is written."""
    _, parquet = import_pyarrow()
    unfinished = unfinished_path(path)
    writers: list[Any] = []

    def write(table: Any) -> None:
        if not writers:
            writers.append(parquet.ParquetWriter(unfinished, table.schema, write_page_checksum=True))
        writers[0].write_table(table.cast(writers[0].schema))

    try:
        yield write
        writers[0].close()
        os.replace(unfinished, path)
    except OSError as problem:
        raise DataError(f"cannot write {str(path)!r}: {problem.strerror or problem}") from None
    finally:
        for writer in writers:
            writer.close()
        unfinished.unlink(missing_ok=True)


def _no_predictions(model: Any, parts: ShardSource, number: int, keys: Sequence[str], options: dict[str, Any]) -> Any:
    """The columns of the predictions of a part, without rows: a part may have none, but its file has columns."""
    pyarrow, _ = import_pyarrow()
    training = model._features
    missing = Table.from_columns(
        training.names,
        [_one_missing(levels, training.dtype) for levels in training.levels],
        training.levels,
    )
    frame = prediction_frame(model, Dataset(missing), **options)
    schema = parts.parts[number].schema
    cells = pyarrow.table({name: pyarrow.nulls(1, schema.field(name).type) for name in keys})
    return _with_keys(cells, frame).slice(0, 0)


def _one_missing(levels: Any, dtype: Any) -> Any:
    import numpy as np

    return np.full(1, np.nan, dtype) if levels is None else np.full(1, -1, np.int32)


def _with_keys(cells: Any, frame: Any) -> Any:
    pyarrow, _ = import_pyarrow()
    predicted = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    columns = {name: cells.column(name) for name in cells.schema.names}
    for name in columns:
        if name in predicted.column_names:
            raise ParameterError("key", name, "it is also a column of the predictions")
    return pyarrow.table(columns | {name: predicted.column(name) for name in predicted.column_names})


def _known(table: Table, training: Table, unseen: dict[str, tuple[Any, str]], where: str) -> Table:
    """The table in the codes of the model, after taking note of levels that it has not seen."""
    recoded, new = recode(table, training)
    for name, level in new.items():
        unseen.setdefault(name, (level, where))
    return recoded


def _tell_unseen(unseen: dict[str, tuple[Any, str]]) -> None:
    if unseen:
        name, (level, where) = next(iter(unseen.items()))
        warnings.warn(
            f"levels that were not in the training data are taken as missing ({counted(len(unseen), 'feature')}, first "
            f"{name!r}: {level!r} in {where})",
            UserWarning,
            stacklevel=3,
        )
