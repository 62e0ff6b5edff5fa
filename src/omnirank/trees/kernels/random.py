"""Random numbers inside kernels: one state per node, derived from its place in the tree alone.

A node's draws do not depend on the order in which nodes are visited, so every kernel grows the same tree.
"""

from __future__ import annotations

import numba
import numpy as np

from omnirank.core.compiled import inlined
from omnirank.core.kernels.vector import larger


@inlined
def mix(x):
    """SplitMix64: a well-mixed 64-bit hash of a 64-bit number; also the step of the random state."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


if numba.config.DISABLE_JIT:  # numpy warns where compiled integers wrap silently, as they should here
    mix = np.errstate(over="ignore")(mix)


@inlined
def child_seed(seed, side):
    """Seed of a node's left (0) or right (1) child."""
    return mix(seed ^ (np.uint64(side) + np.uint64(1)))


@inlined
def below(state, limit):
    """Uniform integer in [0, limit) from a random state."""
    return np.int64(((state >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@inlined
def unit(state):
    """Uniform float in [0, 1) from a random state."""
    return np.float64(state >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inlined
def between(low, high, share):
    """The number that lies a share of the way from low to high, also where their difference is infinite."""
    span = high - low
    if span == np.inf:  # low < 0 < high; the maximum keeps the compiler from factoring the share out
        return (1.0 - share) * low + larger(np.float64(share * high), 0.0)
    return low + share * span


@inlined
def tie_priority(seed, feature, position, first):
    """Among equal gains the candidate of highest priority wins: by the seed, or the first one."""
    place = (np.uint64(feature) << np.uint64(32)) | np.uint64(position)
    return ~place if first else mix(seed ^ mix(place))
