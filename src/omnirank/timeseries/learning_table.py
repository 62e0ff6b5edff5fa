"""Features of the intervals of a grid, and the learning table: features by group and targets, one row per interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import TEXT, check, choice, count, share
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike
from omnirank.data.dataset import Dataset
from omnirank.timeseries.sources import (
    Events,
    Grid,
    Series,
    States,
    check_source,
    read_duration,
    read_time,
    read_times,
    read_values,
)

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
    check_source(series, Series, grid)
    if not len(series):
        return np.full(len(grid), np.nan)
    knots, interval = grid.cut(series.times)
    widths = np.diff(knots)
    known = series.known_after(knots[:-1])
    halves = 0.5 * np.interp(knots, series.times, series.values)
    areas = np.where(known, (halves[:-1] + halves[1:]) * widths, 0.0)
    area = np.bincount(interval, areas, len(grid))
    unknown = np.bincount(interval, np.where(known, 0.0, widths), len(grid))
    covered = np.bincount(interval, np.where(known, widths, 0.0), len(grid))
    # what is unknown is compared, since it is exactly 0 in an interval without gap
    enough = (unknown <= (1 - min_known) * grid.lengths) & (covered > 0)
    scale = np.divide(grid.lengths, covered, out=np.ones(len(grid)), where=(unknown > 0) & (covered > 0))
    return np.where(enough, area * scale, np.nan)


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
    check_source(series, Series, grid)
    if how in _OVER_TIME:
        values = integrals(series, grid, min_known=min_known)
        return values if how == "integral" else values / grid.lengths
    # measurements are in the order of time: those of an interval are the places from one border to the next
    places = np.searchsorted(series.times, grid.borders, side="left")
    first, counts = places[:-1], np.diff(places)
    if how == "count":
        return counts.astype(np.float64)
    some, values = counts > 0, np.full(len(grid), np.nan)
    if how == "last":
        values[some] = series.values[places[1:][some] - 1]
    elif some.any():
        reduce = {"min": np.minimum, "max": np.maximum}.get(how, np.add)
        values[some] = reduce.reduceat(series.values[: places[-1]], first[some])
    return values / counts.clip(1) if how == "mean" else values


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

    Examples
    --------
    >>> from omnirank.timeseries import lag_sums
    >>> lag_sums([1.0, 2.0, 4.0, 8.0], 2)
    array([nan, nan,  3.,  6.])
    """
    check("n_lags", n_lags, count(1))
    numbers = read_values(values, "values")
    sums = np.full(len(numbers), np.nan)
    if n_lags < len(numbers):
        sums[n_lags:] = sliding_window_view(numbers, n_lags)[:-1].sum(axis=1)
    return sums


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
    check_source(events, Events, grid)
    start, newest = grid.borders[0], np.full(len(grid), -np.inf)
    before = np.searchsorted(events.times, start, side="left")
    if before:
        newest[0] = np.floor((events.times[before - 1] - start) / grid.step)
    inside = grid.locate(events.times[before:])
    inside = inside[inside >= 0]
    newest[inside] = inside
    return np.minimum((np.arange(len(grid)) - np.maximum.accumulate(newest)) * grid.step, limit)


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
    check_source(events, Events, grid)
    places = np.searchsorted(events.times, grid.borders, side="left")
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
    check_source(states, States, grid)
    knots, interval = grid.cut(np.concatenate(states.union()))
    held = states.holds_at(knots[:-1]) * np.diff(knots)
    return np.bincount(interval, held, len(grid)) / np.bincount(interval, np.diff(knots), len(grid))


