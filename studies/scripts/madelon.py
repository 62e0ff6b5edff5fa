"""Madelon: how many of its 20 true features are on top without, with some and with all labels?

    python studies/scripts/madelon.py DATA

DATA is the folder of the data sets. The true features are linear combinations of five, so that they are correlated;
the 480 others are independent noise. Writes studies/results/madelon.csv.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

import omnirank as om

SEEDS = range(5)


def true_features(data: om.Dataset) -> set[str]:
    """Return the features that are correlated with another one."""
    correlation = np.abs(np.corrcoef(data.X, rowvar=False))
    np.fill_diagonal(correlation, 0)
    return {name for name, largest in zip(data.feature_names, correlation.max(axis=0), strict=True) if largest > 0.2}


def main(folder: Path, out: Path) -> None:
    """Rank and count."""
    data = om.load(folder / "unsupervised" / "madelon.mat")
    true = true_features(data)
    assert len(true) == 20, len(true)
    rows = []
    for seed in SEEDS:
        tenth = data.keep_labels(0.1, random_state=seed)
        cases = {
            "no labels": (om.Dataset(data.features), "auto"),
            "10 % labelled, only those (w = 1)": (tenth, 1),
            "10 % labelled, w = 0.5": (tenth, 0.5),
            "10 % labelled, auto": (tenth, "auto"),
            "all labelled": (data, 1),
        }
        for case, (dataset, level) in cases.items():
            ranker = om.EnsembleRanker("permutation", "random-forest", supervision=level, random_state=seed)
            ranker.fit(dataset)
            for score, ranking in ranker.rankings_.items():
                share = len(true & set(ranking.top(20))) / 20
                rows.append([case, score, seed, ranker.supervision_, share])
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "score", "seed", "level", "share"])
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent.parent / "results" / "madelon.csv")
