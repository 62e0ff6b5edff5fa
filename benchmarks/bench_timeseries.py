"""Time-stamped sources to a learning table: one Martian year at 5 minutes, and how time grows with the intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks import Bar, benchmark, figure
from benchmarks._measure import median_seconds
from benchmarks._memory import peak_memory
from omnirank import timeseries as ts
from omnirank.data.dataset import Dataset

MARTIAN_YEAR = 200_000  # intervals of 5 minutes
START = np.datetime64("2008-08-22T00:00:00", "ms")
N_SURFACES, LAGS = 7, (1, 3, 6, 13, 25)
N_COMMANDS, N_POINTINGS, N_LINES = 390, 28, 33


@dataclass(frozen=True)
class Sources:
    """Arrays as files hold them: 42 features come from the surfaces, one from each command and kind of pointing."""

    stamps: np.ndarray
    angles: np.ndarray
    currents: np.ndarray
    commands: tuple[np.ndarray, np.ndarray]
    pointings: tuple[np.ndarray, np.ndarray, np.ndarray]
    umbra: tuple[np.ndarray, np.ndarray]


def influx(angle: np.ndarray, solar: np.ndarray, umbra: np.ndarray, penumbra: np.ndarray) -> np.ndarray:
    """Return the power per area on a surface whose normal is at an angle (in degrees) to the Sun: half in penumbra."""
    return np.maximum(np.cos(np.radians(angle)), 0) * solar * (1 - umbra - 0.5 * penumbra)


def minutes(values: np.ndarray) -> np.ndarray:
    """Return dates to milliseconds."""
    return START + (values * 60_000).astype("timedelta64[ms]")


def make_sources(n_intervals: int) -> Sources:
    """Return a measurement per minute of each angle and line, and events in proportion."""
    rng = np.random.default_rng(0)
    n = 5 * n_intervals
    kept = np.flatnonzero(rng.random(n + 1) > 0.01)
    codes = np.array([f"C{i:03d}" for i in range(N_COMMANDS)])
    kinds = np.array([f"P{i:02d}" for i in range(N_POINTINGS)])
    slots = np.sort(rng.uniform(0, n, n // 90))
    orbits = np.arange(0, n, 403.0)
    return Sources(
        minutes(kept + 0.5 * rng.random(len(kept))),
        180 * rng.random((N_SURFACES, len(kept))),
        rng.random((N_LINES, len(kept))),
        (minutes(rng.uniform(0, n, n // 5)), np.resize(codes, n // 5)),
        (minutes(slots), minutes(slots + 60), np.resize(kinds, len(slots))),
        (minutes(orbits), minutes(orbits + 40)),
    )


def table_of(sources: Sources) -> Dataset:
    """Return the data set of 460 features and 33 targets."""
    n = (sources.stamps[-1] - START) // np.timedelta64(5, "m")
    table = ts.LearningTable(ts.Grid(START, START + n * np.timedelta64(300_000, "ms"), "5min"))
    umbra = ts.States(*sources.umbra)
    penumbra = ts.States(sources.umbra[1], sources.umbra[1] + np.timedelta64(3, "m"))
    solar = ts.Series(sources.stamps[::360], 600 + np.cos(np.arange(len(sources.stamps[::360]))))
    for i, angle in enumerate(sources.angles):
        power = ts.combine(influx, ts.Series(sources.stamps, angle, max_gap="10min"), solar, umbra, penumbra)
        table.add_series(f"influx {i}", power, "influx", how="integral", lags=LAGS)
    table.add_time_since(ts.Events(*sources.commands), "1D", "commands")
    table.add_states(ts.States(*sources.pointings), "pointing")
    for i, current in enumerate(sources.currents):
        table.add_target(f"line {i}", ts.Series(sources.stamps, current, max_gap="10min"))
    return table.dataset()


def everything(n_intervals: int) -> Dataset:
    """Make sources and table: what a process needs at its peak holds both."""
    return table_of(make_sources(n_intervals))


@benchmark("timeseries")
def martian_year(quick: bool) -> list:
    """200,000 intervals, 460 features, 33 targets: under 30 s and 2 GB, sources included; linear in the intervals."""
    n = 4000 if quick else MARTIAN_YEAR
    sources, quarter = make_sources(n), make_sources(n // 4)
    data = table_of(quarter)
    assert data.n_features == N_SURFACES * (1 + len(LAGS)) + N_COMMANDS + N_POINTINGS
    small = median_seconds(partial(table_of, quarter), repetitions=3)
    whole = median_seconds(partial(table_of, sources), repetitions=3)
    results = [
        figure("wall time", whole, "s", bar=None if quick else Bar(at_most=30.0)),
        figure(
            "wall time / that of a quarter of the intervals", whole / small, bar=None if quick else Bar(at_most=5.0)
        ),
    ]
    peak = None if quick else peak_memory(partial(int, n), everything)
    if peak is not None:
        results.append(figure("peak memory with the sources", peak / 2**30, "GB", bar=Bar(at_most=2.0)))
    return results
