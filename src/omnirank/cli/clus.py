"""``omnirank clus``: run a settings file of CLUS as it is."""

from pathlib import Path
from typing import Annotated

import typer

from omnirank.cli.options import option
from omnirank.cli.output import note, say
from omnirank.cli.writing import ending_on_sigterm


def clus(
    settings: Annotated[Path, typer.Argument(metavar="SETTINGS.s", help="A settings file of CLUS.")],
    forest: Annotated[bool, option("-forest --forest", "Learn an ensemble and rank by it.")] = False,
    ssl: Annotated[bool, option("-ssl --ssl", "Let unlabelled examples count.")] = False,
    relief: Annotated[bool, option("-relief --relief", "Rank features by Relief.")] = False,
    silent: Annotated[bool, option("-silent --silent", "Print nothing; the .out file has the notes.")] = False,
    encoding: Annotated[str, option("--encoding NAME", "Encoding of the files (default: utf-8).")] = "utf-8",
) -> None:
    """Run a settings file of CLUS as it is.

    Its .out and .fimp files are written beside it.
    """
    from omnirank.clus.run import run_clus

    with ending_on_sigterm():
        run = run_clus(settings, forest=forest, ssl=ssl, relief=relief, encoding=encoding)
    if silent:
        return
    note(*run.notes)
    for file in run.files:
        say(f"Output written to: {file}")
