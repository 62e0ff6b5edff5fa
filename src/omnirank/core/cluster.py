"""Work on a Dask cluster: data are sent once, straight to the workers, and what dying workers lose is sent again."""

from __future__ import annotations

import pickle
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from omnirank.core.errors import ClusterError, logger

# Items of this size and more do not travel in the description of a task, which goes through the scheduler.
_LARGE_BYTES = 2**16
# Data are lost only when all workers that hold them die at once.
_MOST_LOSSES = 10
# Attempts to reach the workers from here, before their data go through the scheduler.
_DIRECT_ATTEMPTS = 3
# A cluster without any worker is waited for: so many seconds at least, and it is looked at so often.
_LEAST_PATIENCE = 300.0
_LOOK_EVERY = 5.0


def is_cluster(backend: Any) -> bool:
    """Return whether a backend of joblib is a Dask cluster; by its name, since Dask may be absent."""
    return type(backend).__name__ == "DaskDistributedBackend"


def cluster_results(
    work: Callable[[Any, Any], list[Any]], function: Callable[..., Any], batches: Sequence[Any], backend: Any
) -> Iterator[list[Any]]:
    """Yield ``work(function, batch)`` for each of the batches, in their order.

    Parameters
    ----------
    work : callable
        A module-level function.
    function : callable
        What may hold all the data. It is sent to each worker once, and kept there as long as it lives here. Where it
        has a method ``to_send``, what this returns is sent in its place.
    batches : sequence
        What to work on.
    backend : DaskDistributedBackend
        The backend of ``joblib.parallel_config(backend="dask")``.

    Notes
    -----
    When a worker dies, the scheduler gives its tasks to others. The scheduler cannot restore data that all of their
    holders took with them: they are sent again from here, and what is not done yet is begun again. Where no worker is
    left, others may come: they are waited for as long as joblib waits for the first one (``wait_for_workers_timeout``),
    but for five minutes at least.
    """
    job = _Job(_Workers(backend), work, function, batches)
    with backend.retrieval_context():  # a worker that waits for others makes room for them
        for i in range(len(batches)):
            yield job.result(i)


