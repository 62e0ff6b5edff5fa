"""Texts that are numbers with something else: a decimal comma, a unit, a sign of a currency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from omnirank.data.table import Levels

# Fewer such texts, or a smaller share of all, may be anything.
_LEAST = 3
_LEAST_SHARE = 0.5
_LONGEST = 20
_WITH_COMMA = re.compile(r"\s*[-+]?\d+(\.\d{3})*,\d+\s*")
_WITH_MORE = re.compile(r"\s*([$€£¥<>~]?)\s*[-+]?\d+(?:\.\d+)?\s*([^\W\d][^\s\d]*(?:/[^\s\d]+)?|%|°\w?)?\s*")


def what_numbers_have(counts: Mapping[str, int], cells: str = "cells") -> str:
    """Return how many texts look like numbers with what, in words; nothing where it is not the case of half of them.

    Parameters
    ----------
    counts : mapping of str to int
        How often each text occurs in a column.
    cells : str
        What is counted, in words.

    Examples
    --------
    >>> from omnirank.data.number_texts import what_numbers_have
    >>> what_numbers_have({"1,5": 2, "2,0": 1, "3,25": 1})
    "4 of 4 cells look like numbers with a comma ('1,5')"
    >>> what_numbers_have({"1.2 kg": 1, "3 kg": 1, "12 kg": 1, "heavy": 1})
    "3 of 4 cells look like numbers with 'kg' ('1.2 kg')"
    >>> what_numbers_have({"red": 5, "blue": 5, "5th": 1})
    ''
    """
    found: Counter[str] = Counter()
    first: dict[str, str] = {}
    for text, count in counts.items():
        kind = _kind(text)
        if kind and count:
            found[kind] += count
            first.setdefault(kind, text)
    n = sum(counts.values())
    kind, count = max(found.items(), key=lambda item: item[1], default=("", 0))
    if count < max(_LEAST, _LEAST_SHARE * n):
        return ""
    return f"{count} of {n} {cells} look like numbers with {kind} ({first[kind]!r})"


def _kind(text: str) -> str:
    """What a number has beside it; nothing where the text is no number, or one without more."""
    if len(text) > _LONGEST:
        return ""
    if _WITH_COMMA.fullmatch(text):
        return "a comma"
    match = _WITH_MORE.fullmatch(text)
    more = "" if match is None else match[1] or match[2] or ""
    return repr(more) if more else ""


def text_counts(levels: Levels, codes: np.ndarray) -> dict[str, int]:
    """Return how often each level that is a text occurs; nothing where a level is none.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.number_texts import text_counts
    >>> text_counts(("a", "b"), np.array([1, 1, -1, 0]))
    {'a': 1, 'b': 2}
    """
    if not all(isinstance(level, str) for level in levels):
        return {}
    counts = np.bincount(codes[codes >= 0].astype(np.intp), minlength=len(levels))
    return dict(zip(map(str, levels), counts.tolist(), strict=True))
