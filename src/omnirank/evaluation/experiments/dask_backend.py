"""Claims computed on a Dask cluster."""

from __future__ import annotations

import queue
import traceback
from typing import Any

from omnirank.core.errors import MissingDependencyError
from omnirank.evaluation.experiments.pool import failed_claim
from omnirank.evaluation.experiments.work import perform


class DaskBackend:
    """A Dask cluster that is there already, or one of processes on this machine.

    The machines of a cluster must find the data under the same paths, and run the same version of omnirank.

    Parameters
    ----------
    n_workers : int
        Number of processes, where none is there.
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
        self._running: dict[str, dict[str, Any]] = {}
        self._futures: dict[str, Any] = {}
        self._finished: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def has_room(self) -> bool:
        """Whether a thread of the cluster is free; an empty cluster is waited for with one claim."""
        threads = sum(self._client.nthreads().values())
        return len(self._running) < max(1, threads)

    def start(self, claim: dict[str, Any]) -> None:
        """Submit a claim."""
        future = self._client.submit(perform, claim, pure=False, key=f"omnirank-{claim['fit']}")
        self._running[claim["fit"]] = claim
        self._futures[claim["fit"]] = future
        future.add_done_callback(lambda done: self._finished.put((claim["fit"], done)))

    def finished(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the outcome of a claim, or None where none arrives in time."""
        try:
            fit, future = self._finished.get(timeout=max(timeout_s, 0.001))
        except queue.Empty:
            return None
        claim = self._running.pop(fit)
        self._futures.pop(fit)
        try:
            return future.result()
        except Exception as error:  # a killed worker, or one that cannot import omnirank
            text = " ".join(f"{type(error).__name__}: {error}".split())
            return failed_claim(claim, text, "".join(traceback.format_exception(error)))

    def close(self) -> None:
        """Cancel what runs and leave the cluster; one that was made here ends."""
        self._client.cancel(list(self._futures.values()), force=True)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
