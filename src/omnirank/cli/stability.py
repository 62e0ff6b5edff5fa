"""``omnirank stability``: how sure a ranking is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.data_notes import data_notes
from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import (
    CsvOption,
    JobsOption,
    LabelledOption,
    SetOption,
    SupervisionOption,
    with_data,
    with_few_labels,
)
from omnirank.cli.output import Justify, figures, frame_csv, note, say, table
from omnirank.cli.rank import MethodOption, TreesOption, describe_examples
from omnirank.cli.rankers import SeedOption, ranker_of
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.evaluation.stability import Stability

_SHOWN = 20
_INDICES = {
    "top_k": "the top {k} (Kuncheva; 0 is chance)",
    "overlap": "the order, the top counting most (rank-biased overlap)",
    "spearman": "all ranks (Spearman)",
}


@with_data
def stability(
    dataset: "Dataset",
    method: MethodOption = None,
    resamples: Annotated[int, typer.Option("--resamples", help="How many times features are ranked anew.")] = 50,
    resample: Annotated[
        str, typer.Option("--resample", help="subsample, or bootstrap (examples that are drawn twice distort Relief).")
    ] = "subsample",
    share: Annotated[float, typer.Option("--share", help="Share of the examples in a subsample.")] = 0.5,
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.9,
    top: Annotated[
        int | None, typer.Option("--top", "-k", min=1, help="How many features to print (default: 20).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the whole table to this .csv file.")] = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    trees: TreesOption = None,
    supervision: SupervisionOption = None,
    labelled: LabelledOption = None,
    parameters: SetOption = None,
    csv: CsvOption = False,
) -> None:
    """Rank resamples of the examples: intervals of ranks, and how probable it is to be among the top k."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.files import replacing
    from omnirank.core.parallel import progress_bars
    from omnirank.evaluation.stability import stability as of_resamples

    if out is not None and out.suffix.lower() != ".csv":
        raise ParameterError(f"{out}: the ending must be .csv")
    dataset = with_few_labels(dataset, labelled, seed)
    name, ranker = ranker_of(dataset, method, seed, jobs, supervision, parameters, trees)
    options: dict[str, Any] = {"n_resamples": resamples, "resample": resample, "share": share, "level": level}
    with progress_bars():
        found = of_resamples(ranker.fit(dataset), dataset, **options, random_state=seed, n_jobs=jobs)
    for text in data_notes(dataset):
        note(text)
    frame = found.to_frame()
    if out is not None:
        with ending_on_sigterm(), replacing(out) as file:
            file.write(frame_csv(frame.set_index("rank")).encode("utf-8"))
    if csv:
        figures(list(frame.columns), frame.head(len(frame) if top is None else top).itertuples(index=False))
        return
    say(f"{dataset.name}: {dataset.task}, {describe_examples(dataset)}, {counted(dataset.n_features, 'feature')}")
    _print(found, top or _SHOWN)
    say(f"{name}: {found.summary}")
    if out is not None:
        say(f"whole table written to {out}")


def _print(found: "Stability", n_shown: int) -> None:
    frame = found.to_frame().head(n_shown)
    sizes = [column for column in frame.columns if column.startswith("top_")]
    columns: list[tuple[str, Justify]] = [("rank", "right"), ("feature", "left"), ("interval", "right")]
    columns += [(column.replace("_", " "), "right") for column in sizes]
    intervals = [f"{a} to {b}" for a, b in zip(frame["lower"], frame["upper"], strict=True)]
    shares = [[f"{value:.2f}" for value in frame[column]] for column in sizes]
    table(columns, list(zip(frame["rank"], frame["feature"], intervals, *shares, strict=True)))
    for key, text in _INDICES.items():
        index = found.indices[key]
        say(f"stability of {text.format(k=found.k)}: {index.value:.3f} ({index.lower:.3f} to {index.upper:.3f})")
