"""``omnirank compare``: what studies have found, as tables, diagrams and files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.files import save_picture
from omnirank.cli.options import CsvOption
from omnirank.cli.output import figures, frame_csv, note, say, table

if TYPE_CHECKING:
    import pandas as pd

    from omnirank.evaluation.experiments.results import StudyResults
    from omnirank.measures import Measure


def compare(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="STORE_OR_FOLDER", help="A store (.sqlite), a plan, or a folder of stores.", show_default=False
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Measure; may be repeated (default: those of the plan)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for tables (Markdown, LaTeX, CSV), diagrams and curves."),
    ] = None,
    control: Annotated[
        str | None, typer.Option("--control", help="Compare all methods with this one (Bonferroni-Dunn).")
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance.")] = 0.05,
    csv: CsvOption = False,
) -> None:
    """Compare the methods of studies: tables by data set, average ranks, tests, times.

    Results are means over folds and seeds, F1 included (omnirank evaluate pools the predictions of all folds).
    """
    from omnirank.core.errors import ParameterError
    from omnirank.core.parameters import check, choice
    from omnirank.evaluation.experiments.results import read_results
    from omnirank.measures import MEASURES

    for name in measure or []:
        check("measure", name, choice(*MEASURES))
    results = read_results(path)
    recorded = {name for study in results for name in study.recorded}
    for name in measure or []:
        if recorded and name not in recorded:
            there = choice(*sorted(recorded)).advice(name)
            raise ParameterError("measure", name, f"there are no results of it; {there}")
    if csv:
        _print_figures(list(results), measure)
        return
    for study in results:
        say(f"study {study.name}", "bold")
        _warn_of_gaps(study)
        reports = [_Report(study, name, k, alpha, control) for name, k in _settings(study, measure)]
        reports = [report for report in reports if not report.table.empty]
        for report in reports:
            report.show()
        times = study.times()
        if not times.empty:
            say("seconds of a fit (median)")
            _print_table(times)
        if out is not None:
            with ending_on_sigterm():
                _write_all(study, reports, out)
            say(f"tables and diagrams written to {out}")


def _settings(study: "StudyResults", measures: list[str] | None) -> Iterator[tuple[str, int]]:
    for name in measures or study.measures:
        if study.recorded and name not in study.recorded:
            note(f"{study.name}: no data set has {name}; there are {', '.join(study.recorded)}")
            continue
        yield from ((name, k) for k in study.neighbor_counts)


def _print_figures(studies: list["StudyResults"], measures: list[str] | None) -> None:
    heading = ("study", "data", "method", "labelled", "neighbors", "measure", "mean", "n")
    rows: list[tuple[Any, ...]] = [
        (study.name, *row)
        for study in studies
        for row in study.means()[list(heading[1:])].itertuples(index=False, name=None)
        if measures is None or row[4] in measures
    ]
    rows.sort(key=lambda row: row[:6])
    # the store's 0 is no number: labels as they are; the task's number of neighbours, or a method that predicts itself
    figures(heading, [(*row[:3], row[3] or "", row[4] or "", *row[5:]) for row in rows])


def _warn_of_gaps(study: "StudyResults") -> None:
    states = study.jobs["state"].value_counts()
    done = int(states.get("done", 0))
    if done < len(study.jobs):
        failed = int(states.get("failed", 0))
        note(
            f"{study.name}: {done} of {len(study.jobs)} jobs are done, {failed} failed; means of groups with gaps are "
            "empty, and their data sets do not count in tests"
        )


class _Report:
    """The tables of one measure and number of neighbours."""

    def __init__(self, study: "StudyResults", measure: str, neighbors: int, alpha: float, control: str | None) -> None:
        from omnirank.measures import MEASURES

        self.study = study
        self.measure = MEASURES[measure]
        self.neighbors = neighbors
        self.table = study.table(measure, neighbors)
        self.unfinished: list[str] = []
        if not self.table.empty:
            open_rows = self.table.isna().all(axis=1)
            self.unfinished = [str(name) for name in self.table.index[open_rows]]
            self.table = self.table[~open_rows]
        self.comparison: Any = None
        whole = self.table.dropna() if not self.table.empty else self.table
        if len(whole) >= 2 and whole.shape[1] >= 2:
            self.comparison = study.compare(measure, neighbors, alpha=alpha, control=control)

    @property
    def title(self) -> str:
        """Measure, direction and setting in words."""
        way = "larger is better" if self.measure.larger_is_better else "smaller is better"
        judged = f", {self.neighbors} neighbours" if self.neighbors else ""
        area = ", area over labelled examples" if len(self.study.labelled_counts) > 1 else ""
        return f"{self.measure.title}{judged}{area} ({way})"

    @property
    def stem(self) -> str:
        """Name of files."""
        judged = f"-{self.neighbors}" if self.neighbors else ""
        return _file_name(f"{self.study.name}-{self.measure.name}{judged}")

    def show(self) -> None:
        """Print the tables."""
        say(self.title, "bold")
        _print_table(self.table)
        tasks = self.study.facts["tasks"]
        known = {*self.table.index, *self.unfinished}
        without = [f"{name} ({tasks[name]})" for name in self.study.facts["data"] if name not in known]
        if self.unfinished:
            note(f"no complete results yet of {', '.join(self.unfinished)}: left out")
        if without:
            note(f"no {self.measure.title} of {', '.join(without)}: left out")
        if self.comparison is None:
            say("ranks and tests need at least two methods with results on two data sets")
            return
        ranks = self.comparison.average_ranks
        table((("method", "left"), ("average rank", "right")), [(name, f"{rank:.3f}") for name, rank in ranks.items()])
        say(self.comparison.summary())
        if self.comparison.rejected and len(self.comparison.groups) > 1:
            say("not different: " + "; ".join(" = ".join(group) for group in self.comparison.groups))

    def write(self, folder: Path) -> None:
        """Write the tables and diagrams of this measure."""
        from omnirank.evaluation.experiments.results import latex_table, markdown_table

        way = self.measure.larger_is_better
        markdown, latex = [f"# {self.title}", markdown_table(self.table, way)], [latex_table(self.table, way)]
        if self.comparison is not None:
            markdown.append(self.comparison.to_markdown())
            latex.append(self.comparison.to_latex())
            _write(folder / f"{self.stem}-ranks.csv", frame_csv(self.comparison.to_frame()))
            _save(self.comparison.plot(), folder / f"{self.stem}-ranks")
        _write(folder / f"{self.stem}.md", "\n\n".join(markdown) + "\n")
        _write(folder / f"{self.stem}.tex", "\n\n".join(latex) + "\n")
        _write(folder / f"{self.stem}.csv", frame_csv(self.table))
        if len(self.study.labelled_counts) > 1:
            for name, curve in self.study.curves(self.measure.name, self.neighbors).items():
                where = folder / f"{self.stem}-{_file_name(name)}-curve"
                _write(where.with_suffix(".csv"), frame_csv(curve))
                _save(_drawn_curve(curve, self.measure, name), where)


def _write_all(study: "StudyResults", reports: list[_Report], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for report in reports:
        report.write(folder)
    times = study.times()
    if not times.empty:
        from omnirank.evaluation.experiments.results import latex_table, markdown_table

        stem = _file_name(f"{study.name}-seconds")
        _write(folder / f"{stem}.md", markdown_table(times, False) + "\n")
        _write(folder / f"{stem}.tex", latex_table(times, False) + "\n")
        _write(folder / f"{stem}.csv", frame_csv(times))


def _write(path: Path, text: str) -> None:
    from omnirank.core.files import replacing

    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def _save(ax: Any, path: Path) -> None:
    """Write a picture twice: as SVG for papers, and as PNG for what cannot show that."""
    for ending in (".svg", ".png"):
        save_picture(ax, path.with_name(path.name + ending))


def _drawn_curve(curve: "pd.DataFrame", measure: "Measure", data: str) -> Any:
    """Performance over the number of labelled examples."""
    from omnirank.evaluation.curves import Curve
    from omnirank.plots.curves import plot_curves
    from omnirank.plots.style import set_title

    way = measure.larger_is_better
    made = [
        Curve(curve.index.to_numpy(), curve[name].to_numpy(), measure.name, "labelled examples", way, str(name))
        for name in curve.columns
    ]
    ax = plot_curves(made)
    set_title(ax, data)
    return ax


def _print_table(values: "pd.DataFrame") -> None:
    from omnirank.evaluation.experiments.results import shown_numbers

    columns: list[Any] = [("data", "left"), *((str(name), "right") for name in values.columns)]
    shown = shown_numbers(values)
    rows = zip(shown.index, shown.to_numpy().tolist(), strict=True)
    table(columns, [(name, *row) for name, row in rows])


def _file_name(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in text)
