"""``omnirank convert``: write a data set as ARFF, CSV or Parquet, also in parts."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import load_one_table, text_options, with_data
from omnirank.cli.output import say
from omnirank.cli.rank import describe_examples
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

_ENDINGS = (".arff", ".arff.gz", ".csv", ".csv.gz", ".parquet", ".pq")


def _later(**options: Any) -> dict[str, Any]:
    """Leave reading to the command: what is converted to a folder need not fit in memory."""
    return options


_later.__signature__ = inspect.signature(load_one_table)  # type: ignore[attr-defined]


def _convert(
    options: dict[str, Any],
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write: .arff, .csv (or .gz of these), .parquet; without ending, a folder of Parquet files.",
        ),
    ],
    rows: Annotated[int, typer.Option("--rows", min=1, help="Most rows of a file in a folder.")] = 1_000_000,
) -> None:
    """Write a data set to an ARFF, CSV or Parquet file, or a CSV file of any size to a folder of Parquet files."""
    if not out.suffix:
        _convert_to_folder(options, out, rows)
        return
    check_data_file(out)
    dataset = load_one_table(**options)
    write_data(dataset, out)
    say(f"{describe_examples(dataset)}, {counted(dataset.n_features, 'feature')} written to {out}")


convert = with_data(_convert, _later)


def _convert_to_folder(options: dict[str, Any], out: Path, rows: int) -> None:
    from omnirank.core.errors import ParameterError
    from omnirank.data.load import file_format, text_separator
    from omnirank.shards.convert_csv import convert_csv
    from omnirank.shards.source import ShardSource

    data = Path(options["data"])
    text = text_options(*(options[name] for name in ("header", "separator", "missing", "encoding")))
    if file_format(data, text["separator"]) != "delimited":
        raise ParameterError(f"{data}: only delimited text becomes a folder of Parquet files; give {out} an ending")
    for name in ("labels", "features", "key"):
        if options[name] is not None:
            raise ParameterError(f"--{name} is not for folders: leave columns out with --ignore")
    text["separator"] = text_separator(data, text["separator"])
    chosen = {name: options[name] for name in ("target", "ignore", "nominal", "duplicates")}
    with ending_on_sigterm():
        files = convert_csv(data, out, **chosen, **text, rows_per_file=rows)
    n_rows = counted(ShardSource(out).n_rows, "row")
    say(f"{n_rows} written to {counted(len(files), 'file')} in {out}")


def check_data_file(out: Path) -> None:
    """Refuse a file whose ending says of no format how data are written."""
    from omnirank.core.errors import ParameterError

    if not out.name.lower().endswith(_ENDINGS):
        raise ParameterError(f"{out}: the ending must be one of {', '.join(_ENDINGS)}")


def write_data(dataset: "Dataset", out: Path) -> None:
    """Write a data set in the format that the ending of the file says."""
    from omnirank.data.arff.write import write_arff
    from omnirank.data.csv.write import write_csv
    from omnirank.data.parquet import write_parquet

    check_data_file(out)
    name = out.name.lower().removesuffix(".gz")
    with ending_on_sigterm():
        if name.endswith(".arff"):
            write_arff(dataset, out)
        elif name.endswith(".csv"):
            write_csv(dataset, out)
        else:
            write_parquet(dataset, out)
