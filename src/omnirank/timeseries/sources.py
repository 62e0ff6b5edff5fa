"""Time stamps as users write them, the grid, and what lies on it: series, events and states.

Dates are kept as seconds since 1970 (UTC), read to microseconds: in 64 bits, different ones differ until the year 2242.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from datetime import timedelta
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError, DataWarning, ParameterError
from omnirank.core.text import counted, did_you_mean
from omnirank.data.containers import as_array
from omnirank.data.notes import caller_outside

_MICROSECONDS = 1_000_000
# Above it, neighbouring integers are the same float.
_MOST_INTERVALS = 10**8
_NUMBERS = ("integer", "floating", "mixed-integer-float", "empty")
_DATES = ("datetime64", "datetime", "date", "string")

Self = TypeVar("Self", bound="_OfKinds")


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
    >>> from omnirank.timeseries.sources import read_times
    >>> read_times(["1970-01-01T00:00:01.5", "1970-01-02"], "times")
    (array([1.50e+00, 8.64e+04]), True)
    >>> read_times([3, 1], "times")
    (array([3., 1.]), False)
    >>> read_times([3, None], "times")
    Traceback (most recent call last):
    omnirank.core.errors.DataError: times: the one at position 1 is None; give finite numbers, or dates in ...
    """
    array = values if isinstance(values, pd.Series | pd.Index) else as_array(values)
    if array.ndim != 1:
        raise DataError(f"{what} have {array.ndim} dimensions: give a list, one per row")
    column = pd.Series(array).reset_index(drop=True)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind not in (*_NUMBERS, *_DATES):
        raise DataTypeError(f"{what} of type {kind} are no time stamps: give all numbers or all dates")
    dates = kind in _DATES
    read: Any = (
        column.astype(np.float64) if not dates else pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")
    )
    odd = read.isna() if dates else ~np.isfinite(read)
    if odd.any():
        place = int(np.argmax(odd))
        advice = "give finite numbers, or dates in ISO 8601 (2024-01-31 12:00), and leave out what has no time stamp"
        raise DataError(f"{what}: the one at position {place} is {column[place]}; {advice}")
    if not dates:
        return read.to_numpy(), False
    try:
        return read.dt.as_unit("us").astype(np.int64).to_numpy() / _MICROSECONDS, True
    except ValueError as error:
        raise DataError(f"{what} are too far from 1970 to be kept to microseconds ({error})") from None


def read_time(value: Any, name: str, dates: bool) -> float:
    """Return one time stamp as a float; `ParameterError` if it is no date among dates, or no number among numbers."""
    [time], is_date = read_times([value], name)
    if is_date != dates:
        raise ParameterError(name, value, f"choose {'a date' if dates else 'a number'}, as the other times are")
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
    >>> from omnirank.timeseries.sources import read_duration
    >>> read_duration("10min", "step", dates=True), read_duration(15, "step", dates=False)
    (600.0, 15.0)
    >>> read_duration(15, "step", dates=True)
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: step=15: times are dates, choose a duration above 0, such as '10min'
    """
    duration = float("nan")
    if dates and isinstance(value, str | timedelta | np.timedelta64):
        duration = pd.to_timedelta(value, errors="coerce").total_seconds()  # type: ignore[call-overload]  # NumPy's too
    elif not dates and isinstance(value, Real) and not isinstance(value, bool | np.bool_ | np.timedelta64):
        duration = float(value)
    if np.isfinite(duration) and (duration > 0 or (zero and duration == 0)):
        return duration
    least = "from 0" if zero else "above 0"
    kind = f"dates, choose a duration {least}, such as '10min'" if dates else f"numbers, choose a number {least}"
    raise ParameterError(name, value, f"times are {kind}")


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
    >>> from omnirank.timeseries.sources import read_values
    >>> read_values([1, None], "values")
    array([ 1., nan])
    >>> read_values([1.0], "feature 'x'", n=3)
    Traceback (most recent call last):
    omnirank.core.errors.DataError: feature 'x' has shape (1,): give one number per interval, of which there are 3
    """
    array = as_array(values)
    kind = pd.api.types.infer_dtype(array.ravel(), skipna=True)
    if kind not in (*_NUMBERS, "boolean", "decimal"):
        raise DataTypeError(f"{what}: give numbers, not values of type {kind}")
    numbers = array.astype(np.float64)
    if numbers.ndim != 1 or (n is not None and len(numbers) != n):
        there = "" if n is None else f", of which there are {n}"
        raise DataError(f"{what} has shape {numbers.shape}: give one number per {per}{there}")
    if np.isinf(numbers).any():
        raise DataError(
            f"{what}: the one at position {int(np.argmax(np.isinf(numbers)))} is infinite; NaN means missing"
        )
    return numbers


