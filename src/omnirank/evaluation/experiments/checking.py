"""Stores after an accident: what is lost, and a new store with the rest."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, FileFormatError, OmnirankError, ParameterError
from omnirank.core.types import PathLike
from omnirank.evaluation.experiments.raw_pages import readable_rows
from omnirank.evaluation.experiments.schema import DamagedStoreError, StoreUnavailableError
from omnirank.evaluation.experiments.store import Member, Store
from omnirank.evaluation.experiments.stored import (
    job_seal,
    member_seal,
    study_seal,
    unpacked_facts,
    unpacked_figures,
    unpacked_ranking,
)


class LostJob(NamedTuple):
    """A job whose result is lost, and the place that a study gives it."""

    study: str
    member: Member
    key: str


@dataclass(frozen=True)
class StoreCheck:
    """What is left of a store.

    Attributes
    ----------
    path : Path
        The store.
    problem : str
        What is wrong with it, "" for nothing.
    counts : dict of str to int
        Number of jobs that are whole, by state: "done", "failed", "pending".
    lost : tuple of LostJob
        Jobs whose rows cannot be read, but which a study still lists.
    n_lost_elsewhere : int
        Jobs whose rows and places are both lost: an index still names them.
    studies : tuple of str
        Studies whose facts are whole; others come back when their plan is run.
    """

    path: Path
    problem: str
    counts: dict[str, int]
    lost: tuple[LostJob, ...] = ()
    n_lost_elsewhere: int = 0
    studies: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong with the store."""
        return not self.problem


