"""The frame of the command line: its commands, and how it shows errors and warnings."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from omnirank.cli import (
    clus,
    compare,
    compare_rankings,
    convert,
    demo,
    evaluate,
    experiment,
    features,
    fit,
    info,
    methods,
    predict,
    rank,
    report,
    select,
    stability,
    tree,
)
from omnirank.cli.compiling import compiling_is_told
from omnirank.cli.ending import TERMINATED, Terminated
from omnirank.cli.option_names import Command
from omnirank.cli.output import problem, say
from omnirank.cli.slips import no_command
from omnirank.core.errors import DataWarning, OmnirankError


class _Group(TyperGroup):
    """Errors of the user become one line and exit code 2; errors of omnirank keep their traceback."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; what is none, and is known to be meant for something else, is told."""
        meant = no_command(args[0]) if self.get_command(ctx, args[0]) is None else None
        if meant is not None:
            ctx.fail(f"there is no command {args[0]!r}: {meant}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings(), compiling_is_told():
            warnings.showwarning = _Warnings()
            warnings.simplefilter("ignore", DataWarning)  # commands print the notes of their data
            try:
                return super().invoke(ctx)
            except (OmnirankError, OSError) as error:
                if os.environ.get("OMNIRANK_TRACEBACK") == "1" or getattr(error, "errno", 0) == errno.EPIPE:
                    raise
                problem("error", _in_one_line(error), "bold red")
                raise typer.Exit(2) from None
            except Terminated:
                raise typer.Exit(TERMINATED) from None


app = typer.Typer(
    cls=_Group,
    help="Rank the features of any data set by their relevance for any target, with all, few or no labels.",
    epilog="Start with: omnirank demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from omnirank import __version__

        say(f"omnirank {__version__}")
        raise typer.Exit


_VERSION = typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)


@app.callback()
def _options(version: Annotated[bool, _VERSION] = False) -> None:
    """Options before the command."""


_COMMANDS: dict[str, Callable[..., None]] = {
    "info": info.info,
    "rank": rank.rank,
    "select": select.select,
    "stability": stability.stability,
    "report": report.report,
    "evaluate": evaluate.evaluate,
    "tree": tree.tree,
    "fit": fit.fit,
    "predict": predict.predict,
    "methods": methods.methods,
    "compare-rankings": compare_rankings.compare_rankings,
    "compare": compare.compare,
    "convert": convert.convert,
    "features": features.features,
    "clus": clus.clus,
    "demo": demo.demo,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=Command)(_command)
app.add_typer(experiment.experiment, name="experiment")


def _in_one_line(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        from omnirank.core.text import files_like

        folder = os.path.dirname(error.filename)
        if folder and not os.path.isdir(folder):
            return f"there is no folder {str(folder)!r}"
        return f"there is no file {str(error.filename)!r}{files_like(error.filename)}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


class _Warnings:
    """Prints every warning once: a command may do the same work for several folds."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Any, *where: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        if text not in self._shown:
            self._shown.add(text)
            problem("warning", text, "bold yellow")
