"""Moments of the credit at the root over permutations of the target, by whole matrices and by all permutations."""

from __future__ import annotations

from itertools import permutations
from math import perm

import numpy as np

# Graphs of three edges: index patterns, vertices, and factors of the sum of cubes and of the trace of the third power.
GRAPHS = [(4, 2, 1, 0), (24, 3, -1, 0), (6, 4, 2, 0), (8, 3, 0, 1), (8, 4, 2, 0), (24, 4, 1, -1), (12, 5, -4, 2)]
GRAPHS += [(1, 6, 16, -8)]


def centred(kernel):
    """U-centred: rows sum to 0 without the diagonal, which is 0."""
    n = len(kernel)
    away = kernel - np.diag(np.diag(kernel))
    rows = away.sum(axis=1)
    away = away - (rows[:, None] + rows) / (n - 2) + rows.sum() / ((n - 1) * (n - 2))
    return away - np.diag(np.diag(away))


def enumerated(A, B):
    """Mean, standard deviation and skewness of sum A_ik B_ik over all permutations of the examples of B."""
    orders = (list(order) for order in permutations(range(len(A))))
    values = np.array([(A * B[np.ix_(order, order)]).sum() for order in orders])
    return values.mean(), values.std(), (values**3).mean() / values.std() ** 3


def moments(A, B):
    """Standard deviation, skewness, and what rare values that meet rare targets add to the kurtosis."""
    n = len(A)
    (a2, a3, at), (b2, b3, bt) = (((M**2).sum(), (M**3).sum(), np.trace(M @ M @ M)) for M in (A, B))
    variance = 2 * a2 * b2 / (n * (n - 3))
    third = sum(
        count * (cubes * a3 + trace * at) * (cubes * b3 + trace * bt) / perm(n, vertices)
        for count, vertices, cubes, trace in GRAPHS
        if vertices <= n
    )
    (p, x), (q, y) = (((M**4).sum() / (M**2).sum() ** 2, ((M @ M).diagonal() ** 2).sum()) for M in (A, B))
    x, y = x / a2**2, y / b2**2
    rare = 2 * n**2 * p * q + 12 * n * (x - p) * (y - q) + 3 * (1 - 4 * x + 2 * p) * (1 - 4 * y + 2 * q) - 3
    return variance**0.5, third / variance**1.5, max(rare, 0.0)
