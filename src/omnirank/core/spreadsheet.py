"""Texts in CSV files: what a spreadsheet would run as a formula is made harmless, and read back as it was."""

from __future__ import annotations

import re

# A spreadsheet takes a cell as a formula because of its first character after white space, whatever the width of the
# sign; a tab or a line end may start a new cell. A plain number is not a formula.
_NUMBER = r"'*[+\-](?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?\Z"
_RUNS = re.compile(rf"(?!{_NUMBER})'*(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")


def harmless(text: str) -> str:
    """Return a text as a CSV file holds it: with an apostrophe before it where a spreadsheet would run it.

    Spreadsheets show what follows the apostrophe as text. Texts that look like the result of this function get one
    more, so that `unharmed` brings back every text.

    Examples
    --------
    >>> from omnirank.core.spreadsheet import harmless
    >>> [harmless(text) for text in ("=1+1", "width", "-0.5", "'@x", "'quoted'")]
    ["'=1+1", 'width', '-0.5', "''@x", "'quoted'"]
    """
    return f"'{text}" if _RUNS.match(text) else text


def unharmed(text: str) -> str:
    """Return the text that `harmless` was given.

    Examples
    --------
    >>> from omnirank.core.spreadsheet import harmless, unharmed
    >>> unharmed(harmless("=1+1")), unharmed("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _RUNS.match(text) else text
