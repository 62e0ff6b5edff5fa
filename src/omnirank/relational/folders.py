"""Folders of tables: CSV, TSV and Parquet files, with or without a schema file (``schema.toml``, ``schema.json``)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, DataTypeError, FileFormatError, OmnirankError
from omnirank.core.text import did_you_mean, files_like
from omnirank.core.types import PathLike
from omnirank.data.csv import read_frame
from omnirank.data.files import plain_name
from omnirank.data.parquet import read_arrow
from omnirank.relational.dataset import NoTargetError, RelationalDataset
from omnirank.relational.schema import Declared, DeclaredTable, declare, foreign_key
from omnirank.relational.tables import dataset_from_tables, target_place, time_columns

NAMES = ("schema.toml", "schema.json")
_KINDS = re.compile(r"numeric|nominal|date|nominal:.+")
# Types of SQL say less than the cells: an integer may be a number, a key or a class.
_SQL = re.compile(
    r"(tiny|small|medium|big)?(int|integer|serial|text|blob)\b.*|(var|n|nvar|long ?var)?(char|binary|character)\b.*"
    r"|float\b.*|double\b.*|real\b.*|decimal\b.*|numeric\(.*|bool(ean)?|date(time)?2?\b.*|time(stamp)?\b.*|uuid|enum\b.*"
    r"|year\b.*|json|clob|bit\b.*|money|number\b.*",
    re.IGNORECASE,
)
_WORDS = {"target", "target_table", "target_column", "tables", "exclude", "time", "name"}
_TABLE_WORDS = {"columns", "primary_key", "foreign_keys", "exclude", "rows"}


@dataclass
class SchemaFile:
    """What a schema file says.

    Parameters
    ----------
    declared : dict of DeclaredTable
        Keys, kinds of columns, and columns to leave out.
    target : pair, str, list or None
        The target.
    time : dict of str to str or None
        Time columns.
    """

    declared: Declared = field(default_factory=dict)
    target: Any = None
    time: dict[str, str] | None = None


def read_schema_file(path: Path, tables: Mapping[str, Iterable[str]]) -> SchemaFile:
    """Read a schema file about some tables.

    Parameters
    ----------
    path : Path
        The file, TOML or JSON.
    tables : mapping of str to iterable of str
        Names of the columns of each table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.relational.folders import read_schema_file
    >>> text = 'target = "movies.genre"\\n[tables.movies]\\nprimary_key = "id"\\ncolumns = {year = "nominal"}\\n'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "schema.toml")
    ...     _ = path.write_text(text)
    ...     found = read_schema_file(path, {"movies": ["id", "year", "genre"]})
    >>> found.target, found.declared["movies"].primary_key, found.declared["movies"].kinds
    ('movies.genre', ('id',), {'year': 'nominal'})
    """
    given = _document(path)
    try:
        return _understood(given, tables)
    except DataError as problem:
        raise FileFormatError(str(problem), path=path) from None
    except (TypeError, AttributeError, KeyError, ValueError) as problem:
        reason = f"{problem} is missing" if isinstance(problem, KeyError) else problem
        raise FileFormatError(f"the schema is malformed ({reason})", path=path) from None


def _document(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        given = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as problem:  # of decoding, of TOML and of JSON
        raise FileFormatError(f"it is no {path.suffix[1:].upper()} ({problem})", path=path) from None
    if not isinstance(given, dict):
        raise FileFormatError("the schema is malformed: it must hold 'tables'", path=path)
    return given


def _understood(given: Mapping[str, Any], tables: Mapping[str, Iterable[str]]) -> SchemaFile:
    _refuse_others(given, _WORDS, "the schema")
    declared = declare(tables)
    for name, said in _mapping(given, "tables", "the schema").items():
        if name not in tables:
            raise DataError(f"there is no table {name!r}{did_you_mean(name, tables)}")
        if not isinstance(said, Mapping):
            raise DataError(f"table {name!r} is malformed: write what is known of it, such as primary_key, as a table")
        _refuse_others(said, _TABLE_WORDS, f"table {name!r}")
        declared[name] = _table(name, said, tables)
    exclude = given.get("exclude", [])
    target = given.get("target")
    if "target_table" in given:
        columns = given.get("target_column", [])
        table = given["target_table"]
        target = [(table, c) for c in columns] if isinstance(columns, list) else (table, columns)
        target = target or table
    return SchemaFile(declare(tables, None, None, exclude, declared), target, given.get("time"))


def _mapping(given: Mapping[str, Any], word: str, what: str) -> Mapping[str, Any]:
    found = given.get(word, {})
    if not isinstance(found, Mapping):
        raise DataError(f"{what} is malformed: {word} must map names to what is said of them, not be {found!r}")
    return found


def _refuse_others(given: Mapping[str, Any], known: set[str], what: str) -> None:
    for word in given:
        if word not in known:
            raise DataError(f"{what} says {word!r}, which means nothing here{did_you_mean(word, known)}")


def _table(name: str, said: Mapping[str, Any], tables: Mapping[str, Iterable[str]]) -> DeclaredTable:
    table = DeclaredTable()
    if "primary_key" in said:
        table.primary_key = declare(tables, {name: said["primary_key"]})[name].primary_key
    for key in said.get("foreign_keys", ()):
        columns = key["columns"] if "columns" in key else [key["column"]]
        declare(tables, {(name, tuple(columns)): None})
        table.foreign_keys.append(foreign_key(tuple(columns), _reference(key["references"]), tables))
    table.complete = "foreign_keys" in said
    for column, kind in _mapping(said, "columns", f"table {name!r}").items():
        if not isinstance(kind, str) or not (_KINDS.fullmatch(kind) or _SQL.fullmatch(kind.strip())):
            raise DataError(f"column {name}.{column} is said to be {kind!r}: say numeric, nominal or date")
        if column not in set(tables[name]):
            raise DataError(f"table {name!r} has no column {column!r}{did_you_mean(column, list(tables[name]))}")
        if _KINDS.fullmatch(kind):
            table.kinds[column] = kind
    exclude = said.get("exclude", [])
    table.excluded |= declare(tables, exclude=[(name, column) for column in exclude])[name].excluded
    return table


def _reference(given: Any) -> Any:
    if isinstance(given, list) and len(given) == 1:
        return given[0]
    return (given[0], tuple(given[1:])) if isinstance(given, list) else given


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