def check_same_kind(dates: bool, expected: bool, what: str) -> None:
    """Raise an error where dates meet numbers.

    Examples
    --------
    >>> from omnirank.timeseries.sources import check_same_kind
    >>> check_same_kind(True, False, "the events")
    Traceback (most recent call last):
    omnirank.core.errors.DataError: the events have dates, where the other times are numbers: convert one of them
    """
    if dates != expected:
        kinds = ("dates", "numbers") if dates else ("numbers", "dates")
        raise DataError(f"{what} have {kinds[0]}, where the other times are {kinds[1]}: convert one of them")


def check_source(source: Any, kind: Any, grid: Grid) -> None:
    """Raise an error where a source is of another type, or has dates where the grid has numbers.

    Examples
    --------
    >>> from omnirank.timeseries import Events, Grid, Series
    >>> from omnirank.timeseries.sources import check_source
    >>> check_source(Events([1.0]), Series, Grid(0, 1, 1))
    Traceback (most recent call last):
    omnirank.core.errors.DataTypeError: expected omnirank.timeseries.Series(times, values), not ...Events
    """
    if not isinstance(source, kind):
        arguments = {Series: "(times, values)", Events: "(times, kinds)", States: "(starts, ends, kinds)"}[kind]
        wanted, given = f"omnirank.timeseries.{kind.__name__}", f"{type(source).__module__}.{type(source).__qualname__}"
        raise DataTypeError(f"expected {wanted}{arguments}, not {given}")
    if len(source):
        check_same_kind(source.dates, grid.dates, f"the {kind.__name__.lower()}")


class Grid:
    """Intervals ``[start + i * step, start + (i + 1) * step)`` that end at ``stop`` at the latest.

    Parameters
    ----------
    start, stop : float or date
        Start of the first interval, and what the last must not pass. Numbers in any unit, or dates (datetime64,
        Timestamp, datetime or text; UTC where there is no time zone).
    step : float, or str or timedelta
        Length of an interval: a number where start and stop are numbers, else "15min" or a timedelta.

    Attributes
    ----------
    borders : ndarray of shape (n_intervals + 1,)
        Where intervals start and end, as numbers; dates as seconds since 1970.
    step : float
        Length of an interval, in seconds for dates.
    dates : bool
        Whether times are dates.

    Examples
    --------
    >>> from omnirank.timeseries import Grid
    >>> grid = Grid("2017-08-17", "2017-08-18", "15min")
    >>> grid
    <Grid: 96 intervals from 2017-08-17T00:00:00, step 900 s>
    >>> Grid(0, 10, 4).borders
    array([0., 4., 8.])
    """

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        [first], self.dates = read_times([start], "start")
        last = read_time(stop, "stop", self.dates)
        self.step = read_duration(step, "step", self.dates)
        if last <= first:
            raise ParameterError("stop", stop, f"it is not after start, {start!r}: are the two exchanged?")
        n = int((last - first) / self.step)
        if n > _MOST_INTERVALS:
            raise ParameterError("step", step, f"this makes {n} intervals: choose a larger step")
        numbers = np.arange(n + 2)
        if self.dates:  # in whole microseconds, so that equal dates are equal numbers
            borders = (round(first * _MICROSECONDS) + round(self.step * _MICROSECONDS) * numbers) / _MICROSECONDS
        else:
            borders = first + self.step * numbers
        self.borders = borders[borders <= last]
        if len(self.borders) < 2:
            raise ParameterError("stop", stop, "not one interval fits between start and stop: choose a smaller step")
        if not (self.lengths > 0).all():
            raise ParameterError("step", step, "it is too small for times of this size: choose a larger step")

    @property
    def starts(self) -> np.ndarray:
        """Starts of the intervals: numbers, or datetime64 where times are dates."""
        starts = self.borders[:-1]
        return np.round(starts * _MICROSECONDS).astype("datetime64[us]") if self.dates else starts

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of the intervals as their borders give them; the step, up to rounding."""
        return np.diff(self.borders)

    def locate(self, times: np.ndarray) -> np.ndarray:
        """Return the number of the interval in which each time falls; -1 where it is none.

        Parameters
        ----------
        times : ndarray
            Times in any order, dates as seconds since 1970. One at a border belongs to the interval that starts there.

        Examples
        --------
        >>> import numpy as np
        >>> from omnirank.timeseries import Grid
        >>> Grid(0, 10, 5).locate(np.array([0, 5, 4.9, 10, -1]))
        array([ 0,  1,  0, -1, -1])
        """
        places = np.searchsorted(self.borders, times, side="right") - 1
        places[places == len(self)] = -1
        return places

    def cut(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cut the intervals at points: return all borders of the pieces, and the interval of each piece.

        Examples
        --------
        >>> import numpy as np
        >>> from omnirank.timeseries import Grid
        >>> Grid(0, 10, 5).cut(np.array([7.0, 2.0, 5.0, 30.0]))
        (array([ 0.,  2.,  5.,  7., 10.]), array([0, 0, 1, 1]))
        """
        inside = points[(points > self.borders[0]) & (points < self.borders[-1])]
        knots = np.unique(np.concatenate([self.borders, inside]))
        # each border is looked up among the knots, not each knot among the borders: as a rule there are fewer
        first = np.searchsorted(knots, self.borders, side="left")
        return knots, np.repeat(np.arange(len(self)), np.diff(first))

    def __len__(self) -> int:
        return len(self.borders) - 1

    def __repr__(self) -> str:
        first = str(self.starts[0].astype("datetime64[s]")) if self.dates else f"{self.starts[0]:g}"
        unit = " s" if self.dates else ""
        return f"<Grid: {counted(len(self), 'interval')} from {first}, step {self.step:g}{unit}>"


