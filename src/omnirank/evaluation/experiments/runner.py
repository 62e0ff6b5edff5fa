"""Running a plan: claim, compute, record, until nothing is left; from wherever an earlier run has stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from omnirank.core.errors import DataError, OmnirankError, ParameterError, setting
from omnirank.core.parallel import worker_count
from omnirank.core.parameters import check, choice
from omnirank.core.types import PathLike
from omnirank.data.task_registry import is_unsupervised
from omnirank.evaluation.experiments.jobs import jobs_of, study_facts
from omnirank.evaluation.experiments.keys import canonical_json, code_version
from omnirank.evaluation.experiments.memory import can_limit_memory
from omnirank.evaluation.experiments.owners import this_owner
from omnirank.evaluation.experiments.plan import DataEntry, StudyPlan, read_plan
from omnirank.evaluation.experiments.pool import Backend, WorkerPool
from omnirank.evaluation.experiments.schema import StoreUnavailableError
from omnirank.evaluation.experiments.sources import load_source, missing_files
from omnirank.evaluation.experiments.store import Store

Result = TypeVar("Result")

BACKENDS = ("processes", "dask")

_LEASE_S = 60.0
_POLL_S = 0.5
_REPORT_S = 0.5
_PATIENCE_S = 120.0  # how long to wait for a full disk or a locked store


@dataclass(frozen=True)
class RunSummary:
    """What a run has left in the store.

    Attributes
    ----------
    store : Path
        The store.
    study : str
        Name of the study.
    counts : dict of str to int
        Number of jobs by state: "done", "failed", "pending", "running".
    n_new : int
        Jobs that this run has finished.
    problems : tuple of str
        Data sets that could not be read, in words.
    """

    store: Path
    study: str
    counts: dict[str, int]
    n_new: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Listeners:
    """What is called while a run goes on: ``progress(n_finished, n_jobs)`` and ``note(text)``."""

    progress: Callable[[int, int], None] = field(default=lambda finished, total: None)
    note: Callable[[str], None] = field(default=lambda text: None)


def run_plan(
    plan: StudyPlan | PathLike | Mapping[str, Any],
    *,
    n_jobs: int = 1,
    store: PathLike | None = None,
    backend: str = "processes",
    scheduler: str | None = None,
    retry_failed: bool = False,
    memory_limit: int | None = None,
    listeners: Listeners | None = None,
    lease_s: float = _LEASE_S,
    patience_s: float = _PATIENCE_S,
) -> RunSummary:
    """Run the jobs of a plan that are not done.

    A run may be killed at any moment and started again; several runs on one machine may share a store. Its file belongs
    on a disk of that machine: SQLite cannot share it over a network. For several machines there is the backend "dask".

    Parameters
    ----------
    plan : StudyPlan, str, Path or mapping
        The plan, its file, or its content as a dictionary, as in `omnirank.evaluation.experiments.read_plan`; a
        dictionary needs ``store``.
    n_jobs : int
        Number of worker processes; -1: all cores.
    store : str or Path, optional
        The store; by default beside the plan, with the ending ``.sqlite``.
    backend : {"processes", "dask"}
        Where jobs run.
    scheduler : str, optional
        Address of a Dask scheduler.
    retry_failed : bool
        Whether jobs that failed before are run again.
    memory_limit : int, optional
        Most bytes that a worker process may hold.
    listeners : Listeners, optional
        Called with the progress.
    lease_s : float
        A run that gives no sign for this long loses its jobs to others.
    patience_s : float
        How long the run waits for a full disk before it gives up.

    Returns
    -------
    RunSummary
        What is in the store now.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.evaluation.experiments import run_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.toml")
    ...     _ = path.write_text('''
    ...     folds = { n_folds = 2 }
    ...     [[data]]
    ...     sample = "iris"
    ...     [[method]]
    ...     use = ["univariate", "uniform"]
    ...     ''')
    ...     run_plan(path).counts
    {'done': 4}
    """
    check("backend", backend, choice(*BACKENDS))
    if scheduler is not None and backend != "dask":
        advice = f"it is the address of a Dask cluster and needs {setting('backend', 'dask')}"
        raise ParameterError("scheduler", scheduler, advice)
    if memory_limit is not None and (backend != "processes" or not can_limit_memory()):
        advice = "the memory of workers cannot be limited here; Dask has its own limits"
        raise ParameterError("memory_limit", memory_limit, advice)
    if isinstance(plan, Mapping) and store is None:
        place = setting("store", "results.sqlite")
        raise ParameterError(f"a plan that is no file has no place for its results: give {place}")
    plan = plan if isinstance(plan, StudyPlan) else read_plan(plan)
    where = plan.store_path if store is None else Path(store)
    heard = listeners or Listeners()
    if not where.is_file():
        _check_files(plan, None)  # before an empty store is made
    with Store(where, create=True) as opened:
        run = _Run(plan, opened, heard, lease_s, patience_s)
        problems = run.enlist()
        if retry_failed:
            run.patiently(lambda: opened.retry_failed(plan.name))
        if run.n_open():
            n_workers = min(worker_count(n_jobs), run.n_open())
            made = WorkerPool(n_workers, memory_limit) if backend == "processes" else _dask(n_workers, scheduler)
            with _Heartbeat(where, run.owner, lease_s):
                run.work(made)
        return RunSummary(where, plan.name, opened.counts(plan.name), run.n_new, tuple(problems))


def _dask(n_workers: int, scheduler: str | None) -> Backend:
    from omnirank.evaluation.experiments.dask_backend import DaskBackend

    return DaskBackend(n_workers, scheduler)


class _Run:
    """One process that works on a study."""

    def __init__(self, plan: StudyPlan, store: Store, listeners: Listeners, lease_s: float, patience_s: float) -> None:
        self._plan = plan
        self._store = store
        self._listeners = listeners
        self._lease_s = lease_s
        self._patience_s = patience_s
        self._n_running = 0
        self._next_report = 0.0
        self.n_new = 0
        self.owner = this_owner()

    # -- planning -------------------------------------------------------------------------------------

    def enlist(self) -> list[str]:
        """Write the jobs of the plan into the store; return which data sets could not be read, in words."""
        members: list[Any] = []
        tasks: dict[str, str] = {}
        vanished: dict[str, str] = {}
        _check_files(self._plan, self._store)
        for number, entry in enumerate(self._plan.data, start=1):
            try:
                jobs, facts = self._jobs(entry)
                members += jobs
                self.patiently(lambda: self._store.remember_data(_source_key(self._plan, entry), facts))  # noqa: B023
            except (OmnirankError, OSError) as error:
                known = self._store.known_data(_source_key(self._plan, entry))
                if isinstance(error, StoreUnavailableError):
                    raise
                if known is None or isinstance(error, ParameterError):
                    kind = ParameterError if isinstance(error, ParameterError) else DataError
                    where = f"{self._plan.path}, [[data]] number {number} ({entry.name})"
                    raise kind(f"{where}: {error}") from error
                facts = known
                vanished[entry.name] = f"data set {entry.name!r} cannot be read now: {error}"
            tasks[entry.name] = facts["task"]
        facts = study_facts(self._plan, tasks, (member for member, _ in members))
        self.patiently(lambda: self._store.enlist(self._plan.name, facts, members, kept=tuple(vanished)))
        for text in vanished.values():
            self._listeners.note(text)
        return list(vanished.values())

    def _jobs(self, entry: DataEntry) -> tuple[list[Any], dict[str, str]]:
        """The jobs of a data set and what to remember of it; the data are not kept."""
        loaded = load_source(entry.source)
        task = loaded.dataset.task
        jobs = list(jobs_of(self._plan, entry, loaded))
        if loaded.dataset.target is None and not is_unsupervised(entry.options.get("task", "auto")):
            self._listeners.note(f"data set {entry.name!r} has no target: its task is {task}")
        return jobs, {"task": task}

    # -- working --------------------------------------------------------------------------------------

    def n_open(self) -> int:
        """How many jobs are neither done nor failed."""
        counts = self._store.counts(self._plan.name)
        return counts.get("pending", 0) + counts.get("running", 0)

    def work(self, backend: Backend) -> None:
        """Claim, compute and record until nothing is open; jobs of other processes are waited for."""
        try:
            self._report()
            while True:
                while backend.has_room():
                    claim = self.patiently(lambda: self._store.claim(self._plan.name, self.owner, self._lease_s))
                    if claim is None:
                        break
                    backend.start(self._order(claim.fit, claim.specs))
                    self._n_running += 1
                outcome = backend.finished(_POLL_S)
                if outcome is not None:
                    self._record(outcome)
                elif not self._n_running and not self.n_open():
                    return
                else:  # others may have finished something, and this shows that the run is alive
                    self._report()
        finally:
            backend.close()
            with suppress(StoreUnavailableError):  # then the lease ends by itself
                self._store.release(self.owner)

    def _order(self, fit: str, specs: dict[str, dict[str, Any]]) -> dict[str, Any]:
        plan = self._plan
        return {
            "fit": fit,
            "specs": specs,
            # where the plan pins its version, users answer for it
            "code": code_version() if plan.code == code_version() else None,
            "modules": list(plan.modules),
            "keep_rankings": plan.keep_rankings,
        }

    def _record(self, outcome: dict[str, Any]) -> None:
        self._n_running -= 1
        self.n_new += self.patiently(lambda: self._store.record(outcome["done"], outcome["failed"]))
        self._report()

    def _report(self) -> None:
        if time.monotonic() < self._next_report:
            return
        self._next_report = time.monotonic() + _REPORT_S
        counts = self._store.counts(self._plan.name)
        self._listeners.progress(counts.get("done", 0) + counts.get("failed", 0), sum(counts.values()))

    def patiently(self, write: Callable[[], Result]) -> Result:
        """Write, and where the disk is full or the store locked, wait and try again; nothing is lost meanwhile."""
        give_up = time.monotonic() + self._patience_s
        told = False
        while True:
            try:
                return write()
            except StoreUnavailableError as error:
                room = "full" in str(error)
                if time.monotonic() >= give_up:
                    raise StoreUnavailableError(
                        f"{error}; gave up after {self._patience_s:.0f} s. {'Make room' if room else 'Mend this'} and "
                        "run the plan again: what is recorded stays, the rest is computed"
                    ) from error
                if not told:
                    self._listeners.note(f"{error}; waiting{' for room' if room else ''}, nothing is lost")
                    told = True
                time.sleep(min(1.0, self._patience_s / 10))


def _check_files(plan: StudyPlan, store: Store | None) -> None:
    """Refuse files that are not there and never were; one that has vanished must not stop the rest."""
    for number, entry in enumerate(plan.data, start=1):
        missing = missing_files(entry.source)
        if missing and (store is None or store.known_data(_source_key(plan, entry)) is None):
            where = f"{plan.path}, [[data]] number {number} ({entry.name})"
            raise DataError(f"{where}: there is no file {missing[0]!r}; paths start at the folder of the plan")


def _source_key(plan: StudyPlan, entry: DataEntry) -> str:
    return canonical_json([plan.name, entry.name, entry.source])


class _Heartbeat:
    """A thread that renews the leases of this process while it works."""

    def __init__(self, path: Path, owner: str, lease_s: float) -> None:
        self._path = path
        self._owner = owner
        self._lease_s = lease_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="omnirank-lease", daemon=True)

    def __enter__(self) -> _Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._stop.wait(self._lease_s / 6):
            # a full disk is the runner's to report; a connection belongs to one thread
            with suppress(OmnirankError), Store(self._path) as store:
                store.renew(self._owner, self._lease_s)
