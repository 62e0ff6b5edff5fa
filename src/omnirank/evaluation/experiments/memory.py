"""How much memory a process may hold."""

from __future__ import annotations

import re
import sys

from omnirank.core.errors import ParameterError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def memory_size(text: str) -> int:
    """Return the number of bytes that a text such as ``"500M"`` or ``"1.5G"`` stands for.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.memory import memory_size
    >>> memory_size("2G"), memory_size("1.5k")
    (2147483648, 1536)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", text.upper())
    if found is None:
        raise ParameterError("memory_limit", text, "it is not an amount of memory: write 500M or 4G")
    return int(float(found[1]) * _UNITS[found[2]])


def limit_memory(n_bytes: int) -> None:
    """Make allocations beyond a number of bytes fail, where the system can do that.

    Where it cannot, there is no limit; `can_limit_memory` says whether it can.
    """
    if not can_limit_memory():
        return
    import resource

    # Linux counts what is written here; the address space would also hold libraries and reserved ranges.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard), hard))


def can_limit_memory() -> bool:
    """Whether this system can limit the memory of a process."""
    try:
        import resource
    except ImportError:
        return False
    return hasattr(resource, "RLIMIT_DATA")
