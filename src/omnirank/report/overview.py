"""Sections at both ends of the page: the summary, the check of the data, and what to keep in mind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from omnirank.core.text import counted, supervision_lines, there_are, top_of
from omnirank.data.dataset import Dataset
from omnirank.plots import plot_ranking, plot_schema
from omnirank.plots.style import BAR, finish, name_rows, new_axes
from omnirank.report.features import N_SHORT
from omnirank.report.halves import Halves
from omnirank.report.page import Column, Content, digits, listing
from omnirank.report.subject import Subject

_BEST = 5
# Relative errors above this are hardly better than the mean.
_HARDLY = 0.95
_CONSTANT = {"rrmse": "the mean, which has 1", "mixed_error": "the mean or the most frequent class, which has about 1"}
_STABLE = ((0.9, "nearly the same"), (0.75, "stable"), (0.4, "moderately stable"), (-math.inf, "unstable"))
_MOST_BARS = 16
_MOST_MISSING = 50
# So many more features than examples: some of them look relevant by chance.
_UNLIKE = 10
_NAMED = 8


def summary(subject: Subject) -> Content:
    """Return in a few sentences what came out, how sure it is and what to do, with the picture of the best features."""
    ranking = subject.ranking
    k = min(N_SHORT, len(ranking))
    return {
        "about": about(subject),
        "answers": {
            "What matters": [best_sentence(subject)],
            "How sure": [worth_sentence(subject), stability_sentence(subject), *doubts(subject)],
            "What to do": advice(subject),
        },
        "picture": subject.picture(plot_ranking(ranking, k=k), f"scores of the {k} best features"),
    }


def about(subject: Subject) -> str:
    """Return what was ranked, for what and by which method, in one line."""
    ranking, data = subject.ranking, subject.database if subject.data is None else subject.data
    parts = []
    if data is not None:
        n_labelled = int(data.labelled.sum())
        known = f", {'all' if n_labelled == len(data) else n_labelled} labelled" if data.target is not None else ""
        parts.append(f"{counted(data.n_examples, 'example')}{known}")
    parts += [counted(len(ranking), "feature"), (ranking.task or "task not known") + subject.of_target]
    return f"{'; '.join(parts)}; ranked by the method {ranking.method!r}."


def best_sentence(subject: Subject) -> str:
    """Say which features are the best, and how many are relevant."""
    ranking = subject.ranking
    best = ranking.top(min(_BEST, max(1, len(ranking) // 2)))
    of = subject.of_target
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
    halves = subject.halves
    if halves is None:
        return "Whether the ranking helps to predict was not checked."
    own, same, random = (digits(float(halves.values(of).mean()), 3) for of in ("worth", "uniform", "random"))
    kept = "the scores as weights" if halves.top is None else top_of(halves.top)
    all_of = "equal weights" if halves.top is None else "all features"
    values = f"{halves.measure.title} {own} with {kept}, {same} with {all_of}, {random} with random rankings"
    better = "larger" if halves.measure.larger_is_better else "smaller"
    return f"On held-out examples, the ranking {halves.verdict} ({values}; {better} is better).{_scale(halves)}"


def _scale(halves: Halves) -> str:
    """Say what a relative error means, and that little is predicted where it is so."""
    if not (constant := _CONSTANT.get(halves.measure.name)):
        return ""
    hardly = float(halves.values("worth").mean()) > _HARDLY
    caution = " So hardly anything is predicted here: take the order with caution." if hardly else ""
    return f" {halves.measure.title} is the error relative to that of always predicting {constant}.{caution}"


def stability_sentence(subject: Subject) -> str:
    """Say how stable the order is."""
    stability = subject.stability
    if stability is None:
        return "How much the order depends on the examples was not checked (see Stability)."
    k, index = stability.k, stability.indices["top_k"].value
    word = next(word for limit, word in _STABLE if index >= limit)
    often = stability.top_probability(k)[stability.order]
    names = [stability.names[i] for i in stability.order]
    there = "first" if k == 1 else "among them"
    always = [name for name, share in zip(names[:k], often[:k], strict=True) if share == 1]
    which = f"always {there}: {listing(always, _BEST)}"
    if not always:
        most = f"most often {names[often.argmax()]}, in {100 * often.max():.0f} % of them"
        which = f"no feature is always {there}; {most}"
    return (
        f"With other examples, {top_of(k)} would be {word} (index {index:.2f}; 1: always the same, 0: chance). "
        f"Over {stability.drawn}, {which}."
    )


def data_check(subject: Subject) -> Content:
    """Return what there is to know about the data before trusting the ranking."""
    data = subject.data
    if data is None:
        return subject.no_data
    known = data.describe()
    n_constant = len(subject.ranking.constant)
    few = data.target is not None and not data.labelled.all()  # among them more may be constant than among all
    pairs = {name: known[name] for name in ("examples", "labelled", "numeric features", "nominal features")}
    pairs["missing cells"] = f"{known['missing cells']} ({100 * known['missing share']:.2g} %)"
    pairs["constant features"] = f"{n_constant} among the labelled" if n_constant and few else n_constant
    if data.target is None:
        pairs["labelled"] = "no target"
    else:
        pairs["targets"] = known["targets"]
    if data.given_groups is not None:
        pairs["groups"] = f"{len(set(data.given_groups.tolist()))}, kept together"
    further = ("density", "label cardinality", "hierarchy", "hierarchy depth")
    pairs |= {name: known[name] for name in further if name in known}
    return {
        "pairs": [(name, f"{value:.3g}" if isinstance(value, float) else str(value)) for name, value in pairs.items()],
        "notes": list(data.notes),
        "columns": _missing_columns(data),
        "picture": "" if data.target is None else subject.picture(_target_picture(data), "distribution"),
        "first": "" if data.target is None or data.target.is_labels else data.target_names[0],
    }


def _missing_columns(data: Dataset) -> list[Column]:
    """The table of the features with the most missing cells; nothing where there are none."""
    table = data.features
    counts = {}
    for i in np.flatnonzero(table.with_missing).tolist():
        column = np.asarray(table.column(i))
        counts[table.names[i]] = int((np.isnan(column) if column.dtype.kind == "f" else column < 0).sum())
    most = sorted(counts, key=counts.__getitem__, reverse=True)[:_MOST_MISSING]
    if not most:
        return []
    return [
        Column("feature", most),
        Column("missing", [counts[name] for name in most], number=True),
        Column("% of examples", [f"{100 * counts[name] / table.n_rows:.1f}" for name in most], number=True),
    ]


def _target_picture(data: Dataset) -> Any:
    """How the first target is distributed, or how frequent the labels are."""
    target = data.target
    assert target is not None
    names, counts = target.names, np.nansum(target.dense(), axis=0) if target.is_labels else np.empty(0)
    if not target.is_labels:
        values, levels = target.dense()[:, 0], target.levels[0]
        known = values[~np.isnan(values)]
        if levels is None:
            ax = new_axes(width=3.6, height=2.4)
            ax.hist(known, bins=20, color=BAR)
            return finish(ax, target.names[0], "examples", grid="y")
        names, counts = tuple(map(str, levels)), np.bincount(known.astype(int), minlength=len(levels))
    order = np.argsort(-counts, kind="stable")[:_MOST_BARS]
    ax = new_axes(width=6.0, height=0.8 + 0.22 * len(order))
    ax.barh(range(len(order)), counts[order], color=BAR, height=0.7)
    name_rows(ax, [names[i] for i in order])
    return finish(ax, "examples", grid="x")


def schema(subject: Subject) -> Content:
    """Return the picture of the tables and their links, with scores where relations were ranked."""
    data = subject.database
    if data is None:
        return None
    scored = None if set(data.feature_names).isdisjoint(subject.ranking.names) else subject.ranking
    return {"picture": subject.picture(plot_schema(data, scored), "tables and links"), "notes": list(data.notes)}


def supervision(subject: Subject) -> Content:
    """Return the level of supervision and why it was chosen, where only some examples are labelled."""
    data = subject.data
    if data is None or data.target is None or data.labelled.all():
        return None
    if subject.ranker is None:
        lines = ["how the others were used is not known: give the fitted ranker, report(path, data, ranker=ranker)"]
    else:
        lines = supervision_lines(subject.ranker) or ["the method has no level of supervision to choose"]
    return {"lines": lines, "n": int(data.labelled.sum()), "all": data.n_examples}


def advice(subject: Subject) -> list[str]:
    """Return what to do next: check the data, what to keep, what to look at, and what not to conclude."""
    ranking, data, lines = subject.ranking, subject.data, list[str]()
    if data is not None and data.notes:
        more = f", and {len(data.notes) - 1} more" if len(data.notes) > 1 else ""
        lines.append(f"First look at the data: {data.notes[0]}{more} (see Data check).")
    n, reason = subject.cut
    if 0 < n < len(ranking):
        lines.append(f"To predict, keep {top_of(n)}: {listing(ranking.top(n), _NAMED)} (see How many features).")
    elif reason:
        lines.append(reason)
    relevant = ranking.relevant() if ranking.p_values is not None else []
    if len(relevant) > max(n, 1):
        lines.append(f"To understand more, look at all {len(relevant)} that score significantly above chance.")
    if subject.copies:
        group, others = subject.copies[0], len(subject.copies) - 1
        more = f"; {there_are(others, 'more such group')}" if others else ""
        same = f"{group.representative} says nearly the same as {listing(group.others, _NAMED)}"
        lines.append(f"{same}, and methods may share the score among them{more} (see Features that say the same).")
    return [*lines, "A high score does not mean that a feature causes anything: it goes with what is predicted."]


def doubts(subject: Subject) -> list[str]:
    """Return what makes the ranking less sure: few examples, other data."""
    ranking, data, lines = subject.ranking, subject.data, list[str]()
    if data is None:
        return lines
    if len(ranking) > _UNLIKE * subject.n_judged:
        examples = counted(subject.n_judged, "example")
        lines.append(f"With {len(ranking)} features and {examples}, some features look relevant by chance alone.")
    labelled = data if data.target is None or data.labelled.all() else data.take(data.labelled)
    if not subject.same_data and ranking.fingerprint != labelled.fingerprint:
        lines.append("The fingerprint of the data is not that of the ranking: it was made from other data, or parts.")
    elif subject.repeats is False:
        lines.append("Ranking again gave other scores: these data are not exactly those that were ranked.")
    return lines
