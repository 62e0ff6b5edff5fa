"""Clustering spaces: how a node's rows are prepared, and the gains of splitting off some of them.

A space is a NamedTuple of arrays; its kind is chosen once, from the shape of the data. Each kind offers the same
five functions, and the growing of trees knows nothing else about it:

    node_scratch(space, n)                                         memory for nodes of up to n rows
    open_node(space, node, rows, weight, lo, n)                    prepare a node; returns its weight and impurity
    prefix_gains(space, node, weight, lo, total, ints, part, n, floats)
                                                                   gains of splitting off ints[part, :t + 1], t < n;
                                                                   ints[part] lists all rows of the node
    subset_gain(space, node, weight, lo, total, ints, n)           gain of splitting off the rows ints[OTHER, :n]
    level_sums(space, node, weight, lo, level, n, n_levels)        sums of the rows of each nominal level

The gain of a split of a node with weight K into K_L and K_R is, for columns with known values,

    h = |S_L|^2 / K_L + |S_R|^2 / K_R - |S|^2 / K

With rows centred on the node's mean, S = 0 and h = |S_L|^2 K / (K_L K_R): `centred_gain`, from which all gains are
computed. Spaces that keep rows as they are centre the sum S_L (`sums_gain`); columns with known values of their own add
up the gains of their known rows (`known_gain`).

This module: dense columns whose values are all known; `partial_targets` has those with unknown ones, `labels` sets of
labels. `omnirank.trees.layout` chooses the kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined, part
from omnirank.core.kernels.vector import (
    add_running_norms_8,
    add_running_norms_16,
    add_running_norms_32,
    sum_norm_8,
    sum_norm_16,
)
from omnirank.trees.kernels.order import ORDER, OTHER

# Rows of the float scratch of a node: gains and weights of the rows split off, and gains with the missing rows.
GAIN, SPLIT_OFF, EXTRA, WITH_MISSING = 0, 1, 2, 3

# Rounding of a mean, relative and per row, times 1e10: what it may move rows by counts from 1e-10 of their spread on.
_SHIFT = 2.3e-6

SPACES = Kinds("clustering spaces")

# A row of products is padded to a multiple of this.
_GRAM_LANES = 8
# Rows whose impurity is a smaller share of their squares are multiplied anew: too few digits of their products differ.
_FAR = 1e-5

# Up to this many gains are divided one by one: vectors would have to wait until what they read has been stored.
FEW_CUTS = 7


class OneColumn(NamedTuple):
    """One dense column, every value known."""

    z: np.ndarray


class DenseColumns(NamedTuple):
    """Dense columns, every value known; their number is padded with zeros to a multiple of 8."""

    z: np.ndarray


class GramColumns(NamedTuple):
    """More dense columns than rows, every value known, and the products of all pairs of rows."""

    z: np.ndarray
    products: np.ndarray
    share: float  # factor of all products of rows, so that one z serves all levels of supervision


class OneNode(NamedTuple):
    """Weighted, centred values of the node's rows."""

    centred: np.ndarray


class DenseNode(NamedTuple):
    """Weighted, centred rows of the node."""

    centred: np.ndarray
    sums: np.ndarray


class GramNode(NamedTuple):
    """Products of the node's weighted, centred rows, one row after the other."""

    products: np.ndarray
    running: np.ndarray
    means: np.ndarray
    rows: np.ndarray
    width: np.ndarray  # [of a row of products]


@inlined
def centred_gain(norm, k, total):
    """Gain of splitting off weight k of the total, given |S_1|^2 of rows that are centred."""
    return norm * total / (k * (total - k))


@inlined
def sums_gain(q, p, k, norm, total):
    """Gain of splitting off rows of weight k with |S_1|^2 = q and S . S_1 = p that are not centred; |S|^2 = norm."""
    share = k / total
    return centred_gain(q - 2.0 * share * p + share * share * norm, k, total)


