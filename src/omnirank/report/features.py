"""Sections of features and targets: the best features and all, directions, groups, copies, target by target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from omnirank.core.ranking.accumulators import TargetScores
from omnirank.core.ranking.certainty import ALPHA, adjusted_p_values, p_value_columns, replicates_of
from omnirank.core.text import counted, harmless, numbers
from omnirank.data.dataset import Dataset
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_group_shares, plot_hierarchy, plot_ranking, plot_target_scores
from omnirank.plots.ranking import SMALLEST_P
from omnirank.plots.structure import relative_scores
from omnirank.report.judgement import CORRECTION, p_value_test
from omnirank.report.page import Column, Content, digits, joined, listing, probability
from omnirank.report.subject import Subject

_N_TOP = 30
# Features in the picture of the summary.
N_SHORT = 10
# Rows of the table, and scores by target in the file to download: beyond, the page would be slow to open.
_MOST_ROWS = 5000
_MOST_CELLS = 200_000
_MOST_GROUPS = 200
_HINT = (
    "how this feature goes with the target on its own (Spearman's correlation; the class or category in which "
    "it is highest; the class that a category goes with most). The score may rest on more: this is marginal"
)
UNCLEAR = "no clear one"
# Correlations below so many of their standard deviations under chance, 1 / sqrt(n), have no clear sign.
_DEVIATIONS = 2.0
_FEWEST = 5
_MOST_LEVELS = 50

_TOP = 10
_SHOWN = 40
_MOST_TARGET_CELLS = 60_000
_NAMED = 8
# A feature is shared if it is among the top of at least this share of the targets.
_MOST_OF = 0.5


def all_features(subject: Subject) -> Content:
    """Return the picture of the top 30, the table of all features, and the file to download."""
    ranking = subject.ranking
    order = ranking.order[:_MOST_ROWS]
    k = min(_N_TOP, len(ranking))
    # fewer are in the picture of the summary
    picture = subject.picture(plot_ranking(ranking, k=k), f"scores of the {k} best features") if k > N_SHORT else ""
    notes = [] if subject.method is None else [f"score: {subject.method.summary}."]
    if ranking.standard_errors is not None:
        notes.append(
            f"± {replicates_of(ranking)}: one standard error over these: it shows whether there were enough of them. "
            "With other examples, scores often change by much more (see Stability)."
        )
    if (ranking.scores < 0).any():
        notes.append("A feature with a negative score told nothing here: the order among such features is chance.")
    return {
        "picture": picture,
        "columns": _columns(subject, order),
        "csv": _csv_text(subject),
        "left": len(ranking) - len(order),
        "legend": notes + _column_notes(subject),
    }


def _column_notes(subject: Subject) -> list[str]:
    """Say below a table what its columns are: the test of p values, the ranks, the directions."""
    notes = []
    if subject.ranking.p_values is not None:
        tiny = (adjusted_p_values(subject.ranking.p_values, "fdr") < SMALLEST_P).any()
        cut = f"; smaller than {SMALLEST_P:.0e} is shown as <{SMALLEST_P:.0e}" if tiny else ""
        features = counted(len(subject.ranking), "feature")
        notes.append(
            f"p_value: raw, of {p_value_test(subject.ranking)}. p_adjusted: the same corrected for {features} "
            f"({CORRECTION}){cut}. relevant: p_adjusted is at most {ALPHA}."
        )
    if subject.stability is not None:
        notes.append(f"ranks: {_ranks_hint(subject.stability)}.")
    if _has_directions(subject):
        top = f" (of the best {_N_TOP})" if len(subject.ranking) > _N_TOP else ""
        notes.append(f"direction{top}: {_HINT}.")
    return notes


def _ranks_hint(stability: Stability) -> str:
    return f"smallest and largest rank in {stability.drawn}, a range and no confidence interval"


def _has_directions(subject: Subject) -> bool:
    """Whether features go in a direction: with one target, which is known."""
    return subject.data is not None and subject.data.target is not None and subject.data.n_targets == 1


def _columns(subject: Subject, order: np.ndarray) -> list[Column]:
    ranking = subject.ranking
    scores = ranking.scores[order]
    errors = None if ranking.standard_errors is None else ranking.standard_errors[order]
    largest = max(float(ranking.scores.max()), 0.0) or 1.0
    shown = numbers(scores, beside=() if errors is None else errors)
    columns = [
        Column("rank", ranking.ranks[order].tolist(), number=True),
        Column("feature", [ranking.names[i] for i in order]),
        Column("score", shown, number=True, bars=np.clip(scores / largest, 0, 1).tolist()),
    ]
    if errors is not None:
        own = numbers(errors, beside=scores)
        columns.append(Column(f"± {replicates_of(ranking)}", own, number=True, hint="not over examples"))
    if ranking.p_values is not None:
        tested = p_value_columns(ranking.p_values, ranking.p_given_others)
        hints = (f"raw: {p_value_test(ranking)}", f"corrected for the number of features ({CORRECTION})")
        for name, hint in zip(("p_value", "p_adjusted"), hints, strict=True):
            values = tested[name][order].tolist()
            columns.append(Column(name, [probability(p) for p in values], values, number=True, hint=hint))
        relevant = f"whether p_adjusted is at most {ALPHA}"
        for name, hint in (("relevant", relevant), ("adds", "whether it tells what the others do not")):
            if name in tested:
                columns.append(Column(name, ["yes" if one else "no" for one in tested[name][order]], hint=hint))
    columns += _stability_columns(subject, order)
    if _has_directions(subject):
        assert subject.data is not None
        words = [direction(subject.data, i) for i in order[:_N_TOP].tolist()]
        columns.append(Column("direction", words + [""] * (len(order) - len(words)), hint=_HINT))
    if ranking.constant:
        constant = set(ranking.constant)
        columns.append(Column("note", ["constant" if ranking.names[i] in constant else "" for i in order]))
    return columns


def _stability_columns(subject: Subject, order: np.ndarray) -> list[Column]:
    stability = subject.stability
    if stability is None:
        return []
    lower, upper = stability.lower[order].tolist(), stability.upper[order].tolist()
    top = stability.top_probability(stability.k)[order].tolist()
    ranges = [f"{a}–{b}" if a < b else str(a) for a, b in zip(lower, upper, strict=True)]
    shares, hint = [f"{100 * share:.0f} %" for share in top], f"share of {stability.drawn} in which the feature is"
    return [
        Column("ranks", ranges, lower, number=True, hint=_ranks_hint(stability)),
        Column(f"in top {stability.k}", shares, top, number=True, hint=f"{hint} among the top {stability.k}"),
    ]


def _csv_text(subject: Subject) -> str:
    """Return the whole ranking as CSV, with scores by target unless there are very many; names that nothing runs."""
    ranking, scores = subject.ranking, subject.ranking.per_target
    order = ranking.order
    names = [harmless(ranking.names[i]).encode("utf-8", "replace").decode() for i in order]  # half characters are ?
    frame = pd.DataFrame({"rank": ranking.ranks[order], "feature": names, "score": ranking.scores[order]})
    errors = {} if ranking.standard_errors is None else {"standard_error": ranking.standard_errors}
    for name, values in (errors | p_value_columns(ranking.p_values, ranking.p_given_others)).items():
        frame[name] = values[order]
    if scores is not None and scores.scores.size <= _MOST_CELLS:
        for name, row in zip(scores.names, scores.scores, strict=True):
            frame[harmless(f"score: {name}")] = [f"{value:.6g}" for value in row[order]]
    return frame.to_csv(index=False, lineterminator="\n")


def direction(data: Dataset, feature: int) -> str:
    """Return in which direction a feature, by its number, goes with the first target of the data.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.report.features import direction
    >>> iris = om.datasets.load_sample("iris")
    >>> direction(iris, 3), direction(iris, 1)
    ('highest in virginica', 'highest in setosa')
    >>> numbers = om.Dataset([[1.0], [2.0], [3.0], [5.0], [4.0], [6.0]], [9.5, 8.0, 8.5, 7.0, 6.0, 5.0])
    >>> direction(numbers, 0)
    'falls (ρ -0.89)'
    """
    if data.target is None:
        return UNCLEAR
    column = np.asarray(data.features.column(feature), dtype=np.float64)
    nominal = bool(data.features.is_nominal[feature])
    truth = data.target.select([0]).dense()[:, 0]
    known = ~np.isnan(truth) & ((column >= 0) if nominal else ~np.isnan(column))
    if known.sum() < _FEWEST:
        return UNCLEAR
    levels = data.features.levels[feature] if nominal else None
    classes = None if data.target.is_labels else data.target.levels[0]
    (x, shown), (y, shown_classes) = _standard_ranks(column[known], levels), _standard_ranks(truth[known], classes)
    rho = x.T @ y
    i, j = np.unravel_index((np.abs(rho) if levels is None and classes is None else rho).argmax(), rho.shape)
    if abs(rho[i, j]) < _DEVIATIONS / np.sqrt(len(x)):
        return UNCLEAR
    if levels is not None and classes is not None:
        return f"{levels[shown[i]]} goes with {classes[shown_classes[j]]}"
    if levels is not None:
        return f"highest for {levels[shown[i]]}"
    if classes is not None:
        return f"highest in {classes[shown_classes[j]]}"
    return f"{'rises' if rho[i, j] > 0 else 'falls'} (ρ {rho[i, j]:.2f})"


def _standard_ranks(values: np.ndarray, levels: Sequence[Any] | None) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of numbers, or indicators of the most frequent levels, with mean 0 and length 1; and these levels."""
    shown = np.zeros(1, np.int64)
    if levels is None:
        columns = rankdata(values)[:, None]
    else:
        shown = np.argsort(-np.bincount(values.astype(np.int64)), kind="stable")[:_MOST_LEVELS]
        columns = (values[:, None] == shown).astype(np.float64)
    columns = columns - columns.mean(axis=0)
    length = np.sqrt((columns**2).sum(axis=0))
    return columns / np.where(length > 0, length, 1.0), shown


