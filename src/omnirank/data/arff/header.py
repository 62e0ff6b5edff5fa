"""The header of an ARFF file: relation, attributes and their types, up to ``@data``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from omnirank.core.errors import DataError, FileFormatError
from omnirank.data.arff.tokens import EMPTY, TokenError, after_blanks, read_token, split_cells
from omnirank.data.files import duplicates_hint, numbered
from omnirank.data.hierarchy.clus import HierarchicalAttribute, declare_labels

_KEYWORD = re.compile(r"[ \t]*@([A-Za-z]+)(?=[ \t{'\"]|$)[ \t]*")
_NAME_END = re.compile(r"[ \t{]")
_TYPE = re.compile(r"[A-Za-z]+(?=[ \t{'\"%]|$)")
_LEVEL_END = re.compile(r"[,}]")
_REST = re.compile(r"[ \t]*(%.*)?")
_NUMERIC = ("numeric", "real", "integer")
_LINE_END = re.compile(r"$")
_FORMAT_END = re.compile(r"%")
DEFAULT_DATE_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"
_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|'|%")
# Letters of Java's SimpleDateFormat, and what Python writes for them; three digits are milliseconds in both.
_LETTERS = "% yy yyyy M MM MMM MMMM d dd H HH h hh m mm s ss SSS a E EE EEE EEEE Z X XX XXX D DD DDD"
_CODES = "%% %y %Y %m %m %b %B %d %d %H %H %I %I %M %M %S %S %f %p %a %a %a %A %z %z %z %z %j %j %j"
_DIRECTIVES = dict(zip(_LETTERS.split(), _CODES.split(), strict=True))
# Name and entries of a hierarchical attribute to its hierarchy and notes.
Declare = Callable[[str, Sequence[str]], tuple[HierarchicalAttribute, tuple[str, ...]]]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One declared column.

    Parameters
    ----------
    name, kind : str
        Name, and one of ``content.KINDS``.
    levels : tuple of str or None
        Declared values of a nominal attribute.
    to_seconds : callable or None
        Reads the values of a date attribute.
    labels : HierarchicalAttribute or None
        The hierarchy of a hierarchical attribute.
    """

    name: str
    kind: str
    levels: tuple[str, ...] | None = None
    to_seconds: Callable[[str], float] | None = None
    labels: HierarchicalAttribute | None = None


def parse_header(
    lines: Iterable[tuple[int, str]],
    path: Path | None = None,
    declare: Declare = declare_labels,
    duplicates: str = "error",
) -> Header:
    """Read (line number, line) pairs up to the line ``@data``.

    Examples
    --------
    >>> from omnirank.data.arff.header import parse_header
    >>> lines = ["@RELATION small", "@attribute 'a b' {x, 'y z'} % a comment", "@data"]
    >>> header = parse_header(enumerate(lines, start=1))
    >>> header.attributes[0].name, header.attributes[0].levels
    ('a b', ('x', 'y z'))
    """
    header = Header(declare, duplicates)
    number = 0
    for number, line in lines:
        try:
            if header.take(line):
                return header
        except TokenError as problem:
            raise FileFormatError(str(problem), path=path, line=number, column=problem.at + 1) from None
        except (DataError, ValueError) as problem:
            raise FileFormatError(str(problem), path=path, line=number) from None
    if number == 0 or not header.seen_keyword:
        what = "the file is empty" if number == 0 else "there is no ARFF header"
        raise FileFormatError(f"{what}: an ARFF file starts with @relation", path=path, line=max(number, 1))
    raise FileFormatError("the file ends before @data", path=path, line=number)


