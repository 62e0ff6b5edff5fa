"""Nearest columns of each row with cells rounded to 16 bits: twice as many per vector as in single precision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from omnirank.core.compiled import compiled, inlined
from omnirank.core.kernels.vector import PLAIN, load_vector, repeated, smaller, store_vector
from omnirank.core.numba_internals import cgutils, ir
from omnirank.neighbors.kernels.search import keep_nearest
from omnirank.neighbors.kernels.tile import ROWS, VECTORS

# Pairs of columns in a vector register of 512 bits, examples in a tile, pairs of columns that fit the cache.
LANES = 16
WIDTH = VECTORS * LANES
CHUNK = 256


class Words(NamedTuple):
    """Examples, in tiles or in blocks: two cells of 16 bits in each of ``cells``, between -16383 and 16383.

    Rows: cells (n_rows, n_pairs), sums, offset and ids (n_rows,). Blocks: cells (n_blocks, n_pairs, width); sums,
    offset, ids (n_blocks, width). The sums are those of an example's cells; offsets are added to its distances,
    infinite where a block is not full.
    """

    cells: Any
    sums: Any
    offset: Any
    ids: Any


@compiled
def search_words(rows, blocks, groups, unit, ids, distances, largest, out):
    """Do what `search` does for numbers alone: a distance is the sum of unit |x - t| and both offsets.

    largest, out: memory for a tile, of whole numbers and of distances.
    """
    n_blocks, n_pairs, width = blocks.cells.shape
    last = distances.shape[2] - 1
    distances[:] = np.inf
    ids[:] = -1
    for block in range(n_blocks):
        group = groups[block]
        for first in range(0, len(rows.ids), ROWS):
            largest[:] = 0
            for start in range(0, n_pairs, CHUNK):
                add_largest(rows.cells, first, blocks.cells, block, start, smaller(start + CHUNK, n_pairs), largest)
            for row in range(ROWS):
                own, far = rows.sums[first + row], rows.offset[first + row]
                for lane in range(width):
                    # |x - t| = 2 max(x, t) - x - t
                    units = np.float32(2 * largest[row, lane] - own - blocks.sums[block, lane])
                    out[row, lane] = units * unit + (far + blocks.offset[block, lane])
            for row in range(ROWS):
                keep_nearest(
                    out, row, blocks.ids, block, rows.ids[first + row], ids, distances, first + row, group, last
                )


@inlined
def _add_largest_plain(rows, first, blocks, block, start, stop, out):
    for i in range(ROWS):
        for j in range(WIDTH):
            for pair in range(start, stop):
                x, t = np.int64(rows[first + i, pair]), np.int64(blocks[block, pair, j])
                out[i, j] += max(x >> 16, t >> 16) + max(_low_word(x), _low_word(t))


@inlined
def _low_word(pair):
    """The lower 16 bits of two words, with their sign."""
    return ((pair & 0xFFFF) ^ 0x8000) - 0x8000


@intrinsic
def _add_largest(typing_context, rows, first, blocks, block, start, stop, out):
    signature = types.void(rows, types.intp, blocks, types.intp, types.intp, types.intp, out)

    def generate(context, builder, signature, arguments):
        rows, first, blocks, block, start, stop, out = (
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments)
        )
        short, index = ir.IntType(32), ir.IntType(64)
        pairs, words = ir.VectorType(short, LANES), ir.VectorType(ir.IntType(16), 2 * LANES)
        wide = ir.VectorType(short, 2 * LANES)

        def whole(value):
            return ir.Constant(index, value)

        def places(numbers):
            return ir.Constant(ir.VectorType(short, len(numbers)), numbers)

        def load(data, place):
            return load_vector(builder, builder.gep(data, [place]), pairs, 32)

        def added(total, x, t):
            # one instruction where the processor multiplies words and adds the products of neighbours
            larger = builder.select(builder.icmp_signed(">", x, t), x, t)
            larger = builder.sext(larger, wide)
            unused = ir.Constant(wide, ir.Undefined)
            even = builder.shuffle_vector(larger, unused, places(list(range(0, 2 * LANES, 2))))
            odd = builder.shuffle_vector(larger, unused, places(list(range(1, 2 * LANES, 2))))
            return builder.add(total, builder.add(even, odd))

        n_pairs = cgutils.unpack_tuple(builder, rows.shape, 2)[1]
        row_data = [
            builder.gep(rows.data, [builder.mul(builder.add(first, whole(row)), n_pairs)]) for row in range(ROWS)
        ]
        block_data = builder.gep(blocks.data, [builder.mul(block, builder.mul(n_pairs, whole(WIDTH)))])
        sums = [[cgutils.alloca_once(builder, pairs) for _ in range(VECTORS)] for _ in range(ROWS)]
        for row in range(ROWS):
            for v in range(VECTORS):
                builder.store(load(out.data, whole((row * VECTORS + v) * LANES)), sums[row][v])
        with cgutils.for_range_slice(builder, start, stop, whole(1)) as (pair, _):
            place = builder.mul(pair, whole(WIDTH))
            cells = [
                builder.bitcast(load(block_data, builder.add(place, whole(v * LANES))), words) for v in range(VECTORS)
            ]
            for row in range(ROWS):
                x = repeated(builder, pairs, builder.load(builder.gep(row_data[row], [pair])))
                x = builder.bitcast(x, words)
                for v in range(VECTORS):
                    builder.store(added(builder.load(sums[row][v]), x, cells[v]), sums[row][v])
        for row in range(ROWS):
            for v in range(VECTORS):
                target = builder.gep(out.data, [whole((row * VECTORS + v) * LANES)])
                store_vector(builder, builder.load(sums[row][v]), target, 32)
        return context.get_dummy_value()

    return signature, generate


# add_largest(rows, first, blocks, block, start, stop, out): adds to out[i, j], of the rows first + i and the columns j
#     of a block, the sum of max(x, t) over the pairs of columns from start to stop
add_largest = _add_largest_plain if PLAIN else _add_largest
