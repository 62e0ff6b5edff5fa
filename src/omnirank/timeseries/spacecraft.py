"""A generated spacecraft of which it is known what its heaters answer to, before and after a change of the regime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.parameters import check, count, number
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.learning_table import LearningTable
from omnirank.timeseries.sources import Events, Series, States, combine

GROUPS = ("influx", "commands", "pointing", "eclipses")
SURFACES = ("panels", "+x", "-x", "+y", "-y", "+z", "-z")
POINTINGS = ("EARTH", "INERTIAL", "LIMB", "NADIR", "SPOT", "WHEELS")
UMBRA, PENUMBRA = "UMBRA", "PENUMBRA"
# What drives each of the 33 heater lines, before and after the change of the regime.
_BEFORE = (
    *[("commands",)] * 10,
    (),  # off while the gyroscopes warm its place
    *[("influx",)] * 9,
    *[("pointing",)] * 5,
    *[("eclipses",)] * 3,
    *[("influx",)] * 2,
    *[("commands", "influx")] * 2,
    (),  # never on
)
_CHANGES: dict[int, tuple[str, ...]] = {10: ("influx",), 28: ("eclipses",), 29: ("eclipses",)}
_AFTER = tuple(_CHANGES.get(line, groups) for line, groups in enumerate(_BEFORE))
N_LINES = len(_BEFORE)
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


@dataclass(frozen=True, eq=False)
class Flight:
    """What happens on board, by minute.

    Parameters
    ----------
    n_minutes : int
        How long it takes; arrays by minute have one entry more, for the end.
    angles : dict of str to ndarray
        Angle between the Sun and the normal of each surface, in degrees.
    solar : ndarray
        The solar constant.
    pointings, eclipses : list of (start, end, kind)
        States, in minutes.
    commands : dict of str to ndarray
        Minutes in which each command is given.
    """

    n_minutes: int
    angles: dict[str, np.ndarray]
    solar: np.ndarray
    pointings: list[tuple[int, int, str]]
    eclipses: list[tuple[int, int, str]]
    commands: dict[str, np.ndarray]


def fly(n_minutes: int, n_commands: int, rng: np.random.Generator) -> Flight:
    """Draw a flight.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.timeseries.spacecraft import fly
    >>> flight = fly(1440, 5, np.random.default_rng(0))
    >>> sorted(flight.commands), len(flight.angles["panels"])
    (['C01', 'C02', 'C03', 'C04', 'C05'], 1441)
    """
    pointings = _draw_pointings(n_minutes, rng)
    minutes = np.arange(n_minutes + 1)
    return Flight(
        n_minutes,
        _angles(pointings, minutes, rng),
        590 + 100 * np.cos(2 * np.pi * minutes / (687 * 1440)),
        pointings,
        _eclipses(n_minutes),
        _draw_commands(n_minutes, n_commands, rng),
    )


def _draw_pointings(n_minutes: int, rng: np.random.Generator) -> list[tuple[int, int, str]]:
    lengths = rng.integers(40, 260, n_minutes // 40 + 2)
    ends = np.cumsum(lengths)
    kinds = rng.choice(POINTINGS, len(lengths))
    slots = zip((ends - lengths).tolist(), ends.tolist(), kinds.tolist(), strict=True)
    return [slot for slot in slots if slot[0] < n_minutes]


def _angles(
    pointings: list[tuple[int, int, str]], minutes: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Each pointing has an attitude of its own, whatever its kind: so groups of features tell different things."""
    suns = rng.normal(size=(len(pointings) + 1, 3))
    suns /= np.linalg.norm(suns, axis=1, keepdims=True)
    starts = np.array([start for start, _, _ in pointings])
    ends = np.array([end for _, end, _ in pointings])
    # an attitude is kept until the slew at the end of its slot
    knots = np.sort(np.concatenate([starts, ends - _SLEW]))
    held = np.repeat(suns[:-1], 2, axis=0)
    sun = np.column_stack([np.interp(minutes, knots, held[:, axis]) for axis in range(3)])
    sun /= np.maximum(np.linalg.norm(sun, axis=1, keepdims=True), 1e-9)
    # panels that always faced the Sun would tell eclipses as well as eclipses themselves do: no truth to be found
    turned = np.repeat(rng.uniform(0, 120, len(pointings)), 2)
    angles = {"panels": np.interp(minutes, knots, turned)}
    for axis, name in enumerate("xyz"):
        for sign, side in ((1, "+"), (-1, "-")):
            angles[f"{side}{name}"] = np.degrees(np.arccos(np.clip(sign * sun[:, axis], -1, 1)))
    return angles


def _eclipses(n_minutes: int) -> list[tuple[int, int, str]]:
    found = []
    for middle in range(200, n_minutes, _ORBIT):
        half = round(22 + 8 * np.sin(2 * np.pi * middle / (60 * 1440)))
        first, last = middle - half, middle + half
        found += [
            (first - _PENUMBRA_MINUTES, first, PENUMBRA),
            (first, last, UMBRA),
            (last, last + _PENUMBRA_MINUTES, PENUMBRA),
        ]
    return found


