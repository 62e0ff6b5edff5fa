"""What both growing loops share: drawing features, comparing candidate tests, refusing light leaves.

All kinds of features and spaces grow the same tree because they do these steps by the same code: a node's draws depend
on its seed alone, and equal gains are decided by a hash of the seed and the test.
"""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import inlined
from omnirank.core.kernels.vector import larger
from omnirank.trees.kernels.random import below, mix, tie_priority

# Gains closer than this (relative) are ties; rounding must not decide between them.
TIE = 1e-9
# Rounding of a node's sums, relative and per row.
ROUNDING = 4e-16
# Weights are sums of floats: a leaf may miss its least weight by this much.
SLACK = 1e-9

# Nodes of so many rows are looked at for one that is heavier than all others.
OUTWEIGHED = 4

# Parts of every test: its feature, its priority among ties, and what the node's random tests derive from; others follow
# in the searches.
FEATURE, PRIORITY, STATE = 0, 1, 2

# Keeps the stream of random tests apart from that of drawn features.
_TESTS_KEY = np.uint64(0x5851F42D4C957F2D)
# Keeps the draws that replace an inadmissible test apart from those of the next features.
REDRAW_KEY = np.uint64(0x2545F4914F6CDD1D)


@inlined
def open_search(best, test, impurity, n, settings, seed):
    """Forget the best test; one of n rows must take more of their impurity than rounding of their sums may, or more."""
    best[0] = impurity * larger(settings.min_gain, (n + 64) * ROUNDING)
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
