"""Databases, read through SQLAlchemy: keys are reflected, tables read in one transaction, nothing is written.

Names of tables and columns reach SQL only as reflected ``Table`` objects, which SQLAlchemy quotes.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator, Sequence
from datetime import time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError, MissingDependencyError, ParameterError
from omnirank.core.text import did_you_mean, files_like
from omnirank.relational.dataset import NoTargetError, RelationalDataset
from omnirank.relational.schema import Declared, DeclaredTable, ForeignKey, names_given
from omnirank.relational.tables import dataset_from_tables

if TYPE_CHECKING:
    import sqlalchemy

# Rows that are fetched at a time.
_BLOCK = 20_000


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
    source: Any,
    target: Any,
    *,
    schema: str | None = None,
    tables: Sequence[str] | str | None = None,
    name: str | None = None,
    **options: Any,
) -> RelationalDataset:
    """Return a data set as :meth:`RelationalDataset.from_database` does."""
    with _engine(source) as engine:
        found = read_database(engine, schema, tables)
        name = name or str(engine.url.database or "database").replace("\\", "/").rpartition("/")[2]
    if target is None:
        raise NoTargetError(found.tables, "the database")
    declared = None if options.get("like") is not None else found.declared
    return dataset_from_tables(found.tables, target=target, name=name, declared=declared, notes=found.notes, **options)


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
        raise DataError(f"{_without_password(source)!r} is no URL of a database, such as sqlite:///movies.db") from None
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


def _without_password(source: Any) -> str:
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", str(source))


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
    >>> from omnirank.relational.sql import read_database
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
    streamed = connection.execution_options(stream_results=True, max_row_buffer=_BLOCK)
    blocks = [_block(rows, names) for rows in streamed.execute(sa.select(*chosen)).partitions(_BLOCK)]
    frame = pd.concat(blocks or [_block([], names)], ignore_index=True)
    for column in chosen:
        frame[column.name] = _typed(frame[column.name], column, sa)
    return frame, left_out


def _block(rows: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pd.DataFrame({name: _narrow(cells) for name, cells in zip(names, columns, strict=True)})


def _narrow(cells: Sequence[Any]) -> pd.Series:
    """Cells of one block in the narrowest type that holds them as they are."""
    types = set(map(type, cells))
    if types == {int} and all(-(2**63) <= cell < 2**63 for cell in (min(cells), max(cells))):
        return pd.Series(np.array(cells, np.int64))
    if types in ({float}, {bool}):
        return pd.Series(np.array(cells))
    return pd.Series(cells, dtype=object)


def _typed(cells: pd.Series, column: sqlalchemy.Column[Any], sa: Any) -> pd.Series:
    """A column in the type that the database declares, where its cells are of it."""
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
    if len(types) > 1 and str in types:  # SQLite lets numbers and texts stand in one column
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
