"""Nearest rows in Euclidean distance: candidates from products of matrices, then their exact distances."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import allocating, compiled, inlined
from omnirank.neighbors.kernels.search import keep_nearest


@compiled
def keep_candidates(rough, own, others, ids, distances):
    """Put the distances of rows to some other rows into the lists of their nearest.

    rough (n_rows * n_blocks, width): in single precision, block after block of the others of each row; own (n_rows,):
    numbers of the rows; others (n_blocks, width): numbers of the others; ids, distances (n_rows, 1, k): the lists,
    nearest first, where -1 and infinite distances are free places.
    """
    n_blocks, last = len(others), ids.shape[2] - 1
    for row in range(len(own)):
        for block in range(n_blocks):
            keep_nearest(rough, row * n_blocks + block, others, block, own[row], ids, distances, row, 0, last)


@inlined
def _tied_distance(values, first, second):
    """The squared distance, rounded to 32 bits: sums of other rounding are ties, whatever the scale."""
    total = 0.0
    for column in range(values.shape[1]):
        apart = values[first, column] - values[second, column]
        total += apart * apart
    # the upper half of a sum by Dekker's splitting; sums that would overflow stay as they are
    product = total * (2.0**21 + 1)
    return product - (product - total) if product < np.inf else total


@allocating
def order_candidates(values, own, ids, nearest, farthest):
    """Fill nearest (n_rows, k) with the nearest candidates, nearest first, and farthest with the distances of the k-th.

    ids (n_rows, n): numbers of the candidates of the rows ``own``. Of ties the first row wins.
    """
    n, k = ids.shape[1], nearest.shape[1]
    keys, numbers = np.empty(n), np.empty(n, np.int64)
    for row in range(len(own)):
        for candidate in range(n):
            number = ids[row, candidate]
            key = _tied_distance(values, own[row], number)
            place = candidate
            while place > 0 and (keys[place - 1] > key or (keys[place - 1] == key and numbers[place - 1] > number)):
                keys[place], numbers[place] = keys[place - 1], numbers[place - 1]
                place -= 1
            keys[place], numbers[place] = key, number
        for place in range(k):
            nearest[row, place] = numbers[place]
        farthest[row] = keys[k - 1]


@allocating
def nearest_of_all(values, own, least, nearest):
    """Fill nearest (n_rows, k) with the nearest of all rows, given lower bounds (n_rows, n) of squared distances."""
    k = nearest.shape[1]
    keys = np.empty(k)
    for row in range(len(own)):
        keys[:] = np.inf
        for number in range(least.shape[1]):
            if least[row, number] > keys[k - 1] or number == own[row]:
                continue
            key = _tied_distance(values, own[row], number)
            if key >= keys[k - 1]:
                continue
            # numbers ascend: of ties the first stays in front
            place = k - 1
            while place > 0 and keys[place - 1] > key:
                keys[place], nearest[row, place] = keys[place - 1], nearest[row, place - 1]
                place -= 1
            keys[place], nearest[row, place] = key, number
