"""What should a missing cell be to the neighbours that judge rankings?

    python studies/scripts/missing_neighbors.py DATA [SET ...]

Sets with missing cells of their own, and others of which 5, 20 and 40 % of the cells are removed; three draws of 900
examples, a third of them for tests; equal weights and default rankings. Prints by how much the measure of the task is
better than with the largest possible distance: with means of the training examples, with the expected squared distance
(means plus variance), and with medians plus spread around them. Distances are written out plainly here.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure, measure_of

OWN = {
    "osales": ("mtr/osales.arff.gz", "last:12"),
    "scpf": ("mtr/scpf.arff", "last:3"),
    "rf1": ("mtr/rf1.arff.gz", "last:8"),
    "arrhythmia": ("classification/arrhythmia.arff.gz", "last"),
    "sick": ("classification/sick.arff.gz", "last"),
    "soybean": ("classification/soybean.arff.gz", "last"),
    "cellcycle_FUN": ("hmlc/cellcycle_FUN/cellcycle_FUN.train.arff.gz", "last"),
    "church_FUN": ("hmlc/church_FUN/church_FUN.train.arff.gz", "last"),
}
REMOVED = {
    "housing": ("regression/housing.arff", "last"),
    "abalone": ("regression/abalone.arff.gz", "last"),
    "cpu-act": ("regression/cpu-act.arff.gz", "last"),
    "ionosphere": ("classification/ionosphere.arff", "last"),
    "spambase": ("classification/spambase.arff.gz", "last"),
    "kr-vs-kp": ("classification/kr-vs-kp.arff.gz", "last"),
    "enb": ("mtr/enb.arff", "last:2"),
    "wq": ("mtr/wq.arff.gz", "last:14"),
    "emotions": ("mlc/emotions/emotions.arff.gz", "last:6"),
}
WAYS = ("largest", "mean", "expected", "median")


def number_distances(test: np.ndarray, train: np.ndarray, way: str) -> np.ndarray:
    """Squared distances of one numeric feature."""
    known = train[~np.isnan(train)]
    if not len(known) or known.max() == known.min():
        return np.zeros((len(test), len(train)))
    a, b, known = ((x - known.min()) / np.ptp(known) for x in (test, train, known))
    unknown_a, unknown_b = np.isnan(a), np.isnan(b)
    if way == "largest":
        apart = (a[:, None] - b) ** 2
        apart[:, unknown_b] = np.maximum(a, 1 - a)[:, None] ** 2
        apart[unknown_a] = np.maximum(b, 1 - b) ** 2
        apart[np.ix_(unknown_a, unknown_b)] = 1.0
        return apart
    middle = np.median(known) if way == "median" else known.mean()
    spread = 0.0 if way == "mean" else ((known - middle) ** 2).mean()
    apart = (np.where(unknown_a, middle, a)[:, None] - np.where(unknown_b, middle, b)) ** 2
    return apart + spread * (unknown_a[:, None].astype(float) + unknown_b)


def level_distances(test: np.ndarray, train: np.ndarray, n_levels: int, way: str) -> np.ndarray:
    """Squared distances of one nominal feature."""
    if n_levels < 2:
        return np.zeros((len(test), len(train)))
    if way == "largest":
        unknown = (test < 0)[:, None] | (train < 0)
        return np.where(unknown, (1 - 1 / n_levels) ** 2, test[:, None] != train)
    counts = np.bincount(train[train >= 0], minlength=n_levels)
    shares = counts / max(1, counts.sum())
    a, b = (np.vstack([np.eye(n_levels), shares])[codes] for codes in (test, train))
    spread = 0.0 if way == "mean" else (1 - shares @ shares) / 2
    apart = ((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T) / 2
    return apart + spread * ((test < 0)[:, None].astype(float) + (train < 0))


def quality(train: om.Dataset, test: om.Dataset, weights: np.ndarray, way: str) -> float:
    """The measure of the task, larger for better."""
    total = np.zeros((test.n_examples, train.n_examples))
    for i in np.flatnonzero(weights > 0).tolist():
        a, b, levels = test.features.column(i), train.features.column(i), train.features.levels[i]
        apart = number_distances(a, b, way) if levels is None else level_distances(a, b, len(levels), way)
        total += weights[i] * apart
    k = get_task(train.task).default_neighbors
    near = np.argsort(np.round(total, 9), axis=1, kind="stable")[:, :k]
    columns = GrowingData(train, 0).labelled.target_columns(GrowingRules()).matrix
    means = np.nanmean((columns.toarray() if hasattr(columns, "toarray") else columns)[near], axis=1)
    judged = measure_of(train.task, None)
    values = measure(test.target, means, training=train.target, task=train.task, hierarchy=train.hierarchy)
    return values[judged.name] * (1 if judged.larger_is_better else -1)


def parts(data: om.Dataset, share: float, draw: int) -> tuple[om.Dataset, om.Dataset]:
    """Training and test examples, a share of the cells removed."""
    rng = np.random.default_rng(draw)
    data = data.take(np.sort(rng.permutation(data.n_examples)[:900]))
    if share:
        frame = data.features.to_frame()
        frame = frame.mask(rng.random(frame.shape) < share)
        data = om.Dataset(frame, data.y, task=data.task, hierarchy=data.hierarchy)
    order = rng.permutation(data.n_examples)
    n_test = data.n_examples // 3
    return data.take(np.sort(order[n_test:])), data.take(np.sort(order[:n_test]))


def main(folder: Path, names: list[str]) -> None:
    """Print the differences to the largest distance."""
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name in names or [*OWN, *REMOVED]:
        path, target = (OWN | REMOVED)[name]
        options = {"task": "regression"} if path.startswith("regression") else {}
        data = om.load(folder / path, target=target, **options)
        for share in (0.0,) if name in OWN else (0.05, 0.2, 0.4):
            for draw in range(3):
                train, test = parts(data, share, draw)
                scores = om.EnsembleRanker(random_state=0).fit(train).feature_importances_
                ranked = np.maximum(scores, 0) if (scores > 0).any() else np.ones(len(scores))
                for how, weights in (("equal", np.ones(len(scores))), ("ranked", ranked)):
                    by_way = {way: quality(train, test, weights, way) for way in WAYS}
                    gains = {way: by_way[way] - by_way["largest"] for way in WAYS[1:]}
                    rows.append({"data": name, "removed": share, "weights": how} | gains)
    table = pd.DataFrame(rows).groupby(["data", "removed", "weights"], sort=False).mean()
    print(table.round(3).to_string())
    print(pd.DataFrame({"mean": table.mean(), "better": (table > 0).sum(), "worse": (table < 0).sum()}).round(3))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
