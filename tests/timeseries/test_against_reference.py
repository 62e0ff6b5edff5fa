"""Fast features of time series beside their definitions, on random data: gaps, ties, any order, missing, nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank import timeseries as ts
from reference import timeseries as reference

# halves: sums and borders are exact, and time stamps often come twice and fall on borders
STAMPS = st.integers(-12, 60).map(lambda n: n / 2)
VALUES = st.one_of(st.just(float("nan")), st.floats(-1e3, 1e3))
MEASUREMENTS = st.lists(st.tuples(STAMPS, VALUES), max_size=25)
MAX_GAPS = st.sampled_from([0.5, 2.0, 5.0, 100.0])
GRIDS = st.sampled_from([(0.0, 20.0, 4.0), (0.0, 21.0, 2.5), (-3.0, 3.0, 0.5), (5.0, 6.0, 1.0), (40.0, 50.0, 5.0)])


def split(measurements):
    return [time for time, _ in measurements], [value for _, value in measurements]


def per_interval(function, grid):
    return np.array([function(start, end) for start, end in zip(grid.borders[:-1], grid.borders[1:], strict=True)])


@given(MEASUREMENTS, MAX_GAPS, GRIDS, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_integrals(measurements, max_gap, bounds, min_known):
    times, values = split(measurements)
    grid, series = ts.Grid(*bounds), ts.Series(times, values, max_gap=max_gap)
    measured = reference.known_measurements(times, values)
    expected = per_interval(lambda a, b: reference.integral(measured, max_gap, a, b, min_known), grid)
    np.testing.assert_allclose(ts.integrals(series, grid, min_known=min_known), expected, rtol=1e-9, atol=1e-9)


@given(MEASUREMENTS, GRIDS, st.sampled_from(["mean", "min", "max", "sum", "last", "count"]))
def test_aggregates(measurements, bounds, how):
    times, values = split(measurements)
    grid, measured = ts.Grid(*bounds), reference.known_measurements(times, values)
    expected = per_interval(lambda a, b: reference.aggregate(measured, a, b, how), grid)
    np.testing.assert_allclose(ts.aggregate(ts.Series(times, values), grid, how), expected, rtol=1e-9, atol=1e-9)


@given(MEASUREMENTS, MAX_GAPS, st.lists(st.integers(-30, 140).map(lambda n: n / 4), max_size=20))
def test_values_between_measurements(measurements, max_gap, asked):
    times, values = split(measurements)
    measured = reference.known_measurements(times, values)
    expected = [reference.value_at(measured, max_gap, time) for time in asked]
    found = ts.Series(times, values, max_gap=max_gap).at(asked)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(MEASUREMENTS, MEASUREMENTS, MAX_GAPS, MAX_GAPS)
def test_combined_series(one, other, gap_one, gap_other):
    """A product is known where both are: at all stamps, and between two where both are joined."""
    (times_a, values_a), (times_b, values_b) = split(one), split(other)
    a, b = ts.Series(times_a, values_a, max_gap=gap_one), ts.Series(times_b, values_b, max_gap=gap_other)
    measured_a, measured_b = (reference.known_measurements(*split(part)) for part in (one, other))
    product = ts.combine(lambda x, y: x * y, a, b)
    stamps = sorted({time for time, _ in [*measured_a, *measured_b]})
    middles = [(left + right) / 2 for left, right in itertools.pairwise(stamps)]

    def both(time):
        return reference.value_at(measured_a, gap_one, time) * reference.value_at(measured_b, gap_other, time)

    np.testing.assert_allclose(product.at(stamps), [both(time) for time in stamps], rtol=1e-9, atol=1e-9)
    assert np.isnan(product.at(middles)).tolist() == [bool(np.isnan(both(time))) for time in middles]


@given(st.lists(VALUES, max_size=40), st.integers(1, 45))
def test_lag_sums(values, n_lags):
    expected = [reference.lag_sum(values, i, n_lags) for i in range(len(values))]
    np.testing.assert_allclose(ts.lag_sums(values, n_lags), expected, rtol=1e-9, atol=1e-9)


@given(st.lists(STAMPS, max_size=12), GRIDS, st.sampled_from([1.0, 7.0, 1000.0]))
def test_time_since(times, bounds, cap):
    grid = ts.Grid(*bounds)
    expected = reference.time_since(times, grid.borders[0], grid.step, len(grid), cap)
    np.testing.assert_allclose(ts.time_since(ts.Events(times), grid, cap), expected)


@given(st.lists(STAMPS, max_size=12), GRIDS)
def test_event_counts(times, bounds):
    grid = ts.Grid(*bounds)
    expected = per_interval(lambda a, b: reference.event_count(times, a, b), grid)
    assert ts.event_counts(ts.Events(times), grid).tolist() == expected.tolist()


@given(st.lists(st.tuples(STAMPS, STAMPS).map(sorted), max_size=10), GRIDS)
def test_state_shares(states, bounds):
    grid = ts.Grid(*bounds)
    starts, ends = split(states)
    expected = per_interval(lambda a, b: reference.state_share(states, a, b), grid)
    np.testing.assert_allclose(ts.state_shares(ts.States(starts, ends), grid), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_many_intervals_of_any_length_in_any_order(seed):
    """Times that are no round numbers, far from 0, as dates are."""
    rng = np.random.default_rng(seed)
    start = 1.5e9
    times = start + rng.permutation(np.sort(rng.uniform(-50, 2050, 300)))
    values = np.where(rng.random(300) < 0.1, np.nan, rng.normal(1e4, 1, 300))
    grid, series = ts.Grid(start, start + 2000, 2000 / 53), ts.Series(times, values, max_gap=20.0)
    measured = reference.known_measurements(times.tolist(), values.tolist())
    expected = per_interval(lambda a, b: reference.integral(measured, 20.0, a, b, 0.3), grid)
    np.testing.assert_allclose(ts.integrals(series, grid, min_known=0.3), expected, rtol=1e-9)
    firsts = start + rng.uniform(-50, 2050, 60)
    states = list(zip(firsts, firsts + rng.exponential(15, 60), strict=True))
    expected = per_interval(lambda a, b: reference.state_share(states, a, b), grid)
    np.testing.assert_allclose(ts.state_shares(ts.States(*zip(*states, strict=True)), grid), expected, atol=1e-9)
