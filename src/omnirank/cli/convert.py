"""``omnirank convert``: write a data set as ARFF or Parquet."""

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


@with_data
def convert(
    dataset: "Dataset",
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write: .arff, .arff.gz or .parquet.")],
) -> None:
    """Write a data set to an ARFF or Parquet file."""
    from omnirank.core.errors import ParameterError
    from omnirank.data.arff_write import write_arff
    from omnirank.data.parquet import write_parquet

    with ending_on_sigterm():
        if out.name.lower().endswith((".arff", ".arff.gz")):
            write_arff(dataset, out)
        elif out.suffix.lower() in (".parquet", ".pq"):
            write_parquet(dataset, out)
        else:
            raise ParameterError(f"{out}: the ending must be .arff, .arff.gz or .parquet")
    say(f"{describe_examples(dataset)}, {counted(dataset.n_features, 'feature')} written to {out}")
