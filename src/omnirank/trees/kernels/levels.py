"""Levels of a nominal feature in a node, ordered by the first principal component of their means."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import part
from omnirank.trees.kernels.candidates import TIE

# Levels whose means explain no more than this share of a node's impurity are equal up to rounding.
EQUAL_LEVELS = 1e-14
# What each level adds to the start of the power iteration, as a share of the largest row: no two add the same.
OWN_START = 1e-3
GOLDEN = 0.6180339887498949
# The products of so many levels with each other are kept; those of more would take too much memory and time.
MOST_PRODUCTS = 64


@part
def rank_levels(sums, n_levels, weight, lo, n, present, level, rank, least):
    """Rank the present levels along the first principal component of their means, if one explains more than least."""
    share = np.zeros(present)
    for i in range(n):
        if level[i] >= 0:
            share[level[i]] += weight[lo + i]
    known = 0.0
    for v in range(present):
        known += share[v]
    for c in range(sums.shape[1]):  # label sets are not centred, and rows that miss a level are left out
        mean = 0.0
        for v in range(present):
            mean += sums[v, c]
        mean /= known
        for v in range(present):
            sums[v, c] = (sums[v, c] - share[v] * mean) / np.sqrt(share[v])
    score = first_component(sums, least)
    for v in range(present):
        score[v] /= np.sqrt(share[v])
    place = np.zeros(present, np.int64)
    by_score = _order_with_ties(score)
    for v in range(present):
        place[by_score[v]] = v
    for v in range(n_levels):
        if rank[v] >= 0:
            rank[v] = place[rank[v]]


@part
def _order_with_ties(score):
    """Order levels by score; scores that differ by rounding only are equal, then the order of codes counts."""
    by_score = _sorted_order(score)
    least = TIE * (score[by_score[len(score) - 1]] - score[by_score[0]])
    group = np.zeros(len(score))
    for i in range(1, len(score)):
        before, here = by_score[i - 1], by_score[i]
        group[here] = group[before] + (score[here] - score[before] > least)
    return _sorted_order(group)


@part
def _sorted_order(values):
    """Stable order by merging; NumPy's own sort takes seconds to compile."""
    n = len(values)
    order = np.zeros(n, np.int64)
    other = np.zeros(n, np.int64)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            a = start
            middle = min(start + width, n)
            b = middle
            end = min(start + 2 * width, n)
            for k in range(start, end):
                if a < middle and (b >= end or values[order[a]] <= values[order[b]]):
                    other[k] = order[a]
                    a += 1
                else:
                    other[k] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order


@part
def _products(sums):
    """Products of all pairs of few rows; none of many."""
    n = sums.shape[0] if sums.shape[0] <= MOST_PRODUCTS else 0
    gram = np.zeros((n, n))
    for u in range(n):
        for v in range(u + 1):
            product = 0.0
            for c in range(sums.shape[1]):
                product += sums[u, c] * sums[v, c]
            gram[u, v] = product
            gram[v, u] = product
    return gram


@part
def _multiply(sums, gram, across, vector, new):
    """Write S S' v to ``new``, where there are no products by S' v, in ``across``."""
    if gram.shape[0] > 0:
        for u in range(len(new)):
            new[u] = 0.0
            for v in range(len(new)):
                new[u] += gram[u, v] * vector[v]
        return
    for c in range(len(across)):
        across[c] = 0.0
    for v in range(len(new)):
        for c in range(len(across)):
            across[c] += sums[v, c] * vector[v]
    for u in range(len(new)):
        new[u] = 0.0
        for c in range(len(across)):
            new[u] += sums[u, c] * across[c]


@part
def first_component(sums, least):
    """Leading left singular vector (up to length) by power iteration, started near the largest row.

    The start fixes the sign, so it must not depend on rounding or on the sign of a column. Two levels without labels
    can mirror each other: a start that treats them alike has no share in the component that tells them apart but what
    rounding adds, and rounding would decide about their order. So each level adds a number of its own to the start.
    """
    n = sums.shape[0]
    start = 0
    largest = 0.0
    for v in range(n):
        size = 0.0
        for c in range(sums.shape[1]):
            size += sums[v, c] * sums[v, c]
        if size > largest * (1.0 + TIE):
            largest = size
            start = v
    if largest <= least:
        return np.zeros(n)
    vector = np.zeros(n)
    if sums.shape[1] == 1:
        sign = 1.0 if sums[start, 0] >= 0.0 else -1.0
        for v in range(n):
            vector[v] = sign * sums[v, 0]
        return vector
    gram = _products(sums)
    new = np.zeros(n)
    across = np.zeros(sums.shape[1])
    vector[start] = 1.0
    _multiply(sums, gram, across, vector, new)
    for v in range(n):
        vector[v] = new[v] + OWN_START * largest * (((v + 1) * GOLDEN) % 1.0 - 0.5)
    for _ in range(200):
        size = 0.0
        for v in range(n):
            size += vector[v] * vector[v]
        size = np.sqrt(size)
        if size == 0.0:
            break
        along = 0.0
        for u in range(n):
            vector[u] /= size
        _multiply(sums, gram, across, vector, new)
        for u in range(n):
            along += new[u] * vector[u]
        change = 0.0
        for u in range(n):
            change = max(change, abs(new[u] - along * vector[u]))
            vector[u] = new[u]
        if change <= 1e-12 * along:
            break
    return vector
