"""How the scores fall from the first feature to the last, with what chance gives and where to cut."""

from __future__ import annotations

import numpy as np

from omnirank.core.plurals import counted
from omnirank.plots import plot_scores
from omnirank.report.findings import SHUFFLED
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.vector import inline_svg


def scores(subject: Subject) -> Section:
    """Return the picture of score over rank."""
    ranking, shuffled = subject.ranking, subject.found.shuffled
    n, reason = cut_of(subject)
    svg = inline_svg(plot_scores(ranking, reference=shuffled, cut=n or None), "scores over the rank")
    notes = [reason] if reason else []
    if shuffled is not None:
        above = int((ranking.scores > shuffled.max()).sum())
        notes.append(
            f"{above} of {counted(len(ranking), 'feature')} {'scores' if above == 1 else 'score'} higher than any "
            "feature does with a shuffled target (dashed: what chance gives)."
        )
    else:
        notes.append(f"No reference of chance: {subject.found.missing.get(SHUFFLED, 'nothing was shuffled')}.")
    return Section(
        "scores", "Score over rank", {"picture": svg, "notes": notes}, seconds=subject.found.costs.get(SHUFFLED)
    )


def cut_of(subject: Subject) -> tuple[int, str]:
    """Return how many features to keep (0: nothing says it), and why."""
    ranking, halves = subject.ranking, subject.found.halves
    if halves is not None:
        curve = halves.curve
        n = curve.chosen_size
        if n == len(ranking):
            return n, f"There is no cut to suggest: {halves.how_many}."
        return n, f"The suggested cut is after {n}: {halves.how_many}."
    if ranking.p_values is not None:
        n = len(ranking.relevant())
        return n, f"The suggested cut is after {n}, the features that score significantly above chance."
    if subject.found.shuffled is not None:
        n = int(np.sum(ranking.scores > subject.found.shuffled.max()))
        return n, f"The suggested cut is after {n}, the features that score more than any with a shuffled target."
    return 0, ""
