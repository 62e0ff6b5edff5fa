"""Are p values right where rows repeat? How often noise is significant, by share of copied rows.

    python studies/scripts/repeated_rows.py            # computes results/repeated_rows.csv, minutes
    python studies/scripts/repeated_rows.py --table    # writes the table of the page from the file

A data set has 400 rows of 20 features of noise, and copies of a share of its rows; "five" are 80 rows, five times each.
Binary features coincide by chance: 400 rows of 6 of them, none copied, alone and beside a target that two of them tell.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import omnirank as om

FILE = Path(__file__).resolve().parent.parent / "results" / "repeated_rows.csv"
PAGE = Path(__file__).resolve().parents[1] / "p_values.md"
CASES = ("0 %", "5 %", "10 %", "20 %", "100 %", "five", "binary", "signal")
TASKS = ("classes", "numbers", "label sets", "few labels", "no target")
METHODS = ("extra-trees", "random-forest", "univariate, permuted")
ROWS, FEATURES, BINARY, TOLD = 400, 20, 6, 2
ALPHA = 0.05
FIRST_SEED = 30_000


def rows_of(case: str, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the rows of a case, copies last."""
    if case == "five":
        return np.tile(np.arange(ROWS // 5), 5)
    share = float(case.split()[0]) / 100 if case.endswith("%") else 0.0
    return np.concatenate([np.arange(ROWS), rng.permutation(ROWS)[: round(share * ROWS)]])


def data_set(task: str, case: str, seed: int) -> om.Dataset:
    """Noise with copies, or binary features without any; the target of "signal" depends on the first of them."""
    rng = np.random.default_rng([seed, TASKS.index(task)])
    binary = case in ("binary", "signal")
    X = rng.integers(0, 2, (ROWS, BINARY)).astype(float) if binary else rng.normal(size=(ROWS, FEATURES))
    hidden = rng.normal(size=(ROWS, 4))
    if case == "signal":
        common = rng.integers(0, 2, ROWS)
        X[:, :TOLD] = np.where(rng.random((ROWS, TOLD)) < 0.2, common[:, None], X[:, :TOLD])
        hidden += 0.35 * (X[:, :TOLD].sum(axis=1, keepdims=True) - TOLD / 2)
    rows = rows_of(case, rng)
    X, hidden = X[rows], hidden[rows]
    if task == "classes":
        return om.Dataset(X, np.where(hidden[:, 0] > 0, "yes", "no"))
    if task == "label sets":
        return om.Dataset(X, (hidden > 0.5).astype(float), task="multi-label")
    if task == "no target":
        return om.Dataset(X)
    y = hidden[:, 0].copy()
    if task == "few labels":
        y[rng.random(len(y)) < 2 / 3] = np.nan
    return om.Dataset(X, y, task="regression")


def p_values(method: str, task: str, case: str, seed: int) -> np.ndarray:
    """The p values of one data set."""
    ranker = om.UnivariateRanker() if "permuted" in method else om.EnsembleRanker(ensemble=method, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = om.significance(ranker, data_set(task, case, seed), random_state=seed, n_jobs=1).p_values
    assert found is not None
    return found


def settings(only: str) -> Iterator[tuple[str, str, str]]:
    """Method, task, case."""
    for method in METHODS:
        for task in TASKS:
            for case in CASES:
                unknown = "permuted" in method and task in ("few labels", "no target")
                if only in f"{method}; {task}; {case}" and not unknown:
                    yield method, task, case


def compute(n_seeds: int, only: str) -> Iterator[dict[str, object]]:
    """One row for each method, task and case; of "signal", two: of the features that tell something, and the others."""
    for method, task, case in settings(only):
        start = time.process_time()
        below = np.array([p_values(method, task, case, FIRST_SEED + seed) < ALPHA for seed in range(n_seeds)])
        parts = {case: below}
        if case == "signal":
            parts = {"signal": below[:, :TOLD], "beside signal": below[:, TOLD:]}
        for name, part in parts.items():
            print(f"{method}; {task}; {name}: {part.mean():.3f}; {time.process_time() - start:.0f} s", flush=True)
            counts = {"tested": part.size, "significant": int(part.sum())}
            yield {"method": method, "task": task, "case": name} | counts


def write(rows: list[dict[str, object]]) -> None:
    """Write the rows, in place of those of the same cases."""
    kept = {(row["method"], row["task"], row["case"]): row for row in [*read(), *rows]}
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept.values())


def read() -> list[dict[str, str]]:
    """The rows of the file."""
    if not FILE.exists():
        return []
    with FILE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table() -> str:
    """The table of the page: shares of p < 0.05."""
    cases = ("0 %", "5 %", "10 %", "20 %", "100 %", "five", "binary", "beside signal", "signal")
    lines = [f"| score | target | {' | '.join(cases)} |", f"|---|---|{'---|' * len(cases)}"]
    found = {(row["method"], row["task"], row["case"]): row for row in read()}
    for method, task in dict.fromkeys(key[:2] for key in found):
        shown = (share(found.get((method, task, case))) for case in cases)
        lines.append(f"| {' | '.join((method, task, *shown))} |")
    return "\n".join(lines)


def share(row: dict[str, str] | None) -> str:
    """The share that is significant; nothing where it was not computed."""
    return "" if row is None else f"{int(row['significant']) / int(row['tested']):.3f}".removeprefix("0")


def main() -> None:
    """Compute and write, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--only", default="", help="part of 'method; task; case'")
    given = parser.parse_args()
    if given.table:
        mark, end = "<!-- table repeated rows -->\n", "<!-- end -->"
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(mark)
        PAGE.write_text(f"{before}{mark}{table()}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
    else:
        for row in compute(given.seeds, given.only):
            write([row])


if __name__ == "__main__":
    main()
