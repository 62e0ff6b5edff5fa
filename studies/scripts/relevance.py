"""The default beside Genie3 of the same trees, Relief and the univariate score, on all known truths.

    python studies/scripts/relevance.py [n_seeds] [first_seed] [n_jobs]

writes the area under the ROC curve of relevant against noise features into ``results/relevance.csv``: by truth and
method.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from truths import FIGURES, TRUTHS

import omnirank as om

RESULTS = FIGURES.with_name("relevance.csv")


def areas_of(name: str, seed: int) -> list[tuple[str, str, float]]:
    """Return the area of each method on a truth."""
    warnings.simplefilter("ignore")  # noise of 300 levels looks like an identifier
    X, relevant, y = TRUTHS[name](np.random.default_rng(seed))
    forest = om.EnsembleRanker(random_state=seed, n_jobs=1).fit(X, y)
    rankings = {
        "unbiased": forest.ranking_,
        "genie3": forest.rankings_["genie3"],
        "univariate": om.UnivariateRanker().fit(X, y).ranking_,
        "relief": om.ReliefRanker(random_state=seed, n_jobs=1).fit(X, y).ranking_,
    }
    return [(name, method, roc_auc_score(X.columns.isin(relevant), r.scores)) for method, r in rankings.items()]


def main(n_seeds: int = 4, first: int = 2000, n_jobs: int = 1) -> None:
    """Rank, and write the areas."""
    work = (delayed(areas_of)(name, seed) for name in TRUTHS for seed in range(first, first + n_seeds))
    rows = [row for rows in Parallel(n_jobs)(work) for row in rows]
    areas = pd.DataFrame(rows, columns=["truth", "method", "auc"])
    table = areas.groupby(["truth", "method"], sort=False)["auc"].agg(["mean", "std", "size"]).round(4).reset_index()
    table["place"] = table["truth"].map(list(TRUTHS).index)
    table = table.sort_values("place", kind="stable").drop(columns="place")
    table.to_csv(RESULTS, index=False)
    print(table.pivot(index="truth", columns="method", values="mean").reindex(TRUTHS).round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
