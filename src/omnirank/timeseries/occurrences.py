"""Events and states by interval: how long ago, how often, for which share of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.timeseries.events import Events, States
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.times import check_same_kind, check_source, read_duration


def time_since(events: Events, grid: Grid, cap: Any) -> np.ndarray:
    r"""Return how long ago an event happened, up to a cap after which it is taken to have no effect.

    .. math:: f(i) = \begin{cases} 0 & \text{an event falls in } [t_i, t_{i+1}) \\
              \min(f(i - 1) + \Delta t, \theta) & \text{otherwise} \end{cases}

    Before the first event it is :math:`\theta`. Events before the grid count as if it went on to the left.

    Parameters
    ----------
    events : Events
        The events; of any kind.
    grid : Grid
        The intervals, of length :math:`\Delta t`.
    cap : float, or str or timedelta
        The largest value :math:`\theta`, such as "1D".

    Returns
    -------
    ndarray of shape (n_intervals,)
        Times in steps of the grid; for dates, in seconds.

    Examples
    --------
    >>> from omnirank.timeseries import Events, Grid, time_since
    >>> time_since(Events([17]), Grid(0, 60, 15), cap=20)
    array([20.,  0., 15., 20.])
    """
    limit = read_duration(cap, "cap", grid.dates)
    times = _times_of(events, grid)
    n, start = len(grid), grid.borders[0]
    last = np.full(n, -np.inf)
    inside = grid.locate(times[times >= start])
    inside = inside[inside >= 0]
    last[inside] = inside
    if n and len(times) and times[0] < start:
        newest = times[np.searchsorted(times, start, side="left") - 1]
        last[0] = max(last[0], np.floor((newest - start) / grid.step))
    return np.minimum((np.arange(n) - np.maximum.accumulate(last)) * grid.step, limit)


def event_counts(events: Events, grid: Grid) -> np.ndarray:
    """Return how many events fall in each interval.

    Parameters
    ----------
    events : Events
        The events; of any kind.
    grid : Grid
        The intervals.

    Returns
    -------
    ndarray of shape (n_intervals,)
        Counts as floats.

    Examples
    --------
    >>> from omnirank.timeseries import Events, Grid, event_counts
    >>> event_counts(Events([5, 0, 5, 10]), Grid(0, 10, 5))
    array([1., 2.])
    """
    places = np.searchsorted(_times_of(events, grid), grid.borders, side="left")
    return np.diff(places).astype(np.float64)


def state_shares(states: States, grid: Grid) -> np.ndarray:
    """Return the share of each interval in which a state held; times with several at once count once.

    Parameters
    ----------
    states : States
        The states; of any kind.
    grid : Grid
        The intervals.

    Returns
    -------
    ndarray of shape (n_intervals,)
        Shares; exactly 0 and 1 where a state held never and always.

    Examples
    --------
    >>> from omnirank.timeseries import Grid, States, state_shares
    >>> state_shares(States([0, 1, 9], [2, 6, 10]), Grid(0, 16, 4))
    array([1.  , 0.5 , 0.25, 0.  ])
    """
    check_source(states, States, "States(starts, ends, kinds)")
    if len(states):
        check_same_kind(states.dates, grid.dates, "the states")
    starts, ends = states.union()
    knots, interval = grid.cut(np.concatenate([starts, ends]))
    # as many have begun as ended, unless one holds from this border on
    begun, ended = (np.searchsorted(times, knots[:-1], side="right") for times in (starts, ends))
    held = np.where(begun > ended, np.diff(knots), 0.0)
    return np.bincount(interval, held, len(grid)) / np.bincount(interval, np.diff(knots), len(grid))


def _times_of(events: Events, grid: Grid) -> np.ndarray:
    check_source(events, Events, "Events(times, kinds)")
    if len(events):
        check_same_kind(events.dates, grid.dates, "the events")
    return events.times
