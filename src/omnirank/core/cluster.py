"""Work on a Dask cluster: data are sent to the workers once, and again where all that held them are gone."""

from __future__ import annotations

import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from omnirank.core.errors import ClusterError, logger

# Data are lost only when all workers that hold them die at once.
_MOST_LOSSES = 10
# How data are sent, one attempt after the other: straight to a worker, in the end through the scheduler.
_DIRECT = (True, True, True, False)


def cluster_results(
    work: Callable[[Any, Any], list[Any]], function: Callable[..., Any], batches: Sequence[Any], backend: Any
) -> Iterator[list[Any]]:
    """Yield ``work(function, batch)`` for each of the batches, in their order.

    Parameters
    ----------
    work : callable
        A module-level function.
    function : callable
        What may hold all the data. It is sent once, and kept on the workers as long as it lives here. Where it has a
        method ``to_send``, what this returns is sent in its place.
    batches : sequence
        What to work on.
    backend : DaskDistributedBackend
        The backend of ``joblib.parallel_config(backend="dask")``.

    Notes
    -----
    When a worker dies, the scheduler gives its tasks to others. The scheduler cannot restore data that all of their
    holders took with them: they are sent again from here, and what is not done yet is begun again.
    """
    client, n_losses, direct = backend.client, 0, True
    futures: dict[int, Any] = {}
    with backend.retrieval_context():  # a worker that waits for others makes room for them
        for i in range(len(batches)):
            while True:
                try:
                    if not futures:
                        futures, direct = _submitted(client, work, function, batches, i)
                    results = client.gather(futures[i], direct=direct)
                    break
                except CancelledError as error:
                    n_losses += 1
                    if n_losses > _MOST_LOSSES or client.status != "running":
                        raise ClusterError(f"the cluster lost the data again and again: {error}") from error
                    logger.warning("the workers that held the data are gone: the data are sent again")
                    _sent.pop((id(client), id(function)), None)
                    futures = {}
                except Exception as error:
                    if type(error).__name__ != "KilledWorker":
                        raise
                    advice = "workers of the cluster died again and again at the same work, for lack of memory perhaps"
                    raise ClusterError(f"{advice}: {error}") from error
            del futures[i]  # the cluster forgets what nobody refers to
            yield results


def _submitted(
    client: Any, work: Any, function: Any, batches: Sequence[Any], first: int
) -> tuple[dict[int, Any], bool]:
    """Give the batches from one on to the cluster: all in one graph, so that they are begun in their order."""
    name = getattr(function, "__name__", type(function).__name__).strip("_")
    group, numbers = f"{name}-{uuid.uuid4().hex}", range(first, len(batches))
    keys = [(group, i) for i in numbers]
    there, direct = _there(client, function)
    futures = client.map(work, [there] * len(numbers), batches[first:], key=keys, pure=False)
    return dict(zip(numbers, futures, strict=True)), direct


# By client and identity of a function: the function on the workers, and whether they are reached from here.
_sent: dict[tuple[int, int], tuple[Any, bool]] = {}


def _there(client: Any, function: Any) -> tuple[Any, bool]:
    """A function on the workers, sent when it is asked for first, and whether straight from here."""
    place = id(client), id(function)
    if place in _sent:
        return _sent[place]
    # what workers can make themselves from the rest need not travel
    thing = function.to_send() if hasattr(function, "to_send") else function
    for direct in _DIRECT:
        try:
            [future] = client.scatter([thing], direct=direct, hash=False)
        except (OSError, TimeoutError, KeyError) as error:  # a worker that has just left, or another network
            logger.warning("the workers cannot be reached (%s: %s)", type(error).__name__, error)
            time.sleep(1)  # the scheduler takes some time to notice who is gone
            continue
        with suppress(TypeError):  # of what has no weak references it is not known when it ends
            for owner in (function, client):
                weakref.finalize(owner, _sent.pop, place, None).atexit = False
            _sent[place] = future, direct
        return future, direct
    raise ClusterError("the workers of the cluster cannot be reached, neither from here nor from the scheduler")
