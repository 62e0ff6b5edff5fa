"""Nearest columns of each row, by tiles; candidates found in single precision are verified in double."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import compiled, inlined
from omnirank.core.kernels.vector import larger, smaller
from omnirank.neighbors.kernels.tile import ROWS, TIE, add_tile, closer, lowest_bit, round_tile

# Columns of the matrix that are summed before the sum is added to the total: bounds rounding, and fits the cache.
CHUNK = 256
# Lists of neighbours up to this length are rewritten as a whole when one is inserted.
SHORT = 32


class Blocks(NamedTuple):
    """The examples among which neighbours are sought, in blocks of one group each.

    A difference costs one operation less as |x - t| = 2 max(x, t) - x - t: cells of numbers hold 2 x - 1, and offsets
    the sums of 1/2 - x.

    cells (n_blocks, n_columns, width): transposed; offset (n_blocks, width): added to distances, infinite where a
    block is not full; ids (n_blocks, width): numbers of the examples, ascending in a group; group (n_blocks,).
    """

    cells: Any
    offset: Any
    ids: Any
    group: Any
    scale: Any


class Rows(NamedTuple):
    """The examples whose neighbours are sought, padded to whole tiles: cells, offset, own number or -1."""

    cells: Any
    offset: Any
    ids: Any


class PairCells(NamedTuple):
    """Cells in double precision, as `omnirank.neighbors.cells.Cells` describes them."""

    values: Any
    missing_start: Any
    missing: Any
    correction: Any


@compiled
def search(rows, blocks, bounds, ids, distances, out):
    """Fill ids and distances (n_rows, n_groups, k): the nearest of each group, nearest first, ties by number.

    bounds: where the columns of the three kinds of `add_tile` start, and their number; out: memory for a tile. Places
    that no example takes keep the number -1 and an infinite distance.
    """
    n_blocks, width = blocks.offset.shape
    last = distances.shape[2] - 1
    distances[:] = np.inf
    ids[:] = -1
    for block in range(n_blocks):
        group = blocks.group[block]
        for first in range(0, len(rows.ids), ROWS):
            for row in range(ROWS):
                for lane in range(width):
                    out[row, lane] = blocks.offset[block, lane] + rows.offset[first + row]
            for start in range(0, bounds[3], CHUNK):
                add_tile(
                    rows.cells, first, blocks.cells, block, blocks.scale, _clipped(bounds, start, start + CHUNK), out
                )
            round_tile(out)
            for row in range(ROWS):
                keep_nearest(
                    out, row, blocks.ids, block, rows.ids[first + row], ids, distances, first + row, group, last
                )


@inlined
def _clipped(bounds, start, stop):
    """The part of each kind of columns that lies in start..stop."""
    return (
        smaller(larger(bounds[0], start), stop),
        smaller(larger(bounds[1], start), stop),
        smaller(larger(bounds[2], start), stop),
        smaller(larger(bounds[3], start), stop),
    )


@inlined
def keep_nearest(out, row, block_ids, block, own, ids, distances, target, group, last):
    """Insert the distances of one row to a block into its list of the nearest."""
    mask = closer(out, row, distances[target, group, last])
    while mask != 0:
        lane = lowest_bit(mask)
        mask &= mask - np.uint64(1)
        distance = out[row, lane]
        if distance < distances[target, group, last] and block_ids[block, lane] != own:
            if last < SHORT:
                _insert_in_short(distances[target, group], ids[target, group], last, distance, block_ids[block, lane])
                continue
            place = last
            while place > 0 and distances[target, group, place - 1] > distance:
                distances[target, group, place] = distances[target, group, place - 1]
                ids[target, group, place] = ids[target, group, place - 1]
                place -= 1
            distances[target, group, place] = distance
            ids[target, group, place] = block_ids[block, lane]


@inlined
def _insert_in_short(distances, ids, last, distance, number):
    """Insert without a branch: the place in a short list cannot be foreseen, and wrong guesses cost more than moves."""
    for place in range(last, 0, -1):
        before, here = distances[place - 1], distances[place]
        shifted = number if before <= distance else ids[place - 1]
        ids[place] = ids[place] if here <= distance else shifted
        distances[place] = smaller(here, larger(before, distance))
    ids[0] = ids[0] if distances[0] <= distance else number
    distances[0] = smaller(distances[0], distance)


@inlined
def pair_distance(cells, n_numeric, first, second):
    """D times d_X of two rows."""
    values = cells.values
    total = 0.0
    for column in range(n_numeric):
        total += abs(values[first, column] - values[second, column])
    for column in range(n_numeric, values.shape[1]):
        if values[first, column] != values[second, column]:
            total += 1.0
    for place in range(cells.missing_start[first], cells.missing_start[first + 1]):
        total += cells.correction[cells.missing[place]]
    for place in range(cells.missing_start[second], cells.missing_start[second + 1]):
        column = cells.missing[place]
        if column < n_numeric or not np.isnan(values[first, column]):
            total += cells.correction[column]
    return total


@compiled
def verify(cells, n_numeric, own, ids, distances, error, found, exact, certain, keys, totals, numbers):
    """Order candidates by their distances in double precision, and keep the nearest.

    ids, distances: what `search` found for the rows ``own``; found, exact (n_rows, n_groups, k): the k nearest and
    their distances; certain (n_rows,): whether no other example can belong to them, given that a distance d in
    single precision is wrong by at most error[0] + error[1] d; keys, totals, numbers: memory for the candidates.
    """
    n_candidates, k = ids.shape[2], found.shape[2]
    for row in range(len(own)):
        certain[row] = True
        for group in range(ids.shape[1]):
            n = 0
            while n < n_candidates and ids[row, group, n] >= 0:
                number = ids[row, group, n]
                total = pair_distance(cells, n_numeric, own[row], number)
                key = np.rint(total / TIE)
                place = n
                while place > 0 and (keys[place - 1] > key or (keys[place - 1] == key and numbers[place - 1] > number)):
                    keys[place], totals[place] = keys[place - 1], totals[place - 1]
                    numbers[place] = numbers[place - 1]
                    place -= 1
                keys[place], totals[place], numbers[place] = key, total, number
                n += 1
            for q in range(k):
                found[row, group, q] = numbers[q] if q < n else -1
                exact[row, group, q] = totals[q] if q < n else np.inf
            if n == n_candidates:
                limit = distances[row, group, n - 1]
                if not keys[smaller(k, n) - 1] * TIE + TIE < limit - error[0] - error[1] * limit:
                    certain[row] = False
