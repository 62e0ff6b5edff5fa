"""How far several rankings of the same features agree."""

from __future__ import annotations

from omnirank.core.comparison import compare_rankings
from omnirank.core.ranking import Ranking
from omnirank.plots import plot_fuji, plot_overlay
from omnirank.report.disagreement import disagreements
from omnirank.report.findings import OTHERS
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, digits, joined, listing, rows_of
from omnirank.report.vector import inline_svg

_OVERLAID = 15
_NAMED = 10
# Curves that a picture can tell apart.
_MOST_CURVES = 6


def agreement(subject: Subject) -> Section:
    """Return how far other methods, or the other rankings that were given, agree with the ranking."""
    title, ranking = "Agreement of methods", subject.ranking
    given = {
        name: other for name, other in list(subject.rankings.items())[1:] if set(other.names) == set(ranking.names)
    }
    others = given | {name: other for name, other in subject.found.others.items() if name not in given}
    if not others:
        return Section("agreement", title, left_out=subject.found.missing.get(OTHERS, "there is one ranking only"))
    own = next(iter(subject.rankings))
    pairs = {name: compare_rankings(ranking, other) for name, other in others.items()}
    k = next(iter(pairs.values())).k
    columns = [
        Column("ranking", list(pairs)),
        Column("rank correlation", [digits(p.spearman, 3) for p in pairs.values()], number=True, hint="Spearman"),
        Column(
            f"overlap of top {k}", [digits(p.jaccard, 3) for p in pairs.values()], number=True, hint="Jaccard index"
        ),
        Column(
            "fuzzy overlap", [digits(p.fuji_area, 3) for p in pairs.values()], number=True, hint="mean over all tops"
        ),
        Column("best features", [joined(other.top(5)) for other in others.values()]),
    ]
    farthest = min(pairs, key=lambda name: pairs[name].fuji_area)
    some = list(pairs)[:_MOST_CURVES]
    content = {
        "sentence": _sentence({own: ranking} | others, k),
        "disagreements": disagreements(subject, {own: ranking} | others, k),
        "columns": columns,
        "rows": rows_of(columns),
        "curves": inline_svg(plot_fuji([pairs[name] for name in some], labels=some), "overlap of the top features"),
        "overlay": inline_svg(
            plot_overlay(ranking, others[farthest], k=min(_OVERLAID, len(ranking)), labels=[own, farthest]),
            f"places of the best features by {own} and {farthest}",
        ),
        "own": own,
        "farthest": farthest,
        "missing": subject.found.missing.get(OTHERS, ""),
    }
    return Section("agreement", title, content, seconds=subject.found.costs.get(OTHERS))


def _sentence(rankings: dict[str, Ranking], k: int) -> str:
    """Say which features all rankings have among their top."""
    tops = [set(ranking.top(k)) for ranking in rankings.values()]
    first = next(iter(rankings.values()))
    shared = [name for name in first.top(k) if all(name in top for top in tops)]
    if not shared:
        return f"No feature is among the top {k} of all {len(rankings)} rankings."
    more = len(shared) - _NAMED
    named = listing(shared) if more <= 0 else f"{joined(shared[:_NAMED])} and {more} more"
    return f"Among the top {k} of all {len(rankings)} rankings: {named}."
