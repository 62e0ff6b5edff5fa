"""How sure the order is: over halves of the examples, and over trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.comparison import compare_rankings
from omnirank.core.ranking import Ranking
from omnirank.ensembles.convergence import RELIABLE, reliability
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_rank_intervals
from omnirank.plots.style import BAR, CHOSEN, new_axes, tidy
from omnirank.report.findings import HALVES
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, rows_of
from omnirank.report.vector import inline_svg

_SHOWN = 30
_INDICES = {
    "top_k": ("the top {k}", "index of Kuncheva and Nogueira; 1: always the same, 0: chance"),
    "overlap": ("the order, the top counting most", "rank-biased overlap; 1: always the same"),
    "spearman": ("all ranks", "mean correlation of Spearman; 1: always the same, 0: chance"),
}


def stability(subject: Subject) -> Section:
    """Return the intervals of ranks, the indices, and the convergence over trees."""
    title, halves, missing = "Stability", subject.found.halves, subject.found.missing
    found = None if halves is None else halves.stability
    trees = convergence(subject)
    if found is None and trees is None:
        few = "" if halves is None else f"the budget ended after {halves.n} fits, 3 are needed"
        return Section("stability", title, left_out=few or missing.get(HALVES, "nothing was fitted"))
    content: dict[str, Any] = {
        "trees": trees,
        "summary": "",
        "picture": "",
        "indices": [],
        "index_rows": [],
        "why": "",
        "caption": "",
    }
    if found is not None:
        k = min(_SHOWN, len(found.names))
        content |= {
            "summary": found.summary,
            "picture": inline_svg(plot_rank_intervals(found, k=k), "intervals of ranks"),
            "indices": (columns := index_columns(found)),
            "index_rows": rows_of(columns),
            "caption": spread_caption(found),
        }
    else:
        content["why"] = missing.get(HALVES, "too few halves were ranked within the budget, 3 are needed")
    return Section("stability", title, content)


def index_columns(found: Stability) -> list[Column]:
    """Return the table of the indices of stability."""
    indices = [found.indices[name] for name in _INDICES]
    return [
        Column("stability of", [what.format(k=found.k) for what, _ in _INDICES.values()]),
        Column("value", [f"{index.value:.3f}" for index in indices], number=True),
        Column(
            f"{100 * found.level:g} % interval",
            [f"{index.lower:.3f} to {index.upper:.3f}" for index in indices],
            [index.lower for index in indices],
            number=True,
            hint="approximate, over the halves",
        ),
        Column("meaning", [text for _, text in _INDICES.values()]),
    ]


def spread_caption(found: Stability) -> str:
    """Say what the bars of ranks are, and how sure they are; of few halves they are no interval."""
    if not found.is_range:
        return f"Between which ranks the best features lie in {100 * found.level:g} % of {found.drawn}."
    return (
        f"The smallest and the largest rank of the best features in {found.drawn}. That is a range and no confidence "
        f"interval: the rank in one more half would lie inside with a probability of "
        f"{100 * found.range_coverage:.0f} %. om.stability(ranker, data) or omnirank stability makes 50 resamples, "
        "which give intervals of 90 %."
    )


def convergence(subject: Subject) -> dict[str, str] | None:
    """Return the picture of how the ranking settled with more trees or iterations, with words; None without."""
    stages = subject.found.stages
    if not stages:
        return None
    last: Ranking = stages[max(stages)]
    sizes = sorted(stages)
    agreement = [compare_rankings(stages[size], last).spearman for size in sizes]
    top = [compare_rankings(stages[size], last).jaccard for size in sizes]
    what = str(getattr(subject.ranker, "replicates", "n_trees")).removeprefix("n_")
    ax = new_axes(width=6.0, height=2.8)
    ax.plot(sizes, agreement, marker="o", markersize=4, color=BAR, label="rank correlation")
    ax.plot(sizes, top, marker="s", markersize=4, color=CHOSEN, label="overlap of the top (Jaccard)")
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set_ylim(min(0.0, np.nanmin([*agreement, 0.0])), 1.03)
    ax.set_xlabel(f"number of {what}")
    ax.set_ylabel(f"agreement with all {sizes[-1]}")
    tidy(ax, grid="y")
    ax.legend(frameon=False, loc="lower right")
    return {"picture": inline_svg(ax, f"agreement over the number of {what}"), "words": _reliable(last, what)}


def _reliable(ranking: Ranking, what: str) -> str:
    """Say whether there were enough trees or iterations."""
    if ranking.standard_errors is None:
        return ""
    share = reliability(ranking.scores, ranking.standard_errors)
    verdict = "would hardly change it" if share >= RELIABLE else "would make it surer"
    return (
        f"{100 * (1 - share):.2g} % of the variance of the scores is error over {what} (at most "
        f"{100 * (1 - RELIABLE):.2g} % counts as converged): more {what} {verdict}."
    )
