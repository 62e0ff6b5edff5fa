"""The code of the pages, run block by block: the tests check it, and Sphinx shows what it prints and draws."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

__all__ = ["FENCE", "WIDTH", "Block", "Command", "Outcome", "blocks_of", "commands_of", "page_environment", "run_block"]

WIDTH = 90
"""Columns of a terminal in the pages; longer lines of code would need a scroll bar."""

FENCE = re.compile(r"^```(?P<kind>[\w-]*)(?P<rest>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ("python", "pycon", "console")
PICTURES = (".png", ".svg")
SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: the line its code starts on, and where the code and the fence are in the text.

    Of a hidden one (`python hidden` after the fence), pages show only what it leaves.
    """

    kind: str
    code: str
    line: int
    span: tuple[int, int] = (0, 0)
    fence: tuple[int, int] = (0, 0)
    is_hidden: bool = False


@dataclass(frozen=True)
class Command:
    """A command after a prompt, the lines shown below it, and what it printed."""

    text: str
    shown: list[str]
    printed: str = ""


@dataclass
class Outcome:
    """What a block left to look at."""

    printed: str = ""
    figures: list[Figure] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    pictures: list[Path] = field(default_factory=list)


def blocks_of(text: str, kinds: tuple[str, ...] = LANGUAGES) -> list[Block]:
    """Blocks of a page, those that are run unless other kinds are named."""
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        found.append(
            Block(match["kind"], match["code"], line, match.span("code"), match.span(), match["rest"] == " hidden")
        )
    return [block for block in found if block.kind in kinds]


@contextmanager
def page_environment(folder: Path) -> Iterator[dict[str, Any]]:
    """Work in a folder, with a terminal of the width of the pages; yields the namespace that the blocks share."""
    before, where = dict(os.environ), Path.cwd()
    os.environ |= {"MPLBACKEND": "Agg", "COLUMNS": str(WIDTH), "TERM": "dumb", "NO_COLOR": "1"}
    os.chdir(folder)
    try:
        yield {"__name__": "__main__"}
    finally:
        os.chdir(where)
        os.environ.clear()
        os.environ |= before


def run_block(block: Block, page: str, namespace: dict[str, Any]) -> Outcome:
    """Run a block in the current folder; a session or a command that prints something else than shown is an error."""
    outcome = Outcome()
    with _figures_into(outcome.figures):
        if block.kind == "python":
            padded = "\n" * (block.line - 1) + block.code  # so that a traceback names the page's line
            with redirect_stdout(io.StringIO()) as output:
                exec(compile(padded, page, "exec"), namespace)
            outcome.printed = output.getvalue()
        elif block.kind == "pycon":
            _run_session(block, page, namespace)
    if block.kind == "console":
        before = _picture_files()
        outcome.commands = [_run_checked(command, page) for command in commands_of(block.code)]
        outcome.pictures = sorted(_picture_files() - before)
    return outcome


def commands_of(code: str) -> list[Command]:
    """Commands after a prompt (a backslash continues the line), each with the output shown below it."""
    found: list[Command] = []
    for line in code.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append(Command(line.removeprefix("$ "), []))
        elif found:
            found[-1].shown.append(line)
    return [command for command in found if command.text.startswith("omnirank")]


def _run_session(block: Block, page: str, namespace: dict[str, Any]) -> None:
    session = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=SAME | doctest.FAIL_FAST)
    runner.run(session, out=report.append, clear_globs=False)
    namespace |= session.globs
    assert not runner.failures, "".join(report)


def _run_checked(command: Command, page: str) -> Command:
    printed = _run_command(command.text, page)
    expected = "\n".join(command.shown) + "\n"
    if command.shown and not doctest.OutputChecker().check_output(expected, printed, SAME):
        raise AssertionError(f"{page}: {command.text}\nshown:\n{expected}\nprinted:\n{printed}")
    return Command(command.text, command.shown, printed)


def _run_command(text: str, page: str) -> str:
    """Run a command in this process and return what it prints; ``> file`` sends that to a file."""
    from omnirank.cli import main

    arguments, _, target = text.partition(">")
    status: object = None
    before = sys.argv
    sys.argv = shlex.split(arguments)
    try:
        with redirect_stdout(io.StringIO()) as output:
            main()
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.argv = before
    assert status in (None, 0), f"{page}: {text}: ended with {status}"
    if not target:
        return output.getvalue()
    Path(target.strip()).write_text(output.getvalue(), encoding="utf-8")
    return ""


@contextmanager
def _figures_into(figures: list[Figure]) -> Iterator[None]:
    """Collect the figures that are made meanwhile, inside pyplot or outside it."""
    made = Figure.__init__

    def noted(self: Figure, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        figures.append(self)

    Figure.__init__ = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Figure.__init__ = made  # type: ignore[method-assign]


def _picture_files() -> set[Path]:
    return {path.resolve() for path in Path().rglob("*") if path.suffix in PICTURES}
