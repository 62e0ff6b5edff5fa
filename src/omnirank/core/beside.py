"""Something short computed beside the work that follows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from omnirank.core.parallel import worker_count

Result = TypeVar("Result")


def begun_beside(function: Callable[[], Result], n_jobs: int | None = None) -> Callable[[], Result]:
    """Have something computed beside what follows; returns what waits for the result, and may be called again.

    Only where several workers are asked for, and these are threads: a process that forks should have no other thread,
    and one whose workers are elsewhere has nothing else to do. Otherwise it is computed at once.

    Parameters
    ----------
    function : callable
        Something short that releases the GIL.
    n_jobs : int or None
        Number of workers, as in `run_parallel`.

    Examples
    --------
    >>> from omnirank.core.beside import begun_beside
    >>> found = begun_beside(list, n_jobs=2)
    >>> found()
    []
    """
    from joblib.parallel import ThreadingBackend, get_active_backend

    if worker_count(n_jobs) <= 1 or not isinstance(get_active_backend(prefer="threads")[0], ThreadingBackend):
        result = function()
        return lambda: result
    pool = ThreadPoolExecutor(1, "omnirank")
    found = pool.submit(function)
    pool.shutdown(wait=False)
    return found.result
