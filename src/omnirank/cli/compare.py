"""``omnirank compare``: results of studies as tables, diagrams and files; ``compare-rankings``: agreement of two."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.options import option
from omnirank.cli.output import frame_csv, note, print_csv, say, table
from omnirank.cli.writing import write_picture, write_text
from omnirank.core.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from omnirank.evaluation.experiments.results import StudyResults


_INDICES = {
    "spearman": "rank correlation of the scores, -1 to 1",
    "kendall": "share of agreeing minus disagreeing pairs, -1 to 1",
    "jaccard": "overlap of the top, 0 to 1",
    "kuncheva": "overlap of the top, corrected for chance, up to 1",
    "fuji_area": "fuzzy overlap of the top j, mean over all j, 0 to 1",
}
_PATH = "A store (.sqlite), a plan, or a folder of stores."
_OVER = "Parameter of a grid to draw curves over with --out; repeatable. Two give a map of average ranks, too."
_OUT = "Folder for tables (Markdown, LaTeX, CSV), diagrams and curves."


def compare_rankings(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A ranking, .json or .csv.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another ranking of the same features.")],
    k: Annotated[int | None, option("--top -k K", "Size of the top sets (default: square root of all).", min=1)] = None,
    csv: options.Csv = False,
) -> None:
    """Compare two rankings of the same features."""
    from omnirank.core.ranking.comparison import compare_rankings
    from omnirank.core.ranking.ranking import Ranking

    indices = compare_rankings(Ranking.load(first), Ranking.load(second), k).to_dict()
    if csv:
        print_csv(("measure", "value"), sorted(indices.items()))
        return
    say(f"{counted(indices['n_features'], 'feature')}; overlaps are of the top {indices['k']} (--top)")
    rows = [[name, f"{indices[name]:.4f}", text] for name, text in _INDICES.items()]
    table((("measure", "left"), ("value", "right"), ("meaning", "left")), rows)


def compare(
    path: Annotated[Path, typer.Argument(metavar="STORE_OR_FOLDER", help=_PATH)],
    measure: Annotated[
        list[str] | None, option("--measure -m NAME", "Measure; repeatable (default: those of the plan).")
    ] = None,
    control: Annotated[
        str | None, option("--control METHOD", "Compare all methods with this one (Bonferroni-Dunn).")
    ] = None,
    over: Annotated[list[str] | None, option("--over NAME", _OVER)] = None,
    alpha: Annotated[float, option("--alpha P", "Level of significance (default: 0.05).")] = 0.05,
    out: Annotated[Path | None, option("--out -o FOLDER", _OUT)] = None,
    csv: options.Csv = False,
) -> None:
    """Compare the methods of studies.

    Printed are tables by data set, average ranks, tests and times. Results are means over folds and seeds.
    """
    from omnirank.core.parameters import check, choice
    from omnirank.evaluation.experiments.results import read_results
    from omnirank.measures import MEASURES

    results = read_results(path)
    recorded = sorted({name for study in results for name in study.recorded})
    for name in measure or []:
        check("measure", name, choice(*recorded or MEASURES))
    if csv:
        _print_csv(list(results), measure)
        return
    for study in results:
        say(f"study {study.name}", "bold")
        _warn_of_gaps(study)
        wanted = measure or study.measures
        for name in wanted:
            if study.recorded and name not in study.recorded:
                note(f"{study.name}: no data set has {name}; there are {', '.join(study.recorded)}")
        names = [name for name in wanted if name in (study.recorded or wanted)]
        reports = [_Report(study, name, k, alpha, control) for name in names for k in study.neighbor_counts]
        reports = [report for report in reports if not report.table.empty]
        for report in reports:
            report.show()
        times = study.times()
        if not times.empty:
            say("seconds of a fit (median)")
            _print_table(times)
        if out is not None:
            _write_all(study, reports, over or [], out)
            say(f"tables and diagrams written to {out}")


def _print_csv(studies: list["StudyResults"], measures: list[str] | None) -> None:
    heading = ("study", "data", "method", "labelled", "neighbors", "measure", "mean", "n")
    means = (
        (study.name, *row)
        for study in studies
        for row in study.means()[list(heading[1:])].itertuples(index=False, name=None)
        if measures is None or row[4] in measures
    )
    rows = sorted(means, key=lambda row: row[:6])
    # the store's 0 is no number: labels as they are; the task's number of neighbours, or a method that predicts itself
    print_csv(heading, [(*row[:3], row[3] or "", row[4] or "", *row[5:]) for row in rows])


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
        open_rows = self.table.isna().all(axis=1)
        self.unfinished = [str(name) for name in self.table.index[open_rows]]
        self.table = self.table[~open_rows]
        way = "larger is better" if self.measure.larger_is_better else "smaller is better"
        judged = f", {neighbors} neighbours" if neighbors else ""
        area = ", area over labelled examples" if len(study.labelled_counts) > 1 else ""
        self.title = f"{self.measure.title}{judged}{area} ({way})"
        self.stem = _file_name(f"{study.name}-{measure}" + (f"-{neighbors}" if neighbors else ""))
        several = study.jobs["seed"].nunique() > 1
        self.deviations = study.deviations(measure, neighbors).reindex_like(self.table) if several else None
        self.comparison: Any = None
        if min(self.table.dropna().shape) >= 2:
            self.comparison = study.compare(measure, neighbors, alpha=alpha, control=control)

    def show(self) -> None:
        """Print the tables."""
        say(self.title, "bold")
        _print_table(self.table, self.deviations)
        listed = {*self.table.index, *self.unfinished}
        without = [f"{name} ({task})" for name, task in self.study.facts["tasks"].items() if name not in listed]
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
        if self.comparison.control is not None:
            say(f"against {self.comparison.control}")
            _print_table(self.comparison.against(), name="method")

    def write(self, over: Sequence[str], folder: Path) -> None:
        """Write the tables and diagrams of this measure, with curves over some parameters."""
        markdown, latex = [f"# {self.title}"], []
        if self.comparison is not None:
            markdown.append(self.comparison.to_markdown())
            latex.append(self.comparison.to_latex())
            _draw(self.comparison.plot(), folder, f"{self.stem}-ranks", values=self.comparison.to_frame())
            write_text(frame_csv(self.comparison.against()), folder / f"{self.stem}-against.csv")
            self._draw_differences(folder)
            self._draw_grids(over, folder)
        _write_table(self.table, self.measure.larger_is_better, folder, self.stem, markdown, latex, self.deviations)
        for varied in ["labelled"] * (len(self.study.labelled_counts) > 1) + list(over):
            for name, curve in self.study.curves(self.measure.name, self.neighbors, varied).items():
                stem = f"{self.stem}-{_file_name(name)}{'' if varied == 'labelled' else f'-{varied}'}-curve"
                ax = self.study.plot_curves(self.measure.name, name, self.neighbors, varied)
                _draw(ax, folder, stem, name, curve)

    def _draw_differences(self, folder: Path) -> None:
        """The gains over the control of the best two other methods."""
        from omnirank.plots.methods import plot_differences

        control, values = self.comparison.control, self.comparison.values
        others = [name for name in self.comparison.average_ranks.index if name != control][:2]
        if control is None or len(others) < 2:
            return
        gains = values[others].sub(values[control], axis=0) * (1 if self.measure.larger_is_better else -1)
        ax = plot_differences(*(gains[name].rename(f"gain of {name}") for name in others))
        _draw(ax, folder, f"{self.stem}-differences", f"gains over {control}: {self.measure.title}")

    def _draw_grids(self, over: Sequence[str], folder: Path) -> None:
        """Average ranks over each two parameters."""
        from omnirank.plots.methods import plot_grid

        for rows, columns in combinations(over, 2):
            grid = self.study.rank_grid(self.measure.name, rows, columns, self.neighbors)
            stem = f"{self.stem}-{rows}-{columns}-ranks"
            _draw(plot_grid(grid), folder, stem, self.title, grid)


def _write_all(study: "StudyResults", reports: list[_Report], over: Sequence[str], folder: Path) -> None:
    from omnirank.plots.methods import plot_radar

    folder.mkdir(parents=True, exist_ok=True)
    for report in reports:
        report.write(over, folder)
    times = study.times()
    if not times.empty:
        _write_table(times, False, folder, _file_name(f"{study.name}-seconds"))
    compared = [report.measure.name for report in reports if report.comparison is not None]
    if compared:
        ranks = study.ranks([*dict.fromkeys(compared), "seconds"])
        stem = _file_name(f"{study.name}-average-ranks")
        write_text(frame_csv(ranks), folder / f"{stem}.csv")
        if len(ranks.columns) > 2:
            _draw(plot_radar(ranks), folder, stem, f"average ranks in {study.name} (1 at the centre)")


def _write_table(
    values: "pd.DataFrame",
    larger_is_better: bool,
    folder: Path,
    stem: str,
    markdown: Sequence[str] = (),
    latex: Sequence[str] = (),
    deviations: "pd.DataFrame | None" = None,
) -> None:
    """Write a table as Markdown, LaTeX and CSV; a title stands before it, other texts follow it."""
    from omnirank.evaluation.experiments.results import latex_table, markdown_table

    texts = [*markdown[:1], markdown_table(values, larger_is_better, deviations), *markdown[1:]]
    write_text("\n\n".join(texts) + "\n", folder / f"{stem}.md")
    write_text("\n\n".join([latex_table(values, larger_is_better, deviations), *latex]) + "\n", folder / f"{stem}.tex")
    cells = values if deviations is None else values.join(deviations.add_suffix(" SD"))
    write_text(frame_csv(cells), folder / f"{stem}.csv")


def _draw(ax: Any, folder: Path, stem: str, title: str | None = None, values: "pd.DataFrame | None" = None) -> None:
    """Write a picture twice, as SVG for papers, and as PNG for what cannot show that; and what it shows as CSV."""
    if values is not None:
        write_text(frame_csv(values), folder / f"{stem}.csv")
    if title is not None:
        from omnirank.plots.style import set_title

        set_title(ax, title)
    for ending in (".svg", ".png"):
        write_picture(ax, folder / f"{stem}{ending}")


def _print_table(values: "pd.DataFrame", deviations: "pd.DataFrame | None" = None, name: str = "data") -> None:
    from omnirank.evaluation.experiments.results import shown_numbers

    columns = [(name, "left"), *((str(column), "right") for column in values.columns)]
    shown = shown_numbers(values, deviations)
    table(columns, [(row, *cells) for row, cells in zip(shown.index, shown.to_numpy().tolist(), strict=True)])


def _file_name(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in text)
