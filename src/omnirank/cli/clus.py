"""``omnirank clus``: run a settings file of CLUS as it is."""

from pathlib import Path
from typing import Annotated

import typer

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import EncodingOption
from omnirank.cli.output import note, say


def clus(
    settings: Annotated[Path, typer.Argument(metavar="SETTINGS.s", help="A settings file of CLUS.")],
    forest: Annotated[bool, typer.Option("-forest", "--forest", help="Learn an ensemble and rank by it.")] = False,
    ssl: Annotated[bool, typer.Option("-ssl", "--ssl", help="Let unlabelled examples count.")] = False,
    relief: Annotated[bool, typer.Option("-relief", "--relief", help="Rank features by Relief.")] = False,
    xval: Annotated[bool, typer.Option("-xval", "--xval", help="Cross-validate the models, too.")] = False,
    silent: Annotated[
        bool, typer.Option("-silent", "--silent", help="Print nothing; the .out file has the notes.")
    ] = False,
    encoding: EncodingOption = "utf-8",
) -> None:
    """Do what CLUS would do with a settings file, and write its .out, .xval and .fimp files beside it."""
    from omnirank.clus.run import run_clus

    with ending_on_sigterm():
        run = run_clus(settings, forest=forest, ssl=ssl, relief=relief, xval=xval, encoding=encoding)
    if silent:
        return
    for text in run.notes:
        note(text)
    for file in run.files:
        say(f"Output written to: {file}")
