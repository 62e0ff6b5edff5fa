"""How long work takes, without compiling kernels, which happens once per installation."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType


class Stopwatch:
    """Seconds that a block takes, without those in which kernels were compiled.

    Parameters
    ----------
    clock : callable
        Tells the time in seconds.

    Attributes
    ----------
    seconds : float
        What the block took; known when it has ended.

    Examples
    --------
    >>> from omnirank.core.stopwatch import Stopwatch
    >>> times = iter([10.0, 12.5])
    >>> with Stopwatch(lambda: next(times)) as watch:
    ...     pass
    >>> watch.seconds
    2.5
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.seconds = 0.0

    def __enter__(self) -> Stopwatch:
        # importing Numba takes a second, and is no part of the work either
        from numba.core.event import TimingListener, install_listener

        self._compiling = TimingListener()
        self._listening = ExitStack()
        self._listening.enter_context(install_listener("numba:compile", self._compiling))
        self._start = self.clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        took = self.clock() - self._start
        self._listening.close()
        compiled = self._compiling.duration if self._compiling.done else 0.0
        self.seconds = max(0.0, took - compiled)
