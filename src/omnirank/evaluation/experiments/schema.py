"""The SQLite file behind a study: its tables, its version, and how a connection is set up."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataError, FileFormatError, OmnirankError
from omnirank.evaluation.experiments.stored import job_seal, member_seal, study_seal

# Version 2 has seals.
SCHEMA_VERSION = 2

# "omrk" in ASCII: distinguishes a store from any other SQLite file.
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
    traceback TEXT,
    seal TEXT
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
    seal TEXT,
    PRIMARY KEY (study, data, method, choice, labelled, neighbors, seed, fold)
) WITHOUT ROWID;
CREATE INDEX members_by_key ON members (key);
CREATE TABLE studies (study TEXT PRIMARY KEY, facts TEXT NOT NULL, seal TEXT) WITHOUT ROWID;
CREATE TABLE data_sets (source TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rankings (key TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
"""


# What SQLite reports of a file that is whole but cannot be used now.
_LOCKED = "another process has locked it"
_READ_ONLY = "it is read-only: check the permissions of the file and of its folder"
_NOT_OPENED = "it, or a file that SQLite keeps beside it, cannot be opened: check the permissions of the folder"
_DISK_FAILS = "the disk reports an error"
_PASSING = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: _NOT_OPENED,
    sqlite3.SQLITE_IOERR: _DISK_FAILS,
    sqlite3.SQLITE_NOLFS: _DISK_FAILS,
    sqlite3.SQLITE_INTERRUPT: "it was interrupted",
}

# What it reports of damage; our statements are fixed, so that SQLITE_ERROR means missing tables or columns.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}


class StoreUnavailableError(OmnirankError, OSError):
    """The store cannot be used now: the disk is full, the file is locked or read-only, or the disk fails."""


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
    # a store that cannot be written is read as it is: SQLite makes no files beside it, but reads the log of a writer
    log = path.with_name(path.name + "-wal")
    where = path if writable else f"{path.resolve().as_uri()}?mode=ro{'' if log.is_file() else '&immutable=1'}"
    try:
        connection = sqlite3.connect(where, timeout=_BUSY_TIMEOUT_S, isolation_level=None, uri=not writable)
    except sqlite3.Error as error:
        raise StoreUnavailableError(f"cannot open the store {str(path)!r}: {error}") from None
    try:
        with reading(path):
            # before anything is written: the file may be someone else's
            if not _version(connection, path) and not create:
                raise FileFormatError("an empty file, no store: omnirank experiment run makes one", path=path)
            if writable:
                connection.execute("PRAGMA journal_mode = WAL")
                # A kill loses nothing; a power failure may lose the last jobs, which are then computed again.
                connection.execute("PRAGMA synchronous = NORMAL")
            _prepare(connection, path, writable)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Write all or nothing; the lock is taken at once, so that what was read is still true when it is written."""
    with reading(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a store raises into errors of omnirank; everything that reads or writes one is within this."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        kind = None if code is None else code & 0xFF
        if kind in _PASSING:
            raise StoreUnavailableError(
                f"the store {str(path)!r} cannot be used now: {_PASSING[kind]} ({error})"
            ) from error
        # text that is not UTF-8 is found by Python, which has no code for it
        if kind in _DAMAGE or (kind is None and isinstance(error, sqlite3.OperationalError)):
            raise damaged(path, str(error)) from error
        raise OmnirankError(f"the store {str(path)!r} cannot be used: SQLite reports: {error}") from error
    except UnicodeEncodeError as error:
        text = error.object[:200]
        raise DataError(f"a store cannot hold {text!r}, which is not text in UTF-8: rename the file") from error
    except (UnicodeError, MemoryError) as error:  # a damaged length asks for more memory than there is
        raise damaged(path, f"{type(error).__name__}: {error}") from error


def damaged(path: Path, problem: str) -> FileFormatError:
    """Return the error of a store that cannot be read."""
    advice = "omnirank experiment check reports what is lost and saves the rest"
    return DamagedStoreError(f"not a store of experiments, or damaged ({problem}); {advice}", problem, path)


class DamagedStoreError(FileFormatError):
    """A store that cannot be read; ``fault`` is what is wrong with it, without any advice."""

    def __init__(self, problem: str, fault: str, path: Path) -> None:
        super().__init__(problem, path=path)
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.fault, self.path)


def _prepare(connection: sqlite3.Connection, path: Path, writable: bool) -> None:
    """Make the tables, or bring those of an earlier version up to date."""
    version = _version(connection, path)
    if version == SCHEMA_VERSION:
        return
    if not writable:
        raise FileFormatError(
            f"written in version {version} of the format; it is brought up to date where it can be written", path=path
        )
    with transaction(connection, path):
        version = _version(connection, path)  # another process may have been faster
        if not version:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        elif version == 1:
            _add_seals(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """Version of the tables, 0 where there are none; an error where the file is not ours or of a newer omnirank."""
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    [n_tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and n_tables == 0:
        return 0
    if application != _APPLICATION:
        raise FileFormatError("an SQLite file, but not a store of experiments", path=path)
    if version > SCHEMA_VERSION:
        raise FileFormatError(
            f"written by a newer omnirank in version {version} of the format; this one reads versions up to "
            f"{SCHEMA_VERSION}: upgrade it",
            path=path,
        )
    if version < 1:
        raise damaged(path, f"version {version} of the format")
    return int(version)


def _add_seals(connection: sqlite3.Connection) -> None:
    """Seal what version 1 has recorded; from then on changes are noticed."""
    for table in ("jobs", "members", "studies"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN seal TEXT")
    studies = connection.execute("SELECT study, facts FROM studies").fetchall()
    connection.executemany(
        "UPDATE studies SET seal = ? WHERE study = ?", [(study_seal(*row), row[0]) for row in studies]
    )
    done = connection.execute("SELECT key, figures, seconds, n_test FROM jobs WHERE state = 'done'").fetchall()
    connection.executemany("UPDATE jobs SET seal = ? WHERE key = ?", [(job_seal(*row), row[0]) for row in done])
    columns = ("study", "data", "method", "choice", "labelled", "neighbors", "seed", "fold")
    members = connection.execute(f"SELECT {', '.join(columns)}, key FROM members").fetchall()
    places = " AND ".join(f"{column} = ?" for column in columns)
    connection.executemany(
        f"UPDATE members SET seal = ? WHERE {places}",
        [(member_seal(row[0], row[1:8], row[8]), *row[:8]) for row in members],
    )
