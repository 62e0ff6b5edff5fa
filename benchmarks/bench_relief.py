"""The Relief family beside fast-select and scikit-rebate, on large data, and how its cost grows.

The peers are no dependencies: ``pip install --no-deps --target FOLDER skrebate fast-select``, and FOLDER in
PYTHONPATH. Those that are not found are skipped with a message.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import omnirank as om
from benchmarks import Bar, Contestant, Figure, benchmark, compare, figure
from benchmarks._measure import median_seconds
from benchmarks.public_data import public_data

SHARED = public_data()
WORKERS = 2
N_RELEVANT = 3


def make_data(n: int, n_features: int, classes: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features and a target of the first three, two of them in an interaction."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return X, (y > 0).astype(int) if classes else y


def rank(data: Any, **parameters: Any) -> Any:
    """Fit a ReliefRanker with two workers."""
    data = data if isinstance(data, tuple) else (data,)
    return om.ReliefRanker(**{"random_state": 0, "n_jobs": WORKERS} | parameters).fit(*data)


def fast_select(data: tuple[Any, Any], n_neighbors: int) -> Any:
    """Fit fast-select's ReliefF."""
    from fast_select import ReliefF

    return ReliefF(n_neighbors=n_neighbors, n_features_to_select=N_RELEVANT).fit(*data)


def skrebate(data: tuple[Any, Any], n_neighbors: int) -> Any:
    """Fit scikit-rebate's ReliefF (RReliefF for numbers)."""
    from skrebate import ReliefF

    return ReliefF(n_neighbors=n_neighbors, n_features_to_select=N_RELEVANT, n_jobs=WORKERS).fit(*data)


def share_found(fitted: Any) -> dict[str, float]:
    """Return the share of the relevant features among the best three."""
    best = np.argsort(-np.asarray(fitted.feature_importances_))[:N_RELEVANT]
    return {"relevant features in the top three": float(np.mean(best < N_RELEVANT))}


@benchmark("relief-classification")
def classification(quick: bool) -> list:
    """ReliefF, 2000 x 200, two classes, k = 10: at least twice as fast as fast-select, warm."""
    setup = partial(make_data, 200 if quick else 2000, 200, True)
    contestants = [
        Contestant("omnirank", setup, partial(rank, algorithm="relieff", n_neighbors=10), share_found),
        Contestant("fast-select", setup, partial(fast_select, n_neighbors=10), share_found, ("fast_select",)),
    ]
    bar = Bar(at_least=2, against="fast-select")
    return [compare("relief-classification", contestants, repetitions=3 if quick else 15, bar=bar, memory=not quick)]


@benchmark("relief-first-call")
def first_call(quick: bool) -> list[Figure]:
    """The first ReliefF in a new process, 2000 x 200, imports of omnirank and scikit-learn not counted."""
    statement = (
        "import time, sklearn.feature_selection, pandas, omnirank; from benchmarks.bench_relief import *; "
        f"data = make_data({200 if quick else 2000}, 200, True); start = time.perf_counter(); "
        "rank(data, algorithm='relieff', n_neighbors=10); print(time.perf_counter() - start)"
    )

    def seconds() -> float:
        done = subprocess.run([sys.executable, "-c", statement], check=True, capture_output=True, text=True)
        return float(done.stdout)

    seconds()  # compiles what is not yet kept
    value = statistics.median(seconds() for _ in range(1 if quick else 5))
    return [figure("first ReliefF in a process", value, "s", bar=Bar(at_most=1.5))]


@benchmark("relief-regression")
def regression(quick: bool) -> list:
    """RReliefF, 2000 x 200 and 5000 x 100, all examples, k = 10: 40 times as fast as scikit-rebate."""
    results = []
    for n, n_features in ((2000, 200), (5000, 100)):
        setup = partial(make_data, 200 if quick else n, n_features)
        contestants = [
            Contestant("omnirank", setup, partial(rank, n_neighbors=10), share_found),
            Contestant("scikit-rebate", setup, partial(skrebate, n_neighbors=10), share_found, ("skrebate",)),
        ]
        bar = Bar(at_least=40, against="scikit-rebate")
        name = f"relief-regression-{n}"
        results.append(compare(name, contestants, repetitions=3, bar=bar, memory=not quick))
    return results


def load_scene() -> Any:
    """Return the training part of scene."""
    folder = SHARED / "mlc" / "scene"
    return om.load(folder / "scene-train.arff.gz", labels=folder / "scene.xml")


