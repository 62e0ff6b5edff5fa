"""The frame of every command: its help, its errors and warnings, and the options that read its data."""

from __future__ import annotations

import errno
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand

from omnirank.cli.options import OPTIONS, option_of
from omnirank.cli.output import note, problem
from omnirank.cli.reading import OptionalReadOptions, ReadOptions
from omnirank.cli.writing import TERMINATED, Terminated
from omnirank.core.errors import SPELLING, DataWarning, OmnirankError

_COMPILING = logging.getLogger("omnirank.compiling")
_TYPED = "omnirank.typed"


def typed_command(ctx: typer.Context) -> str:
    """Return the command that runs, as it was typed."""
    return str(ctx.meta[_TYPED])


class Command(TyperCommand):
    """A command whose user errors are one line and exit code 2; errors of omnirank keep their traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, and keep them as they were typed; an option with one value is given once."""
        ctx.meta[_TYPED] = shlex.join(["omnirank", str(ctx.info_name), *args])
        given = self.make_parser(ctx).parse_args(list(args))[2]
        for option in given:
            if given.count(option) > 1 and not (getattr(option, "multiple", True) or getattr(option, "is_flag", True)):
                ctx.fail(f"{max(option.opts, key=len)} is given more than once")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; its errors, warnings and notes name options instead of parameters."""
        is_flag = {name: getattr(param, "is_flag", False) for param in self.params for name in param.opts}
        options, spelling = OPTIONS.set(is_flag), SPELLING.set(option_of)
        try:
            with warnings.catch_warnings(), compiling_notes():
                warnings.showwarning = _warning_printer()
                warnings.simplefilter("ignore", DataWarning)  # commands print the notes of their data
                warnings.filterwarnings("default", ".*(training examples|not read)", DataWarning)  # no notes
                return super().invoke(ctx)
        except (OmnirankError, OSError) as error:
            if os.environ.get("OMNIRANK_TRACEBACK") == "1" or getattr(error, "errno", 0) == errno.EPIPE:
                raise
            problem("error", _in_one_line(error), "bold red")
            cures = [option_of(name, value) for name, value in getattr(error, "cure", {}).items()]
            if cures and all(cures):
                problem("this reads it", f"{typed_command(ctx)} {' '.join(map(str, cures))}", "bold")
            raise typer.Exit(2) from None
        except Terminated:
            raise typer.Exit(TERMINATED) from None
        finally:
            OPTIONS.reset(options)
            SPELLING.reset(spelling)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line; Typer puts required arguments into braces."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the options in sections."""
        sections: dict[str, list[Any]] = {}
        param: Any
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                sections.setdefault("Arguments", []).append((param.metavar, param.help))
            else:
                section = getattr(param, "rich_help_panel", None) or "Options"
                sections.setdefault(section, []).append(param.get_help_record(ctx))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _reader(options: type[ReadOptions]) -> Any:
    """The command that Typer makes of the dataclass: its parameters are the fields, its callback returns an object."""
    app = typer.Typer(add_completion=False)
    app.command()(options)
    return typer.main.get_command(app)


class DataCommand(Command):
    """A command that reads data: it has the options of `ReadOptions` too, and finds their values in ``ctx.obj``."""

    reads: type[ReadOptions] = ReadOptions

    def __init__(self, name: str | None, *, params: list[Any], **settings: Any) -> None:
        self._reader = _reader(self.reads)
        reading = self._reader.params
        arguments = [param for param in reading if param.param_type_name == "argument"]
        super().__init__(name, params=[*arguments, *params, *reading[len(arguments) :]], **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; long work shows a progress bar."""
        from omnirank.core.parallel import progress

        values = {param.name: ctx.params.pop(param.name) for param in self._reader.params}
        ctx.obj = self._reader.callback(**values)
        with progress():
            return super().invoke(ctx)


class OptionalDataCommand(DataCommand):
    """A command that reads data where --data names them."""

    reads = OptionalReadOptions


def _in_one_line(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        from omnirank.core.text import files_like

        folder = os.path.dirname(error.filename)
        if folder and not os.path.isdir(folder):
            return f"there is no folder {str(folder)!r}"
        return f"there is no file {str(error.filename)!r}{files_like(error.filename)}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).removesuffix(getattr(error, "call", "")).split())


def _warning_printer() -> Callable[..., None]:
    """A function that prints every warning once: a command may do the same work for several folds."""
    shown: set[str] = set()

    def print_once(message: Any, *where: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        if text not in shown:
            shown.add(text)
            problem("warning", text, "bold yellow")

    return print_once


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def compiling_notes() -> Iterator[None]:
    """Print that kernels are compiled, since silence would look like a hang: at once on a terminal, else after 3 s."""
    if sys.stderr is None:
        yield
        return
    before, handler = _COMPILING.level, _Notes()
    if sys.stderr.isatty():
        _COMPILING.setLevel(logging.INFO)
    _COMPILING.addHandler(handler)
    try:
        yield
    finally:
        _COMPILING.removeHandler(handler)
        _COMPILING.setLevel(before)
