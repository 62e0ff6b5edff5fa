"""``omnirank report``: a page for people."""

from pathlib import Path
from typing import Annotated

import typer

from omnirank.cli import options
from omnirank.cli.options import option
from omnirank.cli.output import note, say
from omnirank.cli.reading import read_data
from omnirank.cli.writing import check_ending, ending_on_sigterm

_FILES = "Rankings (.json, .csv), of which the first is reported."
_FITS = "Fit the ranker further with --data (default): about seven times the time of the ranking."


def report(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="RANKING...", help=_FILES)],
    out: Annotated[Path, option("--out -o FILE", "The .html file to write.")],
    title: Annotated[str | None, option("--title TEXT", "Title of the page (default: name of the data).")] = None,
    fits: Annotated[bool, option("--fits/--no-fits", _FITS)] = True,
    jobs: options.Jobs = -1,
) -> None:
    """Write a report of rankings as one HTML file.

    The file needs no network. Sections that need the data come with --data: checks, worth, number of features,
    stability, other methods.
    """
    from omnirank.core.errors import ParameterError
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.report import write_report
    from omnirank.report.page import PAGES

    check_ending(out, PAGES)
    for path in files:
        if path.suffix.lower() not in (".json", ".csv"):
            raise ParameterError(f"{path}: a report is made of rankings (.json, .csv); omnirank compare is for studies")
    data = read_data(ctx.obj, tables=True, parts=True, writes=(out,)) if ctx.obj.data else None
    stems = {path.stem for path in files}
    named = {path.stem if len(stems) == len(files) else str(path): Ranking.load(path) for path in files}
    note(*() if data is None else data.notes)
    with ending_on_sigterm():
        reported = named if len(named) > 1 else next(iter(named.values()))
        write_report(reported, out, data, fits=fits, title=title, n_jobs=jobs)
    say(f"report written to {out}")
