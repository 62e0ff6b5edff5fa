"""Random streams: one independent stream per tree, named by a root entropy and a spawn key.

Tree ``i`` of a forest draws only from the stream with spawn key ``i``. So the first trees of a large
forest are the trees of a small one, adding trees later equals growing them at once, the number of workers
changes no bit, and forests grown on different machines can be merged when their keys do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from operator import index
from typing import Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import SEED, check
from omnirank.core.types import RandomState

# Second spawn key of kernel seeds: a child that Generator.spawn() of the same stream does not reach.
_KERNEL_KEY = 0xFFFFFFFF
_NONZERO_SEED = 0x9E3779B97F4A7C15


def root_entropy(random_state: RandomState = None) -> int:
    """Return the root entropy that a ``random_state`` stands for.

    Parameters
    ----------
    random_state : None, int, RandomState or Generator
        None draws fresh entropy from the operating system; an integer from 0 to 2**128 - 1 is the entropy;
        from a RandomState or Generator 128 bits are drawn, which advances it, so that a second call gives
        another entropy.

    Returns
    -------
    int
        Entropy below 2**128.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.seeds import root_entropy
    >>> root_entropy(42)
    42
    >>> root_entropy(np.random.default_rng(0)) == root_entropy(np.random.default_rng(0))
    True
    """
    if check("random_state", random_state, SEED) is None:
        return _fresh_entropy()
    if isinstance(random_state, Integral):
        return int(random_state)
    generator: Any = random_state
    draw = generator.integers if isinstance(generator, np.random.Generator) else generator.randint
    words = draw(0, 2**32, size=4, dtype=np.uint32)
    return int.from_bytes(words.astype("<u4").tobytes(), "little")


def _fresh_entropy() -> int:
    # SeedSequence draws 128 bits from the operating system when it is given none.
    return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]


def stream(entropy: int, key: int) -> np.random.Generator:
    """Return the random stream with a spawn key; equal arguments give equal streams.

    Examples
    --------
    >>> from omnirank.core.seeds import stream
    >>> bool(stream(42, 7).random() == stream(42, 7).random())
    True
    >>> bool(stream(42, 7).random() == stream(42, 8).random())
    False
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=(key,))))


def kernel_seed(entropy: int, key: int) -> np.uint64:
    """Return the non-zero 64-bit seed of a compiled kernel; independent of ``stream(entropy, key)``.

    Examples
    --------
    >>> from omnirank.core.seeds import kernel_seed
    >>> len({int(kernel_seed(42, key)) for key in (7, 7, 8)})
    2
    """
    sequence = np.random.SeedSequence(entropy, spawn_key=(key, _KERNEL_KEY))
    seed = sequence.generate_state(1, np.uint64)[0]
    # xorshift generators never leave the state 0
    return np.uint64(seed if seed else _NONZERO_SEED)


@dataclass(frozen=True)
class SeedRanges:
    """The random streams that a result has used: spawn keys ``start`` to ``stop - 1`` of root entropies.

    Parameters
    ----------
    ranges : tuple of (entropy, start, stop)
        Half-open ranges of spawn keys; stored sorted, adjacent ranges joined.

    Examples
    --------
    >>> from omnirank.core.seeds import SeedRanges
    >>> first, second = SeedRanges.of(42, 0, 100), SeedRanges.of(42, 100, 150)
    >>> first.overlap(second) is None
    True
    >>> first.union(second)
    SeedRanges(ranges=((42, 0, 150),))
    """

    ranges: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", _joined(self.ranges))

    @classmethod
    def of(cls, entropy: int, start: int, stop: int) -> SeedRanges:
        """Return the ranges that hold the keys from ``start`` to ``stop - 1`` of one entropy."""
        return cls(((entropy, start, stop),))

    def overlap(self, other: SeedRanges) -> tuple[int, int, int] | None:
        """Return the first range of streams that both have used, or None."""
        shared = (
            (entropy, max(start, other_start), min(stop, other_stop))
            for entropy, start, stop in self.ranges
            for other_entropy, other_start, other_stop in other.ranges
            if entropy == other_entropy
        )
        return next((common for common in shared if common[1] < common[2]), None)

    def union(self, other: SeedRanges) -> SeedRanges:
        """Return the ranges of both, which must not overlap."""
        return SeedRanges(self.ranges + other.ranges)


def _joined(ranges: Iterable[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    joined: list[tuple[int, int, int]] = []
    for entropy, start, stop in sorted((index(e), index(a), index(b)) for e, a, b in ranges):
        if entropy < 0 or not 0 <= start < stop:
            raise ParameterError(f"[{start}, {stop}) of entropy {entropy} is not a range of spawn keys")
        if joined and joined[-1][0] == entropy and start <= joined[-1][2]:
            if start < joined[-1][2]:
                raise ParameterError(f"the spawn keys from {start} of entropy {entropy} are given twice")
            joined[-1] = (entropy, joined[-1][1], stop)
        else:
            joined.append((entropy, start, stop))
    return tuple(joined)
