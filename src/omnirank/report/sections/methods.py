"""A paragraph on the methods, ready to paste, with citations; and what to keep in mind."""

from __future__ import annotations

from importlib.metadata import version

from omnirank.core.plurals import counted
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import digits

_STABILITY = (
    "Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine Learning "
    "Research 18, 2018"
)
_ONE_ERROR = "Breiman, Friedman, Olshen, Stone: Classification and regression trees, 1984 (one-standard-error rule)"
_FALSE_DISCOVERY = (
    "Benjamini, Hochberg: Controlling the false discovery rate. Journal of the Royal Statistical Society B 57, 1995"
)
_UNLIKE = 10


def methods(subject: Subject) -> Section:
    """Return the paragraph and its references."""
    return Section(
        "methods", "Methods, ready to paste", {"text": paragraph(subject), "references": references(subject)}
    )


def paragraph(subject: Subject) -> str:
    """Return what was done, in the words of a paper."""
    ranking, data, method = subject.ranking, subject.data, subject.method
    n = counted(len(ranking), "feature")
    examples = "" if data is None else f" of {counted(data.n_examples, 'example')}"
    task = f" for {ranking.task}" if ranking.task else ""
    what = "" if method is None else f" ({method.summary[0].lower()}{method.summary[1:]})"
    parts = [
        f"The {n}{examples} were ranked{task} by the method {ranking.method!r}{what} of omnirank {version('omnirank')}."
    ]
    if isinstance(trees := ranking.parameters.get("n_trees"), int):
        kind = ranking.parameters.get("ensemble")
        parts.append(f"The ensemble had {counted(trees, 'tree')}{f' ({kind})' if kind else ''}.")
    if data is not None and data.target is not None and not data.labelled.all():
        parts.append(f"{int(data.labelled.sum())} of the examples were labelled.")
    if ranking.p_values is not None:
        parts.append(
            f"{len(ranking.relevant())} features were relevant at a false discovery rate of 0.05 (Benjamini-Hochberg)."
        )
    parts += _judged(subject)
    seed = ranking.parameters.get("random_state")
    if seed is not None:
        parts.append(f"The seed was {seed}.")
    return " ".join(parts)


def _judged(subject: Subject) -> list[str]:
    halves = subject.found.halves
    if halves is None:
        return []
    own, same = (digits(float(halves.values(of).mean()), 3) for of in ("worth", "uniform"))
    how = "with scores as weights" if halves.top is None else f"by the top {halves.top} features"
    same_of = "equal weights" if halves.top is None else "all features"
    parts = [
        f"Rankings were judged by nearest neighbours, {how}, on {halves.n} halves of the examples that were not used "
        f"to rank: {halves.title} {own}, with {same_of} {same}.",
        f"By the one-standard-error rule {counted(halves.curve.chosen_size, 'feature')} sufficed.",
    ]
    found = halves.stability
    if found is not None:
        index = found.indices["top_k"].value
        parts.append(
            f"The stability of the top {found.k} over these halves was {index:.2f} (index of Nogueira et al.)."
        )
    return parts


def references(subject: Subject) -> list[str]:
    """Return what the paragraph cites."""
    method, found = subject.method, []
    if method is not None and method.reference:
        found.append(method.reference)
    if subject.ranking.p_values is not None:
        found.append(_FALSE_DISCOVERY)
    if subject.found.halves is not None:
        found.append(_ONE_ERROR)
        if subject.found.halves.stability is not None:
            found.append(_STABILITY)
    return found


def caveats(subject: Subject) -> Section:
    """Return what to keep in mind when the ranking is read."""
    ranking, data = subject.ranking, subject.data
    found = [
        "A high score says that the feature helps to predict, not that it causes anything.",
        "Features that say the same share their scores in trees: a group of them may matter more than each seems to.",
    ]
    if ranking.standard_errors is not None:
        found.append("Standard errors are over trees or resamples of the method, not over examples: see Stability.")
    if (ranking.scores < 0).any():
        found.append("Negative scores mean no relevance, or chance; their order says nothing.")
    if data is not None:
        found += _of_data(subject)
    if subject.found.halves is not None:
        found.append(
            "Prediction, number of features and stability are judged on halves of the examples: a ranking of all of "
            "them is usually better and more stable. The halves overlap, so that their errors are estimates."
        )
    if subject.found.repeats is False:
        found.append("Ranking again gave other scores: these data are not exactly those that were ranked.")
    left = {what: why for what, why in subject.found.missing.items() if "budget" in why}
    if left:
        found.append(
            f"Left out, because the budget ended: {', '.join(left)}. A larger one (--report-budget) adds them."
        )
    return Section("caveats", "What to keep in mind", {"found": found})


def _of_data(subject: Subject) -> list[str]:
    data, found = subject.data, []
    assert data is not None
    n = data.n_examples if data.target is None else int(data.labelled.sum())
    if len(subject.ranking) > _UNLIKE * n:
        found.append(
            f"There are {len(subject.ranking)} features and {n} examples: some features look relevant by chance alone; "
            "look at p values and at stability."
        )
    if data.notes:
        found.append("The data check found something suspicious: see there.")
    labelled = data if data.target is None or data.labelled.all() else data.take(data.labelled)
    if subject.ranking.fingerprint not in (None, data.fingerprint, labelled.fingerprint):
        found.append(
            "The fingerprint of the data is not that of the ranking: other data were ranked, or parts of these."
        )
    return found
