"""The tables of the reproductions, by name: our figures beside the published ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from omnirank.evaluation.measures import MEASURES
from omnirank.evaluation.statistics import Comparison, compare_methods, correct_p_values, rounded, wilcoxon_test

HERE = Path(__file__).resolve().parent

ENSEMBLES = ("Bagging", "RF", "ET")
SCORES = {"genie3": "Genie3", "symbolic": "Symbolic", "permutation": "RForest"}
PAIRS = [
    f"{ensemble} {score}" for score in SCORES for ensemble in ENSEMBLES if (ensemble, score) != ("ET", "permutation")
]
MTR_RELIEF = "Relief (n_iterations=1.0 n_neighbors=15)"
HMLC_RELIEF = "Relief (n_iterations=0.01)"
DISTANCES = ["Relief hamming", "Relief accuracy", "Relief f1", "Relief subset"]

# The measures of the MLC study, in its order and words.
MLC_MEASURES = {
    "hamming_loss": "Hamming loss",
    "subset_accuracy": "subset accuracy",
    "jaccard_samples": "ML accuracy",
    "precision_samples": "ML precision",
    "recall_samples": "ML recall",
    "f1_samples": "ML F1",
    "precision_micro": "micro precision",
    "recall_micro": "micro recall",
    "f1_micro": "micro F1",
    "one_error": "one error",
    "coverage": "coverage",
    "ranking_loss": "ranking loss",
    "mean_auroc": "average AUROC",
    "mean_auprc": "average AUPRC",
    "pooled_auprc": "AU(avg PRC)",
}


# -- figures --------------------------------------------------------------------------------------


@cache
def figures(study: str) -> pd.DataFrame:
    """Return our figures of a study, with a column ``label``: the method, and its choice of a grid in parentheses."""
    found = pd.read_csv(HERE / "figures" / f"{study}.csv", keep_default_na=False, na_values=[""])
    found["choice"] = found["choice"].fillna("")
    found["label"] = found["method"] + found["choice"].map(lambda choice: f" ({choice})" if choice else "")
    return found


@cache
def published(name: str) -> pd.DataFrame:
    """Return published figures as they are printed; the first column is the index."""
    return pd.read_csv(HERE / "published" / f"{name}.csv", index_col=0, dtype=str)


def values(study: str, column: str) -> pd.DataFrame:
    """Return a column of our figures: data sets as rows, methods as columns."""
    found = figures(study)
    return found.pivot(index="data", columns="label", values=column).loc[list(dict.fromkeys(found["data"]))]


def best_values(study: str, measure: str, methods: Sequence[str]) -> pd.DataFrame:
    """Return the best choice of each method for each data set."""
    found = figures(study)
    groups = found[found["method"].isin(methods)].groupby(["data", "method"])[measure]
    best = groups.max() if MEASURES[measure].larger_is_better else groups.min()
    return best.unstack("method").loc[list(dict.fromkeys(found["data"])), list(methods)]


# -- texts ----------------------------------------------------------------------------------------


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
    tests = [wilcoxon_test(table[method], table[control]).p_value for method in methods]
    rejected = correct_p_values(tests).rejected
    rows = []
    for method, p, is_rejected in zip(methods, tests, rejected, strict=True):
        better = (table[method] - table[control]) * (1 if larger else -1)
        counts = f"{(better > 0).sum()} / {(better == 0).sum()} / {(better < 0).sum()}"
        rows.append([shown(method), counts, p_text(p), "yes" if is_rejected else "", printed.get(method, "")])
    header = ["ranking", "better / equal / worse", "p", "significant (BH)", "published p"]
    return markdown(header, rows)


def beside(ours: pd.DataFrame, printed: pd.DataFrame, columns: Sequence[str], digits: int = 3) -> str:
    """Return our figures with the published ones in parentheses."""
    rows = [
        [data, *(f"{number(ours.loc[data, name], digits)} ({printed.loc[data, name]})" for name in columns)]
        for data in ours.index
    ]
    return markdown(["data set", *map(shown, columns)], rows)


# -- multi-target regression ----------------------------------------------------------------------


def mtr_published() -> str:
    """RRMSE per data set beside the published means, with the deviation over our splits."""
    printed = published("mtr_rrmse")
    methods = list(printed.columns)
    ours, spread = values("mtr", "rrmse")[methods], values("mtr", "deviation")[methods]
    rows = []
    for data in ours.index:
        cells = [f"{ours.loc[data, m]:.3f} ± {spread.loc[data, m]:.3f} ({printed.loc[data, m]})" for m in methods]
        rows.append([data, *cells])
    near = ((ours - printed.loc[ours.index].astype(float)).abs() <= spread).to_numpy()
    return markdown(["data set", *map(shown, methods)], rows) + (
        f"\n\nOf the {near.size} published means, {near.sum()} lie within one standard deviation of ours."
    )


def mtr_all() -> str:
    """RRMSE of all methods."""
    ours = values("mtr", "rrmse")
    methods = ["5NN", *PAIRS, *(f"RF-STR {score}" for score in SCORES), MTR_RELIEF]
    rows = [[shown(method), *(number(value) for value in ours[method])] for method in methods]
    return markdown(["ranking", *ours.index], rows)


def mtr_ranks() -> str:
    """Average ranks of the eight pairs, Relief and no ranking."""
    return ranks_table("mtr", "rrmse", ["5NN", *PAIRS, MTR_RELIEF], decimals=3)


def mtr_relevance() -> str:
    """Rankings against no ranking."""
    methods = list(published("mtr_relevance").index)
    return relevance_table("mtr", "rrmse", "5NN", "mtr_relevance", methods, decimals=3)


def mtr_ensembles() -> str:
    """Best ensemble for each score, and native against single-target."""
    ours, seconds = values("mtr", "rrmse"), values("mtr", "seconds")
    rows = []
    for score, printed in zip(SCORES, ("0.476", "0.877", "0.0170 (Wilcoxon)"), strict=True):
        pairs = [pair for pair in PAIRS if pair.endswith(score)]
        found = compare_methods(ours[pairs], larger_is_better=False, decimals=3)
        ranks = ", ".join(f"{name.split()[0]} {rank:.2f}" for name, rank in found.average_ranks.items())
        rows.append([SCORES[score], ranks, p_text(found.p_value), printed])
    table = markdown(["score", "average ranks, best first", "p", "published p"], rows)
    faster = (seconds["RF genie3"] < seconds["RF-STR genie3"]).sum()
    ratio = (seconds["RF-STR genie3"] / seconds["RF genie3"]).median()
    return f"{table}\n\nThe native random forest took less time than one forest a target on {faster} of " + (
        f"{len(seconds)} data sets; in the median, one a target took {ratio:.1f} times as long."
    )


def mtr_relief() -> str:
    """Average ranks of the settings of Relief."""
    ours = values("mtr", "rrmse")
    settings = [name for name in ours.columns if name.startswith("Relief")]
    found = compare_methods(ours[settings], larger_is_better=False, decimals=3)
    shares, counts = (0.25, 0.5, 1.0), (1, 5, 15, 30, 40)
    rows = [
        [
            f"m = {share:.0%}".replace("%", " %"),
            *(number(found.average_ranks[f"Relief (n_iterations={share} n_neighbors={k})"], 2) for k in counts),
        ]
        for share in shares
    ]
    return markdown(["", *(f"k = {k}" for k in counts)], rows) + "\n\n" + found.summary()


# -- multi-label classification -------------------------------------------------------------------


def mlc_baseline() -> str:
    """No ranking, all measures, beside the published figures."""
    printed = published("mlc_15nn")
    found = figures("mlc")
    ours = found[found["label"] == "15NN"].set_index("data")
    rows = []
    for measure, name in MLC_MEASURES.items():
        digits = 4 if measure == "hamming_loss" else 3
        cells = [f"{number(ours.loc[data, measure], digits)} ({printed.loc[measure, data]})" for data in ours.index]
        rows.append([name, *cells])
    return markdown(["measure", *ours.index], rows)


def mlc_ranges() -> str:
    """No ranking, with ranges of training and test examples together, beside the published figures."""
    ours = pd.read_csv(HERE / "figures" / "mlc_ranges.csv", index_col=0)
    printed, found = published("mlc_15nn"), figures("mlc")
    trained = found[found["label"] == "15NN"].set_index("data")
    rows, agree = [], []
    for measure, title in MLC_MEASURES.items():
        cells = [title]
        for data in ours.index:
            found_here = (trained.loc[data, measure], ours.loc[data, measure])
            cells += [*(number(value, 4) for value in found_here), printed.loc[measure, data]]
            agree.append([_agrees(value, printed.loc[measure, data]) for value in found_here])
        rows.append(cells)
    heading = [f"{data}{what}" for data in ours.index for what in (", training", ", both", ", published")]
    before, after = pd.DataFrame(agree).sum()
    return markdown(["measure", *heading], rows) + (
        f"\n\nWith the ranges of both, {after} of {len(agree)} figures agree with the published ones in all digits; "
        f"with those of the training examples {before} do."
    )


def _agrees(value: float, printed: str) -> bool:
    """Whether a value rounds to the printed one, which has three significant digits (zeros only fill the column)."""
    exact = float(printed)
    unit = 10.0 ** -len(printed.rpartition(".")[2])
    if exact:
        unit = max(unit, 10.0 ** (math.floor(math.log10(exact)) - 2))
    return abs(value - exact) <= unit / 2 * (1 + 1e-6)


def mlc_auprc() -> str:
    """AU(avg PRC) of all methods beside the published figures."""
    return beside(values("mlc", "pooled_auprc"), published("mlc_pooled_auprc"), ["15NN", "Relief", *PAIRS])


def mlc_ensembles() -> str:
    """Average ranks of the ensembles for each score and measure, with the published ones in parentheses."""
    printed = published("mlc_ensembles")
    rows = []
    for measure, title in MLC_MEASURES.items():
        ours, cells = values("mlc", measure), []
        for score in ("genie3", "symbolic"):
            pairs = [f"{ensemble} {score}" for ensemble in ENSEMBLES]
            found = compare_methods(ours[pairs], MEASURES[measure].larger_is_better, decimals=3)
            cells.append(" / ".join(number(found.average_ranks[pair], 2) for pair in pairs))
            cells.append(" / ".join(printed.loc[measure, f"{score} {ensemble}"] for ensemble in ENSEMBLES))
            cells.append(f"{p_text(found.p_value)} ({printed.loc[measure, f'{score} p']})")
        rows.append([title, *cells])
    heading = ["Genie3, ours", "published", "p", "Symbolic, ours", "published", "p"]
    return markdown(["measure", *heading], rows)


def mlc_scores() -> str:
    """Average ranks of the best pair of each score and Relief, with the published ones in parentheses."""
    printed = published("mlc_scores")
    rows = []
    for measure, title in MLC_MEASURES.items():
        table = values("mlc", measure)[list(printed.columns)]
        found = compare_methods(table, MEASURES[measure].larger_is_better, decimals=3)
        cells = [f"{found.average_ranks[name]:.2f} ({printed.loc[measure, name]})" for name in printed.columns]
        rows.append([title, *cells, p_text(found.p_value)])
    return markdown(["measure", *map(shown, printed.columns), "p"], rows)


def mlc_relevance() -> str:
    """How many data sets each pair improves on, for each measure."""
    rows = []
    methods = [*PAIRS, "Relief"]
    for measure, title in MLC_MEASURES.items():
        table = values("mlc", measure).round(3)
        sign = 1 if MEASURES[measure].larger_is_better else -1
        rows.append([title, *(str(int((sign * (table[name] - table["15NN"]) > 0).sum())) for name in methods)])
    return markdown(["measure", *map(shown, methods)], rows)


def mlc_distances() -> str:
    """Average ranks of the target distances of Relief, each with its best setting."""
    measures = ["jaccard_samples", "f1_samples", "subset_accuracy", "hamming_loss", "precision_samples"]
    rows = [_distance_row(measure) for measure in [*measures, "recall_samples", "pooled_auprc", "one_error"]]
    return markdown(["measure", "Hamming", "accuracy", "F1", "subset", "p"], rows)


def _distance_row(measure: str) -> list[str]:
    found = compare_methods(
        best_values("mlc", measure, DISTANCES), MEASURES[measure].larger_is_better, decimals=3, control=DISTANCES[0]
    )
    ranks = [number(found.average_ranks[name], 2) for name in DISTANCES]
    return [MLC_MEASURES[measure], *ranks, p_text(found.p_value)]


# -- hierarchical multi-label classification ------------------------------------------------------


def hmlc_auprc() -> str:
    """AU(avg PRC) of all methods."""
    ours = values("hmlc", "pooled_auprc")
    methods = ["10NN", *PAIRS, HMLC_RELIEF]
    rows = [[shown(method), *(number(value, 4) for value in ours[method])] for method in methods]
    return markdown(["ranking", *ours.index], rows)


def hmlc_relevance() -> str:
    """Pairs against no ranking."""
    methods = list(published("hmlc_relevance").index)
    return relevance_table("hmlc", "pooled_auprc", "10NN", "hmlc_relevance", methods, digits=3)


def hmlc_ranks() -> str:
    """Average ranks of the eight pairs, Relief and no ranking."""
    return ranks_table("hmlc", "pooled_auprc", ["10NN", *PAIRS, HMLC_RELIEF], digits=3)


def hmlc_scores() -> str:
    """The best pair of each score among themselves and against Relief."""
    printed = published("hmlc_scores")
    ours = rounded(values("hmlc", "pooled_auprc"), digits=3)
    found = compare_methods(ours[list(printed.index)], larger_is_better=True)
    rows = []
    for name in printed.index:
        rank, p = printed.loc[name]
        wins = int((ours[name] > ours[HMLC_RELIEF]).sum())
        rows.append([shown(name), number(found.average_ranks[name], 2), rank, f"{wins} of {len(ours)}", p])
    heading = ["ranking", "average rank", "published rank", "better than Relief on", "published p against Relief"]
    return markdown(heading, rows) + "\n\n" + found.summary()


def hmlc_shares() -> str:
    """Share of features with positive scores, in per cent, beside the published ones."""
    printed = published("hmlc_shares")
    ours = 100 * values("hmlc", "positive")
    return beside(ours, printed, list(printed.columns), digits=0)


def hmlc_relief() -> str:
    """Relief over the number of iterations."""
    ours = values("hmlc", "pooled_auprc")
    settings = [name for name in ours.columns if name.startswith("Relief")]
    rows = [[data, *(number(ours.loc[data, name], 4) for name in settings)] for data in ours.index]
    found = compare_methods(ours[settings], larger_is_better=True, digits=3)
    return markdown(["data set", *map(shown, settings)], rows) + "\n\n" + found.summary()


# -- without target -------------------------------------------------------------------------------


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


def unsupervised_mse() -> str:
    """Mean squared errors."""
    ours = values("unsupervised", "mse")
    names = ["URelief", "ET genie3", "ET permutation", "random"]
    rows = [
        [data, *("" if pd.isna(ours.loc[data, name]) else _digits(ours.loc[data, name]) for name in names)]
        for data in ours.index
    ]
    return markdown(["data set", "URelief", "Genie3, ET", "RForest, ET", "random"], rows)


def _digits(value: float) -> str:
    """Five significant digits: one or two more than are printed."""
    return f"{value:.5g}"


TABLES: dict[str, Callable[[], str]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        mtr_published,
        mtr_all,
        mtr_ranks,
        mtr_relevance,
        mtr_ensembles,
        mtr_relief,
        mlc_baseline,
        mlc_ranges,
        mlc_auprc,
        mlc_ensembles,
        mlc_scores,
        mlc_relevance,
        mlc_distances,
        hmlc_auprc,
        hmlc_relevance,
        hmlc_ranks,
        hmlc_scores,
        hmlc_shares,
        hmlc_relief,
        unsupervised,
        unsupervised_mse,
    )
}
