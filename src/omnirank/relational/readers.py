"""Folders of tables (CSV, TSV, Parquet, with or without a schema file) and databases, read through SQLAlchemy.

Both end in :func:`~omnirank.relational.tables.dataset_from_tables`, with what a schema file or the database declares.
Nothing is written to databases; names of tables and columns reach SQL only as reflected ``Table`` objects, which
SQLAlchemy quotes.
"""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
import pandas as pd

from omnirank.core.errors import (
    DataError,
    DataTypeError,
    FileFormatError,
    MissingDependencyError,
    OmnirankError,
    ParameterError,
)
from omnirank.core.text import did_you_mean, files_like
from omnirank.core.types import PathLike
from omnirank.data.csv import read_frame
from omnirank.data.files import plain_name
from omnirank.data.parquet import read_arrow
from omnirank.relational.dataset import NoTargetError, RelationalDataset
from omnirank.relational.schema import Declared, DeclaredTable, ForeignKey, declare, foreign_key, names_given
from omnirank.relational.tables import dataset_from_tables, target_place, time_columns

if TYPE_CHECKING:
    import sqlalchemy

NAMES = ("schema.toml", "schema.json")
_KINDS = re.compile(r"numeric|nominal|date|nominal:.+")
# Types of SQL say less than the cells: an integer may be a number, a key or a class.
_SQL = re.compile(
    r"(tiny|small|medium|big)?(int|integer|serial|text|blob)\b.*|(var|n|nvar|long ?var)?(char|binary|character)\b.*"
    r"|float\b.*|double\b.*|real\b.*|decimal\b.*|numeric\(.*|bool(ean)?|date(time)?2?\b.*|time(stamp)?\b.*|uuid|enum\b.*"
    r"|year\b.*|json|clob|bit\b.*|money|number\b.*",
    re.IGNORECASE,
)
# What cells of databases may be; of other types, texts are read.
_KEPT = {str, bool, int, float, Decimal, date, datetime, UUID}
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
    >>> from omnirank.relational.readers import read_schema_file
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
        table, columns = given["target_table"], given.get("target_column", [])
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
    for one in said.get("foreign_keys", ()):
        key = _mapping({"a foreign key": one}, "a foreign key", f"table {name!r}")
        columns, refers_to = key["columns"] if "columns" in key else [key["column"]], key["references"]
        declare(tables, {(name, tuple(columns)): None})
        refers_to = refers_to[0] if isinstance(refers_to, list) and len(refers_to) == 1 else refers_to
        table.foreign_keys.append(foreign_key(tuple(columns), refers_to, tables))
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
    >>> from omnirank.relational.readers import table_files
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
    >>> from omnirank.relational.readers import read_folder
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
    tables = {name: _read_table(file, encoding) for name, file in files.items()}
    schemas = [folder / name for name in NAMES if (folder / name).is_file()]
    if len(schemas) > 1:
        raise DataError(f"{str(folder)!r} holds {' and '.join(NAMES)}: keep one of them")
    columns = {name: list(map(str, getattr(table, "column_names", table.columns))) for name, table in tables.items()}
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


def dataset_from_folder(path: PathLike, encoding: str, name: str | None, **options: Any) -> RelationalDataset:
    """Return a data set as :meth:`RelationalDataset.from_folder` does."""
    folder = read_folder(path, encoding)
    for word, value in (("target", folder.schema.target), ("time", folder.schema.time)):
        options[word] = value if options.get(word) is None else options[word]
    if options["target"] is None:
        raise NoTargetError(folder.tables, repr(str(path)))
    name = name or Path(path).resolve().name
    return dataset_from_tables(folder.tables, name=name, declared=folder.schema.declared or None, **options)


def _read_table(path: Path, encoding: str) -> Any:
    separator = _SEPARATORS.get(_ending(path))
    return read_frame(path, separator=separator, encoding=encoding) if separator else read_arrow(path)


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


class Reflected(NamedTuple):
    """The tables of a database, and the keys that it declares."""

    tables: dict[str, pd.DataFrame]
    declared: Declared
    notes: tuple[str, ...]


def _sqlalchemy() -> Any:
    try:
        import sqlalchemy
    except ImportError:
        raise MissingDependencyError(
            "databases need the package SQLAlchemy: pip install 'omnirank[databases]'"
        ) from None
    return sqlalchemy


