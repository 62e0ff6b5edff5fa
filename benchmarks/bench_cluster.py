"""Two workers of a Dask cluster against one, each of a single thread: the same ranking of data in memory.

``OMNIRANK_BENCH_TREES`` sets the number of trees (default: 450, some 25 s of one worker).
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import joblib
import numpy as np

import omnirank as om
from benchmarks import Bar, benchmark, figure

REPETITIONS = 3


def make_data(n: int, n_features: int) -> om.Dataset:
    """Return numbers of which ten are relevant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    k = min(10, n_features)
    return om.Dataset(X, X[:, :k] @ np.linspace(1, 0.1, k) + rng.normal(size=n))


@contextmanager
def client_of(n_workers: int) -> Iterator[Any]:
    """Have a cluster of processes on this machine."""
    from distributed import Client, LocalCluster

    options = {"dashboard_address": ":0", "worker_dashboard_address": None, "host": "127.0.0.1"}
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def ranked(client: Any, data: om.Dataset, n_trees: int) -> tuple[float, om.Ranking]:
    """Return how long a ranking took, and the ranking."""
    start = time.perf_counter()
    with joblib.parallel_config(backend="dask", client=client):
        ranking = om.EnsembleRanker(n_trees=n_trees, random_state=0).fit(data).ranking_
    return time.perf_counter() - start, ranking


def _warmed_up(n_examples: int, n_features: int) -> None:
    """Have a worker import the package and load its kernels."""
    om.EnsembleRanker(n_trees=1, random_state=0, n_jobs=1).fit(make_data(n_examples, n_features))


@benchmark("cluster")
def cluster(quick: bool) -> list:
    """Two single-threaded Dask workers against one, on work of 20 s or more: at least 1.7 times."""
    if importlib.util.find_spec("distributed") is None:
        print("left out: distributed is not installed")
        return []
    data = make_data(*((500, 5) if quick else (50_000, 50)))
    n_trees = 8 if quick else int(os.environ.get("OMNIRANK_BENCH_TREES", "450"))
    seconds: dict[int, list[float]] = {1: [], 2: []}
    rankings = []
    for _ in range(1 if quick else REPETITIONS):
        for n in seconds:
            with client_of(n) as client:  # one at a time: an idle one takes some percent of a core
                client.run(_warmed_up, data.n_examples, data.n_features)  # a few trees might go to one of them only
                ranked(client, data, 4)
                took, ranking = ranked(client, data, n_trees)
            seconds[n].append(took)
            rankings.append(ranking)
    alone = om.EnsembleRanker(n_trees=n_trees, random_state=0, n_jobs=-1).fit(data).ranking_
    if any(ranking != alone for ranking in rankings):
        raise AssertionError("the cluster computed other bits")
    one, two = (statistics.median(found) for found in seconds.values())
    return [
        figure("one worker", one, "s", bar=Bar(at_least=20)),
        figure("two workers", two, "s"),
        figure("one worker / two workers", one / two, bar=Bar(at_least=1.7)),
    ]
