"""Where the table of a text file starts: its separator, titles above it, and the rows that hold the names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Container, Sequence

from omnirank.data.numbers import looks_like_number

# Signs between cells, the likelier first where several divide the rows equally well.
SEPARATORS = "\t;|,"
# Of a title with all separators of the table, only so many cells at the start are filled.
_TITLE_CELLS = 2
# Lines in which numbers are counted, and rows among which that of the names is looked for.
_LOOKED_AT, _FIRST_ROWS = 20, 8
_SUMMARY = re.compile(
    r"(?i)(mean|average|avg|median|sum|total|std|sd|min|max|minimum|maximum|mittelwert|summe|source|notes?|legend)\b\.?"
    r"( ?[=:(].*| values?)?|n ?=.*|[*†].*|[^=:]+ ?[=:] .*"
)
_NAMES = {"min", "max"}  # of people as well
_MARKS = re.compile(r"(?i)[-–.*x?]+|n\.?\s?/?[ad]\.?|nan|none|null|missing|bdl|<?\s?lod|<?\s?loq|k\.?\s?a\.?")


def separator_of(lines: Sequence[str], usual: str = "") -> str:
    """Return the sign that divides most lines into the same number of cells; nothing where none does.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a file.
    usual : str
        The sign that is taken where it does as well as others.

    Examples
    --------
    >>> from omnirank.data.header import separator_of
    >>> separator_of(["Values, 2023", "site;pH", "a;7,1", "b;7,3"]), separator_of(["select * from x"])
    (';', '')
    >>> separator_of(["site  pH  T", "a  7.1 12", "b 7.3  9"])
    ' '
    """
    scores = dict.fromkeys(SEPARATORS, 0)
    for sign in scores:
        sizes = Counter(len(cells) for cells in csv.reader(lines, delimiter=sign, skipinitialspace=True) if cells)
        scores[sign] = max((n for size, n in sizes.items() if size > 1), default=0)
    likely = [sign for sign in scores if scores[sign] == max(scores.values())]
    best = likely[0]
    if len(likely) > 1:  # the one with more numbers between the signs
        numbers = {sign: _n_numbers(lines[:_LOOKED_AT], sign) + 0.5 * (sign == usual) for sign in likely}
        best = max(numbers, key=lambda sign: numbers[sign]) if scores[usual or ","] == len(lines) else best
    if 2 * scores[best] > len(lines):
        return best
    spaced = [line.split() for line in lines[1:] if line.strip()]  # names may hold spaces, numbers do not
    is_table = len(spaced) > 1 and len({len(cells) for cells in spaced}) == 1 < len(spaced[0])
    return " " if is_table and sum(map(looks_like_number, spaced[0])) > 1 else ""


def _n_numbers(lines: Sequence[str], separator: str) -> int:
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return sum(looks_like_number(cell) for cells in rows for cell in cells)


def n_titles(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows are titles: shorter than the table, or filled in the first cells only.

    More cells are those of a title where a full row of names stands below.

    Examples
    --------
    >>> from omnirank.data.header import n_titles
    >>> n_titles([["Lake Bled"], ["2023", "", ""], ["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]])
    2
    """
    sizes = Counter(map(len, rows))
    size = max(sizes, key=lambda size: (sizes[size], size))
    named = next((n for n in range(min(len(rows) - 1, _FIRST_ROWS)) if _is_full(rows[n], size)), 0)
    for n, cells in enumerate(rows):
        filled = [i for i, cell in enumerate(cells) if cell.strip()]
        is_short = len(cells) < size and not is_short_header(rows[n:], size)
        few = len(filled) <= max(1, size // 3) and size > _TITLE_CELLS
        is_start = n < named and filled == list(range(len(filled))) and len(filled) < size - 1
        if not (is_short or (few and filled and filled[-1] < _TITLE_CELLS) or is_start):
            return n if len(rows) - n > 1 else 0
    return 0


def _is_full(cells: Sequence[str], size: int) -> bool:
    """Whether a row holds a different text for each column."""
    return len({*map(str.strip, cells)} - {""}) == size == len(cells) and not any(map(looks_like_number, cells))


def footers(texts: Sequence[str]) -> list[str]:
    """Return those of the first texts of the last rows below which nothing but sums and remarks stands.

    Examples
    --------
    >>> from omnirank.data.header import footers
    >>> footers(["Bled", "Bohinj", "Mean", "n = 2"])
    ['Mean', 'n = 2']
    """
    n = next((n for n, text in enumerate(reversed(texts)) if not _SUMMARY.fullmatch(text.strip())), 0)
    below = list(texts[len(texts) - n :])
    return below if {*map(str.lower, below)} - _NAMES else []


def is_short_header(rows: Sequence[Sequence[str]], size: int) -> bool:
    """Whether the first row lacks one cell that all others have: R writes no name for the names of rows."""
    if len(rows) < 3 or not len(rows[0]) == size - 1 > 1 or any(len(cells) != size for cells in rows[1:]):
        return False
    numbers = [any(map(looks_like_number, cells)) for cells in rows[1:]]
    return numbers[0] or not any(numbers)  # else the second row holds the names


def joined_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return names that are spread over several rows: merged cells are filled, units stand after the name.

    Examples
    --------
    >>> from omnirank.data.header import joined_names
    >>> joined_names([["Site", "Nutrients", ""], ["", "N", "P"]]), joined_names([["pH", "Temp"], ["", "°C"]])
    (['Site', 'Nutrients N', 'Nutrients P'], ['pH', 'Temp °C'])
    """
    *upper, names = (["" if cell.strip() == "-" else " ".join(cell.split()) for cell in cells] for cells in rows)
    for cells in reversed(upper):
        group, joined = "", []
        for above, below in zip(cells, names, strict=True):
            group = (above if below else "") if above else group if below else ""
            joined.append(" ".join(filter(None, (above or group, below))))
        names = joined
    return names


def starts_with_units(rows: Sequence[Sequence[str]], missing: Container[str] = ()) -> bool:
    """Whether the first row holds text in at least half of the columns that hold numbers from the second row on.

    Examples
    --------
    >>> from omnirank.data.header import starts_with_units
    >>> starts_with_units([["", "°C"], ["Bled", "17,5"], ["Bohinj", "15,1"]])
    True
    """
    numeric = units = 0
    for first, *others in zip(*rows, strict=False):
        known = [cell for cell in others if not _is_mark(cell, missing)]
        if known and all(map(looks_like_number, known)):
            if looks_like_number(first):
                return False
            numeric += 1
            units += not _is_mark(first, missing)
    return units > 0 and 2 * units >= numeric


def _is_mark(cell: str, missing: Container[str]) -> bool:
    return cell in missing or not cell.strip() or _MARKS.fullmatch(cell.strip()) is not None
