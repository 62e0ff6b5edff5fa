"""The commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from omnirank.cli import clus, compare, convert, demo, evaluate, experiment, info, models, rank, report, select, tree
from omnirank.cli.command import Command, DataCommand, OptionalDataCommand
from omnirank.cli.output import say

app = typer.Typer(
    help="Rank the features of any data set by their relevance for any target, with all, few or no labels.",
    epilog="Start with: omnirank demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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


_COMMANDS: dict[str, tuple[Callable[..., None], type[Command]]] = {
    "info": (info.info, DataCommand),
    "rank": (rank.rank, DataCommand),
    "select": (select.select, DataCommand),
    "stability": (select.stability, DataCommand),
    "report": (report.report, OptionalDataCommand),
    "evaluate": (evaluate.evaluate, DataCommand),
    "tree": (tree.tree, DataCommand),
    "fit": (models.fit, DataCommand),
    "predict": (models.predict, Command),
    "methods": (info.methods, Command),
    "compare-rankings": (compare.compare_rankings, Command),
    "compare": (compare.compare, Command),
    "convert": (convert.convert, DataCommand),
    "features": (convert.features, DataCommand),
    "clus": (clus.clus, Command),
    "demo": (demo.demo, Command),
}
for _name, (_function, _class) in _COMMANDS.items():
    app.command(_name, cls=_class)(_function)
app.add_typer(experiment.experiment, name="experiment")
