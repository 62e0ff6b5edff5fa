"""The tables of rankings without a target by methods of others."""

from __future__ import annotations

import pandas as pd
from table_parts import HERE, figures, markdown, number, outcome, published

from omnirank.evaluation.statistics import compare_methods

# Number of classes, which the study takes as that of clusters; ours is the nearer of 2 and 10.
CLASSES = {"lung_small": 7, "colon": 2, "lymphoma": 9, "Yale": 15, "madelon": 2}
METHODS = ["Laplacian", "SPEC", "SPEC turned", "MCFS", "NDFS", "UDFS", "AgnoS-S", "variance", "dispersion"]
OURS = ["URelief", "ET genie3", "ET unbiased"]


def _errors() -> pd.DataFrame:
    """Errors of the top 16 features: data sets as rows, methods as columns."""
    found = figures("unsupervised_rivals")
    clusters = found["data"].map(lambda name: f"n_clusters={2 if CLASSES[name] == 2 else 10}")
    found = found[(found["choice"] == "") | (found["choice"] == clusters)]
    table = found.pivot(index="data", columns="method", values="top_features_rmse").loc[list(CLASSES)]
    before = pd.read_csv(HERE / "results" / "unsupervised_ensembles.csv", index_col=0)
    table["ET genie3"], table["random"] = before["ET genie3"], before["random"]
    return table


def unsupervised_rivals() -> str:
    """Errors of all methods, with the printed ones in parentheses."""
    ours, printed = _errors(), published("unsupervised_rivals")
    rows = []
    for method in [*METHODS, *OURS, "random"]:
        cells = []
        for data in ours.index:
            value = ours.loc[data, method]
            beside = f" ({printed.loc[data, method]})" if method in printed and data in printed.index else ""
            cells.append("" if pd.isna(value) else f"{value:.4g}{beside}")
        rows.append([method, *cells])
    return markdown(["ranking", *ours.index], rows)


def unsupervised_rivals_ranks() -> str:
    """Average ranks over the sets that have all methods, tests, and errors relative to random rankings."""
    table = _errors().drop(columns="UDFS").dropna()
    found = compare_methods(table, larger_is_better=False)
    relative = (table.div(table["random"], axis=0) - 1).mean()
    rows = [
        [name, number(rank, 2), f"{relative[name]:+.1%}".replace("%", " %")]
        for name, rank in found.average_ranks.items()
    ]
    text = markdown(["ranking", "average rank", "error relative to random, mean"], rows)
    return text + "\n\n" + outcome(found)


TABLES = [unsupervised_rivals, unsupervised_rivals_ranks]
