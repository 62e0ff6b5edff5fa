"""The store of a study: which jobs there are, who runs them, and what came out."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.evaluation.experiments.keys import canonical_json
from omnirank.evaluation.experiments.owners import is_gone
from omnirank.evaluation.experiments.schema import connect, transaction

__all__ = ["Claim", "Job", "Member", "Store"]

_OF_STUDY = "EXISTS (SELECT 1 FROM members WHERE members.key = jobs.key AND members.study = ?)"


class Member(NamedTuple):
    """The place of a job in a study; 0 labelled is "as they are", 0 neighbours a method that predicts itself."""

    data: str
    method: str
    choice: str
    labelled: int
    neighbors: int
    seed: int
    fold: int


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

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
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
                "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((study, *member, job.key) for member, job in listed),
            )
            db.execute("INSERT OR REPLACE INTO studies VALUES (?, ?)", (study, canonical_json(facts)))

    def remember_data(self, source: str, facts: Mapping[str, Any]) -> None:
        """Keep what is known of a data source, for the time when it cannot be read."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO data_sets VALUES (?, ?)", (source, canonical_json(facts)))

    def known_data(self, source: str) -> dict[str, Any] | None:
        """Return what was remembered of a data source."""
        found = self._db.execute("SELECT facts FROM data_sets WHERE source = ?", (source,)).fetchone()
        return None if found is None else json.loads(found[0])

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
            specs = {key: json.loads(spec) for key, spec in rows.fetchall()}
            db.execute(
                "UPDATE jobs SET state = 'running', owner = ?, lease_until = ?, attempts = attempts + 1 "
                f"WHERE {waiting}",
                (owner, time.time() + lease_s, first[0], study),
            )
        return Claim(first[0], specs)

    def free_abandoned(self) -> int:
        """Put jobs back whose lease has run out or whose process has ended; return how many."""
        holders = self._db.execute("SELECT DISTINCT owner, lease_until FROM jobs WHERE state = 'running'").fetchall()
        now = time.time()
        gone = {owner for owner, until in holders if until < now or is_gone(owner)}
        freed = 0
        for owner in gone:
            with self._writing() as db:
                # the lease is looked at again: its owner may have renewed it since
                freed += db.execute(
                    "UPDATE jobs SET state = 'pending', owner = NULL, lease_until = NULL "
                    "WHERE state = 'running' AND owner = ? AND (lease_until < ? OR ?)",
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
                changed = db.execute(
                    "UPDATE jobs SET state = 'done', figures = ?, seconds = ?, n_test = ?, error = NULL, "
                    f"traceback = NULL, {free} WHERE key = ? AND state != 'done'",
                    (canonical_json(result["figures"]), result["seconds"], result["n_test"], key),
                ).rowcount
                if changed and "ranking" in result:
                    content = zlib.compress(canonical_json(result["ranking"]).encode("utf-8", "surrogatepass"))
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

    # -- reading --------------------------------------------------------------------------------------

    def studies(self) -> dict[str, dict[str, Any]]:
        """Return the facts of each study by its name."""
        rows = self._db.execute("SELECT study, facts FROM studies ORDER BY study")
        return {study: json.loads(facts) for study, facts in rows}

    def counts(self, study: str) -> dict[str, int]:
        """Return the number of jobs by state."""
        rows = self._db.execute(f"SELECT state, count(*) FROM jobs WHERE {_OF_STUDY} GROUP BY state", (study,))
        return dict(rows.fetchall())

    def rows(self, study: str) -> list[tuple[Member, dict[str, Any]]]:
        """Return all members of a study in the order of their names, each with what is known of its job."""
        columns = "data, method, choice, labelled, neighbors, seed, fold"
        rows = self._db.execute(
            f"SELECT {columns}, state, figures, seconds, n_test, error, traceback, attempts, m.key "
            f"FROM members m JOIN jobs j ON j.key = m.key WHERE study = ? ORDER BY {columns}",
            (study,),
        )
        found = []
        for row in rows:
            state, figures, seconds, n_test, error, traceback, attempts, key = row[7:]
            facts = {
                "state": state,
                "figures": {} if figures is None else json.loads(figures),
                "seconds": seconds,
                "n_test": n_test,
                "error": error,
                "traceback": traceback,
                "attempts": attempts,
                "key": key,
            }
            found.append((Member(*row[:7]), facts))
        return found

    def ranking(self, key: str) -> dict[str, Any] | None:
        """Return the names and scores that a job has kept, or None."""
        found = self._db.execute("SELECT content FROM rankings WHERE key = ?", (key,)).fetchone()
        if found is None:
            return None
        return json.loads(zlib.decompress(found[0]).decode("utf-8", "surrogatepass"))
