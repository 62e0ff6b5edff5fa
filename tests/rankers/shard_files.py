"""Parquet files for tests of data that do not fit in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import omnirank as om

# With this, trees of `frame_of` grow on several samples.
LITTLE = 150_000


def frame_of(n=2000, seed=0, missing=0.1, rare=10):
    """Features of which a, b and town tell the targets; the level "Ptuj" occurs in the last rows only."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    frame["n"] = rng.integers(-3, 300, n)
    frame["town"] = pd.Series(rng.choice(["Bled", "Kranj", "Piran"], n), dtype=object)
    told = frame["a"] + np.abs(frame["b"]) + (frame["town"] == "Bled")
    frame["size"] = 3 * told + rng.normal(size=n)
    frame["width"] = frame["a"] + 0.3 * rng.normal(size=n)
    frame["kind"] = np.where(told > 1, "x", np.where(told > 0, "y", "z"))
    frame["l1"], frame["l2"] = (told > 0.5).astype(int), (frame["a"] > 0).astype(int)
    frame = frame.sort_values("size", ignore_index=True)
    frame.loc[n - rare :, "town"] = "Ptuj"
    for name in ("b", "d", "town"):
        frame.loc[rng.random(n) < missing, name] = None if frame[name].dtype == object else np.nan
    return frame


def written(folder, frame, cuts=(), group=10**6):
    """The folder with the parts of a frame between the cuts."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = pa.Schema.from_pandas(frame, preserve_index=False)
    for i, (start, end) in enumerate(pairwise([0, *sorted(cuts), len(frame)])):
        part = pa.Table.from_pandas(frame.iloc[start:end], schema, preserve_index=False)
        pq.write_table(part, folder / f"{i:03}.parquet", row_group_size=group)
    return folder


def opened(folder, target="size", max_memory=LITTLE, **options):
    """Parts of a frame of which only the features of `frame_of` are features."""
    return om.open_shards(folder, target, features="a,b,c,d,e,n,town", max_memory=max_memory, **options)
