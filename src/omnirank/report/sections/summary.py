"""What was ranked, how, and what came out, in three sentences."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from omnirank.core.plurals import counted
from omnirank.evaluation.stability import Stability
from omnirank.report.halves import CLEARLY, Halves
from omnirank.report.section import Section
from omnirank.report.sections.scores import cut_of
from omnirank.report.subject import Subject, seed_of
from omnirank.report.tables import digits, joined, listing

_BEST = 5
# With fewer halves all of them may agree by chance: two do every other time.
_FEWEST = 4
# Relative errors above this are hardly better than the mean.
_HARDLY = 0.95
_STABLE = ((0.9, "nearly the same"), (0.75, "stable"), (0.4, "moderately stable"), (-math.inf, "unstable"))


def summary(subject: Subject) -> Section:
    """Return the facts and the sentences."""
    sentences = [best_sentence(subject), worth_sentence(subject), stability_sentence(subject)]
    return Section("summary", "Summary", {"sentences": sentences, "facts": facts(subject)})


def facts(subject: Subject) -> list[tuple[str, str]]:
    """Return data, task, method, seed, time and versions, by name."""
    ranking, data = subject.ranking, subject.data
    found: list[tuple[str, Any]] = []
    if data is not None:
        n_labelled = int(data.labelled.sum())
        known = (
            "" if data.target is None else ", all labelled" if n_labelled == len(data) else f", {n_labelled} labelled"
        )
        found += [("data", data.name), ("examples", f"{data.n_examples}{known}")]
    found += [("features", len(ranking)), ("task", ranking.task or "not known")]
    if subject.targets:
        shown = joined(subject.targets[:3]) + (", ..." if len(subject.targets) > 3 else "")
        found.append(("targets" if len(subject.targets) > 1 else "target", f"{len(subject.targets)}: {shown}"))
    n, _ = cut_of(subject)
    if 0 < n < len(ranking):
        found.append(("features to keep", f"{n} to predict (see How many features)"))
    method = subject.method
    found.append(("method", ranking.method if method is None else f"{ranking.method}: {method.summary}"))
    seed = seed_of(ranking)
    found.append(("seed", "none used" if seed is None else seed))
    if subject.seconds is not None:
        found.append(("time of the ranking", f"{subject.seconds:.3g} s"))
    if subject.found.costs:
        spent = sum(subject.found.costs.values())
        found.append(("further fits", f"{spent:.3g} s (budget {subject.found.budget:.3g} s)"))
    packages = ", ".join(f"{name} {version(name)}" for name in ("omnirank", "numpy", "scikit-learn"))
    found.append(("versions", f"{packages}, Python {platform.python_version()}"))
    return [(name, str(value)) for name, value in found]


def best_sentence(subject: Subject) -> str:
    """Say which features are the best, and how many are relevant."""
    ranking = subject.ranking
    best = ranking.top(min(_BEST, max(1, len(ranking) // 2)))
    target = subject.targets[0] if len(subject.targets) == 1 else "y"
    of = f" for {target}" if target != "y" else ""  # what targets without a name are called
    features = counted(len(ranking), "feature")
    if len(ranking) > 1 and ranking.scores.min() == ranking.scores.max():
        return f"All {features} have the same score{of}: the order is that of the data and tells nothing."
    which = f"The best of {features}{of} {'is' if len(best) == 1 else 'are'} {listing(best)}"
    if ranking.p_values is None:
        return f"{which}."
    relevant = ranking.relevant()
    n, level = len(relevant), "false discovery rate 0.05"
    if not n:
        return f"None of {features} scores significantly above chance{of} ({level}); first in order: {listing(best)}."
    verb = "scores" if n == 1 else "score"
    if n <= len(best):
        return f"Of {features}, {n} {verb} significantly above chance{of}: {listing(relevant)} ({level})."
    count = f"All {n}" if n == len(ranking) else f"In all, {n}"
    return f"{which}. {count} {verb} significantly above chance ({level})."


def worth_sentence(subject: Subject) -> str:
    """Say whether the ranking beats equal weights on examples that it has not seen."""
    halves = subject.found.halves
    if halves is None:
        return "Whether the ranking helps to predict was not looked at."
    own, same, random = (digits(float(halves.values(of).mean()), 3) for of in ("worth", "uniform", "random"))
    kept = "the scores as weights" if halves.top is None else f"its top {halves.top}"
    all_of = "equal weights" if halves.top is None else "all features"
    values = f"{halves.title} {own} with {kept}, {same} with {all_of}, {random} with random rankings"
    return f"On held-out examples, the ranking {verdict(halves)} ({values}).{_scale(halves)}"


def _scale(halves: Halves) -> str:
    """Say what a relative error means, and that little is predicted where it is so."""
    if halves.measure != "rrmse":
        return ""
    hardly = float(halves.values("worth").mean()) > _HARDLY
    caution = " So hardly anything is predicted here: take the order with caution." if hardly else ""
    return f" {halves.title} is the error relative to that of always predicting the mean, which has 1.{caution}"


def verdict(halves: Halves) -> str:
    """Return how the ranking compares with equal weights, or with random rankings, in words."""
    predicts = "predicts" if halves.n >= _FEWEST else "seems to predict"
    if halves.wins >= CLEARLY * halves.n:
        return f"{predicts} better than {halves.baseline}"
    how = "worse than" if halves.losses >= CLEARLY * halves.n else "about as well as"
    return f"{predicts} {how} {halves.baseline}"


def stability_sentence(subject: Subject) -> str:
    """Say how stable the order is."""
    found = None if subject.found.halves is None else subject.found.halves.stability
    if found is None:
        return "How much the order depends on the examples was not looked at (see Stability)."
    index = found.indices["top_k"].value
    word = next(word for limit, word in _STABLE if index >= limit)
    always = [found.names[i] for i in found.order[: found.k] if (found.ranks[:, i] <= found.k).all()]
    shown = listing(always) if len(always) <= _BEST else f"{joined(always[:_BEST])} and {len(always) - _BEST} more"
    which = f"always among them: {shown}" if always else f"no feature is always among them; {_most_often(found)}"
    return (
        f"With other examples the top {found.k} would be {word} (index {index:.2f}; 1: always the same, 0: chance); "
        f"over {found.drawn}, {which}."
    )


def _most_often(found: Stability) -> str:
    """Which feature is among the top most often."""
    often = found.top_probability(found.k)
    first = int(found.order[np.argmax(often[found.order])])
    return f"most often {found.names[first]}, in {100 * often[first]:.0f} % of them"
