"""The tables of hierarchical multi-label classification."""

from __future__ import annotations

from table_parts import (
    PAIRS,
    SCORES,
    beside,
    figures,
    markdown,
    number,
    p_text,
    published,
    ranks_table,
    relevance_table,
    shown,
    values,
)

from omnirank.evaluation.statistics import compare_methods, rounded, wilcoxon_test

HMLC_RELIEF = "Relief (n_iterations=0.01)"


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


def hmlc_ensembles() -> str:
    """Average ranks of the ensembles, score by score, beside the published p values."""
    ours = values("hmlc", "pooled_auprc")
    rows = []
    for score, printed in zip(SCORES, ("0.705", "0.106", "0.030, Bagging better"), strict=True):
        pairs = [pair for pair in PAIRS if pair.endswith(score)]
        found = compare_methods(ours[pairs], larger_is_better=True, digits=3)
        ranks = ", ".join(f"{name.split()[0]} {rank:.2f}" for name, rank in found.average_ranks.items())
        p_value = found.p_value if len(pairs) > 2 else wilcoxon_test(ours[pairs[0]], ours[pairs[1]]).p_value
        rows.append([SCORES[score], ranks, p_text(p_value), printed])
    return markdown(["score", "average ranks, best first", "p", "published p"], rows)


def hmlc_trees() -> str:
    """Average ranks of 10, 25 and 50 trees for each pair, and what more trees gain."""
    found = figures("hmlc_trees")
    found["n_trees"] = found["choice"].str.extract(r"n_trees=(\d+)").astype(int)
    rows = []
    for pair in PAIRS:
        table = found[found["method"] == pair].pivot_table(index="data", columns="n_trees", values="pooled_auprc")
        one = compare_methods(table.rename(columns=str), larger_is_better=True, digits=3)
        ranks = " / ".join(number(one.average_ranks[str(n)], 2) for n in table)
        rows.append([shown(pair), ranks, p_text(one.p_value), f"{(table[50] - table[10]).mean():+.4f}"])
    return markdown(["ranking", "average ranks of 10 / 25 / 50 trees", "p", "50 - 10 trees"], rows)


TABLES = [
    hmlc_ensembles,
    hmlc_trees,
    hmlc_auprc,
    hmlc_relevance,
    hmlc_ranks,
    hmlc_scores,
    hmlc_shares,
    hmlc_relief,
]
