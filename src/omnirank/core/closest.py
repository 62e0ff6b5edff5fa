"""Which known name was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return which known name was probably meant, in words; nothing where none is similar.

    Examples
    --------
    >>> from omnirank.core.closest import did_you_mean
    >>> did_you_mean("parameter", ["parameters", "grid"]), did_you_mean("x", ["parameters"])
    (" (did you mean 'parameters'?)", '')
    """
    close = get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
