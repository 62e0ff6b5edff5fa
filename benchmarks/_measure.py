"""Contestants on the same work, timed in alternation; single figures; the bars they should reach."""

from __future__ import annotations

import gc
import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks._memory import peak_memory

__all__ = ["Bar", "Comparison", "Contestant", "Figure", "Timing", "compare", "figure"]

MIN_REPETITIONS = 3


@dataclass(frozen=True)
class Bar:
    """What a ratio or a figure should reach.

    Parameters
    ----------
    at_least, at_most : float, optional
        The bounds, inclusive; at least one of them.
    against : str, optional
        In a comparison, the contestant whose ratio counts; by default the ratios of all.

    Examples
    --------
    >>> Bar(at_least=4).met(4.2), str(Bar(at_least=4))
    (True, 'at least 4')
    """

    at_least: float | None = None
    at_most: float | None = None
    against: str | None = None

    def __post_init__(self) -> None:
        if self.at_least is None and self.at_most is None:
            raise ValueError("a bar needs at_least or at_most")

    def __str__(self) -> str:
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)

    def met(self, value: float) -> bool:
        """Whether the value lies within the bounds (NaN never does)."""
        low = -float("inf") if self.at_least is None else self.at_least
        high = float("inf") if self.at_most is None else self.at_most
        return low <= value <= high

    def as_dict(self, met: bool | None) -> dict[str, Any]:
        """Return the JSON form, with the verdict (None: could not be judged)."""
        bounds = {"at_least": self.at_least, "at_most": self.at_most, "against": self.against}
        return {key: value for key, value in bounds.items() if value is not None} | {"met": met}


@dataclass(frozen=True)
class Contestant:
    """One way of doing the work.

    Parameters
    ----------
    name : str
        Name in the tables.
    setup : callable
        ``setup() -> data``, outside the measurement: loads or makes the data, imports what is needed.
    run : callable
        ``run(data) -> output``: the work measured.
    quality : callable, optional
        ``quality(output) -> dict`` of figures to show beside the time.
    requires : tuple of str
        Modules without which the contestant is skipped.
    warm_up : callable, optional
        ``warm_up()``, once before anything is measured, for compiling kernels on a tiny case; without
        it ``run`` itself is executed once untimed.

    Notes
    -----
    Memory is measured in a fresh process: `setup`, `run` and `warm_up` must be importable functions or
    ``functools.partial`` of them, not lambdas or nested functions.
    """

    name: str
    setup: Callable[[], Any]
    run: Callable[[Any], Any]
    quality: Callable[[Any], Mapping[str, float]] | None = None
    requires: tuple[str, ...] = ()
    warm_up: Callable[[], Any] | None = None

    def missing(self) -> str | None:
        """Name the first required module that is not installed."""
        return next((name for name in self.requires if not _is_installed(name)), None)