class _OfKinds:
    """Base of what is of several kinds: one code per row, and the arrays that are taken with it."""

    _what: ClassVar[str]
    _arrays: ClassVar[tuple[str, ...]]
    kinds: tuple[str, ...]
    dates: bool

    def _keep(self, kinds: Any, *arrays: np.ndarray) -> None:
        """Note the kinds, and the arrays in the order of time."""
        n, what = len(arrays[0]), self._what
        names = np.full(n, what, object) if kinds is None else as_array(kinds)
        if names.shape != (n,):
            raise DataError(f"kinds of shape {names.shape} for {counted(n, what)}: give one per {what}")
        odd = next((place for place, kind in enumerate(names.tolist()) if not isinstance(kind, str) or not kind), None)
        if odd is not None:
            raise DataError(f"the kind at position {odd} is {names[odd]!r}: give a text for each {what}")
        different, codes = np.unique(names.astype(str), return_inverse=True)
        self.kinds = (what,) if kinds is None else tuple(different.tolist())
        order = np.lexsort(arrays[::-1])
        self._codes = codes.reshape(-1)[order]
        for name, array in zip(self._arrays, arrays, strict=True):
            setattr(self, name, array[order])

    def of(self: Self, kind: str) -> Self:
        """Return what is of one kind; nothing, with a warning, where there is no such kind."""
        if kind not in self.kinds:
            # no error: what occurs in one period need not occur in another
            text = f"nothing is of the kind {kind!r}{did_you_mean(kind, self.kinds)}"
            warnings.warn(text, DataWarning, stacklevel=caller_outside())
        chosen = np.flatnonzero(self._codes == (self.kinds.index(kind) if kind in self.kinds else -1))
        part = copy.copy(self)
        part.kinds, part._codes = (kind,), np.zeros(len(chosen), np.intp)
        for name in self._arrays:
            setattr(part, name, getattr(self, name)[chosen])
        return part

    def __len__(self) -> int:
        return len(self._codes)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), self._what)} of {counted(len(self.kinds), 'kind')}>"


class Events(_OfKinds):
    """What happens at points in time, each of one kind: commands, passages, alarms.

    Parameters
    ----------
    times : array-like of numbers or dates
        Time stamps in any order.
    kinds : array-like of str, optional
        Kind of each event; by default all are of the kind "event".

    Attributes
    ----------
    times : ndarray
        Time stamps in order; dates as seconds since 1970.
    kinds : tuple of str
        The different kinds, sorted.
    dates : bool
        Whether times are dates.

    Examples
    --------
    >>> from omnirank.timeseries import Events
    >>> commands = Events([7, 3, 5], ["ON", "OFF", "ON"])
    >>> commands.kinds, commands.of("ON").times
    (('OFF', 'ON'), array([5., 7.]))
    """

    _what = "event"
    _arrays = ("times",)
    times: np.ndarray

    def __init__(self, times: Any, kinds: Any = None) -> None:
        stamps, self.dates = read_times(times, "times of events")
        self._keep(kinds, stamps)


