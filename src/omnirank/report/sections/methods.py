"""A paragraph on the methods, ready to paste, with citations."""

from __future__ import annotations

from importlib.metadata import version
from platform import python_version
from typing import Any

from omnirank.core.plurals import counted
from omnirank.ensembles.draws import features_per_node
from omnirank.ensembles.plan import GrowingRules
from omnirank.report.repeating import changed_parameters
from omnirank.report.section import Section
from omnirank.report.sections.scores import why_no_cut
from omnirank.report.sections.significance import CORRECTION, p_value_test
from omnirank.report.subject import Subject, seed_of
from omnirank.report.tables import digits, listing

_STABILITY = (
    "Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine Learning "
    "Research 18, 2018"
)
_ONE_ERROR = "Breiman, Friedman, Olshen, Stone: Classification and regression trees, 1984 (one-standard-error rule)"
_FALSE_DISCOVERY = (
    "Benjamini, Hochberg: Controlling the false discovery rate. Journal of the Royal Statistical Society B 57, 1995"
)
_NAMED = 5
# What the sentence on trees tells, and what decides it.
_TOLD = ("n_trees", "ensemble", "bootstrap", "max_features", "min_samples_leaf", "supervision", "random_state")
_RULES = ("ensemble", "bootstrap", "max_features")


def methods(subject: Subject) -> Section:
    """Return the paragraph and its references."""
    return Section(
        "methods", "Methods, ready to paste", {"text": paragraph(subject), "references": references(subject)}
    )


def paragraph(subject: Subject) -> str:
    """Return what was done, in the words of a paper: enough to do it again."""
    ranking, data, method = subject.ranking, subject.data, subject.method
    n = counted(len(ranking), "feature")
    examples = "" if data is None else f" of {counted(data.n_examples, 'example')} ({data.name})"
    names = list(subject.targets)
    targets = listing(names) if len(names) <= _NAMED else f"{len(names)} targets"
    of = f" of {targets}" if names and targets != "y" else ""
    task = f" for {ranking.task}{of}" if ranking.task else ""
    what = "" if method is None else f" ({method.summary[0].lower()}{method.summary[1:]})"
    parts = [f"The {n}{examples} were ranked{task} by the method {ranking.method!r}{what}."]
    parts += _trees(subject)
    if data is not None and data.target is not None and not data.labelled.all():
        parts.append(f"{int(data.labelled.sum())} of the examples were labelled.")
    known = changed_parameters(ranking) or {}
    others = [f"{name}={value!r}" for name, value in known.items() if name not in _TOLD]
    if method is not None:
        changed = f"Further parameters: {', '.join(others)}; all others" if others else "All other parameters"
        parts.append(f"{changed} had their defaults.")
    if ranking.p_values is not None:
        parts.append(
            f"P values are those of {p_value_test(ranking)}. With {CORRECTION} correction for {n}, "
            f"{len(ranking.relevant())} were relevant at a false discovery rate of 0.05."
        )
    parts += _judged(subject)
    seed = seed_of(ranking)
    packages = ", ".join(f"{name} {version(name)}" for name in ("omnirank", "numpy", "scikit-learn"))
    parts.append(f"{'' if seed is None else f'The seed was {seed}. '}Software: {packages}, Python {python_version()}.")
    return " ".join(parts)


def _trees(subject: Subject) -> list[str]:
    """How the trees of an ensemble were grown, with the numbers that defaults stand for."""
    ranking = subject.ranking
    grown, kind = ranking.parameters.get("n_trees"), ranking.parameters.get("ensemble")
    if not isinstance(grown, int) or not isinstance(kind, str):
        return []
    decided: dict[str, Any] = {name: ranking.parameters.get(name) for name in _RULES}
    rules = GrowingRules(**decided)
    replicates = "bootstrap replicates" if rules.bootstraps else "all examples"
    level, drawn = ranking.parameters.get("supervision_level"), ""
    # without supervision another rule decides
    if subject.data is not None and (level != 0 or rules.max_features is not None):
        drawn = f", {features_per_node(rules, subject.data)} of {len(ranking)} features were tried in each node"
    leaf = ranking.parameters.get("min_samples_leaf")
    leaves = "" if leaf is None else f", and a leaf had at least {leaf:g} {'example' if leaf == 1 else 'examples'}"
    how = " (the target alone counts)" if level == 1 else " (the features alone count)" if level == 0 else ""
    supervised = "" if level is None else f" The level of supervision was {level:g}{how}."
    were = "was" if grown == 1 else "were"
    return [f"{counted(grown, 'tree')} ({kind}) {were} grown on {replicates}{drawn}{leaves}.{supervised}"]


def _judged(subject: Subject) -> list[str]:
    halves = subject.found.halves
    if halves is None:
        return []
    own, same = (digits(float(halves.values(of).mean()), 3) for of in ("worth", "uniform"))
    how = "with scores as weights" if halves.top is None else f"by the top {halves.top} features"
    same_of = "equal weights" if halves.top is None else "all features"
    parts = [
        f"Rankings were judged by {counted(halves.n_neighbors, 'nearest neighbour')}, {how}, on {halves.n} halves of "
        f"the examples that were not used to rank: {halves.title} {own}, with {same_of} {same}.",
    ]
    if not why_no_cut(subject):
        parts.append(f"By the one-standard-error rule {counted(halves.curve.chosen_size, 'feature')} sufficed.")
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
        if not why_no_cut(subject):
            found.append(_ONE_ERROR)
        if subject.found.halves.stability is not None:
            found.append(_STABILITY)
    return found
