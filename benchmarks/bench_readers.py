"""Reading ARFF beside liac-arff: time, and peak memory over the size of the file."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import Bar, Contestant, compare, figure

MEGABYTES = 50.0
QUICK_MEGABYTES = 1.0


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


def short_cells_file(path: Path, megabytes: float) -> None:
    """100 numeric columns of counts below 1000: few bytes per cell, so most memory for the size of the file."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("@relation counts\n")
        file.writelines(f"@attribute x{i} integer\n" for i in range(100))
        file.write("@data\n")
        while file.tell() < megabytes * 1e6:
            rows = rng.integers(1000, size=(1000, 100)).tolist()
            file.writelines(",".join(map(str, row)) + "\n" for row in rows)


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


def with_liac(path: Path, sparse: bool) -> Any:
    import arff

    with path.open() as file:
        return arff.load(file, encode_nominal=True, return_type=arff.LOD if sparse else arff.DENSE)


def with_omnirank(path: Path) -> Any:
    from omnirank.data.arff import read_arff

    return read_arff(path)


def warm_up() -> None:
    """Imports are not part of the comparison."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "small.arff")
        dense_file(path, 0.01)
        with_omnirank(path)


def given(path: Path) -> Path:
    return path


FILES = {
    "dense": (dense_file, False),
    "dense, short cells": (short_cells_file, False),
    "sparse, nominal": (partial(sparse_file, numeric=False), True),
    "sparse, numeric": (partial(sparse_file, numeric=True), True),
}


def run(quick: bool = False) -> list:
    """Read four generated files with both."""
    results: list = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (write, sparse) in FILES.items():
            path = Path(folder, f"{name}.arff")
            write(path, QUICK_MEGABYTES if quick else MEGABYTES)
            contestants = [
                Contestant("omnirank", partial(given, path), with_omnirank, warm_up=warm_up),
                Contestant("liac-arff", partial(given, path), partial(with_liac, sparse=sparse), requires=("arff",)),
            ]
            bar = Bar(at_least=3)
            comparison = compare(f"{name} ARFF", contestants, repetitions=3, bar=None if quick else bar)
            results.append(comparison)
            peak = comparison.timings[0].peak_memory_bytes
            if peak is not None:
                share = peak / path.stat().st_size
                bar = Bar(at_most=4)
                results.append(figure(f"{name} ARFF: peak memory / file size", share, bar=None if quick else bar))
            path.unlink()
    return results
