"""Do more than 100 trees add anything? The default by its number of trees, on all known truths.

    python studies/scripts/n_trees.py [n_seeds] [first_seed]

writes ``results/n_trees.csv``: by truth and number of trees the area under the ROC curve of relevant against noise
features, its standard error over the seeds, and the share of features whose score another one has, too.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from truths import FIGURES, TRUTHS

import omnirank as om

RESULTS = FIGURES.with_name("n_trees.csv")
SIZES = [25, 50, 100, 200, 400]
# Wide data and those where the default is behind come first: rows are written after each truth.
FIRST = ["60 x 4,000", "30 x 2,000", "nested", "ten weak", "skewed target", "rare class", "nominal", "product"]
FIRST += ["rare labels", "madelon-like", "missing 60%", "classes", "friedman", "three levels", "waveform", "copies"]


def main(n_seeds: int = 3, first: int = 4000) -> None:
    """Rank, and write the areas."""
    warnings.simplefilter("ignore")  # noise of 300 levels looks like an identifier
    rows = []
    for name in [*FIRST, *(name for name in TRUTHS if name not in FIRST)]:
        for seed in range(first, first + n_seeds):
            X, relevant, y = TRUTHS[name](np.random.default_rng(seed))
            fitted = om.EnsembleRanker(n_trees=SIZES, random_state=seed, n_jobs=1).fit(X, y)
            for n_trees in SIZES:
                scores = fitted.checkpoints_[n_trees]["unbiased"].scores
                tied = 1 - (np.unique(scores, return_counts=True)[1] == 1).sum() / len(scores)
                rows.append((name, n_trees, roc_auc_score(X.columns.isin(relevant), scores), tied))
        table = pd.DataFrame(rows, columns=["truth", "trees", "auc", "tied"]).groupby(["truth", "trees"], sort=False)
        found = table.agg(auc=("auc", "mean"), error=("auc", "sem"), tied=("tied", "mean")).round(4)
        found.to_csv(RESULTS)
        print(found.loc[name].to_string(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