def dataset_from_database(
    source: Any, schema: str | None, tables: Sequence[str] | str | None, name: str | None, **options: Any
) -> RelationalDataset:
    """Return a data set as :meth:`RelationalDataset.from_database` does."""
    with _engine(source) as engine:
        database = read_database(engine, schema, tables)
        name = name or str(engine.url.database or "database").replace("\\", "/").rpartition("/")[2]
    if options["target"] is None:
        raise NoTargetError(database.tables, "the database")
    return dataset_from_tables(database.tables, name=name, declared=database.declared, notes=database.notes, **options)


@contextlib.contextmanager
def _engine(source: Any) -> Iterator[sqlalchemy.Engine]:
    """An engine as given, or one of a URL, which is done with afterwards."""
    sa = _sqlalchemy()
    if isinstance(source, sa.Engine):
        yield source
        return
    if not isinstance(source, str | sa.URL):
        raise DataTypeError(f"give the URL of a database or an engine of SQLAlchemy, not {type(source).__name__}")
    try:
        url = sa.make_url(source)
        _check_file(url)
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    except (sa.exc.NoSuchModuleError, ImportError) as problem:
        raise MissingDependencyError(f"{url.drivername} needs a driver that is not installed ({problem})") from None
    except (sa.exc.ArgumentError, ValueError) as problem:
        if isinstance(problem, DataError):
            raise
        shown = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", str(source))  # without its password
        raise DataError(f"{shown!r} is no URL of a database, such as sqlite:///movies.db") from None
    try:
        yield engine
    finally:
        engine.dispose()


def _check_file(url: sqlalchemy.URL) -> None:
    """SQLite would make an empty database where there is no file: nothing is ever written."""
    file = url.database
    if url.get_backend_name() != "sqlite" or not file or file == ":memory:" or file.startswith("file:"):
        return
    if not Path(file).is_file():
        raise DataError(f"there is no database {file!r}{files_like(file)}")


def read_database(
    engine: sqlalchemy.Engine, schema: str | None = None, tables: Sequence[str] | str | None = None
) -> Reflected:
    """Read the tables of a database in one transaction, and the keys that it declares.

    Parameters
    ----------
    engine : sqlalchemy.Engine
        The database.
    schema : str, optional
        The schema of the database that holds the tables; by default the usual one.
    tables : sequence of str, optional
        The tables to read; by default all.

    Examples
    --------
    >>> import sqlalchemy
    >>> from omnirank.relational.readers import read_database
    >>> engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.StaticPool)
    >>> with engine.begin() as connection:
    ...     _ = connection.execute(sqlalchemy.text('CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT)'))
    >>> found = read_database(engine)
    >>> found.tables["order"].columns.tolist(), found.declared["order"].primary_key
    (['id', 'group'], ('id',))
    """
    sa = _sqlalchemy()
    if not isinstance(schema, str | None):
        raise ParameterError("schema", schema, "give the name of a schema of the database, or None")
    asked = None if tables is None else names_given("tables", tables, "['movies', 'ratings']")
    if asked is not None and not asked:
        raise ParameterError("tables", tables, "name the tables to read, or leave it out to read all")
    try:
        with _reading(engine) as connection:
            reflected = _reflect(connection, schema, asked)
            declared = _declared(connection, schema, list(reflected))
            read = {name: _read(connection, table) for name, table in reflected.items()}
    except (sa.exc.SQLAlchemyError, ValueError, OverflowError) as problem:  # cells that are not of the declared type
        if isinstance(problem, DataError):
            raise
        cause = getattr(problem, "orig", None) or problem
        raise DataError(
            f"the database {engine.url.render_as_string(hide_password=True)} cannot be read: "
            f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else 'no reason given'}"
        ) from problem
    frames = {name: frame for name, (frame, _) in read.items()}
    left_out = {name: columns for name, (_, columns) in read.items() if columns}
    notes = [f"columns {name}.{', '.join(c)} are left out: their type holds no values" for name, c in left_out.items()]
    for name, columns in left_out.items():
        declared[name].foreign_keys = [k for k in declared[name].foreign_keys if not set(k.columns) & set(columns)]
    return Reflected(frames, declared, tuple(notes))


