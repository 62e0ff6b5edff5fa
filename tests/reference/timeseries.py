"""Features of time series straight from their definitions: one interval, one piece, one event at a time."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

NAN = float("nan")


def known_measurements(times, values):
    """Measurements in the order of time, without missing ones; one per time, the mean of its values."""
    by_time: dict[float, list[float]] = {}
    for time, value in zip(times, values, strict=True):
        if not math.isnan(value):
            by_time.setdefault(time, []).append(value)
    return [(time, float(sum(map(Fraction, found)) / len(found))) for time, found in sorted(by_time.items())]


def segments(measured, max_gap):
    """The linear pieces (t0, v0, t1, v1) between neighbours that are at most a gap apart."""
    pairs = itertools.pairwise(measured)
    return [(t0, v0, t1, v1) for (t0, v0), (t1, v1) in pairs if t1 - t0 <= max_gap]


def line(segment, time):
    t0, v0, t1, v1 = segment
    return v0 + (v1 - v0) * (time - t0) / (t1 - t0)


def value_at(measured, max_gap, time):
    for stamp, value in measured:
        if stamp == time:
            return value
    for segment in segments(measured, max_gap):
        if segment[0] < time < segment[2]:
            return line(segment, time)
    return NAN


def integral(measured, max_gap, start, end, min_known):
    area, covered = 0.0, 0.0
    for segment in segments(measured, max_gap):
        left, right = max(segment[0], start), min(segment[2], end)
        if left < right:
            area += (line(segment, left) + line(segment, right)) / 2 * (right - left)
            covered += right - left
    if covered == 0 or covered < min_known * (end - start):
        return NAN
    return area * (end - start) / covered


def aggregate(measured, start, end, how):
    inside = [value for time, value in measured if start <= time < end]
    if how == "count":
        return float(len(inside))
    if not inside:
        return NAN
    found = {"mean": sum(inside) / len(inside), "min": min(inside), "max": max(inside), "sum": sum(inside)}
    return (found | {"last": inside[-1]})[how]


def lag_sum(values, i, n_lags):
    past = [values[i - j] if i - j >= 0 else NAN for j in range(1, n_lags + 1)]
    return sum(past)


def time_since(times, start, step, n, cap):
    """The recursion of the study, started as many intervals before the grid as events reach back."""
    early = max([0, *(math.ceil((start - time) / step) for time in times)])
    found, before = [], cap
    for i in range(-early, n):
        left = start + i * step
        happens = any(left <= time < left + step for time in times)
        before = 0.0 if happens else min(before + step, cap)
        found.append(before)
    return found[early:]


def event_count(times, start, end):
    return float(sum(start <= time < end for time in times))


def state_share(states, start, end):
    """The share of an interval in any state: between two neighbouring edges it is all or nothing."""
    edges = sorted({start, end, *(edge for state in states for edge in state if start < edge < end)})
    held = sum(
        right - left
        for left, right in itertools.pairwise(edges)
        if any(first <= left and right <= last for first, last in states)
    )
    return held / (end - start)
