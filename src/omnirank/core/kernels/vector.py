"""What compiled loops do not reach by themselves (vector instructions, uncounted arrays), with plain twins.

The twins take the place of what reads or writes memory where kernels are interpreted, and where bounds of arrays are
checked (NUMBA_BOUNDSCHECK=1): Numba does not see what vector instructions do. They take the place of everything here
where Numba lacks the names that write instructions (`core.numba_internals`).
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from omnirank.core.compiled import inlined
from omnirank.core.numba_internals import INSTRUCTIONS, cgutils, ir
from omnirank.core.numba_internals import uncounted as uncounted

LANES = 32

# Whether twins of functions that read or write memory are used.
PLAIN = not INSTRUCTIONS or numba.config.BOUNDSCHECK == 1


# -- what writers of instructions share -------------------------------------------------------------------


def load_vector(builder, place, vector, bits):
    """Write the instruction that loads a vector of numbers of so many bits, from any place in memory."""
    loaded = builder.load(builder.bitcast(place, vector.as_pointer()))
    loaded.align = bits // 8
    return loaded


def store_vector(builder, value, place, bits):
    """Write the instruction that stores a vector of numbers of so many bits, to any place in memory."""
    builder.store(value, builder.bitcast(place, value.type.as_pointer())).align = bits // 8


def repeated(builder, vector, number):
    """Write the instructions that make a vector of the same number."""
    none, short = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(none, number, ir.Constant(short, 0))
    return builder.shuffle_vector(first, none, ir.Constant(ir.VectorType(short, vector.count), [0] * vector.count))


def fetch_line(builder, place, near=3):
    """Write the instruction that fetches a line of memory, to the nearest cache (3) or to the next one (2)."""
    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(fetch, [builder.bitcast(place, byte), flag(0), flag(near), flag(1)])  # to read, data


class RunningSum:
    """The sum of some rows of a matrix (the first argument) over columns from the second on, kept in registers."""

    def __init__(self, context, builder, signature, arguments, lanes):
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments
        self.rows = context.make_array(signature.args[0])(context, builder, arguments[0])
        self.width = cgutils.unpack_tuple(builder, self.rows.shape, 2)[1]
        self.bits = signature.args[0].dtype.bitwidth
        self.number = context.get_data_type(signature.args[0].dtype)
        self.vector = ir.VectorType(self.number, lanes)
        self.sums = cgutils.alloca_once(builder, self.vector)
        builder.store(ir.Constant(self.vector, None), self.sums)
        self.add_lanes = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(self.number, [self.number, self.vector]),
            f"llvm.vector.reduce.fadd.v{lanes}f{self.bits}",
        )

    def part_of(self, index, part):
        """Pointer to one row of a two-dimensional C array."""
        array = self.context.make_array(self.signature.args[index])(self.context, self.builder, self.arguments[index])
        width = cgutils.unpack_tuple(self.builder, array.shape, 2)[1]
        return self.builder.gep(array.data, [self.builder.mul(part, width)])

    def add_listed(self, order, index):
        """Add the row that is at a place of an order."""
        self.add(self.builder.zext(self.builder.load(self.builder.gep(order, [index])), ir.IntType(64)))

    def add(self, row):
        """Add a row."""
        builder = self.builder
        start = builder.add(builder.mul(row, self.width), self.arguments[1])
        cells = load_vector(builder, builder.gep(self.rows.data, [start]), self.vector, self.bits)
        builder.store(builder.fadd(builder.load(self.sums), cells), self.sums)

    def norm(self):
        """The sum of the squares."""
        total = self.builder.load(self.sums)
        zero = ir.Constant(self.number, 0.0)
        return self.builder.call(self.add_lanes, [zero, self.builder.fmul(total, total)], fastmath=("fast",))


# -- functions and their twins ----------------------------------------------------------------------------


@inlined
def _count_smaller_plain(values, start, limit):
    count = np.uint64(0)
    for i in range(start, start + LANES):
        if values[i] < limit:
            count += np.uint64(1)
    return count


@intrinsic
def _count_smaller(typing_context, values, start, limit):
    def generate(context, builder, signature, arguments):
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        vector = ir.VectorType(context.get_data_type(array_type.dtype), LANES)
        loaded = load_vector(builder, builder.gep(array.data, [arguments[1]]), vector, array_type.dtype.bitwidth)
        smaller = builder.icmp_unsigned("<", loaded, repeated(builder, vector, arguments[2]))
        ones = builder.ctpop(builder.bitcast(smaller, ir.IntType(LANES)))
        return builder.zext(ones, ir.IntType(64))

    return types.uint64(values, types.intp, values.dtype), generate


@inlined
def _count_bits_plain(word):
    count = np.uint64(0)
    while word != np.uint64(0):
        word &= word - np.uint64(1)
        count += np.uint64(1)
    return count


@intrinsic
def _count_bits(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@inlined
def _prefetch_plain(array, place):
    """Nothing to fetch."""


@intrinsic
def _prefetch(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        fetch_line(builder, builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@inlined
def _smaller_plain(a, b):
    return a if a < b else b


@inlined
def _larger_plain(a, b):
    return a if a > b else b


def _make_select(operator):
    @intrinsic
    def select(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            if isinstance(a, types.Float):
                first = builder.fcmp_ordered(operator, *arguments)
            else:
                first = (builder.icmp_signed if a.signed else builder.icmp_unsigned)(operator, *arguments)
            return builder.select(first, *arguments)

        return a(a, a), generate

    return select


def _add_running_norms_plain(lanes):
    @inlined
    def add(matrix, column, order, part, n, out, out_part):
        for c in range(column, column + lanes):
            total = matrix.dtype.type(0)
            for t in range(n):
                total += matrix[order[part, t], c]
                out[out_part, t] += total * total

    return add


def _make_add_running_norms(lanes):
    @intrinsic
    def add(typing_context, matrix, column, order, part, n, out, out_part):
        def generate(context, builder, signature, arguments):
            running = RunningSum(context, builder, signature, arguments, lanes)
            order_row, out_row = running.part_of(2, arguments[3]), running.part_of(5, arguments[6])
            with cgutils.for_range(builder, arguments[4]) as loop:
                running.add_listed(order_row, loop.index)
                place = builder.gep(out_row, [loop.index])
                builder.store(builder.fadd(builder.load(place), running.norm()), place)
            return context.get_dummy_value()

        return types.void(matrix, types.intp, order, types.intp, types.intp, out, types.intp), generate

    return add


def _sum_norm_plain(lanes):
    @inlined
    def norm(matrix, column, order, part, n):
        squares = matrix.dtype.type(0)
        for c in range(column, column + lanes):
            total = matrix.dtype.type(0)
            for t in range(n):
                total += matrix[order[part, t], c]
            squares += total * total
        return squares

    return norm


def _make_sum_norm(lanes):
    @intrinsic
    def norm(typing_context, matrix, column, order, part, n):
        def generate(context, builder, signature, arguments):
            running = RunningSum(context, builder, signature, arguments, lanes)
            order_row = running.part_of(2, arguments[3])
            with cgutils.for_range(builder, arguments[4]) as loop:
                running.add_listed(order_row, loop.index)
            return running.norm()

        return matrix.dtype(matrix, types.intp, order, types.intp, types.intp), generate

    return norm


# smaller(a, b), larger(a, b): min and max of numbers of the first one's type; Numba would compile its own min and max
#     as functions, anew for every type
# count_smaller(values, start, limit): how many of the 32 unsigned values from start are below limit
# count_bits(word): how many bits of an unsigned integer of 64 bits are set
# prefetch(array, place): have the cells from a place of the flat array on brought near, since they are read soon; the
#     place may be beyond the end
# add_running_norms_L(matrix, column, order, part, n, out, out_part):
#     out[out_part, t] += |sum of matrix[order[part, :t + 1], column:column + L]|^2 for t < n
# sum_norm_L(matrix, column, order, part, n): |sum of matrix[order[part, :n], column:column + L]|^2
count_smaller = _count_smaller_plain if PLAIN else _count_smaller
add_running_norms_8, add_running_norms_16, add_running_norms_32 = map(
    _add_running_norms_plain if PLAIN else _make_add_running_norms, (8, 16, 32)
)
sum_norm_8, sum_norm_16 = map(_sum_norm_plain if PLAIN else _make_sum_norm, (8, 16))
if INSTRUCTIONS:
    count_bits, prefetch = _count_bits, _prefetch
    smaller, larger = _make_select("<"), _make_select(">")
else:
    count_bits, prefetch = _count_bits_plain, _prefetch_plain
    smaller, larger = _smaller_plain, _larger_plain
