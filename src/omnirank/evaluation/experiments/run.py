"""Running a plan: compute and record what is not done, from wherever an earlier run has stopped."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataError, DataWarning, OmnirankError, ParameterError, setting
from omnirank.core.parallel import worker_count
from omnirank.core.types import PathLike
from omnirank.data.task_registry import is_unsupervised
from omnirank.evaluation.experiments.fit import load_source, missing_files, perform
from omnirank.evaluation.experiments.jobs import jobs_of, study_facts
from omnirank.evaluation.experiments.plan import StudyPlan, read_plan
from omnirank.evaluation.experiments.store import Job, Member, Store

_REPORT_S = 0.5
_PATIENCE_S = 10.0
# One thread each, as a worker is one of several; and sums do not depend on the number of threads.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


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


def run_plan(
    plan: StudyPlan | PathLike | Mapping[str, Any],
    *,
    n_jobs: int = 1,
    store: PathLike | None = None,
    retry_failed: bool = False,
    progress: Callable[[int, int], None] = lambda finished, total: None,
    note: Callable[[str], None] = lambda text: None,
) -> RunSummary:
    """Run the jobs of a plan that are not done.

    A run may be killed at any moment and started again. One run uses a store at a time.

    Parameters
    ----------
    plan : StudyPlan, str, Path or mapping
        The plan, its file, or its content as a dictionary, as in `omnirank.evaluation.experiments.read_plan`; a
        dictionary needs ``store``.
    n_jobs : int
        Number of worker processes; -1: all cores.
    store : str or Path, optional
        The store; by default beside the plan, with the ending ``.sqlite``.
    retry_failed : bool
        Whether jobs that failed before are run again.
    progress, note : callable
        Called with the numbers of finished and of all jobs while the run goes on, and with what there is to say.

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
    if isinstance(plan, Mapping) and store is None:
        place = setting("store", "results.sqlite")
        raise ParameterError(f"a plan that is no file has no place for its results: give {place}")
    plan = plan if isinstance(plan, StudyPlan) else read_plan(plan)
    where = plan.store_path if store is None else Path(store)
    jobs, tasks = _planned(plan, note)  # before an empty store is made
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
            workers = WorkerPool(min(worker_count(n_jobs), len(fits)))
            same = {"modules": list(plan.modules), "keep_rankings": plan.keep_rankings}
            orders = [same | {"specs": specs} for specs in fits.values()]
            n_new = _work(workers, orders, opened, progress, len(states))
        return RunSummary(where, plan.name, opened.counts(plan.name), n_new)


# -- planning -------------------------------------------------------------------------------------


def _planned(plan: StudyPlan, note: Callable[[str], None]) -> tuple[list[tuple[Member, Job]], dict[str, str]]:
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
        if loaded.dataset.target is None and not is_unsupervised(entry.source.get("options", {}).get("task", "auto")):
            note(f"data set {entry.name!r} has no target: its task is {tasks[entry.name]}")
        del loaded  # one data set at a time is in memory
    return jobs, tasks


def _place(plan: StudyPlan, number: int) -> str:
    return f"{plan.path}, [[data]] number {number} ({plan.data[number - 1].name})"


# -- working --------------------------------------------------------------------------------------


def _work(
    workers: WorkerPool, orders: list[dict[str, Any]], store: Store, progress: Callable[[int, int], None], n_jobs: int
) -> int:
    """Compute and record until nothing is left; return how many jobs were finished."""
    n_open, n_new = sum(len(order["specs"]) for order in orders), 0
    waiting = iter(orders)
    running: set[Future[dict[str, Any]]] = set()
    try:
        while True:
            progress(n_jobs - n_open + n_new, n_jobs)
            for order in islice(waiting, max(0, workers.n_at_once - len(running))):
                running.add(workers.submit(order))
            if not running:
                return n_new
            for future in wait(running, _REPORT_S, FIRST_COMPLETED).done:
                running.remove(future)
                outcome = future.result()
                n_new += store.record(outcome["done"], outcome["failed"])
    finally:
        workers.close()


class WorkerPool:
    """Worker processes on this machine; one that dies costs its jobs, nothing else.

    Parameters
    ----------
    n_workers : int
        How many.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.run import WorkerPool
    >>> pool = WorkerPool(2)
    >>> pool.n_at_once
    2
    >>> pool.close()
    """

    def __init__(self, n_workers: int) -> None:
        self.n_at_once = n_workers
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
            worker = _Worker()
        self._busy.add(worker)
        if self._closing:
            worker.kill()
        answer = worker.ask(order)
        self._busy.discard(worker)
        try:
            outcome: dict[str, Any] = json.loads(answer)
        except ValueError:  # no line, or half of one
            reason = worker.why_dead()
            return {"done": {}, "failed": {key: {"error": reason, "traceback": reason} for key in order["specs"]}}
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

    def __init__(self) -> None:
        # it finds the same modules as this process
        here = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
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

    def why_dead(self) -> str:
        """Say why the process has ended; what it said itself is on the error stream."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_S)
        self.end()  # it may have closed its output, or answered nonsense, and live on
        status = self._process.returncode
        reason = f"the worker process ended with status {status}"
        with suppress(ValueError):  # no signal
            name = signal.Signals(-status).name
            memory = " (as the system does when memory runs out)" if name == "SIGKILL" else ""
            reason = f"the worker process was killed by {name}{memory}"
        return reason

    def kill(self) -> None:
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """End the process, whatever it does, and close what belongs to it."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()


# -- the worker process: takes orders from its input, one at a time, and ends when its parent does ------------------
#
# Orders and outcomes are lines of JSON. A process of its own for each worker, started afresh and not forked, means that
# whatever kills a job (a crash, lack of memory) kills nothing else.


def serve() -> None:
    """Serve orders until the input ends; what a worker process runs."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    answers = _private_output()
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    warnings.simplefilter("ignore", DataWarning)  # said once for every job: ``omnirank info`` says it once
    while True:
        outcome = perform(json.loads(orders.get()))
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


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
