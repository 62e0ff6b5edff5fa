"""Which levels of supervision should rankings try, where it is known which features are relevant?

    python studies/scripts/levels_truths.py [DRAWS]

Generated data of 300 examples, 50 or 600 features, 25 or 60 labels. Prints the mean AUC of telling relevant features
from noise: of default rankings at each level, of the levels that the losses of the labelled examples choose with and
without level 0 ("auto"), and of the best level in hindsight.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from levels import LEVELS
from sklearn.metrics import roc_auc_score

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.supervision import ToFit, _Comparison, best_level, squared_losses
from omnirank.tasks import get_task


def truths(n_features: int, rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Return features, target and number of relevant features, which come first, by name."""
    n = 300
    X, (factor, other) = rng.normal(size=(n, n_features)), rng.normal(size=(2, n))
    three = X[:, :3].sum(axis=1) / np.sqrt(3)
    cluster, centres = rng.integers(0, 3, n), 1.5 * rng.normal(size=(3, 10))
    clustered, factors, apart = X.copy(), X.copy(), X.copy()
    clustered[:, :10] += centres[cluster]
    factors[:, :15] = 0.7 * (factor[:, None] + X[:, :15])
    factors[:, 15:45] = 0.7 * (other[:, None] + X[:, 15:45])
    apart[:, 3:23] = 0.8 * other[:, None] + 0.6 * X[:, 3:23]
    return {
        "independent": (X, three + 0.4 * rng.normal(size=n), 3),
        "independent, weak": (X, three + 1.2 * rng.normal(size=n), 3),
        "counts": (X, rng.poisson(np.exp(0.5 * three)).astype(float), 3),
        "classes": (X, np.where(three + 0.4 * rng.normal(size=n) > 0, "a", "b"), 3),
        "clusters are classes": (clustered, np.array(["a", "b", "c"])[cluster], 10),
        "factors, one is the target": (factors, factor + 0.5 * rng.normal(size=n), 15),
        "a factor beside the target": (apart, apart[:, :3].sum(axis=1) + rng.normal(size=n), 3),
    }


def chosen_levels(data: om.Dataset) -> dict[str, float]:
    """Return the level that "auto" takes with level 0 and without it."""
    growing, rules = GrowingData(data, 0), GrowingRules(ensemble="extra-trees")
    columns = growing.labelled.target_columns(rules)
    clustering = get_task(data.task).clustering(columns, None, None)
    compared = _Comparison(growing, rules, ToFit(10), LEVELS, 3)
    losses = {
        w: [(rows, squared_losses(columns, rows, clustering, means)) for rows, means in compared.predicted(w)]
        for w in compared.levels
    }
    tried = {"auto with 0": compared.levels, "auto without 0": [w for w in compared.levels if w > 0]}
    return {name: best_level(levels, losses.__getitem__, compared.weight).level for name, levels in tried.items()}


def main(n_draws: int) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rows = []
    for draw in range(n_draws):
        for n_features in (50, 600):
            for n_labelled in (25, 60):
                rng = np.random.default_rng([draw, n_features, n_labelled])
                for name, (X, y, n_relevant) in truths(n_features, rng).items():
                    task = "regression" if y.dtype.kind == "f" else "auto"
                    data = om.Dataset(X, y, task=task).keep_labels(n_labelled, random_state=draw)
                    relevant = np.arange(n_features) < n_relevant
                    auc = {}
                    for w in LEVELS:
                        ranker = om.EnsembleRanker(supervision=w, random_state=0).fit(data)
                        auc[w] = float(roc_auc_score(relevant, ranker.feature_importances_))
                    rules = {rule: auc[w] for rule, w in chosen_levels(data).items()}
                    rows.append({"data": name} | auc | rules | {"best": max(auc.values())})
    table = pd.DataFrame(rows).groupby("data", sort=False).mean()
    print(pd.concat([table, table.mean().to_frame("mean of all").T]).round(3).to_string())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
