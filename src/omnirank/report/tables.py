"""Tables of the page: columns with headings, cells as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.plots.significance import SMALLEST_P


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    title : str
        Heading.
    cells : sequence
        Texts or numbers.
    keys : sequence of float, optional
        Numbers by which the column is sorted, where cells are no plain numbers.
    number : bool
        Whether cells are numbers: these are aligned at the right, and the largest comes first.
    bars : sequence of float, optional
        Lengths of bars behind the cells, from 0 to 1.
    hint : str
        What the heading means.
    """

    title: str
    cells: Sequence[Any]
    keys: Sequence[float] | None = None
    number: bool = False
    bars: Sequence[float] | None = None
    hint: str = ""


def rows_of(columns: Sequence[Column]) -> list[list[tuple[Any, float | None, float | None]]]:
    """Return the rows of a table: text, key and bar of each cell."""
    n = len(columns[0].cells)
    return [
        [
            (
                column.cells[i],
                None if column.keys is None else column.keys[i],
                None if column.bars is None else column.bars[i],
            )
            for column in columns
        ]
        for i in range(n)
    ]


def digits(value: float, n: int = 4) -> str:
    """Return a number with so many digits that count, zeros as well; nothing where it is not defined.

    Examples
    --------
    >>> from omnirank.report.tables import digits
    >>> digits(0.123456), digits(0.65, 3), digits(float("nan")), digits(1234567.0), digits(1234.0)
    ('0.1235', '0.650', '', '1.235e+06', '1234')
    """
    return "" if np.isnan(value) else f"{value:#.{n}g}".removesuffix(".")


def probability(p: float) -> str:
    """Return a p value as people write it; below `SMALLEST_P` only that it is below.

    Examples
    --------
    >>> from omnirank.report.tables import probability
    >>> probability(0.03456), probability(0.0041), probability(1.23456e-9), probability(1e-300)
    ('0.0346', '0.00410', '1.2e-09', '<1e-12')
    """
    return f"<{SMALLEST_P:.0e}" if p < SMALLEST_P else digits(p, 2 if p < 0.001 else 3)


def joined(names: Sequence[str]) -> str:
    """Return names in a row, between commas; between semicolons where a name has a comma itself.

    Examples
    --------
    >>> from omnirank.report.tables import joined
    >>> joined(["a", "b"]), joined(["kidney, adult", "b"])
    ('a, b', 'kidney, adult; b')
    """
    return ("; " if any("," in name for name in names) else ", ").join(names)


def listing(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    Examples
    --------
    >>> from omnirank.report.tables import listing
    >>> listing(["a"]), listing(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    if len(names) > 1 and any("," in name for name in names):
        return f"{joined(names[:-1])}; and {names[-1]}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
