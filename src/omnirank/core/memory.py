"""Amounts of memory as users write them."""

from __future__ import annotations

import re

from omnirank.core.errors import ParameterError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def memory_amount(amount: str | int, name: str = "memory_limit") -> int:
    """Return the number of bytes that a number, or a text such as ``"500M"`` or ``"1.5G"``, stands for.

    Parameters
    ----------
    amount : str or int
        The amount, above 0.
    name : str
        What the parameter is called in an error.

    Examples
    --------
    >>> from omnirank.core.memory import memory_amount
    >>> memory_amount("2G"), memory_amount("1.5k"), memory_amount(100)
    (2147483648, 1536, 100)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", str(amount).upper())
    if found is None or isinstance(amount, bool) or not float(found[1]):
        raise ParameterError(name, amount, "it is not an amount of memory: write 500M or 4G")
    return int(float(found[1]) * _UNITS[found[2]])


def amount_in_words(amount: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> from omnirank.core.memory import amount_in_words
    >>> amount_in_words(3 * 2**29), amount_in_words(2**19)
    ('1.5 GB', '0.5 MB')
    """
    unit, name = (2**30, "GB") if amount >= 2**30 else (2**20, "MB")
    return f"{amount / unit:.3g} {name}"
