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


def _no_announcement(record: logging.LogRecord) -> bool:
    return not getattr(record, "announces", False)


@contextmanager
def compiling_is_told() -> Iterator[None]:
    """Show what `omnirank.core.compiled` logs where someone watches the error stream; elsewhere only problems."""
    if sys.stderr is None or not sys.stderr.isatty():
        _LOGGER.addFilter(_no_announcement)
        try:
            yield
        finally:
            _LOGGER.removeFilter(_no_announcement)
        return
    before, handler = _LOGGER.level, _Notes()
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.addHandler(handler)
    try:
        yield
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(before)
