"""The tables of multi-label classification."""

from __future__ import annotations

import math

import pandas as pd
from table_parts import (
    ENSEMBLES,
    HERE,
    PAIRS,
    beside,
    best_values,
    figures,
    markdown,
    number,
    p_text,
    published,
    shown,
    values,
)

from omnirank.core.ranking.certainty import adjusted_p_values
from omnirank.evaluation.statistics import compare_methods, smallest_sufficient
from omnirank.measures import MEASURES

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


def mlc_baseline() -> str:
    """No ranking, all measures, beside the published results."""
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
    """No ranking, with ranges of training and test examples together, beside the published results."""
    ours = pd.read_csv(HERE / "results" / "mlc_ranges.csv", index_col=[0, 1])
    printed, names = published("mlc_15nn"), list(dict.fromkeys(ours.index.get_level_values("data")))
    rows, agree = [], []
    for measure, title in MLC_MEASURES.items():
        cells = [title]
        for data in names:
            found_here = [ours.loc[(data, ranges), measure] for ranges in ("train", "both")]
            cells += [*(number(value, 4) for value in found_here), printed.loc[measure, data]]
            agree.append([_agrees(value, printed.loc[measure, data]) for value in found_here])
        rows.append(cells)
    heading = [f"{data}{what}" for data in names for what in (", training", ", both", ", published")]
    before, after = pd.DataFrame(agree).sum()
    return markdown(["measure", *heading], rows) + (
        f"\n\nWith the ranges of both, {after} of {len(agree)} results agree with the published ones in all digits; "
        f"with those of the training examples {before} do."
    )


def mlc_symbolic() -> str:
    """Symbolic of two weights beside the published results, on the splits of the study."""
    found = pd.read_csv(HERE / "results" / "mlc_symbolic.csv")
    printed = published("mlc_pooled_auprc")
    by = found.groupby(["data", "ensemble", "weight"])["pooled_auprc"].agg(["mean", "std"])
    rows, near = [], {0.25: 0, 0.5: 0}
    places = list(dict.fromkeys(zip(found["data"], found["ensemble"], strict=True)))
    for data, ensemble in places:
        value = float(printed.loc[data, f"{ensemble} symbolic"])
        cells = []
        for weight in near:
            own = by.loc[(data, ensemble, weight)]
            away = (own["mean"] - value) / own["std"]
            near[weight] += abs(away) <= 1
            cells.append(f"{own['mean']:.3f} ± {own['std']:.3f} ({away:+.1f})")
        rows.append([f"{data}, {ensemble}", f"{value:.3f}", *cells])
    return markdown(["data set, ensemble", "published", "weight 0.25", "weight 0.5"], rows) + (
        f"\n\nWithin one standard deviation of the published value are {near[0.25]} of {len(places)} means with weight "
        f"0.25, and {near[0.5]} with weight 0.5."
    )


def _agrees(value: float, printed: str) -> bool:
    """Whether a value rounds to the printed one, which has three significant digits (zeros only fill the column)."""
    exact = float(printed)
    unit = 10.0 ** -len(printed.rpartition(".")[2])
    if exact:
        unit = max(unit, 10.0 ** (math.floor(math.log10(exact)) - 2))
    return abs(value - exact) <= unit / 2 * (1 + 1e-6)


def mlc_auprc() -> str:
    """AU(avg PRC) of all methods beside the published results."""
    ours, deviations = values("mlc", "pooled_auprc"), values("mlc", "deviation")
    printed, columns = published("mlc_pooled_auprc"), ["15NN", "Relief", *PAIRS]
    away = (ours[columns] - printed.loc[ours.index, columns].astype(float)).abs() / deviations[columns]
    away = away.where(deviations[columns] > 0.0005).stack().dropna()
    text = f"Of {len(away)} means that depend on a seed, {(away <= 1).sum()} are within one standard deviation of the"
    text += f" published value, and {(away <= 2).sum()} within two."
    return beside(ours, printed, columns, deviations=deviations) + "\n\n" + text


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
    return markdown(["measure", "Hamming", "accuracy", "F1", "subset", "p", "published p"], rows)


