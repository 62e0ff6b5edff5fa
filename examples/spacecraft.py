"""A generated spacecraft with known drivers of its heaters, before and after a change of the regime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from omnirank.timeseries import (
    Events,
    Grid,
    LearningTable,
    Series,
    States,
    combine,
    time_since,
)

GROUPS = ("influx", "commands", "pointing", "eclipses")
POINTINGS = ("EARTH", "INERTIAL", "LIMB", "NADIR", "SPOT", "WHEELS")
UMBRA, PENUMBRA = "UMBRA", "PENUMBRA"
# Heater lines, what drives them before the change of the regime, and after it. The first of the lines without a driver
# is off while the gyroscopes warm its place, the last is never on.
_LINES: tuple[tuple[int, tuple[str, ...], tuple[str, ...]], ...] = (
    (10, ("commands",), ("commands",)),
    (1, (), ("influx",)),
    (9, ("influx",), ("influx",)),
    (5, ("pointing",), ("pointing",)),
    (3, ("eclipses",), ("eclipses",)),
    (2, ("influx",), ("eclipses",)),
    (2, ("commands", "influx"), ("commands", "influx")),
    (1, (), ()),
)
N_LINES = sum(n for n, *_ in _LINES)
CONSTANT_LINE = N_LINES - 1
_ORBIT = 403  # minutes
_SLEW = 15
_PENUMBRA_MINUTES = 4
_NOISE_MINUTES = 30
_SENSOR_NOISE = 0.005
_LAUNCH = np.datetime64("2017-08-17T00:00", "m")
_EVERY = 2  # minutes between two measurements
_MAX_GAP = "10min"
_DAY = 1440
# Minutes after which nothing is left of a command.
_LONG_AGO = 1e9


def _draw_pointings(n_minutes: int, rng: np.random.Generator) -> pd.DataFrame:
    lengths = rng.integers(40, 260, n_minutes // 40 + 2)
    ends = np.cumsum(lengths)
    slots = pd.DataFrame(
        {
            "start": ends - lengths,
            "end": ends,
            "kind": rng.choice(POINTINGS, len(lengths)),
        }
    )
    return slots[slots["start"] < n_minutes]


def _draw_angles(
    pointings: pd.DataFrame, minutes: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Angles between the Sun and the normal of each surface, in degrees, by minute.

    Each pointing has an attitude of its own, whatever its kind: so groups of features tell different things.
    """
    suns = rng.normal(size=(len(pointings) + 1, 3))
    suns /= np.linalg.norm(suns, axis=1, keepdims=True)
    # an attitude is kept until the slew at the end of its slot
    knots = np.sort(np.concatenate([pointings["start"], pointings["end"] - _SLEW]))
    attitudes = np.repeat(suns[:-1], 2, axis=0)
    sun = np.column_stack(
        [np.interp(minutes, knots, attitudes[:, axis]) for axis in range(3)]
    )
    sun /= np.maximum(np.linalg.norm(sun, axis=1, keepdims=True), 1e-9)
    # panels that always faced the Sun would tell eclipses as well as eclipses themselves do: no truth to be found
    turned = np.repeat(rng.uniform(0, 120, len(pointings)), 2)
    angles = {"panels": np.interp(minutes, knots, turned)}
    for axis, name in enumerate("xyz"):
        for sign, side in ((1, "+"), (-1, "-")):
            angles[f"{side}{name}"] = np.degrees(
                np.arccos(np.clip(sign * sun[:, axis], -1, 1))
            )
    return angles


def _eclipses(n_minutes: int) -> pd.DataFrame:
    middle = np.arange(200, n_minutes, _ORBIT)
    half = np.round(22 + 8 * np.sin(2 * np.pi * middle / (60 * 1440))).astype(int)
    first, last = middle - half, middle + half
    edges = np.column_stack(
        [first - _PENUMBRA_MINUTES, first, last, last + _PENUMBRA_MINUTES]
    )
    kinds = np.tile([PENUMBRA, UMBRA, PENUMBRA], len(middle))
    return pd.DataFrame(
        {"start": edges[:, :-1].ravel(), "end": edges[:, 1:].ravel(), "kind": kinds}
    )


