"""Numbers that users give as parameters."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from omnirank.core.errors import ParameterError

__all__ = ["check_number"]

# Counts are kept in 32 bits.
_LARGEST_COUNT = 2**31 - 1


def check_number(
    name: str,
    value: Any,
    domain: str,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    whole: bool = False,
) -> None:
    """Raise a `ParameterError` unless a parameter is a finite number in its domain; a bool is not a number.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : anything
        What was given.
    domain : str
        The domain in words.
    least, above, most : float
        The value is at least, above, and at most these.
    whole : bool
        Whether it must be an integer.

    Examples
    --------
    >>> from omnirank.core.given import check_number
    >>> check_number("min_samples_leaf", float("nan"), "a number above 0", above=0)
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: min_samples_leaf=nan: give a number above 0
    """
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if fits and (isinstance(value, Integral) or math.isfinite(value)):
        fits = least <= value <= most and value > above and abs(value) <= (_LARGEST_COUNT if whole else 1e300)
        fits = fits and (not whole or isinstance(value, Integral))
    else:
        fits = False
    if not fits:
        raise ParameterError(f"{name}={value!r}: give {domain}")
