"""Time stamps, durations and numbers that belong to them, read and checked; dates are seconds since 1970 (UTC)."""

from __future__ import annotations

from datetime import timedelta
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.text import counted
from omnirank.data.containers import as_array

# Dates are read to microseconds: as seconds in 64 bits, different ones stay different until the year 2242.
_MICROSECONDS = 1_000_000
# Units that are finer than microseconds.
_FINER = ("ns", "ps", "fs", "as")
# Above it, neighbouring integers are the same float.
_LARGEST_EXACT = 2**53


def read_times(values: Any, what: str) -> tuple[np.ndarray, bool]:
    """Return time stamps as floats, and whether they are dates.

    Parameters
    ----------
    values : array-like of numbers, or of dates as datetime64, Timestamp, datetime or ISO 8601 text
        The stamps, in any order. Dates without time zone are taken as UTC; they are read to microseconds.
    what : str
        What they are, for messages.

    Examples
    --------
    >>> from omnirank.timeseries.times import read_times
    >>> read_times(["1970-01-01T00:00:01.5", "1970-01-02"], "times")
    (array([1.50e+00, 8.64e+04]), True)
    >>> read_times([3, 1], "times")
    (array([3., 1.]), False)
    >>> read_times([3, None], "times")
    Traceback (most recent call last):
    omnirank.core.errors.DataError: times: the one at position 1 is missing; leave out what has no time stamp
    """
    array = _as_column(values)
    if array.ndim != 1:
        raise DataError(f"{what} have {array.ndim} dimensions: give a list, one per row")
    if array.dtype.kind == "O":
        array = _plain_numbers(array, what)
    if len(array) == 0 and array.dtype.kind != "M":
        return np.zeros(0), False
    if array.dtype.kind in "iuf":
        return _read_numbers(array, what), False
    if array.dtype.kind in "bcmV":
        raise DataTypeError(f"{what} of type {array.dtype} are no time stamps: give numbers or dates")
    return _read_dates(array, what), True


def read_time(value: Any, name: str, dates: bool) -> float:
    """Return one time stamp as a float; `ParameterError` if it is no date among dates, or no number among numbers."""
    try:
        [time], is_date = read_times([value], name)
    except (DataError, DataTypeError):
        raise ParameterError(name, value, f"choose {_one_of_them(dates)}") from None
    if is_date != dates:
        raise ParameterError(name, value, f"choose {_one_of_them(dates)}, as the other times are")
    return float(time)


def read_duration(value: Any, name: str, dates: bool, *, zero: bool = False) -> float:
    """Return a duration in the unit of the times: their own where they are numbers, seconds where they are dates.

    Parameters
    ----------
    value : float, or str or timedelta
        A number where times are numbers; where they are dates, "10min", "1D" or a timedelta.
    name : str
        Name of the parameter.
    dates : bool
        Whether times are dates.
    zero : bool
        Whether 0 is possible.

    Examples
    --------
    >>> from omnirank.timeseries.times import read_duration
    >>> read_duration("10min", "step", dates=True), read_duration(15, "step", dates=False)
    (600.0, 15.0)
    >>> read_duration(15, "step", dates=True)
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: step=15: times are dates, choose a duration above 0, such as '10min'
    """
    given = _seconds(value) if dates else _plain(value)
    if given is not None and np.isfinite(given) and (given > 0 or (zero and given == 0)):
        return given
    least = "from 0" if zero else "above 0"
    kind = f"dates, choose a duration {least}, such as '10min'" if dates else f"numbers, choose a number {least}"
    raise ParameterError(name, value, f"times are {kind}")


def as_dates(times: np.ndarray) -> np.ndarray:
    """Return seconds since 1970 as datetime64, to microseconds.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.timeseries.times import as_dates
    >>> as_dates(np.array([86400.0]))
    array(['1970-01-02T00:00:00.000000'], dtype='datetime64[us]')
    """
    return np.round(np.asarray(times) * _MICROSECONDS).astype(np.int64).astype("datetime64[us]")


def steps_from(start: float, step: float, numbers: np.ndarray, dates: bool) -> np.ndarray:
    """Return ``start + i * step`` for some i; between dates in whole microseconds, so that equal ones are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.timeseries.times import steps_from
    >>> steps_from(1.0, 0.5, np.arange(3), dates=False)
    array([1. , 1.5, 2. ])
    """
    if not dates:
        return start + step * numbers
    return (round(start * _MICROSECONDS) + round(step * _MICROSECONDS) * numbers) / _MICROSECONDS


def merged(*times: np.ndarray) -> np.ndarray:
    """Return all different times of several arrays in order; in linear time where each of the arrays is in order.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.timeseries.times import merged
    >>> merged(np.array([1.0, 3.0]), np.array([2.0, 3.0]))
    array([1., 2., 3.])
    """
    found = np.concatenate(times)
    found.sort(kind="stable")  # merges runs that are in order already
    return found[np.concatenate([[True], found[1:] > found[:-1]])] if len(found) else found


