"""How many features suffice."""

from __future__ import annotations

from omnirank.core.plurals import counted
from omnirank.plots import plot_selection
from omnirank.report.findings import HALVES
from omnirank.report.section import Section
from omnirank.report.sections.scores import why_no_cut
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, digits, joined, rows_of
from omnirank.report.vector import inline_svg

_NAMED = 5


def how_many(subject: Subject) -> Section:
    """Return the performance over the number of top features."""
    title, halves, why_none = "How many features", subject.found.halves, ""
    curve = getattr(subject.ranker, "selection_curve_", None)
    if curve is not None:
        sentence = curve.summary
    elif halves is not None:
        curve, sentence = halves.curve, halves.how_many
        why_none = why_no_cut(subject)
        if why_none:
            sentence = f"no number is suggested: {why_none}"
    else:
        return Section("how-many", title, left_out=subject.found.missing.get(HALVES, "nothing was fitted"))
    named = {curve.best_size: ["best"]}
    named.setdefault(curve.chosen_size, []).append("chosen")
    n = 0 if why_none else curve.chosen_size
    marks = [", ".join(named.get(size, ())) for size in curve.sizes.tolist()]
    columns = [
        Column("features", curve.sizes.tolist(), number=True),
        Column("mean", [digits(v) for v in curve.means], number=True),
        Column("± error", [digits(v, 2) for v in curve.standard_errors], number=True),
        Column("", marks),
    ]
    content = {
        "sentence": sentence[0].upper() + sentence[1:] + ".",
        "picture": inline_svg(plot_selection(curve), "performance over the number of top features"),
        "columns": columns,
        "rows": rows_of(columns),
        "keep": joined(subject.ranking.top(n)[:50]) if n < len(subject.ranking) else "",
        "n": n,
        "significant": "" if why_none else beside_significance(subject, n),
    }
    return Section("how-many", title, content)


def beside_significance(subject: Subject, n: int) -> str:
    """Say how the number goes with that of the significant features: they answer different questions."""
    ranking = subject.ranking
    if ranking.p_values is None or n == len(ranking):
        return ""
    kept, relevant = ranking.top(n), ranking.relevant()
    chance = [name for name in kept if name not in set(relevant)]
    more = len(relevant) - (len(kept) - len(chance))
    found = []
    if chance:
        which = joined(chance[:_NAMED]) if len(chance) <= _NAMED else f"{len(chance)} of them"
        verb = "does" if len(chance) == 1 else "do"
        found.append(f"Of those to keep, {which} {verb} not score significantly above chance.")
    if more:
        others = f"{counted(more, 'more feature')} {'scores' if more == 1 else 'score'}"
        found.append(
            f"{others} significantly above chance without being needed to predict: to understand the target, look at "
            "all that are significant."
        )
    return " ".join(found)
