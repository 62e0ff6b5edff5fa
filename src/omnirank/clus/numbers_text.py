"""Numbers and headings as CLUS writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable


def clus_number(value: float, digits: int = 4) -> str:
    """Return a number: from 1 on with that many decimals at most, below with a power of ten.

    Examples
    --------
    >>> from omnirank.clus.numbers_text import clus_number
    >>> [clus_number(x) for x in (0.0, 2.0, 9.1234567, 0.75, -0.00012)]
    ['0', '2', '9.1235', '7.5000E-1', '-1.2000E-4']
    >>> clus_number(float("nan")), clus_number(float("inf"))
    ('NaN', 'Infinity')
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if abs(value) >= 1:
        return f"{value:.{digits}f}".rstrip("0").rstrip(".")
    mantissa, _, exponent = f"{value:.{digits}E}".partition("E")
    return f"{mantissa}E{int(exponent)}"


def clus_list(values: Iterable[float], digits: int = 4) -> str:
    """Return numbers in square brackets.

    Examples
    --------
    >>> from omnirank.clus.numbers_text import clus_list
    >>> clus_list([1.5, 0.0])
    '[1.5,0]'
    """
    return f"[{','.join(clus_number(value, digits) for value in values)}]"


def heading(text: str, mark: str) -> list[str]:
    """Return an underlined line."""
    return [text, mark * len(text)]
