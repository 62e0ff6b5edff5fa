"""The generated spacecraft minute by minute: attitude, eclipses, commands, and what its heaters do about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    >>> from omnirank.timeseries.spacecraft_model import fly
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
    >>> from omnirank.timeseries.spacecraft_model import held
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
    >>> from omnirank.timeseries.spacecraft_model import minutes_since
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
