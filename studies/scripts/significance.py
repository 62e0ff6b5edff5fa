"""Are the p values right? How often noise is significant, and how often signal: results/significance.csv.

    python studies/scripts/significance.py            # computes and writes the file, minutes
    python studies/scripts/significance.py --table    # writes the table of the page from the file

Each data set has noise of four kinds (number, binary 0/1 with an even share, skewed number, 50 levels), alone or beside
five features with signal of decreasing strength; every combination has data sets of its own seeds.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import omnirank as om

FILE = Path(__file__).resolve().parent.parent / "results" / "significance.csv"
PAGE = Path(__file__).resolve().parents[1] / "p_values.md"
KINDS = ("number", "binary", "skewed", "levels")
TASKS = ("classes", "numbers", "label sets", "several numbers", "few labels", "no target")
COPIES = 5  # noise features of each kind in a data set
STRENGTHS = (1.0, 0.8, 0.6, 0.4, 0.3)
ALPHA = 0.05
# Seeds that nothing was chosen with: the analytic test took its form with data sets of other seeds in view.
FIRST_SEED = {"analytic": 20_000, "copies": 10_000}


def noise(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Features that tell nothing, by name "kind_number"."""
    made: dict[str, object] = {}
    for k in range(COPIES):
        made[f"number_{k}"] = rng.normal(size=n)
        made[f"binary_{k}"] = rng.integers(0, 2, n).astype(float)
        made[f"skewed_{k}"] = np.exp(2 * rng.normal(size=n))
        made[f"levels_{k}"] = pd.Categorical([f"v{v}" for v in rng.integers(0, 50, n)])
    return made


def data_set(task: str, beside: bool, seed: int, n: int) -> om.Dataset:
    """Noise, and signal where asked for."""
    rng = np.random.default_rng([seed, TASKS.index(task), beside])
    signal = rng.normal(size=(n, len(STRENGTHS)))
    if task == "no target":
        common = rng.normal(size=(n, 1))
        signal = np.array(STRENGTHS) * common + 0.5 * rng.normal(size=signal.shape)
    told = signal @ np.array(STRENGTHS)
    named = {f"signal_{strength}": signal[:, i] for i, strength in enumerate(STRENGTHS)} if beside else {}
    frame = pd.DataFrame(named | noise(rng, n))
    wobble = 2.0 * rng.normal(size=(n, 4))
    if task == "classes":
        return om.Dataset(frame, np.where(told + wobble[:, 0] > 0, "yes", "no"))
    if task == "label sets":
        return om.Dataset(frame, (told[:, None] + wobble > 1).astype(float), task="multi-label")
    if task == "several numbers":
        return om.Dataset(frame, told[:, None] + wobble)
    if task == "no target":
        return om.Dataset(frame)
    y = told + wobble[:, 0]
    if task == "few labels":
        y[n // 3 :] = np.nan
    return om.Dataset(frame, y, task="regression")


def ranker(method: str, seed: int) -> object:
    """A ranker by name of the method and ensemble."""
    name, _, ensemble = method.partition(", ")
    if name == "relief":
        return om.ReliefRanker(random_state=seed)
    return om.EnsembleRanker(name, ensemble=ensemble, n_trees=50, random_state=seed)


def p_values(method: str, how: str, task: str, beside: bool, seed: int, n: int) -> list[tuple[str, float]]:
    """The p values of one data set, by kind of feature."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = om.significance(ranker(method, seed), data_set(task, beside, seed, n), method=how)
    assert found.p_values is not None
    return [(name.split("_")[0], float(p)) for name, p in zip(found.names, found.p_values, strict=True)]


def settings(n_seeds: int, n_seeds_copies: int) -> Iterator[tuple[str, str, str, int]]:
    """Method, how it is tested, task, number of data sets."""
    for task in TASKS:
        for ensemble in ("extra-trees", "random-forest"):
            yield f"unbiased, {ensemble}", "analytic", task, n_seeds
    for task in ("classes", "numbers", "no target"):
        yield "genie3, random-forest", "copies", task, n_seeds_copies
        yield "relief", "copies", task, n_seeds_copies


def compute(n_seeds: int, n_seeds_copies: int, n: int, n_jobs: int, only: str) -> list[dict[str, object]]:
    """One row for each method, task, setting and kind."""
    rows: list[dict[str, object]] = []
    for method, how, task, seeds in settings(n_seeds, n_seeds_copies):
        for beside in (False, True) if only in f"{method} {task}" else ():
            start = time.process_time()
            given = [(method, how, task, beside, FIRST_SEED[how] + seed, n) for seed in range(seeds)]
            found = Parallel(n_jobs)(delayed(p_values)(*one) for one in given)
            by_kind: dict[str, list[bool]] = {}
            for kind, p in (pair for one in found for pair in one):
                by_kind.setdefault(kind, []).append(p < ALPHA)
            for kind in (*KINDS, *(("signal",) if beside else ())):
                row = {"method": method, "test": how, "task": task, "beside": "signal" if beside else "nothing"}
                counts = {"kind": kind, "tested": len(by_kind[kind]), "significant": sum(by_kind[kind])}
                rows.append(row | counts)
            shares = ", ".join(f"{kind} {np.mean(below):.3f}" for kind, below in by_kind.items())
            print(f"{method}; {task}; {beside}: {shares}; {time.process_time() - start:.0f} s", flush=True)
    return rows


def write(rows: list[dict[str, object]]) -> None:
    """Write the rows, in place of those of the same methods and tasks."""
    new = {(row["method"], row["task"]) for row in rows}
    old = [row for row in read() if (row["method"], row["task"]) not in new] if FILE.exists() else []
    order = {(method, task): i for i, (method, _, task, _) in enumerate(settings(1, 1))}
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(sorted([*old, *rows], key=lambda row: order[row["method"], row["task"]]))


def read() -> list[dict[str, str]]:
    """The rows of the file."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table() -> str:
    """The table of the page: shares of p < 0.05, of noise alone / beside signal, and of signal."""
    lines = [
        f"| score | target | each | {' | '.join(KINDS)} | signal |",
        f"|---|---|---:|{'---|' * (len(KINDS) + 1)}",
    ]
    found = {(row["method"], row["task"], row["beside"], row["kind"]): row for row in read()}
    for method, task in dict.fromkeys(key[:2] for key in found):
        noise_ = (
            " / ".join(share(found[method, task, beside, kind]) for beside in ("nothing", "signal")) for kind in KINDS
        )
        signal = found[method, task, "signal", "signal"]
        cells = [method, task, signal["tested"], *noise_, share(signal)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def filled(page: str) -> str:
    """The page with the table."""
    mark, end = "<!-- table significance -->\n", "<!-- end -->"
    before, _, rest = page.partition(mark)
    return f"{before}{mark}{table()}\n{end}{rest.partition(end)[2]}"


def share(row: dict[str, str]) -> str:
    """The share that is significant; in bold where noise is more often so than chance explains."""
    value, n = int(row["significant"]) / int(row["tested"]), int(row["tested"])
    shown = f"{value:.3f}".removeprefix("0")
    too_often = row["kind"] != "signal" and value > ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / n)
    return f"**{shown}**" if too_often else shown


def main() -> None:
    """Compute and write, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seeds-copies", type=int, default=40)
    parser.add_argument("--examples", type=int, default=250)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="part of 'method task'")
    given = parser.parse_args()
    if given.table:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        write(compute(given.seeds, given.seeds_copies, given.examples, given.jobs, given.only))


if __name__ == "__main__":
    main()
