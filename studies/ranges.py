"""Fifteen neighbours without ranking, with numbers scaled by their ranges in training and test examples together.

omnirank scales by the training examples, because a test example should not change how others are predicted. The
published figures of the MLC study did otherwise, as this shows: `main` writes results/mlc_ranges.csv, for the data
sets of which the split of the study is known. That of Emotions is the one of the Mulan collection: its first 391
examples train.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om
from omnirank.evaluation.experiments import read_plan
from omnirank.evaluation.experiments.fit import load_source
from omnirank.evaluation.experiments.plan import DataEntry

HERE = Path(__file__).resolve().parent
FIRST = {"Emotions": 391}


def split(entry: DataEntry) -> tuple[om.Dataset, om.Dataset | None]:
    """Return the training and test part of a data set in the study, where its split is known."""
    loaded = load_source(entry.source)
    if entry.name not in FIRST:
        return loaded.dataset, loaded.test
    first = np.arange(loaded.dataset.n_examples) < FIRST[entry.name]
    return loaded.dataset.take(first), loaded.dataset.take(~first)


def main() -> None:
    """Write the results."""
    plan = read_plan(HERE / "plans" / "mlc_small.toml")
    rows = {}
    for entry in plan.data:
        train, test = split(entry)
        if test is not None:
            for ranges in ("train", "both"):
                scores = np.ones(train.n_features)
                found = om.evaluate(scores, train, test, 15, ranges=ranges, **plan.evaluation.parameters)
                rows[entry.name, ranges] = found
    table = pd.DataFrame(rows).T.round(6).rename_axis(["data", "ranges"])
    table.to_csv(HERE / "results" / "mlc_ranges.csv", lineterminator="\n")


if __name__ == "__main__":
    main()
