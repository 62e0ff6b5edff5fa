"""The page of a study: tables over data sets, ranks and tests, curves, times, failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError
from omnirank.core.text import counted
from omnirank.core.types import PathLike
from omnirank.evaluation.experiments.results import StudyResults, best_in_rows, read_results
from omnirank.evaluation.statistics import Comparison
from omnirank.measures import MEASURES
from omnirank.plots import plot_critical_difference, plot_radar
from omnirank.report.page import Column, Section, digits, drawing, frame_columns, inline_svg, write_page

_MOST_CURVES = 12
_LEAST_MEASURES = 3
_MOST_MEASURES = 8


def write_study_report(store: PathLike, path: PathLike, *, title: str | None = None) -> None:
    """Write a report of the studies in a store: one HTML file that needs no network.

    Parameters
    ----------
    store : str or Path
        A store (``.sqlite``), a plan (``.toml``) or a folder, as in `omnirank.evaluation.experiments.read_results`.
    path : str or Path
        The file (``.html``).
    title : str, optional
        Title of the page; by default the names of the studies.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.report import write_study_report
    >>> plan = {"study": {"name": "small"}, "folds": {"n_folds": 2}, "data": [{"sample": "iris"}, {"sample": "wine"}]}
    >>> plan |= {"method": [{"use": "univariate"}, {"use": "uniform"}, {"use": "variance"}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder, "small.sqlite")
    ...     _ = om.experiments.run_plan(plan, store=store)
    ...     write_study_report(store, pathlib.Path(folder, "small.html"))
    ...     "average rank" in pathlib.Path(folder, "small.html").read_text(encoding="utf-8")
    True
    """
    studies = list(read_results(store))
    with drawing():
        sections = [section for i, study in enumerate(studies) for section in study_sections(study, f"study{i + 1}")]
    names = ", ".join(study.name for study in studies)
    write_page(path, title or f"{names}: which methods rank best", sections)


def study_sections(study: StudyResults, key: str) -> list[Section]:
    """Return the sections of a study."""
    found: list[Section | None] = [_overview(study, key)]
    for name in study.measures:
        if name in study.recorded:
            found += [_measure(study, key, name, k) for k in study.neighbor_counts]
    found += [_all_measures(study, key), _times(study, key), _failures(study, key)]
    return [section for section in found if section is not None]


def _overview(study: StudyResults, key: str) -> Section:
    states = study.jobs["state"].value_counts()
    n, done, failed = len(study.jobs), int(states.get("done", 0)), int(states.get("failed", 0))
    pairs = [
        ("data sets", f"{len(study.facts['data'])}: {', '.join(study.facts['data'])}"),
        ("methods", f"{len(study.facts['methods'])}: {', '.join(study.facts['methods'])}"),
        ("tasks", ", ".join(sorted(set(study.facts["tasks"].values())))),
        ("jobs", f"{n}, {done} done, {failed} failed"),
        ("labelled examples", ", ".join(str(k) if k else "all" for k in study.labelled_counts)),
    ]
    gaps = "Means of groups with gaps are empty, and their data sets do not count in tests." if done < n else ""
    return Section(f"{key}-overview", f"Study {study.name}", {"pairs": pairs, "note": gaps}, template="study.html")


def _measure(study: StudyResults, key: str, name: str, neighbors: int) -> Section | None:
    """The table of one measure, with ranks and tests where there are enough results."""
    table = study.table(name, neighbors)
    if table.empty:
        return None
    measure = MEASURES[name]
    way = "larger" if measure.larger_is_better else "smaller"
    judged = f", {counted(neighbors, 'neighbour')}" if neighbors else ""
    columns = _columns(table, measure.larger_is_better)
    compared = _compared(study, name, neighbors)
    content: dict[str, Any] = {
        "way": way,
        "definition": measure.definition,
        "columns": columns,
        "id": f"{key}-{name}-{neighbors}-values",
        "sentence": "" if compared is None else compared.summary(),
        "diagram": "" if compared is None else inline_svg(plot_critical_difference(compared), "average ranks"),
        "ranks": [] if compared is None else _ranks(compared),
        "curves": _curves(study, name, neighbors),
    }
    return Section(f"{key}-{name}-{neighbors}", f"{measure.title}{judged}", content, template="study-measure.html")


def _columns(table: pd.DataFrame, larger_is_better: bool) -> list[Column]:
    """Data sets as rows; the best of a row has a mark."""
    values = table.to_numpy(dtype=np.float64)
    best = best_in_rows(table, larger_is_better).to_numpy()
    found = [Column("data", [str(name) for name in table.index])]
    for i, name in enumerate(table.columns):
        cells = [digits(v) + (" ★" if mark else "") for v, mark in zip(values[:, i], best[:, i], strict=True)]
        keys = np.where(np.isnan(values[:, i]), -np.inf if larger_is_better else np.inf, values[:, i])
        found.append(Column(str(name), cells, keys.tolist(), number=True))
    return found


def _ranks(compared: Comparison) -> list[Column]:
    ranks = compared.average_ranks
    cells = [f"{rank:.3f}" for rank in ranks]
    return [Column("method", list(map(str, ranks.index))), Column("average rank", cells, number=True)]


def _compared(study: StudyResults, name: str, neighbors: int) -> Comparison | None:
    try:
        return study.compare(name, neighbors)
    except DataError:
        return None


def _curves(study: StudyResults, name: str, neighbors: int) -> list[tuple[str, str]]:
    """Pictures of the measure over the number of labelled examples, by data set."""
    if len(study.labelled_counts) < 2:
        return []
    measure, found = MEASURES[name], []
    for data in list(study.curves(name, neighbors))[:_MOST_CURVES]:
        picture = inline_svg(study.plot_curves(name, data, neighbors), f"{measure.title} on {data}")
        found.append((str(data), picture))
    return found


def _all_measures(study: StudyResults, key: str) -> Section | None:
    """Means of all measures over the data sets, and a radar of average ranks; only where all data sets have them."""
    names = study.recorded[:_MOST_MEASURES]
    tables = {name: study.table(name) for name in names}
    whole = [
        name
        for name, table in tables.items()
        if len(table) == len(study.facts["data"]) and not table.isna().any(axis=None)
    ]
    if len(whole) < _LEAST_MEASURES or tables[whole[0]].shape[1] < 2:
        return None
    means = pd.DataFrame({name: tables[name].mean(axis=0) for name in whole})
    content = {
        "picture": inline_svg(plot_radar(study.ranks(whole)), "average ranks of methods by measure"),
        "columns": frame_columns(means.rename(columns={name: MEASURES[name].title for name in whole}), "method"),
        "id": f"{key}-means",
    }
    return Section(f"{key}-radar", "All measures", content, template="study-radar.html")


def _times(study: StudyResults, key: str) -> Section | None:
    times = study.times()
    if times.empty:
        return None
    content = {"columns": frame_columns(times, "data", 3), "id": f"{key}-seconds"}
    return Section(f"{key}-times", "Seconds of a fit (median)", content, template="study-table.html")


def _failures(study: StudyResults, key: str) -> Section | None:
    failed = study.failures()
    if failed.empty:
        return None
    shown = ("data", "method", "choice", "labelled", "fold", "error")
    columns = [Column(name, [str(value) for value in failed[name]]) for name in shown]
    content = {"columns": columns, "id": f"{key}-failed"}
    return Section(f"{key}-failures", "Failed jobs", content, template="study-table.html")
