"""Numbers that belong to time stamps or intervals, read and checked in one way."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.plurals import counted
from omnirank.data.containers import as_array


def read_values(values: Any, what: str, n: int | None = None, per: str = "interval") -> np.ndarray:
    """Return a list of numbers as float64, NaN where they are missing; infinite ones are refused.

    Parameters
    ----------
    values : array-like of numbers
        What was given.
    what : str
        What the values are, for messages.
    n : int, optional
        How many there must be.
    per : str
        What there must be one value for.

    Examples
    --------
    >>> from omnirank.timeseries.values import read_values
    >>> read_values([1, None], "values")
    array([ 1., nan])
    >>> read_values([1.0], "feature 'x'", n=3)
    Traceback (most recent call last):
    omnirank.core.errors.DataError: feature 'x' has shape (1,): give one number per interval, of which there are 3
    """
    array = as_array(values)
    if array.dtype.kind in "USMm" or (array.dtype.kind == "O" and any(isinstance(one, str) for one in array.flat)):
        raise DataTypeError(f"{what}: give numbers, not {'dates' if array.dtype.kind in 'Mm' else 'text'}")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"{what}: give numbers ({error})") from None
    if numbers.ndim != 1 or (n is not None and len(numbers) != n):
        there = "" if n is None else f", of which there are {n}"
        raise DataError(f"{what} has shape {numbers.shape}: give one number per {per}{there}")
    infinite = np.isinf(numbers)
    if infinite.any():
        raise DataError(
            f"{what}: {counted(int(infinite.sum()), 'value')} infinite, the first at position "
            f"{int(np.argmax(infinite))}; NaN means missing"
        )
    return numbers
