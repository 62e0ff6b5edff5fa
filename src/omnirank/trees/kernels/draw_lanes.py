"""Thresholds of 16 features drawn at once: one instruction serves several features, and sums stay in registers.

Compilers would store and load the sums again for every row: they cannot know that the arrays do not overlap. Where
there are no vector instructions, features are searched one by one (`omnirank.trees.layout`): trees are the same.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from omnirank.core.kernels.vector import RunningSum, fetch_line, load_vector, repeated, store_vector
from omnirank.core.numba_internals import cgutils, ir
from omnirank.trees.kernels.candidates import REDRAW_KEY

# Features that are drawn at once: neighbours, or fewer that are listed and copied side by side.
BLOCK, FEW = 16, 8

# Rows of the array that holds draws, a number per feature: the threshold, and sums over the rows up to it.
THRESHOLD, LEFT_WEIGHT, LEFT_VALUE = 0, 1, 2
N_DRAWN = 3

# Rows that fit a word of bits.
ROWS = 64

# The listed cells of more rows are not in the nearest caches; rows from here to the one whose cells are fetched.
_CACHED = 512
_AHEAD = 24

_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _whole(number):
    return ir.Constant(ir.IntType(64), number)


class _Block:
    """The steps of the loop below; a vector has a number for each of the features.

    These are 16 neighbours, or they are listed: then their cells are copied side by side when they are read first.
    """

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments
        self.listed = isinstance(signature.args[1], types.Array)
        self.lanes = FEW if self.listed else BLOCK
        self.floats = ir.VectorType(ir.DoubleType(), self.lanes)
        self.words = ir.VectorType(ir.IntType(64), self.lanes)
        self.flags = ir.VectorType(ir.IntType(1), self.lanes)
        self.first, self.n = arguments[1], arguments[3]
        self.kind = signature.args[0].dtype
        cells = self.array(0)
        self.cells, self.width = cells.data, cgutils.unpack_tuple(builder, cells.shape, 2)[1]
        self.rows, self.weight = self.array(2).data, self.array(4).data
        if self.listed:
            self.copied, self.places = self.array(11).data, self.listed_places()

    def array(self, i):
        return self.context.make_array(self.signature.args[i])(self.context, self.builder, self.arguments[i])

    def constant(self, kind, number):
        return ir.Constant(kind, [number] * self.lanes)

    def variable(self, kind, number=None):
        """A vector that changes; all its numbers start as given."""
        place = cgutils.alloca_once(self.builder, kind)
        if number is not None:
            self.builder.store(self.constant(kind, number), place)
        return place

    def at(self, data, index):
        """One number of an array."""
        return self.builder.load(self.builder.gep(data, [index]))

    def listed_places(self):
        """The numbers of the listed features."""
        features = self.load_lanes(self.array(1).data, ir.IntType(32))
        lanes = [ir.Constant(ir.IntType(32), j) for j in range(self.lanes)]
        return [self.builder.zext(self.builder.extract_element(features, j), ir.IntType(64)) for j in lanes]

    def copy_cells(self, index):
        """Copy the listed cells of row number ``index`` of the node next to those of the row before."""
        b = self.builder
        cells = b.gep(self.cells, [b.mul(b.zext(self.at(self.rows, index), ir.IntType(64)), self.width)])
        copied = ir.Constant(self.floats, ir.Undefined)
        for j, place in enumerate(self.places):
            copied = b.insert_element(copied, self.at(cells, place), ir.Constant(ir.IntType(32), j))
        store_vector(b, copied, self.copy_of(index), 64)
        return copied

    def fetch_and_copy(self, index):
        """As copy_cells; the cells of a row some way ahead are fetched, since rows lie anywhere."""
        b, size = self.builder, ir.IntType(64)
        last = b.sub(self.n, _whole(1))
        ahead = b.add(index, _whole(_AHEAD))
        ahead = b.select(b.icmp_signed("<", ahead, last), ahead, last)
        start = b.mul(b.zext(self.at(self.rows, ahead), size), self.width)
        for place in self.places:
            fetch_line(b, b.gep(self.cells, [b.add(start, place)]), near=2)
        return self.copy_cells(index)

    def copy_of(self, index):
        start = self.builder.mul(index, _whole(self.lanes))
        return self.builder.gep(self.copied, [start])

    def row_cells(self, index):
        """The cells of row number ``index`` of the node."""
        builder = self.builder
        if self.listed:
            return load_vector(builder, self.copy_of(index), self.floats, 64)
        row = builder.zext(self.at(self.rows, index), ir.IntType(64))
        start = builder.add(builder.mul(row, self.width), self.first)
        own = ir.VectorType(self.context.get_data_type(self.kind), self.lanes)
        cells = load_vector(builder, builder.gep(self.cells, [start]), own, self.kind.bitwidth)
        return cells if self.kind.bitwidth == 64 else builder.fpext(cells, self.floats)

    def keep(self, place, operator, new):
        """Keep the smaller ("<") or larger (">") numbers."""
        old = self.builder.load(place)
        self.builder.store(self.builder.select(self.builder.fcmp_ordered(operator, new, old), new, old), place)

    def add(self, place, left, index, data):
        """Add a number of the row to the sums of the features that send it left."""
        number = repeated(self.builder, self.floats, self.at(data, index))
        added = self.builder.select(left, number, self.constant(self.floats, 0.0))
        self.builder.store(self.builder.fadd(self.builder.load(place), added), place)

    def mix(self, x):
        """As `candidates.mix`."""
        b = self.builder
        x = b.add(x, self.constant(self.words, _GAMMA))
        x = b.mul(b.xor(x, b.lshr(x, self.constant(self.words, 30))), self.constant(self.words, _FIRST))
        x = b.mul(b.xor(x, b.lshr(x, self.constant(self.words, 27))), self.constant(self.words, _SECOND))
        return b.xor(x, b.lshr(x, self.constant(self.words, 31)))

    def drawn_between(self, low, high, state):
        """As `candidates.drawn_between`."""
        b = self.builder
        share = b.uitofp(b.lshr(state, self.constant(self.words, 11)), self.floats)
        share = b.fmul(share, self.constant(self.floats, 1.0 / 9007199254740992.0))
        span = b.fsub(high, low)
        usual = b.fadd(low, b.fmul(share, span))
        rest = b.fsub(self.constant(self.floats, 1.0), share)
        part, zero = b.fmul(share, high), self.constant(self.floats, 0.0)
        part = b.select(b.fcmp_ordered(">", part, zero), part, zero)  # keeps the compiler from factoring the share out
        wide = b.fadd(b.fmul(rest, low), part)
        drawn = b.select(b.fcmp_ordered("==", span, self.constant(self.floats, np.inf)), wide, usual)
        if self.kind.bitwidth != 64:
            narrow = ir.VectorType(self.context.get_data_type(self.kind), self.lanes)
            drawn = b.fpext(b.fptrunc(drawn, narrow), self.floats)
        return b.select(b.fcmp_ordered("<", drawn, high), drawn, low)

    def initial_states(self, base):
        b = self.builder
        if self.listed:
            features = b.zext(self.load_lanes(self.array(1).data, ir.IntType(32)), self.words)
        else:
            numbers = ir.Constant(self.words, list(range(self.lanes)))
            features = b.add(repeated(self.builder, self.words, self.first), numbers)
        return self.mix(b.xor(repeated(self.builder, self.words, base), features))

    def wanted(self):
        """Which features are drawn."""
        flags = self.array(5).data
        flags = self.load_lanes(flags if self.listed else self.builder.gep(flags, [self.first]), ir.IntType(8))
        return self.builder.icmp_unsigned("!=", flags, ir.Constant(flags.type, None))

    def load_lanes(self, place, kind):
        """A vector of the numbers from a place on."""
        return load_vector(self.builder, place, ir.VectorType(kind, self.lanes), kind.width)

    def extremes(self, low, high):
        if not self.listed:
            self.keep_extremes(low, high, self.row_cells)
            return
        many = self.builder.icmp_signed(">", self.n, _whole(_CACHED))
        with self.builder.if_else(many) as (then, otherwise):
            with then:
                self.keep_extremes(low, high, self.fetch_and_copy)
            with otherwise:
                self.keep_extremes(low, high, self.copy_cells)

    def keep_extremes(self, low, high, cells_of):
        with cgutils.for_range(self.builder, self.n) as loop:
            cells = cells_of(loop.index)
            self.keep(low, "<", cells)
            self.keep(high, ">", cells)

    def left(self, threshold, index):
        """Which features send a row left."""
        return self.builder.fcmp_ordered("<=", self.row_cells(index), threshold)

    def sum_values(self, threshold, weights, values, value):
        """Add up what goes left."""
        self.builder.store(self.constant(self.floats, 0.0), weights)
        self.builder.store(self.constant(self.floats, 0.0), values)
        with cgutils.for_range(self.builder, self.n) as loop:
            left = self.left(threshold, loop.index)
            self.add(weights, left, loop.index, self.weight)
            self.add(values, left, loop.index, value)

    def sum_weights(self, threshold, weights, word, halves):
        """Add up the weights that go left, and note which rows do: a word per feature and 64 rows."""
        b = self.builder
        b.store(self.constant(self.floats, 0.0), weights)
        last = b.add(self.n, _whole(ROWS - 1))
        with cgutils.for_range(b, b.udiv(last, _whole(ROWS))) as chunk:
            b.store(self.constant(self.words, 0), word)
            start = b.mul(chunk.index, _whole(ROWS))
            rest = b.sub(self.n, start)
            most = _whole(ROWS)
            with cgutils.for_range(b, b.select(b.icmp_unsigned("<", rest, most), rest, most)) as loop:
                index = b.add(start, loop.index)
                left = self.left(threshold, index)
                self.add(weights, left, index, self.weight)
                bit = repeated(self.builder, self.words, b.shl(_whole(1), loop.index))
                b.store(b.or_(b.load(word), b.select(left, bit, self.constant(self.words, 0))), word)
            store_vector(b, b.load(word), b.gep(halves, [b.mul(chunk.index, _whole(BLOCK))]), 64)

    def neighbours(self, threshold, above, up_to):
        """The smallest value above the threshold, and the largest up to it."""
        b = self.builder
        b.store(self.constant(self.floats, np.inf), above)
        b.store(self.constant(self.floats, -np.inf), up_to)
        with cgutils.for_range(b, self.n) as loop:
            cells = self.row_cells(loop.index)
            left = b.fcmp_ordered("<=", cells, threshold)
            self.keep(above, "<", b.select(left, self.constant(self.floats, np.inf), cells))
            self.keep(up_to, ">", b.select(left, cells, self.constant(self.floats, -np.inf)))


def _make_draw(with_values):
    """Make the loop that sums values over the rows on the left, or the one that notes these rows."""
    place, word, number = types.intp, types.uint64, types.float64

    def generate(context, builder, signature, arguments):
        block = _Block(context, builder, signature, arguments)
        b = builder
        extra, flags = block.array(10).data, ir.IntType(block.lanes)
        total = repeated(b, block.floats, arguments[7])
        least = repeated(b, block.floats, arguments[8])
        low, high = block.variable(block.floats, np.inf), block.variable(block.floats, -np.inf)
        threshold, weights, values, above, up_to = (block.variable(block.floats) for _ in range(5))
        state, halves, active = block.variable(block.words), block.variable(block.words), block.variable(block.flags)
        block.extremes(low, high)
        differ = b.fcmp_ordered("<", b.load(low), b.load(high))
        b.store(b.and_(differ, block.wanted()), active)
        b.store(block.initial_states(arguments[6]), state)
        b.store(block.drawn_between(b.load(low), b.load(high), b.load(state)), threshold)
        again, redraw, done = (b.append_basic_block(name) for name in ("again", "redraw", "done"))
        b.branch(again)

        b.position_at_end(again)
        if with_values:
            block.sum_values(b.load(threshold), weights, values, extra)
        else:
            block.sum_weights(b.load(threshold), weights, halves, extra)
        k = b.load(weights)
        left_light = b.fcmp_ordered("<", k, least)
        light = b.or_(left_light, b.fcmp_ordered("<", b.fsub(total, k), least))
        light = b.and_(light, b.load(active))
        none = b.icmp_unsigned("==", b.bitcast(light, flags), ir.Constant(flags, 0))
        b.cbranch(none, done, redraw)

        b.position_at_end(redraw)
        block.neighbours(b.load(threshold), above, up_to)
        b.store(b.select(b.and_(light, left_light), b.load(above), b.load(low)), low)
        b.store(b.select(b.and_(light, b.not_(left_light)), b.load(up_to), b.load(high)), high)
        empty = b.and_(light, b.fcmp_unordered(">=", b.load(low), b.load(high)))
        b.store(b.and_(b.load(active), b.not_(empty)), active)
        # States of features that are done with change too: nothing asks for them any more.
        key = block.constant(block.words, int(REDRAW_KEY))
        b.store(block.mix(b.xor(b.load(state), key)), state)
        new = block.drawn_between(b.load(low), b.load(high), b.load(state))
        b.store(b.select(light, new, b.load(threshold)), threshold)
        b.branch(again)

        b.position_at_end(done)
        outcomes = [(THRESHOLD, threshold), (LEFT_WEIGHT, weights)] + [(LEFT_VALUE, values)] * with_values
        for row, vector in outcomes:
            store_vector(b, b.load(vector), b.gep(block.array(9).data, [_whole(row * BLOCK)]), 64)
        return b.zext(b.bitcast(b.load(active), flags), ir.IntType(64))

    @intrinsic
    def draw(typing_context, cells, first, rows, n, weight, drawn, base, total, least, draws, extra, copied):
        start = first if isinstance(first, types.Array) else place
        arguments = cells, start, rows, place, weight, drawn, word, number, number, draws, extra, copied
        return word(*arguments), generate

    return draw


def _make_half_norm(lanes):
    @intrinsic
    def norm(typing_context, matrix, column, halves, j, right, n):
        def generate(context, builder, signature, arguments):
            running = RunningSum(context, builder, signature, arguments, lanes)
            b, size = builder, ir.IntType(64)
            words = context.make_array(signature.args[2])(context, builder, arguments[2]).data
            flip = b.select(b.icmp_unsigned("!=", arguments[4], _whole(0)), _whole(-1), _whole(0))
            left = cgutils.alloca_once(b, size)
            last = b.add(arguments[5], _whole(ROWS - 1))
            with cgutils.for_range(b, b.udiv(last, _whole(ROWS))) as chunk:
                start = b.mul(chunk.index, _whole(ROWS))
                place = b.add(b.mul(chunk.index, _whole(BLOCK)), arguments[3])
                rest = b.sub(arguments[5], start)
                whole = b.icmp_unsigned(">=", rest, _whole(ROWS))
                some = b.sub(b.shl(_whole(1), b.and_(rest, _whole(ROWS - 1))), _whole(1))
                rows = b.select(whole, _whole(-1), some)
                b.store(b.and_(b.xor(b.load(b.gep(words, [place])), flip), rows), left)
                test, body, after = (b.append_basic_block(name) for name in ("test", "body", "after"))
                b.branch(test)
                b.position_at_end(test)
                word = b.load(left)
                b.cbranch(b.icmp_unsigned("!=", word, _whole(0)), body, after)
                b.position_at_end(body)
                running.add(b.add(start, b.cttz(word, ir.Constant(ir.IntType(1), 1))))
                b.store(b.and_(word, b.sub(word, _whole(1))), left)
                b.branch(test)
                b.position_at_end(after)
            return running.norm()

        return matrix.dtype(matrix, types.intp, halves, types.uint64, types.uint64, types.intp), generate

    return norm


# draw_L(cells, first, rows, n, weight, drawn, base, total, least, draws, extra, copied): draws a threshold for each of
#     the features first to first + 15 of which drawn[feature] is not 0; where ``first`` is an array, for the first 8
#     features of its first row, of which drawn[0 to 7] are not 0, and whose cells are copied side by side to the
#     columns of ``copied``. A threshold lies between the feature's cells in the n rows, uniform among those that leave
#     at least ``least`` of the total weight on both sides; the random state of a feature is mix(base ^ feature). It is
#     written to ``draws``, with the weight on its left. Returns, as bits, which features have such a threshold.
# draw_values: ``extra`` has a value for each row, of which the sum on the left is written to ``draws``.
# draw_halves: bit i % 64 of extra[i // 64, j] is whether row i is on the left of the threshold of feature number j.
# half_norm_L(matrix, column, halves, j, right, n): |sum of the rows on the left (or on the right) over L columns|^2
draw_values, draw_halves = _make_draw(True), _make_draw(False)
half_norm_8, half_norm_16 = map(_make_half_norm, (8, 16))
