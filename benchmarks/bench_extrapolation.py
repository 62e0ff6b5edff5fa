"""Constants of work that is larger than one machine: what ``docs/user_guide/extrapolation.md`` is computed from."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import benchmark, figure
from benchmarks._measure import median_seconds
from benchmarks._memory import peak_memory
from omnirank.shards.dealing import deal_rows
from omnirank.shards.samples import Samples

REPETITIONS = 3
N_PARTS = 4


def make_data(n: int, n_features: int) -> om.Dataset:
    """Return numbers of which ten are relevant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    k = min(10, n_features)
    return om.Dataset(X, X[:, :k] @ np.linspace(1, 0.1, k) + rng.normal(size=n))


def write_parts(folder: Path, n: int, n_features: int) -> None:
    """Write Parquet files of numbers, as wide as those in memory."""
    for i in range(N_PARTS):
        part = make_data(n // N_PARTS, n_features)
        part.features.to_frame().assign(y=part.y).to_parquet(folder / f"{i}.parquet", row_group_size=10_000)


def tree(data: om.Dataset, n_trees: int = 2) -> None:
    """Grow and score trees on one core."""
    om.EnsembleRanker(n_trees=n_trees, random_state=0, n_jobs=1).fit(data)


@benchmark("extrapolation")
def extrapolation(quick: bool) -> list:
    """Constants per cell of reading, dealing out and growing, and bytes per cell: the basis of an extrapolation."""
    n, d = (2000, 20) if quick else (40_000, 250)
    data = make_data(n, d)
    tree(make_data(500, d))
    first = median_seconds(partial(tree, data, 2), 1 if quick else REPETITIONS)
    more = median_seconds(partial(tree, data, 6), 1 if quick else REPETITIONS)
    per_tree = max(more - first, 1e-9) / 4
    cells = n * d
    results = [
        figure("growing and scoring a tree, per cell and level", 1e9 * per_tree / (cells * np.log2(n)), "ns"),
        figure("coding a sample, per cell and level", 1e9 * max(first - 2 * per_tree, 0) / (cells * np.log2(n)), "ns"),
    ]
    taken = peak_memory(partial(make_data, n, d), tree, warm_up=partial(tree, make_data(500, d)))
    if taken is not None:
        results.append(figure("memory of a sample, per cell", taken / cells + 8, "bytes"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "parts"
        for path, rows in ((Path(name) / "few", 400), (folder, n)):
            path.mkdir()
            write_parts(path, rows, d)
        om.open_shards(f"{name}/few/*.parquet", "y")  # what is imported for it does not count
        file_bytes = sum(path.stat().st_size for path in folder.glob("*.parquet"))
        start = time.perf_counter()
        shards = om.open_shards(f"{folder}/*.parquet", "y", max_memory="200M")
        summary = time.perf_counter() - start
        dealing = median_seconds(partial(_deal, shards, folder), 1 if quick else REPETITIONS)
    return [
        *results,
        figure("Parquet, per cell", file_bytes / cells, "bytes"),
        figure("summary pass, per cell", 1e9 * summary / cells, "ns"),
        figure("dealing pass, per cell", 1e9 * dealing / cells, "ns"),
    ]


def _deal(shards: Any, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        deal_rows(shards, Samples(0, 20, 0), [0], Path(name), 1)
