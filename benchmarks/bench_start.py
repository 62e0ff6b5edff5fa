"""What a new process waits for, and what the machine could do at most."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks import Bar, Contestant, Figure, arithmetic_peak, benchmark, compare, figure, memory_bandwidth
from benchmarks._measure import Timing, half_range


def in_new_process(statement: str) -> None:
    """Run a statement in a fresh interpreter."""
    subprocess.run([sys.executable, "-c", statement], check=True)


def executing(name: str, statement: str) -> Contestant:
    """Return the contestant that executes a statement in a fresh interpreter."""
    return Contestant(name, partial(str, statement), in_new_process)


@benchmark("import")
def import_time(quick: bool) -> list:
    """Importing omnirank after scikit-learn, beside scikit-learn alone."""
    imports = "import sklearn.base, omnirank"
    contestants = [
        executing("scikit-learn alone", "import sklearn.base"),
        executing("and omnirank", imports),
        executing("and all its names", f"{imports}; [getattr(omnirank, name) for name in omnirank.__all__]"),
    ]
    result = compare("import", contestants, repetitions=3 if quick else 9, memory=False)
    alone, light, full = result.timings
    return [
        result,
        _difference("omnirank beyond scikit-learn", light, alone, Bar(at_most=0.3)),
        _difference("all public names beyond scikit-learn", full, alone, None),
    ]


def _difference(name: str, timing: Timing, base: Timing, bar: Bar | None) -> Figure:
    pairs = [a - b for a, b in zip(timing.seconds, base.seconds, strict=True)]
    return figure(name, timing.median - base.median, "s", bar=bar, spread=half_range(pairs))


@benchmark
def machine(quick: bool) -> list:
    """What compiled loops reach on this machine: the ground for shares of its peak."""
    size, rounds = (4, 200) if quick else (256, 20_000)
    return [
        figure("memory bandwidth, one core", memory_bandwidth(1, mebibytes=size) / 1e9, "GB/s"),
        figure("memory bandwidth, all cores", memory_bandwidth(mebibytes=size) / 1e9, "GB/s"),
        figure("float64 multiply-add, one core", arithmetic_peak("float64", 1, rounds=rounds) / 1e9, "Gflop/s"),
        figure("float32 multiply-add, one core", arithmetic_peak("float32", 1, rounds=rounds) / 1e9, "Gflop/s"),
        figure("float32 multiply-add, all cores", arithmetic_peak("float32", rounds=rounds) / 1e9, "Gflop/s"),
    ]
