"""BLAS held to one thread: with several it adds in another order, and results must not depend on their number."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_CHANGED = (
    "BLAS did not stay on one thread, so results may differ in the last bits from those of other runs: let no other "
    "thread change its number of threads (threadpool_limits) meanwhile"
)


@contextmanager
def one_blas_thread(openmp: bool = False) -> Iterator[None]:
    """Hold BLAS to one thread, for the whole process and for the calling thread; warn where that fails.

    Both, because the number of threads belongs to the process in some builds of BLAS and to the calling
    thread in others (those on OpenMP). Calls of `core.parallel.run_parallel` do so themselves; around many short
    ones it saves a millisecond each.

    Parameters
    ----------
    openmp : bool
        Whether to hold OpenMP of the calling thread, which scikit-learn calls, to one thread, too.

    Examples
    --------
    >>> from omnirank.core.blas_threads import one_blas_thread
    >>> from omnirank.core.parallel import run_parallel
    >>> with one_blas_thread():
    ...     run_parallel(abs, [-1])
    [1]
    """
    holder = _blas_holder
    own = holder.enter(openmp or _forked)  # a forked process would wait for ever for OpenMP threads of its parent
    try:
        if len(own):
            with own.limit(limits=1):
                yield
        else:  # saves a tenth of a millisecond per item
            yield
    finally:
        if not holder.leave():
            warnings.warn(_CHANGED, RuntimeWarning, stacklevel=3)


class _BlasHolder:
    """Holds BLAS of the process to one thread while anyone is inside.

    Callers in several threads that each saved and restored the number would leave it wrong, so it is set
    when the first comes and restored when the last leaves. A number that another thread has set meanwhile is not
    overwritten in the end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: Any = None
        self._n_modules = 0
        self._before: dict[str, int] = {}

    def enter(self, openmp: bool) -> Any:
        """Count one caller in; return the controller of the libraries whose numbers belong to threads."""
        with self._lock:
            self._find_libraries()
            for library in self._shared():
                if library.num_threads != 1:
                    self._before[library.filepath] = library.num_threads
                    _set_threads(library, 1)
            self._inside += 1
            more = {"user_api": "openmp"} if openmp else {}
            return self._controller.select(threading_layer="openmp", **more)

    def _find_libraries(self) -> None:
        """Look the libraries up, which takes milliseconds, when modules were imported since the last time."""
        from threadpoolctl import ThreadpoolController

        if self._controller is None or self._n_modules != len(sys.modules):
            self._controller = ThreadpoolController()
            self._n_modules = len(sys.modules)

    def _shared(self) -> list[Any]:
        """The libraries that have one number of threads for the whole process."""
        libraries = self._controller.select(user_api="blas").lib_controllers
        return [library for library in libraries if getattr(library, "threading_layer", "") != "openmp"]

    def leave(self) -> bool:
        """Count one caller out; return whether BLAS is still held."""
        with self._lock:
            self._inside -= 1
            shared = self._shared()
            held = [library for library in shared if library.num_threads == 1]
            if self._inside == 0:
                for library in held:
                    if library.filepath in self._before:
                        _set_threads(library, self._before[library.filepath])
                self._before = {}
            return len(held) == len(shared)


def _set_threads(library: Any, n_threads: int) -> None:
    """Set the number of threads of a BLAS library, whichever thread has set it before.

    Newer versions of threadpoolctl let only one thread change the number of OpenBLAS: the first that does so, until its
    ``with`` block ends. Called from any other thread, their functions silently do nothing.
    """
    for name in _OPENBLAS_NAMES:
        if hasattr(library.dynlib, name):
            getattr(library.dynlib, name)(n_threads)
            return
    library.set_num_threads(n_threads)


_OPENBLAS_NAMES = [
    f"{prefix}openblas_set_num_threads{suffix}" for prefix in ("", "scipy_") for suffix in ("", "64_", "_64")
]

_blas_holder = _BlasHolder()
_forked = False


def _after_fork() -> None:
    """Forget who is inside: a forked process has none of the threads."""
    global _blas_holder, _forked
    _blas_holder, _forked = _BlasHolder(), True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
