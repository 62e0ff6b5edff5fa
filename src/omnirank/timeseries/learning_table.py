"""The learning table: features by group and targets, one row per interval of a grid; parts of it by time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import FLAG, TEXT, check, choice
from omnirank.core.text import counted
from omnirank.data.dataset import Dataset
from omnirank.timeseries.features import aggregate, event_counts, lag_sums, state_shares, time_since
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.sources import Events, Series, States
from omnirank.timeseries.times import check_source, read_duration, read_time, read_times, read_values


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
        largest = np.finfo(self.dtype).max
        if self.dtype == "float32" and (np.fmax.reduce(numbers) > largest or np.fmin.reduce(numbers) < -largest):
            raise DataError(f"feature {name!r} has values above {largest:.3g}: make the table with float64")
        self._features[name] = numbers.astype(self.dtype)
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
        check_source(events, Events, "Events(times, kinds)")
        for kind in events.kinds:
            self.add(f"since {kind}", time_since(events.of(kind), self.grid, cap), group)

    def add_counts(self, events: Events, group: str, *, indicator: bool = False) -> None:
        """Add how many events of each kind fall in an interval, called ``"KIND"``; or only whether one does: 1 or 0."""
        check("indicator", indicator, FLAG)
        check_source(events, Events, "Events(times, kinds)")
        for kind in events.kinds:
            counts = event_counts(events.of(kind), self.grid)
            self.add(kind, np.minimum(counts, 1) if indicator else counts, group)

    def add_states(self, states: States, group: str) -> None:
        """Add the share of an interval in which a state of each kind held, called ``"KIND"``: :func:`state_shares`."""
        check_source(states, States, "States(starts, ends, kinds)")
        for kind in states.kinds:
            self.add(kind, state_shares(states.of(kind), self.grid), group)

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

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self._features)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the targets."""
        return tuple(self._targets)

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
        chosen = _as_slice(rows)
        for j, values in enumerate(self._features.values()):
            cells[:, j] = values[chosen]
        names = list(self._features)
        if not self._targets:
            return Dataset(cells, feature_names=names, feature_groups=self.groups, name=name)
        targets = np.column_stack([values[chosen] for values in self._targets.values()])
        single = len(self._targets) == 1
        return Dataset(
            cells,
            targets[:, 0] if single else targets,
            task="regression" if single else "multi-target-regression",
            feature_names=names,
            target_names=list(self._targets),
            feature_groups=self.groups,
            name=name,
        )

    def _read(self, name: str, values: Any, what: str) -> np.ndarray:
        check("name", name, TEXT)
        if name in self._features or name in self._targets:
            raise ParameterError("name", name, "there is a feature or target of that name: choose another")
        return read_values(values, f"{what} {name!r}", len(self.grid))

    def __repr__(self) -> str:
        parts = ((len(self.grid), "interval"), (len(self._features), "feature"), (len(self._targets), "target"))
        return f"<LearningTable: {', '.join(counted(n, what) for n, what in parts)}>"


def _as_slice(rows: np.ndarray) -> np.ndarray | slice:
    """Rows that follow each other as a slice: as a rule those at the ends are left out, and nothing is gathered."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows
