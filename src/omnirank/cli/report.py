"""``omnirank report``: a page for people, of rankings or of a study."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.files import check_files
from omnirank.cli.options import JobsOption, with_optional_data
from omnirank.cli.output import note, say

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

_RANKINGS = (".json", ".csv")
_STUDIES = (".sqlite", ".toml")
_WHAT = "Rankings (.json, .csv), of which the first is reported; or one store of experiments (.sqlite, plan or folder)."


@with_optional_data
def report(
    files: Annotated[list[Path], typer.Argument(metavar="RANKING...|STORE", help=_WHAT, show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .html file to write.", show_default=False)],
    fits: Annotated[
        bool,
        typer.Option(
            help="Fit the ranker further with --data: about seven times the time of the ranking.",
        ),
    ] = True,
    jobs: JobsOption = -1,
    title: Annotated[str | None, typer.Option("--title", help="Title of the page (default: name of the data).")] = None,
    data: "Dataset | None" = None,
) -> None:
    """Write a report for people: one HTML file that needs no network.

    What needs the data (checks, worth, number of features, stability, other methods) is there with --data.
    """
    from omnirank.core.errors import ParameterError
    from omnirank.core.parallel import progress_bars
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.report import write_report, write_study_report

    check_files(out, None)
    rankings = [path for path in files if path.suffix.lower() in _RANKINGS]
    if len(rankings) not in (0, len(files)) or (not rankings and len(files) > 1):
        raise ParameterError("give rankings (.json, .csv), or one store of experiments: not both")
    if not rankings:
        _check_study(files[0])
        if data is not None:
            raise ParameterError("--data is for rankings: a study knows its data")
        with ending_on_sigterm():
            write_study_report(files[0], out, title=title)
        say(f"report written to {out}")
        return
    named = {path.stem if len(files) > 1 else "": Ranking.load(path) for path in rankings}
    if len(named) < len(rankings):
        named = {str(path): Ranking.load(path) for path in rankings}
    found = named if len(named) > 1 else next(iter(named.values()))
    for text in () if data is None else data.notes:
        note(text)
    with progress_bars(), ending_on_sigterm():
        write_report(found, out, data, fits=fits, title=title, n_jobs=jobs)
    say(f"report written to {out}")


def _check_study(path: Path) -> None:
    """Refuse a file that can be no study."""
    from omnirank.core.errors import ParameterError

    if path.is_file() and path.suffix.lower() not in _STUDIES:
        raise ParameterError(f"{path}: a report is made of rankings ({', '.join(_RANKINGS)}) or of a study (.sqlite)")
