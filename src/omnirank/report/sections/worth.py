"""Whether the ranking helps to predict examples that it has not seen."""

from __future__ import annotations

import numpy as np

from omnirank.plots.style import BAR, CHOSEN, FAINT, new_axes, tidy
from omnirank.report.findings import HALVES
from omnirank.report.halves import N_RANDOM, Halves
from omnirank.report.section import Section
from omnirank.report.sections.summary import verdict
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, digits, rows_of
from omnirank.report.vector import inline_svg
from omnirank.tasks.measuring import MEASURES


def worth(subject: Subject) -> Section:
    """Return the performance by the ranking, by equal weights and by random rankings."""
    title, halves, costs = "Does it help to predict?", subject.found.halves, subject.found.costs
    if halves is None:
        return Section("worth", title, left_out=subject.found.missing.get(HALVES, "nothing was fitted"))
    columns = _columns(halves)
    equal = halves.n - halves.wins - halves.losses
    sentence = (
        f"The ranking {verdict(halves)}: it is better in {halves.wins} of {halves.n} halves"
        + (f", worse in {halves.losses}" if halves.losses else "")
        + (f", and the same in {equal}." if equal else ".")
    )
    content = {
        "sentence": sentence,
        "picture": inline_svg(_picture(halves), "performance by ranking, equal weights and random rankings"),
        "columns": columns,
        "rows": rows_of(columns),
        "n": halves.n,
        "n_random": N_RANDOM * halves.n,
        "top": halves.top,
    }
    return Section("worth", title, content, seconds=costs.get(HALVES))


def _columns(halves: Halves) -> list[Column]:
    found = halves.measures()
    names = list(found)
    own, same = ([digits(found[name][i], 3) for name in names] for i in (0, 1))
    ways = ["larger" if MEASURES[name].larger_is_better else "smaller" for name in names]
    return [
        Column("measure", [MEASURES[name].title for name in names]),
        Column("ranking", own, number=True),
        Column("equal weights", same, number=True),
        Column("better if", ways),
    ]


def _picture(halves: Halves) -> object:
    """One dot per half, and the means."""
    ax = new_axes(width=6.4, height=1.9)
    kinds = (("worth", "ranking", BAR), ("uniform", "equal weights", CHOSEN), ("random", "random", FAINT))
    for row, (of, _, colour) in enumerate(kinds):
        values = halves.values(of)
        spread = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.zeros(1)
        ax.scatter(values, row + spread, s=16, color=colour, alpha=0.55, zorder=3, linewidths=0)
        ax.plot([values.mean()] * 2, [row - 0.32, row + 0.32], color=colour, linewidth=2.6, zorder=4)
    tidy(ax, grid="x")
    ax.set_yticks(range(3), [name for _, name, _ in kinds])
    ax.set_ylim(2.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"{halves.title} ({'larger' if halves.larger_is_better else 'smaller'} is better)")
    return ax
