"""The grid: consecutive intervals of the same length, each of which becomes an example."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.text import counted
from omnirank.timeseries.times import (
    as_dates,
    check_same_kind,
    merged,
    read_duration,
    read_time,
    read_times,
    steps_from,
)

_MOST_INTERVALS = 10**8


class Grid(PickledWithoutCaches):
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
        try:
            self.dates = read_times([start], "start")[1]
        except (ValueError, TypeError):
            raise ParameterError("start", start, "choose a number or a date") from None
        first, last = read_time(start, "start", self.dates), read_time(stop, "stop", self.dates)
        self.step = read_duration(step, "step", self.dates)
        if last <= first:
            raise ParameterError("stop", stop, f"it is not after start, {start!r}: are the two exchanged?")
        n = _whole_steps(first, last, self.step, self.dates)
        if n < 1:
            raise ParameterError("stop", stop, "not one interval fits between start and stop: choose a smaller step")
        if n > _MOST_INTERVALS:
            raise ParameterError("step", step, f"this makes {n} intervals: choose a larger step")
        self.borders = steps_from(first, self.step, np.arange(n + 1), self.dates)
        if not (np.diff(self.borders) > 0).all():
            raise ParameterError("step", step, "it is too small for times of this size: choose a larger step")
        self.borders.flags.writeable = False

    @property
    def n_intervals(self) -> int:
        """Number of intervals."""
        return len(self.borders) - 1

    @cached_property
    def starts(self) -> np.ndarray:
        """Starts of the intervals: numbers, or datetime64 where times are dates."""
        return as_dates(self.borders[:-1]) if self.dates else self.borders[:-1]

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths of the intervals as their borders give them; the step, up to rounding."""
        return np.diff(self.borders)

    def part(self, first: int, last: int) -> Grid:
        """Return the intervals from one number up to, not with, another."""
        found = Grid.__new__(Grid)
        found.step, found.dates = self.step, self.dates
        found.borders = self.borders[first : last + 1]
        return found

    def interval_of(self, times: Any) -> np.ndarray:
        """Return the number of the interval in which each time falls; -1 where it is none.

        Parameters
        ----------
        times : array-like of numbers or dates
            Times in any order. A time at a border belongs to the interval that starts there.

        Examples
        --------
        >>> from omnirank.timeseries import Grid
        >>> Grid(0, 10, 5).interval_of([0, 5, 4.9, 10, -1])
        array([ 0,  1,  0, -1, -1])
        """
        read, dates = read_times(times, "times")
        if len(read):
            check_same_kind(dates, self.dates, "the times")
        return self.locate(read)

    def locate(self, times: np.ndarray) -> np.ndarray:
        """Return the numbers of intervals as `interval_of` does, for times that are read already."""
        places = np.searchsorted(self.borders, times, side="right") - 1
        places[places == self.n_intervals] = -1
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
        knots = merged(self.borders, inside)
        # each border is looked up among the knots, not each knot among the borders: as a rule there are fewer
        first = np.searchsorted(knots, self.borders, side="left")
        return knots, np.repeat(np.arange(self.n_intervals), np.diff(first))

    def __len__(self) -> int:
        return self.n_intervals

    def __repr__(self) -> str:
        first = str(self.starts[0].astype("datetime64[s]")) if self.dates else f"{self.starts[0]:g}"
        unit = " s" if self.dates else ""
        return f"<Grid: {counted(self.n_intervals, 'interval')} from {first}, step {self.step:g}{unit}>"


def _whole_steps(first: float, last: float, step: float, dates: bool) -> int:
    """How many steps fit; one that ends at the last time up to rounding does."""
    n = max(0, int((last - first) / step))
    ends = steps_from(first, step, np.array([n, n + 1]), dates)
    return n - 1 + int((ends <= last).sum())
