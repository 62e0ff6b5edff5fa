"""The features with their scores: the best as a picture, all in a table that sorts, searches and downloads."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from omnirank.core.decimals import numbers
from omnirank.core.multiplicity import ALPHA, adjusted_p_values, p_value_columns
from omnirank.core.plurals import counted
from omnirank.core.spreadsheet import harmless
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_ranking
from omnirank.plots.significance import SMALLEST_P
from omnirank.report.directions import HINT, direction
from omnirank.report.section import Section
from omnirank.report.sections.significance import CORRECTION, p_value_test
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, probability, rows_of
from omnirank.report.vector import inline_svg

N_TOP = 30
# Rows of the table, and scores by target in the file to download: beyond, the page would be slow to open.
MOST_ROWS = 5000
_MOST_CELLS = 200_000


def top_features(subject: Subject) -> Section:
    """Return the picture of the top 30, and their table, unless they are all: there is one table of all."""
    ranking = subject.ranking
    k = min(N_TOP, len(ranking))
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
            "rows": rows_of(columns) if columns else [],
            "notes": notes if ranking.standard_errors is not None else [],
            "legend": column_notes(subject) if columns else [],
        },
    )


def all_features(subject: Subject) -> Section:
    """Return the table of all features, and the file to download."""
    ranking = subject.ranking
    order = ranking.order[:MOST_ROWS]
    only = len(ranking) <= N_TOP
    columns = _columns(subject, order, directions=only)
    return Section(
        "all",
        "All features",
        {
            "columns": columns,
            "rows": rows_of(columns),
            "csv": csv_text(subject),
            "file": "ranking.csv",
            "left": len(ranking) - len(order),
            "legend": column_notes(subject) if only else [],
        },
    )


def column_notes(subject: Subject) -> list[str]:
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
    found = None if subject.found.halves is None else subject.found.halves.stability
    if found is not None:
        notes.append(f"ranks: {ranks_hint(found)}.")
    if _has_directions(subject):
        notes.append(f"direction: {HINT}.")
    return notes


def ranks_hint(found: Stability) -> str:
    """Say what the column of ranks shows."""
    if not found.is_range:
        return f"ranks in {100 * found.level:g} % of {found.drawn}"
    return f"smallest and largest rank in {found.drawn}, a range and no confidence interval"


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
        columns.append(Column("direction", words, hint=HINT))
    if ranking.constant:
        constant = set(ranking.constant)
        columns.append(Column("note", ["constant" if ranking.names[i] in constant else "" for i in order]))
    return columns


def _stability_columns(subject: Subject, order: np.ndarray) -> list[Column]:
    found = None if subject.found.halves is None else subject.found.halves.stability
    if found is None:
        return []
    lower, upper = found.lower[order].tolist(), found.upper[order].tolist()
    top = found.top_probability(found.k)[order]
    hint = ranks_hint(found)
    ranges = [f"{a}–{b}" if a < b else str(a) for a, b in zip(lower, upper, strict=True)]
    return [
        Column("ranks", ranges, lower, number=True, hint=hint),
        Column(
            f"in top {found.k}",
            [f"{100 * share:.0f} %" for share in top],
            top.tolist(),
            number=True,
            hint=f"share of {found.drawn} in which the feature is among the top {found.k}",
        ),
    ]


def csv_text(subject: Subject) -> str:
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
