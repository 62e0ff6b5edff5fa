"""``omnirank select``: keep as many of the best features as are needed to predict."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.convert import check_data_file, write_data
from omnirank.cli.data_notes import data_notes
from omnirank.cli.options import (
    CsvOption,
    JobsOption,
    LabelledOption,
    SetOption,
    SupervisionOption,
    with_data,
    with_few_labels,
)
from omnirank.cli.output import Justify, bar, figures, note, say, table
from omnirank.cli.rank import MethodOption, TreesOption, describe_examples
from omnirank.cli.rankers import SeedOption, ranker_of
from omnirank.core.text import counted, numbers

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.evaluation.selection import Selection, SelectionCurve

_NAMED = 50


@with_data
def select(
    dataset: "Dataset",
    method: MethodOption = None,
    by: Annotated[
        str,
        typer.Option("--by", help="Who judges how many features suffice: neighbors or forest; or significance."),
    ] = "neighbors",
    measure: Annotated[
        str | None, typer.Option("--measure", help="By which measure (default: by task).", show_default=False)
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, help="Number of folds (default: 10, fewer for few labels).", show_default=False),
    ] = None,
    neighbors: Annotated[
        int | None, typer.Option("--neighbors", "-n", min=1, help="Number of neighbours.", show_default=False)
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of significance.")] = 0.05,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the data with the kept features to this .csv, .arff or .parquet file."),
    ] = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    trees: TreesOption = None,
    supervision: SupervisionOption = None,
    labelled: LabelledOption = None,
    parameters: SetOption = None,
    csv: CsvOption = False,
) -> None:
    """Keep the smallest number of top features that predicts as well as the best number, within one standard error.

    The features are ranked anew in every fold, without the examples that judge.
    """
    from omnirank.core.parallel import progress_bars
    from omnirank.evaluation.selection import select as selected

    if out is not None:
        check_data_file(out)
    whole, dataset = dataset, with_few_labels(dataset, labelled, seed)
    name, ranker = ranker_of(dataset, method, seed, jobs, supervision, parameters, trees)
    with progress_bars():
        found = selected(
            ranker,
            dataset,
            by=by,
            measure=measure,
            n_neighbors=neighbors,
            n_folds=folds,
            alpha=alpha,
            random_state=seed,
            n_jobs=jobs,
        )
    for text in data_notes(dataset):
        note(text)
    if out is not None:
        _write(found, whole, out)
    if csv:
        _print_figures(found.curve, found.names)
        return
    say(f"{dataset.name}: {dataset.task}, {describe_examples(dataset)}, {counted(dataset.n_features, 'feature')}")
    _print_choice(found, name)
    if out is not None and found.names:
        say(f"data with the kept features written to {out}")


def _write(found: "Selection", dataset: "Dataset", out: Path) -> None:
    if found.names:
        write_data(found.apply(dataset), out)
    else:
        note(f"no feature is kept: {out} is not written")


def _print_choice(found: "Selection", method: str) -> None:
    if found.curve is not None:
        _print_curve(found.curve)
    say(f"{method}: {found.summary}")
    more = f", ... and {len(found.names) - _NAMED} more" if len(found.names) > _NAMED else ""
    say(f"kept: {', '.join(found.names[:_NAMED])}{more}" if found.names else "no feature is kept")


def _print_curve(curve: "SelectionCurve") -> None:
    """Print performance by number of features; the best and the chosen number are marked."""
    from omnirank.tasks.measuring import MEASURES

    frame = curve.to_frame()
    way = "larger" if curve.larger_is_better else "smaller"
    say(f"{MEASURES[curve.measure].title} of the top features, {way} is better")
    columns: list[tuple[str, Justify]] = [
        ("top features", "right"),
        ("mean", "right"),
        ("± error", "right"),
        ("", "left"),
        ("", "left"),
    ]
    largest = float(frame["mean"].max())
    marks = [
        ", ".join(word for word, is_so in (("best", best), ("chosen", chosen)) if is_so)
        for best, chosen in zip(frame["best"], frame["chosen"], strict=True)
    ]
    bars = [bar(mean, largest) for mean in frame["mean"]]
    means, errors = frame["mean"], frame["standard_error"]
    cells = (frame["size"], numbers(means, beside=errors), numbers(errors, beside=means), bars, marks)
    table(columns, list(zip(*cells, strict=True)))


def _print_figures(curve: "SelectionCurve | None", names: tuple[str, ...]) -> None:
    if curve is None:
        figures(["feature"], [[name] for name in names])
        return
    frame = curve.to_frame()
    rows: list[Any] = list(frame.itertuples(index=False, name=None))
    figures(list(frame.columns), [(*row[:3], int(row[3]), int(row[4])) for row in rows])
