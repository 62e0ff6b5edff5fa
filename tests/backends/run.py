"""Run cases under one of joblib's backends and print their digests as JSON.

    export PYTHONPATH=tests MALLOC_PERTURB_=165
    python -m backends.run loky            # all cases
    python -m backends.run loky quick      # those that the suite runs
    python -m backends.run dask half       # about every second of them, which the suite runs where workers are slow
    python -m backends.run loky "relief,"  # those whose name holds a text

The first line says whether other processes did the work. Each line after it is a case: its name, its digest (or the
error), how often its work was spread over several workers, and the time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import joblib

from backends import cases
from backends.digests import digest
from omnirank.core import parallel

N_WORKERS = 2


@contextmanager
def workers(backend: str) -> Iterator[None]:
    """Have the work of all estimators done by two workers of a backend, or by none."""
    with ExitStack() as stack:
        if backend == "dask":
            from distributed import Client, LocalCluster

            options = {"dashboard_address": ":0", "worker_dashboard_address": None, "host": "127.0.0.1"}
            cluster = LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, processes=True, **options)
            stack.enter_context(cluster)
            stack.enter_context(Client(cluster))
        if backend != "serial":
            stack.enter_context(joblib.parallel_config(backend=backend, n_jobs=N_WORKERS))
        yield


def chosen(what: str) -> dict[str, Any]:
    """Return the cases that are asked for."""
    every = cases.cases()
    quick = cases.quick(list(every))
    parts = {"quick": quick, "half": cases.half(quick)}
    names = parts.get(what, [name for name in every if what in name])
    return {name: every[name] for name in names}


def main(backend: str, what: str = "") -> None:
    """Print one line of JSON for each case."""
    n_spread = 0
    several = parallel._several

    def counted(*arguments: Any) -> Any:
        nonlocal n_spread
        n_spread += 1
        return several(*arguments)

    parallel._several = counted
    with workers(backend):
        where = parallel.run_parallel(_process, range(8))
        print(json.dumps({"elsewhere": os.getpid() not in where}), flush=True)
        for name, case in chosen(what).items():
            n_spread, start = 0, time.perf_counter()
            try:
                found = digest(case())
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            seconds = round(time.perf_counter() - start, 2)
            line = {"case": name, "digest": found, "n_spread": n_spread, "seconds": seconds}
            print(json.dumps(line), flush=True)


def _process(_: int) -> int:
    return os.getpid()


if __name__ == "__main__":
    main(*sys.argv[1:])
