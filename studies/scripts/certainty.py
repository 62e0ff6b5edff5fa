"""Are the first features of a full run those that a ranking is certain of? results/certainty.csv.

    python studies/scripts/certainty.py            # computes and writes the file, minutes
    python studies/scripts/certainty.py --table    # writes the table of the page from the file

What stands for a full run has 4000 trees. As many other trees of the same seed are dealt out to runs of 20 and of 100
trees, and to runs that end when they have converged; each says of which first features it is certain. Data sets that
are not at hand (see index.md) are left out.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import omnirank as om
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.ranking.certainty import certain_sizes
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.run import converged
from omnirank.ensembles.scores import ScoreOptions, TreeScorer, computed_scores

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import truths  # noqa: E402 - beside this script

FILE = HERE.parent / "results" / "certainty.csv"
PAGE = Path(__file__).resolve().parents[1] / "p_values.md"
DATA = Path(os.environ.get("OMNIRANK_DATA", HERE.parents[2] / "shared" / "data"))
REAL = {
    "housing": ("regression/housing.arff", "last"),
    "ionosphere": ("classification/ionosphere.arff", "last"),
    "slump": ("mtr/slump.arff", "last:3"),
    "emotions": ("mlc/emotions/emotions.arff.gz", "last:6"),
}
ALPHA = 0.05
COLUMNS = (
    *("data", "features", "score", "trees", "mean_trees", "runs"),
    *("with_statement", "mean_statements", "wrong"),
)
# Scores by the trees that they are read from.
SCORES = {"random-forest": ("genie3", "permutation")}
FULL, OTHERS, LONGEST = 4000, 4000, 1000
LENGTHS = {"20": 200, "100": 40, "auto": 40}  # and how many runs there are


def data_sets() -> Iterator[tuple[str, om.Dataset]]:
    """Yield generated data sets and those that are at hand."""
    yield "friedman", om.datasets.make_friedman(200, random_state=0)[0]
    for name in ("classes", "xor"):
        frame, _, y = truths.TRUTHS[name](np.random.default_rng(0))
        yield name, om.Dataset(frame, y)
    for name, (path, target) in REAL.items():
        if (DATA / path).exists():
            yield name, om.load(DATA / path, target)
        else:
            print(f"{name} is left out: there is no {DATA / path}")


def scores_of_trees(data: om.Dataset, ensemble: str, names: tuple[str, ...], n: int) -> dict[str, np.ndarray]:
    """Return the scores of each of the first trees: one row per tree."""
    plan = GrowingData(data, entropy=0).plan(GrowingRules(ensemble=ensemble))
    scorer = TreeScorer.make(plan, computed_scores(*names), ScoreOptions())
    rows: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for i in range(n):
        found = scorer(i)
        for name in names:
            rows[name].append(found[name].row)
    return {name: np.array(found) for name, found in rows.items()}


def runs(trees: np.ndarray, length: str) -> Iterator[MeanAccumulator]:
    """Yield the sums of runs; those that converge begin at different trees, since they may have many in common."""
    n_runs, n = LENGTHS[length], len(trees)
    for i in range(n_runs):
        if length != "auto":
            yield MeanAccumulator.empty(trees.shape[1]).update(trees[i * int(length) :][: int(length)])
            continue
        own = np.roll(trees, -i * n // n_runs, axis=0)
        sums = MeanAccumulator.empty(trees.shape[1]).update(own[:20])
        while sums.count < LONGEST and not converged(sums):
            sums = sums.update(own[sums.count : sums.count + 10])
        yield sums


def compared(full: np.ndarray, sums: MeanAccumulator) -> tuple[int, int, bool]:
    """Return how many statements a run makes, its largest number, and whether one of them is wrong."""
    scores, errors = sums.finish()
    sizes = certain_sizes(scores, errors, sums.count)
    orders = np.argsort(-scores, kind="stable"), np.argsort(-full, kind="stable")
    wrong = any(set(orders[0][:k]) != set(orders[1][:k]) for k in sizes)
    return len(sizes), max(sizes, default=0), wrong


def compute() -> Iterator[dict[str, object]]:
    """Yield a row per data set, score and length of the runs."""
    for name, data in data_sets():
        for ensemble, names in SCORES.items():
            start = time.perf_counter()
            for score, trees in scores_of_trees(data, ensemble, names, FULL + OTHERS).items():
                full = trees[:FULL].mean(axis=0)
                for length in LENGTHS:
                    made = list(runs(trees[FULL:], length))
                    found = np.array([compared(full, sums) for sums in made])
                    yield {
                        "data": name,
                        "features": data.n_features,
                        "score": score,
                        "trees": length,
                        "mean_trees": round(float(np.mean([sums.count for sums in made])), 1),
                        "runs": len(made),
                        "with_statement": int((found[:, 0] > 0).sum()),
                        "mean_statements": round(float(found[:, 0].mean()), 2),
                        "wrong": int(found[:, 2].sum()),
                    }
            print(f"{name}, {ensemble}: {time.perf_counter() - start:.0f} s", flush=True)


def table() -> str:
    """The table of the page: all data sets together, by score and length."""
    with FILE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = ["| score | trees | runs | runs with a statement | statements per run | runs with a wrong one |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for score in dict.fromkeys(row["score"] for row in rows):
        for length in LENGTHS:
            found = [row for row in rows if (row["score"], row["trees"]) == (score, length)]
            n = sum(int(row["runs"]) for row in found)
            shares = [sum(int(row[what]) for row in found) / n for what in ("with_statement", "wrong")]
            mean = np.mean([float(row["mean_statements"]) for row in found])
            wrong = f"{100 * shares[1]:.1f} %"
            if shares[1] > ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / n):
                wrong = f"**{wrong}**"
            lines.append(f"| {score} | {length} | {n} | {100 * shares[0]:.0f} % | {mean:.1f} | {wrong} |")
    return "\n".join(lines)


def filled(page: str) -> str:
    """The page with the table."""
    mark, end = "<!-- table certainty -->\n", "<!-- end -->"
    before, _, rest = page.partition(mark)
    return f"{before}{mark}{table()}\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Compute and write, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    if parser.parse_args().table:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in compute():
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
