"""Parquet files: columns with types, and for data sets of omnirank the target and hierarchy beside them."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, FileFormatError, MissingDependencyError, OmnirankError
from omnirank.core.files import replacing
from omnirank.core.types import PathLike
from omnirank.data.columns import moments, table_from
from omnirank.data.dataset import Dataset
from omnirank.data.files import Content, read_whole, unreadable
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import LARGEST_EXACT, Table
from omnirank.data.target import Target

_FORMAT = "omnirank-dataset"
_VERSION = 1
METADATA_KEY = b"omnirank"
INDEX_NOTE = "the index of the data frame in the file is not read"


def import_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet files, or say how to install them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet files need the package pyarrow: pip install 'omnirank[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def read_parquet(path: PathLike) -> Content:
    """Read a Parquet file, plain or gzipped.

    Numbers are numeric; strings, dictionaries and booleans nominal; dates numeric (seconds since 1970-01-01
    UTC). A file written by :func:`write_parquet` marks its target itself.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from omnirank.data.parquet import read_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.parquet")
    ...     pd.DataFrame({"size": [1.5, None], "colour": ["red", "blue"]}).to_parquet(path)
    ...     content = read_parquet(path)
    >>> content.kinds
    ('numeric', 'nominal')
    """
    path = Path(path)
    arrow = read_arrow(path)
    try:
        frame = arrow.to_pandas()
    except Exception as problem:
        raise unreadable(problem, "a Parquet file", path) from None
    if not frame.shape[0] or not frame.shape[1]:
        raise FileFormatError(f"the file has {frame.shape[0]} rows and {frame.shape[1]} columns", path=path)
    try:
        noted = own_metadata(arrow.schema)
        for name, levels in noted.get("levels", {}).items():
            frame[name] = pd.Categorical(frame[name], categories=levels)
        table = table_from(frame)
        table = replace(table, rounded=table.rounded | rounded_names(arrow, table))
        facts = own_facts(noted, table.names)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as problem:
        what = str(problem) if isinstance(problem, OmnirankError) else f"the omnirank metadata are malformed: {problem}"
        raise FileFormatError(what, path=path) from None
    integers = frozenset(str(name) for name in frame.columns if frame[name].dtype.kind in "iu")
    notes = () if isinstance(frame.index, pd.RangeIndex) else (INDEX_NOTE,)
    return Content.of_table(path, table, integers=integers, notes=notes, **facts)


def read_arrow(path: Path) -> Any:
    """Read a Parquet file, plain or gzipped, as a table of pyarrow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from omnirank.data.parquet import read_arrow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.parquet")
    ...     pd.DataFrame({"size": [1.5, None]}).to_parquet(path)
    ...     read_arrow(path).column_names
    ['size']
    """
    _, parquet = import_pyarrow()
    content = read_whole(path)
    try:
        arrow = parquet.read_table(io.BytesIO(content), page_checksum_verification=True)
        arrow.validate(full=True)
    except Exception as problem:
        raise unreadable(problem, "a Parquet file", path) from None
    return arrow


def rounded_names(arrow: Any, table: Table) -> frozenset[str]:
    """Return names of columns of integers that floats do not tell apart; pandas makes floats of those with nulls."""
    pyarrow, _ = import_pyarrow()
    integers = {field.name for field in arrow.schema if pyarrow.types.is_integer(field.type)}
    numeric = [i for i, levels in enumerate(table.levels) if levels is None and table.names[i] in integers]
    return frozenset(table.names[i] for i in numeric if (np.abs(table.column(i)) >= LARGEST_EXACT).any())


def own_metadata(schema: Any) -> dict[str, Any]:
    """Return what `write_parquet` noted beside the columns of a schema; nothing for a file of other origin."""
    raw = dict(schema.metadata or {}).get(METADATA_KEY)
    if raw is None:
        return {}
    try:
        noted = json.loads(raw)
    except RecursionError:
        raise DataError("the omnirank metadata are malformed") from None
    if noted["format"] != _FORMAT:
        return {}
    if noted["version"] > _VERSION:
        raise DataError(f"written in version {noted['version']} of the format: a newer omnirank is needed")
    return dict(noted)


def own_facts(noted: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return target, task and hierarchy of the label columns, as `own_metadata` has them for columns of these names."""
    facts: dict[str, Any] = {"target": (), "task": "auto", "label_order": None}
    if noted:
        facts["target"] = tuple(names[names.index(name)] for name in noted["target"])
        facts["task"] = str(noted["task"])
    if noted.get("hierarchy") is not None:
        parents = tuple(tuple(int(p) for p in above) for above in noted["hierarchy"])
        facts["label_order"] = Hierarchy(facts["target"], parents)
    return facts


def write_parquet(data: Dataset | Table, path: PathLike) -> None:
    """Write a table, or a data set with its target and hierarchy, as a Parquet file.

    Nominal columns keep the order and type of their levels, dates are dates. Sparse data are written as plain columns.

    Parameters
    ----------
    data : Dataset or Table
        What to write.
    path : str or Path
        The file, gzipped where it ends in .gz; it appears whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.data.parquet import write_parquet
    >>> data = om.Dataset([[1.0], [2.0]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.parquet")
    ...     write_parquet(data, path)
    ...     om.load(path).y.tolist()
    ['a', 'b']
    """
    table = data if isinstance(data, Table) else data.features
    frame = table.to_frame()
    for name in table.dates.intersection(table.names):
        frame[name] = moments(frame[name].to_numpy())
    levels = _unusual_levels(table)
    facts = metadata_of([])
    if isinstance(data, Dataset) and data.target is not None:
        both = set(table.names) & set(data.target_names)
        if both:
            raise DataError(f"{min(both)!r} is the name of a feature and of a target: rename one of them")
        frame = pd.concat([frame, data.target.to_frame()], axis=1)
        facts |= {"target": list(data.target_names), "task": data.task}
        levels |= _unusual_levels(data.target)
        if data.hierarchy is not None:
            facts["hierarchy"] = [list(above) for above in data.hierarchy.parents]
    facts["levels"] = levels
    write_frame(frame, path, {METADATA_KEY: json.dumps(facts).encode("utf-8")})


def metadata_of(target: Sequence[str]) -> dict[str, Any]:
    """Return what is noted beside the columns of a file: its target, of which the task is not known yet."""
    plain: dict[str, Any] = {"target": list(target), "task": "auto", "hierarchy": None, "levels": {}}
    return {"format": _FORMAT, "version": _VERSION, **plain}


def write_frame(frame: pd.DataFrame, path: PathLike, metadata: Mapping[bytes, bytes] | None = None) -> None:
    """Write a data frame, without its index, as a Parquet file that appears whole or not at all."""
    pyarrow, parquet = import_pyarrow()
    try:
        arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
        arrow = arrow.replace_schema_metadata({**arrow.schema.metadata, **(metadata or {})})
        buffer = io.BytesIO()
        parquet.write_table(arrow, buffer, write_page_checksum=True)  # else a changed byte is another value
    except (pyarrow.ArrowException, UnicodeEncodeError) as problem:
        raise DataError(f"the data cannot be written as Parquet: {str(problem)[:200]}") from None
    with replacing(path) as file:
        file.write(buffer.getbuffer())


def _unusual_levels(columns: Table | Target) -> dict[str, list[Any]]:
    """Levels that Parquet does not give back as they are: it keeps dictionaries of strings only."""
    return {
        name: list(levels)
        for name, levels in zip(columns.names, columns.levels, strict=True)
        if levels is not None and not (levels and all(isinstance(level, str) for level in levels))
    }