def load_gene_ontology() -> Any:
    """Return the training part of cellcycle_GO."""
    return om.load(SHARED / "hmlc" / "cellcycle_GO" / "cellcycle_GO.train.arff.gz")


@benchmark("relief-labels")
def labels(quick: bool) -> list:
    """MLC (scene) under 3 s and HMLC (cellcycle_GO, 4125 classes) under 5 s, all examples."""
    if not SHARED.is_dir():
        return []
    results: list = []
    share = {"n_iterations": 0.1 if quick else 1.0}
    for name, setup, limit in (("scene", load_scene, 3.0), ("cellcycle_GO", load_gene_ontology, 5.0)):
        contestants = [Contestant("omnirank", setup, partial(rank, **share))]
        if name == "scene":
            contestants.append(Contestant("omnirank by label", setup, partial(rank, per_target=True, **share)))
        result = compare(f"relief-{name}", contestants, repetitions=3 if quick else 5, memory=not quick)
        results += [result, figure(f"{name}, wall time", result.timings[0].median, "s", bar=Bar(at_most=limit))]
    return results


@benchmark("relief-large")
def large(quick: bool) -> list:
    """50,000 x 100, k = 15, all examples: under 15 s."""
    setup = partial(make_data, 500 if quick else 50_000, 100)
    contestants = [Contestant("omnirank", setup, rank, share_found)]
    result = compare("relief-large", contestants, repetitions=3, memory=not quick)
    return [result, figure("50,000 x 100, wall time", result.timings[0].median, "s", bar=Bar(at_most=15.0))]


@benchmark("relief-growth")
def growth(quick: bool) -> list[Figure]:
    """The power of the features, iterations, neighbours and examples with which the time grows, over three doublings.

    All begin at 4000 x 200 (examples: 4000 x 50), 500 iterations and 25 neighbours; where examples grow and all are
    visited, the search is quadratic.
    """
    n, repetitions = (160, 1) if quick else (4000, 5)
    factors = (1, 2, 4, 8)

    def seconds(n: int, n_features: int, n_neighbors: int = 25, n_iterations: int = n // 8) -> float:
        few = {"n_neighbors": n_neighbors, "n_iterations": n_iterations}
        return median_seconds(partial(rank, make_data(n, n_features), **few), repetitions)

    cases = {
        "features": (1.1, [seconds(n, 200 * factor) for factor in factors]),
        "iterations": (1.1, [seconds(n, 200, n_iterations=n // 8 * factor) for factor in factors]),
        "neighbours": (1.1, [seconds(n, 200, n_neighbors=n // 160 * factor) for factor in factors]),
        "examples, 500 iterations": (1.1, [seconds(n * factor, 50) for factor in factors]),
        "examples, all visited": (2.1, [seconds(n * f // 4, 50, n_iterations=n * f // 4) for f in factors]),
    }
    return [
        figure(f"power of the {name}", _power(factors, times), bar=Bar(at_most=limit))
        for name, (limit, times) in cases.items()
    ]


def _power(factors: tuple[int, ...], seconds: list[float]) -> float:
    """Slope of the logarithm of the time over that of the factor."""
    return float(np.polyfit(np.log(factors), np.log(seconds), 1)[0])


def load_bibtex() -> Any:
    """Return bibtex: 7395 examples, 1836 sparse features, 159 labels."""
    folder = SHARED / "mlc" / "bibtex"
    return om.load(folder / "bibtex.arff.gz", labels=folder / "bibtex.xml")


def make_wide(n_features: int) -> Any:
    """Return 2000 examples with one cell in a thousand stored."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, n_features), density=0.001, rng=rng)
    return om.Dataset(X.tocsc(), rng.normal(size=2000))


@benchmark("relief-sparse")
def wide_and_sparse(quick: bool) -> list:
    """Sparse data, all examples: bibtex, and 2000 x 100,000 with one cell in a thousand; at most 1 GB more."""
    cases: list[tuple[str, Any]] = [("wide", partial(make_wide, 5000 if quick else 100_000))]
    if SHARED.is_dir() and not quick:
        cases.append(("bibtex", load_bibtex))
    results: list = []
    for name, setup in cases:
        result = compare(f"relief-{name}", [Contestant("omnirank", setup, rank)], repetitions=3, memory=not quick)
        results.append(result)
        peak = result.timings[0].peak_memory_bytes
        if peak is not None:
            results.append(figure(f"{name}, memory above the data", peak / 1e9, "GB", bar=Bar(at_most=1.0)))
    return results
