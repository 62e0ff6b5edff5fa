"""Short commands: ``omnirank report`` (a page for people), ``demo`` (digits) and ``clus`` (a settings file)."""

from pathlib import Path
from typing import Annotated

import typer

from omnirank.cli import options
from omnirank.cli.options import option
from omnirank.cli.output import note, say
from omnirank.cli.rank import print_ranking
from omnirank.cli.reading import read_data
from omnirank.cli.writing import check_ending, check_out, ending_on_sigterm, write_picture

_FILES = "Rankings (.json, .csv), of which the first is reported."
_FITS = "Fit the ranker further with --data (default): about seven times the time of the ranking."
_N_LABELLED = 100
_SHAPE = (8, 8)
_PICTURE = Path("omnirank-demo.png")


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
    data = read_data(ctx.obj, writes=(out,)) if ctx.obj.data else None
    stems = {path.stem for path in files}
    named = {path.stem if len(stems) == len(files) else str(path): Ranking.load(path) for path in files}
    note(*() if data is None else data.notes)
    with ending_on_sigterm():
        reported = named if len(named) > 1 else next(iter(named.values()))
        write_report(reported, out, data, fits=fits, title=title, n_jobs=jobs)
    say(f"report written to {out}")


def demo(
    out: Annotated[Path, option("--out -o FILE", "The picture to write (default: omnirank-demo.png).")] = _PICTURE,
) -> None:
    """Rank the pixels of handwritten digits; needs no data.

    Only 100 of the digits are labelled.
    """
    from omnirank.core.parallel import progress
    from omnirank.core.registry import default_method
    from omnirank.data.dataset import Dataset
    from omnirank.data.samples import load_sample
    from omnirank.plots import score_map

    check_out(out, out.parent)
    # as a user would bring them: without the task
    digits = load_sample("digits").keep_labels(_N_LABELLED, random_state=0)
    data = Dataset(digits.features, digits.y, target_names=digits.target_names, name="digits")
    method = default_method()
    say("Handwritten digits, 8 x 8 pixels each: which pixels tell the digits apart?\n", style="bold")
    with progress():
        # the question is what distinguishes the digits, not what describes the images
        ranker = method.make(supervision=1.0, random_state=0, n_jobs=-1).fit(data)
    ranking = ranker.ranking_
    say(f"task      {ranker.task_}, inferred from the labels")
    say(f"examples  {data.n_examples}, {int(data.labelled.sum())} of them labelled")
    say(f"features  {data.n_features} pixels, called pixel_<row>_<column>")
    say(f"method    {method.name}: {method.summary}\n")
    print_ranking(ranking, 10)
    write_picture(score_map(ranking, _SHAPE, title="Which pixels tell handwritten digits apart?"), out)
    say(f"\nPicture written to {out}")
    say("Next: omnirank info YOUR_FILE, then omnirank rank YOUR_FILE --target last")


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
