"""How much memory a process may hold."""

from __future__ import annotations

import sys


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
