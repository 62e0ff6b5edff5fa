"""``omnirank report``: a page for people, of rankings or of a study."""

from pathlib import Path
from typing import Annotated

import typer

from omnirank.cli import options
from omnirank.cli.options import option, refuse
from omnirank.cli.output import note, say
from omnirank.cli.reading import read_data
from omnirank.cli.writing import check_ending, ending_on_sigterm

_RANKINGS = (".json", ".csv")
_STUDIES = (".sqlite", ".toml")
_FILES = "Rankings (.json, .csv), of which the first is reported; or one study (.sqlite, plan or folder)."
_FITS = "Fit the ranker further with --data (default): about seven times the time of the ranking."


def report(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="RANKING...|STUDY", help=_FILES)],
    out: Annotated[Path, option("--out -o FILE", "The .html file to write.")],
    title: Annotated[str | None, option("--title TEXT", "Title of the page (default: name of the data).")] = None,
    fits: Annotated[bool, option("--fits/--no-fits", _FITS)] = True,
    jobs: options.Jobs = -1,
) -> None:
    """Write a report of rankings or a study as one HTML file.

    The file needs no network. Sections that need the data come with --data: checks, worth, number of features,
    stability, other methods.
    """
    from omnirank.core.errors import ParameterError
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.report import write_report, write_study_report
    from omnirank.report.page import PAGES

    check_ending(out, PAGES)
    rankings = [path for path in files if path.suffix.lower() in _RANKINGS]
    if len(rankings) not in (0, len(files)) or (not rankings and len(files) > 1):
        raise ParameterError("give rankings (.json, .csv), or one study: not both")
    if not rankings:
        if files[0].is_file() and files[0].suffix.lower() not in _STUDIES:
            raise ParameterError(f"{files[0]}: a report is made of rankings (.json, .csv) or of a study (.sqlite)")
        refuse({"--data": ctx.obj.data}, "is for rankings: a study knows its data")
        with ending_on_sigterm():
            write_study_report(files[0], out, title=title)
    else:
        data = read_data(ctx.obj, writes=(out,)) if ctx.obj.data else None
        stems = {path.stem for path in rankings}
        named = {path.stem if len(stems) == len(rankings) else str(path): Ranking.load(path) for path in rankings}
        note(*() if data is None else data.notes)
        with ending_on_sigterm():
            reported = named if len(named) > 1 else next(iter(named.values()))
            write_report(reported, out, data, fits=fits, title=title, n_jobs=jobs)
    say(f"report written to {out}")