class _Job:
    """Batches of work on a cluster, of which the results are fetched one by one."""

    def __init__(self, workers: _Workers, work: Callable[..., Any], function: Any, batches: Sequence[Any]) -> None:
        self._workers, self._client = workers, workers.client
        self._work, self._function, self._batches = work, function, batches
        self._n_losses = 0
        self._there, self._direct = _kept_there(workers, function)
        self._futures = self._submitted(range(len(batches)))

    def _submitted(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Give some batches to the cluster: all in one graph, so that they are begun in their order.

        Of tasks that are given one by one, a worker begins the last one first.
        """
        batches = [self._batches[i] for i in numbers]
        batches = [_sent(self._workers, batch)[0] if _is_large(batch) else batch for batch in batches]
        name = getattr(self._function, "__name__", type(self._function).__name__).strip("_")
        group = f"{name}-{uuid.uuid4().hex}"
        keys = [(group, i) for i in numbers]
        futures = self._client.map(self._work, [self._there] * len(batches), batches, key=keys, pure=False)
        return dict(zip(numbers, futures, strict=True))

    def result(self, i: int) -> list[Any]:
        """Wait for one of the batches."""
        while True:
            try:
                self._workers.wait_for(self._futures[i])
                results: list[Any] = self._client.gather(self._futures[i], direct=self._direct)
            except CancelledError as error:
                self._send_again(error)
            except Exception as error:
                if type(error).__name__ != "KilledWorker":
                    raise
                raise ClusterError(
                    f"workers of the cluster died again and again at the same work, for lack of memory perhaps: {error}"
                ) from error
            else:
                del self._futures[i]  # the cluster forgets what nobody refers to
                return results

    def _send_again(self, error: CancelledError) -> None:
        self._n_losses += 1
        if self._n_losses > _MOST_LOSSES or self._client.status != "running":
            raise ClusterError(f"the cluster lost the data again and again: {error}") from error
        logger.warning("the workers that held the data are gone: the data are sent again")
        _kept.pop((id(self._client), id(self._function)), None)
        self._there, self._direct = _kept_there(self._workers, self._function)
        self._futures |= self._submitted([i for i, future in self._futures.items() if future.status != "finished"])


class _Workers:
    """The workers of a cluster, of which there may be none for some time."""

    def __init__(self, backend: Any) -> None:
        self.client = backend.client
        self._patience = max(_LEAST_PATIENCE, float(backend.wait_for_workers_timeout))
        self._none_since: float | None = None

    def wait_for(self, future: Any) -> None:
        """Wait until a task has ended, well or not, while there are workers or some may come."""
        from distributed import wait

        while True:
            try:
                wait(future, timeout=_LOOK_EVERY)
            except TimeoutError:
                self.are_there()
            else:
                return

    def wait_for_one(self) -> None:
        """Wait until there is a worker."""
        if self.are_there():
            return
        _keep_busy(self.client, 1)  # a cluster that grows and shrinks with its tasks does not grow with data
        while not self.are_there():
            with suppress(TimeoutError):
                self.client.wait_for_workers(1, timeout=_LOOK_EVERY)

    def are_there(self) -> bool:
        """Return whether there is a worker; an error where there has been none for too long."""
        now = time.monotonic()
        if self.client.nthreads():
            self._none_since = None
            return True
        if self._none_since is None:
            self._none_since = now
            logger.warning("the cluster has no workers: waiting for some")
        if now - self._none_since >= self._patience:
            raise ClusterError(
                f"the cluster has had no workers for {self._patience:.0f} seconds: start some, and run again; to wait "
                "longer, set wait_for_workers_timeout in joblib.parallel_config"
            )
        return False


# By client and identity of a function: where it is kept, for as long as it lives.
_kept: dict[tuple[int, int], tuple[Any, bool]] = {}


def _kept_there(workers: _Workers, function: Any) -> tuple[Any, bool]:
    """A function on the workers, sent when it is asked for first, and whether they can be reached from here."""
    client = workers.client
    place = id(client), id(function)
    if place in _kept:
        return _kept[place]
    if not _is_large(function):  # a description of the work, which tasks carry themselves
        return function, True
    # what workers can make themselves from the rest need not travel
    sent = _sent(workers, function.to_send() if hasattr(function, "to_send") else function)
    with suppress(TypeError):  # of what has no weak references it is not known when it ends
        for owner in (function, client):
            weakref.finalize(owner, _kept.pop, place, None).atexit = False
        _kept[place] = sent
    return sent


def _sent(workers: _Workers, thing: Any) -> tuple[Any, bool]:
    """A thing on a worker, straight from here, or through the scheduler where workers cannot be reached.

    Other workers fetch it with their first task: to be sent to all at once would mean to wait for those that die.
    """
    for attempt in range(_MOST_LOSSES):
        direct = attempt < _DIRECT_ATTEMPTS
        workers.wait_for_one()
        if attempt:  # a cluster that grows and shrinks with its tasks shrinks while data are sent
            _keep_busy(workers.client, 1 + attempt)
        try:
            [future] = workers.client.scatter([thing], direct=direct, hash=False)
        except (OSError, TimeoutError, KeyError) as error:  # a worker that has just left, or another network
            logger.warning("the workers cannot be reached (%s: %s)", type(error).__name__, error)
            time.sleep(attempt)  # the scheduler takes some time to notice who is gone
        else:
            return future, direct
    raise ClusterError("the workers of the cluster cannot be reached, neither from here nor from the scheduler")


def _keep_busy(client: Any, seconds: float) -> None:
    """Give the cluster a task that nobody waits for, and that is not taken back while it runs."""
    from distributed import fire_and_forget

    fire_and_forget(client.submit(time.sleep, seconds, pure=False))


def _is_large(thing: Any) -> bool:
    """Whether a pickle of a thing is large; nothing is copied to find out."""
    counter = _Counter()
    try:
        pickle.Pickler(counter, protocol=5, buffer_callback=lambda part: counter.write(part.raw())).dump(thing)
    except _LargeError:
        return True
    return False


class _LargeError(Exception):
    """There is no need to count on."""


class _Counter:
    """A file that counts what is written to it, as far as it matters."""

    def __init__(self) -> None:
        self._n_bytes = 0

    def write(self, content: Any) -> int:
        """Count some bytes."""
        n_bytes = memoryview(content).nbytes
        self._n_bytes += n_bytes
        if self._n_bytes >= _LARGE_BYTES:
            raise _LargeError
        return n_bytes
