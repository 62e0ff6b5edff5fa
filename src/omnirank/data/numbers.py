"""How people write numbers: decimal commas, thousands separators, limits of detection, units; and what was meant."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from omnirank.core.errors import setting
from omnirank.core.parameters import check, choice
from omnirank.core.text import counted
from omnirank.data.columns import iso_seconds

# Signs that separate thousands, with those that look the same.
_THOUSANDS = {".": r"\.", ",": ",", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}
# (decimal, thousands): how numbers may be written, the likelier first.
_CONVENTIONS = (*((",", ""), (",", "."), (",", " "), (",", "'"), (".", ","), (".", " "), (".", "'")), (".,", ""))
# The mark of quoted cells would count as white space of regular expressions and of str.strip().
_SPACE = " \t\u00a0\u2009\u202f"
_LOOSE = re.compile(
    rf"(?P<sign>[<>]=?|[≤≥])?[{_SPACE}]*(?P<money>[$€£¥])?[{_SPACE}]*"
    rf"(?P<number>[+\-−]?[.,]?\d[\d.,'’{_SPACE}]*?(?:[eE][+-]?\d+)?)[{_SPACE}]*"
    rf"(?P<unit>[%‰$€£¥]|°\w?|±(?=[{_SPACE}]*[\d.,])|[^\W\d_][^\s\d]*(?:/[^\s\d]+)?\d?)?(?:(?<=±)[\d.,{_SPACE}]+)?"
)
_SIGNS = ("<", ">", "≤", "≥")
_LONGEST = 30
# Texts of a column by which its decimal sign is told.
_FIRST_TEXTS = 50
# Fewer texts that look like numbers may be anything.
_LEAST_NUMBERS = 3
# Different texts of a column that are kept for an error.
_MOST_TEXTS = 1000
# A column with more different texts beside its numbers holds names, not marks of missing cells.
_MOST_MARKS = 8
_SHOWN = 6


@lru_cache(64)
def _number(decimal: str, thousands: str) -> re.Pattern[str]:
    sign = _THOUSANDS.get(thousands)
    whole = rf"(?:[1-9]\d{{0,2}}(?:{sign}\d{{3}})+|\d+)" if sign else r"\d+"
    return re.compile(rf"[+\-−]?(?:{whole}(?:[{decimal}]\d*)?|[{decimal}]\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a file are written.

    Parameters
    ----------
    decimal : {".", ",", ".,"}
        The decimal sign; ``".,"``: either.
    thousands : {"", ".", ",", " ", "'"}
        The sign between groups of three digits, if any.
    censored : {"error", "missing", "limit", "half"}
        What ``<0.01`` is: an error, a missing cell, 0.01 or 0.005. Above a limit (``>100``), half is the limit too.
    units : {"error", "drop"}
        What to do with units in cells (``1.2 kg``).
    padded : {"categories", "numbers"}
        What a column is in which all cells are digits, as many in each, some with leading zeros (``007``).

    Examples
    --------
    >>> from omnirank.data.numbers import NumberFormat
    >>> german = NumberFormat(",", ".", censored="half")
    >>> [german.value(text) for text in ("1.234,5", "<0,01", "n.d.")]
    [1234.5, 0.005, None]
    """

    decimal: str = "."
    thousands: str = ""
    censored: str = "error"
    units: str = "error"
    padded: str = "categories"

    def __post_init__(self) -> None:
        check("decimal", self.decimal, choice(".", ",", ".,"))
        check("thousands", self.thousands, choice("", *(sign for sign in _THOUSANDS if sign not in self.decimal)))
        check("censored", self.censored, choice("error", "missing", "limit", "half"))
        check("units", self.units, choice("error", "drop"))
        check("padded", self.padded, choice("categories", "numbers"))

    @cached_property
    def _plain(self) -> re.Pattern[str]:
        return _number(self.decimal, self.thousands)

    def value(self, text: str) -> float | None:
        """Return the number that a text is, NaN where it is taken as missing; None: it is no number."""
        if self._plain.fullmatch(text):
            return self._float(text)
        text = text.strip(_SPACE)
        match = _loose(text)
        if match is None or not self._plain.fullmatch(match["number"]):
            return None
        beside = match["money"] or match["unit"]
        if (match["sign"] and self.censored == "error") or (beside and not (self.units == "drop" and unit_of(text))):
            return None
        value = self._float(match["number"])
        if not match["sign"] or self.censored == "limit":
            return value
        return math.nan if self.censored == "missing" else value / 2 if match["sign"][0] in "<≤" else value

    def _float(self, text: str) -> float:
        if self.thousands:
            text = re.sub(_THOUSANDS[self.thousands], "", text)
        return float(text if text.isascii() and self.decimal == "." else text.replace(",", ".").replace("−", "-"))


def _loose(text: str) -> re.Match[str] | None:
    """A number in any convention, with a sign of censoring before it and a unit after it."""
    return _LOOSE.fullmatch(text.strip(_SPACE)) if len(text) <= _LONGEST else None


