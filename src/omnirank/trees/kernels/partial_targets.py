"""Clustering spaces with unknown values: blocks of columns, and a target that is known for some rows beside features.

Each block, and each of the two parts, has its own known weight K; their gains add up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, dispatched, inlined
from omnirank.trees.kernels.candidates import SLACK
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.order import ORDER, OTHER
from omnirank.trees.kernels.spaces import (
    EXTRA,
    GAIN,
    SPLIT_OFF,
    DenseColumns,
    OneColumn,
    add_prefix_norms,
    centre_again,
    is_far,
    known_gain,
    level_sums,
    node_scratch,
    open_node,
    prefix_gains,
    subset_gain,
)

# -- blocks of columns that are known for the same rows ---------------------------------------------------


class DenseBlocks(NamedTuple):
    """Blocks of dense columns; the columns of a block are known for the same rows.

    A block of several columns is padded with zeros to a multiple of 8; unknown cells are 0.
    """

    z: np.ndarray
    starts: np.ndarray  # first column of each block, and the end
    known: np.ndarray  # (blocks, rows), 1.0 or 0.0


class BlockNode(NamedTuple):
    """Weighted, centred rows of the node, and the weights of the known rows of each block."""

    centred: np.ndarray
    sums: np.ndarray
    weight: np.ndarray  # (blocks, rows)
    totals: np.ndarray


@node_scratch.kind(DenseBlocks)
def _block_scratch(space, n):
    n_blocks = space.known.shape[0]
    n_columns = space.z.shape[1]
    return BlockNode(np.zeros((n, n_columns)), np.zeros(n_columns), np.zeros((n_blocks, n)), np.zeros(n_blocks))


@open_node.kind(DenseBlocks)
def _block_open(space, node, rows, weight, lo, n):
    z = space.z
    starts = space.starts
    centred = node.centred
    mean = node.sums
    n_columns = np.uint64(z.shape[1])
    total = 0.0
    for i in range(n):
        total += weight[lo + i]
    for c in range(n_columns):
        mean[c] = 0.0
    for i in range(n):
        r = rows[lo + i]
        w = weight[lo + i]
        for c in range(n_columns):
            mean[c] += w * z[r, c]  # unknown cells are 0
    impurity = 0.0
    for b in range(space.known.shape[0]):
        k = 0.0
        for i in range(n):
            known_weight = weight[lo + i] * space.known[b, rows[lo + i]]
            node.weight[b, i] = known_weight
            k += known_weight
        node.totals[b] = k
        norm = 0.0
        first = np.uint64(starts[b])
        last = np.uint64(starts[b + 1])
        if k > 0.0:
            for c in range(first, last):
                mean[c] /= k
                norm += mean[c] * mean[c]
        block_impurity = 0.0
        for i in range(n):
            r = rows[lo + i]
            w = node.weight[b, i]
            q = 0.0
            for c in range(first, last):
                d = z[r, c] - mean[c]
                centred[i, c] = w * d
                q += d * d
            block_impurity += w * q
        if k > 0.0 and is_far(block_impurity, n, k, norm):
            i = 0
            while node.weight[b, i] == 0.0:
                i += 1
            block_impurity = centre_again(
                z, rows, lo, node.weight[b], rows[lo + i], n, k, starts[b], starts[b + 1], centred, mean
            )
        impurity += block_impurity
    return total, impurity


@prefix_gains.kind(DenseBlocks)
def _block_prefix(space, node, weight, lo, total, ints, part, n, floats):
    k = 0.0
    for t in range(n):
        k += weight[lo + ints[part, t]]
        floats[SPLIT_OFF, t] = k
        floats[GAIN, t] = 0.0
    for b in range(space.known.shape[0]):
        first = space.starts[b]
        last = space.starts[b + 1]
        if last - first == 1:
            s = 0.0
            for t in range(n):
                s += node.centred[ints[part, t], first]
                floats[EXTRA, t] = s * s
        else:
            for t in range(n):
                floats[EXTRA, t] = 0.0
            add_prefix_norms(node.centred, first, last, ints, part, n, floats, EXTRA)
        block_weight = node.totals[b]
        k = 0.0
        for t in range(n):
            k += node.weight[b, ints[part, t]]
            floats[GAIN, t] += known_gain(floats[EXTRA, t], k, block_weight)


@subset_gain.kind(DenseBlocks)
def _block_subset(space, node, weight, lo, total, ints, n):
    sums = node.sums
    for c in range(space.z.shape[1]):
        sums[c] = 0.0
    k = 0.0
    for t in range(n):
        i = ints[OTHER, t]
        k += weight[lo + i]
        for c in range(space.z.shape[1]):
            sums[c] += node.centred[i, c]
    gain = 0.0
    for b in range(space.known.shape[0]):
        norm = 0.0
        for c in range(space.starts[b], space.starts[b + 1]):
            norm += sums[c] * sums[c]
        off = 0.0
        for t in range(n):
            off += node.weight[b, ints[OTHER, t]]
        gain += known_gain(norm, off, node.totals[b])
    return gain, k


@level_sums.kind(DenseBlocks)
def _block_levels(space, node, weight, lo, level, n, n_levels):
    n_columns = space.z.shape[1]
    sums = np.zeros((n_levels, n_columns))
    share = np.zeros(n_levels)
    level_weight = np.zeros((space.known.shape[0], n_levels))
    for i in range(n):
        v = level[i]
        if v >= 0:
            share[v] += weight[lo + i]
            for b in range(space.known.shape[0]):
                level_weight[b, v] += node.weight[b, i]
            for c in range(n_columns):
                sums[v, c] += node.centred[i, c]
    for b in range(space.known.shape[0]):  # the mean of a level is that of its known values
        for v in range(n_levels):
            if level_weight[b, v] > 0.0:
                for c in range(space.starts[b], space.starts[b + 1]):
                    sums[v, c] *= share[v] / level_weight[b, v]
    return sums


# -- a target that is known for some rows, and features ---------------------------------------------------
#
# A node keeps its labelled rows in a list of their own, so that the target's part costs as much as a supervised tree on
# them. Each part is a space of any kind; the gain is the sum of both gains, that of the target being 0 where all
# labelled rows go to one side.
#
# Where ``least`` is positive, a child must hold no labelled rows or at least that weight of them, and a node without
# any is not split: the gain of other splits is -1.


class TwoParts(NamedTuple):
    """A space of the target, whose rows mean nothing where it is not known, and one of the features."""

    target: Any
    features: Any
    known: np.ndarray  # whether the target of a row is known
    least: float  # of the labelled weight of a child that has labelled rows


class TwoNodes(NamedTuple):
    """The node in both parts; its labelled rows and their weights, and the place of each row among them."""

    target: Any
    features: Any
    rows: np.ndarray
    weight: np.ndarray
    place: np.ndarray  # -1 = not labelled
    ints: np.ndarray
    floats: np.ndarray
    totals: np.ndarray  # labelled weight, number of labelled rows, number of rows


@node_scratch.kind(TwoParts)
def _two_scratch(space, n):
    m = min(n, np.count_nonzero(space.known)) + 1
    return TwoNodes(
        node_scratch(space.target, m),
        node_scratch(space.features, n),
        np.zeros(m, np.uint32),
        np.zeros(m),
        np.zeros(n, np.int32),
        np.zeros((2, m), np.uint32),
        np.zeros((4, m + 8)),
        np.zeros(3),
    )


# Steps with several callers are called, not copied: nobody should wait for their compilation twice.


@open_node.called(TwoParts)
def _open_both(space, node, rows, weight, lo, n):
    m = 0
    for i in range(n):
        r = rows[lo + i]
        if space.known[r]:
            node.rows[m] = r
            node.weight[m] = weight[lo + i]
            node.place[i] = m
            m += 1
        else:
            node.place[i] = -1
    labelled = 0.0
    impurity = 0.0
    if m > 0:
        labelled, impurity = open_node(space.target, node.target, node.rows, node.weight, 0, m)
    node.totals[0] = labelled
    node.totals[1] = m
    node.totals[2] = n
    total, own = open_node(space.features, node.features, rows, weight, lo, n)
    if m == 0 and space.least > 0.0:
        return total, 0.0
    return total, own + impurity


@inlined
def allowed_gain(space, gain, k, labelled):
    """The gain of sending k of the labelled weight to one side: -1 unless each side has none of it, or enough.

    The rule of every search, on dense codes and on sparse cells. Where all labelled rows go to one side, that side
    needs enough as well: no split of a node that has too few of them is admissible.
    """
    if space.least <= 0.0:
        return gain
    slack = SLACK * labelled
    one = k <= slack or k >= space.least - slack
    other = labelled - k <= slack or labelled - k >= space.least - slack
    return gain if one and other else -1.0


@prefix_gains.kind(TwoParts)
def _prefix_both(space, node, weight, lo, total, ints, part, n, floats):
    prefix_gains(space.features, node.features, weight, lo, total, ints, part, n, floats)
    labelled = node.totals[0]
    n_labelled = np.int64(node.totals[1])
    if n_labelled == 0:
        return
    m = 0
    listed = 0
    for t in range(np.int64(node.totals[2])):
        p = node.place[ints[part, t]]
        if p >= 0:
            node.ints[ORDER, listed] = p
            listed += 1
            m += t < n
    if m == n_labelled:  # all of them: nothing is split
        m -= 1
    if m > 0:
        prefix_gains(space.target, node.target, node.weight, 0, labelled, node.ints, ORDER, m, node.floats)
    node.floats[GAIN, m] = 0.0
    node.floats[SPLIT_OFF, m] = labelled
    gain = 0.0
    k = 0.0
    j = 0
    for t in range(n):
        if node.place[ints[part, t]] >= 0:
            gain = node.floats[GAIN, j]
            k = node.floats[SPLIT_OFF, j]
            j += 1
        floats[GAIN, t] = allowed_gain(space, floats[GAIN, t] + gain, k, labelled)


@subset_gain.called(TwoParts)
def _subset_both(space, node, weight, lo, total, ints, n):
    gain, k = subset_gain(space.features, node.features, weight, lo, total, ints, n)
    labelled = node.totals[0]
    m = 0
    for t in range(n):
        p = node.place[ints[OTHER, t]]
        if p >= 0:
            node.ints[OTHER, m] = p
            m += 1
    k_labelled = 0.0 if m == 0 else labelled
    if m > 0 and m < np.int64(node.totals[1]):
        own, k_labelled = subset_gain(space.target, node.target, node.weight, 0, labelled, node.ints, m)
        gain += own
    return allowed_gain(space, gain, k_labelled, labelled), k


@level_sums.kind(TwoParts)
def _levels_both(space, node, weight, lo, level, n, n_levels):
    """Sums of both parts side by side; a level without labelled rows has the target's mean of the node."""
    own = level_sums(space.features, node.features, weight, lo, level, n, n_levels)
    m = np.int64(node.totals[1])
    if m == 0:
        return own
    compact = np.zeros(m, np.int32)
    share = np.zeros(n_levels)
    level_weight = np.zeros(n_levels + 1)
    for i in range(n):
        v = level[i]
        if v >= 0:
            share[v] += weight[lo + i]
        p = node.place[i]
        if p >= 0:
            compact[p] = v if v >= 0 else n_levels
            level_weight[compact[p]] += node.weight[p]
    of_target = level_sums(space.target, node.target, node.weight, 0, compact, m, n_levels + 1)
    first = own.shape[1]
    sums = np.zeros((n_levels, first + of_target.shape[1]))
    for v in range(n_levels):
        for c in range(first):  # an assignment of slices compiles its error message, which takes seconds
            sums[v, c] = own[v, c]
    for c in range(of_target.shape[1]):
        centre = level_centre(space.target, of_target, c) / node.totals[0]
        for v in range(n_levels):
            mean = of_target[v, c] / level_weight[v] if level_weight[v] > 0.0 else centre
            sums[v, first + c] = share[v] * mean
    return sums


@dispatched(Kinds("spaces of targets"))
def level_centre(space, sums, c):
    """Sum of a column over all rows of the node, from the sums of its levels."""


@level_centre.kind(OneColumn, DenseColumns, DenseBlocks)
def _centred(space, sums, c):
    return 0.0


@level_centre.kind(LabelSets)
def _not_centred(space, sums, c):
    total = 0.0
    for v in range(sums.shape[0]):
        total += sums[v, c]
    return total
