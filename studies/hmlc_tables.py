"""The tables of hierarchical multi-label classification."""

from __future__ import annotations

from table_parts import PAIRS, beside, markdown, number, published, ranks_table, relevance_table, shown, values

from omnirank.evaluation.statistics import compare_methods, rounded

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


TABLES = [
    hmlc_auprc,
    hmlc_relevance,
    hmlc_ranks,
    hmlc_scores,
    hmlc_shares,
    hmlc_relief,
]
