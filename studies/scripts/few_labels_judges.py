"""Who should judge whether a ranking needs its labels: forests out of bag, forests of folds, or neighbours?

    python studies/scripts/few_labels_judges.py DATA [SET ...]

As few_labels.py, with other seeds and one fold each: rankings of 30 trees at the levels 0, 0.5 and 1 and pairs of them,
and what each judge thinks of them from the labelled examples alone. figures.py then follows the judges in several ways.
One line per data set, number of labels and seed is added to few_labels_judges_raw.jsonl.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from few_labels import MOST_EXAMPLES, data_sets
from madelon import true_features

import omnirank as om
from omnirank.core.seeds import stream
from omnirank.ensembles import scores
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import ScoredTree
from omnirank.ensembles.supervision import resolve_supervision, squared_losses
from omnirank.evaluation.folds import make_folds
from omnirank.neighbors.weighted import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import clustering_columns, get_task
from omnirank.trees.prediction import average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import tree_from_grown

SETS = (
    "pol",
    "cpu-act",
    "ionosphere",
    "page-blocks",
    "mortgage",
    "wq",
    "emotions",
    "digits",
    "madelon",
    "scene",
    "soybean",
)
LABELLED = (50, 100, 200, 500)
SEEDS = (0, 1, 2, 3)
SECONDS_A_SET = 20
SCORES = {"genie3": scores.genie3, "symbolic": scores.symbolic}
CANDIDATES = {"1": (1.0,), "0.5": (0.5,), "0": (0.0,), "1+0.5": (1.0, 0.5), "1+0": (1.0, 0.0)}
TREES, JUDGING_TREES, NEIGHBORS, FOLDS = 30, (8, 16), (5, 10, 20), 3


def forest(data: om.Dataset, level: float, n_trees: int, entropy: int) -> tuple[dict[str, np.ndarray], list, int]:
    """Return the shares of the features in each tree by score, the trees, and the number of target columns."""
    plan = (
        GrowingData(data, entropy, n_jobs=1)
        .at_level(level)
        .plan(GrowingRules(supervision=level, normalize_targets=True))
    )
    shares = {name: np.zeros((n_trees, data.n_features)) for name in SCORES}
    trees = []
    for i in range(n_trees):
        grown = plan.grow(i)
        trees.append(tree_from_grown(grown, plan.dataset.features, *node_means(grown, plan.columns)))
        for name, score in SCORES.items():
            row = score(ScoredTree(plan, grown)).row
            shares[name][i] = row / (row.sum() or 1)
    return shares, trees, plan.columns.n_columns


def candidates(by_level: dict[float, dict[str, np.ndarray]], score: str, n_trees: int) -> dict[str, np.ndarray]:
    """Return the rankings of the first trees: levels alone, and pairs."""
    rows = {level: shares[score][:n_trees].mean(axis=0) for level, shares in by_level.items()}
    return {name: np.mean([rows[level] for level in levels], axis=0) for name, levels in CANDIDATES.items()}


def judged(data: om.Dataset, entropy: int) -> dict[str, list[float]]:
    """Return the mean difference to the supervised ranking and its standard error, by judge and candidate."""
    rows = np.flatnonzero(data.labelled)
    part = data.take(rows)
    columns = get_task(data.task).columns(part.target, data.hierarchy, 0.75)
    clustering = clustering_columns(columns, None, True)
    known = columns.matrix.toarray() if columns.is_sparse else columns.matrix
    order = stream(entropy, 2**31 + 1).permutation(len(rows))
    most = max(JUDGING_TREES)
    unsupervised, _, _ = forest(data, 0.0, most, entropy)
    losses: dict[tuple[Any, ...], np.ndarray] = {}
    for fold in (order[start::FOLDS] for start in range(FOLDS)):
        outside = np.setdiff1d(np.arange(len(rows)), fold)
        hidden = data.hide_labels(rows[fold])
        near, far = part.features.take(outside), part.features.take(fold)
        by_level = {0.0: unsupervised}
        for level in (0.5, 1.0):
            by_level[level], trees, n_columns = forest(hidden, level, most, entropy)
            for n in JUDGING_TREES:
                found = squared_losses(columns, fold, clustering, average_means(trees[:n], far, n_columns))
                losses.setdefault(("forest", n, 0, f"{level:g}"), np.empty(len(rows)))[fold] = found
        for score in SCORES:
            for n in JUDGING_TREES:
                for name, row in candidates(by_level, score, n).items():
                    ids = weighted_neighbors(near, far, ranking_weights(row), max(NEIGHBORS), 1)
                    for k in NEIGHBORS:
                        means = neighbor_means(known[outside], ids[:, :k])
                        found = squared_losses(columns, fold, clustering, means)
                        losses.setdefault((score, n, k, name), np.empty(len(rows)))[fold] = found
    told = {}
    for (judge, n, k, name), found in losses.items():
        difference = found - losses[judge, n, k, "1"]
        noise = difference.std(ddof=1) / np.sqrt(len(difference))
        told[f"{judge}|{n}|{k}|{name}"] = [float(difference.mean()), float(noise)]
    return told


def figures(data: om.Dataset, fold: Any, seed: int, true: set[str]) -> dict[str, Any]:
    """Rank and judge one fold."""
    train, restored, test = fold.training(data), fold.training_with_all_labels(data), fold.testing(data)
    entropy = 1000 * seed + 7
    told = judged(train, entropy)
    level = resolve_supervision(
        "auto", GrowingData(train, entropy, n_jobs=1), GrowingRules(normalize_targets=True)
    ).level
    by_level = {w: forest(train, w, TREES, entropy)[0] for w in {0.0, 0.5, 1.0, level}}
    values = {}
    for score in SCORES:
        found = candidates(by_level, score, TREES)
        found["out of bag"] = (by_level[1.0][score] + by_level[level][score]).mean(axis=0) / 2
        for name, row in found.items():
            same = om.evaluate(row, train, test)
            oracle = om.evaluate(row, restored, test, neighbors="oracle")
            measure = next(iter(same))
            sign = -1 if measure == "rrmse" else 1
            best = [data.feature_names[f] for f in np.argsort(-row, kind="stable")[: len(true)]]
            share = len(true & set(best)) / max(len(true), 1)
            values[f"{name}|{score}"] = [sign * same[measure], sign * oracle[measure], share]
    return {"labelled": fold.n_labelled, "seed": seed, "level": level, "told": told, "values": values}


def main(folder: Path, names: list[str], out: Path) -> None:
    """Run the study and add to its figures."""
    warnings.simplefilter("ignore")
    known = data_sets(folder)
    with out.open("a") as file:
        for name in names or SETS:
            data = om.load(folder / "unsupervised" / "madelon.mat") if name == "madelon" else known[name]()
            true = true_features(data) if name == "madelon" else set()
            if data.n_examples > MOST_EXAMPLES:
                data = data.take(np.sort(np.random.default_rng(0).permutation(data.n_examples)[:MOST_EXAMPLES]))
            counts = [n for n in LABELLED if n < data.n_examples / 2]
            start = time.perf_counter()
            for seed in SEEDS:
                for fold in make_folds(data, "semi-supervised", labelled=counts, n_folds=3, random_state=seed):
                    if not fold.key.endswith("fold=0"):
                        continue
                    try:
                        found = figures(data, fold, seed, true)
                    except om.errors.DataError as error:  # all labelled examples of one class
                        print(name, fold.key, error, file=sys.stderr)
                        continue
                    file.write(json.dumps({"set": name} | found) + "\n")
                    file.flush()
                if time.perf_counter() - start > SECONDS_A_SET:
                    break


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name("few_labels_judges_raw.jsonl"))
