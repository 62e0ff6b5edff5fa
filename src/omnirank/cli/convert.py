"""``omnirank convert``: write a data set as ARFF, CSV or Parquet."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import with_data
from omnirank.cli.output import say
from omnirank.cli.rank import describe_examples
from omnirank.core.plurals import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

_ENDINGS = (".arff", ".arff.gz", ".csv", ".csv.gz", ".parquet", ".pq")


@with_data
def convert(
    dataset: "Dataset",
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write: .arff, .csv (or .gz of these), .parquet.")],
) -> None:
    """Write a data set to an ARFF, CSV or Parquet file."""
    write_data(dataset, out)
    say(f"{describe_examples(dataset)}, {counted(dataset.n_features, 'feature')} written to {out}")


def check_data_file(out: Path) -> None:
    """Refuse a file whose ending says of no format how data are written."""
    from omnirank.core.errors import ParameterError

    if not out.name.lower().endswith(_ENDINGS):
        raise ParameterError(f"{out}: the ending must be one of {', '.join(_ENDINGS)}")


def write_data(dataset: "Dataset", out: Path) -> None:
    """Write a data set in the format that the ending of the file says."""
    from omnirank.data.arff_write import write_arff
    from omnirank.data.delimited_write import write_csv
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
