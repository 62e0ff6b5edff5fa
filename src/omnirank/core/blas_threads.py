"""BLAS held to one thread: with several it adds in another order, and results must not depend on their number."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, for the whole process and for the calling thread.

    Both, because the number of threads belongs to the process in some builds of BLAS and to the calling
    thread in others (those on OpenMP). In a forked process OpenMP is held to one thread, too. Calls of
    `core.parallel.run_parallel` do so themselves; around many short ones it saves a millisecond each.

    Examples
    --------
    >>> from omnirank.core.blas_threads import one_blas_thread
    >>> from omnirank.core.parallel import run_parallel
    >>> with one_blas_thread():
    ...     run_parallel(abs, [-1])
    [1]
    """
    controller = _blas_holder.enter()
    try:
        # Saves a tenth of a millisecond per item where the libraries have one number for the whole process.
        if not _forked and all(library.threading_layer != "openmp" for library in _blas_libraries(controller)):
            yield
        else:
            # In a forked process OpenMP, which scikit-learn calls, would wait for ever for threads of the parent.
            with controller.limit(limits=1, user_api=None if _forked else "blas"):
                yield
    finally:
        _blas_holder.leave()


def _blas_libraries(controller: Any) -> list[Any]:
    return [library for library in controller.lib_controllers if library.user_api == "blas"]


class _BlasHolder:
    """A thread that holds BLAS of the process to one thread while anyone is inside.

    Callers in several threads that each saved and restored the number would leave it wrong, so it is set
    when the first comes and restored when the last leaves. These may be different threads, but threadpoolctl
    lets only the thread that set a limit restore it: hence a thread of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: Any = None
        self._n_modules = 0
        self._held = threading.Event()
        self._release = threading.Event()
        self._thread = threading.Thread()

    def enter(self) -> Any:
        """Count one caller in; return the controller of the libraries."""
        with self._lock:
            if self._inside == 0:
                self._find_libraries()
                self._held.clear()
                self._release.clear()
                self._thread = threading.Thread(target=self._hold, name="omnirank-blas", daemon=True)
                self._thread.start()
                self._held.wait()
            self._inside += 1
            return self._controller

    def _find_libraries(self) -> None:
        """Look the libraries up, which takes milliseconds, when modules were imported since the last time."""
        from threadpoolctl import ThreadpoolController

        if self._controller is None or self._n_modules != len(sys.modules):
            self._controller = ThreadpoolController()
            self._n_modules = len(sys.modules)

    def leave(self) -> None:
        """Count one caller out."""
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._release.set()
                self._thread.join()

    def _hold(self) -> None:
        try:
            with self._controller.limit(limits=1, user_api="blas"):
                self._held.set()
                self._release.wait()
        finally:
            self._held.set()


_blas_holder = _BlasHolder()
_forked = False


def _after_fork() -> None:
    """Forget who is inside: a forked process has none of the threads, the holding one included."""
    global _blas_holder, _forked
    _blas_holder, _forked = _BlasHolder(), True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
