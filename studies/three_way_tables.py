"""The tables and the picture of 3-3FS, and how it is drawn.

python studies/three_way_tables.py    draws three_way.png
"""

from __future__ import annotations

import pandas as pd
from table_parts import HERE, figures, markdown, number, outcome

from omnirank.evaluation.statistics import compare_methods
from omnirank.measures import MEASURES

METHODS = ["3-3FS", "S-CLS", "ML-MI", "PPT+MI", "ET unbiased", "Relief", "random"]
SHOWN = {
    "f1_micro": "micro-F",
    "hamming_loss": "Hamming loss",
    "average_precision": "average precision",
    "ranking_loss": "ranking loss",
    "mean_auroc": "macro AUC",
}


def _curves(measure: str) -> pd.DataFrame:
    """Values by data set, method and number of features; all features are the number 0."""
    found = figures("three_way")
    top = found["choice"].str.extract(r"top=(\d+)")[0].fillna(0).astype(int)
    return found.assign(top=top).pivot(index=["data", "method"], columns="top", values=measure)


def three_way_measures() -> str:
    """All measures of the top 30 features."""
    curves = {measure: _curves(measure) for measure in SHOWN}
    sets = list(dict.fromkeys(figures("three_way")["data"]))
    rows = []
    for data in sets:
        for method in [*METHODS, "all features"]:
            top = 0 if method == "all features" else 30
            cells = [number(table.loc[(data, method), top]) for table in curves.values()]
            rows.append([f"{data}: {method}", *cells])
    return markdown(["data, ranking", *SHOWN.values()], rows)


def three_way_neighbors() -> str:
    """Micro-F of the top 30 features of S-CLS by its number of neighbours, with standard deviations over the runs."""
    found = figures("three_way_neighbors")
    sets = list(dict.fromkeys(found["data"]))
    rows = []
    for choice, own in found.fillna({"choice": ""}).groupby("choice", sort=False):
        name = choice.replace("n_neighbors=", "k = ") or "chosen by cross-validation"
        own = own.set_index("data")
        rows.append([name, *(f"{own.loc[s, 'f1_micro']:.3f} ± {own.loc[s, 'deviation']:.3f}" for s in sets)])
    rows.sort(key=lambda row: (not row[0].startswith("k"), int(row[0].removeprefix("k = ")) if row[0][0] == "k" else 0))
    return markdown(["neighbours", *sets], rows)


def three_way_ranks() -> str:
    """Average ranks over the data sets of the means over all numbers of features, for each measure, and the tests."""
    columns, texts = {}, []
    for measure, shown in SHOWN.items():
        table = _curves(measure).drop(columns=0).mean(axis=1).unstack("method")[METHODS]
        found = compare_methods(table, MEASURES[measure].larger_is_better)
        columns[shown] = found.average_ranks
        texts.append(f"{shown}: {outcome(found)}")
    ranks = pd.DataFrame(columns)
    order = ranks.mean(axis=1).sort_values().index
    rows = [[name, *(number(value, 2) for value in ranks.loc[name])] for name in order]
    return markdown(["ranking", *columns], rows) + "\n\n" + "\n\n".join(texts)


def three_way_stability() -> str:
    """Kuncheva's index of the top 30 and micro-F, for S-CLS and 3-3FS and some others."""
    found = pd.read_csv(HERE / "results" / "three_way_stability.csv")
    f1 = _curves("f1_micro")
    rows = []
    for row in found.to_dict("records"):
        interval = f"{row['top_k']:.2f} ({row['top_k_low']:.2f} to {row['top_k_high']:.2f})"
        curve = f1.loc[(row["data"], row["method"])].drop(0)
        cells = [interval, number(row["spearman"], 2), number(curve[10]), number(curve[30]), number(curve.mean())]
        rows.append([f"{row['data']}: {row['method']}", *cells])
    head = ["data, ranking", "Kuncheva of the top 30", "Spearman", "micro-F, top 10", "top 30", "mean over 1 to 30"]
    return markdown(head, rows)


def three_way_shares() -> str:
    """Micro-F and Hamming loss of the top 30 features over the share of labelled examples."""
    found = figures("three_way_shares")
    rank = found.groupby("data")["labelled"].transform(lambda counts: counts.rank(method="dense").astype(int))
    found = found.assign(share=rank.map({1: "20 %", 2: "60 %", 3: "100 %"}))
    rows = []
    for data in dict.fromkeys(found["data"]):
        for method in METHODS:
            part = found[(found["data"] == data) & (found["method"] == method)].set_index("share")
            shares = ["20 %", "60 %", "100 %"]
            cells = [number(part.loc[share, m]) for m in ("f1_micro", "hamming_loss") for share in shares]
            rows.append([f"{data}: {method}", *cells])
    return markdown(["data, ranking", "micro-F, 20 %", "60 %", "100 %", "Hamming loss, 20 %", "60 %", "100 %"], rows)


def three_way_times() -> str:
    """CPU seconds of a ranking of half of the examples."""
    found = pd.read_csv(HERE / "results" / "three_way_stability.csv")
    seconds = found.pivot(index="method", columns="data", values="seconds")
    sets = list(dict.fromkeys(found["data"]))
    rows = [
        [method, *(number(seconds.loc[method, data], 2) for data in sets)] for method in dict.fromkeys(found["method"])
    ]
    return markdown(["ranking", *sets], rows)


def draw() -> None:
    """Draw micro-F against the number of features."""
    import matplotlib.pyplot as plt

    curves = _curves("f1_micro")
    sets = list(dict.fromkeys(figures("three_way")["data"]))
    figure, axes = plt.subplots(1, len(sets), figsize=(3.1 * len(sets), 3.2), layout="constrained")
    for axis, data in zip(axes, sets, strict=True):
        for method in METHODS:
            curve = curves.loc[(data, method)].drop(0)
            style = {"3-3FS": "-", "S-CLS": "--", "random": ":"}.get(method, "-")
            width = 2.2 if method in ("3-3FS", "S-CLS") else 1.1
            axis.plot(curve.index, curve, style, linewidth=width, label=method)
        axis.axhline(curves.loc[(data, "all features"), 0], color="grey", linewidth=0.8)
        axis.set(title=data, xlabel="features")
    axes[0].set_ylabel("micro-F")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    figure.savefig(HERE / "three_way.png", dpi=110)


TABLES = [
    three_way_measures,
    three_way_neighbors,
    three_way_ranks,
    three_way_stability,
    three_way_shares,
    three_way_times,
]

if __name__ == "__main__":
    draw()
