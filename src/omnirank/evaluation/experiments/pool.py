"""Worker processes that outlive each other: a worker that dies costs its job, nothing else."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

# One thread each, as a worker is one of several; and sums do not depend on the number of threads.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_PATIENCE_S = 10.0
_LAST_WORDS = 4000  # characters of a dead worker's error stream that are kept


class Backend(Protocol):
    """Where claims are computed."""

    def has_room(self) -> bool:
        """Whether a further claim would start at once."""

    def start(self, claim: dict[str, Any]) -> None:
        """Start a claim."""

    def finished(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the outcome of a claim, or None where none arrives in time."""

    def close(self) -> None:
        """Stop all that runs."""


def failed_claim(claim: dict[str, Any], error: str, traceback: str, **facts: Any) -> dict[str, Any]:
    """Return the outcome of a claim of which all jobs failed for one reason."""
    failure = {"error": error, "traceback": traceback, **facts}
    return {"fit": claim["fit"], "done": {}, "failed": dict.fromkeys(claim["specs"], failure)}


class WorkerPool:
    """A number of worker processes on this machine.

    Parameters
    ----------
    n_workers : int
        How many.
    memory_limit : int, optional
        Most bytes a worker may hold.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.pool import WorkerPool
    >>> pool = WorkerPool(2)
    >>> pool.has_room(), pool.finished(timeout_s=0.0)
    (True, None)
    >>> pool.close()
    """

    def __init__(self, n_workers: int, memory_limit: int | None = None) -> None:
        self._n_workers = n_workers
        self._memory_limit = memory_limit
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._events: queue.SimpleQueue[tuple[_Worker, str]] = queue.SimpleQueue()

    def has_room(self) -> bool:
        """Whether a worker is free."""
        return len(self._busy) < self._n_workers

    def start(self, claim: dict[str, Any]) -> None:
        """Give a claim to a free worker; start a process where there is none."""
        worker = self._idle.pop() if self._idle else _Worker(self._events, self._memory_limit)
        self._busy.append(worker)
        worker.send(claim)

    def finished(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the outcome of a claim, or None where none arrives in time."""
        try:
            worker, line = self._events.get(timeout=timeout_s) if timeout_s > 0 else self._events.get_nowait()
        except queue.Empty:
            return None
        if worker in self._idle:  # ended while it had nothing to do
            self._idle.remove(worker)
            worker.end()
            return None
        if worker not in self._busy:
            return None
        self._busy.remove(worker)
        claim = worker.claim
        try:
            outcome = json.loads(line)
        except ValueError:  # no line, or half of one
            return failed_claim(claim, *worker.post_mortem())
        if any(failure.get("out_of_memory") for failure in outcome["failed"].values()):
            worker.end()  # the next one starts with clean memory
        else:
            self._idle.append(worker)
        return outcome

    def close(self) -> None:
        """End all workers."""
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle, self._busy = [], []


class _Worker:
    """One process, and a thread that hears its answers."""

    def __init__(self, events: queue.SimpleQueue[tuple[_Worker, str]], memory_limit: int | None) -> None:
        self.claim: dict[str, Any] = {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the worker ends
        limit = [] if memory_limit is None else [str(memory_limit)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "omnirank.evaluation.experiments.worker", *limit],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=_environment(),
            text=True,
            encoding="utf-8",
        )
        self._listener = threading.Thread(target=self._listen, args=(events,), daemon=True)
        self._listener.start()

    def send(self, claim: dict[str, Any]) -> None:
        self.claim = claim
        assert self._process.stdin is not None
        with suppress(OSError):  # it has died meanwhile: the listener reports it
            self._process.stdin.write(json.dumps(claim) + "\n")
            self._process.stdin.flush()

    def _listen(self, events: queue.SimpleQueue[tuple[_Worker, str]]) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):  # the pipe is closed when the pool ends
            for line in self._process.stdout:
                events.put((self, line))
        events.put((self, ""))

    def post_mortem(self) -> tuple[str, str]:
        """Why the process ended, and the last of what it said."""
        try:
            status = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:  # it has closed its output, or answered nonsense, and lives on
            self._process.kill()
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

    def end(self) -> None:
        """End the process, whatever it does, and close what belongs to it."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            if pipe is self._process.stdout:
                self._listener.join()
            with suppress(OSError):
                pipe.close()
        self._errors.close()


def _environment() -> dict[str, str]:
    """The environment of a worker: it finds the same modules as this process."""
    here: Sequence[str] = [path or os.getcwd() for path in sys.path]
    return {**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(here)}
