"""Which rule should choose the level of supervision?

    python studies/scripts/levels.py DATA [SET ...]

DATA is the folder of the data sets. Single trees, forests and rankings of every level are judged on held-out examples,
beside the losses of the labelled examples in 3-fold cross-validation, and beside "auto". Large sets are cut to 900
examples, a third of them for tests. One line per set, number of labels, draw and model is added to levels_raw.jsonl
beside this file; figures.py follows the rules.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from few_labels import data_sets

import omnirank as om
from omnirank.measures import measure
from omnirank.neighbors.weighted import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import get_task

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABELLED = (25, 50, 100, 200, 500)
DRAWS, FOLDS, MOST_EXAMPLES, TREES, FOLD_TREES, NEIGHBORS = 10, 3, 900, 30, 10, 10
REPETITIONS = {"tree": 3, "forest": 1, "ranking": 1}
SECONDS = float(os.environ.get("SECONDS_A_SET", "65"))
SETS = (
    "emotions",
    "scene",
    "birds",
    "church",
    "imclef07d",
    "ionosphere",
    "page-blocks",
    "soybean",
    "digits",
    "spambase",
)
SETS += ("tic-tac-toe", "mortgage", "abalone", "cpu-act", "pol", "wq", "edm", "atp1d", "enb", "scpf")


def predictor(kind: str, data: om.Dataset, level: Any, n_trees: int) -> Any:
    """Return what predicts: the model, or for a ranking a forest like its own."""
    numbers = get_task(data.task).kind == "numbers"
    if kind == "tree":
        return (om.PCTRegressor if numbers else om.PCTClassifier)(supervision=level, random_state=0)
    own = {"ensemble": "extra-trees", "min_labelled_leaf": 0} if kind == "ranking" else {}
    model = om.PCTForestRegressor if numbers else om.PCTForestClassifier
    return model(n_trees=n_trees, supervision=level, random_state=0, n_jobs=1, **own)


def judged(values: dict[str, float]) -> float:
    """Return the task's first measure, larger for better predictions."""
    name, value = next(iter(values.items()))
    return -value if name == "rrmse" else value


def judge(kind: str, level: Any, train: om.Dataset, whole: om.Dataset, test: om.Dataset) -> tuple[float, Any]:
    """Fit a model of a level; return how good it is on the test examples, and the model."""
    if kind == "ranking":
        model = om.EnsembleRanker(n_trees=TREES, supervision=level, random_state=0, n_jobs=1).fit(train)
        return judged(om.evaluate(model.ranking_, whole, test, neighbors="oracle")), model
    model = predictor(kind, train, level, TREES).fit(train)
    shared = {"training": train.target, "task": train.task, "hierarchy": train.hierarchy}
    return judged(measure(test.target, model.predict_means(test), **shared)), model


def folds(train: om.Dataset, seed: int) -> Iterator[tuple[om.Dataset, om.Dataset, np.ndarray]]:
    """Yield training and test part of each fold of the labelled examples, and the weights of the target's columns."""
    task, labelled = get_task(train.task), np.flatnonzero(train.labelled)
    cells = task.columns(train.take(labelled).target, train.hierarchy).dense()
    spread = np.nanvar(cells, axis=0)
    scale = np.full(len(spread), 1 / spread.sum())
    if task.kind != "labels":
        scale = 1 / np.where(spread > 0, spread, np.inf) / (spread > 0).sum()
    order = np.random.default_rng(seed).permutation(labelled)
    for start in range(FOLDS):
        fold = np.isin(np.arange(train.n_examples), order[start::FOLDS])
        yield train.take(~fold), train.take(fold), scale


def squared(task: Any, left: om.Dataset, means: np.ndarray, scale: np.ndarray) -> list[float]:
    """Return the squared loss of each example of a fold."""
    return np.nansum((task.columns(left.target, left.hierarchy).dense() - means) ** 2 * scale, axis=1).round(5).tolist()


def losses(kind: str, train: om.Dataset, level: float, seed: int) -> list[list[float]]:
    """Return the losses of the labelled examples that a model of this level predicts, one list per fold."""
    task, found = get_task(train.task), []
    for part, left, scale in folds(train, seed):
        means = predictor(kind, train, level, FOLD_TREES).fit(part).predict_means(left)
        found.append(squared(task, left, means, scale))
    return found


def neighbor_losses(train: om.Dataset, level: float) -> list[list[float]]:
    """Return the losses of the labelled examples whose neighbours in the distance of a ranking predict them."""
    task, found = get_task(train.task), []
    for part, left, scale in folds(train, 0):
        ranking = om.EnsembleRanker(n_trees=FOLD_TREES, supervision=level, random_state=0, n_jobs=1).fit(part).ranking_
        near = part.take(part.labelled)
        ids = weighted_neighbors(near.features, left.features, ranking_weights(ranking.scores), NEIGHBORS, 1)
        means = neighbor_means(task.columns(near.target, train.hierarchy).dense(), ids)
        found.append(squared(task, left, means, scale))
    return found


def row(kind: str, train: om.Dataset, whole: om.Dataset, test: om.Dataset, with_losses: bool) -> dict[str, Any]:
    """Return what is known of one kind of model."""
    start = time.process_time()
    quality, model = judge(kind, "auto", train, whole, test)
    auto = {"level": model.supervision_, "quality": quality, "seconds": time.process_time() - start}
    if not with_losses:
        return {"auto": auto, "quality": {1.0: judge(kind, 1.0, train, whole, test)[0]}}
    curve = {w: judge(kind, w, train, whole, test)[0] for w in LEVELS}
    by_level = {w: [losses(kind, train, w, seed) for seed in range(REPETITIONS[kind])] for w in LEVELS}
    found = {"auto": auto, "quality": curve, "losses": by_level}
    if kind == "ranking":
        found["neighbors"] = {w: [neighbor_losses(train, w)] for w in LEVELS}
    return found


def main(folder: Path, names: list[str], out: Path) -> None:
    """Run the study and add to its results; AUTO_ONLY=1 judges "auto" and level 1 alone, on further draws."""
    warnings.simplefilter("ignore")
    alone = bool(os.environ.get("AUTO_ONLY"))
    readers = data_sets(folder)
    for name in names or SETS:
        data, start = readers[name](), time.perf_counter()
        for draw in range(DRAWS * alone, DRAWS * (1 + alone)):
            rows = np.random.default_rng(draw).permutation(data.n_examples)[:MOST_EXAMPLES]
            n_test = len(rows) // 3
            test, whole = data.take(np.sort(rows[:n_test])), data.take(np.sort(rows[n_test:]))
            for n in (n for n in LABELLED if n <= 0.85 * whole.n_examples):
                train = whole.keep_labels(n, random_state=draw)
                for kind in REPETITIONS:
                    place = {"set": name, "task": data.task, "labelled": n, "draw": draw, "model": kind}
                    try:
                        found = place | row(kind, train, whole, test, not alone)
                    except om.errors.DataError as error:  # all labelled examples of a fold are alike
                        print(name, n, draw, error, file=sys.stderr)
                        continue
                    with out.open("a") as file:
                        print(json.dumps(found), file=file)
            if time.perf_counter() - start > SECONDS:
                break


if __name__ == "__main__":
    kept = "levels_further_raw.jsonl" if os.environ.get("AUTO_ONLY") else "levels_raw.jsonl"
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name(kept))
