"""Series, events and states on a grid: borders, dates, exactness, and what is refused."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank import timeseries as ts
from omnirank.errors import DataError, DataTypeError, ParameterError

DAY = "2017-08-17"

# -- times --------------------------------------------------------------------------------------


def test_kinds_of_dates_mean_the_same():
    texts = ["2017-08-17T00:00:00", "2017-08-17 06:30:00.25"]
    kinds = [
        texts,
        np.array(texts, "datetime64[ms]"),
        pd.to_datetime(texts, format="ISO8601"),
        pd.Series(pd.to_datetime(texts, format="ISO8601")).dt.tz_localize("UTC"),
        ["2017-08-17T02:00:00+02:00", "2017-08-17T08:30:00.25+02:00"],
        [datetime(2017, 8, 17), datetime(2017, 8, 17, 6, 30, 0, 250000)],
        pd.Series(texts, dtype="string"),
    ]
    for given in kinds:
        assert ts.Events(given).times.tolist() == [1502928000.0, 1502951400.25]
        assert ts.Events(given).dates


def test_kinds_of_durations_mean_the_same():
    for step in ("15min", timedelta(minutes=15), np.timedelta64(15, "m"), pd.Timedelta("15min")):
        assert len(ts.Grid(DAY, "2017-08-18", step)) == 96


def test_dates_at_borders_belong_to_the_interval_that_starts_there():
    """Seconds since 1970 are rounded: microseconds after it, a border must still be told from a date on it."""
    grid = ts.Grid("2017-08-17T00:00:00.1", "2017-08-18", "0.3s")
    starts = grid.starts[::997]
    assert grid.locate(ts.Events(starts).times).tolist() == list(range(0, len(grid), 997))
    before = starts[1:] - np.timedelta64(1, "us")
    assert grid.locate(ts.Events(before).times).tolist() == [i - 1 for i in range(997, len(grid), 997)]


def test_the_last_interval_ends_at_the_stop_at_the_latest():
    assert ts.Grid(0, 10, 3).borders.tolist() == [0, 3, 6, 9]
    assert len(ts.Grid(0, 0.3, 0.1)) == 2  # 3 * 0.1 is more than 0.3
    assert len(ts.Grid(DAY, "2017-08-17T00:00:00.3", "0.1s")) == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ts.Grid(0, 10, 0), ParameterError, "step=0: times are numbers, choose a number above 0"),
        (lambda: ts.Grid(DAY, "2017-08-18", 15), ParameterError, "times are dates, choose a duration"),
        (lambda: ts.Grid(0, DAY, 1), ParameterError, "stop='2017-08-17': choose a number"),
        (lambda: ts.Grid("yesterday", DAY, "1h"), DataError, "start: the one at position 0 is yesterday"),
        (lambda: ts.Grid(5, 6, 2), ParameterError, "not one interval fits"),
        (lambda: ts.Grid(5, 0, 1), ParameterError, "not after start, 5: are the two exchanged"),
        (lambda: ts.Grid(0, 1e12, 1), ParameterError, "choose a larger step"),
        (lambda: ts.Grid(1e17, 1e17 + 64, 1), ParameterError, "too small for times of this size"),
        (lambda: ts.Series([0, None], [1, 2]), DataError, "position 1 is None"),
        (lambda: ts.Series([0, np.inf], [1, 2]), DataError, "position 1 is inf"),
        (lambda: ts.Series([0, DAY], [1, 2]), DataTypeError, "give all numbers or all dates"),
        (lambda: ts.Series([0, 1], [1]), DataError, "one number per time stamp, of which there are 2"),
        (lambda: ts.Series([0, 1], [1, np.inf]), DataError, "the one at position 1 is infinite"),
        (lambda: ts.Series([0, 1], ["1", "2"]), DataTypeError, "give numbers, not values of type string"),
        (lambda: ts.Series(np.array([True, False]), [1, 2]), DataTypeError, "are no time stamps"),
        (lambda: ts.Series([0, 1], [1, 2], max_gap=-1), ParameterError, "max_gap=-1"),
        (lambda: ts.Events(["soon"]), DataError, "position 0 is soon"),
        (lambda: ts.Events([0, 1], ["a"]), DataError, "one per event"),
        (lambda: ts.Events([0, 1], ["a", None]), DataError, "the kind at position 1 is None"),
        (lambda: ts.States([0, 5], [1, 4]), DataError, "position 1 ends before it starts"),
        (lambda: ts.States([0, 5], [1]), DataError, "2 starts and 1 end"),
        (lambda: ts.States([0], [DAY]), DataError, "the ends of states have dates"),
        (lambda: ts.combine(np.add, [1.0], [2.0]), DataTypeError, "combine takes a function"),
        (lambda: ts.combine(np.sum, ts.Series([0, 1], [1, 2])), DataError, "works by element"),
        (lambda: ts.lag_sums([1.0], 0), ParameterError, "n_lags=0"),
        (lambda: ts.lag_sums([[1.0]], 1), DataError, "one number per interval"),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_dates_do_not_meet_numbers():
    grid = ts.Grid(0, 10, 1)
    series, events, states = ts.Series([DAY], [1.0]), ts.Events([DAY]), ts.States([DAY], [DAY])
    for use in (
        lambda: ts.integrals(series, grid),
        lambda: ts.aggregate(series, grid, "mean"),
        lambda: ts.time_since(events, grid, 5),
        lambda: ts.event_counts(events, grid),
        lambda: ts.state_shares(states, grid),
        lambda: ts.combine(np.add, series, ts.Series([0], [1.0])),
        lambda: series.at([0]),
    ):
        with pytest.raises(DataError, match="convert one of them"):
            use()


# -- values ---------------------------------------------------------------------------------------


def test_a_huge_value_has_no_effect_on_other_intervals():
    values = [1e18, 1e18, *[0.1] * 40]
    grid = ts.Grid(0, 40, 2)
    integrals = ts.integrals(ts.Series(range(42), values), grid)
    np.testing.assert_allclose(integrals[2:], 0.2, rtol=1e-12)
    np.testing.assert_allclose(ts.lag_sums(integrals, 3)[6:], 0.6, rtol=1e-12)


def test_the_order_of_measurements_changes_no_bit():
    rng = np.random.default_rng(0)
    times, values = rng.integers(0, 60, 400).astype(float), rng.normal(size=400)
    order = rng.permutation(400)
    one, other = ts.Series(times, values), ts.Series(times[order], values[order])
    assert one.values.tobytes() == other.values.tobytes()


def test_shares_of_states_that_always_held_are_exactly_1():
    """Trees would split at 0.9999999."""
    rng = np.random.default_rng(1)
    edges = 1.5e9 + np.cumsum(rng.exponential(7, 500))
    grid = ts.Grid(edges[0] + 1, edges[-1] - 1, 10 / 3)
    assert set(ts.state_shares(ts.States(edges[:-1], edges[1:]), grid).tolist()) == {1.0}


def test_the_worked_row_of_the_study():
    """Commands at t2 and t3 on a grid of 15 minutes, with a cap of a day."""
    commands = ts.Events([17, 30], ["ASXX383C", "ATTTF030A"])
    grid = ts.Grid(0, 60, 15)
    assert ts.time_since(commands.of("ASXX383C"), grid, 1440).tolist() == [1440, 0, 15, 30]
    assert ts.time_since(commands.of("ATTTF030A"), grid, 1440).tolist() == [1440, 1440, 0, 15]
    with pytest.warns(om.errors.DataWarning, match="nothing is of the kind 'ASXX383' .did you mean 'ASXX383C'"):
        missing = commands.of("ASXX383")
    assert ts.time_since(missing, grid, 1440).tolist() == [1440] * 4


def test_states_within_others_hold_once():
    states = ts.States([0, 2, 5, 20], [10, 3, 6, 21])
    starts, ends = states.union()
    assert (starts.tolist(), ends.tolist()) == ([0, 20], [10, 21])
    held = ts.combine(lambda x, s: s, ts.Series(range(22), range(22)), states).values
    assert held.tolist() == [1.0] * 10 + [0.0] * 10 + [1.0, 0.0]


def test_formulas_may_have_no_value():
    ratio = ts.combine(lambda x: np.where(x > 0, x, np.nan), ts.Series([0, 1, 2, 3, 4], [1.0, 1.0, -1.0, 1.0, 1.0]))
    assert np.isnan(ratio.at([0.5, 1.5, 2, 2.5, 3.5])).tolist() == [False, True, True, True, False]


# -- the learning table -----------------------------------------------------------------------------


def small_table() -> ts.LearningTable:
    table = ts.LearningTable(ts.Grid(DAY, "2017-08-18", "1h"))
    hours = pd.date_range(DAY, periods=25, freq="h")
    table.add_series("angle", ts.Series(hours, np.arange(25.0)), "attitude", how="integral", lags=[1, 3])
    table.add_time_since(ts.Events(hours[[3, 9]], ["ON", "OFF"]), "6h", "commands")
    table.add_counts(ts.Events(hours[[3, 3, 9]], ["ON", "ON", "OFF"]), "events")
    table.add_states(ts.States(hours[[2]], hours[[4]] + pd.Timedelta("30min"), ["EARTH"]), "pointing")
    return table


def test_table_to_data_set():
    table = small_table()
    current = np.arange(24.0)
    current[[5, 6]] = np.nan
    table.add_target("current", current)
    data = table.dataset()
    assert data.feature_names == (
        "angle", "angle, last 1", "angle, last 3", "since OFF", "since ON", "OFF", "ON", "EARTH",
    )  # fmt: skip
    assert data.feature_groups["angle, last 3"] == "attitude"
    assert data.task == "regression"  # whole numbers, too
    assert data.n_examples == 22
    assert data.X.dtype == np.float32
    np.testing.assert_allclose(data.X[4], [4.5 * 3600, 3.5 * 3600, 7.5 * 3600, 6 * 3600, 3600, 0, 0, 0.5])
    np.testing.assert_allclose(data.X[3, 4:], [0, 0, 2, 1])
    kept = table.dataset(missing_targets="keep")
    assert kept.n_examples == 24
    assert np.flatnonzero(~kept.labelled).tolist() == [5, 6]


@pytest.mark.parametrize("bounds", [(0, 4, 1), (DAY, "2017-08-18", "6h")])
def test_sources_without_rows_fit_every_grid(bounds):
    """Nothing says whether their times would be dates."""
    grid = ts.Grid(*bounds)
    gaps = (None, 5, "10min", timedelta(minutes=10))
    for series in (ts.Series([], [], max_gap=gap) for gap in gaps):
        assert np.isnan(ts.integrals(series, grid)).all()
        assert np.isnan(ts.aggregate(series, grid, "last")).all()
    assert ts.event_counts(ts.Events([]), grid).tolist() == [0] * 4
    assert ts.time_since(ts.Events([], []), grid, grid.step if bounds[0] == 0 else "6h").tolist() == [grid.step] * 4
    assert ts.state_shares(ts.States([], []), grid).tolist() == [0] * 4


@pytest.mark.slow
def test_groups_of_the_table_reach_the_ranking():
    table = small_table()
    table.add_target("current", np.arange(24) % 5 / 3)
    data = table.dataset()
    ranking = om.EnsembleRanker(n_trees=5, random_state=0).fit(data).ranking_
    shares = ranking.group_scores(data.feature_groups, as_shares=True)
    assert set(shares.index) == {"attitude", "commands", "events", "pointing"}
    assert shares.sum() == pytest.approx(1)


def test_targets_are_missing_in_long_gaps_only():
    minutes = np.r_[np.arange(0, 30), np.arange(38, 60), np.arange(80, 121)]
    table = ts.LearningTable(ts.Grid(0, 120, 5))
    table.add("row", np.arange(24), "numbers")
    table.add_target("current", ts.Series(minutes, np.ones(len(minutes)), max_gap=10))
    assert sorted(set(range(24)) - set(table.rows().tolist())) == [11, 12, 13, 14, 15]


def test_tables_refuse_what_they_cannot_hold():
    table = small_table()
    with pytest.raises(DataError, match="feature 'x' has shape \\(3,\\): give one number per interval"):
        table.add("x", [1, 2, 3], "group")
    with pytest.raises(ParameterError, match="group"):
        table.add("x", np.zeros(24), "")
    with pytest.raises(DataError, match="float64"):
        table.add("x", np.full(24, 1e300), "group")
    with pytest.raises(DataError, match="no features"):
        ts.LearningTable(ts.Grid(0, 1, 1)).dataset()
    table.add_target("y", np.full(24, np.nan))
    with pytest.raises(DataError, match="no interval"):
        table.dataset()


# -- splits -----------------------------------------------------------------------------------------


def test_nothing_of_the_test_or_the_gap_trains():
    table = small_table()
    table.add("start", np.arange(24.0), "time")
    train, test = table.split("2017-08-17T12:00", gap="2h30min", until="2017-08-17T20:00")
    assert train.X[:, -1].tolist() == list(range(9))  # the interval from 9 to 10 ends within the gap
    assert test.X[:, -1].tolist() == list(range(12, 20))


@pytest.mark.parametrize(("at", "gap"), [(0, None), (100, None), (3, 10)])
def test_both_parts_have_rows(at, gap):
    with pytest.raises(ParameterError, match="no row is left"):
        ts.chronological_split(np.arange(10), at, gap=gap)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda grid: ts.aggregate(pd.Series([1.0, 2.0]), grid),
            "expected omnirank.timeseries.Series.*, not pandas.*Series",
        ),
        (lambda grid: ts.integrals([1.0, 2.0], grid), r"Series\(times, values\), not builtins.list"),
        (lambda grid: ts.event_counts(ts.States([0], [1]), grid), "not .*States"),
        (lambda grid: ts.LearningTable(grid).add_states([1.0], "g"), "not builtins.list"),
    ],
)
def test_what_is_no_source_is_named(wrong, words):
    with pytest.raises(DataTypeError, match=words):
        wrong(ts.Grid(0, 10, 5))


def test_a_date_that_cannot_be_read_is_named_with_its_place():
    with pytest.raises(DataError, match=r"position 1 is yesterday; .* ISO 8601"):
        ts.Series(["2024-01-01", "yesterday"], [1.0, 2.0])


@pytest.mark.parametrize(("unit", "far"), [("s", 2**62), ("ms", 2**61), ("Y", 10**6)])
def test_dates_without_room_for_microseconds_are_refused(unit, far):
    with pytest.raises(DataError, match="too far from 1970"):
        ts.Series(np.array([5, far], f"datetime64[{unit}]"), [1.0, 2.0])
