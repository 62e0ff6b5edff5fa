"""The tables of rankings without a target."""

from __future__ import annotations

import pandas as pd
from table_parts import HERE, figures, markdown, number, published, values

from omnirank.evaluation.statistics import compare_methods


def unsupervised() -> str:
    """Errors of the top 16 features beside the printed ones and random rankings."""
    found, printed = figures("unsupervised"), published("unsupervised")
    ours = values("unsupervised", "top_features_rmse")
    random = found[found["label"] == "random"].set_index("data")["top_features_rmse"]
    rows = []
    for data in ours.index:
        cells = [data, _digits(ours.loc[data, "URelief"]), printed.loc[data, "URelief"]]
        cells.append(printed.loc[data, "URelief recomputed"])
        for name in ("ET genie3", "ET permutation"):
            value = ours.loc[data, name]
            cells.append("" if pd.isna(value) else f"{_digits(value)} ({printed.loc[data, name]})")
        cells.append(_digits(random[data]) if data in random else "")
        rows.append(cells)
    heading = ["URelief", "printed", "recomputed", "Genie3, ET", "RForest, ET", "random (mean of 10)"]
    return markdown(["data set", *heading], rows)


def unsupervised_ties() -> str:
    """Errors of Relief over orders of the training examples."""
    ours = pd.read_csv(HERE / "results" / "unsupervised_ties.csv", index_col=0)
    printed = published("unsupervised")["URelief"]
    rows = [[data, _digits(row["least"]), _digits(row["most"]), printed[data]] for data, row in ours.iterrows()]
    return markdown(["data set", "least error", "largest error", "printed"], rows)


def unsupervised_mse() -> str:
    """Mean squared errors."""
    ours = values("unsupervised", "mse")
    names = ["URelief", "ET genie3", "ET permutation", "random"]
    rows = [
        [data, *("" if pd.isna(ours.loc[data, name]) else _digits(ours.loc[data, name]) for name in names)]
        for data in ours.index
    ]
    return markdown(["data set", "URelief", "Genie3, ET", "RForest, ET", "random"], rows)


def unsupervised_relief_settings() -> str:
    """Average ranks of the settings of Relief."""
    ours = values("unsupervised_relief_settings", "top_features_rmse")
    found = compare_methods(ours, larger_is_better=False, digits=4)
    shares, counts = (0.1, 0.25, 0.5, 0.75, 1.0), (5, 10, 15, 20, 30, 40)
    rows = [
        [
            f"{share:.0%}".replace("%", " %"),
            *(number(found.average_ranks[f"URelief (n_iterations={share} n_neighbors={k})"], 1) for k in counts),
        ]
        for share in shares
    ]
    return markdown(["iterations", *(f"K = {k}" for k in counts)], rows) + "\n\n" + found.summary()


def unsupervised_widths() -> str:
    """Errors over the number of features tried in a node."""
    found = figures("unsupervised_widths")
    found["tried"] = found["choice"].str.extract(r"max_features=(\w+)")
    rows = []
    for data in dict.fromkeys(found["data"]):
        for score in ("genie3", "permutation"):
            part = found[(found["data"] == data) & found["method"].str.endswith(score)]
            cells = []
            for ensemble in ("ET", "RF"):
                own = part[part["method"].str.startswith(ensemble)].set_index("tried")["top_features_rmse"]
                cells += [_four(own.get(tried)) for tried in ("log2", "sqrt", "all")]
            rows.append([f"{data}, {score}", *cells])
    return markdown(["data set, score", *(f"{e}, {n}" for e in ("ET", "RF") for n in ("log2", "sqrt", "all"))], rows)


def _four(value: float | None) -> str:
    return "" if value is None or pd.isna(value) else f"{value:.4g}"


def _digits(value: float) -> str:
    """Five significant digits: one or two more than are printed."""
    return f"{value:.5g}"


TABLES = [
    unsupervised,
    unsupervised_ties,
    unsupervised_mse,
    unsupervised_relief_settings,
    unsupervised_widths,
]
