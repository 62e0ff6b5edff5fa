"""Parts of a table by time: what comes first trains, what comes later tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.timeseries.times import read_duration, read_time, read_times


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