def groups(subject: Subject) -> Content:
    """Return the shares of the groups of features that the data name."""
    data = subject.data
    if data is None or not data.feature_groups:
        return None
    named = {name: data.feature_groups.get(name, "(no group)") for name in subject.ranking.names}
    ax = plot_group_shares(subject.ranking, named)
    return {"picture": subject.picture(ax, "shares of groups of features in the scores")}


def redundant(subject: Subject) -> Content:
    """Return which features stand for each other."""
    if subject.redundancy is None:
        return subject.no_data
    several = subject.copies[:_MOST_GROUPS]
    columns = [
        Column("feature", [group.representative for group in several]),
        Column("stands also for", [joined(group.others) for group in several]),
        Column("features", [1 + len(group.others) for group in several], number=True),
        Column("least association", [digits(min(group.associations), 3) for group in several], number=True),
    ]
    return {"summary": subject.redundancy.summary, "columns": columns}


def by_target(subject: Subject) -> Content:
    """Return the heat map of features and targets, which features are shared, and the table of the values."""
    scores = subject.ranking.per_target
    if (len(subject.targets) if scores is None else len(scores.names)) < 2:
        return None
    if scores is None:
        return "the ranking has no scores by target: rank with per_target=True (--set per_target=true)"
    ranking = subject.ranking
    counts, n = top_counts(scores), len(scores.names)
    order = ranking.order[: max(1, min(len(ranking), _MOST_TARGET_CELLS // (n + 2)))]
    hint = f"of {n} targets"
    columns = [
        Column("rank", ranking.ranks[order].tolist(), number=True),
        Column("feature", [ranking.names[i] for i in order]),
        Column(f"targets in top {top_size(scores)}", counts[order].tolist(), number=True, hint=hint),
    ]
    for name, row in zip(scores.names, scores.scores, strict=True):
        columns.append(Column(name, [digits(value, 3) for value in row[order].tolist()], number=True))
    return {
        "picture": subject.picture(plot_target_scores(ranking, k=_SHOWN), "relative scores"),
        "sentence": sharing(subject, counts),
        "columns": columns,
        "left": len(ranking) - len(order),
    }


def top_size(scores: TargetScores) -> int:
    """Return how many features of a target are its top: 10, but no more than a quarter of all."""
    return min(_TOP, math.ceil(scores.scores.shape[1] / 4))


def top_counts(scores: TargetScores) -> np.ndarray:
    """Return for each feature the number of targets among whose top features it is, with a score above 0."""
    best = np.argsort(-scores.scores, axis=1, kind="stable")[:, : top_size(scores)]
    chosen = np.zeros(scores.scores.shape, dtype=bool)
    np.put_along_axis(chosen, best, True, axis=1)
    return np.asarray((chosen & (relative_scores(scores) > 0)).sum(axis=0))


def sharing(subject: Subject, counts: np.ndarray) -> str:
    """Say which features are shared by targets."""
    ranking, scores = subject.ranking, subject.ranking.per_target
    assert scores is not None
    n, k = len(scores.names), top_size(scores)
    least = max(2, math.ceil(_MOST_OF * n))
    shared = [ranking.names[i] for i in ranking.order if counts[i] >= least]
    of_targets = "both targets" if n == 2 else f"at least {least} of {n} targets"
    place = "the first" if k == 1 else f"among the top {k}"
    if not shared:
        return f"No feature is {place} of {of_targets}."
    return f"Shared: {listing(shared, _NAMED)} {'is' if len(shared) == 1 else 'are'} {place} of {of_targets}."


def label_hierarchy(subject: Subject) -> Content:
    """Return the hierarchy of the labels, coloured by how much of the scores is theirs."""
    data = subject.data
    if data is None or data.hierarchy is None:
        return None
    scores = subject.ranking.per_target
    if scores is None or scores.names != data.hierarchy.labels:
        return "the ranking has no scores by label: rank with per_target=True (--set per_target=true)"
    values = np.maximum(scores.scores, 0.0).sum(axis=1)
    total = values.sum()
    shares = 100 * values / total if total > 0 else values
    ax = plot_hierarchy(data.hierarchy, shares, what="% of all scores")
    largest = np.argsort(-shares, kind="stable")[:5]
    words = ", ".join(f"{data.hierarchy.labels[i]} ({shares[i]:.3g} %)" for i in largest)
    return {"picture": subject.picture(ax, "shares of all scores"), "words": words}
