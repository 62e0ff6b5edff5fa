"""Permuting features, straight from the definition: every row is routed from the root, on raw values.

Only the random numbers come from the package, so that the permutation is the same.
"""

from __future__ import annotations

import numpy as np

from reference.trees_growing import below, missing_cells, mix


def leaf_of(nodes, right, values):
    """Leaf of an example with the given feature values; children by preorder."""
    here = 0
    while nodes[here].feature is not None:
        node = nodes[here]
        x = values[node.feature]
        if missing_cells(np.array([x]))[0]:
            left = node.missing_left
        elif node.subset is not None:
            left = int(x) in node.subset
        else:
            left = x <= node.threshold
        here = here + 1 if left else int(right[here])
    return here


def donors(rows, n_features, seed):
    """For each feature, the row whose value each of the rows gets.

    One random permutation of the rows, which every feature turns by a random number of places.
    """
    state = mix(np.uint64(seed))
    shuffled = list(rows)
    for i in range(len(rows) - 1, 0, -1):
        state = mix(state)
        j = below(state, i + 1)
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    out = []
    for _ in range(n_features):
        state = mix(state)
        shift = below(state, len(rows))
        out.append(shuffled[shift:] + shuffled[:shift])
    return out