def check_store(path: PathLike, out: PathLike | None = None) -> StoreCheck:
    """Report what is lost of a store, and save the rest in a new one. The store itself is only read.

    Check a store while no run uses it: what is being written looks like damage. In the new store, lost jobs wait to be
    run. Run the plan with it: what was saved is not computed again; lost places in studies and the results of waiting
    jobs come back.

    Parameters
    ----------
    path : str or Path
        The store (``.sqlite``).
    out : str or Path, optional
        The new store; there must be no file of that name.

    Returns
    -------
    StoreCheck
        What is whole and what is lost. A result counts as whole only if it is what was written, bit for bit.

    Raises
    ------
    FileFormatError
        When the file is no store at all: nothing of one is found in it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> plan = {"data": [{"sample": "iris"}], "method": [{"use": "univariate"}], "folds": {"n_folds": 2}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder, "small.sqlite")
    ...     _ = om.run_plan(plan, store=store)
    ...     before = om.check_store(store)
    ...     _ = store.write_bytes(b"?" * 200 + store.read_bytes()[200:])
    ...     after = om.check_store(store, out=pathlib.Path(folder, "saved.sqlite"))
    >>> before.is_whole, after.is_whole, after.counts["done"], len(after.lost)
    (True, False, 2, 0)
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"there is no store {str(path)!r}")
    if out is not None and Path(out).exists():
        raise ParameterError("out", str(out), "it exists: give the name of a new store")
    try:
        problem, found = _looked_at(path)
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    if problem and not found.jobs and not found.members and not found.studies:
        raise FileFormatError(f"nothing of a store is found in the file ({problem})", path=path)
    if out is not None:
        found.save(Path(out))
    return found.told(path, problem)


def _looked_at(path: Path) -> tuple[str, _Found]:
    """What is wrong with a store, and the rows of it that are whole."""
    with tempfile.TemporaryDirectory(prefix="omnirank-check-") as folder:
        # SQLite writes even where it reads: it gets a copy
        copy = Path(folder, "copy.sqlite")
        shutil.copyfile(path, copy)
        log = path.with_name(path.name + "-wal")
        if log.is_file():
            shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
        try:
            with Store(copy) as store:
                problem = store.problem()
        except StoreUnavailableError as error:
            raise DataError(f"cannot check {str(path)!r}, of which a copy is made: {error}") from error
        except FileFormatError as error:
            problem = error.fault if isinstance(error, DamagedStoreError) else error.problem
        # a whole store of an earlier version has been brought up to date in the copy
        return problem, _Found.of(readable_rows(path if problem else copy))


@dataclass
class _Found:
    """The rows of a store that are whole, recognised by their shape and their seals."""

    jobs: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    members: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)
    studies: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    data_sets: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    rankings: dict[str, bytes] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)  # keys of jobs in whatever is left of the indices

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> _Found:
        found = cls()
        for row in rows:
            try:
                found._take(row)
            except (OmnirankError, TypeError, ValueError):  # a seal of cells of other types, or no JSON
                continue
        return found

    def _take(self, row: tuple[Any, ...]) -> None:
        kinds = "".join(_LETTERS.get(type(value), "?") for value in row)
        if len(row) == 14 and kinds[:5] == "tttit" and kinds[7] == "i":
            self._take_job(row)
        elif kinds == "ttttiiiitt" and row[9] == member_seal(row[0], row[1:8], row[8]):
            self.members[row[:8]] = row
        elif kinds == "tttttiiii":  # of the index of members by their keys
            self.named.add(row[0])
        elif kinds == "tiit" and row[0] in _STATES:  # of the index of jobs by their states
            self.named.add(row[3])
        elif kinds == "ttt" and row[2] == study_seal(row[0], row[1]):
            unpacked_facts(row[1])
            self.studies[row[0]] = row
        elif kinds == "tb":
            unpacked_ranking(row[1])
            self.rankings[row[0]] = row[1]
        elif kinds == "tt" and row[0].startswith("["):
            unpacked_facts(row[1])
            self.data_sets[row[0]] = row

    def _take_job(self, row: tuple[Any, ...]) -> None:
        key, fit, spec, position, state = row[:5]
        figures, seconds, n_test, error, traceback, seal = row[8:]
        if state == "done":
            if seal != job_seal(key, figures, seconds, n_test):
                return
            unpacked_figures(figures)
            self.jobs[key] = (key, fit, spec, position, state, figures, float(seconds), n_test, None, None, seal)
        elif state in _STATES and key not in self.jobs:
            failed = state == "failed" and isinstance(error, str) and isinstance(traceback, str)
            told = (error, traceback) if failed else (None, None)
            unpacked_facts(spec)
            self.jobs[key] = (key, fit, spec, position, "failed" if failed else "pending", *[None] * 3, *told, None)

    def lost(self) -> list[LostJob]:
        """Return the jobs that members refer to, and that are not there."""
        places = sorted(self.members.values())
        return [LostJob(row[0], Member(*row[1:8]), row[8]) for row in places if row[8] not in self.jobs]

    def told(self, path: Path, problem: str) -> StoreCheck:
        """Return what is found in numbers."""
        counts = dict.fromkeys(("done", "failed", "pending"), 0)
        for job in self.jobs.values():
            counts[job[4]] += 1
        lost = self.lost()
        elsewhere = self.named - self.jobs.keys() - {one.key for one in lost}
        if not problem:  # rows of free pages may name jobs that were there once
            elsewhere = set()
        return StoreCheck(path, problem, counts, tuple(lost), len(elsewhere), tuple(sorted(self.studies)))

    def save(self, out: Path) -> None:
        """Write what is found, and the lost jobs as jobs that wait."""
        waiting = {one.key: (one.key, one.key, "{}", 0, "pending", *[None] * 6) for one in self.lost()}
        with Store(out, create=True) as store:
            store.restore(
                jobs=[*self.jobs.values(), *waiting.values()],
                members=self.members.values(),
                studies=self.studies.values(),
                data_sets=self.data_sets.values(),
                rankings=self.rankings.items(),
            )


_STATES = ("pending", "running", "done", "failed")
_LETTERS = {str: "t", int: "i", float: "f", bytes: "b", type(None): "n"}