@inlined
def known_gain(norm, k, known):
    """Gain of one block: 0 if all its known values (up to rounding of weights) are on one side."""
    return centred_gain(norm, k, known) if k * (known - k) > 1e-12 * known * known else 0.0


@dispatched(SPACES)
def node_scratch(space, n):
    """Allocate the memory for nodes of up to n rows."""


@dispatched(SPACES)
def open_node(space, node, rows, weight, lo, n):
    """Prepare the node of the n rows from lo; returns its weight and its impurity (sum of squares)."""


@dispatched(SPACES)
def prefix_gains(space, node, weight, lo, total, ints, part, n, floats):
    """Write the gains of splitting off ints[part, :t + 1] and the weights split off, for t < n, to ``floats``."""


@dispatched(SPACES)
def subset_gain(space, node, weight, lo, total, ints, n):
    """Return the gain of splitting off the rows ints[OTHER, :n], and their weight."""


@dispatched(SPACES)
def level_sums(space, node, weight, lo, level, n, n_levels):
    """Return the weight of each level times the mean of its rows; level -1 belongs to none."""


@inlined
def both_gains(space, node, weight, lo, total, ints, n_known, n, floats):
    """As prefix_gains for the cuts of the first ``n_known`` rows of the order; the rest misses the feature.

    Gains without the missing rows go to GAIN, with them to WITH_MISSING. Returns the weight of the missing rows.
    """
    n_missing = n - n_known
    for t in range(n_missing):
        ints[OTHER, t] = ints[ORDER, n_known + t]
    for t in range(n_known):
        ints[OTHER, n_missing + t] = ints[ORDER, t]
    prefix_gains(space, node, weight, lo, total, ints, OTHER, n - 1, floats)
    for t in range(n_known - 1):
        floats[WITH_MISSING, t] = floats[GAIN, n_missing + t]
    missing_weight = floats[SPLIT_OFF, n_missing - 1]
    prefix_gains(space, node, weight, lo, total, ints, ORDER, n_known - 1, floats)
    return missing_weight


# -- one column -----------------------------------------------------------------------------------------


@node_scratch.kind(OneColumn)
def _one_scratch(space, n):
    return OneNode(np.empty(n))


@open_node.kind(OneColumn)
def _one_open(space, node, rows, weight, lo, n):
    z = space.z
    centred = node.centred
    total = 0.0
    mean = 0.0
    for i in range(n):
        w = weight[lo + i]
        total += w
        mean += w * z[rows[lo + i]]
    mean /= total
    impurity = 0.0
    for i in range(n):
        w = weight[lo + i]
        d = z[rows[lo + i]] - mean
        centred[i] = w * d
        impurity += w * d * d
    if is_far(impurity, n, total, mean * mean):
        first = z[rows[lo]]
        mean = 0.0
        for i in range(n):
            centred[i] = z[rows[lo + i]] - first
            mean += weight[lo + i] * centred[i]
        mean /= total
        impurity = 0.0
        for i in range(n):
            w = weight[lo + i]
            d = centred[i] - mean
            centred[i] = w * d
            impurity += w * d * d
    return total, impurity


@inlined
def is_far(impurity, n, total, norm):
    """Whether n rows lie so far from 0 that rounding of their mean (of squared length ``norm``) shows in their spread.

    Such rows are centred once more, from the first of them: equal ones are 0 then, and the others keep their digits.
    (In two steps, kept in memory: compiled code may reorder the terms of a sum.)
    """
    error = (n + 2) * _SHIFT
    return impurity <= error * error * total * norm