def chronological_split(
    times: Any, at: Any, *, gap: Any = None, until: Any = None, length: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows by time, with a gap in which rows are in neither part.

    Neighbours in time are alike. If they are dealt to training and test at random, errors are too small; the gap keeps
    apart those at the border as well.

    Parameters
    ----------
    times : array-like of numbers or dates
        Start of each row, in any order.
    at : float or date
        Rows that start then or later test.
    gap : float, or str or timedelta, optional
        How long before ``at`` training ends; None: no gap.
    until : float or date, optional
        Rows that end later are in no part; None: all later rows test.
    length : float, or str or timedelta, optional
        How long a row lasts, such as the step of the grid; None: no time. Rows that last beyond the end of training are
        in the gap.

    Returns
    -------
    train, test : ndarray of int
        Row numbers, in the old order; each part has one at least.

    Examples
    --------
    >>> from omnirank.timeseries import chronological_split
    >>> chronological_split([0, 1, 2, 3, 4, 5], at=4, gap=1, length=1)
    (array([0, 1, 2]), array([4, 5]))
    """
    starts, dates = read_times(times, "times")
    border = read_time(at, "at", dates)
    pause = 0.0 if gap is None else read_duration(gap, "gap", dates, zero=True)
    lasts = 0.0 if length is None else read_duration(length, "length", dates, zero=True)
    # a row without length that starts when training ends would be in both
    trains = starts + lasts <= border - pause if lasts else starts < border - pause
    tests = starts >= border
    if until is not None:
        tests &= starts + lasts <= read_time(until, "until", dates)
    train, test = np.flatnonzero(trains), np.flatnonzero(tests)
    for rows, name in ((train, "training"), (test, "testing")):
        if not len(rows):
            raise ParameterError("at", at, f"no row is left for {name}: choose another time, or a smaller gap")
    return train, test


class LearningTable:
    """Features in groups, and targets, for each interval of a grid.

    Parameters
    ----------
    grid : Grid
        The intervals: one row each.
    dtype : str
        ``"float32"`` or ``"float64"``, in which features are kept; targets are in float64.

    Examples
    --------
    >>> from omnirank import timeseries as ts
    >>> table = ts.LearningTable(ts.Grid(0, 60, 15))
    >>> table.add_series("temperature", ts.Series([0, 30, 60], [1.0, 5.0, 1.0]), "weather", lags=[1])
    >>> table.add_time_since(ts.Events([20, 35], ["ON", "OFF"]), 120, "commands")
    >>> table.add_target("current", [0.0, 1.0, 1.0, None])
    >>> table
    <LearningTable: 4 intervals, 4 features, 1 target>
    >>> data = table.dataset()
    >>> data.feature_groups["since ON"], data.n_examples
    ('commands', 3)
    >>> data.X.tolist()[1]
    [4.0, 2.0, 120.0, 0.0]
    """

    def __init__(self, grid: Grid, *, dtype: str = "float32") -> None:
        self.grid = grid
        self.dtype = check("dtype", dtype, choice("float32", "float64"))
        self.groups: dict[str, str] = {}
        self._features: dict[str, np.ndarray] = {}
        self._targets: dict[str, np.ndarray] = {}

    # -- features -----------------------------------------------------------------------------------

    def add(self, name: str, values: Any, group: str) -> None:
        """Add a feature.

        Parameters
        ----------
        name : str
            Its name; no other feature or target may have it.
        values : array-like of shape (n_intervals,)
            One number per interval of the grid; NaN or None is missing.
        group : str
            Group of the feature, for grouped importances.
        """
        numbers = self._read(name, values, "feature")
        check("group", group, TEXT)
        with np.errstate(over="ignore"):
            self._features[name] = numbers.astype(self.dtype)
        if np.isinf(self._features[name]).any():
            del self._features[name]
            raise DataError(f"feature {name!r} has values too large for {self.dtype}: make the table with float64")
        self.groups[name] = group

    def add_series(
        self,
        name: str,
        series: Series,
        group: str,
        *,
        how: str = "time-mean",
        lags: Sequence[int] = (),
        min_known: float = 1.0,
    ) -> None:
        """Add an aggregate of a series, and its sums over past intervals, called ``"name, last H"``.

        Parameters
        ----------
        name, group : str
            Name of the feature and its group.
        series : Series
            The measurements.
        how, min_known
            As in :func:`aggregate`.
        lags : sequence of int
            Numbers of past intervals; one feature for each, as in :func:`lag_sums`.
        """
        values = aggregate(series, self.grid, how, min_known=min_known)
        self.add(name, values, group)
        for n_lags in lags:
            self.add(f"{name}, last {n_lags}", lag_sums(values, n_lags), group)

    def add_time_since(self, events: Events, cap: Any, group: str) -> None:
        """Add the time since the last event of each kind, called ``"since KIND"``, as in :func:`time_since`."""
        self._add_kinds("since ", events, Events, lambda own: time_since(own, self.grid, cap), group)

    def add_counts(self, events: Events, group: str) -> None:
        """Add how many events of each kind fall in an interval, called ``"KIND"``: :func:`event_counts`."""
        self._add_kinds("", events, Events, lambda own: event_counts(own, self.grid), group)

    def add_states(self, states: States, group: str) -> None:
        """Add the share of an interval in which a state of each kind held, called ``"KIND"``: :func:`state_shares`."""
        self._add_kinds("", states, States, lambda own: state_shares(own, self.grid), group)

    def _add_kinds(self, prefix: str, source: Any, of: type, values: Callable[[Any], np.ndarray], group: str) -> None:
        check_source(source, of, self.grid)
        for kind in source.kinds:
            self.add(f"{prefix}{kind}", values(source.of(kind)), group)

    # -- targets ------------------------------------------------------------------------------------

    def add_target(self, name: str, values: Any) -> None:
        """Add a numeric target: a series, of which the time-mean counts, or one number per interval.

        Parameters
        ----------
        name : str
            Its name; no other feature or target may have it.
        values : Series or array-like of shape (n_intervals,)
            Where it is unknown, as in gaps of a series that are longer than its ``max_gap``, it is missing.
        """
        given = aggregate(values, self.grid) if isinstance(values, Series) else values
        self._targets[name] = self._read(name, given, "target")

    # -- what comes out -----------------------------------------------------------------------------

    def rows(self, missing_targets: str = "drop") -> np.ndarray:
        """Return the numbers of the intervals that become examples: all, or those whose targets are all known."""
        check("missing_targets", missing_targets, choice("drop", "keep"))
        known = np.ones(len(self.grid), bool)
        if missing_targets == "drop":
            for values in self._targets.values():
                known &= ~np.isnan(values)
        return np.flatnonzero(known)

    def dataset(self, name: str = "time series", *, missing_targets: str = "drop") -> Dataset:
        """Return the table as a data set, with the groups of its features.

        Parameters
        ----------
        name : str
            Name of the data set.
        missing_targets : str
            ``"drop"``: intervals in which a target is missing are left out; ``"keep"``: they stay, unlabelled.
        """
        return self._dataset(self.rows(missing_targets), name)

    def split(
        self, at: Any, *, gap: Any = None, until: Any = None, missing_targets: str = "drop"
    ) -> tuple[Dataset, Dataset]:
        """Return the intervals before a time and those from it on as two data sets.

        Parameters
        ----------
        at, gap, until
            As in :func:`chronological_split`.
        missing_targets : str
            As in :meth:`dataset`.

        Examples
        --------
        >>> from omnirank import timeseries as ts
        >>> table = ts.LearningTable(ts.Grid(0, 100, 10))
        >>> table.add("x", range(10), "numbers")
        >>> train, test = table.split(at=70, gap=20)
        >>> len(train), len(test)
        (5, 3)
        """
        rows = self.rows(missing_targets)
        length = pd.Timedelta(self.grid.step, "s") if self.grid.dates else self.grid.step
        train, test = chronological_split(self.grid.starts[rows], at, gap=gap, until=until, length=length)
        return self._dataset(rows[train], "before"), self._dataset(rows[test], "after")

    def _dataset(self, rows: np.ndarray, name: str) -> Dataset:
        if not self._features:
            raise DataError("the table has no features: add some")
        if not len(rows):
            raise DataError("there is no interval in which all targets are known: keep those with missing targets")
        # columns are written one by one: trees read columns, and only one copy more than the table is in memory
        cells = np.empty((len(rows), len(self._features)), self.dtype, order="F")
        for j, values in enumerate(self._features.values()):
            cells[:, j] = values[rows]
        options: dict[str, Any] = {}
        if self._targets:
            targets = np.column_stack([values[rows] for values in self._targets.values()])
            single = len(self._targets) == 1
            task = "regression" if single else "multi-target-regression"
            options = {"y": targets[:, 0] if single else targets, "task": task, "target_names": list(self._targets)}
        names = list(self._features)
        return Dataset(cells, feature_names=names, feature_groups=self.groups, name=name, **options)

    def _read(self, name: str, values: Any, what: str) -> np.ndarray:
        check("name", name, TEXT)
        if name in self._features or name in self._targets:
            raise ParameterError("name", name, "there is a feature or target of that name: choose another")
        return read_values(values, f"{what} {name!r}", len(self.grid))

    def __repr__(self) -> str:
        parts = ((len(self.grid), "interval"), (len(self._features), "feature"), (len(self._targets), "target"))
        return f"<LearningTable: {', '.join(counted(n, what) for n, what in parts)}>"
