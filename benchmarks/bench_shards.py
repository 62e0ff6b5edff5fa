"""Data that do not fit in memory: trees of random samples of the rows; and the cost of parts where they fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import ndtri

import omnirank as om
from benchmarks import Bar, Contestant, benchmark, compare, figure
from benchmarks._memory import ROOT, peak_bytes

# A smaller number of rows shows whether the benchmark runs; seconds and the bar are those of the whole.
VARIABLE = "OMNIRANK_SHARD_ROWS"
ROWS, N_FEATURES, N_TRUE, N_TREES = 20_000_000, 50, 10, 100
MEMORY = 2 * 2**30
QUICK_ROWS, QUICK_TREES = 20_000, 4
# Fewer rows get less memory, so that there are as many samples; but no less than this.
LEAST_MEMORY = 10 * 2**20
PER_FILE, PER_GROUP = 1_000_000, 250_000


def make_files(folder: Path, n_rows: int, per_file: int = PER_FILE) -> None:
    """Write files sorted by the target, over all files: a block of rows is made at a time.

    The target has the quantiles of a normal distribution in ascending order. The first features are a multiple of it,
    less for each of them, and noise; all others are noise.
    """
    strength = np.linspace(1.0, 0.4, N_TRUE)
    for number, start in enumerate(range(0, n_rows, per_file)):
        rng = np.random.default_rng([0, number])
        stop = min(n_rows, start + per_file)
        names = [f"x{j + 1}" for j in range(N_FEATURES)] + ["y"]
        schema = pa.schema([(name, pa.float64()) for name in names])
        with pq.ParquetWriter(folder / f"{number:05}.parquet", schema, use_dictionary=False) as writer:
            for first in range(start, stop, PER_GROUP):
                y = ndtri((np.arange(first, min(stop, first + PER_GROUP)) + 0.5) / n_rows)
                cells = rng.normal(size=(N_FEATURES, len(y)))
                cells[:N_TRUE] += strength[:, None] * y
                writer.write_table(pa.table([*cells, y], names=names))


def child() -> None:
    """Rank the files of a folder, and write what it took: what the fresh process runs."""
    folder, answer, memory, n_trees = sys.argv[1:5]
    reads: dict[Any, int] = {}
    _count_reads(reads)
    start = time.perf_counter()
    data = om.open_shards(folder, "y", max_memory=memory)
    opened = time.perf_counter()
    ranker = om.EnsembleRanker(n_trees=int(n_trees), random_state=0, n_jobs=2).fit(data)
    found = {
        "seconds": time.perf_counter() - start,
        "seconds to open": opened - start,
        "processor": time.process_time(),
        "peak": peak_bytes(),
        "reads": max(reads.values()),
        "samples": ranker.ranking_.parameters["n_samples"],
        "found": len({f"x{j + 1}" for j in range(N_TRUE)} & set(ranker.ranking_.top(N_TRUE))),
    }
    Path(answer).write_text(json.dumps(found))


def _count_reads(reads: dict[Any, int]) -> None:
    """Count how often each row group is read."""
    from omnirank.shards.parts import ParquetFile

    real = ParquetFile._batches

    def counting(self: Any, columns: Any, n_rows: int, groups: Any, threads: bool) -> Any:
        for group in range(len(self.group_rows)) if groups is None else groups:
            reads[self.name, group] = reads.get((self.name, group), 0) + 1
        return real(self, columns, n_rows, groups, threads)

    ParquetFile._batches = counting  # type: ignore[method-assign]


@benchmark("shards")
def larger_than_memory(quick: bool) -> Any:
    """20,000,000 x 50 in Parquet files sorted by the target: 100 extra trees, 2 workers, the whole process."""
    n_rows = QUICK_ROWS if quick else int(os.environ.get(VARIABLE, ROWS))
    memory, n_trees = max(LEAST_MEMORY, MEMORY * n_rows // ROWS), QUICK_TREES if quick else N_TREES
    with tempfile.TemporaryDirectory() as place:
        folder, answer = Path(place, "parts"), Path(place, "answer.json")
        folder.mkdir()
        make_files(folder, n_rows)
        code = "from benchmarks.bench_shards import child; child()"
        arguments = [sys.executable, "-c", code, str(folder), str(answer), str(memory), str(n_trees)]
        subprocess.run(arguments, cwd=ROOT, check=True)
        found = json.loads(answer.read_text())
        n_bytes = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    return [
        figure("wall time, files opened for the first time", found["seconds"], "s", bar=Bar(at_most=600)),
        figure("of that, opening them", found["seconds to open"], "s"),
        figure("processor time of the whole", found["processor"], "s"),
        figure("peak memory of the process", found["peak"] / 2**30, "GB", bar=Bar(at_most=3)),
        figure("times each row group is read", found["reads"], bar=Bar(at_most=2)),
        figure("true features among the first 10", found["found"], bar=Bar(at_least=N_TRUE)),
        figure("samples", found["samples"]),
        figure("size of the files", n_bytes / 2**30, "GB"),
    ]


def rank_parts(folder: Path, n_trees: int) -> Any:
    """Open files, whose summary is kept from the first time, and rank."""
    data = om.open_shards(folder, "y", max_memory="16G")
    return om.EnsembleRanker(n_trees=n_trees, random_state=0, n_jobs=2).fit(data).ranking_


def rank_file(path: Path, n_trees: int) -> Any:
    """Read one file whole and rank."""
    return om.EnsembleRanker(n_trees=n_trees, random_state=0, n_jobs=2).fit(om.load(path, "y")).ranking_


def itself(value: Any) -> Any:
    return value


@benchmark("shards-that-fit")
def that_fit(quick: bool) -> Any:
    """Overhead of shards that fit in memory: 200,000 x 50 in four files and in one, 20 trees, reading included."""
    n_rows, n_trees = (4000, 2) if quick else (200_000, 20)
    with tempfile.TemporaryDirectory() as place:
        parts, whole = Path(place, "parts"), Path(place, "whole")
        for folder, per_file in ((parts, n_rows // 4), (whole, n_rows)):
            folder.mkdir()
            make_files(folder, n_rows, per_file)
        one = whole / "00000.parquet"
        contestants = [
            Contestant("one file in memory", partial(itself, one), partial(rank_file, n_trees=n_trees)),
            Contestant("shards", partial(itself, parts), partial(rank_parts, n_trees=n_trees)),
        ]
        bar = Bar(at_most=1.2, against="shards")
        return compare("ranking of files", contestants, repetitions=3, bar=bar, memory=not quick)