@prefix_gains.kind(OneColumn)
def _one_prefix(space, node, weight, lo, total, ints, part, n, floats):
    centred = node.centred
    s = 0.0
    k = 0.0
    if n <= FEW_CUTS:
        for t in range(n):
            i = ints[part, t]
            s += centred[i]
            k += weight[lo + i]
            floats[SPLIT_OFF, t] = k
            floats[GAIN, t] = centred_gain(s * s, k, total)
        return
    for t in range(n):
        i = ints[part, t]
        s += centred[i]
        k += weight[lo + i]
        floats[GAIN, t] = s * s
        floats[SPLIT_OFF, t] = k
    norms_to_gains(total, n, floats)


@subset_gain.kind(OneColumn)
def _one_subset(space, node, weight, lo, total, ints, n):
    s = 0.0
    k = 0.0
    for t in range(n):
        i = ints[OTHER, t]
        s += node.centred[i]
        k += weight[lo + i]
    return centred_gain(s * s, k, total), k


@level_sums.kind(OneColumn)
def _one_levels(space, node, weight, lo, level, n, n_levels):
    sums = np.zeros((n_levels, 1))
    for i in range(n):
        if level[i] >= 0:
            sums[level[i], 0] += node.centred[i]
    return sums


@inlined
def norms_to_gains(total, n, floats):
    """Turn |S_L|^2 of rows that are centred into gains, given the weights split off."""
    whole = (n + 7) & ~7  # vectors: divisions one by one take as long as eight at once
    for t in range(n, whole):
        floats[SPLIT_OFF, t] = 0.5 * total
    for t in range(whole):
        floats[GAIN, t] = centred_gain(floats[GAIN, t], floats[SPLIT_OFF, t], total)


# -- dense columns --------------------------------------------------------------------------------------


@node_scratch.kind(DenseColumns)
def _dense_scratch(space, n):
    return DenseNode(np.empty((n, space.z.shape[1])), np.empty(space.z.shape[1]))


@open_node.kind(DenseColumns)
def _dense_open(space, node, rows, weight, lo, n):
    z = space.z
    centred = node.centred
    mean = node.sums
    n_columns = np.uint64(z.shape[1])
    total = 0.0
    for c in range(n_columns):
        mean[c] = 0.0
    for i in range(n):
        r = rows[lo + i]
        w = weight[lo + i]
        total += w
        for c in range(n_columns):
            mean[c] += w * z[r, c]
    for c in range(n_columns):
        mean[c] /= total
    impurity = 0.0
    for i in range(n):
        r = rows[lo + i]
        w = weight[lo + i]
        q = 0.0
        for c in range(n_columns):
            d = z[r, c] - mean[c]
            centred[i, c] = w * d
            q += d * d
        impurity += w * q
    norm = 0.0
    for c in range(n_columns):
        norm += mean[c] * mean[c]
    if is_far(impurity, n, total, norm):
        impurity = centre_again(z, rows, lo, weight[lo:], rows[lo], n, total, 0, z.shape[1], centred, mean)
    return total, impurity


@part
def centre_again(z, rows, lo, weight, first_row, n, total, first, last, centred, mean):
    """Centre the columns first..last of n rows that are far from 0; returns their impurity."""
    alike = True
    for i in range(n):
        for c in range(first, last):
            alike &= z[rows[lo + i], c] == z[first_row, c] or weight[i] == 0.0
        if not alike:
            break
    if alike:  # most often
        return 0.0
    for c in range(first, last):
        mean[c] = 0.0
    for i in range(n):
        for c in range(first, last):
            centred[i, c] = z[rows[lo + i], c] - z[first_row, c]
            mean[c] += weight[i] * centred[i, c]
    for c in range(first, last):
        mean[c] /= total
    impurity = 0.0
    for i in range(n):
        w = weight[i]
        for c in range(first, last):
            d = centred[i, c] - mean[c]
            centred[i, c] = w * d
            impurity += w * d * d
    return impurity


