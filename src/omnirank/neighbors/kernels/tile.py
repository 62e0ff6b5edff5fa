"""Distances of four rows to a block of columns at once, with the sums held in vector registers."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from omnirank.core.compiled import inlined
from omnirank.core.kernels.vector import PLAIN, count_bits, load_vector, repeated, store_vector
from omnirank.core.numba_internals import cgutils, ir

# Rows of a tile, and vectors (of one 512-bit register each) that hold its columns.
ROWS = 4
VECTORS = 4

# Distances are rounded to multiples of this (double precision only), so that ties are ties whatever the order
# of summation.
TIE = 2.0**-32


def tile_width(dtype):
    """Return the number of columns of a tile."""
    return VECTORS * (64 // np.dtype(dtype).itemsize)


@inlined
def _add_tile_plain(rows, first, blocks, block, scale, bounds, out):
    for i in range(ROWS):
        for j in range(blocks.shape[2]):
            total = out[i, j]
            for c in range(bounds[0], bounds[1]):
                total += max(rows[first + i, c], blocks[block, c, j]) * scale[c]
            for c in range(bounds[1], bounds[2]):
                total += scale[c] if rows[first + i, c] != blocks[block, c, j] else 0
            for c in range(bounds[2], bounds[3]):
                total += rows[first + i, c] * blocks[block, c, j]
            out[i, j] = total


@inlined
def round_tile(out):
    """Round distances in double precision to multiples of TIE."""
    if out.itemsize == 8:
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = np.rint(out[i, j] / TIE) * TIE


class _Emitter:
    """What the three loops of a tile share while their code is written."""

    def __init__(self, context, builder, signature, arguments):
        self.builder = builder
        rows, first, blocks, block, scale, bounds, out = (
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments)
        )
        self.bits = signature.args[0].dtype.bitwidth
        self.lanes = 512 // self.bits
        self.number = context.get_data_type(signature.args[0].dtype)
        self.vector = ir.VectorType(self.number, self.lanes)
        self.index = ir.IntType(64)
        self.width = cgutils.unpack_tuple(builder, rows.shape, 2)[1]
        self.bounds = cgutils.unpack_tuple(builder, bounds)
        self.scale, self.out = scale.data, out.data
        starts = [builder.add(first, self.whole(row)) for row in range(ROWS)]
        self.row_data = [builder.gep(rows.data, [builder.mul(start, self.width)]) for start in starts]
        columns = builder.mul(self.width, self.whole(VECTORS * self.lanes))
        self.block_data = builder.gep(blocks.data, [builder.mul(block, columns)])
        self.sums = [[cgutils.alloca_once(builder, self.vector) for _ in range(VECTORS)] for _ in range(ROWS)]

    def whole(self, value):
        return ir.Constant(self.index, value)

    def load(self, pointer):
        return load_vector(self.builder, pointer, self.vector, self.bits)

    def everywhere(self, pointer):
        return repeated(self.builder, self.vector, self.builder.load(pointer))

    def out_place(self, row, vector):
        return self.builder.gep(self.out, [self.whole((row * VECTORS + vector) * self.lanes)])

    def loop(self, part, added):
        """Replace the sums by ``added(sum, x, t, scale)``, column after column of one part."""
        builder = self.builder
        start, stop = self.bounds[part], self.bounds[part + 1]
        with cgutils.for_range_slice(builder, start, stop, self.whole(1)) as (column, _):
            place = builder.mul(column, self.whole(VECTORS * self.lanes))
            cells = [
                self.load(builder.gep(self.block_data, [builder.add(place, self.whole(v * self.lanes))]))
                for v in range(VECTORS)
            ]
            scale = self.everywhere(builder.gep(self.scale, [column]))
            for row in range(ROWS):
                x = self.everywhere(builder.gep(self.row_data[row], [column]))
                for v in range(VECTORS):
                    total = added(builder.load(self.sums[row][v]), x, cells[v], scale)
                    builder.store(total, self.sums[row][v])


@intrinsic
def _add_tile(typing_context, rows, first, blocks, block, scale, bounds, out):
    signature = types.void(rows, types.intp, blocks, types.intp, scale, bounds, out)

    def generate(context, builder, signature, arguments):
        emit = _Emitter(context, builder, signature, arguments)
        vector = emit.vector
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{emit.lanes}f{emit.bits}"
        )

        def largest(total, x, t, scale):
            # multiplied and added at once, since some processors have units for that beside those that compare and add
            return builder.call(fused, [builder.select(builder.fcmp_ordered(">", x, t), x, t), scale, total])

        def unequal(total, x, t, scale):
            different = builder.fcmp_unordered("!=", x, t)
            return builder.fadd(total, builder.select(different, scale, ir.Constant(vector, None)))

        def product(total, x, t, scale):
            return builder.call(fused, [x, t, total])

        for row in range(ROWS):
            for v in range(VECTORS):
                builder.store(emit.load(emit.out_place(row, v)), emit.sums[row][v])
        for part, added in enumerate((largest, unequal, product)):
            emit.loop(part, added)
        for row in range(ROWS):
            for v in range(VECTORS):
                store_vector(builder, builder.load(emit.sums[row][v]), emit.out_place(row, v), emit.bits)
        return context.get_dummy_value()

    return signature, generate


@inlined
def _closer_plain(out, row, limit):
    found = np.uint64(0)
    for lane in range(VECTORS * (64 // out.itemsize)):
        if out[row, lane] < limit:
            found |= np.uint64(1) << np.uint64(lane)
    return found


@intrinsic
def _closer(typing_context, out, row, limit):
    signature = types.uint64(out, types.intp, out.dtype)

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        n_lanes = VECTORS * 512 // kind.dtype.bitwidth
        vector = ir.VectorType(context.get_data_type(kind.dtype), n_lanes)
        start = builder.mul(arguments[1], ir.Constant(ir.IntType(64), n_lanes))
        values = load_vector(builder, builder.gep(array.data, [start]), vector, kind.dtype.bitwidth)
        below = builder.fcmp_ordered("<", values, repeated(builder, vector, arguments[2]))
        bits = builder.bitcast(below, ir.IntType(n_lanes))
        return bits if n_lanes == 64 else builder.zext(bits, ir.IntType(64))

    return signature, generate


@inlined
def lowest_bit(mask):
    """Place of the lowest bit that is set."""
    return np.int64(count_bits((mask - np.uint64(1)) & ~mask))


# add_tile(rows, first, blocks, block, scale, (a, b, c, d), out): adds to out[i, j], of the rows first + i and the
#     columns j of a block, sum scale max(x, t) over a..b, sum scale [x != t] over b..c, sum x t over c..d
# closer(out, row, limit): one bit per column of the tile, set where the distance is below the limit
add_tile, closer = (_add_tile_plain, _closer_plain) if PLAIN else (_add_tile, _closer)
