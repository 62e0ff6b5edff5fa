"""How much time further fits of a report may take, and how much they took."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from omnirank.core.stopwatch import Stopwatch

# Rankings that take a moment would leave no time for anything, not even for reading kernels from the disk: so many
# seconds are always there.
LEAST_SECONDS = 5.0


class Budget:
    """Seconds that may be spent, and what they were spent on.

    Parameters
    ----------
    times : float
        How often the time of the ranking may be spent; 0: nothing may be.
    own : float or None
        Seconds that the ranking took; may be set later, and until then all is allowed.
    clock : callable
        Tells the time in seconds.

    Examples
    --------
    >>> from omnirank.report.budget import Budget
    >>> times = iter([10.0, 12.5])
    >>> budget = Budget(3, own=1.0, clock=lambda: next(times))
    >>> with budget.charged("stability"):
    ...     pass
    >>> budget.costs, budget.left, budget.allows(1.0)
    ({'stability': 2.5}, 2.5, True)
    """

    def __init__(self, times: float, own: float | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.times = float(times)
        self.own = own
        self.costs: dict[str, float] = {}
        self.clock = clock

    @property
    def seconds(self) -> float:
        """What may be spent in all."""
        if self.times <= 0:
            return 0.0
        return math.inf if self.own is None else max(LEAST_SECONDS, self.times * self.own)

    @property
    def spent(self) -> float:
        """Seconds spent so far."""
        return sum(self.costs.values())

    @property
    def left(self) -> float:
        """Seconds that are left; below 0 where the last work took longer than expected."""
        return self.seconds - self.spent

    def allows(self, expected: float, share: float = 1.0) -> bool:
        """Whether work of so many seconds fits into what is left of a share of the budget."""
        return self.seconds > 0 and expected <= share * self.seconds - self.spent

    @contextmanager
    def charged(self, what: str) -> Iterator[None]:
        """Charge the time that a block takes, without compiling, which happens once per installation."""
        watch = Stopwatch(self.clock)
        try:
            with watch:
                yield
        finally:
            self.costs[what] = self.costs.get(what, 0.0) + watch.seconds