@prefix_gains.kind(DenseColumns)
def _dense_prefix(space, node, weight, lo, total, ints, part, n, floats):
    k = 0.0
    for t in range(n):
        k += weight[lo + ints[part, t]]
        floats[SPLIT_OFF, t] = k
        floats[GAIN, t] = 0.0
    add_prefix_norms(node.centred, 0, space.z.shape[1], ints, part, n, floats, GAIN)
    norms_to_gains(total, n, floats)


@inlined
def add_prefix_norms(centred, first, last, ints, part, n, floats, out):
    """Add |sum of the rows ints[part, :t + 1]|^2 over the columns first..last (a multiple of 8)."""
    c = first
    while last - c >= 32:
        add_running_norms_32(centred, c, ints, part, n, floats, out)
        c += 32
    if last - c >= 16:  # one pass costs little more than one over 8 columns
        add_running_norms_16(centred, c, ints, part, n, floats, out)
        c += 16
    while c < last:
        add_running_norms_8(centred, c, ints, part, n, floats, out)
        c += 8


@subset_gain.kind(DenseColumns)
def _dense_subset(space, node, weight, lo, total, ints, n):
    k = 0.0
    for t in range(n):
        k += weight[lo + ints[OTHER, t]]
    return centred_gain(sum_norm(node.centred, ints, OTHER, n), k, total), k


@inlined
def sum_norm(centred, ints, part, n):
    """Return |sum of the rows ints[part, :n]|^2 over all columns (a multiple of 8)."""
    last = centred.shape[1]
    norm = 0.0
    c = 0
    while last - c >= 16:
        norm += sum_norm_16(centred, c, ints, part, n)
        c += 16
    if c < last:
        norm += sum_norm_8(centred, c, ints, part, n)
    return norm


@level_sums.kind(DenseColumns)
def _dense_levels(space, node, weight, lo, level, n, n_levels):
    n_columns = space.z.shape[1]
    sums = np.zeros((n_levels, n_columns))
    for i in range(n):
        if level[i] >= 0:
            for c in range(n_columns):
                sums[level[i], c] += node.centred[i, c]
    return sums


# -- more columns than rows -------------------------------------------------------------------------------
#
# With rows a_i = b_i (z_i - mean) of a node, weighted and centred, and H_i the sum of a_i . a_j over rows j split off,
#
#     |S_L + a_i|^2 = |S_L|^2 + 2 H_i + a_i . a_i
#
# The products of a node's rows are those of the training rows, centred twice:
#
#     a_i . a_j = b_i b_j (z_i . z_j - m_i - m_j + m),    m_i the mean of z_i . z_j over j, m the mean of m_i
#
# so that a step costs the number of the node's rows.


@node_scratch.kind(GramColumns)
def _gram_scratch(space, n):
    width = -(-n // _GRAM_LANES) * _GRAM_LANES
    return GramNode(np.zeros(n * width), np.zeros(width), np.zeros(n), np.zeros(n, np.uint32), np.zeros(1, np.int64))


@open_node.kind(GramColumns)
def _gram_open(space, node, rows, weight, lo, n):
    node.width[0] = (n + _GRAM_LANES - 1) // _GRAM_LANES * _GRAM_LANES
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
            g = space.share * space.products[r, node.rows[j]]
            products[start + j] = g
            s += weight[lo + np.int64(j)] * g
        means[i] = s / total
        mean += weight[lo + np.int64(i)] * means[i]
        squares += weight[lo + np.int64(i)] * products[start + i]
    mean /= total
    if squares - total * mean <= _FAR * squares:  # close to each other, far from 0
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
            product *= space.share
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
def _gram_prefix(space, node, weight, lo, total, ints, part, n, floats):
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


@subset_gain.kind(GramColumns)
def _gram_subset(space, node, weight, lo, total, ints, n):
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
    return centred_gain(q, k, total), k


@level_sums.kind(GramColumns)
def _gram_levels(space, node, weight, lo, level, n, n_levels):
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
            sums[v, c] = (sums[v, c] - share[v] * mean[c] / total) * np.sqrt(space.share)
    return sums
