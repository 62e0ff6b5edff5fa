"""What the tables of the reproductions share: our results, the published ones, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from omnirank.core.ranking.certainty import adjusted_p_values
from omnirank.evaluation.statistics import Comparison, compare_methods, rounded, wilcoxon_test
from omnirank.measures import MEASURES

HERE = Path(__file__).resolve().parent

ENSEMBLES = ("Bagging", "RF", "ET")
SCORES = {"genie3": "Genie3", "symbolic": "Symbolic", "permutation": "RForest"}
PAIRS = [
    f"{ensemble} {score}" for score in SCORES for ensemble in ENSEMBLES if (ensemble, score) != ("ET", "permutation")
]


# -- results ----------------------------------------------------------------------------------------


@cache
def figures(study: str) -> pd.DataFrame:
    """Return our results of a study, with a column ``label``: the method, and its choice of a grid in parentheses."""
    found = pd.read_csv(HERE / "results" / f"{study}.csv", dtype={"choice": object})
    found["choice"] = found["choice"].fillna("")
    found["label"] = found["method"] + found["choice"].map(lambda choice: f" ({choice})" if choice else "")
    return found


@cache
def published(name: str) -> pd.DataFrame:
    """Return published results as they are printed; the first column is the index."""
    return pd.read_csv(HERE / "published" / f"{name}.csv", index_col=0, dtype=str)


def values(study: str, column: str) -> pd.DataFrame:
    """Return a column of our results: data sets as rows, methods as columns."""
    found = figures(study)
    return found.pivot(index="data", columns="label", values=column).loc[list(dict.fromkeys(found["data"]))]


def best_values(study: str, measure: str, methods: Sequence[str]) -> pd.DataFrame:
    """Return the best choice of each method for each data set."""
    found = figures(study)
    groups = found[found["method"].isin(methods)].groupby(["data", "method"])[measure]
    best = groups.max() if MEASURES[measure].larger_is_better else groups.min()
    return best.unstack("method").loc[list(dict.fromkeys(found["data"])), list(methods)]


# -- texts ------------------------------------------------------------------------------------------


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    lines = [list(header), ["---", *["---:"] * (len(header) - 1)], *map(list, rows)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def shown(label: str) -> str:
    """Return a method in the words of the studies.

    >>> shown("RF-STR genie3"), shown("Relief (n_iterations=0.25 n_neighbors=15)")
    ('Genie3, RF-STR', 'Relief, m = 25 %, k = 15')
    """
    head, _, tail = label.partition(" ")
    if tail in SCORES:
        return f"{SCORES[tail]}, {head}"
    m = re.search(r"n_iterations=([\d.]+)", label)
    k = re.search(r"n_neighbors=(\d+)", label)
    parts = [f"m = {float(m[1]):.0%}".replace("%", " %")] if m else []
    return ", ".join([label.partition(" (")[0], *parts, *([f"k = {k[1]}"] if k else [])])


def number(value: float, digits: int = 3) -> str:
    """Return so many decimals, or nothing for a missing value."""
    return "" if pd.isna(value) else f"{value:.{digits}f}"


def p_text(value: float) -> str:
    """Return a p value."""
    return f"{value:.2g}"


def outcome(comparison: Comparison) -> str:
    """Return the tests in words, and the groups that do not differ."""
    text = comparison.summary()
    if comparison.rejected and comparison.control is None:
        groups = "; ".join(" = ".join(map(shown, group)) for group in comparison.groups)
        text += f" Not different: {groups}."
    return text


def rank_rows(comparison: Comparison) -> list[list[str]]:
    """Return rows of method, average rank, mean."""
    frame = comparison.to_frame()
    return [
        [shown(str(name)), number(row["average_rank"], 2), number(row["mean"]), str(int(row["wins"]))]
        for name, row in frame.iterrows()
    ]


def ranks_table(study: str, measure: str, methods: Sequence[str], **rounding: int) -> str:
    """Return average ranks, means and tests of methods."""
    comparison = compare_methods(values(study, measure)[list(methods)], MEASURES[measure].larger_is_better, **rounding)
    return markdown(["method", "average rank", "mean", "wins"], rank_rows(comparison)) + "\n\n" + outcome(comparison)


def relevance_table(study: str, measure: str, control: str, name: str, methods: Sequence[str], **rounding: int) -> str:
    """Return each method against no ranking: data sets won and lost, Wilcoxon's p, and the published one."""
    table = rounded(values(study, measure), **rounding)
    larger = MEASURES[measure].larger_is_better
    printed = published(name)["p"]
    tests = [wilcoxon_test(table[method], table[control], "normal").p_value for method in methods]
    rejected = adjusted_p_values(tests) <= 0.05
    rows = []
    for method, p, is_rejected in zip(methods, tests, rejected, strict=True):
        better = (table[method] - table[control]) * (1 if larger else -1)
        counts = f"{(better > 0).sum()} / {(better == 0).sum()} / {(better < 0).sum()}"
        rows.append([shown(method), counts, p_text(p), "yes" if is_rejected else "", printed.get(method, "")])
    header = ["ranking", "better / equal / worse", "p", "significant (BH)", "published p"]
    return markdown(header, rows)


def beside(
    ours: pd.DataFrame,
    printed: pd.DataFrame,
    columns: Sequence[str],
    digits: int = 3,
    deviations: pd.DataFrame | None = None,
) -> str:
    """Return our results, with their standard deviations if given, and the published ones in parentheses."""

    def cell(data: str, name: str) -> str:
        spread = "" if deviations is None else f" ± {number(deviations.loc[data, name], digits)}"
        return f"{number(ours.loc[data, name], digits)}{spread} ({printed.loc[data, name]})"

    rows = [[data, *(cell(data, name) for name in columns)] for data in ours.index]
    return markdown(["data set", *map(shown, columns)], rows)
