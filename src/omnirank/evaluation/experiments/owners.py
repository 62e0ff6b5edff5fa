"""Who runs a job: a name for this process, and whether the process behind another name is gone."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress


def this_owner() -> str:
    """Return a name that no other process has.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.owners import is_gone, this_owner
    >>> me = this_owner()
    >>> is_gone(me), me == this_owner()
    (False, False)
    """
    return f"{_place()} {os.getpid()} {secrets.token_hex(8)}"


def is_gone(owner: str) -> bool:
    """Whether the process of that name has ended for sure; those of other machines are judged by their lease."""
    place, _, rest = owner.rpartition(" ")[0].rpartition(" ")
    if place != _place() or not rest.isdigit() or os.name != "posix":
        return False  # elsewhere, signal 0 is not a question
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _place() -> str:
    """The machine, and the process name space: containers may share a host name, but not their process numbers."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()}/{space}"
