"""What a new process waits for, and what the machine could do at most."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks import Bar, Contestant, arithmetic_peak, benchmark, compare, figure, memory_bandwidth


def in_new_process(statement: str) -> None:
    """Run a statement in a fresh interpreter."""
    subprocess.run([sys.executable, "-c", statement], check=True)


def importing(name: str, module: str) -> Contestant:
    """Return the contestant that imports a module."""
    return Contestant(name, partial(str, f"import {module}"), in_new_process)


@benchmark("import")
def import_time(quick: bool) -> list:
    """Importing omnirank after scikit-learn, beside scikit-learn alone."""
    contestants = [importing("with omnirank", "sklearn.base, omnirank"), importing("without", "sklearn.base")]
    result = compare("import", contestants, repetitions=3 if quick else 9, memory=False)
    ours, theirs = (timing.median for timing in result.timings)
    return [result, figure("omnirank beyond scikit-learn", ours - theirs, "s", bar=Bar(at_most=0.3))]


@benchmark
def machine(quick: bool) -> list:
    """What compiled loops reach on this machine: the ground for shares of its peak."""
    size, rounds = (4, 200) if quick else (256, 20_000)
    return [
        figure("memory bandwidth, one core", memory_bandwidth(1, mebibytes=size) / 1e9, "GB/s"),
        figure("memory bandwidth, all cores", memory_bandwidth(mebibytes=size) / 1e9, "GB/s"),
        figure(
            "float64 multiply-add, one core", arithmetic_peak("float64", 1, rounds=rounds) / 1e9, "Gflop/s"
        ),
        figure(
            "float32 multiply-add, one core", arithmetic_peak("float32", 1, rounds=rounds) / 1e9, "Gflop/s"
        ),
        figure("float32 multiply-add, all cores", arithmetic_peak("float32", rounds=rounds) / 1e9, "Gflop/s"),
    ]
