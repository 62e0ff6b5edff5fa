"""The tables on Relief's defaults, which ../tables.py writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from omnirank.evaluation.statistics import wilcoxon_test

FIGURES = Path(__file__).parent.parent / "results" / "defaults_relief.json"
FORMS = {"relieff": "hits and misses", "rrelieff": "distance form"}
TREATMENTS = ["distant", "left out", "left out, no root", "expected", "expected, by class"]


def rows_of(part: str) -> list[dict[str, Any]]:
    """Return the figures of one part of the study."""
    return list(json.loads(FIGURES.read_text())[part])


def markdown(head: list[str], rows: list[list[Any]], digits: int = 3, groups: int = 1) -> str:
    """Return a table; the first column holds words, the others numbers; the best of each group of columns is bold."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for name, *values in rows:
        shown = ["" if pd.isna(value) else f"{value:.{digits}f}" for value in values]
        size = len(shown) // groups
        best = [max(filter(None, shown[i : i + size]), key=float) for i in range(0, len(shown), size)]
        lines.append([str(name), *(f"**{cell}**" if cell == best[i // size] else cell for i, cell in enumerate(shown))])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def truths() -> str:
    """AUC of true against noise features."""
    found = rows_of("truths")
    table = pd.DataFrame([row["auc"] for row in found], index=[row["case"] for row in found])
    rows = [[case, *values] for case, values in zip(table.index, table.to_numpy().tolist(), strict=True)]
    return markdown(["data", "before", "now"], [*rows, ["mean", *table.mean()]])


def missing() -> str:
    """AUC for each treatment of missing cells, means over cases and shares of 10 to 60 %."""
    found = [row for row in rows_of("missing") if row["share"] > 0]
    table = pd.DataFrame([{"form": row["form"], "mode": row["mode"], **row["auc"]} for row in found])
    means = table.groupby(["form", "mode"], sort=False)[TREATMENTS].mean()
    rows = [[f"{FORMS[form]}, {mode}", *values] for (form, mode), values in means.iterrows()]
    return markdown(["missing", *TREATMENTS], [*rows, ["least of these", *means.min()]])


def missing_by_share() -> str:
    """AUC of the old and the new treatment by the share of missing cells."""
    found = rows_of("missing")
    modes = ("by chance", "by target", "by target, noise")
    table = pd.DataFrame([{"share": row["share"], "mode": row["mode"], **row["auc"]} for row in found])
    means = table.groupby(["share", "mode"])[["distant", "left out"]].mean()
    none = means.loc[(0.0, "by chance")]
    rows = [
        [
            f"{share:.0%}".replace("%", " %"),
            *(v for mode in modes for v in (means.loc[(share, mode)] if share else none)),
        ]
        for share in sorted(set(table["share"]))
    ]
    head = [f"{mode}: {name}" for mode in modes for name in ("distant", "left out")]
    return markdown(["share", *head], rows, groups=len(modes))


def hardly_known() -> str:
    """AUC where half of the noise features are hardly known."""
    head = ["missing", *TREATMENTS[:4]]
    rows = [
        [
            f"{row['case']}, {FORMS[row['form']]}, {row['share']:.0%}".replace("%", " %"),
            *(row["auc"][t] for t in head[1:]),
        ]
        for row in rows_of("hardly-known")
    ]
    return markdown(head, rows)


def few_labels() -> str:
    """AUC for partly labelled data, by the share that is labelled."""
    found = rows_of("few-labels")
    table = pd.DataFrame([{"share": row["share"], **row["auc"]} for row in found])
    means = table.groupby("share").mean()
    rows = [[f"{share:.0%} labelled".replace("%", " %"), *values] for share, values in means.iterrows()]
    worse = [sum(row["auc"][name] < row["auc"]["now"] - 1e-9 for row in found) for name in means.columns]
    return (
        markdown(["", "before", "now (left out)", '`influence="cv"`'], rows)
        + f'\n\nWorse than leaving out: before in {worse[0]} of {len(found)} cases, `"cv"` in {worse[2]}.'
    )


def compared(part: str, measure: str, one: str, other: str) -> tuple[pd.DataFrame, str]:
    """Return the values of public data sets, and a sentence that compares two variants."""
    found = rows_of(part)
    table = pd.DataFrame([row[measure] for row in found], index=[row["set"] for row in found])
    gain = table[other] - table[one]
    test = wilcoxon_test(table[other].to_numpy(), table[one].to_numpy())
    return table, (
        f"Better on {(gain > 0).sum()}, worse on {(gain < 0).sum()} of {len(table)}; "
        f"mean difference {gain.mean():+.4f}, Wilcoxon p = {test.p_value:.2g}."
    )


def sets() -> str:
    """Accuracy of neighbours weighted by the rankings."""
    table, sentence = compared("sets", "accuracy", "before", "now")
    rows = [[name, *values] for name, values in table.iterrows()]
    return (
        markdown(["data set", "before", "now", "equal weights"], [*rows, ["mean", *table.mean()]]) + "\n\n" + sentence
    )


def hierarchies() -> str:
    """Area under the pooled precision-recall curve for each distance."""
    table, sentence = compared("hierarchies", "pooled_auprc", "hamming", "f1")
    rows = [[name, *values] for name, values in table.iterrows()]
    head = ["data set", "Hamming", "F1", "accuracy", "Euclidean", "equal weights"]
    return (
        markdown(head, [*rows, ["mean", *table.mean()]], 4)
        + "\n\nF1 against Hamming: "
        + sentence[0].lower()
        + sentence[1:]
    )


TABLES = {
    "relief-truths": truths,
    "relief-missing": missing,
    "relief-missing-by-share": missing_by_share,
    "relief-hardly-known": hardly_known,
    "relief-few-labels": few_labels,
    "relief-sets": sets,
    "relief-hierarchies": hierarchies,
}
