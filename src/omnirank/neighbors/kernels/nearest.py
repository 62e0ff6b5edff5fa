"""Nearest training examples from approximate distances: those that may belong to them are measured exactly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, compiled, dispatched, inlined
from omnirank.neighbors.kernels.tile import closer, lowest_bit

# Distances that agree in this number of leading bits are ties, whatever the order of summation.
TIE_BITS = 36


class DensePairs(NamedTuple):
    """Cells of test and training examples; codes are -1 where missing.

    factor: of numbers; level_weight: of levels that differ; to_missing: distance of each level to a missing one, from
    level_start on for each nominal feature.
    """

    test: Any
    train: Any
    test_codes: Any
    train_codes: Any
    factor: Any
    level_weight: Any
    level_start: Any
    to_missing: Any


class SparsePairs(NamedTuple):
    """Non-zero cells of test and training examples by rows, columns ascending, already weighted."""

    test_start: Any
    test_columns: Any
    test_values: Any
    train_start: Any
    train_columns: Any
    train_values: Any


@dispatched(Kinds("pairs of examples"))
def pair_distance(pairs, i, j):
    """Weighted squared distance of test example i and training example j."""


@pair_distance.kind(DensePairs)
def _dense_distance(pairs, i, j):
    test, train, factor = pairs.test, pairs.train, pairs.factor
    total = 0.0
    for c in range(test.shape[1]):
        off = (test[i, c] - train[j, c]) * factor[c]
        total += off * off
    for c in range(pairs.test_codes.shape[1]):
        x, t = pairs.test_codes[i, c], pairs.train_codes[j, c]
        if x != t:
            known = x if t < 0 else t
            missing = x < 0 or t < 0
            total += pairs.to_missing[pairs.level_start[c] + known] if missing else pairs.level_weight[c]
    return total


@pair_distance.kind(SparsePairs)
def _sparse_distance(pairs, i, j):
    a, a_stop = pairs.test_start[i], pairs.test_start[i + 1]
    b, b_stop = pairs.train_start[j], pairs.train_start[j + 1]
    total = 0.0
    while a < a_stop or b < b_stop:
        if b == b_stop or (a < a_stop and pairs.test_columns[a] < pairs.train_columns[b]):
            off = pairs.test_values[a]
            a += 1
        elif a == a_stop or pairs.train_columns[b] < pairs.test_columns[a]:
            off = pairs.train_values[b]
            b += 1
        else:
            off = pairs.test_values[a] - pairs.train_values[b]
            a += 1
            b += 1
        total += off * off
    return total


@inlined
def tie_key(distance):
    """The distance with only its leading bits."""
    if distance == 0.0 or not np.isfinite(distance):
        return distance
    fraction, exponent = math.frexp(distance)
    return math.ldexp(np.rint(fraction * 2.0**TIE_BITS), exponent - TIE_BITS)


@inlined
def _cell_of(distance):
    """Bounds between which distances have the same key; none where the distance is not positive."""
    if not distance > 0.0:
        return 0.0, 0.0
    key = tie_key(distance)
    unit = math.ldexp(1.0, math.frexp(distance)[1] - TIE_BITS)
    return key - 0.25 * unit, key + 0.5 * unit


@inlined
def _insert(keys, ids, key, number):
    """Put an example into the list of the nearest, if it belongs there; numbers come in ascending order."""
    place = len(keys) - 1
    if not (key < keys[place] or ids[place] < 0):
        return
    while place > 0 and (ids[place - 1] < 0 or keys[place - 1] > key):
        keys[place], ids[place] = keys[place - 1], ids[place - 1]
        place -= 1
    keys[place], ids[place] = key, number


@inlined
def _kth_smallest(rough, start, stop, smallest):
    """Fill ``smallest`` with the smallest values in some rows of lanes, ascending; return the largest of them."""
    last = len(smallest) - 1
    smallest[:] = np.inf
    for block in range(start, stop):
        mask = closer(rough, block, smallest[last])
        while mask != 0:
            value = rough[block, lowest_bit(mask)]
            mask &= mask - np.uint64(1)
            if value < smallest[last]:
                place = last
                while place > 0 and smallest[place - 1] > value:
                    smallest[place] = smallest[place - 1]
                    place -= 1
                smallest[place] = value
    return smallest[last]


@inlined
def _count_closer(rough, start, stop, limit):
    n = 0
    for block in range(start, stop):
        mask = closer(rough, block, limit)
        while mask != 0:
            n += 1
            mask &= mask - np.uint64(1)
    return n


@compiled
def settle(pairs, first, rough, n_train, offsets, errors, most, smallest, keys, ids, certain):
    """Fill ids (n_rows, k) with the nearest training examples of test examples, nearest first, ties by number.

    first (n_rows,): numbers of the test examples; rough (n_rows * n_blocks, width): their approximate distances to
    the training examples less offsets (n_rows,), infinite beyond n_train and wrong by at most errors (n_rows,). Where
    more than ``most`` training examples may be among the nearest, and ``most`` is not 0, the row is left and is not
    certain. ``smallest`` and ``keys`` have room for k distances, as in ``rough`` and exact.
    """
    n_blocks, width = rough.shape[0] // len(first), rough.shape[1]
    k = ids.shape[1]
    for row in range(len(first)):
        start, stop = row * n_blocks, (row + 1) * n_blocks
        own, found, error = first[row], ids[row], errors[row]
        limit = np.float64(_kth_smallest(rough, start, stop, smallest))
        middle = limit + offsets[row]
        sound = np.isfinite(limit) and np.isfinite(error)
        # what is farther than the k-th by less than the leading bits show ties with it
        high = limit + 2.0 * error + (abs(middle) + 4.0 * error) * 2.0 ** (1 - TIE_BITS)
        high += abs(high) * (1e-6 if most > 0 else 1e-15)
        certain[row] = most == 0 or (sound and _count_closer(rough, start, stop, high) <= most)
        if not certain[row]:
            continue
        found[:] = -1
        keys[:] = np.inf
        if not sound:
            for j in range(n_train):
                _insert(keys, found, tie_key(pair_distance(pairs, own, j)), j)
            continue
        # those that certainly have the key of the k-th are ties among themselves, of which the first k suffice
        low, top = _cell_of(middle)
        low, top = low - offsets[row] + 1.5 * error, top - offsets[row] - 1.5 * error
        n_tied = 0
        for block in range(start, stop):
            mask = closer(rough, block, high)
            while mask != 0:
                lane = lowest_bit(mask)
                mask &= mask - np.uint64(1)
                if low < rough[block, lane] < top:
                    n_tied += 1
                    if n_tied > k:
                        continue
                j = (block - start) * width + lane
                _insert(keys, found, tie_key(pair_distance(pairs, own, j)), j)
            if found[k - 1] >= 0 and keys[k - 1] == 0.0:
                break  # examples come in order: none is closer, or comes before
