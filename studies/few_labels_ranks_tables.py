"""The tables of ranks on the page of few labels: which ensemble, which ranking, and which is fastest."""

from __future__ import annotations

import pandas as pd
from table_parts import HERE, SCORES, markdown, number, published

TASKS = {
    "classes": ("Tic-tac-toe", "Digits", "Arrhythmia", "Chess", "Page-blocks"),
    "label sets": ("Emotions", "Birds", "Genbase"),
    "hierarchies": ("Pheno-yeast-FUN", "Enron-corr"),
    "a number": ("Mortgage", "Treasury"),
    "several numbers": ("Edm1", "Atp1d"),
}
ENSEMBLES = ("RF", "ET", "Bagging")
RANKINGS = ("genie3", "permutation", "symbolic", "relief")


def _found() -> pd.DataFrame:
    return pd.read_csv(HERE / "results" / "few_labels_ensembles.csv")


def _times() -> pd.DataFrame:
    found = pd.read_csv(HERE / "results" / "few_labels_times.csv")
    return found.pivot_table(index=["set", "labels"], columns="ranking", values="seconds")


def _average_ranks(table: pd.DataFrame, larger: bool) -> pd.Series:
    """Average ranks of columns over sets, 1 is best; areas are compared in three digits, as printed ones are."""
    return table.round(3).rank(axis=1, ascending=not larger).mean()


def ensemble_ranks() -> str:
    """Average ranks of the ensembles, score by score, in parentheses the printed ones."""
    printed = pd.read_csv(HERE / "published" / "few_labels_ensembles.csv", dtype=str).set_index(["task", "score"])
    found, rows = _found(), []
    for task, sets in TASKS.items():
        for score in SCORES:
            cells = []
            for level in ("SSL", "SL"):
                own = found[(found["level"] == level) & (found["score"] == score) & found["set"].isin(sets)]
                ranks = _average_ranks(own.pivot_table(index="set", columns="ensemble", values="area"), larger=True)
                cells += [f"{ranks[e]:.2f} ({printed.loc[(task, score), f'{level} {e}']})" for e in ENSEMBLES]
            rows.append([f"{task}, {SCORES[score]}", str(len(sets)), *cells])
    return markdown(["target, score", "sets", *(f"{level} {e}" for level in ("SSL", "SL") for e in ENSEMBLES)], rows)


def ensemble_times() -> str:
    """Average ranks of the times of semi-supervised ensembles, in parentheses the printed ones."""
    printed = published("few_labels_times")
    times = _times().groupby(level="set").mean()[list(ENSEMBLES)]
    rows = []
    for task, sets in TASKS.items():
        ranks = times.loc[list(sets)].rank(axis=1).mean()
        rows.append([task, *(f"{ranks[e]:.2f} ({printed.loc[task, e]})" for e in ENSEMBLES)])
    return markdown(["target", *ENSEMBLES], rows)


def few_labels_rankings() -> str:
    """Average ranks of four semi-supervised rankings, in parentheses the printed ones."""
    printed, found = published("few_labels_rankings"), _found()
    own = found[(found["level"] == "SSL") & found["ensemble"].isin(["RF", "Relief"])]
    areas = own.pivot_table(index="set", columns="score", values="area")
    rows = []
    for task, sets in TASKS.items():
        ranks = _average_ranks(areas.loc[list(sets), list(RANKINGS)], larger=True)
        rows.append([task, *(f"{ranks[name]:.2f} ({printed.loc[task, name]})" for name in RANKINGS)])
    return markdown(["target", "Genie3", "RForest", "Symbolic", "Relief"], rows)


def few_labels_rankings_times() -> str:
    """Average ranks of their times with fewest and with most labels, in parentheses the printed ones."""
    printed, times, rows = published("few_labels_rankings_times"), _times(), []
    for task, sets in TASKS.items():
        ranks = [times.xs(n, level="labels").loc[list(sets)].rank(axis=1).mean() for n in ("few", "many")]
        names = (*ENSEMBLES, "Relief")
        rows.append([task, *(f"{ranks[0][e]:.2f} / {ranks[1][e]:.2f} ({printed.loc[task, e]})" for e in names)])
    return markdown(["target", *ENSEMBLES, "Relief"], rows)


def conference_differences() -> str:
    """Differences of F1 with 20 neighbours beside those of the conference paper."""
    parts = [pd.read_csv(HERE / "results" / f"few_labels_{name}.csv") for name in ("published", "further")]
    ours = pd.concat(parts).query("neighbors == 20 and measure == 'f1_macro'").set_index("set")
    printed, names = published("conference_differences"), {k: v for k, v in SCORES.items() if k in ours}
    rows = []
    for name in printed.index:
        cells = []
        for score in names:
            value = number(ours.loc[name, score])
            cells.append(f"{value} ({printed.loc[name, score]})".strip())
        rows.append([name, *cells, number(ours.loc[name, "equal weights"])])
    return markdown(["data set", *names.values(), "equal weights"], rows)


def few_labels_graphs() -> str:
    """Differences of rankings by graphs, in parentheses the printed ones, and those of equal weights."""
    ours = pd.read_csv(HERE / "results" / "few_labels_graphs.csv").set_index("set")
    parts = [pd.read_csv(HERE / "results" / f"few_labels_{name}.csv") for name in ("published", "further")]
    equal = pd.concat(parts).query("neighbors == 40 and measure != 'f1_macro'").set_index("set")["equal weights"]
    printed, rows = published("ssl_graphs"), []
    for name in [name for name in printed.index if name in ours.index]:
        own = ours.loc[name]
        cells = ["" if pd.isna(own[c]) else f"{own[c]:+.3f} ({printed.loc[name, c]})" for c in printed]
        rows.append([name, *cells, f"{equal[name]:+.3f}"])
    return markdown(["data set", "S-CLS or STR-Laplace", "SFSS", "equal weights"], rows)


TABLES = [
    few_labels_graphs,
    ensemble_ranks,
    ensemble_times,
    few_labels_rankings,
    few_labels_rankings_times,
    conference_differences,
]
