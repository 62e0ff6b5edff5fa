"""Fifteen neighbours without ranking, with numbers scaled by their ranges in training and test examples together.

omnirank scales by the training examples, because a test example should not change how others are predicted. The
published figures of the MLC study did otherwise, as this shows: `main` writes results/mlc_ranges.csv, for the data
sets that come with the split of the study.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om
from omnirank.evaluation.experiments import read_plan
from omnirank.evaluation.experiments.fit import load_source

HERE = Path(__file__).resolve().parent


def weights_for_all_ranges(train: om.Dataset, test: om.Dataset) -> np.ndarray:
    """Return the weights that turn squared differences over training ranges into those over the ranges of all."""
    weights = np.ones(train.n_features)
    numeric = ~train.features.is_nominal
    own = np.ptp(train.features.numeric, axis=0)
    joint = np.ptp(np.vstack([train.features.numeric, test.features.numeric]), axis=0)
    weights[numeric] = np.square(np.divide(own, joint, out=np.ones_like(own), where=joint > 0))
    return weights


def main() -> None:
    """Write the results."""
    plan = read_plan(HERE / "plans" / "mlc_small.toml")
    rows = {}
    for entry in plan.data:
        if entry.test is not None:
            loaded = load_source(entry.source)
            train, test = loaded.dataset, loaded.test
            assert test is not None
            scores = weights_for_all_ranges(train, test)
            rows[entry.name] = om.evaluate(scores, train, test, 15, **plan.evaluation.parameters)
    table = pd.DataFrame(rows).T.round(6).rename_axis("data")
    table.to_csv(HERE / "results" / "mlc_ranges.csv", lineterminator="\n")
