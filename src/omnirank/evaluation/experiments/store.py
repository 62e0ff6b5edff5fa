"""The store of a study, one SQLite file with its jobs and their results; and content keys.

A content key is a hash of what a job computes: the same work has the same key wherever it is planned.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, FileFormatError, OmnirankError
from omnirank.core.types import PathLike

FORMAT = 1
# "omrk" in ASCII: distinguishes a store from any other SQLite file.
_APPLICATION = 0x6F6D726B
_BUSY_TIMEOUT_S = 30.0

# A job is what is computed; a member is the place that a study gives it. Names are the study's, so that renaming a
# method or a data set computes nothing anew.
_TABLES = """
CREATE TABLE jobs (
    key TEXT PRIMARY KEY,
    spec TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
    figures TEXT,
    seconds REAL,
    n_test INTEGER,
    error TEXT,
    traceback TEXT
) WITHOUT ROWID;
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
CREATE TABLE studies (study TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rankings (key TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
"""
_OF_STUDY = "key IN (SELECT key FROM members WHERE study = ?)"

# What SQLite reports of damage; our statements are fixed, so that SQLITE_ERROR means missing tables or columns.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}


class Member(NamedTuple):
    """The place of a job in a study; 0 labelled: no labels are hidden; 0 neighbours: a method that predicts itself."""

    data: str
    method: str
    choice: str
    labelled: int
    neighbors: int
    seed: int
    fold: int


def column_name(method: str, choice: str) -> str:
    """Return what tables name a choice of a method.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.store import column_name
    >>> column_name("relief", "n_neighbors=5"), column_name("relief", "")
    ('relief (n_neighbors=5)', 'relief')
    """
    return f"{method} ({choice})" if choice else method


@dataclass(frozen=True)
class Job:
    """What is to be computed, with its content key and the key of the fit that it shares with other jobs."""

    key: str
    fit: str
    spec: Mapping[str, Any]


class Store:
    """A file with the jobs of studies and their results. One run writes it at a time; anybody may read it.

    Every change is one transaction, so that a run can be killed at any moment. A job is done once: results that arrive
    for a job that is done are ignored.

    Parameters
    ----------
    path : Path
        The SQLite file.
    create : bool
        Whether to make it where there is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.evaluation.experiments.store import Job, Member, Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder, "plan.sqlite"), create=True) as store:
    ...         job = Job("k1", "f1", {"seed": 0})
    ...         store.enlist("study", {}, [(Member("iris", "genie3", "", 0, 5, 0, 0), job)])
    ...         _ = store.record({"k1": {"figures": {"accuracy": 0.9}, "seconds": 0.1, "n_test": 50}}, {})
    ...         store.counts("study")
    {'done': 1}
    """

    def __init__(self, path: PathLike, *, create: bool = False) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise DataError(f"there is no store {str(path)!r}: omnirank experiment run makes it")
        if not self.path.parent.is_dir():
            raise DataError(f"cannot make the store {str(path)!r}: the folder {str(self.path.parent)!r} does not exist")
        with self._translated():
            self._db = sqlite3.connect(self.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            with self._translated():
                self._check(create)
        except BaseException:
            self.close()
            raise

    def _check(self, create: bool) -> None:
        """Make the tables of a new store; refuse a file that is none, that is newer, or that is damaged."""
        # a kill loses nothing; a power failure may lose the last jobs, which are then computed again
        self._db.execute("PRAGMA synchronous = NORMAL")
        [application] = self._db.execute("PRAGMA application_id").fetchone()
        [version] = self._db.execute("PRAGMA user_version").fetchone()
        [n_tables] = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and n_tables == 0:
            if not create:
                raise FileFormatError("an empty file, no store: omnirank experiment run makes one", path=self.path)
            with self._writing() as db:
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {_APPLICATION}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
            return
        if application != _APPLICATION:
            raise FileFormatError("an SQLite file, but not a store of experiments", path=self.path)
        if version > FORMAT:
            raise FileFormatError(
                f"written by a newer omnirank in version {version} of the format; this one reads version {FORMAT}: "
                "upgrade it",
                path=self.path,
            )
        [problem] = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != "ok":
            raise self._damaged(problem)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # -- access ---------------------------------------------------------------------------------------

    def _damaged(self, problem: object) -> FileFormatError:
        reason = " ".join(str(problem).split())
        advice = "bring back a copy, or delete it and run the plan again, which computes its results anew"
        return FileFormatError(f"not a store of experiments, or damaged ({reason}): {advice}", path=self.path)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what SQLite raises into errors of omnirank; everything that reads or writes a store is within this."""
        try:
            yield
        except OmnirankError:
            raise
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            # text that is not UTF-8 is found by Python, which has no code for it
            if (code is None and isinstance(error, sqlite3.OperationalError)) or (code or 0) & 0xFF in _DAMAGE:
                raise self._damaged(error) from error
            # locked, read-only, on a full disk: SQLite says it well
            raise OmnirankError(f"the store {str(self.path)!r} cannot be used now: {error}") from error
        except UnicodeEncodeError as error:
            text = error.object[:200]
            raise DataError(f"a store cannot hold {text!r}, which is not text in UTF-8: rename the file") from error
        except (zlib.error, ValueError) as error:
            raise self._damaged(error) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing."""
        with self._translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._translated():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def used_by_one_run(self) -> Iterator[None]:
        """Refuse a second run while this one works: both would compute the same jobs.

        The lock is that of an SQLite file beside the store; the system gives it back when the process ends, however
        it ends.
        """
        beside = Path(f"{self.path}-run")
        with self._translated():
            lock = sqlite3.connect(beside, timeout=0, isolation_level=None)
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                lock.close()
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                raise OmnirankError(f"another run uses the store {str(self.path)!r}: wait until it has ended") from None
        try:
            yield
        finally:
            lock.close()
            with suppress(OSError):
                beside.unlink()

    # -- writing --------------------------------------------------------------------------------------

    def enlist(self, study: str, facts: Mapping[str, Any], members: Iterable[tuple[Member, Job]]) -> None:
        """Make these jobs the jobs of a study; those that the store has keep their state and results.

        Parameters
        ----------
        study : str
            Name of the study.
        facts : mapping
            What a report needs of the study, JSON-like.
        members : iterable of (Member, Job)
            The jobs.
        """
        listed = list(members)
        with self._writing() as db:
            db.execute("DELETE FROM members WHERE study = ?", (study,))
            db.executemany(
                "INSERT INTO jobs (key, spec) VALUES (?, ?) ON CONFLICT DO NOTHING",
                ((job.key, canonical_json(job.spec)) for _, job in listed),
            )
            db.executemany(
                "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((study, *member, job.key) for member, job in listed),
            )
            db.execute("INSERT OR REPLACE INTO studies VALUES (?, ?)", (study, canonical_json(facts)))

    def record(self, done: Mapping[str, Mapping[str, Any]], failed: Mapping[str, Mapping[str, Any]]) -> int:
        """Write the results of jobs, all or none; jobs that are done already stay as they are.

        Parameters
        ----------
        done : mapping of str to mapping
            By key: ``figures``, ``seconds`` of the fit and ``n_test``, the number of labelled test examples; perhaps
            ``ranking``.
        failed : mapping of str to mapping
            By key: ``error`` and ``traceback``.

        Returns
        -------
        int
            How many jobs have changed.
        """
        n_changed = 0
        with self._writing() as db:
            for key, result in done.items():
                changed = db.execute(
                    "UPDATE jobs SET state = 'done', figures = ?, seconds = ?, n_test = ?, error = NULL, "
                    "traceback = NULL WHERE key = ? AND state != 'done'",
                    (canonical_json(result["figures"]), result["seconds"], result["n_test"], key),
                ).rowcount
                if changed and "ranking" in result:
                    content = zlib.compress(canonical_json(result["ranking"]).encode("utf-8", "surrogatepass"))
                    db.execute("INSERT OR REPLACE INTO rankings VALUES (?, ?)", (key, content))
                n_changed += changed
            for key, failure in failed.items():
                n_changed += db.execute(
                    "UPDATE jobs SET state = 'failed', error = ?, traceback = ? WHERE key = ? AND state != 'done'",
                    (failure["error"], failure["traceback"], key),
                ).rowcount
        return n_changed

    # -- reading --------------------------------------------------------------------------------------

    def studies(self) -> dict[str, dict[str, Any]]:
        """Return the facts of each study by its name."""
        with self._translated():
            return {study: json.loads(facts) for study, facts in self._read("SELECT * FROM studies ORDER BY study")}

    def states(self, study: str) -> dict[str, str]:
        """Return the state of each job of a study, by key: "pending", "done" or "failed"."""
        return dict(self._read(f"SELECT key, state FROM jobs WHERE {_OF_STUDY}", (study,)))

    def counts(self, study: str) -> dict[str, int]:
        """Return the number of jobs by state."""
        return dict(self._read(f"SELECT state, count(*) FROM jobs WHERE {_OF_STUDY} GROUP BY state", (study,)))

    def rows(self, study: str) -> list[tuple[Member, dict[str, Any]]]:
        """Return all members of a study in the order of their names, each with what is recorded of its job."""
        place = ", ".join(Member._fields)
        recorded = ("key", "state", "figures", "seconds", "n_test", "error", "traceback")
        rows = self._read(
            f"SELECT {place}, {', '.join(recorded)} FROM members JOIN jobs USING (key) WHERE study = ? "
            f"ORDER BY {place}",
            (study,),
        )
        members = []
        with self._translated():
            for row in rows:
                facts = dict(zip(recorded, row[len(Member._fields) :], strict=True))
                facts["figures"] = json.loads(facts["figures"] or "{}")
                members.append((Member(*row[: len(Member._fields)]), facts))
        return members

    def ranking(self, key: str) -> dict[str, Any] | None:
        """Return the names and scores that a job has kept, or None."""
        rows = self._read("SELECT content FROM rankings WHERE key = ?", (key,))
        if not rows:
            return None
        with self._translated():
            ranking: dict[str, Any] = json.loads(zlib.decompress(rows[0][0]).decode("utf-8", "surrogatepass"))
            return ranking


# -- content keys ----------------------------------------------------------------------------------


# Rooms that decide no result: a change there computes nothing anew. All others count, new ones too.
_WITHOUT_RESULTS = ("cli", "plots", "report", "testing")
# Folders of packages that were installed, also where another environment lends them.
_INSTALLED = {"site-packages", "dist-packages"}


def canonical_json(content: Any) -> str:
    """Return JSON that is the same for equal content: sorted keys, no spaces, numbers in full precision.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.store import canonical_json
    >>> canonical_json({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def content_key(content: Mapping[str, Any]) -> str:
    """Return the hash of a JSON-like content.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.store import content_key
    >>> content_key({"seed": 0, "method": "genie3"}) == content_key({"method": "genie3", "seed": 0})
    True
    >>> content_key({"seed": 0}) == content_key({"seed": 1})
    False
    """
    return hashlib.blake2b(canonical_json(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@cache
def code_version() -> str:
    """Return the version of the code that computes results.

    That of the package; for development versions, which change under one number, with a hash of the sources.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.store import code_version
    >>> code_version() == code_version()
    True
    """
    from omnirank import __version__

    return f"{__version__}+{_package_hash()}" if "dev" in __version__ else __version__


def _package_hash() -> str:
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(package.glob("*/**/*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in _WITHOUT_RESULTS:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


# -- code of users --------------------------------------------------------------------------------


def sources_hash(roots: Sequence[str]) -> str:
    """Return a hash of the files of `own_modules`; "" where there are none.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.store import sources_hash
    >>> sources_hash(["omnirank.rankers.univariate"])
    ''
    """
    modules = own_modules(roots)
    digest = hashlib.blake2b(digest_size=16)
    for name, content in sorted(modules.items()):
        digest.update(f"{name} {len(content)};".encode())
        digest.update(content)
    return digest.hexdigest() if modules else ""


def own_modules(roots: Sequence[str]) -> dict[str, bytes]:
    """Return the content of modules and of all that they import, by name; the code is read, not run.

    Left out are omnirank, the standard library, and installed packages other than those of the roots. Imports by names
    that are computed are not seen.
    """
    tops = {root.partition(".")[0] for root in roots}
    modules: dict[str, bytes] = {}
    waiting, seen = list(roots), set(roots)
    while waiting:
        name = waiting.pop()
        spec = _spec(name, tops)
        if spec is None:
            continue
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        imported = {name.rpartition(".")[0]} - {""}
        if spec.origin is not None and Path(spec.origin).is_file():  # a folder without __init__.py has none
            modules[name] = Path(spec.origin).read_bytes()
            imported |= {_absolute(one, level, package) for one, level in _imports(modules[name])}
        waiting += imported - seen
        seen |= imported
    return modules


def _spec(name: str, tops: set[str]) -> ModuleSpec | None:
    """Where a module is, if it is a user's; nothing is imported."""
    top, *rest = name.split(".")
    if top == "omnirank" or top in sys.stdlib_module_names:
        return None
    try:
        spec = find_spec(top)
    except ValueError:  # a script, or a module made by hand
        return None
    if spec is None or (top not in tops and _is_installed(spec)):
        return None
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        top = f"{top}.{part}"
        spec = PathFinder.find_spec(top, spec.submodule_search_locations)
    return spec


def _is_installed(spec: ModuleSpec) -> bool:
    places = (spec.origin or "", *(spec.submodule_search_locations or ()))
    return any(_INSTALLED & set(Path(place).parts) for place in places)


@lru_cache(maxsize=1000)
def _imports(content: bytes) -> list[tuple[str, int]]:
    """The names that code imports, each with its number of leading dots."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # a compiled module
        return []
    return list(dict.fromkeys(one for node in ast.walk(tree) for one in _imported(node)))


def _imported(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, 0) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = node.module or ""
        yield start, node.level
        # what is imported from a package may be a module of it
        yield from (((f"{start}.{alias.name}").lstrip("."), node.level) for alias in node.names)


def _absolute(name: str, level: int, package: str) -> str:
    if not level:
        return name
    start = package.split(".")
    return ".".join(filter(None, [*start[: len(start) - level + 1], name]))