def unit_of(text: str, letters: bool = False) -> str:
    """Return the unit or currency of a text that is a number in any convention; nothing where it has none.

    Parameters
    ----------
    text : str
        The text.
    letters : bool
        Whether a single letter at a number counts.

    Examples
    --------
    >>> from omnirank.data.numbers import unit_of
    >>> [unit_of(text) for text in ("1.2 kg", "5%", "$3", "2a")]  # a letter at a number is a name
    ['kg', '%', '$', '']
    """
    match = _loose(text)
    if match is None or not match["unit"]:
        return "" if match is None else match["money"] or ""
    is_apart = len(match["unit"]) > 1 or not match["unit"].isalpha() or match["number"] + match["unit"] not in text
    return match["unit"] if is_apart or letters else ""


def is_censored(text: str) -> bool:
    """Whether a text is a number in any convention with ``<`` or ``>`` before it."""
    match = _loose(text) if text.strip(_SPACE)[:1] in _SIGNS else None
    return match is not None and bool(match["sign"])


def looks_like_number(text: str) -> bool:
    """Whether a text is a number in any convention, with what may stand beside it.

    Examples
    --------
    >>> from omnirank.data.numbers import looks_like_number
    >>> [looks_like_number(text) for text in ("1.234,5", "<3", "5 kg", "31.12.2023", "x1", "040 123 456")]
    [True, True, True, False, False, False]
    """
    match = _loose(text)
    return match is not None and any(_number(*way).fullmatch(match["number"]) for way in _CONVENTIONS)


@dataclass
class TextKinds:
    """What the texts of a column are: numbers, dates or others."""

    format: NumberFormat = field(default_factory=NumberFormat)
    numbers: bool = False
    infinite: bool = False
    dates: bool = True
    units: set[str] = field(default_factory=set)
    n_censored: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    values: list[float | None] = field(default_factory=list)

    def add(self, counts: Mapping[str, int]) -> TextKinds:
        """Take further texts into account, with how often each occurs; ``values`` are the numbers that these are."""
        self.values = [self.format.value(text) for text in counts]
        texts = {text: counts[text] for text, value in zip(counts, self.values, strict=True) if value is None}
        self.numbers |= len(texts) < len(counts)
        self.infinite |= math.inf in self.values or -math.inf in self.values
        if texts:  # quoted ones, which have a mark, are no dates
            self.dates = self.dates and iso_seconds(list(texts)) is not None
        if self.format.units == "drop":
            self.units |= {unit_of(text) for text in counts.keys() - texts.keys()} - {""}
        if self.format.censored != "error":
            self.n_censored += sum(n for text, n in counts.items() if is_censored(text) and text not in texts)
        if len(self.texts) < _MOST_TEXTS:
            self.texts.update(texts)
        return self

    @property
    def kind(self) -> str:
        """Whether the column holds numbers, dates or texts."""
        return "number" if self.numbers or not self.texts else "date" if self.dates else "text"

    @property
    def are_doubtful(self) -> bool:
        """Whether texts stand among numbers, or half of them are numbers written in another way."""
        if self.numbers or not self.texts:
            return bool(self.texts)
        first = dict(islice(self.texts.items(), _FIRST_TEXTS))
        numbers = {text: n for text, n in first.items() if looks_like_number(text)}
        units = {unit_of(text, letters=True) for text in numbers} - {""}
        return sum(numbers.values()) >= max(_LEAST_NUMBERS, sum(first.values()) / 2) and len(units) < 2


class Fault(NamedTuple):
    """What keeps columns from being numbers: in words, the settings that cure it, and the first cell of its kind."""

    problem: str
    cure: dict[str, Any]
    column: str
    text: str


