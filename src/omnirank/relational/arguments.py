"""Checks of what is given as names, paths and mappings, before it is looked into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omnirank.core.errors import ParameterError


def mapping_given(name: str, given: Any, example: str) -> Mapping[Any, Any]:
    """Return a mapping that may be None; an error that shows an example for anything else.

    Examples
    --------
    >>> from omnirank.relational.arguments import mapping_given
    >>> mapping_given("keys", None, "{'movies': 'id'}"), mapping_given("keys", {"movies": "id"}, "{'movies': 'id'}")
    ({}, {'movies': 'id'})
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(name, given, f"give a mapping, such as {example}")
    return given


def names_given(name: str, given: Any, example: str) -> list[Any]:
    """Return one or several names, or None, as a list; an error that shows an example for what is none of these.

    Examples
    --------
    >>> from omnirank.relational.arguments import names_given
    >>> names_given("exclude", "movies", "['movies']"), names_given("exclude", None, "['movies']")
    (['movies'], [])
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise ParameterError(name, given, f"give a list of names, such as {example}")
    return list(given)
