"""Many cells of a block of text at once: spans of bytes become numbers or codes without a Python loop.

A cell is the span ``data[start:end]``; the byte at ``end`` must be a separator. Whatever is not plain is
left to the exact reader: the functions return None then, they never guess.
"""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd

from omnirank.data.table import LARGEST_EXACT

_QUESTION = ord("?")
_BLANK = ord(" ")
_NUMBER_BYTES = b"0123456789+-.eE? \n"
_MANY_DIGITS = re.compile(rb"[0-9]{16}")
_MOST_BLANKS = 32
_MOST_LEVEL_BYTES = 64
# Exact reading of decimal numbers is the default of pandas from 3.1 on, where the option is deprecated.
EXACT_NUMBERS: dict[str, str] = {}
if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):  # pragma: no cover
    EXACT_NUMBERS["float_precision"] = "round_trip"


def trim(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the spans without the blanks at both ends; None where a cell has very many."""
    starts, ends = starts.copy(), ends.copy()
    for _ in range(_MOST_BLANKS):
        before = (data[starts] == _BLANK) & (starts < ends)
        after = (data[ends - 1] == _BLANK) & (starts < ends) & ~before
        if not before.any() and not after.any():
            return starts, ends
        starts += before
        ends -= after
    return None


def parse_floats(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
    """Return the numbers of ascending spans, NaN for ``?``; None when a cell is anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.arff.byte_parsing import parse_floats
    >>> data = np.frombuffer(b"1.5,?,2;", np.uint8)
    >>> parse_floats(data, np.array([0, 4, 6]), np.array([3, 5, 7]))
    array([1.5, nan, 2. ])
    """
    if len(starts) == 0:
        return np.empty(0)
    lengths = ends - starts
    if lengths.min() < 1:
        return None
    values = read_column(_one_a_line(data, starts, ends))
    if values is None or len(values) != len(starts):
        return None
    missing = (lengths == 1) & (data[starts] == _QUESTION)
    return values if np.array_equal(~np.isfinite(values), missing) else None


def _one_a_line(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> bytes:
    """The spans with a line end after each, in place of the comma, line end, blank or brace there."""
    runs = np.flatnonzero(starts[1:] != ends[:-1] + 1) + 1
    if len(runs) * 8 < len(starts):
        # Spans that follow each other directly, as numeric columns mostly do, are cut out together.
        text = data.data
        firsts, lasts = starts[np.append(0, runs)].tolist(), ends[np.append(runs - 1, -1)].tolist()
        parts = [text[first:last] for first, last in zip(firsts, lasts, strict=True)]
        return b"\n".join(parts).replace(b",", b"\n") + b"\n"
    edges = np.empty(2 * len(starts) + 2, np.int64)
    edges[0], edges[-1] = 0, len(data)
    edges[1:-1:2], edges[2:-1:2] = starts, ends + 1
    inside = np.zeros(len(edges) - 1, bool)
    inside[1::2] = True
    column = data[np.repeat(inside, np.diff(edges))]
    column[np.cumsum(ends - starts + 1) - 1] = ord("\n")
    return column.tobytes()


def read_column(lines: bytes) -> np.ndarray | None:
    """Return the numbers of a text with one per line, NaN for ``?``; None when some line is no number."""
    if lines.translate(None, _NUMBER_BYTES):
        return None  # pandas would take a column of True and False as numbers too
    try:
        frame = pd.read_csv(
            io.BytesIO(lines),
            header=None,
            dtype=np.float64,
            na_values=["?"],
            keep_default_na=False,
            engine="c",
            quoting=3,
            low_memory=False,
            **EXACT_NUMBERS,  # type: ignore[call-overload]
        )
    except (ValueError, OverflowError):
        return None
    if frame.shape[1] != 1:
        return None
    values = frame[0].to_numpy()
    if (np.abs(values) >= LARGEST_EXACT).any() and _MANY_DIGITS.search(lines):
        return None  # a row by itself, to see whether a whole number is rounded
    return values


def parse_indices(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
    """Return the spans as non-negative integers of at most nine digits; None when one is anything else."""
    lengths = ends - starts
    if len(starts) and (lengths.min() < 1 or lengths.max() > 9):
        return None
    values = np.zeros(len(starts), np.int64)
    for place in range(int(lengths.max(initial=0))):
        inside = lengths > place
        digits = data[starts[inside] + place] - np.uint8(ord("0"))
        if (digits > 9).any():
            return None
        values[inside] = values[inside] * 10 + digits
    return values


class Domain:
    """Declared values of nominal columns, found by their bytes.

    Parameters
    ----------
    levels : tuple of str
        The values; their codes are their positions. A question mark stands for a missing cell, code -1.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.arff.byte_parsing import Domain
    >>> data = np.frombuffer(b"no,?,yes;", np.uint8)
    >>> Domain(("yes", "no")).codes(data, np.array([0, 3, 5]), np.array([2, 4, 8]))
    array([ 1, -1,  0], dtype=int32)
    """

    def __init__(self, levels: tuple[str, ...]) -> None:
        words = [level.encode("utf-8") for level in levels]
        # A level that holds ? or a NUL could be mistaken for a missing cell or for padding.
        self.usable = not any(b"?" in word or b"\0" in word for word in words)
        words.append(b"?")
        codes = np.append(np.arange(len(levels), dtype=np.int32), np.int32(-1))
        self._longest = max(map(len, words))
        self.usable &= self._longest <= _MOST_LEVEL_BYTES
        self._width = next((w for w in (1, 2, 4, 8) if w >= self._longest), self._longest)
        if not self.usable:
            return
        keys = np.zeros((len(words), self._width), np.uint8)
        for row, word in zip(keys, words, strict=True):
            row[: len(word)] = np.frombuffer(word, np.uint8)
        packed = self._pack(keys)
        order = np.argsort(packed)
        self._keys, self._codes = packed[order], codes[order]

    def _pack(self, keys: np.ndarray) -> np.ndarray:
        dtype = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}.get(self._width, f"S{self._width}")
        return np.ascontiguousarray(keys).view(dtype).ravel()

    def codes(self, data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
        """Return the codes of the spans; None when one is not among the levels."""
        lengths = ends - starts
        if not self.usable or (len(starts) and (lengths.min() < 1 or lengths.max() > self._longest)):
            return None
        keys = np.zeros((len(starts), self._width), np.uint8)
        for place in range(self._longest):
            inside = lengths > place
            # Past the end of a short cell the byte is not its own: it must count as padding.
            keys[:, place] = data[np.minimum(starts + place, len(data) - 1)] * inside
        packed = self._pack(keys)
        found = np.minimum(np.searchsorted(self._keys, packed), len(self._keys) - 1)
        return self._codes[found] if np.array_equal(self._keys[found], packed) else None
