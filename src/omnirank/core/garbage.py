"""Stretches of work during which Python collects no cyclic garbage."""

from __future__ import annotations

import gc
import threading


class _Pause:
    """Python's collector of cyclic garbage, off while anyone is inside.

    The compiler and large imports make millions of small objects that stay: looking through them again and again takes
    a sixth of the time. Several threads may be inside, each several times.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._resume = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._resume = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._resume and not self._inside:
                gc.enable()


collection_paused = _Pause()
