"""Opening data in parts: which columns are what, and what a pass over the rows finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.core.types import PathLike
from omnirank.data.column_choice import ColumnChoice
from omnirank.data.files import Content, plain_name
from omnirank.data.parquet import INDEX_NOTE
from omnirank.data.roles import Roles, assign_roles, dataset_from
from omnirank.data.table import Table
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.source import Columns, ShardSource, index_columns, noted_facts
from omnirank.shards.summary import Summary, summary_of

_KINDS = {"number": "numeric", "nothing": "numeric", "date": "date"}
# Whole numbers are in doubt as classes where there are more of them, and more than one per so many examples.
_MANY = 20


def open_shards(
    source: Any,
    target: ColumnChoice | None = None,
    *,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    task: str = "auto",
    max_memory: int | str | None = None,
    scratch: PathLike | None = None,
    checkpoint: PathLike | bool | None = None,
    name: str | None = None,
) -> ShardedDataset:
    """Open data that need not fit in memory: Parquet files, a pyarrow dataset or a Dask data frame.

    All parts are looked at before any work: those whose columns or types differ are named in the error. One pass over
    the rows then finds levels, ranges, means, variances and missing cells, which are kept beside the files (in the
    folder ``.omnirank``) for the next time; when a file changes, they are found anew.

    Parameters
    ----------
    source : str, Path, sequence of them, pyarrow dataset or Dask data frame
        A folder (all Parquet files below it), a pattern such as ``"parts/*.parquet"``, or files; or a
        ``pyarrow.dataset.Dataset``, whose folders may stand for columns; or a Dask data frame. ``omnirank convert``
        makes a folder of Parquet files of a CSV file of any size.
    target, features, key, ignore, nominal
        Which columns are what, as in :func:`omnirank.load`.
    task : str
        The task, or "auto" to infer it; "clustering" sets the target aside.
    max_memory : int, str or None
        What rows may take in memory, with all that a fit by two workers makes of them: bytes, or a text such as
        ``"500M"``; None: an eighth of the machine's memory. It decides whether all rows are read, and otherwise on how
        many of them a tree is grown: for the same result on another machine, give the same amount.
    scratch : str or Path, optional
        Folder for rows that are dealt out to samples while trees are grown, which takes no more room than the rows; by
        default where the system has temporary files. They are removed when the run ends.
    checkpoint : str, Path, bool or None
        Folder in which the results of finished samples are kept until the run ends, so that the same run (data,
        parameters, seed) goes on where it was killed. None: the folder ``.omnirank`` beside the files, where that is
        possible; False: nothing is kept.
    name : str, optional
        Name of the data set; by default that of the folder or file.

    Returns
    -------
    ShardedDataset
        With the types, levels, target and task that the same rows would have in memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import omnirank as om
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         frame = pd.DataFrame({"size": [i, i + 0.5], "kind": ["a", None]})
    ...         frame.to_parquet(pathlib.Path(folder, f"{i}.parquet"))
    ...     data = om.open_shards(folder, target="kind")
    ...     print(data.summary.loc["size", ["low", "high", "mean"]].tolist())
    ...     print([block.n_examples for block in data.blocks()])
    [0.0, 2.5, 1.25]
    [2, 2, 2]
    """
    parts = ShardSource(source, nominal, max_memory)
    content, roles = _roles(parts, target, features, key, ignore)
    used = [content.names[i] for i in (*roles.features, *roles.target)]
    targets = [content.names[i] for i in roles.target]
    summary = summary_of(parts, used, targets)
    content = replace(
        content,
        names=tuple(used),
        kinds=tuple(content.kind(column) for column in used),
        table=example_rows(parts.columns, summary, used, targets),
    )
    n = len(roles.features)
    roles = replace(roles, features=tuple(range(n)), target=tuple(range(n, len(used))))
    like = dataset_from(content, roles, task=task, name=name or _name_of(source))
    return ShardedDataset(parts, like, summary, scratch, checkpoint)


def _roles(
    parts: ShardSource,
    target: ColumnChoice | None,
    features: ColumnChoice | None,
    key: ColumnChoice | None,
    ignore: ColumnChoice | None,
) -> tuple[Content, Roles]:
    columns = parts.columns
    facts = noted_facts(parts.parts[0], columns.names)
    kinds = [
        "nominal" if columns.is_nominal(name) else _KINDS[kind]
        for name, kind in zip(columns.names, columns.kinds, strict=True)
    ]
    content = Content(
        path=Path(parts.parts[0].name),
        names=columns.names,
        kinds=tuple(kinds),
        table=Table.from_numeric(np.empty((0, 0))),
        declared=False,
        integers=columns.integers,
        label_order=facts["hierarchy"],
        target=facts["target"],
        task=facts["task"],
        notes=(INDEX_NOTE,) if any(index_columns(part) for part in parts.parts) else (),
    )
    return content, assign_roles(content, target=target, features=features, key=key, ignore=ignore)


def _name_of(source: Any) -> str:
    if isinstance(source, str | Path):
        path = Path(source)
        return path.name if path.is_dir() else plain_name(path)
    return "data"


def example_rows(columns: Columns, summary: Summary, names: Sequence[str], targets: Sequence[str]) -> Table:
    """Return rows in which every level and every class of the targets occurs, and a missing one where some are.

    Readers of files tell the task of a target, and whether it is doubtful, from its values. They get these rows in
    place of all, with classes that occur often enough where they do so in all.

    Parameters
    ----------
    columns : Columns
        The columns of all parts.
    summary : Summary
        What a pass over the parts found.
    names, targets : sequence of str
        The columns that are used, and those of them that are targets.
    """
    values = {name: _target_values(columns, summary, name) for name in targets}
    n_rows = max((len(own) for own in values.values()), default=1)
    levels = [summary.levels(name, columns) for name in names]
    number = np.float32 if columns.single else np.float64
    found = []
    for name, own in zip(names, levels, strict=True):
        if name in values:
            cells = values[name][np.minimum(np.arange(n_rows), len(values[name]) - 1)]
        else:
            cells = np.full(n_rows, -1.0 if own == () else 0.0)
        found.append(cells.astype(number) if own is None else np.where(np.isnan(cells), -1, cells).astype(np.int32))
    numbers = (name for name, own in zip(names, levels, strict=True) if own is None)
    dates = frozenset(name for name in numbers if columns.kinds[columns.names.index(name)] == "date")
    return replace(Table.from_columns(names, found, levels), dates=dates)


def _target_values(columns: Columns, summary: Summary, name: str) -> np.ndarray:
    found, levels = summary.columns[name], summary.levels(name, columns)
    if levels is None:
        counts = found.values or {}
        values = np.array(sorted(counts), np.float64)
        often = list(counts.values())
    else:
        values = np.arange(len(levels), dtype=np.float64)
        often = [found.levels.get(level, [0])[0] for level in levels]
    few = len(values) * _MANY <= found.n_known and min(often, default=0) > 1
    if len(values) > _MANY and few:
        values = np.tile(values, _MANY + 1)
    return values if found.n_known == summary.n_rows else np.append(values, np.nan)
