"""What to keep in mind about this ranking of these data."""

from __future__ import annotations

from omnirank.core.plurals import counted, there_are
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import listing

# So many more features than examples: some of them look relevant by chance.
_UNLIKE = 10
_NAMED = 3


def caveats(subject: Subject) -> Section:
    """Return what to keep in mind when the ranking is read: what is so in these data."""
    ranking = subject.ranking
    top = ranking.top(min(_NAMED, max(1, len(ranking) // 2)))
    best, s, them = listing(top), "s" if len(top) == 1 else "", "it causes" if len(top) == 1 else "they cause"
    targets = listing(list(subject.targets)) if len(subject.targets) in (1, 2) else "the targets"
    about = f"help{s} to predict {targets}" if subject.targets else f"go{'es' if s else ''} with other features"
    found = [f"{best} {about}: that does not say that {them} anything."]
    n = int((ranking.scores < 0).sum())
    if n:
        which = "1 feature has a negative score: it" if n == 1 else f"{n} features have negative scores: they"
        found.append(f"{which} told nothing here, and {'its place' if n == 1 else 'their order'} says nothing.")
    found += _copies(subject) + _of_data(subject) + _of_halves(subject)
    if subject.found.repeats is False:
        found.append("Ranking again gave other scores: these data are not exactly those that were ranked.")
    left = [what for what, why in subject.found.missing.items() if "budget" in why]
    if left:
        found.append(
            f"Left out, because the budget ended: {', '.join(left)}. A larger one (--report-budget) adds them."
        )
    return Section("caveats", "What to keep in mind", {"found": found})


def _copies(subject: Subject) -> list[str]:
    """Which features say the same, so that trees share their scores."""
    groups = () if subject.redundancy is None else subject.redundancy.groups
    several = [group for group in groups if group.others]
    if not several:
        return []
    first = several[0]
    more = f", and {there_are(len(several) - 1, 'more such group')}" if len(several) > 1 else ""
    others = listing([*first.others[:_NAMED], *([f"{len(first.others) - _NAMED} more"] * (len(first.others) > _NAMED))])
    shared = "the trees share the score among them" if "n_trees" in subject.ranking.parameters else "each has its score"
    return [f"{first.representative} says nearly the same as {others}{more}: {shared} (see Redundant features)."]


def _of_data(subject: Subject) -> list[str]:
    data, found, n_features = subject.data, [], len(subject.ranking)
    if data is None:
        return []
    n = data.n_examples if data.target is None else int(data.labelled.sum())
    if n_features > _UNLIKE * n:
        found.append(
            f"There are {n_features} features and {counted(n, 'example')}: some features look relevant by chance "
            "alone; look at p values and at stability."
        )
    if data.notes:
        found.append(f"The data check found {counted(len(data.notes), 'suspicious thing')}: {data.notes[0]}.")
    if not subject.same_data:
        labelled = data if data.target is None or data.labelled.all() else data.take(data.labelled)
        if subject.ranking.fingerprint != labelled.fingerprint:
            found.append(
                "The fingerprint of the data is not that of the ranking: other data were ranked, or parts of these."
            )
    return found


def _of_halves(subject: Subject) -> list[str]:
    halves, data = subject.found.halves, subject.data
    if halves is None or data is None:
        return []
    n = data.n_examples if data.target is None else int(data.labelled.sum())
    found = [
        f"Prediction, number of features and stability are those of rankings of {n // 2} examples: one of all {n} is "
        "usually better and more stable."
    ]
    if halves.n > 2:
        found.append(
            f"The {halves.n} halves are drawn from the same {n} examples and overlap: standard errors over them are "
            "rather too small."
        )
    return found
