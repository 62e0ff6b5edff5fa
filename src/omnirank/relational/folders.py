"""Folders of tables: CSV, TSV and Parquet files, with or without a schema file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, DataTypeError, FileFormatError, OmnirankError
from omnirank.core.suggestions import files_like
from omnirank.core.types import PathLike
from omnirank.data.csv import read_frame
from omnirank.data.files import plain_name
from omnirank.data.parquet import read_arrow
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.from_tables import dataset_from_tables, target_place, time_columns
from omnirank.relational.schema_files import NAMES, SchemaFile, read_schema_file
from omnirank.relational.targetless import NoTargetError

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")


class Folder(NamedTuple):
    """The tables of a folder and what its schema file says."""

    tables: dict[str, Any]
    schema: SchemaFile


def table_files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that hold tables, by the names of the tables.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.relational.folders import table_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pathlib.Path(folder, "movies.csv").touch()
    ...     pathlib.Path(folder, "README.txt").touch()
    ...     sorted(table_files(pathlib.Path(folder)))
    ['movies']
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and _ending(path) in (*_SEPARATORS, *_PARQUET) and not path.name.startswith("."):
            name = plain_name(path)
            if name in found:
                raise DataError(f"{found[name].name} and {path.name} are both table {name!r}: keep one of them")
            found[name] = path
    return found


def read_folder(path: PathLike, encoding: str = "utf-8") -> Folder:
    """Read all tables of a folder; text files are in this encoding.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.relational.folders import read_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "movies.csv").write_text("id,genre\\n1,drama\\n")
    ...     list(read_folder(folder).tables)
    ['movies']
    """
    if not isinstance(path, str | Path):
        raise DataTypeError(f"give the path of a folder, not {type(path).__name__}")
    folder = Path(path)
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise DataError(f"{str(folder)!r} {what}{'' if folder.exists() else files_like(folder)}")
    files = table_files(folder)
    if not files:
        raise DataError(f"{str(folder)!r} holds no table: no file ends in {', '.join([*_SEPARATORS, *_PARQUET])}")
    tables = {name: _read(file, encoding) for name, file in files.items()}
    schemas = [folder / name for name in NAMES if (folder / name).is_file()]
    if len(schemas) > 1:
        raise DataError(f"{str(folder)!r} holds {' and '.join(NAMES)}: keep one of them")
    columns = {name: [str(c) for c in _columns(table)] for name, table in tables.items()}
    if not schemas:
        return Folder(tables, SchemaFile())
    schema = read_schema_file(schemas[0], columns)
    _check_places(schema, columns, schemas[0])
    return Folder(tables, schema)


def _check_places(schema: SchemaFile, columns: dict[str, list[str]], path: Path) -> None:
    """Refuse a target or time columns that are not there, also where the caller names others."""
    try:
        if schema.target is not None:
            target_place(schema.target, columns)
        if schema.time is not None:
            time_columns(schema.time, columns)
    except OmnirankError as problem:
        raise FileFormatError(str(problem), path=path) from None


def dataset_from_folder(
    path: PathLike, target: Any = None, time: Any = None, encoding: str = "utf-8", **options: Any
) -> RelationalDataset:
    """Return a data set as :meth:`RelationalDataset.from_folder` does."""
    folder = read_folder(path, encoding)
    target = folder.schema.target if target is None else target
    if target is None:
        raise NoTargetError(folder.tables, repr(str(path)))
    options["name"] = options.get("name") or Path(path).resolve().name
    if options.get("like") is None:
        options["declared"] = folder.schema.declared or None
    return dataset_from_tables(
        folder.tables, target=target, time=folder.schema.time if time is None else time, **options
    )


def _read(path: Path, encoding: str) -> Any:
    ending = _ending(path)
    if ending in _PARQUET:
        return read_arrow(path)
    return read_frame(path, separator=_SEPARATORS[ending], encoding=encoding)


def _columns(table: Any) -> list[Any]:
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