@dataclass(frozen=True)
class Timing:
    """What was measured of one contestant."""

    name: str
    seconds: tuple[float, ...]
    peak_memory_bytes: int | None = None
    quality: Mapping[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Median time of the repetitions."""
        return statistics.median(self.seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "median_seconds": _short(self.median),
            "spread_seconds": _short(half_range(self.seconds)),
            "seconds": [_short(value) for value in self.seconds],
            "peak_memory_bytes": self.peak_memory_bytes,
            "quality": {key: _short(value) for key, value in self.quality.items()},
        }


@dataclass(frozen=True)
class Comparison:
    """Contestants timed in one run; the first of `timings` is the subject of the ratios."""

    name: str
    timings: tuple[Timing, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    bar: Bar | None = None

    def ratio(self, other: str) -> float:
        """Median time of another contestant over the subject's."""
        return self._timing(other).median / self.timings[0].median

    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar or without the contestant it is set against."""
        if self.bar is None:
            return None
        names = [t.name for t in self.timings[1:] if self.bar.against in (None, t.name)]
        return all(self.bar.met(self.ratio(name)) for name in names) if names else None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        ratios = {
            timing.name: {"value": _short(self.ratio(timing.name)), "spread": _short(self._spread(timing))}
            for timing in self.timings[1:]
        }
        return {
            "name": self.name,
            "contestants": [timing.as_dict() for timing in self.timings],
            "ratios": ratios,
            "skipped": dict(self.skipped),
            "bar": None if self.bar is None else self.bar.as_dict(self.met()),
        }

    def _timing(self, name: str) -> Timing:
        return next(timing for timing in self.timings if timing.name == name)

    def _spread(self, other: Timing) -> float:
        # Repetitions alternate, so that the pairs share what else the machine was doing.
        pairs = zip(other.seconds, self.timings[0].seconds, strict=True)
        return half_range([theirs / ours for theirs, ours in pairs])


@dataclass(frozen=True)
class Figure:
    """A single figure, with what it should reach."""

    name: str
    value: float
    unit: str = ""
    bar: Bar | None = None
    spread: float | None = None

    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        return None if self.bar is None else self.bar.met(self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "value": _short(self.value),
            "unit": self.unit,
            "spread": None if self.spread is None else _short(self.spread),
            "bar": None if self.bar is None else self.bar.as_dict(self.met()),
        }


def figure(name: str, value: float, unit: str = "", *, bar: Bar | None = None, spread: float | None = None) -> Figure:
    """Return a single figure: a growth factor, wall seconds, a share of the machine's peak.

    Examples
    --------
    >>> figure("import", 0.21, "s", bar=Bar(at_most=0.3)).met()
    True
    """
    return Figure(name, float(value), unit, bar, spread)


def compare(
    name: str,
    contestants: Sequence[Contestant],
    *,
    repetitions: int = 5,
    bar: Bar | None = None,
    memory: bool = True,
) -> Comparison:
    """Run the contestants in alternation and return their times, peak memories and ratios.

    Parameters
    ----------
    name : str
        Name of the comparison, unique within its benchmark.
    contestants : sequence of Contestant
        The first is the subject: a bar of "at least 4" means the others take 4 times as long.
    repetitions : int
        At least 3.
    bar : Bar, optional
        What the ratios should reach.
    memory : bool
        Measure the peak memory of each contestant, in one more run in a fresh process.
    """
    if repetitions < MIN_REPETITIONS:
        raise ValueError(f"repetitions={repetitions}: a median and a spread need at least {MIN_REPETITIONS}")
    if len({contestant.name for contestant in contestants}) != len(contestants):
        raise ValueError(f"{name}: two contestants have the same name")
    if bar is not None and bar.against is not None and bar.against not in [c.name for c in contestants[1:]]:
        raise ValueError(f"{name}: the bar is against {bar.against!r}, which is not a contestant")
    skipped = {c.name: f"{missing} is not installed" for c in contestants if (missing := c.missing())}
    if not contestants or contestants[0].name in skipped:
        raise ValueError(f"{name}: the first contestant, the subject of the ratios, must be there")
    present = [contestant for contestant in contestants if contestant.name not in skipped]
    for other, why in skipped.items():
        print(f"    {name}: {other} skipped, {why}")
    return Comparison(name, tuple(_time_all(present, repetitions, memory)), skipped, bar)


def median_seconds(work: Callable[[], Any], repetitions: int = 5) -> float:
    """Return the median wall time of some work, after one call that does not count."""
    work()
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def median_ratio(work: Callable[[], Any], base: Callable[[], Any], repetitions: int = 9) -> float:
    """Return how many times as long as ``base`` some work takes: the median over runs of both in turns."""
    work(), base()  # these do not count
    ratios = []
    for _ in range(repetitions):
        times = []
        for timed in (work, base):
            start = time.perf_counter()
            timed()
            times.append(time.perf_counter() - start)
        ratios.append(times[0] / times[1])
    return statistics.median(ratios)


def half_range(values: Sequence[float]) -> float:
    """Half the distance between the smallest and the largest value: the spread shown after a median."""
    return (max(values) - min(values)) / 2


def _time_all(contestants: Sequence[Contestant], repetitions: int, memory: bool) -> list[Timing]:
    # Memory first: the data of this process is not loaded yet, so that both fit in the machine.
    peaks = [peak_memory(c.setup, c.run, warm_up=c.warm_up) if memory else None for c in contestants]
    data = []
    for contestant in contestants:
        data.append(contestant.setup())
        if contestant.warm_up is not None:
            contestant.warm_up()
        else:
            contestant.run(data[-1])
    seconds: list[list[float]] = [[] for _ in contestants]
    quality: list[Mapping[str, float]] = [{} for _ in contestants]
    for _ in range(repetitions):
        for i, contestant in enumerate(contestants):
            gc.collect()
            start = time.perf_counter()
            output = contestant.run(data[i])
            seconds[i].append(time.perf_counter() - start)
            if contestant.quality is not None:
                quality[i] = contestant.quality(output)
            del output
    return [
        Timing(contestant.name, tuple(seconds[i]), peaks[i], quality[i]) for i, contestant in enumerate(contestants)
    ]


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around a submodule is missing
        return False


def _short(value: float) -> float:
    """Six significant digits: more would be noise in the committed files."""
    return float(f"{float(value):.6g}")
