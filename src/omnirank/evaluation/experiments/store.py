"""The store of a study: which jobs there are, who runs them, and their results."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, FileFormatError
from omnirank.core.types import PathLike
from omnirank.evaluation.experiments.keys import canonical_json
from omnirank.evaluation.experiments.owners import is_gone
from omnirank.evaluation.experiments.schema import connect, damaged, reading, transaction
from omnirank.evaluation.experiments.stored import (
    job_seal,
    member_seal,
    packed_ranking,
    study_seal,
    unpacked_facts,
    unpacked_figures,
    unpacked_ranking,
)

_OF_STUDY = "EXISTS (SELECT 1 FROM members WHERE members.key = jobs.key AND members.study = ?)"


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


@dataclass(frozen=True)
class Claim:
    """Jobs of one fit that this process runs now: specifications by key."""

    fit: str
    specs: dict[str, dict[str, Any]]


class Store:
    """A file with the jobs of studies and their results; several processes may use it at once.

    Every change is one transaction. A job is done once: results that arrive for a job that is done are ignored, so
    that it does not matter how often, or by how many processes, it was run.

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
    ...         claim = store.claim("study", "me", lease_s=60)
    ...         _ = store.record({"k1": {"figures": {"accuracy": 0.9}, "seconds": 0.1, "n_test": 50}}, {})
    ...         store.counts("study")
    {'done': 1}
    """

    def __init__(self, path: PathLike, *, create: bool = False) -> None:
        self.path = Path(path)
        self._db: sqlite3.Connection = connect(self.path, create=create)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _writing(self) -> Any:
        return transaction(self._db, self.path)

    # -- planning -------------------------------------------------------------------------------------

    def enlist(
        self, study: str, facts: Mapping[str, Any], members: Iterable[tuple[Member, Job]], kept: Sequence[str] = ()
    ) -> None:
        """Make these jobs the jobs of a study; those that the store knows keep their state and results.

        Parameters
        ----------
        study : str
            Name of the study.
        facts : mapping
            What a report needs to know of the study, JSON-like.
        members : iterable of (Member, Job)
            The jobs in their order.
        kept : sequence of str
            Data sets whose members stay as they are, because their data cannot be read now.
        """
        listed = list(members)
        holes = ", ".join("?" for _ in kept)
        with self._writing() as db:
            db.execute(f"DELETE FROM members WHERE study = ? AND data NOT IN ({holes})", (study, *kept))
            db.executemany(
                "INSERT INTO jobs (key, fit, spec, position) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET position = excluded.position, fit = excluded.fit, "
                "spec = CASE WHEN state = 'done' THEN spec ELSE excluded.spec END",
                ((job.key, job.fit, canonical_json(job.spec), i) for i, (_, job) in enumerate(listed)),
            )
            db.executemany(
                "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((study, *member, job.key, member_seal(study, member, job.key)) for member, job in listed),
            )
            known = canonical_json(facts)
            db.execute("INSERT OR REPLACE INTO studies VALUES (?, ?, ?)", (study, known, study_seal(study, known)))

    def remember_data(self, source: str, facts: Mapping[str, Any]) -> None:
        """Keep what is known of a data source, for the time when it cannot be read."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO data_sets VALUES (?, ?)", (source, canonical_json(facts)))

    def known_data(self, source: str) -> dict[str, Any] | None:
        """Return what was remembered of a data source."""
        found = self._read("SELECT facts FROM data_sets WHERE source = ?", (source,))
        if not found:
            return None
        with self._unpacking(f"what is known of the data {source}"):
            return unpacked_facts(found[0][0])

    # -- the queue ------------------------------------------------------------------------------------

    def claim(self, study: str, owner: str, lease_s: float) -> Claim | None:
        """Take the waiting jobs of one fit, fewest attempts first, so that what kills a run comes last."""
        self.free_abandoned()
        with self._writing() as db:
            first = db.execute(
                f"SELECT fit FROM jobs WHERE state = 'pending' AND {_OF_STUDY} ORDER BY attempts, position LIMIT 1",
                (study,),
            ).fetchone()
            if first is None:
                return None
            waiting = f"fit = ? AND state = 'pending' AND {_OF_STUDY}"
            rows = db.execute(f"SELECT key, spec FROM jobs WHERE {waiting} ORDER BY position", (first[0], study))
            with self._unpacking(f"the jobs of fit {first[0]}"):
                specs = {key: unpacked_facts(spec) for key, spec in rows.fetchall()}
            db.execute(
                "UPDATE jobs SET state = 'running', owner = ?, lease_until = ?, attempts = attempts + 1 "
                f"WHERE {waiting}",
                (owner, time.time() + lease_s, first[0], study),
            )
        return Claim(first[0], specs)

    def free_abandoned(self) -> int:
        """Put jobs back whose lease has run out or whose process has ended; return how many."""
        holders = self._read(
            "SELECT DISTINCT CAST(owner AS TEXT), CAST(lease_until AS REAL) FROM jobs WHERE state = 'running'"
        )
        now = time.time()
        gone = {owner or "" for owner, until in holders if (until or 0.0) < now or is_gone(owner or "")}
        freed = 0
        for owner in gone:
            with self._writing() as db:
                # the lease is looked at again: its owner may have renewed it since
                freed += db.execute(
                    "UPDATE jobs SET state = 'pending', owner = NULL, lease_until = NULL "
                    "WHERE state = 'running' AND ifnull(owner, '') = ? AND (ifnull(lease_until, 0) < ? OR ?)",
                    (owner, now, is_gone(owner)),
                ).rowcount
        return freed

    def renew(self, owner: str, lease_s: float) -> int:
        """Prolong the leases of a process that is alive; return of how many jobs."""
        with self._writing() as db:
            return db.execute(
                "UPDATE jobs SET lease_until = ? WHERE state = 'running' AND owner = ?", (time.time() + lease_s, owner)
            ).rowcount

    def release(self, owner: str) -> None:
        """Put back all jobs of a process that stops in order; the attempt does not count."""
        with self._writing() as db:
            db.execute(
                "UPDATE jobs SET state = 'pending', owner = NULL, lease_until = NULL, attempts = attempts - 1 "
                "WHERE state = 'running' AND owner = ?",
                (owner,),
            )

    def record(self, done: Mapping[str, Mapping[str, Any]], failed: Mapping[str, Mapping[str, Any]]) -> int:
        """Write the results of the jobs of a claim, all or none; jobs that are done already stay as they are.

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
        free = "owner = NULL, lease_until = NULL"
        n_changed = 0
        with self._writing() as db:
            for key, result in done.items():
                figures = canonical_json(result["figures"])
                recorded = (figures, result["seconds"], result["n_test"])
                changed = db.execute(
                    "UPDATE jobs SET state = 'done', figures = ?, seconds = ?, n_test = ?, seal = ?, error = NULL, "
                    f"traceback = NULL, {free} WHERE key = ? AND state != 'done'",
                    (*recorded, job_seal(key, *recorded), key),
                ).rowcount
                if changed and "ranking" in result:
                    content = packed_ranking(result["ranking"])
                    db.execute("INSERT OR REPLACE INTO rankings VALUES (?, ?)", (key, content))
                n_changed += changed
            for key, failure in failed.items():
                n_changed += db.execute(
                    f"UPDATE jobs SET state = 'failed', error = ?, traceback = ?, {free} "
                    "WHERE key = ? AND state != 'done'",
                    (failure["error"], failure["traceback"], key),
                ).rowcount
        return n_changed

    def retry_failed(self, study: str) -> int:
        """Let failed jobs wait again; return how many."""
        with self._writing() as db:
            return db.execute(
                "UPDATE jobs SET state = 'pending', error = NULL, traceback = NULL "
                f"WHERE state = 'failed' AND {_OF_STUDY}",
                (study,),
            ).rowcount

    def restore(
        self,
        jobs: Iterable[Sequence[Any]],
        members: Iterable[Sequence[Any]],
        studies: Iterable[Sequence[Any]],
        data_sets: Iterable[Sequence[Any]],
        rankings: Iterable[Sequence[Any]],
    ) -> None:
        """Fill an empty store with rows that were saved from another."""
        columns = "key, fit, spec, position, state, figures, seconds, n_test, error, traceback, seal"
        with self._writing() as db:
            db.executemany(f"INSERT INTO jobs ({columns}) VALUES ({', '.join('?' * 11)})", jobs)
            db.executemany(f"INSERT INTO members VALUES ({', '.join('?' * 10)})", members)
            db.executemany("INSERT INTO studies VALUES (?, ?, ?)", studies)
            db.executemany("INSERT INTO data_sets VALUES (?, ?)", data_sets)
            db.executemany("INSERT INTO rankings VALUES (?, ?)", rankings)

    # -- reading --------------------------------------------------------------------------------------

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with reading(self.path):
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _unpacking(self, what: str) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            raise damaged(self.path, f"{what}: {error}") from error

    def problem(self) -> str:
        """Return what is wrong with the file, in words; "" where every row can be read and is what was written."""
        try:
            [found] = self._read("PRAGMA integrity_check(1)")[0]
            if found != "ok":
                return str(found)
            for study in self.studies():
                for _, row in self.rows(study):
                    self.ranking(row["key"])
            for [source] in self._read("SELECT source FROM data_sets"):
                self.known_data(source)
        except FileFormatError as error:
            return error.problem
        return ""

    def studies(self) -> dict[str, dict[str, Any]]:
        """Return the facts of each study by its name."""
        found = {}
        for study, facts, seal in self._read("SELECT study, facts, seal FROM studies ORDER BY study"):
            with self._unpacking(f"study {study!r}"):
                found[study] = unpacked_facts(facts)
                if seal != study_seal(study, facts):
                    raise DataError("what is known of it has changed since it was written")
        return found

    def counts(self, study: str) -> dict[str, int]:
        """Return the number of jobs by state."""
        rows = self._read(f"SELECT state, count(*) FROM jobs WHERE {_OF_STUDY} GROUP BY state", (study,))
        return dict(rows)

    def rows(self, study: str) -> list[tuple[Member, dict[str, Any]]]:
        """Return all members of a study in the order of their names, each with what is known of its job."""
        columns = ", ".join(Member._fields)
        rows = self._read(
            f"SELECT {columns}, m.key, m.seal, state, figures, seconds, n_test, error, traceback, attempts, j.seal "
            f"FROM members m LEFT JOIN jobs j ON j.key = m.key WHERE study = ? ORDER BY {columns}",
            (study,),
        )
        found = []
        for row in rows:
            member = Member(*row[:7])
            with self._unpacking(f"study {study!r}, {', '.join(map(str, member))}"):
                if row[8] != member_seal(study, member, row[7]):
                    raise DataError("the place of a job has changed since it was written")
                found.append((member, _job_facts(row[7], *row[9:])))
        return found

    def ranking(self, key: str) -> dict[str, Any] | None:
        """Return the names and scores that a job has kept, or None."""
        found = self._read("SELECT content FROM rankings WHERE key = ?", (key,))
        if not found:
            return None
        with self._unpacking(f"the ranking of job {key}"):
            return unpacked_ranking(found[0][0])


def _job_facts(
    key: str,
    state: Any,
    figures: Any,
    seconds: Any,
    n_test: Any,
    error: Any,
    traceback: Any,
    attempts: Any,
    seal: Any,
) -> dict[str, Any]:
    """What is known of a job; `DataError` where that is damaged."""
    if state not in ("pending", "running", "done", "failed"):
        raise DataError("the job is lost" if state is None else f"the state of the job is {state!r}")
    if state == "done":
        if not isinstance(figures, str) or not isinstance(seconds, float) or not isinstance(n_test, int):
            raise DataError("the result has cells of another type")
        if seal != job_seal(key, figures, seconds, n_test):
            raise DataError("the result has changed since it was written")
    return {
        "state": state,
        "figures": unpacked_figures(figures) if state == "done" else {},
        "seconds": seconds if state == "done" else None,
        "n_test": n_test if state == "done" else None,
        "error": error if state == "failed" else None,
        "traceback": traceback if state == "failed" else None,
        "attempts": attempts,
        "key": key,
    }
