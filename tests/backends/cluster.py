"""Rankings on Dask clusters that are disturbed; prints what was found as JSON.

PYTHONPATH=tests python -m backends.cluster disturbed 20  # workers killed at random in so many runs, then all at once
PYTHONPATH=tests python -m backends.cluster in_parts      # data in parts
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import joblib
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP

import omnirank as om
from backends.digests import digest
from omnirank.core.parallel import run_parallel

OPTIONS = {"threads_per_worker": 1, "dashboard_address": None, "worker_dashboard_address": None, "host": "127.0.0.1"}
LONGEST_S = 300
# A local cluster gives workers up that are away this long after one of their kind was lost: by default it is 15 s,
# in which a busy machine does not start one.
dask.config.set({"distributed.deploy.lost-worker-timeout": f"{LONGEST_S} s"})


def ranked(n_trees: int = 150) -> str:
    """Return the digest of a ranking that takes two workers about a second."""
    data, _ = om.datasets.make_regression(2000, n_relevant=10, n_irrelevant=40, random_state=0)
    return digest(om.EnsembleRanker(n_trees=n_trees, random_state=0).fit(data).ranking_)


@contextmanager
def cluster(n_workers: int = 2) -> Iterator[tuple[LocalCluster, Client]]:
    """Have two processes do the work."""
    with (
        LocalCluster(n_workers=n_workers, processes=True, **OPTIONS) as made,
        Client(made) as client,
        joblib.parallel_config(backend="dask", client=client, wait_for_workers_timeout=LONGEST_S),
    ):
        yield made, client


def while_killing(
    n_killed: int, after_s: float, client: Client, rng: random.Random, run: Callable[[], str] = ranked
) -> str:
    """Return the digest of a ranking in the middle of which workers are killed."""
    processes = client.run(os.getpid)
    victims = rng.sample(sorted(processes), n_killed)
    killer = threading.Timer(after_s, lambda: [os.kill(processes[victim], signal.SIGKILL) for victim in victims])
    killer.start()
    found = run()
    killer.join()
    restored(client, victims)
    return found


def restored(client: Client, victims: list[str]) -> None:
    """Wait until the cluster has noticed who is dead, and has two workers again."""
    for _ in range(LONGEST_S):
        workers = client.nthreads()
        if len(workers) == 2 and not set(victims) & set(workers):
            return
        time.sleep(1)
    raise TimeoutError(f"the cluster has {len(workers)} workers")


def disturbed(n_kills: str = "3") -> dict[str, Any]:
    """Count what goes through the scheduler, kill a worker at a random time, several times, and then all at once."""
    expected, rng = ranked(), random.Random(0)
    with cluster() as (made, client):
        ranked(10)  # kernels are loaded
        begun = run_parallel(Begins(), range(60), n_jobs=-1)
        start = time.perf_counter()
        found = traffic(made)
        took = time.perf_counter() - start
        runs = [while_killing(1, rng.uniform(0.1, 0.9) * took, client, rng) for _ in range(int(n_kills))]
        all_lost = while_killing(2, took / 2, client, rng)
    return found | {"n_same": runs.count(expected), "same_after_loss": all_lost == expected, "begun": begun}


class Begins:
    """Work that takes some time, and returns when it begins; it holds data that are sent."""

    def __init__(self, seconds: float = 0.01, n_bytes: int = 2**20) -> None:
        self.seconds, self.data = seconds, bytes(n_bytes)

    def __call__(self, _: int) -> float:
        start = time.time()
        time.sleep(self.seconds)
        return start


def in_parts() -> dict[str, Any]:
    """Rank shards that do not fit in memory, also while a worker is killed; scratch is a folder that all can reach."""
    with tempfile.TemporaryDirectory() as folder:
        for i in range(4):
            part, _ = om.datasets.make_regression(20_000, n_relevant=5, n_irrelevant=15, random_state=0)
            rows = part.take(slice(i * 5000, (i + 1) * 5000))
            frame = rows.features.to_frame().assign(y=rows.y)
            frame.to_parquet(f"{folder}/{i}.parquet")
        shards = om.open_shards(f"{folder}/*.parquet", "y", max_memory="4M", scratch=folder)
        expected = ranked_parts(shards)
        with cluster() as (made, client):
            start = time.perf_counter()
            same = ranked_parts(shards) == expected
            took = time.perf_counter() - start
            found = traffic(made, lambda: ranked_parts(shards))
            shutil.rmtree(f"{folder}/.omnirank")
            again = om.open_shards(f"{folder}/*.parquet", "y", max_memory="4M", scratch=folder)
            same = same and again.summary.equals(shards.summary)
            seen = client.run(_opened)
            survived = while_killing(1, took / 2, client, random.Random(0), lambda: ranked_parts(shards)) == expected
        left = sorted(os.listdir(folder))
    return found | {"same": same, "survived": survived, "workers": sum(seen.values()), "left": left}


def ranked_parts(shards: Any) -> str:
    """Return the digest of a ranking by trees on samples."""
    return digest(om.EnsembleRanker(n_trees=60, random_state=0).fit(shards).ranking_)


def _opened() -> bool:
    """Whether this process has grown trees."""
    return "omnirank.ensembles.run" in sys.modules


def traffic(made: LocalCluster, run: Callable[[], Any] = ranked) -> dict[str, Any]:
    """Count the bytes that the scheduler sends and is sent."""
    from omnirank.core import parallel

    n_bytes, sent, writes, results = 0, {}, TCP.write, parallel.cluster_results

    async def counted(self: TCP, *message: Any, **options: Any) -> Any:
        nonlocal n_bytes
        written = await writes(self, *message, **options)
        if made.scheduler.address in (self.local_address, self.peer_address):
            n_bytes += written
        return written

    def noted(work: Callable[..., Any], function: Any, *others: Any) -> Any:
        sent[id(function)] = len(pickle.dumps(function.to_send() if hasattr(function, "to_send") else function))
        return results(work, function, *others)

    TCP.write, parallel.cluster_results = counted, noted
    run()
    TCP.write, parallel.cluster_results = writes, results
    return {"data_bytes": sum(sent.values()), "scheduler_bytes": n_bytes}


if __name__ == "__main__":
    what = {"disturbed": disturbed, "in_parts": in_parts}[sys.argv[1]]
    print(json.dumps(what(*sys.argv[2:])))
