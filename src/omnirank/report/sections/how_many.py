"""How many features suffice."""

from __future__ import annotations

from omnirank.plots import plot_selection
from omnirank.report.findings import HALVES
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, digits, joined, rows_of
from omnirank.report.vector import inline_svg


def how_many(subject: Subject) -> Section:
    """Return the performance over the number of top features."""
    title, halves = "How many features", subject.found.halves
    curve = getattr(subject.ranker, "selection_curve_", None)
    if curve is not None:
        sentence = curve.summary
    elif halves is not None:
        curve, sentence = halves.curve, halves.how_many
    else:
        return Section("how-many", title, left_out=subject.found.missing.get(HALVES, "nothing was fitted"))
    named = {curve.best_size: ["best"]}
    named.setdefault(curve.chosen_size, []).append("chosen")
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
        "keep": joined(subject.ranking.top(curve.chosen_size)[:50]) if curve.chosen_size < len(subject.ranking) else "",
        "n": curve.chosen_size,
    }
    return Section("how-many", title, content)
