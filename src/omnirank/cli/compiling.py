"""A word on the terminal while kernels are compiled, which happens once: silence would look like a hang."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from omnirank.cli.output import note

_LOGGER = logging.getLogger("omnirank.compiling")


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def compiling_is_told() -> Iterator[None]:
    """Show what `omnirank.core.compiled` logs: at once on a terminal, elsewhere if it takes long."""
    if sys.stderr is None:
        yield
        return
    before, handler = _LOGGER.level, _Notes()
    if sys.stderr.isatty():
        _LOGGER.setLevel(logging.INFO)
    _LOGGER.addHandler(handler)
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before)
