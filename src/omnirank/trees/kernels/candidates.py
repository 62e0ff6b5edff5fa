"""Candidate tests: random numbers, drawing features, comparing gains, refusing light leaves.

All kinds of features and spaces grow the same tree because they do these steps by the same code. A node's random state
derives from its place in the tree alone, so draws do not depend on the order in which nodes are visited. Equal gains
are decided by a hash of the seed and the test.
"""

from __future__ import annotations

import numba
import numpy as np

from omnirank.core.compiled import inlined
from omnirank.core.kernels.vector import larger

# Gains closer than this (relative) are ties; rounding must not decide between them.
TIE = 1e-9
# Rounding of a node's sums, relative and per row.
ROUNDING = 4e-16
# Weights are sums of floats: a leaf may miss its least weight by this much.
SLACK = 1e-9

# Largest node size for which we check whether one row outweighs all others.
OUTWEIGHED = 4

# Parts of every test: its feature, its priority among ties, and what the node's random tests derive from; the searches
# add further parts.
FEATURE, PRIORITY, STATE = 0, 1, 2

# Keeps the stream of random tests apart from that of drawn features.
_TESTS_KEY = np.uint64(0x5851F42D4C957F2D)
# Keeps the draws that replace an inadmissible test apart from those of the next features.
REDRAW_KEY = np.uint64(0x2545F4914F6CDD1D)


# -- random numbers ---------------------------------------------------------------------------------------


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
def drawn_between(cells, low, high, state):
    """Uniform between two values, in the precision of the cells, below the larger one."""
    threshold = np.float64(cells.dtype.type(between(low, high, unit(state))))
    return threshold if threshold < high else np.float64(low)  # rounding


@inlined
def tie_priority(seed, feature, position, first):
    """Among equal gains the candidate of highest priority wins: by the seed, or the first one."""
    place = (np.uint64(feature) << np.uint64(32)) | np.uint64(position)
    return ~place if first else mix(seed ^ mix(place))


# -- candidates -------------------------------------------------------------------------------------------


@inlined
def open_search(best, test, impurity, n, seed):
    """Forget the best test; one of n rows must take more of their impurity than rounding of their sums may."""
    best[0] = impurity * ((n + 64) * ROUNDING)
    test[FEATURE] = -1
    test[STATE] = np.int64(mix(seed ^ _TESTS_KEY))


@inlined
def draw_feature(pool, swaps, n_drawn, state):
    """Draw a feature from those not drawn yet, and note the swap."""
    j = n_drawn + below(state, len(pool) - n_drawn)
    f = pool[j]
    pool[j] = pool[n_drawn]
    pool[n_drawn] = f
    swaps[n_drawn] = j
    return f


@inlined
def put_back(pool, swaps, n_drawn):
    """Put the pool back in order: a node's draw must not depend on the nodes before it."""
    for d in range(n_drawn - 1, -1, -1):
        j = swaps[d]
        f = pool[d]
        pool[d] = pool[j]
        pool[j] = f


@inlined
def test_state(test, f):
    """Return the random state of feature f's test: it does not depend on which features are drawn before it."""
    return mix(np.uint64(test[STATE]) ^ np.uint64(f))


@inlined
def redrawn(state):
    """Return the random state of the test that replaces one drawn from the given state."""
    return mix(state ^ REDRAW_KEY)


@inlined
def too_little(k, min_leaf):
    """Whether a leaf of weight k is too light."""
    return k < min_leaf - SLACK


@inlined
def is_light(k, total, min_leaf):
    """Whether a child is too light where k of the total weight is split off."""
    return too_little(k, min_leaf) or too_little(total - k, min_leaf)


@inlined
def is_final(size, depth, impurity, total, settings):
    """Whether a node cannot be split, whatever its rows."""
    if size < 2 or depth >= settings.max_depth or impurity <= 0.0:
        return True
    return too_little(total, 2.0 * settings.min_leaf)


@inlined
def push(stack, top, lo, hi, depth, node, mark):
    """Let a node wait: the rows lo..hi, their depth, a node of the tree (itself or its parent), and a mark."""
    stack[top, 0] = lo
    stack[top, 1] = hi
    stack[top, 2] = depth
    stack[top, 3] = node
    stack[top, 4] = mark


@inlined
def better(gain, f, position, first_tie, seed, best, test):
    """Whether a candidate beats the best so far, which it then becomes; ties are decided by priority."""
    if not gain > best[0] * (1.0 - TIE):  # also refuses NaN
        return False
    priority = tie_priority(seed, f, position, first_tie)
    if gain <= best[0] * (1.0 + TIE) and (test[FEATURE] < 0 or priority <= np.uint64(test[PRIORITY])):
        return False
    best[0] = larger(gain, best[0])
    test[FEATURE] = f
    test[PRIORITY] = np.int64(priority)
    return True
