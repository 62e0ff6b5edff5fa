"""Features of the intervals of a grid: aggregates and integrals of series, sums over the past, events and states."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.parameters import check, choice, count, share
from omnirank.core.types import ArrayLike
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.sources import Events, Series, States
from omnirank.timeseries.times import check_same_kind, check_source, read_duration, read_values

# Intervals that are integrated at once. Pieces of more do not fit in the cache, and large arrays go back to the system
# when they are freed, so that each new one costs a fault per page; the result does not depend on it.
_BLOCK = 8192
_OVER_TIME = ("time-mean", "integral")
_OF_MEASUREMENTS = ("mean", "min", "max", "sum", "last", "count")
AGGREGATES = (*_OVER_TIME, *_OF_MEASUREMENTS)


def integrals(series: Series, grid: Grid, *, min_known: float = 1.0) -> np.ndarray:
    r"""Integrate a series over each interval by the trapezoid rule.

    .. math:: E(i) = \int_{t_i}^{t_{i+1}} f(t) \, dt

    where :math:`f` is linear between measurements; intervals are cut at the measurements, so that the rule is exact for
    it. Where a part of an interval is unknown, the integral over the known part is scaled up to the whole.

    Parameters
    ----------
    series : Series
        The measurements.
    grid : Grid
        The intervals.
    min_known : float in [0, 1]
        Share of an interval that must be known; where it is less, or nothing is known, the integral is missing.

    Returns
    -------
    ndarray of shape (n_intervals,)
        Integrals, NaN where they are missing; for dates, time is in seconds.

    Notes
    -----
    Areas are summed by interval. Differences of one cumulative integral would lose small values after large ones.

    Examples
    --------
    >>> from omnirank.timeseries import Grid, Series, integrals
    >>> series = Series([0, 2, 8], [1.0, 3.0, 3.0])
    >>> integrals(series, Grid(0, 12, 4))
    array([10., 12., nan])
    >>> integrals(Series([0, 6], [1.0, 1.0]), Grid(0, 12, 4), min_known=0.5)
    array([ 4.,  4., nan])
    """
    check("min_known", min_known, share())
    check_source(series, Series, "Series(times, values)")
    if not len(series):
        return np.full(len(grid), np.nan)
    check_same_kind(series.dates, grid.dates, "the series")
    starts = range(0, len(grid), _BLOCK)
    blocks = [grid.part(first, first + _BLOCK) for first in starts]
    return np.concatenate(
        [_over(series.between(block.borders[0], block.borders[-1]), block, min_known) for block in blocks]
    )


def _over(series: Series, grid: Grid, min_known: float) -> np.ndarray:
    """Integrals over the intervals of a block."""
    knots, interval = grid.cut(series.times)
    widths = np.diff(knots)
    known = series.known_after(knots[:-1], _measured_before(series, grid, interval))
    halves = 0.5 * np.interp(knots, series.times, series.values)
    areas = np.where(known, (halves[:-1] + halves[1:]) * widths, 0.0)
    area = np.bincount(interval, areas, len(grid))
    unknown = np.bincount(interval, np.where(known, 0.0, widths), len(grid))
    covered = np.bincount(interval, np.where(known, widths, 0.0), len(grid))
    # what is unknown is compared, since it is exactly 0 in an interval without gap
    enough = (unknown <= (1 - min_known) * grid.lengths) & (covered > 0)
    scale = np.divide(grid.lengths, covered, out=np.ones(len(grid)), where=(unknown > 0) & (covered > 0))
    return np.where(enough, area * scale, np.nan)


def _measured_before(series: Series, grid: Grid, interval: np.ndarray) -> np.ndarray:
    """Number of the last measurement up to the start of each piece, from -1.

    Only borders are looked up: inside an interval, pieces start at one measurement after the other.
    """
    at_border = np.searchsorted(series.times, grid.borders[:-1], side="right") - 1
    counts = np.bincount(interval, minlength=len(grid))
    first = np.cumsum(counts) - counts
    found: np.ndarray = np.arange(len(interval)) + np.repeat(at_border - first, counts)
    return found


def aggregate(series: Series, grid: Grid, how: str = "time-mean", *, min_known: float = 1.0) -> np.ndarray:
    """Return one number per interval.

    Parameters
    ----------
    series : Series
        The measurements.
    grid : Grid
        The intervals.
    how : str
        ``"integral"`` as in :func:`integrals`, and ``"time-mean"``, the integral over the length of the interval: these
        fill short gaps. ``"mean"``, ``"min"``, ``"max"``, ``"sum"``, ``"last"`` and ``"count"`` of the measurements
        within ``[start, end)``, which do not; without a measurement they are missing, a count is 0.
    min_known : float in [0, 1]
        As in :func:`integrals`; for the first two only.

    Returns
    -------
    ndarray of shape (n_intervals,)
        Aggregates; NaN where they are missing.

    Examples
    --------
    >>> from omnirank.timeseries import Grid, Series, aggregate
    >>> series = Series([0, 1, 4, 12], [0.0, 8.0, 8.0, 8.0])
    >>> grid = Grid(0, 12, 4)
    >>> aggregate(series, grid), aggregate(series, grid, "max")
    (array([7., 8., 8.]), array([ 8.,  8., nan]))
    """
    check("how", how, choice(*AGGREGATES))
    check_source(series, Series, "Series(times, values)")
    if how in _OVER_TIME:
        found = integrals(series, grid, min_known=min_known)
        return found if how == "integral" else found / grid.lengths
    if len(series):
        check_same_kind(series.dates, grid.dates, "the series")
    # measurements are in the order of time: those of an interval are the places from one border to the next
    places = np.searchsorted(series.times, grid.borders, side="left")
    first, counts = places[:-1], np.diff(places)
    if how == "count":
        return counts.astype(np.float64)
    some = counts > 0
    found = np.full(len(grid), np.nan)
    if some.any():
        found[some] = _reduced(series.values[: places[-1]], how, first[some], counts[some])
    return found


def _reduced(values: np.ndarray, how: str, first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    if how == "last":
        return values[first + counts - 1]
    if how == "mean":
        return np.add.reduceat(values, first) / counts
    return {"min": np.minimum, "max": np.maximum, "sum": np.add}[how].reduceat(values, first)


def lag_sums(values: ArrayLike, n_lags: int) -> np.ndarray:
    r"""Return for each interval the sum over the ``n_lags`` intervals before it, without its own value.

    .. math:: H(i) = \sum_{j=1}^{H} E(i - j)

    Parameters
    ----------
    values : array-like of shape (n_intervals,)
        One number per interval of a grid, NaN where it is missing.
    n_lags : int
        Number of past intervals, :math:`H`.

    Returns
    -------
    ndarray of shape (n_intervals,)
        Sums; missing where one of the values is, and in the first ``n_lags`` intervals.

    Notes
    -----
    Sums of 2, 4, 8, ... values are made from sums of half as many: log2(H) additions per interval and no subtraction,
    so that neither missing values nor large ones have an effect beyond their window.

    Examples
    --------
    >>> from omnirank.timeseries import lag_sums
    >>> lag_sums([1.0, 2.0, 4.0, 8.0], 2)
    array([nan, nan,  3.,  6.])
    """
    check("n_lags", n_lags, count(1))
    block = read_values(values, "values")
    sums = np.zeros(len(block))  # of the intervals i - taken, ..., i - 1
    taken, size, left = 0, 1, int(n_lags)
    while left and taken < len(block):
        if left & 1:
            sums += _shifted(block, taken + 1)
            taken += size
        block = block + _shifted(block, size)
        size, left = 2 * size, left >> 1
    return sums  # all missing where there are no more intervals than lags


def _shifted(values: np.ndarray, by: int) -> np.ndarray:
    """Values of ``by`` intervals before; missing at the start."""
    moved = np.full(len(values), np.nan)
    moved[by:] = values[: max(0, len(values) - by)]
    return moved


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
