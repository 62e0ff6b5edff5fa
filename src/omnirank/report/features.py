"""Sections of the features: the best and all of them, in which direction each goes, pixels, groups, redundant ones."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from omnirank.core.multiplicity import ALPHA, adjusted_p_values, p_value_columns
from omnirank.core.text import counted, harmless, numbers
from omnirank.data.dataset import Dataset
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_group_shares, plot_ranking, score_map
from omnirank.plots.ranking import SMALLEST_P
from omnirank.report.judgement import CORRECTION, p_value_test
from omnirank.report.page import Column, Section, digits, inline_svg, joined, probability
from omnirank.report.subject import Subject

_N_TOP = 30
# Rows of the table, and scores by target in the file to download: beyond, the page would be slow to open.
_MOST_ROWS = 5000
_MOST_CELLS = 200_000
_LEAST_SIDE = 2
_MOST_GROUPS = 200
_HINT = (
    "how this feature goes with the target on its own (Spearman's correlation; the class or category with the highest "
    "mean rank; the class that a category goes with most). The score may rest on more: this is a marginal association"
)
UNCLEAR = "no clear one"
# Correlations below so many of their standard deviations under chance, 1 / sqrt(n), have no clear sign.
_DEVIATIONS = 2.0
_FEWEST = 5


def top_features(subject: Subject) -> Section:
    """Return the picture of the top 30, and their table, unless they are all: there is one table of all."""
    ranking = subject.ranking
    k = min(_N_TOP, len(ranking))
    order = ranking.order[:k]
    picture = inline_svg(plot_ranking(ranking, k=k, title=""), f"scores of the {k} best features")
    columns = _columns(subject, order, directions=True) if k < len(ranking) else []
    notes = [
        "The line is one standard error to either side, over trees or resamples: it tells whether there were "
        "enough of them, not whether other examples would give the same score (see Stability)."
    ]
    return Section(
        "top",
        f"The best {k} features" if k < len(ranking) else "The features",
        {
            "picture": picture,
            "columns": columns,
            "notes": notes if ranking.standard_errors is not None else [],
            "legend": _column_notes(subject) if columns else [],
        },
    )


def all_features(subject: Subject) -> Section:
    """Return the table of all features, and the file to download."""
    ranking = subject.ranking
    order = ranking.order[:_MOST_ROWS]
    only = len(ranking) <= _N_TOP
    columns = _columns(subject, order, directions=only)
    return Section(
        "all",
        "All features",
        {
            "columns": columns,
            "csv": _csv_text(subject),
            "file": "ranking.csv",
            "left": len(ranking) - len(order),
            "legend": _column_notes(subject) if only else [],
        },
    )


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
        notes.append(f"direction: {_HINT}.")
    return notes


def _ranks_hint(stability: Stability) -> str:
    return f"smallest and largest rank in {stability.drawn}, a range and no confidence interval"


def _has_directions(subject: Subject) -> bool:
    """Whether features go in a direction: with one target, which is known."""
    return subject.data is not None and subject.data.target is not None and subject.data.n_targets == 1


def _columns(subject: Subject, order: np.ndarray, *, directions: bool) -> list[Column]:
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
        columns.append(
            Column("± error", numbers(errors, beside=scores), number=True, hint="standard error of the score")
        )
    if ranking.p_values is not None:
        raw, adjusted, relevant = (values[order].tolist() for values in p_value_columns(ranking.p_values).values())
        hints = (f"raw: {p_value_test(ranking)}", f"corrected for the number of features ({CORRECTION})")
        for name, values, hint in zip(("p_value", "p_adjusted"), (raw, adjusted), hints, strict=True):
            columns.append(Column(name, [probability(p) for p in values], values, number=True, hint=hint))
        words = ["yes" if one else "no" for one in relevant]
        columns.append(Column("relevant", words, hint=f"whether p_adjusted is at most {ALPHA}"))
    columns += _stability_columns(subject, order)
    if directions and _has_directions(subject):
        assert subject.data is not None
        words = [direction(subject.data, i).words for i in order.tolist()]
        columns.append(Column("direction", words, hint=_HINT))
    if ranking.constant:
        constant = set(ranking.constant)
        columns.append(Column("note", ["constant" if ranking.names[i] in constant else "" for i in order]))
    return columns


def _stability_columns(subject: Subject, order: np.ndarray) -> list[Column]:
    stability = subject.stability
    if stability is None:
        return []
    lower, upper = stability.lower[order].tolist(), stability.upper[order].tolist()
    top = stability.top_probability(stability.k)[order]
    ranges = [f"{a}–{b}" if a < b else str(a) for a, b in zip(lower, upper, strict=True)]
    return [
        Column("ranks", ranges, lower, number=True, hint=_ranks_hint(stability)),
        Column(
            f"in top {stability.k}",
            [f"{100 * share:.0f} %" for share in top],
            top.tolist(),
            number=True,
            hint=f"share of {stability.drawn} in which the feature is among the top {stability.k}",
        ),
    ]


def _csv_text(subject: Subject) -> str:
    """Return the whole ranking as CSV, with scores by target unless there are very many; names that nothing runs."""
    ranking = subject.ranking
    order = ranking.order
    heading = ["rank", "feature", "score"]
    columns: list[list[Any]] = [
        ranking.ranks[order].tolist(),
        [harmless(ranking.names[i]) for i in order],
        ranking.scores[order].tolist(),
    ]
    errors = {} if ranking.standard_errors is None else {"standard_error": ranking.standard_errors}
    for name, values in (errors | p_value_columns(ranking.p_values)).items():
        heading.append(name)
        columns.append(values[order].tolist())
    scores = ranking.per_target
    if scores is not None and scores.scores.size <= _MOST_CELLS:
        heading += [harmless(f"score: {name}") for name in scores.names]
        columns += [[f"{value:.6g}" for value in row] for row in scores.scores[:, order]]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(zip(*columns, strict=True))
    return file.getvalue()


class Direction(NamedTuple):
    """A direction in words, and its sign: 1 (more of the feature, more of the target), -1, or 0 where there is none."""

    words: str
    sign: int = 0


def direction(data: Dataset, feature: int, target: int = 0) -> Direction:
    """Return in which direction a feature goes with a target of the data, each by its number.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.report.features import direction
    >>> iris = om.datasets.load_sample("iris")
    >>> direction(iris, 3).words, direction(iris, 1).words
    ('highest in virginica', 'highest in setosa')
    >>> numbers = om.Dataset([[1.0], [2.0], [3.0], [5.0], [4.0], [6.0]], [9.5, 8.0, 8.5, 7.0, 6.0, 5.0])
    >>> direction(numbers, 0)
    Direction(words='falls (ρ -0.89)', sign=-1)
    """
    if data.target is None:
        return Direction(UNCLEAR)
    column = np.asarray(data.features.column(feature), dtype=np.float64)
    nominal = bool(data.features.is_nominal[feature])
    truth = data.target.select([target]).dense()[:, 0]
    known = ~np.isnan(truth) & ((column >= 0) if nominal else ~np.isnan(column))
    if known.sum() < _FEWEST:
        return Direction(UNCLEAR)
    values, truth = column[known], truth[known]
    levels = data.features.levels[feature] if nominal else None
    classes = None if data.target.is_labels else data.target.levels[target]
    if levels is not None and classes is not None:
        return _together(values, levels, truth, classes)
    if levels is not None:
        group = _highest(values, truth)
        return Direction(UNCLEAR if group is None else f"highest for {levels[group]}")
    if classes is not None:
        group = _highest(truth, values)
        return Direction(UNCLEAR if group is None else f"highest in {classes[group]}")
    rho = _correlation(rankdata(values), rankdata(truth))
    if abs(rho) < _least(values):
        return Direction(UNCLEAR)
    return Direction(f"{'rises' if rho > 0 else 'falls'} (ρ {rho:.2f})", 1 if rho > 0 else -1)


def _highest(groups: np.ndarray, numbers: np.ndarray) -> int | None:
    """The group in which numbers have the highest mean rank, if they go with it clearly."""
    ranks, codes = rankdata(numbers), groups.astype(np.int64)
    counts = np.bincount(codes)
    means = np.bincount(codes, weights=ranks) / np.maximum(counts, 1)
    highest = int(np.where(counts > 0, means, -np.inf).argmax())
    clear = _correlation((codes == highest).astype(float), ranks) >= _least(ranks)
    return highest if clear else None


def _together(values: np.ndarray, levels: Sequence[Any], truth: np.ndarray, classes: Sequence[Any]) -> Direction:
    """The category and the class that occur together more often than by chance, most of all (Pearson residuals)."""
    counts = np.zeros((len(levels), len(classes)))
    np.add.at(counts, (values.astype(np.int64), truth.astype(np.int64)), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    residuals = np.divide(counts - expected, np.sqrt(expected), out=np.zeros_like(counts), where=expected > 0)
    row, column = np.unravel_index(residuals.argmax(), residuals.shape)
    if residuals[row, column] < _DEVIATIONS:
        return Direction(UNCLEAR)
    return Direction(f"{levels[row]} goes with {classes[column]}")


def _least(values: np.ndarray) -> float:
    """The smallest correlation with a clear sign."""
    return _DEVIATIONS / float(np.sqrt(len(values)))


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's correlation; 0 where one of both is constant."""
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else 0.0


