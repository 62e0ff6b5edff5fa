"""Date attributes of ARFF: patterns in the notation of Java, values as seconds since 1970-01-01 UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

DEFAULT_DATE_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"

_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_DIRECTIVES = {
    "y": {2: "%y", 4: "%Y"},
    "M": {1: "%m", 2: "%m", 3: "%b", 4: "%B"},
    "d": {1: "%d", 2: "%d"},
    "H": {1: "%H", 2: "%H"},
    "h": {1: "%I", 2: "%I"},
    "m": {1: "%M", 2: "%M"},
    "s": {1: "%S", 2: "%S"},
    "S": {3: "%f"},  # three digits are milliseconds in both notations
    "a": {1: "%p"},
    "E": {1: "%a", 2: "%a", 3: "%a", 4: "%A"},
    "Z": {1: "%z"},
    "X": {1: "%z", 2: "%z", 3: "%z"},
    "D": {1: "%j", 2: "%j", 3: "%j"},
}


def date_reader(pattern: str) -> Callable[[str], float]:
    """Return the function that turns a date in this pattern into seconds since 1970-01-01.

    A date without time zone is taken as UTC. A pattern with letters that are not supported is a ValueError.

    Examples
    --------
    >>> from omnirank.data.arff_dates import date_reader
    >>> date_reader("yyyy-MM-dd HH:mm")("1970-01-02 01:00")
    90000.0
    """
    directives = _strptime_format(pattern)

    def seconds(text: str) -> float:
        try:
            moment = datetime.strptime(text, directives)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return moment.timestamp()
        except (ValueError, OverflowError):
            raise ValueError(f"{text[:60]!r} is not a date in the format {pattern[:60]!r}") from None

    return seconds


def _strptime_format(pattern: str) -> str:
    parts, at = [], 0
    while at < len(pattern):
        match = _PIECE.match(pattern, at)
        if match is None:
            raise ValueError(f"the date format {pattern!r} has an unclosed quote")
        at = match.end()
        piece, letter = match[0], match[2]
        if match[1] is not None:
            parts.append((match[1].replace("''", "'") or "'").replace("%", "%%"))
        elif letter is None:
            parts.append(piece.replace("%", "%%"))
        else:
            directive = _DIRECTIVES.get(letter, {}).get(len(piece))
            if directive is None:
                raise ValueError(f"the date format {pattern!r} uses {piece!r}, which is not supported")
            if directive in parts:
                raise ValueError(f"the date format {pattern!r} has {piece!r} twice")
            parts.append(directive)
    return "".join(parts)
