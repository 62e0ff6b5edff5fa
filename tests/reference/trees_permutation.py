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


def error_sums(nodes, right, features, rows, weight, error, seed):
    """Sums of the weighted errors of rows: as they are, and their changes when each feature is permuted.

    ``error(row, leaf)`` is the list of the errors of all targets.
    """

    def values(row):
        return [x[row] for x in features]

    def total(feature, replacement):
        found = []
        for row, other in zip(rows, replacement, strict=True):
            example = values(row)
            if feature is not None:
                example[feature] = features[feature][other]
            found.append(weight[row] * np.array(error(row, leaf_of(nodes, right, example))))
        return np.sum(found, axis=0)

    base = total(None, rows)
    orders = donors(rows, len(features), seed)
    return base, np.array([total(f, order) - base for f, order in enumerate(orders)])
