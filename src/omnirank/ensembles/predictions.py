"""Predictions as tables: a named column for each target; of data in parts, files that are written part by part."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.files import replacing
from omnirank.core.parameters import check, count
from omnirank.core.text import counted
from omnirank.core.types import PathLike
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.containers import FeaturesLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_columns, columns_like, recode
from omnirank.data.parquet import import_pyarrow
from omnirank.data.table import Table, is_made_up
from omnirank.ensembles.explanation import reasons
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.source import ShardSource
from omnirank.tasks import get_task


def prediction_frame(
    model: Any,
    X: FeaturesLike,
    *,
    probabilities: bool = False,
    threshold: float | None = None,
    explain: int | None = None,
) -> pd.DataFrame:
    """Return what a fitted tree or forest predicts, as a data frame.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, PCTForestClassifier, PCTForestRegressor or PCTClusterer
        The fitted model.
    X : Dataset, array-like, scipy.sparse container or data frame
        Examples with the features of the training data.
    probabilities : bool
        Whether there is also a column for the probability of each class or label: ``p(red)``, ``p(colour=red)`` where
        there are several targets.
    threshold : float, optional
        Label sets: frequency from which a label is predicted, by default 1/2.
    explain : int, optional
        Add a column ``because`` with this many features: those that contribute most to each prediction.

    Returns
    -------
    DataFrame
        One column per target under its name: classes of their type, numbers, 0 and 1 for a label; ``cluster`` for
        trees of clusters.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.predictions import prediction_frame
    >>> data = om.Dataset([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"], target_names=["kind"])
    >>> prediction_frame(om.PCTClassifier(random_state=0).fit(data), [[3.5]], probabilities=True)
      kind  p(a)  p(b)
    0    b   0.0   1.0
    """
    if not hasattr(model, "predict_means"):
        _refuse_options(model, probabilities, threshold)
        if explain is not None:
            raise ParameterError("explain", explain, f"{type(model).__name__} predicts no target")
        return pd.DataFrame({"cluster": model.predict(X)})
    if probabilities and not hasattr(model, "predict_proba"):
        _refuse_options(model, probabilities, None)
    cut = model._threshold(threshold)
    if explain is not None and not hasattr(model, "explain"):
        raise ParameterError("explain", explain, f"{type(model).__name__} is no mean of trees: leave it out")
    table = model._table(X)
    means = model._means(table)
    frame = _by_target(model, model._decide(means, cut))
    if explain is not None:
        because = reasons(model, table, means, cut, check("explain", explain, count(1)))
        frame = pd.concat([frame, pd.DataFrame({"because": because})], axis=1)
    if probabilities:
        frame = pd.concat([frame, _shares(model, means)], axis=1)
    again = frame.columns[frame.columns.duplicated()]
    if len(again):
        raise DataError(f"two columns of the predictions would be called {again[0]!r}: name the targets otherwise")
    return frame


def _refuse_options(model: Any, probabilities: bool, threshold: float | None) -> None:
    advice = f"{type(model).__name__} predicts neither classes nor labels"
    if probabilities:
        raise ParameterError("probabilities", True, advice)
    if threshold is not None:
        raise ParameterError("threshold", threshold, advice)


def _by_target(model: Any, predicted: Any) -> pd.DataFrame:
    if isinstance(predicted, pd.DataFrame):
        return pd.DataFrame({name: np.asarray(predicted[name]) for name in predicted.columns})
    columns = np.reshape(predicted, (len(predicted), -1))
    names = list(model.target_names_) if columns.shape[1] == len(model.target_names_) else [model.task_]
    if get_task(model.task_).kind == "labels":
        columns = columns.astype(np.int8)
    return pd.DataFrame({name: columns[:, i] for i, name in enumerate(names)})


def _shares(model: Any, means: np.ndarray) -> pd.DataFrame:
    """The columns of probabilities, as ``predict_proba`` returns them."""
    shares = model._shares(means)
    task = get_task(model.task_)
    if task.kind == "labels":
        names = [f"p({label})" for label in model.target_names_]
    elif task.single:
        names = [f"p({level})" for level in model.classes_]
    else:
        pairs = zip(model.target_names_, model.classes_, strict=True)
        names = [f"p({target}={level})" for target, classes in pairs for level in classes]
        shares = np.hstack(shares)
    return pd.DataFrame(shares, columns=names)


# -- data in parts --------------------------------------------------------------------------------------------


def predict_shards(
    model: Any,
    source: Any,
    folder: PathLike,
    *,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    explain: int | None = None,
    max_memory: int | str | None = None,
) -> list[Path]:
    """Predict the target of examples in parts, and write the predictions as Parquet files, one per part.

    Files are read once, in blocks, and written while they are read: neither need fit in memory. A part's predictions
    appear when it is done, so that those of finished parts are kept if something goes wrong.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, PCTForestClassifier, PCTForestRegressor or PCTClusterer
        The fitted model, such as :func:`omnirank.load_model` reads it.
    source : str, Path, sequence of them, or ShardedDataset
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
    explain : int, optional
        Add a column ``because`` with this many features: those that contribute most to each prediction.
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
    options: dict[str, Any] = {"probabilities": probabilities, "threshold": threshold, "explain": explain}
    unseen: dict[str, tuple[Any, str]] = {}
    written = []
    _, parquet = import_pyarrow()
    for number in range(len(parts.parts)):
        path = folder / names[number]
        _make_folder(path.parent)
        schema = _no_predictions(model, parts, number, keys, options).schema
        with replacing(path) as file, parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
            for batch in parts.batches([*keys, *features], [number]):
                table = parts.columns.table(batch.cells.select(features), parts.parts[number])
                recoded, new = recode(columns_like(table, model._features, by_name=False), model._features)
                for name, level in new.items():
                    unseen.setdefault(name, (level, path.name))
                frame = prediction_frame(model, Dataset(recoded), **options)
                writer.write_table(_with_keys(batch.cells.select(keys), frame).cast(schema))
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
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError(f"predictions are written to a new or empty folder, and there is something at {str(path)!r}")
    _make_folder(path)
    return path


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {str(folder)!r} cannot be made: {error.strerror or error}") from None


def _file_names(parts: ShardSource) -> list[str]:
    """Names of the parts' predictions: those of the parts, where they are in one folder; no two are the same."""
    names = [
        part.path.relative_to(parts.folder).with_suffix(".parquet").as_posix()
        if parts.folder is not None
        else f"part-{number:05}.parquet"
        for number, part in enumerate(parts.parts)
    ]
    folded = [name.casefold() for name in names]  # of names that differ in case, some disks keep one file
    twice = next((name for name in folded if folded.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"predictions of several parts would be written to {twice!r}: rename the parts")
    return names


def _no_predictions(model: Any, parts: ShardSource, number: int, keys: Sequence[str], options: dict[str, Any]) -> Any:
    """The columns of the predictions of a part, without rows: a part may have none, but its file has columns."""
    pyarrow, _ = import_pyarrow()
    training = model._features
    unknown = (np.full(1, np.nan, training.dtype), np.full(1, -1, np.int32))
    cells = [unknown[levels is not None] for levels in training.levels]
    frame = prediction_frame(model, Dataset(Table.from_columns(training.names, cells, training.levels)), **options)
    schema = parts.parts[number].schema
    keyed = pyarrow.table({name: pyarrow.nulls(1, schema.field(name).type) for name in keys})
    return _with_keys(keyed, frame).slice(0, 0)


def _with_keys(cells: Any, frame: Any) -> Any:
    pyarrow, _ = import_pyarrow()
    predicted = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    columns = {name: cells.column(name) for name in cells.schema.names}
    for name in columns:
        if name in predicted.column_names:
            raise ParameterError("key", name, "it is also a column of the predictions")
    return pyarrow.table(columns | {name: predicted.column(name) for name in predicted.column_names})


def _tell_unseen(unseen: dict[str, tuple[Any, str]]) -> None:
    if unseen:
        name, (level, where) = next(iter(unseen.items()))
        warnings.warn(
            f"levels that were not in the training data are taken as missing ({counted(len(unseen), 'feature')}, first "
            f"{name!r}: {level!r} in {where})",
            UserWarning,
            stacklevel=3,
        )
