"""Peak memory of a piece of work, in a fresh process, above what holding its data takes.

The high-water mark of resident memory is read from the kernel and, on Linux, reset once the data is
loaded, so that a loader's own peak does not hide the work's. ``getrusage`` alone is not enough there: a
child's ``ru_maxrss`` starts at the resident size of the process that started it, however small the child.
"""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["peak_memory"]

ROOT = Path(__file__).resolve().parent.parent


def peak_memory(
    setup: Callable[[], Any], run: Callable[[Any], Any], *, warm_up: Callable[[], Any] | None = None
) -> int | None:
    """Return the bytes that ``run(setup())`` needs at its peak above those in use after ``setup()``.

    Parameters
    ----------
    setup, run, warm_up : callable
        As in `Contestant`: importable functions, or ``functools.partial`` of such.

    Returns
    -------
    int or None
        None where the platform has no measure of peak memory.
    """
    try:
        work = pickle.dumps((sys.path, pickle.dumps((setup, run, warm_up))))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            "memory is measured in a fresh process: give functions of a module or functools.partial of "
            f"them, not lambdas or nested functions, or say memory=False ({error})"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        child = subprocess.run(
            [sys.executable, "-c", "from benchmarks._memory import child; child()", str(answer)],
            input=work,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if child.returncode != 0:
            raise RuntimeError(f"the memory measurement failed:\n{child.stderr.decode(errors='replace')}")
        value = json.loads(answer.read_text())
        return None if value is None else int(value)


def child() -> None:
    """Measure the work pickled on standard input; what the fresh process runs."""
    Path(sys.argv[1]).write_text(json.dumps(_measure_here(sys.stdin.buffer.read())))


def _measure_here(work: bytes) -> int | None:
    path, functions = pickle.loads(work)
    sys.path[:] = path
    setup, run, warm_up = pickle.loads(functions)
    if warm_up is not None:
        warm_up()
    data = setup()
    gc.collect()
    before = _reset_peak()
    output = run(data)
    peak = peak_bytes()
    del output
    return None if before is None or peak is None else max(0, peak - before)


def _reset_peak() -> int | None:
    """Set the high-water mark to the memory in use now, where that is possible, and return it."""
    if sys.platform == "linux":
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:  # without the right to reset, the mark before the work is the best baseline
            return peak_bytes()
    return peak_bytes()


def peak_bytes() -> int | None:
    """Return the most bytes that this process has had in use since the mark was reset."""
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
