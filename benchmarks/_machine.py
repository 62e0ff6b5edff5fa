"""Facts about the machine that give figures their meaning: what it is, and the most it can do."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["arithmetic_peak", "machine_facts", "memory_bandwidth"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "omnirank")


def machine_facts() -> dict[str, Any]:
    """Return processor, cores, memory and versions; nothing that names the machine or a place on it."""
    facts: dict[str, Any] = {
        "cpu": _cpu_model(),
        "cores": _cores(),
        "memory_gib": _memory_gib(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = None
    return facts


@lru_cache
def memory_bandwidth(threads: int | None = None, *, mebibytes: int = 256) -> float:
    """Measure the bytes a second that a stream triad moves to and from main memory.

    Parameters
    ----------
    threads : int, optional
        By default all cores.
    mebibytes : int
        Size of each of the three arrays, over all threads; several times the last-level cache.
    """
    from benchmarks._kernels import triad

    threads = threads or _cores()
    n = mebibytes * 2**20 // 8 // threads
    arrays = [tuple(np.full(n, value) for value in (0.0, 1.0, 2.0)) for _ in range(threads)]
    seconds = _best_seconds(lambda i: triad(*arrays[i], 3.0), threads)
    return 3 * 8 * n * threads / seconds


@lru_cache
def arithmetic_peak(dtype: str = "float64", threads: int | None = None, *, rounds: int = 20_000) -> float:
    """Measure the floating-point operations a second of compiled multiply-add loops.

    Parameters
    ----------
    dtype : {"float64", "float32"}
        Precision; float32 does twice the work in a vector.
    threads : int, optional
        By default all cores.
    rounds : int
        Passes over a small array; the default takes about a tenth of a second.
    """
    from benchmarks._kernels import FLOPS_PER_ELEMENT, multiply_add

    threads = threads or _cores()
    kind = np.dtype(dtype).type
    arrays = [np.ones(1024, kind) for _ in range(threads)]
    # A factor of a tenth keeps the chains near a fixed point: no overflow, no denormal numbers.
    factor, offset = kind(0.1), kind(0.5)
    seconds = _best_seconds(lambda i: multiply_add(arrays[i], factor, offset, rounds), threads)
    return FLOPS_PER_ELEMENT * 1024 * rounds * threads / seconds


def _best_seconds(work: Callable[[int], Any], threads: int, repetitions: int = 5) -> float:
    """Shortest wall time of the work done by all threads at once: a peak is the best case, not a median."""
    times = []
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))  # compiles, touches the pages, starts the threads
        for _ in range(repetitions):
            start = time.perf_counter()
            list(pool.map(work, range(threads)))
            times.append(time.perf_counter() - start)
    return min(times)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _memory_gib() -> float | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return round(size / 2**30, 1)
