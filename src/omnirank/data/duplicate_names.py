"""Columns of one name: an error, or numbered where the user says so."""

from __future__ import annotations

from collections.abc import Container, Iterable

from omnirank.core.errors import setting
from omnirank.core.parameters import check, choice


def duplicates_hint() -> str:
    """Return how a second column of the same name is read."""
    return f"{setting('duplicates', 'number')} reads it as a column of its own, called name_2"


def check_duplicates_option(duplicates: str) -> None:
    """Raise unless the option is "error" or "number"."""
    check("duplicates", duplicates, choice("error", "number"))


def numbered(name: str, taken: Container[str]) -> str:
    """Return the name, with the smallest number from 2 on that makes it new where it is taken.

    Examples
    --------
    >>> from omnirank.data.duplicate_names import numbered
    >>> numbered("a", {"a", "a_2"})
    'a_3'
    """
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    return unique


def number_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, repeated ones numbered.

    Examples
    --------
    >>> from omnirank.data.duplicate_names import number_names
    >>> number_names(["a", "b", "a"])
    ('a', 'b', 'a_2')
    """
    unique: dict[str, None] = {}
    for name in names:
        unique[numbered(name, unique)] = None
    return tuple(unique)
