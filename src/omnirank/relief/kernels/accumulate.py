"""The sums of Relief over pairs of examples."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import compiled, inlined
from omnirank.neighbors.kernels.sparse_search import stored_distances


@compiled
def accumulate(cells, n_numeric, rows, ids, weights, products, p_f, p_ft):
    """Add w d_i to p_f[i] and w d_Y d_i to p_ft[i], over the pairs (rows[j], ids[j, q]).

    weights (n_rows, k): pair weights w; products: w d_Y. Pairs of weight 0 do not count.
    """
    for j in range(len(rows)):
        for q in range(ids.shape[1]):
            if weights[j, q] != 0:
                _add_pair(cells, n_numeric, rows[j], ids[j, q], weights[j, q], products[j, q], p_f, p_ft)


@compiled
def accumulate_stored(cells, rows, ids, weights, products, p_f, p_ft):
    """Do what `accumulate` does for sparse cells: features that neither row stores add nothing."""
    columns, distances = np.empty(len(p_f), np.int64), np.empty(len(p_f))
    for j in range(len(rows)):
        for q in range(ids.shape[1]):
            if weights[j, q] != 0:
                n = stored_distances(cells, rows[j], ids[j, q], columns, distances)
                for place in range(n):
                    p_f[columns[place]] += weights[j, q] * distances[place]
                    p_ft[columns[place]] += products[j, q] * distances[place]


@inlined
def _add_pair(cells, n_numeric, first, second, weight, product, p_f, p_ft):
    values = cells.values
    for column in range(n_numeric):
        distance = abs(values[first, column] - values[second, column])
        p_f[column] += weight * distance
        p_ft[column] += product * distance
    for column in range(n_numeric, values.shape[1]):
        distance = 1.0 if values[first, column] != values[second, column] else 0.0
        p_f[column] += weight * distance
        p_ft[column] += product * distance
    for place in range(cells.missing_start[first], cells.missing_start[first + 1]):
        column = cells.missing[place]
        p_f[column] += weight * cells.correction[column]
        p_ft[column] += product * cells.correction[column]
    for place in range(cells.missing_start[second], cells.missing_start[second + 1]):
        column = cells.missing[place]
        if column < n_numeric or not np.isnan(values[first, column]):
            p_f[column] += weight * cells.correction[column]
            p_ft[column] += product * cells.correction[column]
