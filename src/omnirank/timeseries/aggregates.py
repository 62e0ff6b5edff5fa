"""One number per interval from the measurements of a series."""

from __future__ import annotations

import numpy as np

from omnirank.core.parameters import check, choice
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.integrals import integrals
from omnirank.timeseries.series import Series
from omnirank.timeseries.times import check_same_kind, check_source

_OVER_TIME = ("time-mean", "integral")
_OF_MEASUREMENTS = ("mean", "min", "max", "sum", "last", "count")
AGGREGATES = (*_OVER_TIME, *_OF_MEASUREMENTS)


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
