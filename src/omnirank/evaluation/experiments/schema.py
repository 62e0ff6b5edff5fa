"""The SQLite file behind a study: its tables, its version, and how a connection is set up."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from omnirank.core.errors import DataError, FileFormatError, OmnirankError

__all__ = ["SCHEMA_VERSION", "StoreUnavailableError", "connect", "transaction"]

SCHEMA_VERSION = 1

# "omrk" in ASCII: tells a store from any other SQLite file.
_APPLICATION = 0x6F6D726B
_BUSY_TIMEOUT_S = 30.0

# A job is what is computed; a member is the place that a study gives it. Names are the study's, so that renaming a
# method or a data set computes nothing anew.
_TABLES = """
CREATE TABLE jobs (
    key TEXT PRIMARY KEY,
    fit TEXT NOT NULL,
    spec TEXT NOT NULL,
    position INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'failed')),
    owner TEXT,
    lease_until REAL,
    attempts INTEGER NOT NULL DEFAULT 0,
    figures TEXT,
    seconds REAL,
    n_test INTEGER,
    error TEXT,
    traceback TEXT
) WITHOUT ROWID;
CREATE INDEX jobs_by_state ON jobs (state, attempts, position);
CREATE INDEX jobs_by_fit ON jobs (fit);
CREATE TABLE members (
    study TEXT NOT NULL,
    data TEXT NOT NULL,
    method TEXT NOT NULL,
    choice TEXT NOT NULL,
    labelled INTEGER NOT NULL,
    neighbors INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    key TEXT NOT NULL REFERENCES jobs (key),
    PRIMARY KEY (study, data, method, choice, labelled, neighbors, seed, fold)
) WITHOUT ROWID;
CREATE INDEX members_by_key ON members (key);
CREATE TABLE studies (study TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE data_sets (source TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rankings (key TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
"""


class StoreUnavailableError(OmnirankError, OSError):
    """The store cannot be written now: the disk is full, the file is locked, or the disk fails."""


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open a store; make it where there is none and ``create`` is given.

    Raises
    ------
    FileFormatError
        When the file is no store, or one of a newer version.
    """
    if not create and not path.is_file():
        raise DataError(f"there is no store {str(path)!r}: omnirank experiment run makes it")
    if not path.parent.is_dir():
        raise DataError(f"cannot make the store {str(path)!r}: the folder {str(path.parent)!r} does not exist")
    writable = create or os.access(path, os.W_OK)
    # what nobody here can write is read as it is, without the files that SQLite puts beside a store
    where = path if writable else f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(where, timeout=_BUSY_TIMEOUT_S, isolation_level=None, uri=not writable)
    except sqlite3.Error as error:
        raise StoreUnavailableError(f"cannot open the store {str(path)!r}: {error}") from None
    try:
        with _translated(path):
            if writable:
                connection.execute("PRAGMA journal_mode = WAL")
                # A kill loses nothing; a power failure may lose the last jobs, which are then computed again.
                connection.execute("PRAGMA synchronous = NORMAL")
            _make_tables(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Write all or nothing; the lock is taken at once, so that what was read is still true when it is written."""
    with _translated(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(f"the store {str(path)!r} cannot be used now: {error}") from error
    except sqlite3.DatabaseError as error:
        raise FileFormatError(f"not a store of experiments, or damaged ({error})", path=path) from error


def _make_tables(connection: sqlite3.Connection, path: Path) -> None:
    if _is_ours(connection, path):
        return
    with transaction(connection, path):
        if _is_ours(connection, path):  # another process was faster
            return
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; an error where the file belongs to someone else or to a newer omnirank."""
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    [n_tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and n_tables == 0:
        return False
    if application != _APPLICATION:
        raise FileFormatError("an SQLite file, but not a store of experiments", path=path)
    if version > SCHEMA_VERSION:
        raise FileFormatError(
            f"written by a newer omnirank in version {version} of the format; this one reads versions up to "
            f"{SCHEMA_VERSION}: upgrade it",
            path=path,
        )
    return True