@contextlib.contextmanager
def _reading(engine: sqlalchemy.Engine) -> Iterator[sqlalchemy.Connection]:
    """A connection in a transaction that sees one state of the database, and is rolled back at the end."""
    dialect = engine.dialect.name
    with engine.connect() as connection:
        if dialect in ("postgresql", "mysql", "mariadb"):
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        if dialect == "sqlite":
            # the driver begins no transaction before a reading: between two of them others could write
            connection.exec_driver_sql("BEGIN")
        elif dialect == "postgresql":
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        try:
            yield connection
        finally:
            with contextlib.suppress(_sqlalchemy().exc.SQLAlchemyError):
                connection.rollback()


def _reflect(
    connection: sqlalchemy.Connection, schema: str | None, tables: Sequence[str] | None
) -> dict[str, sqlalchemy.Table]:
    sa = _sqlalchemy()
    there = sorted(sa.inspect(connection).get_table_names(schema))
    for name in tables or ():
        if name not in there:
            raise DataError(f"the database has no table {name!r}{did_you_mean(name, there)}")
    if not there:
        raise DataError(f"the database {connection.engine.url.render_as_string(hide_password=True)} has no tables")
    chosen = there if tables is None else list(tables)
    with warnings.catch_warnings():  # types that SQLAlchemy does not know are read as they come
        warnings.simplefilter("ignore", sa.exc.SAWarning)
        options = {"schema": schema, "autoload_with": connection, "resolve_fks": False}
        return {name: sa.Table(name, sa.MetaData(), **options) for name in chosen}


def _read(connection: sqlalchemy.Connection, table: sqlalchemy.Table) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a table as a data frame, and the columns that hold no values."""
    sa = _sqlalchemy()
    left_out = [c.name for c in table.columns if isinstance(c.type, sa.LargeBinary | sa.JSON | sa.ARRAY)]
    chosen = [c for c in table.columns if c.name not in left_out]
    if not chosen:
        return pd.DataFrame(), left_out
    names = [column.name for column in chosen]
    rows = connection.execute(sa.select(*chosen)).fetchall()
    frame = pd.DataFrame(rows, columns=names, dtype=object).infer_objects()
    for column in chosen:
        frame[column.name] = _typed(frame[column.name], column, sa)
    return frame, left_out


def _typed(cells: pd.Series, column: sqlalchemy.Column[Any], sa: Any) -> pd.Series:
    """A column in the type that the database declares, where its cells are of it."""
    if cells.dtype.kind == "m":
        return cells.dt.total_seconds()
    if cells.dtype != object:
        return cells
    known = [cell for cell in cells if cell is not None]
    types = set(map(type, known))
    if not types and isinstance(column.type, sa.Numeric | sa.Integer):
        return pd.Series(np.full(len(cells), np.nan))
    if types and types <= {int} and all(abs(cell) < 2**63 for cell in known):
        return pd.Series(pd.array(cells.tolist(), dtype="Int64"))
    if types and types <= {int, float, Decimal}:
        return pd.Series(np.array([np.nan if cell is None else float(cell) for cell in cells]))
    if types and types <= {time, timedelta}:
        return pd.Series(np.array([np.nan if cell is None else _seconds(cell) for cell in cells]))
    # SQLite lets numbers and texts stand in one column; drivers have types of their own, for addresses say
    if (len(types) > 1 and str in types) or not types <= _KEPT:
        return pd.Series([None if cell is None else str(cell) for cell in cells], dtype=object)
    return cells


def _seconds(cell: time | timedelta) -> float:
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return 3600.0 * cell.hour + 60.0 * cell.minute + cell.second + cell.microsecond / 1e6


def _declared(connection: sqlalchemy.Connection, schema: str | None, tables: Sequence[str]) -> Declared:
    """The keys that the database declares; where it declares no foreign key at all, they are inferred."""
    inspector = _sqlalchemy().inspect(connection)
    keys = {name: inspector.get_foreign_keys(name, schema) for name in tables}
    complete = any(keys.values())
    declared: Declared = {}
    for name in tables:
        primary = tuple(inspector.get_pk_constraint(name, schema)["constrained_columns"])
        found = [
            ForeignKey(tuple(key["constrained_columns"]), key["referred_table"], tuple(key["referred_columns"]))
            for key in keys[name]
        ]
        found.sort(key=lambda key: (key.columns, key.table))
        declared[name] = DeclaredTable(primary or None, found, set(), complete)
    return declared
