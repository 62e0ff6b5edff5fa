"""The first ranking after installation, compilation included, and the first one in later processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks import Bar, Figure, benchmark, figure

# Small data of each kind that kernels of their own serve, as the code that makes them.
NUMERIC = "X = rng.normal(size=(300, 6)); y = X[:, 0] + 0.1 * rng.normal(size=300)"
KINDS = {
    "numeric features": NUMERIC,
    "nominal features": (
        f"{NUMERIC}; X = pandas.DataFrame(X); X['g'] = pandas.Categorical(rng.choice(list('uvwxyz'), 300)); "
        "X.columns = X.columns.astype(str)"
    ),
    "label sets": "X = rng.normal(size=(300, 6)); y = (X[:, :3] > 0.5).astype(int)",
    "sparse features": "X = scipy.sparse.random_array((300, 40), density=0.1, rng=rng); y = rng.normal(size=300)",
    "few labels": f"{NUMERIC}; y[50:] = numpy.nan",
}
# Seconds at most.
BARS = {"nominal features": 7.0, "few labels": 9.0}
FIT = "omnirank.EnsembleRanker(n_trees=12, random_state=0).fit(X, y)"


def seconds(data: str, cache: str, imported: str = "", repetitions: int = 1) -> float:
    """Return the median wall time of new processes that import omnirank and rank; of ``imported`` it is not counted."""
    statement = (
        f"import time{imported}; start = time.perf_counter(); import numpy, pandas, scipy.sparse, omnirank; "
        f"rng = numpy.random.default_rng(0); {data}; {FIT}; print(time.perf_counter() - start)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}

    def once() -> float:
        done = subprocess.run(
            [sys.executable, "-c", statement], check=True, capture_output=True, text=True, env=environment
        )
        return float(done.stdout)

    return statistics.median(once() for _ in range(repetitions))


@benchmark("forest-first-call")
def first_call(quick: bool) -> list[Figure]:
    """A small ranking with nothing compiled yet, imports included: under 5 s (nominal 7, few labels 9)."""
    found = []
    for kind, data in KINDS.items():
        if quick and kind != "numeric features":
            continue
        with tempfile.TemporaryDirectory() as cache:
            bar = Bar(at_most=BARS.get(kind, 5.0))
            found.append(figure(f"first call, {kind}", seconds(data, cache), "s", bar=bar))
            if kind == "numeric features":
                later = seconds(data, cache, ", sklearn.ensemble, pandas", 1 if quick else 5)
                found.append(
                    figure("first ranking of a later process, import included", later, "s", bar=Bar(at_most=1.5))
                )
    return found
