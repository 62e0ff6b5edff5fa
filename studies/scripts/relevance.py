"""The relevance score beside the default, Genie3 of the same trees and the univariate score, on all known truths.

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


def areas_of(name: str, seed: int) -> list[tuple[str, str, float]]:
    """Return the area of each method on a truth."""
    warnings.simplefilter("ignore")  # noise of 300 levels looks like an identifier
    X, relevant, y = TRUTHS[name](np.random.default_rng(seed))
    forests = [om.EnsembleRanker(score, random_state=seed, n_jobs=1).fit(X, y) for score in ("unbiased", "relevance")]
    rankings = {
        "unbiased": forests[0].ranking_,
        "relevance": forests[1].ranking_,
        "genie3": forests[0].rankings_["genie3"],
        "univariate": om.UnivariateRanker().fit(X, y).ranking_,
    }
    return [(name, method, roc_auc_score(X.columns.isin(relevant), r.scores)) for method, r in rankings.items()]


def main(n_seeds: int = 6, first: int = 2000, n_jobs: int = 1) -> None:
    """Rank, and write the areas."""
    work = (delayed(areas_of)(name, seed) for name in TRUTHS for seed in range(first, first + n_seeds))
    rows = [row for rows in Parallel(n_jobs)(work) for row in rows]
    areas = pd.DataFrame(rows, columns=["truth", "method", "auc"])
    table = areas.groupby(["truth", "method"], sort=False)["auc"].agg(["mean", "std", "size"]).round(4)
    table.to_csv(FIGURES.with_name("relevance.csv"))
    print(table["mean"].unstack()[list(dict.fromkeys(areas["method"]))].reindex(TRUTHS).round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
