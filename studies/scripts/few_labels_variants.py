"""Ways to use unlabelled examples in a ranking, compared before one of them became the default.

    python studies/scripts/few_labels_variants.py DATA [SET ...]

As few_labels.py, with other seeds, for more variants: fixed levels of supervision, means of rankings, feature weights,
scores of the target's part alone, and levels chosen in several ways. All differences are to the supervised ranking of
as many trees. One line per data set, number of labels, seed and fold is added to few_labels_variants_raw.jsonl.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from few_labels import LABELLED, MOST_EXAMPLES, data_sets

import omnirank as om
from omnirank.ensembles import scores
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import ScoredTree
from omnirank.ensembles.supervision import cross_validated_error, out_of_bag_losses, resolve_feature_weights
from omnirank.evaluation.folds import make_folds

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
TREES = 30
SECONDS_A_SEED = 55


def forest(data: GrowingData, level: float, n_trees: int = TREES) -> dict[str, np.ndarray]:
    """Return the scores of a forest as shares: Genie3, Symbolic, and the target's part of Genie3."""
    plan = data.at_level(level).plan(GrowingRules(supervision=level, normalize_targets=True))
    sums = {name: np.zeros(plan.dataset.n_features) for name in ("genie3", "symbolic", "target")}
    for i in range(n_trees):
        tree = ScoredTree(plan, plan.grow(i))
        sums["genie3"] += scores.genie3(tree).row
        sums["symbolic"] += scores.symbolic(tree).row
        if 0 < level < 1:
            sums["target"] += scores.genie3_per_target(plan, tree.grown).sum(axis=0)
    return {name: shares(row) for name, row in sums.items()}


def shares(row: np.ndarray) -> np.ndarray:
    """Divide by the sum, unless that is 0."""
    return row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row))


def rankings(train: om.Dataset, entropy: int) -> tuple[dict[tuple[str, str], np.ndarray], dict[str, Any]]:
    """Return the scores of all variants, and the losses of labelled examples by which levels can be chosen."""
    data = GrowingData(train, entropy, n_jobs=1)
    forests = {w: forest(data, w) for w in GRID}
    weighted = forest(resolve_feature_weights("auto", data, GrowingRules(normalize_targets=True)), 0.5)
    large = forest(data, 1.0, 100)
    found: dict[tuple[str, str], np.ndarray] = {("uniform", "none"): np.ones(train.n_features)}
    for score in ("genie3", "symbolic"):
        by_level = {w: forests[w][score] for w in GRID}
        found |= {(f"w={w:g}", score): row for w, row in by_level.items()}
        found["mean over levels", score] = np.mean([by_level[w] for w in GRID[1:]], axis=0)
        found["pairs, w=0.5", score] = (by_level[1.0] + by_level[0.5]) / 2
        found["pairs, w=0.25", score] = (by_level[1.0] + by_level[0.25]) / 2
        found["feature weights, w=0.5", score] = weighted[score]
        found["supervised, 100 trees", score] = large[score]
    found["pairs, feature weights", "genie3"] = (weighted["genie3"] + forests[1.0]["genie3"]) / 2
    for w in (0.25, 0.5, 0.75):
        found[f"target part, w={w:g}", "genie3"] = forests[w]["target"]
    supervised = data.labelled.plan(GrowingRules(normalize_targets=True))
    losses = {
        w: out_of_bag_losses(data, GrowingRules(supervision=w, normalize_targets=True), supervised.clustering, TREES)
        for w in GRID
    }
    met = ~np.any([np.isnan(row) for row in losses.values()], axis=0)
    differences = {w: (row - losses[1.0])[met] for w, row in losses.items()}
    info = {
        "loss": {w: float(row[met].mean()) for w, row in losses.items()},
        "difference": {w: float(row.mean()) for w, row in differences.items()},
        "standard_error": {w: float(row.std(ddof=1) / np.sqrt(len(row))) for w, row in differences.items()},
    }
    return found, info


def figures(data: om.Dataset, fold: Any, seed: int) -> dict[str, Any]:
    """Rank and judge one fold."""
    train, restored, test = fold.training(data), fold.training_with_all_labels(data), fold.testing(data)
    entropy = 1000 * seed + 7
    found, info = rankings(train, entropy)
    if data.n_features <= 120 and fold.key.endswith("fold=0"):
        info["cv"] = cross_validated_error(
            GrowingData(train, entropy, n_jobs=1), GrowingRules(normalize_targets=True), GRID, 10, 4
        )
    values = {}
    for (variant, score), row in found.items():
        same = om.evaluate(row, train, test)
        oracle = om.evaluate(row, restored, test, neighbors="oracle")
        measure = next(iter(same))
        sign = -1 if measure == "rrmse" else 1
        values[f"{variant}|{score}"] = [sign * same[measure], sign * oracle[measure]]
    return {"labelled": fold.n_labelled, "seed": seed, "fold": fold.key, "info": info, "values": values}


def main(folder: Path, names: list[str], out: Path) -> None:
    """Run the study and add to its figures."""
    warnings.simplefilter("ignore")
    known = data_sets(folder)
    with out.open("a") as file:
        for name in names or known:
            data = known[name]()
            if data.n_examples > MOST_EXAMPLES:
                data = data.take(np.sort(np.random.default_rng(0).permutation(data.n_examples)[:MOST_EXAMPLES]))
            wide = data.n_features > 120
            counts = [n for n in LABELLED if n < data.n_examples / 2 and (not wide or n in (50, 200))]
            start = time.perf_counter()
            for seed in (0,) if wide else (0, 1):
                folds = make_folds(data, "semi-supervised", labelled=counts, n_folds=3, random_state=seed)
                for fold in sorted(folds, key=lambda fold: fold.key[-1]):
                    try:
                        found = figures(data, fold, seed)
                    except om.errors.DataError as error:  # all labelled examples of one class
                        print(name, fold.key, error, file=sys.stderr)
                        continue
                    file.write(json.dumps({"set": name} | found) + "\n")
                    file.flush()
                    if time.perf_counter() - start > SECONDS_A_SEED * (seed + 1):
                        break


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name("few_labels_variants_raw.jsonl"))
