"""Running a plan: compute and record what is not done, from wherever an earlier run has stopped."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataError, DataWarning, MissingDependencyError, OmnirankError, ParameterError, setting
from omnirank.core.parallel import worker_count
from omnirank.core.parameters import check, choice
from omnirank.core.types import PathLike
from omnirank.data.task_registry import is_unsupervised
from omnirank.evaluation.experiments.fit import load_source, missing_files, perform
from omnirank.evaluation.experiments.jobs import jobs_of, study_facts
from omnirank.evaluation.experiments.plan import StudyPlan, read_plan
from omnirank.evaluation.experiments.store import Job, Member, Store, code_version

BACKENDS = ("processes", "dask")

_REPORT_S = 0.5
_PATIENCE_S = 10.0
# One thread each, as a worker is one of several; and sums do not depend on the number of threads.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_LAST_WORDS = 4000  # characters of a dead worker's error stream that are kept


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
        Number of jobs by state: "done", "failed", "pending".
    n_new : int
        Jobs that this run has finished.
    """

    store: Path
    study: str
    counts: dict[str, int]
    n_new: int


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
) -> RunSummary:
    """Run the jobs of a plan that are not done.

    A run may be killed at any moment and started again. One run uses a store at a time; for several machines there is
    the backend "dask".

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
    jobs, tasks = _planned(plan, heard)  # before an empty store is made
    with Store(where, create=True) as opened, opened.used_by_one_run():
        opened.enlist(plan.name, study_facts(plan, tasks, (member for member, _ in jobs)), jobs)
        states = opened.states(plan.name)
        wanted = ("pending", "failed") if retry_failed else ("pending",)
        fits: dict[str, dict[str, Any]] = {}
        for _, job in jobs:
            if states[job.key] in wanted:
                fits.setdefault(job.fit, {})[job.key] = dict(job.spec)
        n_new = 0
        if fits:
            n_workers = min(worker_count(n_jobs), len(fits))
            workers: WorkerPool | DaskCluster
            if backend == "processes":
                workers = WorkerPool(n_workers, memory_limit)
            else:
                workers = DaskCluster(n_workers, scheduler)
            n_new = _work(workers, [_order(plan, specs) for specs in fits.values()], opened, heard, len(states))
        return RunSummary(where, plan.name, opened.counts(plan.name), n_new)


def can_limit_memory() -> bool:
    """Whether this system can limit the memory of a process."""
    return hasattr(_resource(), "RLIMIT_DATA")


def _resource() -> Any:
    """The module of limits; None on systems without it."""
    try:
        import resource
    except ImportError:
        return None
    return resource


# -- planning -------------------------------------------------------------------------------------


def _planned(plan: StudyPlan, heard: Listeners) -> tuple[list[tuple[Member, Job]], dict[str, str]]:
    """The jobs of a plan and the task of each data set; all files must be there before the first is read."""
    jobs: list[tuple[Member, Job]] = []
    tasks: dict[str, str] = {}
    for number, entry in enumerate(plan.data, start=1):
        missing = missing_files(entry.source)
        if missing:
            what = f"there is no file {missing[0]!r}; paths start at the folder of the plan"
            raise DataError(f"{_place(plan, number)}: {what}")
    for number, entry in enumerate(plan.data, start=1):
        try:
            loaded = load_source(entry.source)
            jobs += jobs_of(plan, entry, loaded)
        except ParameterError as error:
            raise ParameterError(f"{_place(plan, number)}: {error}") from error
        except (OmnirankError, OSError) as error:
            raise DataError(f"{_place(plan, number)}: {error}") from error
        tasks[entry.name] = loaded.dataset.task
        if loaded.dataset.target is None and not is_unsupervised(entry.options.get("task", "auto")):
            heard.note(f"data set {entry.name!r} has no target: its task is {tasks[entry.name]}")
        del loaded  # one data set at a time is in memory
    return jobs, tasks


def _place(plan: StudyPlan, number: int) -> str:
    return f"{plan.path}, [[data]] number {number} ({plan.data[number - 1].name})"


def _order(plan: StudyPlan, specs: dict[str, Any]) -> dict[str, Any]:
    """What a worker is sent: the jobs of one fit, and what it has to know of the study."""
    return {
        "specs": specs,
        # where the plan pins its version, users answer for it
        "code": code_version() if plan.code == code_version() else None,
        "modules": list(plan.modules),
        "keep_rankings": plan.keep_rankings,
    }


# -- working --------------------------------------------------------------------------------------


def _work(
    backend: WorkerPool | DaskCluster, orders: list[dict[str, Any]], store: Store, heard: Listeners, n_jobs: int
) -> int:
    """Compute and record until nothing is left; return how many jobs were finished."""
    n_open, n_new = sum(len(order["specs"]) for order in orders), 0
    waiting = iter(orders)
    running: dict[Future[dict[str, Any]], dict[str, Any]] = {}
    try:
        while True:
            heard.progress(n_jobs - n_open + n_new, n_jobs)
            for order in islice(waiting, max(0, backend.n_at_once - len(running))):
                running[backend.submit(order)] = order
            if not running:
                return n_new
            for future in wait(running, _REPORT_S, FIRST_COMPLETED).done:
                outcome = _outcome(future, running.pop(future))
                n_new += store.record(outcome["done"], outcome["failed"])
    finally:
        backend.close()


def _outcome(future: Future[dict[str, Any]], order: dict[str, Any]) -> dict[str, Any]:
    try:
        return future.result()
    except Exception as error:  # a worker of a cluster was killed, or cannot import omnirank
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return _all_failed(order, text, "".join(traceback.format_exception(error)))


def _all_failed(order: dict[str, Any], error: str, details: str) -> dict[str, Any]:
    return {"done": {}, "failed": {key: {"error": error, "traceback": details} for key in order["specs"]}}


class WorkerPool:
    """Worker processes on this machine; one that dies costs its jobs, nothing else.

    Parameters
    ----------
    n_workers : int
        How many.
    memory_limit : int, optional
        Most bytes a worker may hold.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.run import WorkerPool
    >>> pool = WorkerPool(2)
    >>> pool.n_at_once
    2
    >>> pool.close()
    """

    def __init__(self, n_workers: int, memory_limit: int | None = None) -> None:
        self.n_at_once = n_workers
        self._memory_limit = memory_limit
        self._threads = ThreadPoolExecutor(n_workers)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closing = False

    def submit(self, order: dict[str, Any]) -> Future[dict[str, Any]]:
        """Give an order to a free worker; start a process where there is none."""
        return self._threads.submit(self._compute, order)

    def _compute(self, order: dict[str, Any]) -> dict[str, Any]:
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._memory_limit)
        self._busy.add(worker)
        if self._closing:
            worker.kill()
        answer = worker.ask(order)
        self._busy.discard(worker)
        try:
            outcome: dict[str, Any] = json.loads(answer)
        except ValueError:  # no line, or half of one
            return _all_failed(order, *worker.post_mortem())
        if any(failure.get("out_of_memory") for failure in outcome["failed"].values()):
            worker.end()  # the next one starts with clean memory
        else:
            self._idle.append(worker)
        return outcome

    def close(self) -> None:
        """End all workers."""
        self._closing = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(self._busy):
            worker.kill()  # the thread that waits for its answer does the rest
        self._threads.shutdown()
        for worker in self._idle:
            worker.end()


class _Worker:
    """A process that answers lines of JSON with lines of JSON."""

    def __init__(self, memory_limit: int | None) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the worker ends
        # it finds the same modules as this process
        here = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({memory_limit})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": here},
            text=True,
            encoding="utf-8",
        )

    def ask(self, order: dict[str, Any]) -> str:
        """Return the answer, "" where the process has died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        return self._process.stdout.readline()

    def post_mortem(self) -> tuple[str, str]:
        """Why the process ended, and the last of what it said."""
        try:
            status = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:  # it has closed its output, or answered nonsense, and lives on
            self.kill()
            status = self._process.wait()
        reason = f"the worker process ended with status {status}"
        if status < 0:
            name = signal.Signals(-status).name if -status in {s.value for s in signal.Signals} else str(-status)
            reason = f"the worker process was killed by {name}"
            if name == "SIGKILL":
                reason += " (as the system does when memory runs out)"
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace")[-_LAST_WORDS:]
        self.end()
        return reason, words or reason

    def kill(self) -> None:
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """End the process, whatever it does, and close what belongs to it."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()


class DaskCluster:
    """A Dask cluster that is there already, or one of processes on this machine.

    The machines of a cluster must find the data under the same paths, and run the same version of omnirank.

    Parameters
    ----------
    n_workers : int
        Number of processes, where no scheduler is given.
    scheduler : str, optional
        Address of the scheduler of a cluster, such as ``tcp://head:8786``.
    """

    def __init__(self, n_workers: int = 1, scheduler: str | None = None) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingDependencyError("the backend dask needs a package: pip install omnirank[dask]") from None
        self._cluster: Any = None
        if scheduler is None:
            self._cluster = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
            )
        self._client = Client(scheduler if self._cluster is None else self._cluster)
        self._executor = self._client.get_executor(pure=False)

    @property
    def n_at_once(self) -> int:
        """Number of threads of the cluster; an empty cluster is waited for with one fit."""
        return max(1, sum(self._client.nthreads().values()))

    def submit(self, order: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send an order to the cluster."""
        future: Future[dict[str, Any]] = self._executor.submit(perform, order)
        return future

    def close(self) -> None:
        """Cancel what runs and leave the cluster; one that was made here ends."""
        self._executor.shutdown(wait=False)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


# -- the worker process: takes orders from its input, one at a time, and ends when its parent does ------------------
#
# Orders and outcomes are lines of JSON. A process of its own for each worker, started afresh and not forked, means that
# whatever kills a job (a crash, lack of memory) kills nothing else.


def serve(memory_limit: int | None = None) -> None:
    """Serve orders until the input ends; what a worker process runs.

    Parameters
    ----------
    memory_limit : int, optional
        Most bytes of data that the process may hold.
    """
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    answers = _private_output()
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    if memory_limit is not None:
        _limit_memory(memory_limit)
    warnings.simplefilter("ignore", DataWarning)  # said once for every job: ``omnirank info`` says it once
    while True:
        outcome = perform(json.loads(orders.get()))
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


def _limit_memory(n_bytes: int) -> None:
    """Make allocations beyond a number of bytes fail."""
    resource = _resource()
    # Linux counts what is written here; the address space would also hold libraries and reserved ranges.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard), hard))


def _private_output() -> Any:
    """The stream of answers; what anything else prints goes to the error stream and cannot garble them."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _listen(orders: queue.SimpleQueue[str]) -> None:
    """Pass orders on; the end of the input means that the parent is gone, however it ended: so end at once."""
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)