class Header:
    """What an ARFF file declares before its rows."""

    def __init__(self, declare: Declare, duplicates: str) -> None:
        self.declare = declare
        self.duplicates = duplicates
        self.relation: str | None = None
        self.by_name: dict[str, Attribute] = {}
        self.notes: list[str] = []
        self.seen_keyword = False

    @property
    def attributes(self) -> list[Attribute]:
        """The declared columns."""
        return list(self.by_name.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(self.by_name)

    def take(self, line: str) -> bool:
        """Take one line; True when it is ``@data``."""
        stripped = line.strip(" \t")
        if not stripped or stripped.startswith("%"):
            return False
        match = _KEYWORD.match(line)
        keyword = match[1].lower() if match else ""
        at = match.end() if match else 0
        if keyword not in ("relation", "attribute", "data"):
            raise TokenError(
                f"expected @relation, @attribute, @data, a comment or a blank line, found {stripped[:40]!r}",
                len(line) - len(line.lstrip(" \t")),
            )
        self.seen_keyword = True
        if keyword == "attribute":
            self._attribute(line, at)
            return False
        if keyword == "relation":
            if self.relation is not None:
                raise TokenError("@relation is given twice", 0)
            token, at = read_token(line, at, _LINE_END)
            self.relation = token.text
        _expect_end(line, at)
        if keyword == "data" and not self.by_name:
            raise DataError("@data comes before any @attribute")
        if sum(a.kind == "hierarchical" for a in self.attributes) > 1:
            raise DataError("there are two hierarchical attributes: a data set has one label hierarchy")
        return keyword == "data"

    def _attribute(self, line: str, at: int) -> None:
        name, end = read_token(line, at, _NAME_END)
        if not name.text and not name.quoted:
            raise TokenError("@attribute needs a name and a type", at)
        if name.text in self.by_name and self.duplicates == "error":
            raise TokenError(f"the attribute {name.text!r} is declared twice; {duplicates_hint()}", at)
        unique = numbered(name.text, self.by_name)
        self.by_name[unique] = self._typed(unique, line, end)
        if unique != name.text:
            self.notes.append(f"the attribute {name.text!r} is declared again: it is called {unique!r} here")

    def _typed(self, name: str, line: str, at: int) -> Attribute:
        at = after_blanks(line, at)
        if line.startswith("{", at):
            levels, end = _domain(name, line, at + 1)
            _expect_end(line, end)
            return Attribute(name, "nominal", levels)
        match = _TYPE.match(line, at)
        kind = match[0].lower() if match else ""
        end = after_blanks(line, match.end() if match else at)
        if kind == "hierarchical":
            entries = ["" if cell is EMPTY else cell or "?" for cell in split_cells(line[end:])]
            if len(entries) > 1 and not entries[-1]:  # files of CLUS end the list in a comma
                entries.pop()
            labels, notes = self.declare(name, entries)
            self.notes += notes
            return Attribute(name, kind, labels=labels)
        if kind == "date":
            token, end = read_token(line, end, _FORMAT_END)
            _expect_end(line, end)
            return Attribute(name, "date", to_seconds=date_reader(token.text or DEFAULT_DATE_FORMAT))
        if kind == "relational":
            raise TokenError(f"the attribute {name!r} is relational: only flat ARFF is read", at)
        if kind not in (*_NUMERIC, "string", "key"):
            words = line[at:].split()
            what = f"the unknown type {words[0][:40]!r}" if words else "no type"
            raise TokenError(
                f"the attribute {name!r} has {what}: expected numeric, real, integer, string, date, key, "
                "hierarchical or a list {a, b, ...}",
                at,
            )
        _expect_end(line, end)
        return Attribute(name, "numeric" if kind in _NUMERIC else kind)


def _domain(name: str, line: str, at: int) -> tuple[tuple[str, ...], int]:
    """Levels between braces, and the index after the closing one."""
    levels: dict[str, None] = {}
    while True:
        at = after_blanks(line, at)
        if line.startswith("}", at) and not levels:
            return (), at + 1
        level, end = read_token(line, at, _LEVEL_END)
        if not level.text and not level.quoted:
            raise TokenError(f"the attribute {name!r} has an empty value in its list", at)
        if level.text in levels:
            raise TokenError(f"the attribute {name!r} lists the value {level.text!r} twice", at)
        levels[level.text] = None
        end = after_blanks(line, end)
        mark = line[end : end + 1]
        if mark not in (",", "}"):
            problem = "text after the closing quote" if mark else "the list of values is not closed by }"
            raise TokenError(f"the attribute {name!r}: {problem}", end)
        at = end + 1
        if mark == "}":
            return tuple(levels), at


def _expect_end(line: str, at: int) -> None:
    if not _REST.fullmatch(line, at):
        raise TokenError(f"unexpected text {line[at:].strip(' ')[:40]!r}", at)


def date_reader(pattern: str) -> Callable[[str], float]:
    """Return the function that turns a date in this pattern into seconds since 1970-01-01.

    A date without time zone is taken as UTC. A pattern with letters that are not supported is a ValueError.

    Examples
    --------
    >>> from omnirank.data.arff.header import date_reader
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
    def directive(match: re.Match[str]) -> str:
        if match[1] is not None:  # quoted, where two quotes are one
            return (match[1].replace("''", "'") or "'").replace("%", "%%")
        if match[0] not in _DIRECTIVES:
            raise ValueError(f"the date format {pattern!r} uses {match[0]!r}, which is not supported")
        return _DIRECTIVES[match[0]]

    directives = _PIECE.sub(directive, pattern)
    codes = re.findall("%[A-Za-z]", directives.replace("%%", ""))
    if len(set(codes)) < len(codes):
        raise ValueError(f"the date format {pattern!r} names a part of a date twice")
    return directives
