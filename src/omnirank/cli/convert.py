"""``omnirank convert`` writes data in another format; ``omnirank features`` makes one table of several."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.options import option
from omnirank.cli.output import examples_in_words, say, table
from omnirank.cli.reading import ReadOptions, call_reader, read_data
from omnirank.cli.writing import DATA_FILES, check_ending, ending_on_sigterm, write_data
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset

_SHOWN = 10
_OUT = "File to write: .arff, .csv (or .gz of these), .parquet; without ending, a folder of Parquet files."
_LOOKAHEAD = "Largest number of steps from table to table or to a column (default: 2)."
_AGGREGATES = "Aggregates, separated by commas: count, count_unique, min, max, mean, sum, mode, exists."
_IDS = "Write the identifiers of the examples as the first columns; --key names them when reading."


def convert(
    ctx: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help=_OUT)],
    rows: Annotated[int, option("--rows N", "Most rows of a file in a folder (default: 1000000).", min=1)] = 1_000_000,
) -> None:
    """Write data as ARFF, CSV or Parquet.

    A CSV file of any size becomes a folder of Parquet files.
    """
    if not out.suffix:
        _convert_to_folder(ctx.obj, out, rows)
        return
    check_ending(out, DATA_FILES)
    data = read_data(ctx.obj, writes=(out,))
    write_data(data, out)
    _say_written(data, out)


def _say_written(data: "Dataset", out: Path) -> None:
    say(f"{examples_in_words(data)}, {counted(data.n_features, 'feature')} written to {out}")


def _convert_to_folder(how: ReadOptions, out: Path, rows: int) -> None:
    from omnirank.core.errors import ParameterError
    from omnirank.data.load import DELIMITED, reader_of
    from omnirank.shards.convert_csv import convert_csv
    from omnirank.shards.source import ShardSource

    data, given = Path(how.data), how.keywords()
    if reader_of(data, given.get("separator")) is not DELIMITED:
        raise ParameterError(f"{data}: only delimited text becomes a folder of Parquet files; give {out} an ending")
    write = partial(convert_csv, folder=out, rows_per_file=rows)
    with ending_on_sigterm():
        files = call_reader(write, how.data, given, "a folder of Parquet files")
    n_rows = counted(ShardSource(out).n_rows, "row")
    say(f"{n_rows} written to {counted(len(files), 'file')} in {out}")


def features(
    ctx: typer.Context,
    out: Annotated[Path | None, option("--out -o FILE", "Write the features: .arff, .csv or .parquet.")] = None,
    lookahead: Annotated[int, option("--lookahead N", _LOOKAHEAD)] = 2,
    aggregates: Annotated[str, option("--aggregates NAMES", _AGGREGATES)] = "AGG-All",
    parameters: Annotated[
        list[str] | None, option("--set NAME=VALUE", "Parameter of RelationalFeatures, such as max_candidates=5000.")
    ] = None,
    ids: Annotated[bool, option("--ids", _IDS)] = False,
) -> None:
    """Construct features of a table from related tables."""
    from omnirank.core.errors import DataError
    from omnirank.relational.candidates import PRESETS
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.relational.features import RelationalFeatures
    from omnirank.relational.summary import unreached_tables

    check_ending(out, DATA_FILES)
    data = read_data(ctx.obj, tables=True, writes=(out,))
    if not isinstance(data, RelationalDataset):
        raise DataError(
            f"{data.name} is one table: features are constructed from several (a folder, a database or facts)"
        )
    names = [name.strip() for name in aggregates.split(",")]
    constructed = RelationalFeatures(lookahead, aggregates if aggregates in PRESETS else names)
    options.with_parameters(constructed, options.assignments(parameters)).fit(data)
    for text in data.notes:
        say(f"note: {text}")
    listed = constructed.features_
    table((("feature", "left"), ("in words", "left")), [(one.name, one.sentence) for one in listed[:_SHOWN]])
    if len(listed) > _SHOWN:
        say(f"... and {len(listed) - _SHOWN} more")
    tables = {relation.table for relation in data.database.relations.values()}.difference(unreached_tables(data))
    used = {data.database.relation(step.relation).table for one in listed for step in one.path}
    for name in sorted(tables - used) if constructed.aggregates != "NO-Rel" and data.schema else ():
        say(f"note: table {name} has no feature: --lookahead {constructed.lookahead + 1} goes further")
    if out is not None:
        features = constructed.to_dataset(data)
        write_data(_with_ids(features, data) if ids else features, out)
        _say_written(features, out)
        if not ids:
            say("rows are in the order of the examples' identifiers, which --ids writes, too")


def _with_ids(features: "Dataset", data: "RelationalDataset") -> "Dataset":
    """The features after the identifiers of the examples, one column for each object of an example."""
    import numpy as np

    from omnirank.core.errors import ParameterError
    from omnirank.data.dataset import Dataset

    frame = features.features.to_frame()
    for name, codes in reversed(list(zip(data.example_types, data.example_codes, strict=True))):
        if name in frame.columns:
            raise ParameterError(f"--ids: there is a feature {name!r} already")
        frame.insert(0, name, np.asarray(data.database.objects[name])[codes].astype(str))
    settings: dict[str, Any] = {"task": features.task, "hierarchy": features.hierarchy, "name": features.name}
    return Dataset(frame, features.target, **settings)
