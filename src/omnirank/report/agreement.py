"""How far several rankings agree, on which features they disagree most, and what in the data may be the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from omnirank.core.ranking.comparison import compare_rankings
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import counted
from omnirank.plots import plot_fuji, plot_overlay
from omnirank.report.page import Column, Section, digits, inline_svg, joined, listing
from omnirank.report.subject import OTHERS, Subject, known_method

_OVERLAID = 15
_NAMED = 10
# Curves that a picture can tell apart.
_MOST_CURVES = 6
_TOLD = 3
# Places further apart than this share of the features are a disagreement.
_FAR = 0.1
_FEWEST_PLACES = 3
# Nominal features from so many levels on find good tests by chance.
_MANY_LEVELS = 10
# Methods that look at each feature alone: what matters together with others only is noise to them.
_ALONE = {
    "univariate",
    "chi2",
    "correlation",
    "information-gain",
    "symmetrical-uncertainty",
    "mutual-information",
    "ml-mi",
    "ppt-mi",
}
# Methods whose scores grow with the number of tests that a feature offers.
_FOR_MANY_LEVELS = {"genie3", "symbolic", "information-gain"}


def agreement(subject: Subject) -> Section:
    """Return how far other methods, or the other rankings that were given, agree with the ranking."""
    title, ranking = "Agreement of methods", subject.ranking
    given = {name: other for name, other in subject.rankings.items() if set(other.names) == set(ranking.names)}
    others = given | {name: other for name, other in subject.others.items() if name not in given}
    if not others:
        return Section("agreement", title, left_out=subject.missing.get(OTHERS, "there is one ranking only"))
    own = subject.name
    together = {own: ranking} | others
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
        "sentence": _sentence(together, k),
        "disagreements": disagreements(subject, together, k),
        "columns": columns,
        "curves": inline_svg(plot_fuji([pairs[name] for name in some], labels=some), "overlap of the top features"),
        "overlay": inline_svg(
            plot_overlay(ranking, others[farthest], k=min(_OVERLAID, len(ranking)), labels=[own, farthest]),
            f"places of the best features by {own} and {farthest}",
        ),
        "own": own,
        "farthest": farthest,
        "missing": subject.missing.get(OTHERS, ""),
    }
    return Section("agreement", title, content)


def _sentence(rankings: dict[str, Ranking], k: int) -> str:
    """Say which features all rankings have among their top."""
    tops = [set(ranking.top(k)) for ranking in rankings.values()]
    first = next(iter(rankings.values()))
    shared = [name for name in first.top(k) if all(name in top for top in tops)]
    if not shared:
        return f"No feature is among the top {k} of all {len(rankings)} rankings."
    return f"Among the top {k} of all {len(rankings)} rankings: {listing(shared, _NAMED)}."


class Disagreement(NamedTuple):
    """A feature, with the ranking that has it highest and the one that has it lowest, and its places there."""

    feature: str
    high: str
    best: int
    low: str
    worst: int


def largest_disagreements(rankings: Mapping[str, Ranking], k: int) -> list[Disagreement]:
    """Return the features among the top k of a ranking, those first whose places are furthest apart.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.report.agreement import largest_disagreements
    >>> names = ["a", "b", "c", "d"]
    >>> one, other = Ranking(names, [4, 3, 2, 1], "relief"), Ranking(names, [1, 4, 3, 2], "univariate")
    >>> largest_disagreements({"relief": one, "univariate": other}, 1)[0]
    Disagreement(feature='a', high='relief', best=1, low='univariate', worst=4)
    """
    ranks = {method: pd.Series(ranking.ranks, index=ranking.names) for method, ranking in rankings.items()}
    places = pd.DataFrame(ranks, index=next(iter(rankings.values())).names)
    best, worst = places.min(axis=1), places.max(axis=1)
    high, low = places.idxmin(axis=1), places.idxmax(axis=1)
    found = [
        Disagreement(name, str(high[name]), int(best[name]), str(low[name]), int(worst[name]))
        for name in places.index[best <= k]
    ]
    return sorted(found, key=lambda one: one.best - one.worst)


def disagreements(subject: Subject, rankings: Mapping[str, Ranking], k: int) -> list[str]:
    """Return in words on which features the rankings disagree most, with a plausible reading of each."""
    above = subject.n_above_chance
    if above == 0:
        return ["No feature scores above chance: on which places methods agree says nothing."]
    top = min(k, above or k)
    largest = largest_disagreements(rankings, top)
    n = len(subject.ranking)
    far = max(_FEWEST_PLACES, round(_FAR * n))
    most = largest[0].worst - largest[0].best if largest else 0
    if most < far:
        of = "the best feature" if top == 1 else f"the top {top} features"
        if most == 0:
            return [f"All {len(rankings)} rankings have {of} in the same {'place' if top == 1 else 'places'}."]
        return [
            f"No method has one of {of} of another more than {counted(most, 'place')} lower: they agree on what "
            "matters here."
        ]
    lines = [
        f"{one.feature}: place {one.best} by {one.high}, place {one.worst} of {n} by {one.low}; "
        f"{reading(subject, one, rankings)}."
        for one in largest[:_TOLD]
        if one.worst - one.best >= far
    ]
    return ["The methods disagree most on these:", *lines]


def reading(subject: Subject, one: Disagreement, rankings: Mapping[str, Ranking]) -> str:
    """Return what may explain a disagreement: copies, many categories, interactions or a blind method."""
    low, high = rankings[one.low], rankings[one.high]
    blind = [ranking for ranking in (low, high) if _ignores_target(ranking)]
    if blind and subject.targets:
        return f"{blind[0].method} does not look at the target"
    n_levels = _n_levels(subject, one.feature)
    if n_levels >= _MANY_LEVELS and high.method in _FOR_MANY_LEVELS:
        return f"it has {n_levels} categories, and scores of {one.high} favour features with many"
    copies = _copies(subject, one.feature)
    if copies:
        return f"it says nearly the same as {', '.join(copies)}, and methods share credit among copies differently"
    if low.method in _ALONE:
        return f"{one.low} looks at each feature alone, so it may matter together with others only (an interaction)"
    if high.method in _ALONE:
        return f"{one.high} looks at each feature alone: what it tells may be told better by features that go along"
    return "neither copies, nor many categories, nor a look at single features explain it: trust its place less"


def _ignores_target(ranking: Ranking) -> bool:
    method = known_method(ranking)
    return method is not None and (not method.uses_target or method.supervision == ("unsupervised",))


def _n_levels(subject: Subject, feature: str) -> int:
    if subject.data is None:
        return 0
    levels = subject.data.features.levels[subject.data.features.index(feature)]
    return 0 if levels is None else len(levels)


def _copies(subject: Subject, feature: str) -> list[str]:
    """Features of the same group of redundant ones, at most three."""
    groups = ((group.representative, *group.others) for group in subject.copies)
    group = next((group for group in groups if feature in group), ())
    return [name for name in group if name != feature][:_TOLD]
