"""Numbers for people: the same decimals in a column, as many as count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


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
    >>> from omnirank.core.decimals import numbers
    >>> numbers([0.123456, 0.05]), numbers([1797.2, 3.0])
    (['0.1235', '0.0500'], ['1797', '3'])
    >>> numbers([196.8, 0.0], beside=[1.5, 0.04]), numbers([1.5, 0.04], beside=[196.8, 0.0])
    (['196.800', '0.000'], ['1.500', '0.040'])
    >>> numbers([-3.1, -0.0001])
    ['-3.100', '0.000']
    """
    found = [float(value) for value in values]
    decimals = _decimals(found)
    if decimals is None:
        return [f"{value:.4g}" for value in found]
    decimals = max(decimals, _decimals([float(value) for value in beside]) or 0)
    return [f"{value:z.{decimals}f}" for value in found]


def with_error(value: float, error: float) -> str:
    """Return a value and its error, with as many decimals as two digits of the error need.

    Examples
    --------
    >>> from omnirank.core.decimals import with_error
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
