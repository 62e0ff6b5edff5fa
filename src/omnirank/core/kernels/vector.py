"""What compiled loops do not reach by themselves (vector instructions, uncounted arrays), with plain twins.

The twins take the place of what reads or writes memory where kernels are interpreted, and where bounds of arrays are
checked (NUMBA_BOUNDSCHECK=1): Numba does not see what vector instructions do.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omnirank.core.compiled import inlined

LANES = 32

# Whether twins are used.
PLAIN = bool(numba.config.DISABLE_JIT) or numba.config.BOUNDSCHECK == 1


@inlined
def _count_smaller_plain(values, start, limit):
    count = np.uint64(0)
    for i in range(start, start + LANES):
        if values[i] < limit:
            count += np.uint64(1)
    return count


@intrinsic
def _count_smaller(typing_context, values, start, limit):
    signature = types.uint64(values, types.intp, values.dtype)

    def generate(context, builder, signature, arguments):
        from llvmlite import ir

        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        element = context.get_data_type(array_type.dtype)
        vector = ir.VectorType(element, LANES)
        pointer = builder.gep(array.data, [arguments[1]])
        loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        loaded.align = array_type.dtype.bitwidth // 8
        none = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(none, arguments[2], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        everywhere = builder.shuffle_vector(first, none, zeros)
        smaller = builder.icmp_unsigned("<", loaded, everywhere)
        ones = builder.ctpop(builder.bitcast(smaller, ir.IntType(LANES)))
        return builder.zext(ones, ir.IntType(64))

    return signature, generate


def _count_bits_plain(word):
    return int(word).bit_count()


@intrinsic
def _count_bits(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def _prefetch_plain(array, place):
    """Nothing to fetch."""


def fetch_line(builder, place, near=3):
    """Write the instruction that fetches a line of memory, to the nearest cache (3) or to the next one (2)."""
    from llvmlite import ir

    byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(fetch, [builder.bitcast(place, byte), flag(0), flag(near), flag(1)])  # to read, data


@intrinsic
def _prefetch(typing_context, array, place):
    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        fetch_line(builder, builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


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


class RunningSum:
    """The sum of some rows of a matrix (the first argument) over columns from the second on, kept in registers."""

    def __init__(self, context, builder, signature, arguments, lanes):
        from llvmlite import ir

        self.ir, self.context, self.builder = ir, context, builder
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
        self.add(self.builder.zext(self.builder.load(self.builder.gep(order, [index])), self.ir.IntType(64)))

    def add(self, row):
        """Add a row."""
        builder = self.builder
        start = builder.add(builder.mul(row, self.width), self.arguments[1])
        cells = builder.load(builder.bitcast(builder.gep(self.rows.data, [start]), self.vector.as_pointer()))
        cells.align = self.bits // 8
        builder.store(builder.fadd(builder.load(self.sums), cells), self.sums)

    def norm(self):
        """The sum of the squares."""
        total = self.builder.load(self.sums)
        zero = self.ir.Constant(self.number, 0.0)
        return self.builder.call(self.add_lanes, [zero, self.builder.fmul(total, total)], fastmath=("fast",))


def _make_add_running_norms(lanes):
    @intrinsic
    def add(typing_context, matrix, column, order, part, n, out, out_part):
        signature = types.void(matrix, types.intp, order, types.intp, types.intp, out, types.intp)

        def generate(context, builder, signature, arguments):
            running = RunningSum(context, builder, signature, arguments, lanes)
            order_row, out_row = running.part_of(2, arguments[3]), running.part_of(5, arguments[6])
            with cgutils.for_range(builder, arguments[4]) as loop:
                running.add_listed(order_row, loop.index)
                place = builder.gep(out_row, [loop.index])
                builder.store(builder.fadd(builder.load(place), running.norm()), place)
            return context.get_dummy_value()

        return signature, generate

    return add


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


@intrinsic
def _uncounted(typing_context, arrays):
    signature = arrays(arrays)

    def strip(context, builder, kind, value):
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            for i, part in enumerate(kind.types):
                stripped = strip(context, builder, part, builder.extract_value(value, i))
                value = builder.insert_value(value, stripped, i)
        return value

    def generate(context, builder, signature, arguments):
        if not context.enable_nrt:  # nothing is counted anyway
            return arguments[0]
        return strip(context, builder, signature.args[0], arguments[0])

    return signature, generate


# uncounted(arrays): the same array or tuple of arrays without reference counts, for use inside a function whose
#     caller keeps the arrays alive; counting references to scratch memory costs more than small nodes do
# smaller(a, b), larger(a, b): min and max of numbers of the first one's type; Numba would compile its own min and max
#     as functions, anew for every type
# count_smaller(values, start, limit): how many of the 32 unsigned values from start are below limit
# count_bits(word): how many bits of an unsigned integer of 64 bits are set
# prefetch(array, place): have the cells from a place of the flat array on brought near, since they are read soon; the
#     place may be beyond the end
# add_running_norms_L(matrix, column, order, part, n, out, out_part):
#     out[out_part, t] += |sum of matrix[order[part, :t + 1], column:column + L]|^2 for t < n
# sum_norm_L(matrix, column, order, part, n): |sum of matrix[order[part, :n], column:column + L]|^2
if PLAIN:
    count_smaller = _count_smaller_plain
    add_running_norms_8, add_running_norms_16, add_running_norms_32 = map(_add_running_norms_plain, (8, 16, 32))
    sum_norm_8, sum_norm_16 = map(_sum_norm_plain, (8, 16))
else:
    count_smaller = _count_smaller
    add_running_norms_8, add_running_norms_16, add_running_norms_32 = map(_make_add_running_norms, (8, 16, 32))
    sum_norm_8, sum_norm_16 = map(_make_sum_norm, (8, 16))
if numba.config.DISABLE_JIT:
    count_bits = _count_bits_plain
    prefetch = _prefetch_plain
    smaller, larger = min, max

    def uncounted(arrays):
        """Return the arrays as they are."""
        return arrays
else:
    count_bits = _count_bits
    prefetch = _prefetch
    smaller, larger = _make_select("<"), _make_select(">")
    uncounted = _uncounted
