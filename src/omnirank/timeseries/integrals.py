"""Integrals of a series over the intervals of a grid."""

from __future__ import annotations

import numpy as np

from omnirank.core.parameters import check, share
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.series import Series
from omnirank.timeseries.times import check_same_kind, check_source

# Intervals that are integrated at once. Pieces of more do not fit in the cache, and large arrays go back to the system
# when they are freed, so that each new one costs a fault per page; the result does not depend on it.
_BLOCK = 8192


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
