"""Columns chosen by name, position, range or pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.text import similar_names, there_are

ColumnChoice: TypeAlias = str | int | Sequence[str | int]

_RANGE = re.compile(r"([0-9]{1,9}|last)(?:\s*-\s*([0-9]{1,9}|last))?", re.ASCII)
_LAST = re.compile(r"last\s*:\s*([0-9]{1,9})", re.ASCII)


def choose_columns(choice: ColumnChoice, names: Sequence[str], what: str = "columns") -> list[int]:
    r"""Return the positions (from 0) of the chosen columns, in the order chosen, each once.

    A string is, in this order: the exact name of a column; a regular expression after ``re:``; a list of
    choices separated by commas, each of them an exact name, a position from 1 (``3``), a range (``17-30``,
    ``5-last``), the last column (``last``) or several (``last:14``), or a pattern with ``*``, ``?`` or
    ``[]``. An integer is a position from 1. A sequence joins the choices of its members.

    Parameters
    ----------
    choice : str, int or sequence of them
        The columns.
    names : sequence of str
        All column names.
    what : str
        Name of the parameter, for error messages.

    Examples
    --------
    >>> from omnirank.data.column_choice import choose_columns
    >>> names = ["id", "x1", "x2", "y1", "y2"]
    >>> choose_columns("last:2", names), choose_columns("x*", names), choose_columns(r"re:^y\d$", names)
    ([3, 4], [1, 2], [3, 4])
    >>> choose_columns(["id", "2-3"], names)
    [0, 1, 2]
    """
    places = {name: i for i, name in enumerate(names)}
    parts = [choice] if isinstance(choice, str | int | np.integer) else list(choice)
    columns: dict[int, None] = {}
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, str | int | np.integer):
            raise ParameterError(what, part, "give a column name, a position from 1, a range or a pattern")
        columns.update(dict.fromkeys(_choose(part, names, places, what)))
    if not columns:
        raise ParameterError(what, choice, "it chooses no column: leave it out, or name one")
    return list(columns)


def choose_positions(text: str, n_columns: int, what: str) -> list[int]:
    """Return the positions (from 0) that a list of positions and ranges names; never by column name.

    Examples
    --------
    >>> from omnirank.data.column_choice import choose_positions
    >>> choose_positions("1,3-5", 6, "Target")
    [0, 2, 3, 4]
    """
    columns: dict[int, None] = {}
    for part in text.split(","):
        chosen = _by_position(part.strip(), n_columns, what)
        if chosen is None:
            raise ParameterError(what, text, f"{part.strip()!r} is no position or range such as 3 or 17-30")
        columns.update(dict.fromkeys(chosen))
    return list(columns)


def _choose(part: str | int, names: Sequence[str], positions: dict[str, int], what: str) -> Iterable[int]:
    if not isinstance(part, str):
        return [_position(int(part), len(names), what)]
    if part in positions:
        return [positions[part]]
    if part.startswith("re:"):
        try:
            expression = re.compile(part.removeprefix("re:"))
        except re.error as problem:
            raise ParameterError(what, part, f"not a regular expression ({problem})") from None
        return _matching(lambda name: expression.search(name) is not None, part, names, what, "expression")
    pieces = part.split(",")
    if len(pieces) > 1:
        return [i for piece in pieces for i in _choose(piece.strip(), names, positions, what)]
    chosen = _by_position(part.strip(), len(names), what)
    if chosen is not None:
        return chosen
    if any(sign in part for sign in "*?["):
        return _matching(lambda name: fnmatchcase(name, part), part, names, what, "pattern")
    raise ParameterError(what, part, f"there is no such column{similar_names(part, names, 'columns')}")


def _matching(fits: Callable[[str], bool], part: str, names: Sequence[str], what: str, how: str) -> list[int]:
    matches = [i for i, name in enumerate(names) if fits(name)]
    if not matches:
        raise ParameterError(what, part, f"no column name matches this {how}")
    return matches


def _by_position(part: str, n_columns: int, what: str) -> Sequence[int] | None:
    several = _LAST.fullmatch(part)
    if several:
        count = int(several[1])
        if not 1 <= count <= n_columns:
            raise ParameterError(what, part, there_are(n_columns, "column"))
        return range(n_columns - count, n_columns)
    match = _RANGE.fullmatch(part)
    if match is None:
        return None
    ends = [n_columns if end == "last" else int(end) for end in (match[1], match[2] or match[1])]
    first, last = (_position(end, n_columns, what) for end in ends)
    if first > last:
        raise ParameterError(what, part, "the range ends before it starts")
    return range(first, last + 1)


def _position(number: int, n_columns: int, what: str) -> int:
    if not 1 <= number <= n_columns:
        hint = "positions count from 1, the last column is 'last'"
        raise ParameterError(what, number, f"{there_are(n_columns, 'column')}; {hint}")
    return number - 1
