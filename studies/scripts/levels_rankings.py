"""Which level of supervision should rankings take?

    python studies/scripts/levels_rankings.py DATA OUT FIRST_DRAW N_DRAWS [SET ...]

Default rankings of 30 trees at five levels, and means of their scores, judged as in levels.py, beside the losses of
the labelled examples in 3-fold cross-validation of six trees, as the default computes them (without leaving early).
One line per set, draw and number of labels is added to OUT; figures.py follows the rules.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from few_labels import data_sets
from levels import LEVELS, MOST_EXAMPLES, SETS, TREES, judged

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.supervision import ToFit, _Comparison, squared_losses
from omnirank.tasks import get_task, plain_columns

LABELLED = (25, 50, 100, 200)
MIXTURES = {"1, 1/2": (1.0, 0.5), "all": LEVELS}
FOLDS, FOLD_TREES = 3, 6


def losses(train: om.Dataset) -> dict[float, list[list[float]]]:
    """Return the losses of the labelled examples at each level, one list per fold."""
    data, rules, task = GrowingData(train, 0), GrowingRules(ensemble="extra-trees"), get_task(train.task)
    columns = data.labelled.target_columns(rules)
    clustering = task.clustering(columns, None, None)
    if task.kind == "labels":
        clustering = plain_columns(columns, clustering)
    compared = _Comparison(data, rules, ToFit(FOLD_TREES), LEVELS, FOLDS)
    return {
        w: [squared_losses(columns, rows, clustering, means).round(5).tolist() for rows, means in compared.predicted(w)]
        for w in compared.levels
    }


def row(train: om.Dataset, whole: om.Dataset, test: om.Dataset) -> dict[str, Any]:
    """Return the quality of each level and mixture, and the losses."""
    rankings, seconds = {}, {}
    for w in LEVELS:
        start = time.process_time()
        rankings[w] = om.EnsembleRanker(n_trees=TREES, supervision=w, random_state=0, n_jobs=1).fit(train).ranking_
        seconds[w] = round(time.process_time() - start, 3)
    scores = {w: ranking.scores for w, ranking in rankings.items()}
    scores |= {name: np.mean([scores[w] for w in parts], axis=0) for name, parts in MIXTURES.items()}
    quality = {
        name: judged(om.evaluate(om.Ranking(rankings[1.0].names, own, "mean"), whole, test, neighbors="oracle"))
        for name, own in scores.items()
    }
    start = time.process_time()
    found = losses(train)
    return {"quality": quality, "losses": found, "seconds": seconds | {"losses": time.process_time() - start}}


def main(folder: Path, out: Path, first: int, n_draws: int, names: list[str]) -> None:
    """Run the study and add to its results, draw by draw."""
    warnings.simplefilter("ignore")
    readers = data_sets(folder)
    sets = {name: readers[name]() for name in names or SETS}
    for draw in range(first, first + n_draws):
        for name, data in sets.items():
            rows = np.random.default_rng(draw).permutation(data.n_examples)[:MOST_EXAMPLES]
            n_test = len(rows) // 3
            test, whole = data.take(np.sort(rows[:n_test])), data.take(np.sort(rows[n_test:]))
            for n in (n for n in LABELLED if n <= 0.85 * whole.n_examples):
                train = whole.keep_labels(n, random_state=draw)
                place = {"set": name, "task": data.task, "labelled": n, "draw": draw, "model": "ranking"}
                try:
                    found = place | row(train, whole, test)
                except om.errors.DataError as error:  # all labelled examples of a fold are alike
                    print(name, n, draw, error, file=sys.stderr)
                    continue
                with out.open("a") as file:
                    print(json.dumps(found), file=file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
