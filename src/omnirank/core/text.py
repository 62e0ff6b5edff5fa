"""Words and numbers for people, and what people write: decimals, plurals, slips, amounts of memory, cells."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from omnirank.core.errors import ParameterError


def numbers(values: Iterable[float], beside: Iterable[float] = ()) -> list[str]:
    """Return numbers for people: the same decimals for all, four digits that count in the largest.

    Parameters
    ----------
    values : iterable of float
        The numbers.
    beside : iterable of float
        Numbers in another column that have the same decimals, as many as the column that needs more: a value and its
        error are read together.

    Examples
    --------
    >>> from omnirank.core.text import numbers
    >>> numbers([0.123456, 0.05]), numbers([1797.2, 3.0])
    (['0.1235', '0.0500'], ['1797', '3'])
    >>> numbers([196.8, 0.0], beside=[1.5, 0.04]), numbers([1.5, 0.04], beside=[196.8, 0.0])
    (['196.800', '0.000'], ['1.500', '0.040'])
    >>> numbers([-3.1, -0.0001])
    ['-3.100', '0.000']
    """
    floats = [float(value) for value in values]
    decimals = _decimals(floats)
    if decimals is None:
        return [f"{value:.4g}" for value in floats]
    decimals = max(decimals, _decimals([float(value) for value in beside]) or 0)
    return [f"{value:z.{decimals}f}" for value in floats]


def with_error(value: float, error: float) -> str:
    """Return a value and its error, with as many decimals as two digits of the error need.

    Examples
    --------
    >>> from omnirank.core.text import with_error
    >>> with_error(0.92, 0.0632), with_error(70.21, 2.0), with_error(145.0, 31.0), with_error(0.5, 0.0)
    ('0.920 ± 0.063', '70.2 ± 2.0', '145 ± 31', '0.5000 ± 0.0000')
    """
    decimals = max(0, 1 - math.floor(math.log10(error))) if 1e-8 < error < 1e8 else 4
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _decimals(values: Sequence[float]) -> int | None:
    """Decimals with which the largest number has four digits; None where it is too large, too small or 0."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest == 0 or not 1e-4 <= largest < 1e7:
        return None
    return max(0, 3 - math.floor(math.log10(largest)))


# Rows of the tables in notebooks.
_SHOWN_ROWS = 10
_IRREGULAR = {"leaf": "leaves", "class": "classes", "category": "categories"}


class Shown:
    """Base of results: a short text for people, and in notebooks the first rows of the table where there is one.

    Examples
    --------
    >>> from omnirank.core.text import Shown
    >>> class Result(Shown):
    ...     summary = "2 < 3"
    >>> Result(), Result()._repr_html_()
    (<Result: 2 < 3>, '<p><b>2 &lt; 3</b></p>')
    """

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._in_words()}>"

    def _in_words(self) -> str:
        summary: Any = self.summary  # type: ignore[attr-defined]
        return str(summary() if callable(summary) else summary)

    def _repr_html_(self) -> str:
        title = f"<p><b>{html.escape(self._in_words())}</b></p>"
        if not hasattr(self, "to_frame"):
            return title
        frame = self.to_frame()
        more = len(frame) - _SHOWN_ROWS
        table = frame.head(_SHOWN_ROWS).to_html(index=False, border=0, float_format="{:.4g}".format)
        return f"{title}{table}{f'<p>... {more} more</p>' if more > 0 else ''}"


