"""The progress bar of long work, on the standard error stream of a terminal."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import Any

_PROGRESS_DELAY_S = 2.0


class ProgressBar:
    """A rich progress bar that appears when the work has taken longer than the delay."""

    def __init__(self, total: int, description: str, delay: float = _PROGRESS_DELAY_S) -> None:
        self._total = total
        self._description = description
        self._done = 0
        self._closed = False
        self._lock = threading.Lock()
        self._display: Any = None
        self._task: Any = None
        self._timer = threading.Timer(delay, self._appear)
        self._timer.daemon = True

    def __enter__(self) -> ProgressBar:
        self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._display is not None:
                with suppress(OSError):  # a closed terminal must not cost the results
                    self._display.stop()

    def advance(self) -> None:
        """Count one more item as done."""
        with self._lock:
            self._done += 1
            if self._display is not None:
                self._display.update(self._task, completed=self._done)

    def _appear(self) -> None:
        console = _console()
        if console is None:
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with self._lock:
            if self._closed:
                return
            display = Progress(*columns, console=console, transient=True)
            self._task = display.add_task(self._description, total=self._total, completed=self._done)
            with suppress(OSError):
                display.start()
                self._display = display


def _console() -> Any:
    """Return a rich console on the standard error stream, or None where nobody watches it."""
    from rich.console import Console

    class Bystander(Console):
        def on_broken_pipe(self) -> None:
            """Do nothing: rich would close the standard output and exit, and all this shows is a bar."""

    console = Bystander(stderr=True)
    # not console.is_terminal: settings such as FORCE_COLOR make it true for log files
    watched = console.is_jupyter or (sys.stderr is not None and sys.stderr.isatty())
    return console if watched else None
