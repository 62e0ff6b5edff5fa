"""What features of which most values are missing do to neighbours on osales: results/mtr_missing.csv."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om
from omnirank.evaluation.experiments import read_plan
from omnirank.evaluation.experiments.fit import load_source
from omnirank.evaluation.experiments.results import read_rankings

HERE = Path(__file__).resolve().parent
METHODS = ("5NN", "Bagging genie3", "RF genie3", "ET genie3", "RF-STR genie3")


def main() -> None:
    """Write the RRMSE of rankings, and of the same with scores of 0 for features that are mostly missing."""
    plan = read_plan(HERE / "plans" / "mtr_small.toml")
    [entry] = [entry for entry in plan.data if entry.name == "osales"]
    loaded = load_source(entry.source)
    folds = loaded.folds(plan.folds.scheme, plan.folds.parameters, plan.seeds[0])
    mostly_missing = np.isnan(loaded.dataset.features.numeric).mean(axis=0) > 0.5
    rows = []
    for method in METHODS:
        kept = read_rankings(plan.store_path, plan.name, "osales", method)
        errors = []
        for number, fold in enumerate(folds):
            train, _, test = loaded.parts(fold)
            scores = kept[f"seed={plan.seeds[0]} fold={number}"].scores
            chosen = (scores, np.where(mostly_missing, 0.0, scores))
            errors.append([om.evaluate(weights, train, test, 5)["rrmse"] for weights in chosen])
        rows.append((method, *np.mean(errors, axis=0)))
    table = pd.DataFrame(rows, columns=["method", "all", "without"]).round(6)
    table.to_csv(HERE / "results" / "mtr_missing.csv", index=False, lineterminator="\n")
