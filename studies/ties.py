"""How much ties of the nearest example change the errors of unsupervised Relief: results/unsupervised_ties.csv.

Where features have few values, several training examples are equally near by the top 16 features, and the first of them
predicts. Putting the training examples in another order changes nothing but which one is the first.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om
from omnirank.evaluation.experiments import read_plan
from omnirank.evaluation.experiments.fit import load_source

HERE = Path(__file__).resolve().parent
DATA = {"unsupervised_small": ["colon", "lymphoma", "Yale"], "unsupervised_more": ["nci9"]}
N_ORDERS = 10


def errors_of_orders(parts: list[tuple[om.Dataset, om.Dataset]], rankings: list[om.Ranking]) -> list[float]:
    """Return the mean error over folds for each of several random orders of the training examples."""
    found = []
    for seed in range(N_ORDERS):
        rng = np.random.default_rng(seed)
        errors = [
            om.evaluate(ranking, train.take(rng.permutation(train.n_examples)), test)["top_features_rmse"]
            for ranking, (train, test) in zip(rankings, parts, strict=True)
        ]
        found.append(float(np.mean(errors)))
    return found


def main() -> None:
    """Write the results."""
    rows = []
    for name, wanted in DATA.items():
        plan = read_plan(HERE / "plans" / f"{name}.toml")
        for entry in plan.data:
            if entry.name in wanted:
                loaded = load_source(entry.source)
                folds = loaded.folds(plan.folds.scheme, plan.folds.parameters, 0)
                parts = [(train, test) for train, _, test in map(loaded.parts, folds)]
                relief = om.ReliefRanker(n_neighbors=30, missing="distant", random_state=0)
                rankings = [relief.fit(train).ranking_ for train, _ in parts]
                errors = errors_of_orders(parts, rankings)
                rows.append((entry.name, min(errors), max(errors)))
    table = pd.DataFrame(rows, columns=["data", "least", "most"]).round(6)
    table.to_csv(HERE / "results" / "unsupervised_ties.csv", index=False, lineterminator="\n")
