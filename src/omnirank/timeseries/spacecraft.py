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
from omnirank.timeseries.events import Events, States
from omnirank.timeseries.grid import Grid
from omnirank.timeseries.learning_table import LearningTable
from omnirank.timeseries.series import Series, combine
from omnirank.timeseries.spacecraft_model import (
    GROUPS,
    N_LINES,
    PENUMBRA,
    UMBRA,
    Driver,
    draw_currents,
    draw_drivers,
    fly,
)

_LAUNCH = np.datetime64("2017-08-17T00:00", "m")
_EVERY = 2  # minutes between two measurements
_MAX_GAP = "10min"
_DAY = 1440


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
