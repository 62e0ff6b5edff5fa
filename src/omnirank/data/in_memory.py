"""Data that are elsewhere, brought into memory where a method needs all of them at once."""

from __future__ import annotations

from typing import Any


def in_memory(X: Any) -> Any:
    """Return data in parts (`omnirank.ShardedDataset`) as a `Dataset`, if they fit; anything else as it is.

    Examples
    --------
    >>> from omnirank.data.in_memory import in_memory
    >>> in_memory([[1.0]])
    [[1.0]]
    """
    read = getattr(X, "in_memory", None)
    return X if read is None else read()
