"""Growing one node: for trees of which every node has candidates of its own.

The loop over the nodes is the caller's; what happens in a node is what happens in a node of `grow`, with the same
random state, so that candidates that are the same everywhere give the same tree.
"""

from __future__ import annotations

from omnirank.core.compiled import compiled
from omnirank.core.kernels.vector import larger, uncounted
from omnirank.trees.kernels.grow import enter_node, split_node
from omnirank.trees.kernels.random import child_seed, mix


@compiled
def grow_node(
    space, features, rows, weight, lo, hi, depth, me, n_subsets, seed, least_gain, least_share,
    settings, work, node, spare, nodes,
):  # fmt: skip
    """Open node ``me`` of the rows from lo to hi, and split it where that gains enough.

    Parameters as in `grow`, and the least gain of the tree (found in node 0, whose seed is that of the tree) and the
    least share of the node's own impurity. Returns how many rows go left (0: a leaf), the number of words that hold
    subsets of levels, the seeds of the children, and the least gain of the tree.
    """
    space = uncounted(space)
    features = uncounted(features)
    rows = uncounted(rows)
    weight = uncounted(weight)
    work = uncounted(work)
    node = uncounted(node)
    spare = uncounted(spare)
    nodes = uncounted(nodes)
    total, impurity = enter_node(space, node, rows, weight, lo, hi, depth, nodes, me)
    if me == 0:
        seed = mix(seed)
        least_gain = settings.min_gain * impurity
    least = larger(least_gain, least_share * impurity)
    n_left, n_subsets = split_node(
        space, node, features, rows, weight, lo, hi, depth, total, impurity, least,
        settings, seed, work, spare, nodes, me, n_subsets,
    )  # fmt: skip
    return n_left, n_subsets, child_seed(seed, 0), child_seed(seed, 1), least_gain
