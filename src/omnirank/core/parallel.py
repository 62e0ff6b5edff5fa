"""The one place where work is spread over workers: threads or what joblib is set to, BLAS on one thread."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from itertools import chain, pairwise, repeat
from typing import Any, TypeVar

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.cluster import cluster_results
from omnirank.core.errors import ParameterError
from omnirank.core.parameters import JOBS, check

Item = TypeVar("Item")
Result = TypeVar("Result")

# Batches of items for each worker process: several, so that none waits long for the slowest.
_BATCHES = 4
# A cluster may grow while it works: then there is something left for the new workers.
_BATCHES_ON_CLUSTER = 32
_show_progress: ContextVar[bool] = ContextVar("omnirank_show_progress", default=False)
# Whether this is a worker of a cluster.
_at_work: ContextVar[bool] = ContextVar("omnirank_at_work", default=False)


def run_parallel(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None = None,
    progress: bool | None = None,
    description: str = "",
) -> list[Result]:
    """Return ``[function(item) for item in items]``, computed by several workers.

    Parameters
    ----------
    function : callable
        Called once per item. It returns all that it computes and changes nothing else: what a worker process writes
        into arrays of the caller is lost. It can be pickled: a module-level function, a ``partial`` of one, or an
        object of a module-level class. To gain from threads it must release the GIL (compiled kernels do).
    items : iterable
        What to work on; give blocks of work (see `blocks`) where a single item takes microseconds.
    n_jobs : int or None
        Number of workers; -1 is all cores, None is 1 unless inside ``joblib.parallel_config``, whose backend
        (threads by default, or processes, or a Dask cluster) is used as it stands.
    progress : bool or None
        Whether to show a progress bar on the standard error stream when the work takes longer than two
        seconds. None is as said by `progress`. Nothing is shown where that stream is not a terminal.
    description : str
        What the progress bar says.

    Returns
    -------
    list
        Results in the order of the items.

    Notes
    -----
    BLAS is held to one thread with any number of workers, one included: with several threads it adds in
    another order, and results must not depend on ``n_jobs`` in any bit.

    Examples
    --------
    >>> from omnirank.core.parallel import run_parallel
    >>> run_parallel(abs, [-3, 2, -1], n_jobs=2)
    [3, 2, 1]
    """
    return list(parallel_results(function, items, n_jobs, progress, description))


def parallel_results(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None = None,
    progress: bool | None = None,
    description: str = "",
) -> Iterator[Result]:
    """Yield the results of `run_parallel` one by one, in the order of the items: nobody has to hold all of them.

    Examples
    --------
    >>> from omnirank.core.parallel import parallel_results
    >>> sum(parallel_results(abs, [-3, 2, -1], n_jobs=2))
    6
    """
    todo = list(items)
    workers = min(worker_count(n_jobs), len(todo))
    shown = _show_progress.get() if progress is None else progress
    with one_blas_thread(), ProgressBar(len(todo), description) if shown else nullcontext() as bar:
        alone = len(todo) <= 1 or (workers <= 1 and not on_cluster(n_jobs))
        for result in map(function, todo) if alone else _several(function, todo, workers):
            yield result
            if bar is not None:
                bar.advance()


def worker_count(n_jobs: int | None = None) -> int:
    """Return the number of workers that ``n_jobs`` stands for (None and -1 as in `run_parallel`).

    Examples
    --------
    >>> from omnirank.core.parallel import worker_count
    >>> worker_count(None), worker_count(3)
    (1, 3)
    """
    from joblib import effective_n_jobs

    check("n_jobs", n_jobs, JOBS)
    return int(effective_n_jobs(None if n_jobs is None else int(n_jobs)))


def _is_cluster(backend: Any) -> bool:
    """Whether a backend of joblib is a Dask cluster; by its name, since Dask may be absent."""
    return type(backend).__name__ == "DaskDistributedBackend"


def on_cluster(n_jobs: int | None = None) -> bool:
    """Return whether work goes to a Dask cluster, even to one of a single worker.

    Examples
    --------
    >>> from omnirank.core.parallel import on_cluster
    >>> on_cluster()
    False
    """
    from joblib.parallel import get_active_backend

    return n_jobs != 1 and _is_cluster(get_active_backend(prefer="threads")[0])


@contextmanager
def on_this_machine() -> Iterator[None]:
    """Have work done by threads of this machine inside the ``with`` block where a cluster would do it.

    For short work on all the data, which would take longer to send than the work takes.

    Examples
    --------
    >>> from omnirank.core.parallel import on_cluster, on_this_machine
    >>> with on_this_machine():
    ...     on_cluster()
    False
    """
    from joblib import parallel_config

    if not on_cluster():
        yield
        return
    with parallel_config(backend="threading", n_jobs=1 if _at_work.get() else -1):  # other tasks have the other cores
        yield


def blocks(n_items: int, n_blocks: int) -> list[range]:
    """Cut ``range(n_items)`` into contiguous blocks whose sizes differ by at most one; none is empty.

    Where results are summed over blocks, their number must not depend on the number of workers.

    Examples
    --------
    >>> from omnirank.core.parallel import blocks
    >>> blocks(7, 3)
    [range(0, 3), range(3, 5), range(5, 7)]
    >>> blocks(2, 8)
    [range(0, 1), range(1, 2)]
    """
    if n_items < 0 or n_blocks < 1:
        raise ParameterError(f"cannot cut {n_items} items into {n_blocks} blocks")
    n_blocks = min(n_blocks, n_items)
    cuts = [(i * n_items + n_blocks - 1) // n_blocks for i in range(n_blocks + 1)] if n_blocks else [0]
    return [range(start, stop) for start, stop in pairwise(cuts)]


@contextmanager
def progress(shown: bool = True) -> Iterator[None]:
    """Show progress bars for all long work inside the ``with`` block, on a terminal.

    Parameters
    ----------
    shown : bool
        Whether to show them.

    Examples
    --------
    >>> from omnirank.core.parallel import progress, run_parallel
    >>> with progress():
    ...     run_parallel(abs, [-1, 1], description="growing trees")
    [1, 1]
    """
    token = _show_progress.set(shown)
    try:
        yield
    finally:
        _show_progress.reset(token)


def counted_steps(n_steps: int, description: str = "") -> Iterator[int]:
    """Yield 0, 1, ... like ``range``, with a progress bar as in `run_parallel`; a loop may leave it early.

    Examples
    --------
    >>> from omnirank.core.parallel import counted_steps
    >>> [step for step in counted_steps(3)]
    [0, 1, 2]
    """
    with ProgressBar(n_steps, description) if _show_progress.get() else nullcontext() as bar:
        for step in range(n_steps):
            yield step
            if bar is not None:
                bar.advance()


def _several(function: Callable[[Item], Result], todo: list[Item], workers: int) -> Iterable[Result]:
    """Results of several workers: of plain threads where joblib would take threads, which cost it milliseconds."""
    from joblib.parallel import ThreadingBackend, get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    if _is_cluster(backend):
        batches = [[todo[i] for i in batch] for batch in shrinking_blocks(len(todo), workers)]
        return chain.from_iterable(cluster_results(_call_on_cluster, function, batches, backend))
    if not isinstance(backend, ThreadingBackend):
        return _joblib_results(function, todo, workers)
    return _thread_results(function, todo, workers, backend.get_nested_backend()[0])


def shrinking_blocks(n_items: int, workers: int) -> list[range]:
    """Cut ``range(n_items)`` into contiguous blocks, of single items in the end: so workers end at about the same time.

    No block is larger than the items left for a worker divided by 4, or than the 32nd part of all (guided
    self-scheduling: Polychronopoulos, Kuck, IEEE Trans. Computers 36, 1987).

    Examples
    --------
    >>> from omnirank.core.parallel import shrinking_blocks
    >>> [len(block) for block in shrinking_blocks(100, 2)]
    [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    largest = -(-n_items // max(_BATCHES * workers, _BATCHES_ON_CLUSTER))
    ranges, start = [], 0
    while start < n_items:
        left = n_items - start
        size = max(1, min(largest, left // (_BATCHES * workers)))
        ranges.append(range(start, start + size))
        start += size
    return ranges


def _thread_results(
    function: Callable[[Item], Result], todo: list[Item], workers: int, nested: Any
) -> Iterator[Result]:
    from joblib import parallel_config

    # as in joblib's own threads: what runs parallel work inside parallel work does not multiply the workers for ever
    with ThreadPoolExecutor(workers, "omnirank", parallel_config, (nested,)) as pool:
        yield from pool.map(_call, repeat(function), todo)


def _joblib_results(function: Callable[[Item], Result], todo: list[Item], workers: int) -> Iterable[Result]:
    """Results by the backend that is configured; a progress bar sees them when all are there."""
    from joblib import Parallel, delayed

    # No backend is named here, so that joblib.parallel_config decides; threads are only a preference. Large arrays
    # reach processes as mapped files, by default read-only: another type, for which Numba would compile kernels anew.
    parallel = Parallel(n_jobs=workers, prefer="threads", mmap_mode="c")
    # the function may hold all the data: it is sent with every batch, not with every item
    batches = [[todo[i] for i in batch] for batch in blocks(len(todo), _BATCHES * workers)]
    return chain.from_iterable(parallel(delayed(_call_batch)(function, batch) for batch in batches))


def _call(function: Callable[[Item], Result], item: Item) -> Result:
    with one_blas_thread():
        return function(item)


def _call_batch(function: Callable[[Item], Result], batch: list[Item]) -> list[Result]:
    with one_blas_thread():
        return [function(item) for item in batch]


def _call_on_cluster(function: Callable[[Item], Result], batch: list[Item]) -> list[Result]:
    from joblib import parallel_config

    token = _at_work.set(True)
    try:
        with parallel_config(backend="dask"):  # work inside of work is spread, too
            return _call_batch(function, batch)
    finally:
        _at_work.reset(token)


_PROGRESS_DELAY_S = 2.0


class ProgressBar:
    """A rich progress bar that appears with the first item that is done after the delay."""

    def __init__(self, total: int, description: str, delay: float = _PROGRESS_DELAY_S) -> None:
        self._total, self._description = total, description
        self._appears = time.monotonic() + delay
        self._done = 0
        self._display: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._display is not None:
            with suppress(OSError):  # a closed terminal must not cost the results
                self._display.stop()

    def advance(self) -> None:
        """Count one more item as done."""
        self._done += 1
        if self._display is None and time.monotonic() >= self._appears:
            self._appear()
        if self._display is not None:
            self._display.update(self._display.task_ids[0], completed=self._done)

    def _appear(self) -> None:
        console = _console()
        if console is None:
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        text = TextColumn("{task.description}", markup=False)
        columns = (text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        display = Progress(*columns, console=console, transient=True)
        display.add_task(self._description, total=self._total, completed=self._done)
        with suppress(OSError):
            display.start()
            self._display = display


def _console() -> Any:
    """Return a rich console on the standard error stream, or None where nobody watches it."""
    # not rich's is_terminal: settings such as FORCE_COLOR make it true for log files
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not terminal and "ipykernel" not in sys.modules:
        return None
    from rich.console import Console

    class Bystander(Console):
        def on_broken_pipe(self) -> None:
            """Do nothing: rich would close the standard output and exit, and all this shows is a bar."""

    console = Bystander(stderr=True)
    return console if terminal or console.is_jupyter else None