def _draw_commands(n_minutes: int, n_commands: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    width = max(2, len(str(n_commands)))
    counts = rng.poisson(n_minutes / rng.uniform(500, 1000, n_commands))
    return {
        f"C{number:0{width}d}": np.sort(rng.integers(0, n_minutes, count))
        for number, count in enumerate(counts.tolist(), start=1)
    }


# -- heaters ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Driver:
    """What a heater line answers to: a surface, a command, a kind of pointing or the umbra."""

    line: int
    group: str
    source: str
    before: bool
    after: bool


def draw_drivers(flight: Flight, rng: np.random.Generator) -> list[Driver]:
    """Draw which surface, command or pointing drives each line; a group drives the same line by the same source."""
    sources = {
        "influx": SURFACES[1:],  # panels are far from the heaters
        "commands": tuple(flight.commands),
        "pointing": POINTINGS,
        "eclipses": (UMBRA,),
    }
    found = []
    for line, (before, after) in enumerate(zip(_BEFORE, _AFTER, strict=True)):
        for group in GROUPS:
            if group in before + after:
                source = str(rng.choice(sources[group]))
                found.append(Driver(line, group, source, group in before, group in after))
    return found


def draw_currents(
    flight: Flight, drivers: list[Driver], change: int, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """Return the current of each line by minute: what its drivers ask for in their regime, and noise.

    Noise of a line in use stays alike for a while; of one that is off, only that of the sensor is left.
    """
    n = flight.n_minutes + 1
    currents, in_use = np.zeros((N_LINES, n)), np.zeros((N_LINES, n), bool)
    later = np.arange(n) >= change
    for driver in drivers:
        active = np.where(later, driver.after, driver.before)
        currents[driver.line] += active * _answer(flight, driver)
        in_use[driver.line] |= active
    for line in range(N_LINES):
        drift = _smoothed(rng.normal(size=n), _NOISE_MINUTES)
        sensor = _SENSOR_NOISE * rng.normal(size=n)
        if line != CONSTANT_LINE:
            currents[line] += np.where(in_use[line], 0.05 + noise * drift / np.std(drift), sensor)
    return currents


def _answer(flight: Flight, driver: Driver) -> np.ndarray:
    """The current that a driver asks for, between 0 and about 1."""
    n = flight.n_minutes + 1
    if driver.group == "commands":
        return np.exp(-minutes_since(flight.commands[driver.source], n) / 180)
    if driver.group == "influx":
        power = np.maximum(np.cos(np.radians(flight.angles[driver.source])), 0) * flight.solar / 690
        lit = 1 - held(flight.eclipses, UMBRA, n) - 0.5 * held(flight.eclipses, PENUMBRA, n)
        return np.clip(1 - 1.5 * _smoothed(power * lit, 60), 0, 1)  # a thermostat: the colder, the more
    states = flight.pointings if driver.group == "pointing" else flight.eclipses
    return held(states, driver.source, n)


def held(states: list[tuple[int, int, str]], kind: str, n: int) -> np.ndarray:
    """Return 1 in the minutes in which a state of a kind holds, 0 in others.

    Examples
    --------
    >>> from omnirank.timeseries.spacecraft import held
    >>> held([(1, 3, "a"), (3, 4, "b")], "a", 5)
    array([0., 1., 1., 0., 0.])
    """
    found = np.zeros(n)
    for start, end, name in states:
        if name == kind:
            found[max(start, 0) : end] = 1.0
    return found


def minutes_since(times: np.ndarray, n: int) -> np.ndarray:
    """Return for each of n minutes how many ago the last of some times was; infinite before the first.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.timeseries.spacecraft import minutes_since
    >>> minutes_since(np.array([1, 3]), 5)
    array([inf,  0.,  1.,  0.,  1.])
    """
    minutes = np.arange(n)
    last = np.r_[-np.inf, times][np.searchsorted(times, minutes, side="right")]
    return minutes - last


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

    Examples
    --------
    >>> import omnirank as om
    >>> craft = om.datasets.make_spacecraft(4, random_state=0)
    >>> craft.drivers[~craft.drivers.before].line.tolist()
    ['heater11', 'heater29', 'heater30']
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

        Examples
        --------
        >>> import omnirank as om
        >>> craft = om.datasets.make_spacecraft(4, random_state=0)
        >>> craft.driving_groups("after").loc["heater31"].to_dict()
        {'influx': True, 'commands': True, 'pointing': False, 'eclipses': False}
        """
        rows = self.drivers[self.drivers[period]]
        found = pd.DataFrame(False, index=list(self.currents), columns=list(GROUPS))
        for line, group in zip(rows["line"], rows["group"], strict=True):
            found.loc[line, group] = True
        return found

    def learning_table(
        self, step: Any = "15min", *, lags: Sequence[int] = (1, 2, 4, 6, 8), cap: Any = "1D"
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

        Examples
        --------
        >>> import omnirank as om
        >>> craft = om.datasets.make_spacecraft(4, n_commands=10, random_state=0)
        >>> craft.learning_table("30min")
        <LearningTable: 192 intervals, 60 features, 33 targets>
        """
        table = LearningTable(Grid(self.start, self.stop, step))
        shade = (self.eclipses.of(UMBRA), self.eclipses.of(PENUMBRA))
        for surface, angle in self.angles.items():
            power = combine(influx, angle, self.solar_constant, *shade)
            table.add_series(f"influx {surface}", power, "influx", how="integral", lags=lags)
        table.add_time_since(self.commands, cap, "commands")
        table.add_states(self.pointings, "pointing")
        table.add_states(self.eclipses, "eclipses")
        for line, current in self.currents.items():
            table.add_target(line, current)
        return table


def influx(angle: np.ndarray, solar: np.ndarray, umbra: np.ndarray, penumbra: np.ndarray) -> np.ndarray:
    """Return the power per area on a surface whose normal is at an angle (in degrees) to the Sun: half in penumbra.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.timeseries.spacecraft import influx
    >>> influx(np.array([0.0, 120.0]), np.array([600.0, 600.0]), np.zeros(2), np.array([1.0, 0.0]))
    array([300.,   0.])
    """
    return np.maximum(np.cos(np.radians(angle)), 0) * solar * (1 - umbra - 0.5 * penumbra)


def make_spacecraft(
    n_days: int = 60,
    *,
    change: float = 0.5,
    n_commands: int = 24,
    noise: float = 0.05,
    random_state: RandomState = None,
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
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    Spacecraft
        The raw data and what the heaters answer to.

    Examples
    --------
    >>> from omnirank.datasets import make_spacecraft
    >>> craft = make_spacecraft(10, random_state=0)
    >>> len(craft.currents), craft.change
    (33, np.datetime64('2017-08-22T00:00'))
    >>> train, test = craft.learning_table("1h").split(craft.change, gap="12h")
    >>> train.task, train.n_features
    ('multi-target-regression', 74)
    """
    check("n_days", n_days, count(2))
    check("change", change, number(above=0, below=1, kind="a share"))
    check("n_commands", n_commands, count(1))
    check("noise", noise, number(0))
    rng = stream(root_entropy(random_state), 0)
    n_minutes = n_days * _DAY
    changes_at = round(change * n_days * 24) * 60
    flight = fly(n_minutes, n_commands, rng)
    drivers = draw_drivers(flight, rng)
    currents = draw_currents(flight, drivers, changes_at, noise, rng)
    minutes = np.arange(0, n_minutes + 1, _EVERY)
    names = [f"heater{line + 1:02d}" for line in range(N_LINES)]
    sent = minutes[_received(len(minutes), rng)]
    # now and then one measurement is lost, of which the table sees nothing: gaps of ten minutes are filled
    seen = minutes[(rng.random(len(minutes)) > 0.01) | (minutes == 0) | (minutes == n_minutes)]
    codes = [code for code, times in flight.commands.items() for _ in times]
    return Spacecraft(
        start=_LAUNCH,
        stop=_LAUNCH + n_minutes,
        change=_LAUNCH + changes_at,
        angles={name: _series(seen, values, _MAX_GAP) for name, values in flight.angles.items()},
        solar_constant=_series(np.arange(0, n_minutes + 1, 360), flight.solar),
        commands=Events(_LAUNCH + np.concatenate(list(flight.commands.values())), codes),
        pointings=_states(flight.pointings),
        eclipses=_states(flight.eclipses),
        currents={name: _series(sent, currents[line], _MAX_GAP) for line, name in enumerate(names)},
        drivers=_truth(drivers, names),
    )


def _received(n: int, rng: np.random.Generator) -> np.ndarray:
    """Mask of the measurements that arrive: one in a hundred is lost, and all in two breaks of three hours."""
    received = rng.random(n) > 0.01
    width = 3 * 60 // _EVERY
    for first in (rng.integers(n // 8, n // 4), rng.integers(5 * n // 8, 3 * n // 4)):
        received[first : first + width] = False
    received[[0, -1]] = True
    return received


def _series(minutes: np.ndarray, values: np.ndarray, max_gap: str | None = None) -> Series:
    return Series(_LAUNCH + minutes, values[minutes], max_gap=max_gap)


def _states(states: list[tuple[int, int, str]]) -> States:
    starts, ends, kinds = zip(*states, strict=True)
    return States(_LAUNCH + np.array(starts), _LAUNCH + np.array(ends), kinds)


def _truth(drivers: list[Driver], names: list[str]) -> pd.DataFrame:
    rows = [(names[d.line], d.group, d.source, d.before, d.after) for d in drivers]
    return pd.DataFrame(rows, columns=["line", "group", "source", "before", "after"])