def pixels(subject: Subject) -> Section | None:
    """Return the scores as an image, where the names of the features number the cells of a grid."""
    grid = grid_of(subject.ranking.names)
    if grid is None:
        return None
    order, shape = grid
    ax = score_map(subject.ranking.scores[order], shape, title="")
    return Section("pixels", "Features as pixels", {"picture": inline_svg(ax, "scores by pixel"), "shape": shape})


def grid_of(names: tuple[str, ...]) -> tuple[np.ndarray, tuple[int, int]] | None:
    """Return the order of features that fill a grid row by row, and its shape; None where they do not.

    Examples
    --------
    >>> from omnirank.report.features import grid_of
    >>> order, shape = grid_of(("pixel_0_1", "pixel_0_0", "pixel_1_0", "pixel_1_1"))
    >>> order.tolist(), shape
    ([1, 0, 2, 3], (2, 2))
    >>> grid_of(("a1_1", "b1_2", "a2_1", "a2_2")) is None, grid_of(("height", "width")) is None
    (True, True)
    """
    # the same words around two numbers, or they count different things
    [pattern, *others] = {re.sub(r"\d+", "#", name) for name in names}
    if others or pattern.count("#") != 2:
        return None
    places = np.array([[int(number) for number in re.findall(r"\d+", name)] for name in names])
    rows, columns = (np.unique(places[:, side]) for side in (0, 1))
    shape = len(rows), len(columns)
    cells = np.searchsorted(rows, places[:, 0]) * shape[1] + np.searchsorted(columns, places[:, 1])
    if min(shape) < _LEAST_SIDE or len(set(cells.tolist())) != len(names) or len(names) != shape[0] * shape[1]:
        return None
    return np.argsort(cells), shape


def groups(subject: Subject) -> Section | None:
    """Return the shares of the groups of features that the data name."""
    data = subject.data
    if data is None or not data.feature_groups:
        return None
    named = {name: data.feature_groups.get(name, "(no group)") for name in subject.ranking.names}
    ax = plot_group_shares(subject.ranking, named)
    return Section("groups", "Groups of features", {"picture": inline_svg(ax, "shares of groups in the scores")})


def redundant(subject: Subject) -> Section:
    """Return which features stand for each other."""
    title = "Redundant features"
    if subject.redundancy is None:
        return Section("redundant", title, left_out=subject.no_data)
    several = subject.copies[:_MOST_GROUPS]
    columns = [
        Column("feature", [group.representative for group in several]),
        Column("stands also for", [joined(group.others) for group in several]),
        Column("features", [1 + len(group.others) for group in several], number=True),
        Column("least association", [digits(min(group.associations), 3) for group in several], number=True),
    ]
    return Section("redundant", title, {"summary": subject.redundancy.summary, "columns": columns})
