"""Symbolic scores of label sets with two weights of depth, on the splits of the study.

python studies/symbolic.py

Writes results/mlc_symbolic.csv: the area under the pooled precision-recall curve of 15 neighbours, with numbers in
ranges of training and test examples together; one row per seed.
"""

from __future__ import annotations

import csv
from pathlib import Path

from ranges import HERE, split

import omnirank as om
from omnirank.evaluation.experiments import read_plan

ENSEMBLES = {
    "Bagging": {"ensemble": "bagging", "n_trees": 50},
    "RF": {"ensemble": "random-forest", "n_trees": 50},
    "ET": {"ensemble": "extra-trees", "n_trees": 10, "bootstrap": False, "max_features": "all"},
}
WEIGHTS = (0.25, 0.5)
SEEDS = range(5)


def main(out: Path = HERE / "results" / "mlc_symbolic.csv") -> None:
    """Write the results."""
    plan = read_plan(HERE / "plans" / "mlc_small.toml")
    with out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data", "ensemble", "weight", "seed", "pooled_auprc"])
        for entry in plan.data:
            train, test = split(entry)
            for name, options in ENSEMBLES.items() if test is not None else ():
                for seed in SEEDS:
                    for weight in WEIGHTS:
                        ranker = om.EnsembleRanker("symbolic", symbolic_weight=weight, random_state=seed, **options)
                        ranking = ranker.fit(train).ranking_
                        found = om.evaluate(ranking, train, test, 15, ranges="both", **plan.evaluation.parameters)
                        writer.writerow([entry.name, name, weight, seed, round(found["pooled_auprc"], 6)])
                        file.flush()


if __name__ == "__main__":
    main()
