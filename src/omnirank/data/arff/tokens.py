"""Names and values as ARFF writes them: bare or quoted, with backslash escapes."""

from __future__ import annotations

import re
from typing import NamedTuple

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_QUOTED = {"'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'"), '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')}
_CELL_END = re.compile(r"[,\t]")  # one character, and blanks are stripped after: linear on any input
_SEPARATOR = re.compile(r"[ ]*(?:\t[ \t]*)?,[ \t]*|[ ]*\t[ \t]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
_BARE = re.compile(r"[A-Za-z0-9_.:;/+*=<>()\[\]#$&|~^!@-]+", re.ASCII)
_MUST_ESCAPE = re.compile("[\\\\'\"%\x00-\x1f\x7f]")
_NAMED_ESCAPE = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Told from such a text by identity.
EMPTY = " ".join(["an", "empty", "cell"])


class TokenError(ValueError):
    """A token is malformed; the reader adds file and line.

    Parameters
    ----------
    problem : str
        What is wrong.
    at : int
        Index of the character at fault.
    """

    def __init__(self, problem: str, at: int) -> None:
        super().__init__(problem)
        self.at = at


class Token(NamedTuple):
    """A cell or name; a quoted question mark is text, a bare one a missing value."""

    text: str
    quoted: bool

    @property
    def cell(self) -> str | None:
        """The text; None where it is missing, `EMPTY` where there is nothing."""
        if self.quoted:
            return self.text
        return None if self.text == "?" else self.text or EMPTY


def unescape(text: str, at: int = 0) -> str:
    r"""Return what a quoted text stands for; an escaped character of no special meaning is itself.

    Examples
    --------
    >>> from omnirank.data.arff.tokens import unescape
    >>> unescape(r"Hammond\'s \u0041")
    "Hammond's A"
    """

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 1:
            return _CONTROL.get(code, code)
        number = int(code[1:], 16)
        if 0xD800 <= number < 0xE000:
            raise TokenError(f"the escape \\{code} is not a character", at + match.start())
        return chr(number)

    return _ESCAPE.sub(plain, text) if "\\" in text else text


def quote(text: str) -> str:
    r"""Return a name or value as ARFF writes it, quoted where it has to be.

    Examples
    --------
    >>> from omnirank.data.arff.tokens import quote
    >>> quote("GO:0008150"), quote("it's"), quote("?")
    ('GO:0008150', "'it\\'s'", "'?'")
    """
    if _BARE.fullmatch(text):
        return text
    escaped = _MUST_ESCAPE.sub(
        lambda m: _NAMED_ESCAPE.get(m[0]) or (f"\\u{ord(m[0]):04x}" if m[0] < " " or m[0] == "\x7f" else "\\" + m[0]),
        text,
    )
    return f"'{escaped}'"


def after_blanks(line: str, at: int) -> int:
    """Return the place of the first character from there on that is no blank."""
    while line[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def read_token(line: str, start: int, stop: re.Pattern[str]) -> tuple[Token, int]:
    """Return the quoted or bare token at ``start`` and the index after it.

    A bare token ends before the first character that ``stop`` matches, blanks at its end do not count.
    """
    mark = line[start : start + 1]
    if mark in _QUOTED and mark:
        match = _QUOTED[mark].match(line, start)
        if match is None:
            raise TokenError(f"the quote {mark} is not closed", start)
        return Token(unescape(match[1], start + 1), True), match.end()
    end = stop.search(line, start)
    until = len(line) if end is None else end.start()
    text = line[start:until].rstrip(" \t")
    return Token(text, False), start + len(text)


def split_cells(line: str) -> list[str | None]:
    """Return the cells of a row; commas or tabs separate them, blanks around them do not count.

    A cell that is missing is None, one without anything is `EMPTY`.

    Examples
    --------
    >>> from omnirank.data.arff.tokens import split_cells
    >>> split_cells("1.5, 'a, b',?")
    ['1.5', 'a, b', None]
    """
    line = line.strip(" \t")
    if "'" not in line and '"' not in line and "\t" not in line:
        parts = line.split(",")
        if " " in line:
            parts = [part.strip(" ") for part in parts]
        return [Token(part, False).cell for part in parts] if "?" in parts or "" in parts else [*parts]
    cells, at = [], 0
    while True:
        token, at = read_token(line, at, _CELL_END)
        cells.append(token.cell)
        if at >= len(line):
            return cells
        gap = _SEPARATOR.match(line, at)
        if gap is None:
            raise TokenError("text after the closing quote", at)
        at = gap.end()
