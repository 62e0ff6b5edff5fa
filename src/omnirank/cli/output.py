"""How the commands print: tables for people, plain CSV for programs, notes and problems on the error stream."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from omnirank.core.text import counted, harmless

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

_PIPED_WIDTH = 160
# Fewer different whole numbers are hardly counts.
_FEWEST_COUNTS = 6


def console(*, error: bool = False) -> Any:
    """Return a rich console on the output or the error stream."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    # In a pipe or a file, rich would fold lines at 80 columns.
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(stderr=error, highlight=False, width=width)


def say(text: str = "", style: str | None = None) -> None:
    """Print a line of text for people."""
    console().print(text, style=style, markup=False, soft_wrap=True)


def problem(kind: str, text: str, style: str) -> None:
    """Print one line on the error stream: the kind of problem in colour, and the problem."""
    from rich.text import Text

    console(error=True).print(Text.assemble((f"{kind}: ", style), text), soft_wrap=True)


def note(*texts: str) -> None:
    """Print lines on the error stream that the user should read, but that are no result."""
    for text in texts:
        problem("note", text, "bold")


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]], whole: Sequence[str] = ()) -> None:
    """Print a table; a column is its heading and "left" or "right". Cells of ``whole`` columns stay on one line."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    headed = any(heading for heading, _ in columns)
    grid = Table(box=box.SIMPLE_HEAD if headed else box.SIMPLE, pad_edge=False, show_header=headed)
    for heading, justify in columns:
        grid.add_column(heading, justify=justify, overflow="fold", no_wrap=heading in whole)  # type: ignore[arg-type]
    for row in rows:
        grid.add_row(*(Text(str(cell)) for cell in row))
    console().print(grid)


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print CSV: numbers in full precision, names that no spreadsheet runs, nothing else."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([_csv_cell(column) for column in columns])
    writer.writerows([[_csv_cell(cell) for cell in row] for row in rows])


def print_frame(frame: Any, top: int | None = None) -> None:
    """Print the first rows of a table, or all of them, as CSV."""
    print_csv(list(frame.columns), (frame if top is None else frame.head(top)).itertuples(index=False))


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
    safe = frame.rename(index=_csv_text, columns=_csv_text).rename_axis(index=_csv_text, columns=_csv_text)
    return str(safe.map(_csv_text).to_csv(lineterminator="\n"))


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


def shortened(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> from omnirank.cli.output import shortened
    >>> shortened(["a", "b", "c"], 2)
    'a, b, ... and 1 more'
    """
    more = f", ... and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# -- data -----------------------------------------------------------------------------------------------------


def heading(data: Dataset | ShardedDataset, examples: str | None = None) -> str:
    """Return one line on a data set: name, task, examples (in words of its own), features."""
    return f"{data.name}: {data.task}, {examples or examples_in_words(data)}, {counted(data.n_features, 'feature')}"


def n_labelled(data: Dataset | ShardedDataset) -> int:
    """Return the number of labelled examples."""
    known = getattr(data, "n_labelled", None)  # data in parts have counted them
    return int(data.labelled.sum()) if known is None else int(known)


def examples_in_words(data: Dataset | ShardedDataset) -> str:
    """Return the number of examples, and how many of them are labelled."""
    examples = counted(data.n_examples, "example")
    if not data.n_targets:
        return examples
    n = n_labelled(data)
    return f"{examples}, {'all' if n == data.n_examples else n} labelled"


def data_notes(data: Dataset | RelationalDataset | ShardedDataset) -> tuple[str, ...]:
    """Return the notes of a data set, and one on whole numbers that are taken as classes without --task.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.cli.output import data_notes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "eggs.csv")
    ...     _ = path.write_text("size,eggs\\n" + "".join(f"{i * i % 7},{i % 8}\\n" for i in range(80)))
    ...     data_notes(om.load(path, "eggs")), data_notes(om.load(path, "eggs", task="regression"))
    (("the whole numbers of 'eggs' are taken as 8 classes; if they are counts, say task='regression'",), ())
    """
    return (*data.notes, *_counts_as_classes(data))


def _counts_as_classes(data: Dataset | RelationalDataset | ShardedDataset) -> list[str]:
    from omnirank.core.errors import setting
    from omnirank.data.dataset import Dataset
    from omnirank.data.task_registry import task_named, task_target

    if not isinstance(data, Dataset) or data.target is None or task_target(data.task).kind != "classes":
        return []
    task_is_given = data.source is None or "task" in data.source.options
    if task_is_given or any("the whole numbers of" in text for text in data.notes):
        return []
    quantities = setting("task", task_named("numbers", single=data.n_targets == 1))
    return [
        f"the whole numbers of {name!r} are taken as {len(levels)} classes; if they are counts, say {quantities}"
        for name, levels in zip(data.target_names, data.target.levels, strict=True)
        if levels is not None
        and len(levels) >= _FEWEST_COUNTS
        and all(isinstance(level, int) and not isinstance(level, bool) for level in levels)
    ][:1]
