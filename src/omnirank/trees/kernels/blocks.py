"""Clustering space of dense columns with unknown values: blocks of columns that are known for the same rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import inlined
from omnirank.trees.kernels.order import OTHER
from omnirank.trees.kernels.spaces import (
    EXTRA,
    GAIN,
    SPLIT_OFF,
    add_prefix_norms,
    both_gains,
    centre_again,
    is_far,
    level_sums,
    node_scratch,
    open_node,
    prefix_gains,
    subset_gain,
    two_scans,
)


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


both_gains.kind(DenseBlocks)(two_scans)


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
            known = weight[lo + i] * space.known[b, rows[lo + i]]
            node.weight[b, i] = known
            k += known
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
        known = node.totals[b]
        k = 0.0
        for t in range(n):
            k += node.weight[b, ints[part, t]]
            floats[GAIN, t] += known_gain(floats[EXTRA, t], k, known)


@inlined
def known_gain(norm, k, known):
    """Gain of one block: 0 if all its known values (up to rounding of weights) are on one side."""
    product = k * (known - k)
    return norm * known / product if product > 1e-12 * known * known else 0.0


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
        part = 0.0
        for t in range(n):
            part += node.weight[b, ints[OTHER, t]]
        gain += known_gain(norm, part, node.totals[b])
    return gain, k


@level_sums.kind(DenseBlocks)
def _block_levels(space, node, weight, lo, level, n, n_levels):
    n_columns = space.z.shape[1]
    sums = np.zeros((n_levels, n_columns))
    share = np.zeros(n_levels)
    known = np.zeros((space.known.shape[0], n_levels))
    for i in range(n):
        v = level[i]
        if v >= 0:
            share[v] += weight[lo + i]
            for b in range(space.known.shape[0]):
                known[b, v] += node.weight[b, i]
            for c in range(n_columns):
                sums[v, c] += node.centred[i, c]
    for b in range(space.known.shape[0]):  # the mean of a level is that of its known values
        for v in range(n_levels):
            if known[b, v] > 0.0:
                for c in range(space.starts[b], space.starts[b + 1]):
                    sums[v, c] *= share[v] / known[b, v]
    return sums
