"""What is measured (series), what happens at a time (events), and what lasts from one time to another (states)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, DataWarning
from omnirank.core.text import counted, did_you_mean
from omnirank.data.containers import as_array
from omnirank.data.notes import caller_outside
from omnirank.timeseries.times import check_same_kind, merged, read_duration, read_times, read_values

# Kinds that a warning names.
_MOST_NAMED = 5


class Events:
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

    def __init__(self, times: Any, kinds: Any = None) -> None:
        stamps, self.dates = read_times(times, "times of events")
        self.kinds, codes = _read_kinds(kinds, len(stamps), "event")
        order = np.argsort(stamps, kind="stable")
        self.times, self._codes = stamps[order], codes[order]
        self.times.flags.writeable = False

    def of(self, kind: str) -> Events:
        """Return the events of one kind; none, with a warning, where there is no such kind."""
        chosen = _of_kind(kind, self.kinds, self._codes)
        events = Events.__new__(Events)
        events.times, events.kinds, events.dates = self.times[chosen], (kind,), self.dates
        events._codes = self._codes[chosen] * 0
        return events

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Events: {counted(len(self), 'event')} of {counted(len(self.kinds), 'kind')}>"


class States:
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

    def __init__(self, starts: Any, ends: Any, kinds: Any = None) -> None:
        first, self.dates = read_times(starts, "starts of states")
        last, dates = read_times(ends, "ends of states")
        if len(first) != len(last):
            raise DataError(f"there are {counted(len(first), 'start')} and {counted(len(last), 'end')} of states")
        if len(first):
            check_same_kind(dates, self.dates, "the ends of states")
        if (last < first).any():
            raise DataError(f"the state at position {int(np.argmax(last < first))} ends before it starts")
        self.kinds, codes = _read_kinds(kinds, len(first), "state")
        order = np.lexsort((last, first))
        self.starts, self.ends, self._codes = first[order], last[order], codes[order]
        for array in (self.starts, self.ends):
            array.flags.writeable = False

    def of(self, kind: str) -> States:
        """Return the states of one kind; none, with a warning, where there is no such kind."""
        chosen = _of_kind(kind, self.kinds, self._codes)
        states = States.__new__(States)
        states.starts, states.ends = self.starts[chosen], self.ends[chosen]
        states.kinds, states.dates, states._codes = (kind,), self.dates, self._codes[chosen] * 0
        return states

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
        # as many states have begun as ended, unless one holds
        return (np.searchsorted(starts, times, "right") - np.searchsorted(ends, times, "right")).astype(np.float64)

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        return f"<States: {counted(len(self), 'state')} of {counted(len(self.kinds), 'kind')}>"


def _of_kind(kind: str, kinds: tuple[str, ...], codes: np.ndarray) -> np.ndarray:
    if kind not in kinds:
        # no error: what occurs in one period need not occur in another
        known = "there are " + ", ".join(kinds[:_MOST_NAMED]) + (", ..." if len(kinds) > _MOST_NAMED else "")
        warnings.warn(
            f"nothing is of the kind {kind!r}{did_you_mean(kind, kinds)}; {known if kinds else 'there is nothing'}",
            DataWarning,
            stacklevel=caller_outside(),
        )
    return np.flatnonzero(codes == (kinds.index(kind) if kind in kinds else -1))


def _read_kinds(kinds: Any, n: int, what: str) -> tuple[tuple[str, ...], np.ndarray]:
    """The different kinds, sorted, and the number of the kind of each row."""
    if kinds is None:
        return (what,), np.zeros(n, np.intp)
    given = as_array(kinds)
    if given.shape != (n,):
        raise DataError(f"kinds of shape {given.shape} for {counted(n, what)}: give one per {what}")
    strange = [place for place, kind in enumerate(given.tolist()) if not isinstance(kind, str) or not kind]
    if strange:
        kind = given[strange[0]]
        raise DataError(f"the kind at position {strange[0]} is {kind!r}: give a text for each {what}")
    different, codes = np.unique(given.astype(str), return_inverse=True)
    return tuple(different.tolist()), codes.reshape(-1)


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
        if not known.all():
            stamps, numbers = stamps[known], numbers[known]
        self.times, self.values = _one_value_per_time(stamps, numbers)
        # without a stamp nothing says whether times would be dates
        limited = max_gap is not None and len(known) > 0
        longest = read_duration(max_gap, "max_gap", self.dates) if limited else np.inf
        self.joined = np.diff(self.times) <= longest
        self._freeze()

    @classmethod
    def _of_parts(cls, times: np.ndarray, values: np.ndarray, joined: np.ndarray, dates: bool) -> Series:
        series = cls.__new__(cls)
        series.times, series.values, series.joined, series.dates = times, values, joined, dates
        series._freeze()
        return series

    def _freeze(self) -> None:
        for array in (self.times, self.values, self.joined):
            array.flags.writeable = False

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
        before = np.searchsorted(self.times, times, side="right") - 1
        measured = (before >= 0) & (self.times[np.maximum(before, 0)] == times)
        known = measured | self.known_after(times, before)
        return np.where(known, np.interp(times, self.times, self.values), np.nan)

    def between(self, start: float, end: float) -> Series:
        """Return the part that tells the values from one time to another: what was measured there and beside."""
        first = max(0, int(np.searchsorted(self.times, start, side="right")) - 1)
        last = min(len(self), int(np.searchsorted(self.times, end, side="left")) + 1)
        return Series._of_parts(
            self.times[first:last], self.values[first:last], self.joined[first : last - 1], self.dates
        )

    def known_after(self, times: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
        """Return whether the series is known from each time up to the next measurement."""
        if len(self) < 2:
            return np.zeros(len(times), bool)
        place = np.searchsorted(self.times, times, side="right") - 1 if before is None else before
        last = len(self.joined) - 1
        return (place >= 0) & (place <= last) & self.joined[np.clip(place, 0, last)]

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
    strange = [source for source in sources if not isinstance(source, Series | States)]
    if strange or not series:
        kind = f", not {type(strange[0]).__name__}" if strange else ", one Series at least"
        raise DataTypeError(f"combine takes a function, then Series and States{kind}")
    for source in sources:
        if len(source):
            check_same_kind(source.dates, _dates_of(sources), "some of the sources")
    stamps = merged(*(one.times for one in series))
    inputs = [one.values_at(stamps) if isinstance(one, Series) else one.holds_at(stamps) for one in sources]
    known = ~np.any([np.isnan(values) for values in inputs], axis=0)
    result = np.asarray(function(*(values[known] for values in inputs)), dtype=np.float64)
    if result.shape != (int(known.sum()),):
        raise DataError(f"the formula returned shape {result.shape} for {int(known.sum())} times: it works by element")
    if np.isinf(result).any():
        raise DataError("the formula gives infinite values: let it return NaN where it has no value")
    values = np.full(len(stamps), np.nan)
    values[known] = result
    kept = np.flatnonzero(~np.isnan(values))
    neighbours = np.diff(kept) == 1
    after = np.logical_and.reduce([one.known_after(stamps) for one in series])
    return Series._of_parts(stamps[kept], values[kept], neighbours & after[kept[:-1]], _dates_of(sources))


def _dates_of(sources: tuple[Series | States, ...]) -> bool:
    return next((source.dates for source in sources if len(source)), False)


def _one_value_per_time(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if (times[1:] > times[:-1]).all():
        return times, values
    order = np.lexsort((values, times))  # by value as well, so that the order of rows changes no bit of a mean
    times, values = times[order], values[order]
    first = np.flatnonzero(np.r_[True, times[1:] > times[:-1]])
    counts = np.diff(np.r_[first, len(times)])
    means = np.add.reduceat(values / np.repeat(counts, counts), first)
    # shares of equal values need not add up to them
    return times[first], np.clip(means, values[first], values[first + counts - 1])