@dataclass
class Diagnosis:
    """What is wrong with columns that hold numbers and other texts, and the settings with which they can be read.

    Parameters
    ----------
    columns : mapping of str to mapping of str to int
        The texts that are no numbers, and how often each occurs, for each column.
    format : NumberFormat
        How numbers are read now.
    points : bool
        Whether other cells have decimal points.

    Examples
    --------
    >>> from omnirank.data.numbers import Diagnosis, NumberFormat
    >>> diagnosis = Diagnosis({"pH": {"7,1": 3, "<0,5": 1}, "Pb": {"n.d.": 2}}, NumberFormat())
    >>> diagnosis.cure
    {'decimal': ',', 'censored': 'half', 'missing': ['n.d.']}
    """

    columns: Mapping[str, Mapping[str, int]]
    format: NumberFormat
    points: bool = False
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._convention()
        self._censored()
        left = self._left(self.columns)
        self._units(left)
        left = self._left(left)
        self._marks(left if left or self.faults else self.columns)  # quoted numbers where quotes mean text

    @property
    def cure(self) -> dict[str, Any]:
        """All settings together."""
        return {name: value for fault in self.faults for name, value in fault.cure.items()}

    def _left(self, columns: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
        """The texts that are no numbers in the format as it is now."""
        value = self.format.value
        left = {name: {text: n for text, n in own.items() if value(text) is None} for name, own in columns.items()}
        return {name: texts for name, texts in left.items() if texts}

    def _where(self, wanted: Iterable[str]) -> tuple[int, str, str]:
        """Number of columns with one of the texts, the first of them and its first text."""
        texts = set(wanted)
        names = [name for name, own in self.columns.items() if texts & own.keys()]
        return len(names), names[0], next(text for text in self.columns[names[0]] if text in texts)

    def _add(self, what: str, texts: Iterable[str], cure: dict[str, Any], more: str = "") -> None:
        n, name, text = self._where(texts)
        self.format = replace(self.format, **cure)
        settings = " and ".join(setting(key, value) for key, value in cure.items())
        where = f"{what} in {counted(n, 'column')} (first {text!r} in {name!r})"
        self.faults.append(
            Fault(f"{where}: {settings} {'read' if len(cure) > 1 else 'reads'} them{more}", cure, name, text)
        )

    def _convention(self) -> None:
        """Find the decimal sign and the thousands separator with which most texts are numbers."""
        now = (self.format.decimal, self.format.thousands)
        parts = {}
        for texts in self.columns.values():
            for text in islice(texts, _FIRST_TEXTS):
                if (match := _loose(text)) and not _number(*now).fullmatch(match["number"]):
                    parts[text] = match["number"]
        ways = [way for way in _CONVENTIONS if "," in way[0] or now[0] == "."]
        counts = {way: sum(bool(_number(*way).fullmatch(part)) for part in parts.values()) for way in ways}
        best = max(counts, key=lambda way: counts[way])
        if not counts[best]:
            return
        more, other = "", (".", ",")
        if best == (",", "") and counts.get(other) == counts[best]:  # 3,500: three and a half, or thousands?
            best, other = (other, best) if self.points else (best, other)
            second = setting("thousands", ",") if best[0] == "," else setting("decimal", ",")
            part = next(iter(parts.values()))
            more = f" (or {second} if {part!r} means {NumberFormat(*other).value(part):g})"
        cure = {key: new for key, new, old in zip(("decimal", "thousands"), best, now, strict=True) if new != old}
        what = "thousands separators" if "decimal" not in cure else "decimal commas"
        what = "decimal points and decimal commas" if best[0] == ".," else what
        self._add(what, [text for text, part in parts.items() if _number(*best).fullmatch(part)], cure, more)

    def _censored(self) -> None:
        texts = [text for own in self.columns.values() for text in own if is_censored(text)]
        if texts and self.format.censored == "error":
            others = " or ".join(setting("censored", way) for way in ("limit", "missing"))
            self._add("values below or above a limit", texts, {"censored": "half"}, f" as half the limit ({others})")

    def _units(self, columns: Mapping[str, Mapping[str, int]]) -> None:
        texts: list[str] = []
        for own in columns.values() if self.format.units == "error" else ():
            units = {text: unit for text in own if looks_like_number(text) and (unit := unit_of(text))}
            if len(set(units.values())) == 1 and 2 * sum(own[text] for text in units) >= sum(own.values()):
                texts += units
        if texts:
            self._add("numbers with units", texts, {"units": "drop"})

    def _marks(self, columns: Mapping[str, Mapping[str, int]]) -> None:
        """Texts that remain: marks of missing cells where they are few and hold no digit, else categories."""
        names = [
            name
            for name, texts in columns.items()
            if len(texts) > _MOST_MARKS
            or any(char.isdigit() for text in texts if not text.startswith("#") for char in text)
        ]
        marks: dict[str, int] = {}
        first = ""
        for name, texts in columns.items():
            if name not in names:
                first = first or name
                marks.update({text: marks.get(text, 0) + n for text, n in texts.items()})
        if marks:
            shown = ", ".join(f"{text!r} ({counted(n, 'cell')})" for text, n in list(marks.items())[:_SHOWN])
            more = f" and {len(marks) - _SHOWN} more" if len(marks) > _SHOWN else ""
            ways = f"{setting('nominal', first)} takes a column as categories, {setting('ignore', first)} leaves it out"
            problem = f"text in columns of numbers: {shown}{more}, first in {first!r}: "
            problem += f"{setting('missing', list(marks))} reads it as missing, {ways}"
            self.faults.append(Fault(problem, {"missing": list(marks)}, first, next(iter(columns[first]))))
        if names:
            text = next(iter(columns[names[0]]))
            problem = f"numbers and text in {counted(len(names), 'column')} (first {text!r} in {names[0]!r}): "
            problem += (
                f"{setting('nominal', names)} takes them as categories, {setting('ignore', names)} leaves them out"
            )
            unit = unit_of(text)
            problem += f"; written without {unit!r}, they are numbers" if unit else ""
            self.faults.append(Fault(problem, {"nominal": names}, names[0], text))
