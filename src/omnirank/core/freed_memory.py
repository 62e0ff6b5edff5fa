"""Freed memory: kept by the C library for what comes next, or given back to the system. glibc only, else nothing."""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import suppress

# Parameters of mallopt(3): above what size an array has pages of its own; how much freed memory may be kept.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_OWN_PAGES = 128 * 2**10  # glibc's, where it does not adapt
_MOST_IN_HEAP, _MOST_KEPT = 2**25, 2**28


def release_freed() -> None:
    """Give memory that was freed back to the system.

    Examples
    --------
    >>> from omnirank.core.freed_memory import release_freed
    >>> release_freed()
    """
    _call("malloc_trim", 0)


class _Kept:
    """Freed memory stays in the process while anyone is inside, where the environment has it given back at once.

    Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_``. Then glibc no longer adapts, and every array of more than
    128 kB is made of pages that the system has to fetch and clear: a seventh of the time of a tree. Afterwards all is
    as the environment says.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside and _given_back() is not None:
                _call("mallopt", _MMAP_THRESHOLD, _MOST_IN_HEAP)
                _call("mallopt", _TRIM_THRESHOLD, _MOST_KEPT)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            threshold = _given_back()
            if not self._inside and threshold is not None:
                _call("mallopt", _MMAP_THRESHOLD, _OWN_PAGES)
                _call("mallopt", _TRIM_THRESHOLD, threshold)


def _given_back() -> int | None:
    """From how many bytes on the environment has freed memory given back; None where it leaves that to glibc."""
    threshold = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    return int(threshold) if threshold.isdecimal() and "MALLOC_MMAP_THRESHOLD_" not in os.environ else None


def _call(function: str, *arguments: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # of other libraries and systems
        getattr(ctypes.CDLL(None), function)(*arguments)


freed_memory_kept = _Kept()
