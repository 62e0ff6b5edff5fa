"""Reading ARFF beside liac-arff: seconds and peak memory on files of about 50 MB, dense and sparse.

Peak memory is what tracemalloc sees above the start of the read, as a multiple of the size of the text.
Times are the median of alternating runs; the memory run is one of its own, because tracing slows Python code
down.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPETITIONS = 3


def dense_file(path: Path, megabytes: float) -> None:
    """40 numeric columns of six decimals, 10 nominal ones and 2 % missing cells."""
    rng = np.random.default_rng(0)
    levels = ("low", "medium", "high")
    with path.open("w") as file:
        file.write("@relation dense\n")
        file.writelines(f"@attribute x{i} numeric\n" for i in range(40))
        file.writelines(f"@attribute c{i} {{{','.join(levels)}}}\n" for i in range(10))
        file.write("@data\n")
        while file.tell() < megabytes * 1e6:
            numbers = rng.normal(scale=10, size=(1000, 40))
            codes = rng.integers(3, size=(1000, 10))
            missing = rng.random((1000, 50)) < 0.02
            for row, code, hole in zip(numbers, codes, missing, strict=True):
                cells = [f"{v:.6f}" for v in row] + [levels[c] for c in code]
                file.write(",".join("?" if h else c for c, h in zip(cells, hole, strict=True)) + "\n")


def sparse_file(path: Path, megabytes: float, numeric: bool) -> None:
    """2000 columns, 60 of them in each row: {0,1} words, or numeric weights."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("@relation sparse\n")
        file.writelines(f"@attribute w{i} {'numeric' if numeric else '{0,1}'}\n" for i in range(2000))
        file.write("@data\n")
        while file.tell() < megabytes * 1e6:
            for _ in range(1000):
                columns = np.sort(rng.choice(2000, 60, replace=False)).tolist()
                values = [f"{v:.5f}" for v in rng.random(60)] if numeric else ["1"] * 60
                file.write("{" + ",".join(f"{c} {v}" for c, v in zip(columns, values, strict=True)) + "}\n")


def _with_liac(path: Path, sparse: bool) -> Any:
    import arff

    with path.open() as file:
        return arff.load(file, encode_nominal=True, return_type=arff.LOD if sparse else arff.DENSE)


def _with_omnirank(path: Path, sparse: bool) -> Any:
    from omnirank.data.arff import read_arff

    return read_arff(path)


def _seconds(read: Callable[[Path, bool], Any], path: Path, sparse: bool) -> float:
    start = time.perf_counter()
    read(path, sparse)
    return time.perf_counter() - start


def _peak(read: Callable[[Path, bool], Any], path: Path, sparse: bool) -> int:
    tracemalloc.start()
    try:
        kept = read(path, sparse)
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak


def _compare(path: Path, sparse: bool) -> dict[str, float]:
    size = path.stat().st_size
    ours, theirs = [], []
    for _ in range(REPETITIONS):
        ours.append(_seconds(_with_omnirank, path, sparse))
        theirs.append(_seconds(_with_liac, path, sparse))
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {
        "megabytes": round(size / 1e6, 1),
        "omnirank_seconds": round(statistics.median(ours), 3),
        "liac_arff_seconds": round(statistics.median(theirs), 3),
        "speed_ratio": round(statistics.median(ratios), 2),
        "speed_ratio_min": round(min(ratios), 2),
        "speed_ratio_max": round(max(ratios), 2),
        "peak_memory_over_file_size": round(_peak(_with_omnirank, path, sparse) / size, 2),
    }


def run(megabytes: float = 50.0) -> dict[str, Any]:
    """Compare the two readers on three generated files."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.arff")
        dense_file(path, 0.1)
        _with_omnirank(path, False), _with_liac(path, False)  # imports are not part of the comparison
        dense_file(path, megabytes)
        results["dense"] = _compare(path, sparse=False)
        sparse_file(path, megabytes, numeric=False)
        results["sparse_nominal"] = _compare(path, sparse=True)
        sparse_file(path, megabytes, numeric=True)
        results["sparse_numeric"] = _compare(path, sparse=True)
    return results


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
