"""On which features methods disagree most, and what in the data may be the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from omnirank.core.plurals import counted
from omnirank.core.ranking import Ranking
from omnirank.report.subject import Subject, known_method

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
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.report.disagreement import largest_disagreements
    >>> names = ["a", "b", "c", "d"]
    >>> one, other = Ranking(names, [4, 3, 2, 1], "relief"), Ranking(names, [1, 4, 3, 2], "univariate")
    >>> largest_disagreements({"relief": one, "univariate": other}, 1)[0]
    Disagreement(feature='a', high='relief', best=1, low='univariate', worst=4)
    """
    names = next(iter(rankings.values())).names
    methods = list(rankings)
    places = np.empty((len(methods), len(names)), dtype=np.int64)
    for row, ranking in zip(places, rankings.values(), strict=True):
        by_name = dict(zip(ranking.names, ranking.ranks.tolist(), strict=True))
        row[:] = [by_name[name] for name in names]
    best, worst = places.min(axis=0), places.max(axis=0)
    order = np.argsort(best - worst, kind="stable")
    return [
        Disagreement(
            names[i],
            methods[int(places[:, i].argmin())],
            int(best[i]),
            methods[int(places[:, i].argmax())],
            int(worst[i]),
        )
        for i in order.tolist()
        if best[i] <= k
    ]


def disagreements(subject: Subject, rankings: Mapping[str, Ranking], k: int) -> list[str]:
    """Return in words on which features the rankings disagree most, with a plausible reading of each."""
    above = n_above_chance(subject)
    if above == 0:
        return ["No feature scores above chance: on which places methods agree says nothing."]
    found = largest_disagreements(rankings, min(k, above or k))
    n = len(subject.ranking)
    far = max(_FEWEST_PLACES, round(_FAR * n))
    most = found[0].worst - found[0].best if found else 0
    if most < far:
        top = min(k, above or k)
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
        for one in found[:_TOLD]
        if one.worst - one.best >= far
    ]
    return ["The methods disagree most on these:", *lines]


def n_above_chance(subject: Subject) -> int | None:
    """Return how many features score above chance, by p values or a shuffled target; None where nothing tells.

    Places beyond are chance, and methods cannot agree on them.
    """
    if subject.ranking.p_values is not None:
        return len(subject.ranking.relevant())
    shuffled = subject.found.shuffled
    return None if shuffled is None else int((subject.ranking.scores > shuffled.max()).sum())


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
    groups = () if subject.redundancy is None else subject.redundancy.groups
    for group in groups:
        members = (group.representative, *group.others)
        if len(members) > 1 and feature in members:
            return [name for name in members if name != feature][:_TOLD]
    return []