def counted(number: int, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is 1.

    Examples
    --------
    >>> counted(1, "target"), counted(0, "feature"), counted(2, "leaf")
    ('1 target', '0 features', '2 leaves')
    """
    return f"{number} {what if number == 1 else _IRREGULAR.get(what, f'{what}s')}"


def top_of(k: int) -> str:
    """Return the k best features in words.

    Examples
    --------
    >>> from omnirank.core.text import top_of
    >>> top_of(1), top_of(5)
    ('the best feature', 'the top 5')
    """
    return "the best feature" if k == 1 else f"the top {k}"


def there_are(number: int, what: str) -> str:
    """Return how many there are, as a clause.

    Examples
    --------
    >>> there_are(1, "column"), there_are(3, "column")
    ('there is 1 column', 'there are 3 columns')
    """
    return f"there {'is' if number == 1 else 'are'} {counted(number, what)}"


_MOST_SIMILAR = 3
# What other libraries call parameters.
_HABITS = {"n_estimators": "n_trees", "n_splits": "n_folds", "scoring": "measure"}
# What other libraries have elsewhere.
_ELSEWHERE = {
    "class_weight": "give sample_weight to fit",
    "groups": "give groups to fit",
    "verbose": "use om.progress()",
}


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return which known name was probably meant, in words; nothing where none is similar.

    Examples
    --------
    >>> from omnirank.core.text import did_you_mean
    >>> did_you_mean("parameter", ["parameters", "grid"]), did_you_mean("x", ["parameters"])
    (" (did you mean 'parameters'?)", '')
    """
    close = _close(str(name), known, 1)
    elsewhere = _ELSEWHERE.get(str(name))
    return f" (did you mean {close[0]!r}?)" if close else f" ({elsewhere})" if elsewhere else ""


def _close(name: str, known: Iterable[str], n: int) -> list[str]:
    """The names that differ in case only, or in a unit after the name; else those that look alike or mean the same."""
    text = name.casefold()
    text = _HABITS.get(text, text) if _HABITS.get(text) in (known := list(known)) else text
    names = {other.casefold(): other for other in known}
    alike = [names[text]] if text in names else []
    alike = alike or [other for key, other in names.items() if text and re.match(rf"{re.escape(text)}[\W_]", key)]
    return (alike or [names[key] for key in get_close_matches(text, names, n=n)])[:n]


def similar_names(name: str, names: Sequence[str], what: str) -> str:
    """Return the end of an error message about an unknown name: names that look like it, or some names.

    Examples
    --------
    >>> from omnirank.core.text import similar_names
    >>> similar_names("hight", ["Height (m)", "width"], "columns"), similar_names("y", ["height", "width"], "columns")
    ("; did you mean 'Height (m)'?", "; the columns are 'height', 'width'")
    """
    similar = _close(name, names, _MOST_SIMILAR)
    if similar:
        return f"; did you mean {' or '.join(map(repr, similar))}?"
    shown = ", ".join(map(repr, names[:_MOST_SIMILAR]))
    return f"; the {what} are {shown}{f', ... ({len(names)} in all)' if len(names) > _MOST_SIMILAR else ''}"


def files_like(path: str | Path) -> str:
    """Return a hint at the file of the same folder that is probably meant, or nothing."""
    path = Path(path)
    return did_you_mean(path.name, [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else [])


def supervision_lines(model: Any) -> list[str]:
    """Return the level of supervision of a fitted model, why it is that one, and the values of the others, in words."""
    reason = getattr(model, "supervision_reason_", None)
    if reason in (None, "all examples are labelled", "there is no target"):
        return []
    lines = [f"supervision {model.supervision_:g}: {reason}"]
    if model.supervision_curve_:
        values = ", ".join(f"{w:g}: {value:.4g}" for w, value in sorted(model.supervision_curve_.items()))
        lines.append(f"values by level of supervision: {values}")
    return lines


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def memory_amount(amount: str | int) -> int:
    """Return the number of bytes that a number, or a text such as ``"500M"`` or ``"1.5G"``, stands for.

    Parameters
    ----------
    amount : str or int
        The amount, above 0.

    Examples
    --------
    >>> from omnirank.core.text import memory_amount
    >>> memory_amount("2G"), memory_amount("1.5k"), memory_amount(100)
    (2147483648, 1536, 100)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", str(amount).upper())
    if match is None or isinstance(amount, bool) or not float(match[1]):
        raise ParameterError("max_memory", amount, "it is not an amount of memory: write 500M or 4G")
    return int(float(match[1]) * _UNITS[match[2]])


def amount_in_words(amount: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> from omnirank.core.text import amount_in_words
    >>> amount_in_words(3 * 2**29), amount_in_words(2**19)
    ('1.5 GB', '0.5 MB')
    """
    unit, name = (2**30, "GB") if amount >= 2**30 else (2**20, "MB")
    return f"{amount / unit:.3g} {name}"


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
    >>> from omnirank.core.text import harmless
    >>> [harmless(text) for text in ("=1+1", "width", "-0.5", "'@x", "'quoted'")]
    ["'=1+1", 'width', '-0.5', "''@x", "'quoted'"]
    """
    return f"'{text}" if _RUNS.match(text) else text


def unharmed(text: str) -> str:
    """Return the text that `harmless` was given.

    Examples
    --------
    >>> from omnirank.core.text import harmless, unharmed
    >>> unharmed(harmless("=1+1")), unharmed("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _RUNS.match(text) else text