# Exponents of the values with a tilde are hard to read in print.
DISTANCES_PRINTED = {
    "jaccard_samples": "~ 5e-4",
    "f1_samples": "~ 3.5e-4",
    "subset_accuracy": "0.011",
    "hamming_loss": "0.28",
    "precision_samples": "0.0011",
    "recall_samples": "~ 3.8e-4",
    "pooled_auprc": "0.027",
    "one_error": "not rejected",
}


def mlc_relief_settings() -> str:
    """Average ranks of numbers of iterations and of neighbours of Relief, over distances and the other setting."""
    found = figures("mlc")
    found = found[found["method"].isin(DISTANCES)]
    rows = []
    for measure in DISTANCES_PRINTED:
        table = found.pivot_table(index=["data", "method"], columns="choice", values=measure).round(3)
        ranks = table.rank(axis=1, ascending=not MEASURES[measure].larger_is_better).mean()
        cells = [number(ranks.filter(regex=f"n_iterations={share} ").mean(), 2) for share in ("0.25", "0.5", "1.0")]
        cells += [number(ranks.filter(regex=f"n_neighbors={k}$").mean(), 2) for k in (15, 30, 40)]
        rows.append([MLC_MEASURES[measure], *cells])
    return markdown(["measure", "m = 25 %", "m = 50 %", "m = 100 %", "K = 15", "K = 30", "K = 40"], rows)


def _distance_row(measure: str) -> list[str]:
    found = compare_methods(
        best_values("mlc", measure, DISTANCES), MEASURES[measure].larger_is_better, decimals=3, control=DISTANCES[0]
    )
    ranks = [number(found.average_ranks[name], 2) for name in DISTANCES]
    return [MLC_MEASURES[measure], *ranks, p_text(found.p_value), DISTANCES_PRINTED[measure]]


TREES = (10, 25, 50, 100)


def mlc_trees() -> str:
    """How many trees each pair needs, over the measures, beside what the study found."""
    printed = published("mlc_trees")
    tables = {pair: {measure: _by_trees(pair, measure) for measure in MLC_MEASURES} for pair in PAIRS}
    found = {
        (pair, measure): compare_methods(table, MEASURES[measure].larger_is_better, decimals=3)
        for pair, own in tables.items()
        for measure, table in own.items()
    }
    differ = dict(zip(found, adjusted_p_values([one.p_value for one in found.values()]) <= 0.05, strict=True))
    rows, together = [], 0
    for pair, own in tables.items():
        together += set(smallest_sufficient(own, decimals=3).values()) == {10}
        alone = [smallest_sufficient({measure: table}, decimals=3)[measure] for measure, table in own.items()]
        ranks = pd.DataFrame([found[pair, measure].average_ranks for measure in own]).mean()
        area = own["pooled_auprc"].mean()
        cells = [" / ".join(str(alone.count(size)) for size in TREES), printed.loc[pair, "trees"]]
        cells += [str(sum(differ[pair, measure] for measure in own)), printed.loc[pair, "rejected"]]
        cells.append(" / ".join(number(ranks[size], 2) for size in TREES))
        rows.append([shown(pair), *cells, *(f"{area[100] - area[size]:+.4f}" for size in (10, 50))])
    head = ["10 / 25 / 50 / 100 trees are enough", "published", "sizes differ", "published"]
    head += ["average ranks of 10 / 25 / 50 / 100", "100 - 10 trees", "100 - 50"]
    return markdown(["ranking", *head], rows) + (
        f"\n\nCorrected over the {len(MLC_MEASURES)} measures, 10 trees are enough on all of them for {together} of "
        f"{len(PAIRS)} rankings."
    )


def _by_trees(pair: str, measure: str) -> pd.DataFrame:
    table = values("mlc_trees", measure)[[f"{pair} (n_trees={size})" for size in TREES]]
    return table.set_axis(TREES, axis=1)


TABLES = [
    mlc_trees,
    mlc_baseline,
    mlc_ranges,
    mlc_symbolic,
    mlc_auprc,
    mlc_ensembles,
    mlc_scores,
    mlc_relevance,
    mlc_distances,
    mlc_relief_settings,
]
