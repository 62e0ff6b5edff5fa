"""How the commands print: tables for people, plain CSV for programs, problems on the error stream."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from omnirank.core.text import harmless

Justify = Literal["left", "right"]

_PIPED_WIDTH = 160


def console(*, error: bool = False) -> Any:
    """Return a rich console on the output or the error stream."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    # What reads a pipe or a file does not fold lines at the 80 columns that rich would assume.
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(stderr=error, highlight=False, width=width)


def say(text: str = "", style: str | None = None) -> None:
    """Print a line of text for people."""
    console().print(text, style=style, markup=False, soft_wrap=True)


def problem(kind: str, text: str, style: str) -> None:
    """Print one line on the error stream: the kind of problem in colour, and what it is."""
    from rich.text import Text

    console(error=True).print(Text.assemble((f"{kind}: ", style), text), soft_wrap=True)


def note(text: str) -> None:
    """Print one line on the error stream that the user should read, but that is no result."""
    problem("note", text, "bold")


def table(columns: Sequence[tuple[str, Justify]], rows: Iterable[Sequence[Any]], whole: Sequence[str] = ()) -> None:
    """Print a table; a column is its heading and how it is justified. Cells of ``whole`` columns stay on one line."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    headed = any(heading for heading, _ in columns)
    made = Table(box=box.SIMPLE_HEAD if headed else box.SIMPLE, pad_edge=False, show_header=headed)
    for heading, justify in columns:
        made.add_column(heading, justify=justify, overflow="fold", no_wrap=heading in whole)
    for row in rows:
        made.add_row(*(Text(str(cell)) for cell in row))
    console().print(made)


def figures(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print CSV: numbers in full precision, names that no spreadsheet runs, nothing else."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([_csv_cell(column) for column in columns])
    for row in rows:
        writer.writerow([_csv_cell(cell) for cell in row])


def _csv_cell(cell: Any) -> Any:
    return repr(float(cell)) if isinstance(cell, float) else _csv_text(cell)


def frame_csv(frame: Any) -> str:
    """Return a table as CSV, with names and texts that no spreadsheet runs.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.cli.output import frame_csv
    >>> frame_csv(pd.DataFrame({"=x": [0.5]}, index=pd.Index(["@a"], name="data")))
    "data,'=x\\n'@a,0.5\\n"
    """
    harmed = frame.rename(index=_csv_text, columns=_csv_text).rename_axis(index=_csv_text, columns=_csv_text)
    return str(harmed.map(_csv_text).to_csv(lineterminator="\n"))


def _csv_text(value: Any) -> Any:
    return harmless(value) if isinstance(value, str) else value


def bar(value: float, largest: float, width: int = 20) -> str:
    """Return a bar whose length shows the value.

    Examples
    --------
    >>> from omnirank.cli.output import bar
    >>> bar(0.5, 1.0, width=8)
    '━━━━'
    """
    return "━" * round(width * max(value, 0.0) / largest) if largest > 0 else ""
