"""The tables of multi-target regression."""

from __future__ import annotations

from typing import Any

import pandas as pd
from table_parts import (
    PAIRS,
    SCORES,
    markdown,
    number,
    p_text,
    published,
    ranks_table,
    relevance_table,
    shown,
    values,
)

from omnirank.evaluation.statistics import compare_methods, wilcoxon_test

MTR_RELIEF = "Relief (n_iterations=1.0 n_neighbors=15)"


def mtr_published() -> str:
    """RRMSE per data set beside the published means, with the deviation over our splits."""
    printed = published("mtr_rrmse")
    methods = list(printed.columns)
    names = {"Relief": MTR_RELIEF, "RF-STR": "RF-STR genie3"}
    ours, spread = (
        pd.concat([values("mtr", what), values("mtr_rf1", what).rename(columns=names)])[methods]
        for what in ("rrmse", "deviation")
    )
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
    return f"{table}\n\nThe native random forest took less time than one forest per target on {faster} of " + (
        f"{len(seconds)} data sets; in the median, one per target took {ratio:.1f} times as long."
    )


def mtr_weights() -> str:
    """Average ranks of the weights of Symbolic for each ensemble, beside the published ones."""
    ours, printed = values("mtr", "rrmse"), published("mtr_weights")
    rows = []
    for ensemble in printed.index:
        table = pd.DataFrame({"0.5": ours[f"{ensemble} symbolic"]})
        for weight in ("0.25", "0.75", "1.0"):
            table[weight] = ours[f"{ensemble} other symbolic (symbolic_weight={weight})"]
        found = compare_methods(table, larger_is_better=False, decimals=3)
        cells = [_with_printed(found.average_ranks[w], printed.loc[ensemble, w]) for w in printed.columns[:-1]]
        rows.append([ensemble, *cells, f"{p_text(found.p_value)} ({printed.loc[ensemble, 'p']})"])
    return markdown(["ensemble", *(f"w = {weight}" for weight in printed.columns[:-1]), "p"], rows)


def _with_printed(value: float, printed: Any) -> str:
    return number(value, 2) if pd.isna(printed) else f"{number(value, 2)} ({printed})"


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


def mtr_native() -> str:
    """One forest for all targets against one per target: errors and times."""
    ours, seconds = values("mtr", "rrmse"), values("mtr", "seconds")
    rows = []
    for score, name in SCORES.items():
        native, single = f"RF {score}", f"RF-STR {score}"
        gain = ours[single].round(3) - ours[native].round(3)
        p_value = wilcoxon_test(ours[native].round(3), ours[single].round(3)).p_value
        ratio = (seconds[single] / seconds[native]).median()
        cells = [f"{(gain > 0).sum()} / {(gain == 0).sum()} / {(gain < 0).sum()}", f"{gain.mean():+.4f}"]
        rows.append([name, *cells, p_text(p_value), f"{(seconds[native] < seconds[single]).sum()}", f"{ratio:.1f}"])
    head = ["score", "native better / equal / worse", "mean gain", "p", "native faster on", "one per target: times"]
    return markdown(head, rows)


def mtr_relief_targets() -> str:
    """Relief per target against no ranking, and against Relief for all targets with the same settings."""
    ours, native = values("mtr_relief_str", "rrmse").round(3), values("mtr", "rrmse").round(3)
    rows = []
    for share, count, printed in ((0.5, 15, "0.0119"), (0.25, 40, "0.0975"), (1.0, 30, "0.145")):
        single = ours[f"Relief-STR it{share:.0%} k{count}".replace("%", "")]
        cells = []
        for other in (native["5NN"], native[f"Relief (n_iterations={share} n_neighbors={count})"]):
            gain = other - single
            counts = f"{(gain > 0).sum()} / {(gain == 0).sum()} / {(gain < 0).sum()}"
            cells += [counts, p_text(wilcoxon_test(single, other).p_value)]
        rows.append([f"m = {share:.0%}, k = {count}".replace("%", " %"), *cells[:2], printed, *cells[2:]])
    head = ["setting", "against none: better / equal / worse", "p", "published p", "against all targets at once", "p"]
    return markdown(head, rows)


def mtr_times() -> str:
    """Average ranks of times."""
    seconds = values("mtr", "seconds")
    names = [*(pair for pair in PAIRS if not pair.endswith("symbolic")), "RF-STR genie3", MTR_RELIEF]
    found = compare_methods(seconds[names], larger_is_better=False)
    return markdown(
        ["ranking", "average rank of times"],
        [[shown(str(name)), number(rank, 2)] for name, rank in found.average_ranks.items()],
    )


def mtr_families() -> str:
    """Whether ensembles or Relief are better, beside the rule of the published tree."""
    ours = values("mtr", "rrmse").round(3)
    candidates = published("mtr_relevance").index
    relief = [name for name in candidates if name.startswith("Relief")]
    ensembles = [name for name in candidates if not name.startswith("Relief")]
    rows, agree = [], 0
    for data, (features, targets) in MTR_SIZES.items():
        rule = "Relief" if features <= 30 or targets > 8 else "ensemble"
        best = ours.loc[data, ensembles].min(), ours.loc[data, relief].min()
        better = "ensemble" if best[0] < best[1] else "Relief" if best[1] < best[0] else "equal"
        agree += better == rule
        rows.append([data, features, targets, number(best[0]), number(best[1]), better, rule])
    head = ["data set", "features", "targets", "best ensemble", "best Relief", "better", "printed rule"]
    table = markdown(head, rows)
    return f"{table}\n\nThe printed rule is right on {agree} of {len(rows)}."


MTR_SIZES = {
    "ATP1d": (411, 6),
    "ATP7d": (411, 6),
    "EDM": (16, 2),
    "ENB": (8, 2),
    "OES97": (263, 16),
    "osales": (401, 12),
    "scpf": (23, 3),
    "slump": (7, 3),
    "water quality": (16, 14),
}

TABLES = [
    mtr_native,
    mtr_relief_targets,
    mtr_times,
    mtr_families,
    mtr_published,
    mtr_all,
    mtr_ranks,
    mtr_relevance,
    mtr_ensembles,
    mtr_weights,
    mtr_relief,
]
