"""Relief of Parquet files that do not fit in the memory allowed, from a sample of their rows: time and memory."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import omnirank as om
from benchmarks import Bar, Contestant, benchmark, compare, figure, peak_memory

ROWS, FEATURES, FILES, ANCHORS = 2_000_000, 50, 20, 500
QUICK_ROWS = 20_000
# What the rows may take: they take 1.6 GB in memory, twice that while they are put together.
ALLOWED = 400
N_RELEVANT = 3


def write_shards(folder: Path, n_rows: int) -> None:
    """Write normal features and two classes by the first three, two of them in an interaction, sorted by the class."""
    rng = np.random.default_rng(0)
    for i in range(FILES):
        X = rng.normal(size=(n_rows // FILES, FEATURES))
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(FEATURES)])
        frame["y"] = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "a", "b")
        frame.sort_values("y", ignore_index=True).to_parquet(folder / f"{i:03}.parquet", row_group_size=2**16)


def opened(folder: Path, megabytes: int) -> Any:
    return om.open_shards(folder, "y", max_memory=f"{megabytes}M")


def rank(data: Any) -> Any:
    return om.ReliefRanker(n_iterations=ANCHORS, random_state=0, n_jobs=2).fit(data)


def warm_up(folder: Path) -> Any:
    data = opened(folder, ALLOWED)
    return rank(data.take(range(0, len(data), len(data) // 1000)))  # of both classes: the files are sorted


@benchmark("shards-relief")
def shards_relief(quick: bool) -> list:
    """Relief of 500 visited examples in a sample of 2,000,000 x 50 in 20 Parquet files, with 400 MB for the rows."""
    n_rows, allowed = (QUICK_ROWS, 4) if quick else (ROWS, ALLOWED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder, n_rows)
        streamed, whole = partial(opened, folder, allowed), partial(opened, folder, 100_000)
        assert not streamed().fits_in_memory
        warm = partial(warm_up, folder)
        compared = compare(
            "shards-relief",
            [
                Contestant("a sample that fits", streamed, rank, _found, warm_up=warm),
                Contestant("read, then in memory", whole, rank, _found, warm_up=warm),
            ],
            repetitions=3,
            memory=not quick,
        )
        peak = None if quick else peak_memory(streamed, rank, warm_up=warm)
        return [
            compared,
            figure("seconds of a fit on a sample", compared.timings[0].median, "s"),
            *(
                []
                if peak is None
                else [figure("peak memory of a fit on a sample", peak / 1e6, "MB", bar=Bar(at_most=ALLOWED))]
            ),
        ]


def _found(fitted: Any) -> dict[str, float]:
    best = np.argsort(-np.asarray(fitted.feature_importances_))[:N_RELEVANT]
    return {"relevant features in the top three": float(np.mean(best < N_RELEVANT))}
