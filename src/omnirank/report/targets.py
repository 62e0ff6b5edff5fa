"""Sections of several targets: what they share, what is specific to some, a card for each, their hierarchy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from omnirank.core.ranking.part_scores import TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import ordinal
from omnirank.plots import plot_hierarchy, plot_target_scores
from omnirank.plots.structure import relative_scores
from omnirank.report.features import direction
from omnirank.report.page import Column, Section, digits, inline_svg, joined, listing
from omnirank.report.subject import Subject
from omnirank.tasks import get_task
from omnirank.tasks.measuring import primary_measure

_TOP = 10
_SHOWN = 40
_MOST_CELLS = 60_000
_MOST_CARDS = 60
_NAMED = 8
# A feature is shared if it is among the top of at least this share of the targets.
_MOST_OF = 0.5


def by_target(subject: Subject) -> Section | None:
    """Return the heat map of features and targets, which features are shared, and the table of the values."""
    title, scores = "Features by target", subject.ranking.per_target
    if (len(subject.targets) if scores is None else len(scores.names)) < 2:
        return None
    if scores is None:
        why = "the ranking has no scores by target: rank with per_target=True or --per-target"
        return Section("by-target", title, left_out=why)
    ranking = subject.ranking
    counts = top_counts(scores)
    n = len(scores.names)
    order = ranking.order[: max(1, min(len(ranking), _MOST_CELLS // (n + 2)))]
    k, (place, best) = top_size(scores), best_places(ranking)
    columns = [
        Column("rank", ranking.ranks[order].tolist(), number=True),
        Column("feature", [ranking.names[i] for i in order]),
        Column(f"targets in top {k}", counts[order].tolist(), number=True, hint=f"of {n} targets"),
        Column("highest place", [f"{ordinal(int(place[i]))} for {scores.names[best[i]]}" for i in order]),
        *(
            Column(name, [digits(value, 3) for value in row[order].tolist()], number=True)
            for name, row in zip(scores.names, scores.scores, strict=True)
        ),
    ]
    picture = inline_svg(plot_target_scores(ranking, k=_SHOWN), "scores of features by target")
    content = {
        "picture": picture,
        "sentences": sharing(subject, counts),
        "columns": columns,
        "left": len(ranking) - len(order),
    }
    return Section("by-target", title, content)


def top_size(scores: TargetScores) -> int:
    """Return how many features of a target are its top: 10, but no more than a quarter of all."""
    return min(_TOP, math.ceil(scores.scores.shape[1] / 4))


def best_places(ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
    """Return the highest place of each feature among the scores of a target, and the first target with it."""
    assert ranking.per_target is not None
    places = np.array([ranking.for_target(name).ranks for name in ranking.per_target.names])
    return places.min(axis=0), places.argmin(axis=0)


def in_tops(scores: TargetScores) -> np.ndarray:
    """Return for each target and feature whether the feature is among the top of the target, with a score above 0."""
    k = top_size(scores)
    best = np.argsort(-scores.scores, axis=1, kind="stable")[:, :k]
    chosen = np.zeros(scores.scores.shape, dtype=bool)
    np.put_along_axis(chosen, best, True, axis=1)
    return chosen & (scores.scores > 0)


def top_counts(scores: TargetScores) -> np.ndarray:
    """Return for each feature the number of targets among whose top features it is, with a score above 0."""
    return np.asarray(in_tops(scores).sum(axis=0))


def sharing(subject: Subject, counts: np.ndarray) -> list[str]:
    """Say which features are shared by targets, and which are specific."""
    ranking, scores = subject.ranking, subject.ranking.per_target
    assert scores is not None
    n, k = len(scores.names), top_size(scores)
    least = max(2, math.ceil(_MOST_OF * n))
    shared = [ranking.names[i] for i in ranking.order if counts[i] >= least]
    of_targets = "both targets" if n == 2 else f"at least {least} of {n} targets"
    # the target of each: a feature may score higher for another one, where more features are better still
    target, relative = in_tops(scores).argmax(axis=0), relative_scores(scores)
    single = [i for i in ranking.order.tolist() if counts[i] == 1]
    single.sort(key=lambda i: -relative[target[i], i])
    sentences = []
    if shared:
        more = f" and {len(shared) - _NAMED} more" if len(shared) > _NAMED else ""
        verb = "is" if len(shared) == 1 else "are"
        sentences.append(f"Shared: {joined(shared[:_NAMED])}{more} {verb} among the top {k} of {of_targets}.")
    else:
        sentences.append(f"No feature is among the top {k} of {of_targets}.")
    if single:
        named = [f"{ranking.names[i]} ({scores.names[target[i]]})" for i in single[:_NAMED]]
        sentences.append(f"Specific, among the top {k} of one target only: {listing(named)}.")
    return sentences


def target_cards(subject: Subject) -> Section | None:
    """Return a card per target: its best features, and how well it is predicted."""
    title, scores = "Target by target", subject.ranking.per_target
    if len(subject.targets) < 2 or scores is None:
        return None
    ranking = subject.ranking
    predicted = {} if subject.halves is None else subject.halves.by_target()
    words = _measure_in_words(subject)
    cards: list[dict[str, Any]] = []
    for name, row in list(zip(scores.names, scores.scores, strict=True))[:_MOST_CARDS]:
        top = np.argsort(-row, kind="stable")[:_TOP]
        value = predicted.get(name, math.nan)
        cards.append(
            {
                "name": name,
                "value": "" if math.isnan(value) else f"{words} {digits(value, 3)}{_caution(words, value)}",
                "features": [
                    (ranking.names[i], digits(float(row[i]), 3), _arrow(subject, i, name))
                    for i in top.tolist()
                    if row[i] > 0
                ],
            }
        )
    notes = []
    if predicted:
        notes.append(f"How well nearest neighbours predict a target: {words} on held-out halves of the examples.")
    if any(arrow for card in cards for *_, arrow in card["features"]):
        notes.append(
            "An arrow tells whether the target rises or falls with the feature on its own (sign of Spearman's "
            "correlation); none: no clear direction."
        )
    content = {"cards": cards, "note": " ".join(notes), "left": len(scores.names) - len(cards)}
    return Section("targets", title, content)


def _arrow(subject: Subject, feature: int, target: str) -> str:
    """Whether a target rises or falls with a feature."""
    data = subject.data
    if data is None or target not in data.target_names:
        return ""
    return {1: "↑", -1: "↓", 0: ""}[direction(data, feature, data.target_names.index(target)).sign]


def _caution(measure: str, value: float) -> str:
    return ": no better than its mean, do not trust the order" if measure == "RRMSE" and value >= 1 else ""


def _measure_in_words(subject: Subject) -> str:
    """What the measure of a single target is called."""
    if subject.data is None:
        return ""
    task = subject.data.task
    return "AUPRC" if get_task(task).kind == "labels" else primary_measure(task).title


def label_hierarchy(subject: Subject) -> Section | None:
    """Return the hierarchy of the labels, coloured by how much of the scores is theirs."""
    data, title = subject.data, "Label hierarchy"
    if data is None or data.hierarchy is None:
        return None
    scores = subject.ranking.per_target
    if scores is None or scores.names != data.hierarchy.labels:
        why = "the ranking has no scores by label: rank with per_target=True or --per-target"
        return Section("hierarchy", title, left_out=why)
    values = np.maximum(scores.scores, 0.0).sum(axis=1)
    total = values.sum()
    shares = 100 * values / total if total > 0 else values
    ax = plot_hierarchy(data.hierarchy, shares, what="% of all scores")
    largest = np.argsort(-shares, kind="stable")[:5]
    words = ", ".join(f"{data.hierarchy.labels[i]} ({shares[i]:.3g} %)" for i in largest)
    return Section("hierarchy", title, {"picture": inline_svg(ax, "labels coloured by importance"), "words": words})
