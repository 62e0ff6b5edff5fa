"""What a ranking of 10^9 examples and 10^4 features would take, from measured constants.

    python -m benchmarks.extrapolation    # writes the tables of docs/user_guide/extrapolation.md

The constants come from ``results/extrapolation.json`` and ``results/cluster.json``; run these benchmarks first.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Constants", "Estimate", "constants", "estimate", "filled"]

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "user_guide" / "extrapolation.md"
SIZES = ((10**7, 100), (10**8, 1000), (10**9, 10_000))
WORKERS = (16, 100, 1000)
N_TREES = 100
# Assumptions: memory of a worker, and what an hour of it costs.
WORKER_BYTES = 16 * 2**30
USED_SHARE = 0.8
PRICE_PER_HOUR = 0.06


@dataclass(frozen=True)
class Constants:
    """What was measured, of one core: seconds and bytes per cell.

    Growing and coding are per cell and level of a tree, of which a tree of m examples has about log2 m.
    """

    growing: float
    coding: float
    summary: float
    dealing: float
    cell_bytes: float
    file_bytes: float
    efficiency: float


@dataclass(frozen=True)
class Estimate:
    """What a run takes."""

    n_rows: int
    n_features: int
    n_workers: int
    sample_rows: int
    hours: float
    core_hours: float
    data_bytes: float
    scratch_bytes: float
    bytes_per_second: float

    @property
    def cost(self) -> float:
        """What the workers cost."""
        return self.hours * self.n_workers * PRICE_PER_HOUR


def constants() -> Constants:
    """Return the constants of the committed results."""
    found = _figures("extrapolation")
    ratio = _figures("cluster").get("one worker / two workers")
    return Constants(
        growing=1e-9 * found["growing and scoring a tree, per cell and level"],
        coding=1e-9 * found["coding a sample, per cell and level"],
        summary=1e-9 * found["summary pass, per cell"],
        dealing=1e-9 * found["dealing pass, per cell"],
        cell_bytes=found["memory of a sample, per cell"],
        file_bytes=found["Parquet, per cell"],
        efficiency=1.7 / 2 if ratio is None else min(1.0, ratio / 2),  # before it is measured: what is promised
    )


def _figures(name: str) -> dict[str, float]:
    path = HERE / "results" / f"{name}.json"
    if not path.exists():
        return {}
    return {entry["name"]: entry["value"] for entry in json.loads(path.read_text(encoding="utf-8"))["figures"]}


def estimate(n_rows: int, n_features: int, n_workers: int, found: Constants, n_trees: int = N_TREES) -> Estimate:
    """Return what a ranking takes: two passes over the files, then a tree at a time on each worker.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the data.
    n_workers : int
        Number of workers of one core.
    found : Constants
        What was measured.
    n_trees : int
        Number of trees.

    Examples
    --------
    >>> found = Constants(1e-9, 0.0, 1e-9, 1e-9, 40.0, 8.0, 1.0)
    >>> few, many = (estimate(10**6, 100, n, found) for n in (1, 10))
    >>> round(few.hours / many.hours, 6), few.core_hours == many.core_hours
    (10.0, True)
    """
    rows = min(n_rows, int(USED_SHARE * WORKER_BYTES / (found.cell_bytes * n_features)))
    n_samples = min(n_trees, math.ceil(n_rows / rows))
    cells = n_rows * n_features
    passes = cells * (found.summary + found.dealing)
    one_tree = rows * n_features * math.log2(rows) * (found.growing + found.coding)
    seconds = passes / (n_workers * found.efficiency) + math.ceil(n_trees / n_workers) * one_tree / found.efficiency
    reading = n_workers * found.efficiency * found.file_bytes / ((found.summary + found.dealing) / 2)
    return Estimate(
        *(n_rows, n_features, n_workers, rows),
        hours=seconds / 3600,
        core_hours=(passes + n_trees * one_tree) / 3600,
        data_bytes=cells * found.file_bytes,
        scratch_bytes=n_samples * rows * n_features * 8.0,
        bytes_per_second=reading,
    )


def runs_table(found: Constants) -> str:
    """The table of runs."""
    lines = [
        "| examples x features | Parquet | workers | hours | core hours | cost | examples per tree | scratch | read |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for n_rows, n_features in SIZES:
        for n_workers in WORKERS:
            run = estimate(n_rows, n_features, n_workers, found)
            cells = [
                f"10^{round(math.log10(n_rows))} x {n_features:,}",
                _bytes(run.data_bytes),
                f"{n_workers:,}",
                _short(run.hours),
                _short(run.core_hours),
                _short(run.cost),
                f"{_short(run.sample_rows)}",
                _bytes(run.scratch_bytes),
                f"{_bytes(run.bytes_per_second)}/s",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def constants_table(found: Constants) -> str:
    """The table of constants."""
    rows = {
        "summary pass, one core": f"{1e9 * found.summary:.3g} ns per cell",
        "dealing pass, one core": f"{1e9 * found.dealing:.3g} ns per cell",
        "coding a sample": f"{1e9 * found.coding:.3g} ns per cell and level",
        "growing and scoring a tree": f"{1e9 * found.growing:.3g} ns per cell and level",
        "memory of a sample with its tree": f"{found.cell_bytes:.3g} bytes per cell",
        "Parquet": f"{found.file_bytes:.3g} bytes per cell",
        "efficiency of two workers": f"{100 * found.efficiency:.0f} %",
    }
    return "\n".join(
        ["| constant | value |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in rows.items())]
    )


def _short(value: float) -> str:
    if value >= 100:
        digits = 10 ** (math.floor(math.log10(value)) - 1)
        return f"{round(value / digits) * digits:,.0f}"
    return f"{value:.2g}"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            return f"{_short(value)} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def filled(page: str) -> str:
    """The page with its tables."""
    found = constants()
    for name, table in (("constants", constants_table(found)), ("runs", runs_table(found))):
        mark, end = f"<!-- table {name} -->\n", "<!-- end -->"
        before, _, rest = page.partition(mark)
        page = f"{before}{mark}{table}\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
