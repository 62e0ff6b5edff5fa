"""Clustering space of more dense columns than rows: gains from the products of rows, whatever the number of columns.

With rows a_i = b_i (z_i - mean) of a node, weighted and centred, and H_i = sum of a_i . a_j over the rows j split off,

    |S_L + a_i|^2 = |S_L|^2 + 2 H_i + a_i . a_i

The products of a node's rows are those of the training rows, centred twice:

    a_i . a_j = b_i b_j (z_i . z_j - m_i - m_j + m),    m_i the mean of z_i . z_j over j, m the mean of m_i

so that a step costs the number of the node's rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import part
from omnirank.trees.kernels.draw import cut_gain, listed_cut
from omnirank.trees.kernels.order import OTHER
from omnirank.trees.kernels.spaces import (
    GAIN,
    SPLIT_OFF,
    both_gains,
    level_sums,
    node_scratch,
    norms_to_gains,
    open_node,
    prefix_gains,
    subset_gain,
    two_scans,
)

LANES = 8
# Rows whose impurity is a smaller share of their squares are multiplied anew: too few digits of their products differ.
FAR = 1e-5


class GramColumns(NamedTuple):
    """Dense columns, every value known, and the products of all pairs of rows."""

    z: np.ndarray
    products: np.ndarray


class GramNode(NamedTuple):
    """Products of the node's weighted, centred rows, one row after the other."""

    products: np.ndarray
    running: np.ndarray
    means: np.ndarray
    rows: np.ndarray
    width: np.ndarray  # [of a row of products]


@node_scratch.kind(GramColumns)
def _scratch(space, n):
    width = -(-n // LANES) * LANES
    return GramNode(np.zeros(n * width), np.zeros(width), np.zeros(n), np.zeros(n, np.uint32), np.zeros(1, np.int64))


@open_node.kind(GramColumns)
def _open(space, node, rows, weight, lo, n):
    node.width[0] = (n + LANES - 1) // LANES * LANES
    width = np.uint64(node.width[0])
    products = node.products
    means = node.means
    total = 0.0
    for i in range(n):
        total += weight[lo + i]
        node.rows[i] = rows[lo + i]
    size = np.uint64(n)
    mean = 0.0
    squares = 0.0
    for i in range(size):
        r = node.rows[i]
        s = 0.0
        start = i * width
        for j in range(size):
            g = space.products[r, node.rows[j]]
            products[start + j] = g
            s += weight[lo + np.int64(j)] * g
        means[i] = s / total
        mean += weight[lo + np.int64(i)] * means[i]
        squares += weight[lo + np.int64(i)] * products[start + i]
    mean /= total
    if squares - total * mean <= FAR * squares:  # close to each other, far from 0
        mean = _from_first(space, node, weight, lo, n, total, node.width[0])
    impurity = 0.0
    for i in range(size):
        w = weight[lo + np.int64(i)]
        start = i * width
        shift = mean - means[i]
        for j in range(size):
            products[start + j] = w * weight[lo + np.int64(j)] * (products[start + j] + shift - means[j])
        for j in range(size, width):
            products[start + j] = 0.0
        impurity += products[start + i] / w
    return total, impurity


@part
def _from_first(space, node, weight, lo, n, total, width):
    """Products of the rows' differences from the first one, 0 for equal rows, and their means; returns that of all."""
    z = space.z
    mean = 0.0
    first = node.rows[0]
    for i in range(n):
        node.means[i] = 0.0
    for i in range(n):
        for j in range(i + 1):
            product = 0.0
            for c in range(z.shape[1]):
                product += (z[node.rows[i], c] - z[first, c]) * (z[node.rows[j], c] - z[first, c])
            node.products[i * width + j] = product
            node.products[j * width + i] = product
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += weight[lo + j] * node.products[i * width + j]
        node.means[i] = s / total
        mean += weight[lo + i] * node.means[i]
    return mean / total


@prefix_gains.kind(GramColumns)
def _prefix(space, node, weight, lo, total, ints, part, n, floats):
    width = np.uint64(node.width[0])
    products = node.products
    running = node.running
    for j in range(width):
        running[j] = 0.0
    q = 0.0
    k = 0.0
    for t in range(n):
        i = np.uint64(ints[part, t])
        start = i * width
        q += 2.0 * running[i] + products[start + i]
        for j in range(width):
            running[j] += products[start + j]
        k += weight[lo + np.int64(i)]
        floats[GAIN, t] = q
        floats[SPLIT_OFF, t] = k
    norms_to_gains(total, n, floats)


both_gains.kind(GramColumns)(two_scans)
cut_gain.kind(GramColumns)(listed_cut)


@subset_gain.kind(GramColumns)
def _subset(space, node, weight, lo, total, ints, n):
    width = np.uint64(node.width[0])
    products = node.products
    running = node.running
    for j in range(width):
        running[j] = 0.0
    k = 0.0
    for t in range(n):
        i = np.uint64(ints[OTHER, t])
        k += weight[lo + np.int64(i)]
        start = i * width
        for j in range(width):
            running[j] += products[start + j]
    q = 0.0
    for t in range(n):
        q += running[ints[OTHER, t]]
    return q * total / (k * (total - k)), k


@level_sums.kind(GramColumns)
def _levels(space, node, weight, lo, level, n, n_levels):
    z = space.z
    total = 0.0
    mean = np.zeros(z.shape[1])
    share = np.zeros(n_levels)
    sums = np.zeros((n_levels, z.shape[1]))
    for i in range(n):
        r = node.rows[i]
        w = weight[lo + i]
        total += w
        for c in range(z.shape[1]):
            mean[c] += w * z[r, c]
        if level[i] >= 0:
            share[level[i]] += w
            for c in range(z.shape[1]):
                sums[level[i], c] += w * z[r, c]
    for v in range(n_levels):
        for c in range(z.shape[1]):
            sums[v, c] -= share[v] * mean[c] / total
    return sums
