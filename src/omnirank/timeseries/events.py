"""What happens at a time (events), and what lasts from one time to another (states); both by kind."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataWarning
from omnirank.core.plurals import counted
from omnirank.core.suggestions import did_you_mean
from omnirank.data.containers import as_array
from omnirank.data.notes import caller_outside
from omnirank.timeseries.times import check_same_kind, read_times

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