class States(_OfKinds):
    """What holds from one time to another, ``[start, end)``, each of one kind: pointings, eclipses; they may overlap.

    Parameters
    ----------
    starts, ends : array-like of numbers or dates
        When each state begins and ends.
    kinds : array-like of str, optional
        Kind of each state; by default all are of the kind "state".

    Attributes
    ----------
    starts, ends : ndarray
        Times in the order of the starts; dates as seconds since 1970.
    kinds : tuple of str
        The different kinds, sorted.
    dates : bool
        Whether times are dates.

    Examples
    --------
    >>> from omnirank.timeseries import States
    >>> pointing = States([0, 10, 4], [5, 20, 12], ["EARTH", "EARTH", "NADIR"])
    >>> pointing.kinds, pointing.of("EARTH").ends
    (('EARTH', 'NADIR'), array([ 5., 20.]))
    """

    _what = "state"
    _arrays = ("starts", "ends")
    starts: np.ndarray
    ends: np.ndarray

    def __init__(self, starts: Any, ends: Any, kinds: Any = None) -> None:
        first, self.dates = read_times(starts, "starts of states")
        last, dates = read_times(ends, "ends of states")
        if len(first) != len(last):
            raise DataError(f"there are {counted(len(first), 'start')} and {counted(len(last), 'end')} of states")
        if len(first):
            check_same_kind(dates, self.dates, "the ends of states")
        if (last < first).any():
            raise DataError(f"the state at position {int(np.argmax(last < first))} ends before it starts")
        self._keep(kinds, first, last)

    def union(self) -> tuple[np.ndarray, np.ndarray]:
        """Return starts and ends of the times in which any of the states holds: apart, in order, none empty.

        Examples
        --------
        >>> from omnirank.timeseries import States
        >>> States([0, 2, 9, 7, 8], [3, 5, 9, 8, 9]).union()
        (array([0., 7.]), array([5., 9.]))
        """
        lasting = self.ends > self.starts
        starts, ends = self.starts[lasting], self.ends[lasting]
        if not len(starts):
            return starts, ends
        reached = np.maximum.accumulate(ends)
        new = np.r_[True, starts[1:] > reached[:-1]]
        return starts[new], reached[np.r_[new[1:], True]]

    def holds_at(self, times: np.ndarray) -> np.ndarray:
        """Return 1 where a state holds at a time (a number, or seconds since 1970), 0 where none does."""
        starts, ends = self.union()
        # as many states have started as ended, unless one holds
        return (np.searchsorted(starts, times, "right") - np.searchsorted(ends, times, "right")).astype(np.float64)


class Series:
    """Measurements of one quantity: linear between two that are at most ``max_gap`` apart, unknown elsewhere.

    Parameters
    ----------
    times : array-like of numbers or dates
        Time stamps in any order. Where one comes several times, the mean of its known values counts.
    values : array-like of numbers
        Measurements. Missing ones (NaN, None) are left out: what they leave is a gap like any other.
    max_gap : float, or str or timedelta, optional
        The longest gap that is filled by interpolation, such as "10min"; None: all gaps are.

    Attributes
    ----------
    times, values : ndarray
        Known measurements in the order of time; dates as seconds since 1970.
    joined : ndarray of bool
        Whether the series is known between a measurement and the next.
    dates : bool
        Whether times are dates.

    Examples
    --------
    >>> from omnirank.timeseries import Series
    >>> series = Series([0, 10, 100], [1.0, 2.0, 5.0], max_gap=20)
    >>> series.at([5, 50, 100, 101])
    array([1.5, nan, 5. , nan])
    """

    def __init__(self, times: Any, values: Any, *, max_gap: Any = None) -> None:
        stamps, self.dates = read_times(times, "times")
        numbers = read_values(values, "values", len(stamps), "time stamp")
        known = ~np.isnan(numbers)
        self.times, self.values = _one_value_per_time(stamps[known], numbers[known])
        # without a stamp nothing says whether times would be dates
        limited = max_gap is not None and len(known) > 0
        self.joined = np.diff(self.times) <= (read_duration(max_gap, "max_gap", self.dates) if limited else np.inf)

    def at(self, times: Any) -> np.ndarray:
        """Return the values at some times (numbers or dates, in any order); NaN where the series is unknown.

        Examples
        --------
        >>> from omnirank.timeseries import Series
        >>> Series(["2017-01-01", "2017-01-03"], [1.0, 2.0]).at(["2017-01-02"])
        array([1.5])
        """
        read, dates = read_times(times, "times")
        if len(read) and len(self):
            check_same_kind(dates, self.dates, "the times")
        return self.values_at(read)

    def values_at(self, times: np.ndarray) -> np.ndarray:
        """Return the values as `at` does, for times that are read already."""
        if not len(self):
            return np.full(len(times), np.nan)
        after = np.searchsorted(self.times, times, side="right")
        known = (np.r_[np.nan, self.times][after] == times) | self.known_after(times, after)
        return np.where(known, np.interp(times, self.times, self.values), np.nan)

    def known_after(self, times: np.ndarray, after: np.ndarray | None = None) -> np.ndarray:
        """Return whether the series is known from each time up to the next measurement (whose number is ``after``)."""
        # nothing is known before the first measurement and after the last
        places = np.searchsorted(self.times, times, side="right") if after is None else after
        return np.r_[False, self.joined, False][places]

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        gaps = int((~self.joined).sum())
        return f"<Series: {counted(len(self), 'measurement')}, {counted(gaps, 'gap')}>"