def _draw_commands(
    n_minutes: int, n_commands: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    width = max(2, len(str(n_commands)))
    counts = rng.poisson(n_minutes / rng.uniform(500, 1000, n_commands))
    return {
        f"C{number:0{width}d}": np.sort(rng.integers(0, n_minutes, count))
        for number, count in enumerate(counts.tolist(), start=1)
    }


def _draw_drivers(
    sources: dict[str, Sequence[str]], rng: np.random.Generator
) -> pd.DataFrame:
    """Draw which surface, command or pointing drives each line; a group drives the same line by the same source."""
    rows = []
    lines = (groups for n, *groups in _LINES for _ in range(n))
    for line, (before, after) in enumerate(lines):
        for group in GROUPS:
            if group in before + after:
                name = f"heater{line + 1:02d}"
                rows.append(
                    (
                        name,
                        group,
                        str(rng.choice(sources[group])),
                        group in before,
                        group in after,
                    )
                )
    return pd.DataFrame(rows, columns=["line", "group", "source", "before", "after"])


def _with_noise(
    drivers: pd.DataFrame,
    answers: Sequence[np.ndarray],
    later: np.ndarray,
    noise: float,
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """Return the current of each line by minute: what its drivers ask for in their regime, and noise.

    Noise of a line in use stays alike for a while; of one that is off, only that of the sensor is left.
    """
    names, n = [f"heater{line + 1:02d}" for line in range(N_LINES)], len(later)
    currents = {name: np.zeros(n) for name in names}
    in_use = {name: np.zeros(n, bool) for name in names}
    for (line, before, after), answer in zip(
        drivers[["line", "before", "after"]].to_numpy(), answers, strict=True
    ):
        active = np.where(later, bool(after), bool(before))
        currents[line] += active * answer
        in_use[line] |= active
    for name in names:
        drift = _smoothed(rng.normal(size=n), _NOISE_MINUTES)
        sensor = _SENSOR_NOISE * rng.normal(size=n)
        if name != names[CONSTANT_LINE]:
            currents[name] += np.where(
                in_use[name], 0.05 + noise * drift / np.std(drift), sensor
            )
    return currents


def _held(states: pd.DataFrame, kind: str, minutes: np.ndarray) -> np.ndarray:
    chosen = states[states["kind"] == kind]
    return States(chosen["start"], chosen["end"]).holds_at(minutes)


def _smoothed(values: np.ndarray, minutes: float) -> np.ndarray:
    """Exponentially smoothed values, from their mean on."""
    from scipy.signal import lfilter

    keep = np.exp(-1 / minutes)
    start = values.mean()
    return lfilter([1 - keep], [1, -keep], values - start) + start


@dataclass(frozen=True, eq=False)
class Spacecraft:
    """Raw data of a generated spacecraft, as `make_spacecraft` returns them, and the truth about them.

    Parameters
    ----------
    start, stop : datetime64
        First and last time.
    change : datetime64
        When the operating regime changes.
    angles : dict of str to Series
        Angles in degrees between the Sun and the normals of seven surfaces, the panels first.
    solar_constant : Series
        The power of the Sun per area; few measurements.
    commands : Events
        Commands by their code.
    pointings, eclipses : States
        Where the spacecraft points; umbra and penumbra.
    currents : dict of str to Series
        The currents of the 33 heater lines: the targets.
    drivers : DataFrame
        The truth, one row for each line and what it answers to: ``line``, ``group`` of features, ``source`` (surface,
        command, pointing or eclipse), and whether it does so ``before`` and ``after`` the change. Two lines answer to
        nothing before: one is off until the change, one is constant throughout.
    """

    start: np.datetime64
    stop: np.datetime64
    change: np.datetime64
    angles: dict[str, Series]
    solar_constant: Series
    commands: Events
    pointings: States
    eclipses: States
    currents: dict[str, Series]
    drivers: pd.DataFrame

    def driving_groups(self, period: str) -> pd.DataFrame:
        """Return which groups of features drive which line, ``"before"`` or ``"after"`` the change.

        Returns
        -------
        DataFrame of bool
            One row per line, one column per group.
        """
        rows = self.drivers[self.drivers[period]]
        counts = pd.crosstab(rows["line"], rows["group"]).rename_axis(
            index=None, columns=None
        )
        return counts.reindex(list(self.currents), columns=list(GROUPS)) > 0

    def learning_table(
        self,
        step: Any = "15min",
        *,
        lags: Sequence[int] = (1, 2, 4, 6, 8),
        cap: Any = "1D",
    ) -> LearningTable:
        """Return features in four groups and the mean currents, by interval, as in the study of Mars Express.

        The energy that falls on each surface, and its sums over past intervals (group ``influx``); the time since each
        command (``commands``); shares of pointings (``pointing``) and of umbra and penumbra (``eclipses``).

        Parameters
        ----------
        step : str or timedelta
            Length of an interval.
        lags : sequence of int
            Numbers of past intervals whose energy is summed.
        cap : str or timedelta
            After that time, a command is taken to have no effect.
        """
        table = LearningTable(Grid(self.start, self.stop, step))
        shade = (self.eclipses.of(UMBRA), self.eclipses.of(PENUMBRA))
        for surface, angle in self.angles.items():
            power = combine(influx, angle, self.solar_constant, *shade)
            table.add_series(
                f"influx {surface}", power, "influx", how="integral", lags=lags
            )
        table.add_time_since(self.commands, cap, "commands")
        table.add_states(self.pointings, "pointing")
        table.add_states(self.eclipses, "eclipses")
        for line, current in self.currents.items():
            table.add_target(line, current)
        return table


def influx(
    angle: np.ndarray, solar: np.ndarray, umbra: np.ndarray, penumbra: np.ndarray
) -> np.ndarray:
    """Return the power per area on a surface whose normal is at an angle (in degrees) to the Sun: half in penumbra."""
    return np.maximum(np.cos(np.radians(angle)), 0) * solar * (1 - umbra - 0.5 * penumbra)


def make_spacecraft(
    n_days: int = 60,
    *,
    change: float = 0.5,
    n_commands: int = 24,
    noise: float = 0.05,
    seed: int = 0,
) -> Spacecraft:
    """Generate a spacecraft in orbit around a planet, whose 33 heater lines answer to what is known.

    Ten lines answer to commands (for hours after one), nine to the energy that fell on a surface in the last hours,
    five to the kind of pointing, three to eclipses and two to both commands and energy. Three lines change with the
    operating regime: heater11 is off before and answers to energy afterwards, heater29 and heater30 turn from energy to
    eclipses. heater33 is constant. Measurements come every two minutes; some are lost, at random and in two breaks of
    some hours.

    Parameters
    ----------
    n_days : int
        How long it is observed.
    change : float in (0, 1)
        After which share of that time the regime changes.
    n_commands : int
        Number of different commands.
    noise : float
        Standard deviation of the noise of lines that are in use, which stays alike for about half an hour; the currents
        themselves are between 0 and about 1.
    seed : int
        The same seed gives the same data.

    Returns
    -------
    Spacecraft
        The raw data and what the heaters answer to.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    n_minutes = n_days * _DAY
    changes_at = round(change * n_days * 24) * 60
    minutes = np.arange(n_minutes + 1)
    pointings, eclipses = _draw_pointings(n_minutes, rng), _eclipses(n_minutes)
    angles = _draw_angles(pointings, minutes, rng)
    solar = 590 + 100 * np.cos(2 * np.pi * minutes / (687 * 1440))
    commands = _draw_commands(n_minutes, n_commands, rng)
    # panels are far from the heaters
    drivers = _draw_drivers(
        {
            "influx": list(angles)[1:],
            "commands": list(commands),
            "pointing": POINTINGS,
            "eclipses": [UMBRA],
        },
        rng,
    )
    lit = 1 - _held(eclipses, UMBRA, minutes) - 0.5 * _held(eclipses, PENUMBRA, minutes)

    def answer(group: str, source: str) -> np.ndarray:
        """The current that a driver asks for, between 0 and about 1."""
        if group == "commands":
            since = time_since(
                Events(commands[source]), Grid(0, n_minutes + 1, 1), _LONG_AGO
            )
            return np.exp(-since / 180)
        if group == "influx":
            power = np.maximum(np.cos(np.radians(angles[source])), 0) * solar / 690
            return np.clip(
                1 - 1.5 * _smoothed(power * lit, 60), 0, 1
            )  # a thermostat: the colder, the more
        return _held(pointings if group == "pointing" else eclipses, source, minutes)

    answers = [answer(*pair) for pair in drivers[["group", "source"]].to_numpy().tolist()]
    currents = _with_noise(drivers, answers, minutes >= changes_at, noise, rng)
    measured = minutes[::_EVERY]
    sent = measured[_received(len(measured), rng)]
    # now and then one measurement is lost, of which the table sees nothing: gaps of ten minutes are filled
    seen = measured[
        (rng.random(len(measured)) > 0.01) | (measured == 0) | (measured == n_minutes)
    ]
    codes = np.repeat(list(commands), [len(times) for times in commands.values()])
    return Spacecraft(
        start=_LAUNCH,
        stop=_LAUNCH + n_minutes,
        change=_LAUNCH + changes_at,
        angles={
            name: Series(_LAUNCH + seen, values[seen], max_gap=_MAX_GAP)
            for name, values in angles.items()
        },
        solar_constant=Series(_LAUNCH + minutes[::360], solar[::360]),
        commands=Events(_LAUNCH + np.concatenate(list(commands.values())), codes),
        pointings=_states(pointings),
        eclipses=_states(eclipses),
        currents={
            name: Series(_LAUNCH + sent, values[sent], max_gap=_MAX_GAP)
            for name, values in currents.items()
        },
        drivers=drivers,
    )


def _received(n: int, rng: np.random.Generator) -> np.ndarray:
    """Mask of the measurements that arrive: one in a hundred is lost, and all in two breaks of three hours."""
    received = rng.random(n) > 0.01
    width = 3 * 60 // _EVERY
    for first in (rng.integers(n // 8, n // 4), rng.integers(5 * n // 8, 3 * n // 4)):
        received[first : first + width] = False
    received[[0, -1]] = True
    return received


def _states(states: pd.DataFrame) -> States:
    return States(
        _LAUNCH + states["start"].to_numpy(),
        _LAUNCH + states["end"].to_numpy(),
        states["kind"].to_numpy(),
    )