def check_same_kind(dates: bool, expected: bool, what: str) -> None:
    """Raise an error where dates meet numbers.

    Examples
    --------
    >>> from omnirank.timeseries.times import check_same_kind
    >>> check_same_kind(True, False, "the events")
    Traceback (most recent call last):
    omnirank.core.errors.DataError: the events have dates, where the other times are numbers: convert one of them
    """
    if dates != expected:
        kinds = ("dates", "numbers") if dates else ("numbers", "dates")
        raise DataError(f"{what} have {kinds[0]}, where the other times are {kinds[1]}: convert one of them")


def _as_column(values: Any) -> np.ndarray:
    """Values as an array; of pandas' own types (time zones, integers with NA) cells become objects."""
    own = isinstance(values, pd.Series | pd.Index) and not isinstance(values.dtype, np.dtype)
    return values.to_numpy(dtype=object) if own else as_array(values)


def _plain_numbers(array: np.ndarray, what: str) -> np.ndarray:
    """Numbers out of objects; what holds no number stays as it is."""
    cells = array.tolist()
    numbers = [_is_number(cell) for cell in cells]
    if not any(numbers):
        return array
    missing = [cell is None or cell is pd.NA for cell in cells]
    if not all(number or gone for number, gone in zip(numbers, missing, strict=True)):
        # a NaN among dates is a missing date
        if all(cell != cell for cell, number in zip(cells, numbers, strict=True) if number):
            return array
        raise DataError(f"{what} are numbers in part, and something else in part: give all numbers or all dates")
    return np.array([np.nan if gone else cell for cell, gone in zip(cells, missing, strict=True)])


def _read_numbers(array: np.ndarray, what: str) -> np.ndarray:
    if array.dtype.kind in "iu" and len(array) and max(abs(int(array.min())), abs(int(array.max()))) > _LARGEST_EXACT:
        raise DataError(
            f"{what} are integers above 2**53, which floats do not tell apart: give dates "
            "(np.asarray(times).astype('datetime64[ns]')) or a coarser unit"
        )
    times = array.astype(np.float64)
    _refuse_missing(np.isnan(times), what)
    if np.isinf(times).any():
        raise DataError(f"{what}: the one at position {int(np.argmax(np.isinf(times)))} is infinite")
    return times


def _read_dates(array: np.ndarray, what: str) -> np.ndarray:
    if array.dtype.kind == "M":  # pandas does not know all of NumPy's units
        return _in_seconds(array, what)
    read = pd.to_datetime(pd.Index(array), utc=True, format="ISO8601", errors="coerce")
    strange = np.asarray(read.isna() & ~pd.isna(array))
    if strange.any():
        place = int(np.argmax(strange))
        raise DataError(
            f"{what} are neither numbers nor dates: {array[place]!s} at position {place}; give ISO 8601, such as "
            "2024-01-31 12:00, or read them with pandas.to_datetime first"
        )
    return _in_seconds(read.tz_localize(None).to_numpy(), what)


def _in_seconds(dates: np.ndarray, what: str) -> np.ndarray:
    _refuse_missing(np.isnat(dates), what)
    read = dates.astype("datetime64[us]")
    # NumPy does not tell where a date of a coarser unit has no room
    kept = np.datetime_data(dates.dtype)[0] in _FINER or read.astype(dates.dtype) == dates
    if not np.all(kept):
        raise DataError(
            f"{what}: the one at position {np.argmin(kept)} is too far from 1970 to be kept to microseconds"
        )
    return read.astype(np.int64) / _MICROSECONDS


def check_source(given: Any, kind: type, example: str) -> None:
    """Raise an error where a source is of another type: arrays and frames have to be made one first.

    Examples
    --------
    >>> from omnirank.timeseries import Events, Series
    >>> from omnirank.timeseries.times import check_source
    >>> check_source(Events([1.0]), Series, "Series(times, values)")
    Traceback (most recent call last):
    omnirank.core.errors.DataTypeError: expected a Series of omnirank.timeseries, not Events: ...
    """
    if not isinstance(given, kind):
        found, wanted = type(given), kind.__name__
        name = found.__name__ if found.__name__ != wanted else f"{found.__module__.partition('.')[0]}.{found.__name__}"
        article = "an" if wanted.startswith("E") else "a"
        raise DataTypeError(f"expected {article} {wanted} of omnirank.timeseries, not {name}: {example} makes one")


def _refuse_missing(missing: np.ndarray, what: str) -> None:
    if missing.any():
        place = int(np.argmax(missing))
        raise DataError(f"{what}: the one at position {place} is missing; leave out what has no time stamp")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def _one_of_them(dates: bool) -> str:
    return "a date" if dates else "a number"


def _plain(value: Any) -> float | None:
    return float(value) if _is_number(value) else None


def _seconds(value: Any) -> float | None:
    if not isinstance(value, str | timedelta | np.timedelta64):
        return None
    try:
        return float(pd.Timedelta(value).total_seconds())
    except ValueError:
        return None


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
    >>> from omnirank.timeseries.times import read_values
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
