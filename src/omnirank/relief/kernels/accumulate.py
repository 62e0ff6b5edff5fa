"""The sums of Relief over pairs of examples."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import allocating, compiled, inlined
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


@allocating
def accumulate_known(cells, n_numeric, rows, ids, weights, products, sums):
    """Do what `accumulate` does where both cells are known, and add up the pairs that are left out.

    sums (4, n_features): w d_Y d_i and w d_i of the pairs in which feature i is known, w d_Y and w of the others.
    """
    distances = np.empty(sums.shape[1])
    for j in range(len(rows)):
        for q in range(ids.shape[1]):
            if weights[j, q] != 0:
                _add_known(cells, n_numeric, rows[j], ids[j, q], weights[j, q], products[j, q], distances, sums)


@allocating
def accumulate_stored(cells, rows, ids, weights, products, known_only, sums):
    """Do what `accumulate` does for sparse cells, or `accumulate_known`; features that neither row stores add 0.

    sums (2 or 4, n_features): as in `accumulate_known`, of which the first two are those of `accumulate`.
    """
    columns, distances = np.empty(sums.shape[1], np.int64), np.empty(sums.shape[1])
    for j in range(len(rows)):
        for q in range(ids.shape[1]):
            if weights[j, q] != 0:
                n = stored_distances(cells, rows[j], ids[j, q], columns, distances, known_only)
                for place in range(n):
                    column, distance = columns[place], distances[place]
                    if np.isnan(distance):
                        sums[2, column] += products[j, q]
                        sums[3, column] += weights[j, q]
                    else:
                        sums[0, column] += products[j, q] * distance
                        sums[1, column] += weights[j, q] * distance


@inlined
def _add_known(cells, n_numeric, first, second, weight, product, distances, sums):
    values = cells.values
    for column in range(n_numeric):
        distances[column] = abs(values[first, column] - values[second, column])
    for column in range(n_numeric, values.shape[1]):
        distances[column] = 1.0 if values[first, column] != values[second, column] else 0.0
    _leave_out(cells, first, weight, product, distances, sums)
    _leave_out(cells, second, weight, product, distances, sums)
    for column in range(values.shape[1]):
        distance = max(distances[column], 0.0)
        sums[0, column] += product * distance
        sums[1, column] += weight * distance


@inlined
def _leave_out(cells, row, weight, product, distances, sums):
    """Note the missing cells of a row; where the distance is negative, the other example misses the cell, too."""
    for place in range(cells.missing_start[row], cells.missing_start[row + 1]):
        column = cells.missing[place]
        if distances[column] >= 0:
            sums[2, column] += product
            sums[3, column] += weight
            distances[column] = -1.0


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
