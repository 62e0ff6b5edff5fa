"""Side-by-side speed and quality figures, as ratios from one run; never part of the tests.

A module ``benchmarks/bench_*.py`` declares benchmarks; ``python -m benchmarks`` finds and runs them::

    from functools import partial

    from benchmarks import Bar, Contestant, benchmark, compare, figure


    @benchmark
    def sorting(quick: bool):
        "Sorting random numbers."
        setup = partial(make_numbers, 1_000 if quick else 1_000_000)
        return [
            compare(
                "1e6 numbers",
                [Contestant("numpy", setup, np.sort), Contestant("python", setup, sorted)],
                bar=Bar(at_least=4),
            ),
            figure("numbers a second", 5e6, "1/s"),
        ]

The first contestant is the subject; the ratio of another is the other's median time over the subject's.
A module that has a function ``run()`` or ``run(quick=False)`` returning a dict of figures is a benchmark as
well; without the parameter it is left out of quick runs.
"""

from benchmarks._declare import Benchmark, benchmark
from benchmarks._machine import arithmetic_peak, machine_facts, memory_bandwidth
from benchmarks._measure import Bar, Comparison, Contestant, Figure, compare, figure
from benchmarks._memory import peak_memory

__all__ = [
    "Bar",
    "Benchmark",
    "Comparison",
    "Contestant",
    "Figure",
    "arithmetic_peak",
    "benchmark",
    "compare",
    "figure",
    "machine_facts",
    "memory_bandwidth",
    "peak_memory",
]
