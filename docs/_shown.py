"""Sphinx extension: below each block of code, the pages show what it printed and the pictures it drew."""

from __future__ import annotations

import shutil
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import matplotlib as mpl
from _executed import WIDTH, Block, Outcome, blocks_of, page_environment, run_block
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util import logging

FOLDER = "_pictures"
LONGEST = 40
"""Lines of output that are shown."""

UNBROKEN: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}

_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Run the code of every Markdown page that Sphinx reads."""
    app.connect("source-read", show_outcomes)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def show_outcomes(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put what the blocks of a page printed and drew into its text."""
    if Path(app.env.doc2path(docname)).suffix != ".md" or not (blocks := blocks_of(source[0])):
        return
    pictures = Pictures(Path(app.srcdir) / FOLDER, docname)
    with tempfile.TemporaryDirectory() as folder, page_environment(Path(folder)) as namespace:
        pieces, position = [], 0
        for block in blocks:
            try:
                outcome = run_block(block, docname, namespace)
            except Exception as error:
                _log.warning("line %d: %s: %s", block.line, type(error).__name__, error, location=docname)
                break
            pieces += [source[0][position : block.fence[0]], _block(block, source[0], outcome)]
            pieces += [_output(outcome.printed), *pictures.shown(outcome)]
            position = block.fence[1]
    source[0] = "".join([*pieces, source[0][position:]])


class Pictures:
    """Files of the pictures of one page."""

    def __init__(self, folder: Path, docname: str) -> None:
        self.folder, self.stem, self.count = folder, docname.replace("/", "-"), 0
        folder.mkdir(exist_ok=True)

    def shown(self, outcome: Outcome) -> list[str]:
        """Write the pictures of a block; returns the Markdown that shows them."""
        text = []
        for figure in outcome.figures:
            if figure.axes:
                # Text as text would depend on the fonts of the reader's machine.
                with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "omnirank"}):
                    figure.savefig(self._next(".svg"), metadata={"Date": None})
                text.append(self._markdown(_words(figure), ".svg"))
        for path in outcome.pictures:
            shutil.copyfile(path, self._next(path.suffix))
            text.append(self._markdown(path.name, path.suffix))
        return text

    def _next(self, suffix: str) -> Path:
        self.count += 1
        return self.folder / f"{self.stem}-{self.count}{suffix}"

    def _markdown(self, alternative: str, suffix: str) -> str:
        words = alternative.replace("\n", " ").replace("[", "(").replace("]", ")")
        return f"\n\n![{words}](/{FOLDER}/{self.stem}-{self.count}{suffix})\n"


def _words(figure: Figure) -> str:
    """What a picture shows, for those who cannot see it: its titles, else its axes."""
    titles = [axes.get_title(side) for axes in figure.axes for side in ("left", "center")]
    axes = [f"{axes.get_ylabel()} over {axes.get_xlabel()}" for axes in figure.axes if axes.get_xlabel()]
    return "; ".join(filter(None, titles)) or "; ".join(axes) or "what the code above draws"


def _block(block: Block, page: str, outcome: Outcome) -> str:
    """The block with its fences, or nothing if it is hidden."""
    (start, stop), (code, end) = block.fence, block.span
    return "" if block.is_hidden else page[start:code] + _code(block, outcome) + page[end:stop]


def _code(block: Block, outcome: Outcome) -> str:
    """The code of a block; commands without pasted output get theirs."""
    if not outcome.commands or any(command.shown for command in outcome.commands):
        return block.code
    lines = []
    for command in outcome.commands:
        typed = textwrap.wrap(f"$ {' '.join(command.text.split())}", WIDTH - 2, subsequent_indent="    ", **UNBROKEN)
        lines += [" \\\n".join(typed), *_shortened(command.printed)]
    return "\n".join(lines) + "\n"


def _output(printed: str) -> str:
    if not printed.strip():
        return ""
    text = "\n".join(_shortened(printed))
    return f"\n\n:::{{container}} output\n```text\n{text}\n```\n:::\n"


def _shortened(printed: str) -> list[str]:
    lines = []
    for line in printed.strip("\n").splitlines():
        short = len(line.rstrip()) <= WIDTH
        lines += [line.rstrip()] if short else textwrap.wrap(line, WIDTH, **UNBROKEN)
    return lines if len(lines) <= LONGEST else [*lines[:LONGEST], "..."]