def combine(function: Callable[..., Any], *sources: Series | States) -> Series:
    """Compute a series from several: a formula on what they are at the same time.

    The formula is evaluated at every time stamp of any of the series, between which the result is linear. It is
    unknown where one of the series is, or where the formula gives NaN.

    Parameters
    ----------
    function : callable
        Gets one array per source and returns an array of the same length.
    *sources : Series or States
        At least one series. States are given as 1 where one of them holds and 0 elsewhere; as they add no time
        stamps, a jump takes the time between two measurements.

    Returns
    -------
    Series
        With the union of the time stamps, where all sources are known.

    Examples
    --------
    The power that falls on a surface, by the angle of the Sun and the solar constant, without that in the umbra:

    >>> import numpy as np
    >>> from omnirank.timeseries import Series, States, combine
    >>> angle = Series([0, 1, 2, 3], [0.0, 60.0, 180.0, 60.0])
    >>> constant = Series([0, 3], [600.0, 600.0])
    >>> umbra = States([3], [4])
    >>> combine(lambda a, c, u: np.maximum(np.cos(np.radians(a)), 0) * c * (1 - u), angle, constant, umbra).values
    array([600., 300.,   0.,   0.])
    """
    series = [source for source in sources if isinstance(source, Series)]
    odd = [source for source in sources if not isinstance(source, Series | States)]
    if odd or not series:
        kind = f", not {type(odd[0]).__name__}" if odd else ", one Series at least"
        raise DataTypeError(f"combine takes a function, then Series and States{kind}")
    dates = [source.dates for source in sources if len(source)] or [False]
    for kind_of_time in dates:
        check_same_kind(kind_of_time, dates[0], "some of the sources")
    stamps = np.unique(np.concatenate([one.times for one in series]))
    inputs = [one.values_at(stamps) if isinstance(one, Series) else one.holds_at(stamps) for one in sources]
    known = ~np.any([np.isnan(values) for values in inputs], axis=0)
    result = np.asarray(function(*(values[known] for values in inputs)), dtype=np.float64)
    if result.shape != (int(known.sum()),):
        raise DataError(f"the formula returned shape {result.shape} for {int(known.sum())} times: it works by element")
    if np.isinf(result).any():
        raise DataError("the formula gives infinite values: let it return NaN where it has no value")
    kept = np.flatnonzero(known)[~np.isnan(result)]
    after = np.logical_and.reduce([one.known_after(stamps) for one in series])
    combined = copy.copy(series[0])
    combined.times, combined.values, combined.dates = stamps[kept], result[~np.isnan(result)], dates[0]
    combined.joined = (np.diff(kept) == 1) & after[kept[:-1]]
    return combined


def _one_value_per_time(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if (times[1:] > times[:-1]).all():
        return times, values
    order = np.lexsort((values, times))  # by value as well, so that the order of rows changes no bit of a mean
    same = pd.Series(values[order]).groupby(times[order])
    return np.unique(times), same.mean().clip(same.min(), same.max()).to_numpy()
