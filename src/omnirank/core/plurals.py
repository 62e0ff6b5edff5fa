"""Numbers of things in words: 1 target, 2 targets."""

from __future__ import annotations

_IRREGULAR = {"leaf": "leaves", "class": "classes", "category": "categories"}


def counted(number: int, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is 1.

    Examples
    --------
    >>> counted(1, "target"), counted(0, "feature"), counted(2, "leaf")
    ('1 target', '0 features', '2 leaves')
    """
    return f"{number} {what if number == 1 else _IRREGULAR.get(what, f'{what}s')}"
