"""A request to end (SIGTERM, as batch systems send it): in order where there is something to put in order."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TERMINATED = 128 + 15


class Terminated(KeyboardInterrupt):
    """Someone asked the process to end."""


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """Make SIGTERM raise `Terminated` in here, so that what is half done is put in order, as Ctrl-C does.

    Elsewhere the system ends the process at once, without waiting for a kernel to return.

    Examples
    --------
    >>> import os, signal
    >>> from omnirank.cli.ending import Terminated, ending_on_sigterm
    >>> try:
    ...     with ending_on_sigterm():
    ...         signal.raise_signal(signal.SIGTERM)
    ... except Terminated:
    ...     print("in order")
    in order
    """

    def end(number: int, frame: Any) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # signals belong to the main thread
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
