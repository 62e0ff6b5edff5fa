"""How the scores fall from the first feature to the last, with what chance gives and where to cut."""

from __future__ import annotations

from omnirank.core.plurals import counted
from omnirank.plots import plot_scores
from omnirank.report.disagreement import n_above_chance
from omnirank.report.findings import SHUFFLED
from omnirank.report.halves import CLEARLY
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
    """Return how many features to keep (0: none is suggested), and why."""
    ranking, halves = subject.ranking, subject.found.halves
    why_none = why_no_cut(subject)
    if why_none:
        return 0, f"There is no cut to suggest: {why_none}."
    if halves is not None:
        n = halves.curve.chosen_size
        if n == len(ranking):
            return n, f"There is no cut to suggest: {halves.how_many}."
        return n, f"The suggested cut is after {n}: {halves.how_many}."
    above = n_above_chance(subject)
    if above is None:
        return 0, ""
    how = "that score significantly above chance"
    if ranking.p_values is None:
        how = "that score more than any with a shuffled target"
    return above, f"The suggested cut is after {above}, the features {how}."


def why_no_cut(subject: Subject) -> str:
    """Return why no number of features is suggested; "" where some beat chance, or the ranking beats equal weights."""
    above, halves = n_above_chance(subject), subject.found.halves
    if above == 0:
        return "no feature scores above chance"
    if halves is None or halves.wins >= CLEARLY * halves.n:
        return ""
    if halves.losses >= CLEARLY * halves.n:
        return f"the ranking predicts worse than {halves.baseline}"
    return f"the ranking predicts about as well as {halves.baseline}" if above is None else ""
