"""Whole numbers that floats cannot hold: from 2**53 on, two of them may become one float."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError

if TYPE_CHECKING:
    from omnirank.data.table import Table

# Floats hold every integer up to here; beyond it two integers may become one number.
LARGEST_EXACT = 2**53
_DIGITS = re.compile(r"\s*[+-]?[0-9]{16,309}\s*")


def any_rounded(numbers: Iterable[int]) -> bool:
    """Whether a float would change one of these numbers.

    Examples
    --------
    >>> from omnirank.data.exact_numbers import any_rounded
    >>> any_rounded([2**53, 2**60]), any_rounded([2**53 + 1])
    (False, True)
    """
    return any(not _is_float(abs(number)) for number in numbers)


def any_text_rounded(texts: Iterable[str]) -> bool:
    """Whether a float would change one of the numbers that are written as digits only.

    Examples
    --------
    >>> from omnirank.data.exact_numbers import any_text_rounded
    >>> any_text_rounded(["9007199254740993"]), any_text_rounded(["9.007199254740993e15", "1"])
    (True, False)
    """
    return any_rounded(int(text) for text in texts if _DIGITS.fullmatch(text))


def _is_float(number: int) -> bool:
    return number <= LARGEST_EXACT or number % (1 << (number.bit_length() - 53)) == 0


def rounded_places(integers: np.ndarray) -> np.ndarray:
    """Return the positions of those integers, along the last axis, that floats would change.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.exact_numbers import rounded_places
    >>> rounded_places(np.array([[1, 2**53 + 1], [1, 2]])).tolist()
    [1]
    """
    if integers.dtype.kind not in "iu" or integers.dtype.itemsize < 8 or not integers.size:
        return np.empty(0, np.intp)
    if integers.max() <= LARGEST_EXACT and integers.min() >= -LARGEST_EXACT:
        return np.empty(0, np.intp)
    large = (integers > LARGEST_EXACT) | (integers < -LARGEST_EXACT)
    where = np.unique(np.nonzero(large)[-1])
    return np.array([i for i in where if any_rounded(integers[..., i][large[..., i]].ravel().tolist())], np.intp)


def refuse_rounded(table: Table, what: str = "column") -> None:
    """Raise an error where a column of whole numbers was rounded when it was read.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.exact_numbers import refuse_rounded
    >>> from omnirank.data.table import Table
    >>> refuse_rounded(Table.from_numeric(np.array([[2**53 + 1]])))
    Traceback (most recent call last):
    omnirank.core.errors.DataError: column 'x0' holds whole numbers beyond 2**53, which floats ...
    """
    pairs = zip(table.names, table.levels, strict=True)
    name = next((name for name, levels in pairs if levels is None and name in table.rounded), None)
    if name is not None:
        raise rounded_error(f"{what} {name!r}")


def rounded_error(where: str) -> DataError:
    """Return the error about a column of whole numbers that were rounded."""
    return DataError(
        f"{where} holds whole numbers beyond 2**53, which floats round: if it is an identifier, leave it out or give "
        "texts; if it is a quantity, subtract a number from all of them"
    )
