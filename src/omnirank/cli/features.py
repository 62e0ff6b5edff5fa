"""``omnirank features``: constructed features of several tables, as one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.convert import check_data_file, write_data
from omnirank.cli.output import say, table
from omnirank.cli.rank import describe_examples
from omnirank.cli.relational_options import with_any_data
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset

_MOST_SHOWN = 10


@with_any_data
def features(
    dataset: "Dataset | RelationalDataset",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .arff, .csv (or .gz of these), .parquet. Without it, features are only listed.",
            show_default=False,
        ),
    ] = None,
    lookahead: Annotated[
        int, typer.Option("--lookahead", help="The largest number of steps from table to table or to a column.")
    ] = 2,
    aggregates: Annotated[
        str | None,
        typer.Option(
            "--aggregates",
            help="Which to use, separated by commas: count, count_unique, min, max, mean, sum, mode, exists "
            "(default: those that settings of facts declare, or all but exists).",
            show_default=False,
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option("--preset", help="AGG-All, AGG-Exist (only whether there are rows) or NO-Rel (own columns).")
    ] = "AGG-All",
    max_candidates: Annotated[
        int, typer.Option("--max-candidates", help="The most features; longer paths are left out first.")
    ] = 10_000,
    ids: Annotated[
        bool,
        typer.Option(
            "--ids", help="Write the identifiers of the examples as the first columns; --key names them when reading."
        ),
    ] = False,
    empty: Annotated[
        str, typer.Option("--empty", help="Where there is nothing to aggregate: missing or infinite.")
    ] = "missing",
) -> None:
    """Construct features of the rows of a table from all related tables, and write them to a file."""
    from omnirank.relational.features import RelationalFeatures

    if out is not None:
        check_data_file(out)
    data = _relational(dataset)
    names = None if aggregates is None else [name.strip() for name in aggregates.split(",")]
    constructed = RelationalFeatures(lookahead, names, preset, max_candidates=max_candidates, empty=empty).fit(data)
    for text in data.notes:
        say(f"note: {text}")
    _list(constructed)
    if out is not None:
        found = constructed.to_dataset(data)
        write_data(_with_ids(found, data) if ids else found, out)
        say(f"{describe_examples(found)}, {counted(found.n_features, 'feature')} written to {out}")
        if not ids:
            say("rows are in the order of the examples' identifiers, which --ids writes, too")


def _with_ids(found: "Dataset", data: "RelationalDataset") -> "Dataset":
    """The features after the identifiers of the examples, one column for each object of an example."""
    import numpy as np

    from omnirank.core.errors import ParameterError
    from omnirank.data.dataset import Dataset

    frame = found.features.to_frame()
    for name, codes in reversed(list(zip(data.example_types, data.example_codes, strict=True))):
        if name in frame.columns:
            raise ParameterError(f"--ids: there is a feature {name!r} already")
        frame.insert(0, name, np.asarray(data.database.objects[name])[codes].astype(str))
    settings: dict[str, Any] = {"task": found.task, "hierarchy": found.hierarchy, "name": found.name}
    return Dataset(frame, found.target, **settings)


def _relational(dataset: Any) -> "RelationalDataset":
    from omnirank.core.errors import DataError
    from omnirank.relational.dataset import RelationalDataset

    if isinstance(dataset, RelationalDataset):
        return dataset
    raise DataError(
        f"{dataset.name} is one table: features are constructed from several (a folder, a database or facts)"
    )


def _list(constructed: Any) -> None:
    """Print the first features and how many others there are."""
    found = constructed.features_
    rows = [(feature.name, feature.sentence) for feature in found[:_MOST_SHOWN]]
    table((("feature", "left"), ("in words", "left")), rows)
    if len(found) > _MOST_SHOWN:
        say(f"... and {len(found) - _MOST_SHOWN} more")
