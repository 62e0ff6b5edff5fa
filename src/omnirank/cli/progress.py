"""How far a study is: a bar where someone watches, a line now and then where a file or a log takes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from omnirank.cli.output import console

_EVERY_S = 30.0
_STEPS = 10


@contextmanager
def study_progress(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on the error stream; yields ``advance(finished, total)``."""
    watched = console(error=True)
    if not watched.file.isatty():
        yield PlainProgress(description)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=watched, transient=True) as display:
        task = display.add_task(description, total=None)

        def advance(finished: int, total: int) -> None:
            display.update(task, completed=finished, total=total)

        yield advance


class PlainProgress:
    """Prints a line at the start, at every tenth of the work, and when half a minute has passed.

    Parameters
    ----------
    description : str
        What runs.
    clock : callable
        The time in seconds.
    """

    def __init__(self, description: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._description = description
        self._clock = clock
        self._said: tuple[float, int] | None = None

    def __call__(self, finished: int, total: int) -> None:
        """Count what is finished."""
        now, step = self._clock(), _STEPS * finished // max(total, 1)
        if self._said is not None and step <= self._said[1] and now < self._said[0] + _EVERY_S:
            return
        self._said = now, step
        text = f"{self._description}: {finished} of {total} jobs done"
        console(error=True).print(text, markup=False, soft_wrap=True)
