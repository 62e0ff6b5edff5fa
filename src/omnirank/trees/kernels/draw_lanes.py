"""Thresholds of 16 features drawn at once: one instruction serves several features, and sums stay in registers.

Compilers would store and load the sums again for every row: they cannot know that the arrays do not overlap.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omnirank.core.kernels.vector import PLAIN, RunningSum, fetch_line
from omnirank.trees.kernels import candidates
from omnirank.trees.kernels import draw_lanes_plain as plain
from omnirank.trees.kernels.draw_lanes_plain import BLOCK, FEW, LEFT_VALUE, LEFT_WEIGHT, ROWS, THRESHOLD

# The listed cells of more rows are not in the nearest caches; rows from here to the one whose cells are fetched.
_CACHED = 512
_AHEAD = 24

_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class _Block:
    """The steps of the loop below; a vector has a number for each of the features.

    These are 16 neighbours, or they are listed: then their cells are copied side by side when they are read first.
    """

    def __init__(self, context, builder, signature, arguments, listed):
        from llvmlite import ir

        self.ir, self.context, self.builder = ir, context, builder
        self.signature, self.arguments = signature, arguments
        self.listed, self.lanes = listed, FEW if listed else BLOCK
        self.floats = ir.VectorType(ir.DoubleType(), self.lanes)
        self.words = ir.VectorType(ir.IntType(64), self.lanes)
        self.flags = ir.VectorType(ir.IntType(1), self.lanes)
        self.first, self.n = arguments[1], arguments[3]
        self.kind = signature.args[0].dtype
        cells = self.array(0)
        self.cells, self.width = cells.data, cgutils.unpack_tuple(builder, cells.shape, 2)[1]
        self.rows, self.weight = self.array(2).data, self.array(4).data
        if listed:
            self.copied, self.places = self.array(11).data, self.listed_places()

    def array(self, i):
        return self.context.make_array(self.signature.args[i])(self.context, self.builder, self.arguments[i])

    def constant(self, kind, number):
        return self.ir.Constant(kind, [number] * self.lanes)

    def variable(self, kind, number=None):
        """A vector that changes; all its numbers start as given."""
        place = cgutils.alloca_once(self.builder, kind)
        if number is not None:
            self.builder.store(self.constant(kind, number), place)
        return place

    def repeated(self, kind, number):
        """A vector of the same number."""
        none = self.ir.Constant(kind, self.ir.Undefined)
        first = self.builder.insert_element(none, number, self.ir.Constant(self.ir.IntType(32), 0))
        zeros = self.ir.Constant(self.ir.VectorType(self.ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, none, zeros)

    def at(self, data, index):
        """One number of an array."""
        return self.builder.load(self.builder.gep(data, [index]))

    def listed_places(self):
        """The numbers of the listed features."""
        features = self.load_lanes(self.array(1).data, self.ir.IntType(32))
        lanes = [self.ir.Constant(self.ir.IntType(32), j) for j in range(self.lanes)]
        return [self.builder.zext(self.builder.extract_element(features, j), self.ir.IntType(64)) for j in lanes]

    def copy_cells(self, index):
        """Copy the listed cells of row number ``index`` of the node next to those of the row before."""
        b = self.builder
        cells = b.gep(self.cells, [b.mul(b.zext(self.at(self.rows, index), self.ir.IntType(64)), self.width)])
        found = self.ir.Constant(self.floats, self.ir.Undefined)
        for j, place in enumerate(self.places):
            found = b.insert_element(found, self.at(cells, place), self.ir.Constant(self.ir.IntType(32), j))
        b.store(found, self.copy_of(index)).align = 8
        return found

    def fetch_and_copy(self, index):
        """As copy_cells; the cells of a row some way ahead are fetched, since rows lie anywhere."""
        b, size = self.builder, self.ir.IntType(64)
        last = b.sub(self.n, self.ir.Constant(size, 1))
        ahead = b.add(index, self.ir.Constant(size, _AHEAD))
        ahead = b.select(b.icmp_signed("<", ahead, last), ahead, last)
        start = b.mul(b.zext(self.at(self.rows, ahead), size), self.width)
        for place in self.places:
            fetch_line(b, b.gep(self.cells, [b.add(start, place)]), near=2)
        return self.copy_cells(index)

    def copy_of(self, index):
        start = self.builder.mul(index, self.ir.Constant(self.ir.IntType(64), self.lanes))
        return self.builder.bitcast(self.builder.gep(self.copied, [start]), self.floats.as_pointer())

    def row_cells(self, index):
        """The cells of row number ``index`` of the node."""
        builder = self.builder
        if self.listed:
            found = builder.load(self.copy_of(index))
            found.align = 8
            return found
        row = builder.zext(self.at(self.rows, index), self.ir.IntType(64))
        start = builder.add(builder.mul(row, self.width), self.first)
        own = self.ir.VectorType(self.context.get_data_type(self.kind), self.lanes)
        found = builder.load(builder.bitcast(builder.gep(self.cells, [start]), own.as_pointer()))
        found.align = self.kind.bitwidth // 8
        return found if self.kind.bitwidth == 64 else builder.fpext(found, self.floats)

    def keep(self, place, operator, new):
        """Keep the smaller ("<") or larger (">") numbers."""
        old = self.builder.load(place)
        self.builder.store(self.builder.select(self.builder.fcmp_ordered(operator, new, old), new, old), place)

    def add(self, place, left, index, data):
        """Add a number of the row to the sums of the features that send it left."""
        added = self.builder.select(
            left, self.repeated(self.floats, self.at(data, index)), self.constant(self.floats, 0.0)
        )
        self.builder.store(self.builder.fadd(self.builder.load(place), added), place)

    def mix(self, x):
        """As `random.mix`."""
        b = self.builder
        x = b.add(x, self.constant(self.words, _GAMMA))
        x = b.mul(b.xor(x, b.lshr(x, self.constant(self.words, 30))), self.constant(self.words, _FIRST))
        x = b.mul(b.xor(x, b.lshr(x, self.constant(self.words, 27))), self.constant(self.words, _SECOND))
        return b.xor(x, b.lshr(x, self.constant(self.words, 31)))

    def drawn_between(self, low, high, state):
        """As `random.unit` and `random.between`, in the precision of the cells; below ``high``."""
        b = self.builder
        share = b.uitofp(b.lshr(state, self.constant(self.words, 11)), self.floats)
        share = b.fmul(share, self.constant(self.floats, 1.0 / 9007199254740992.0))
        span = b.fsub(high, low)
        usual = b.fadd(low, b.fmul(share, span))
        rest = b.fsub(self.constant(self.floats, 1.0), share)
        wide = b.fadd(b.fmul(rest, low), b.fmul(share, high))
        drawn = b.select(b.fcmp_ordered("==", span, self.constant(self.floats, np.inf)), wide, usual)
        if self.kind.bitwidth != 64:
            narrow = self.ir.VectorType(self.context.get_data_type(self.kind), self.lanes)
            drawn = b.fpext(b.fptrunc(drawn, narrow), self.floats)
        return b.select(b.fcmp_ordered("<", drawn, high), drawn, low)

    def initial_states(self, base):
        b = self.builder
        if self.listed:
            features = b.zext(self.load_lanes(self.array(1).data, self.ir.IntType(32)), self.words)
        else:
            numbers = self.ir.Constant(self.words, list(range(self.lanes)))
            features = b.add(self.repeated(self.words, self.first), numbers)
        return self.mix(b.xor(self.repeated(self.words, base), features))

    def wanted(self):
        """Which features are drawn."""
        flags = self.array(5).data
        flags = self.load_lanes(flags if self.listed else self.builder.gep(flags, [self.first]), self.ir.IntType(8))
        return self.builder.icmp_unsigned("!=", flags, self.ir.Constant(flags.type, None))

    def load_lanes(self, place, kind):
        """A vector of the numbers from a place on."""
        vector = self.ir.VectorType(kind, self.lanes)
        found = self.builder.load(self.builder.bitcast(place, vector.as_pointer()))
        found.align = kind.width // 8
        return found

    def extremes(self, low, high):
        if not self.listed:
            self.keep_extremes(low, high, self.row_cells)
            return
        many = self.builder.icmp_signed(">", self.n, self.ir.Constant(self.ir.IntType(64), _CACHED))
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
        b, size = self.builder, self.ir.IntType(64)
        b.store(self.constant(self.floats, 0.0), weights)
        last = b.add(self.n, self.ir.Constant(size, ROWS - 1))
        with cgutils.for_range(b, b.udiv(last, self.ir.Constant(size, ROWS))) as chunk:
            b.store(self.constant(self.words, 0), word)
            start = b.mul(chunk.index, self.ir.Constant(size, ROWS))
            rest = b.sub(self.n, start)
            most = self.ir.Constant(size, ROWS)
            with cgutils.for_range(b, b.select(b.icmp_unsigned("<", rest, most), rest, most)) as loop:
                index = b.add(start, loop.index)
                left = self.left(threshold, index)
                self.add(weights, left, index, self.weight)
                bit = self.repeated(self.words, b.shl(self.ir.Constant(size, 1), loop.index))
                b.store(b.or_(b.load(word), b.select(left, bit, self.constant(self.words, 0))), word)
            place = b.gep(halves, [b.mul(chunk.index, self.ir.Constant(size, BLOCK))])
            b.store(b.load(word), b.bitcast(place, self.words.as_pointer())).align = 8

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

    def write(self, found, row, vector):
        place = self.builder.gep(found, [self.ir.Constant(self.ir.IntType(64), row * BLOCK)])
        self.builder.store(vector, self.builder.bitcast(place, self.floats.as_pointer())).align = 8


def _make_draw(with_values, listed):
    """Make the loop that sums values over the rows on the left, or the one that notes these rows."""
    place, number = types.intp, types.float64

    def generate(context, builder, signature, arguments):
        block = _Block(context, builder, signature, arguments, listed)
        ir, b = block.ir, builder
        extra, flags = block.array(10).data, ir.IntType(block.lanes)
        total = block.repeated(block.floats, arguments[7])
        least = block.repeated(block.floats, arguments[8])
        low, high = block.variable(block.floats, np.inf), block.variable(block.floats, -np.inf)
        threshold, weights, values, above, up_to = (block.variable(block.floats) for _ in range(5))
        state, word, active = block.variable(block.words), block.variable(block.words), block.variable(block.flags)
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
            block.sum_weights(b.load(threshold), weights, word, extra)
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
        key = block.constant(block.words, int(candidates.REDRAW_KEY))
        b.store(block.mix(b.xor(b.load(state), key)), state)
        new = block.drawn_between(b.load(low), b.load(high), b.load(state))
        b.store(b.select(light, new, b.load(threshold)), threshold)
        b.branch(again)

        b.position_at_end(done)
        results = [(THRESHOLD, threshold), (LEFT_WEIGHT, weights)] + [(LEFT_VALUE, values)] * with_values
        for row, vector in results:
            block.write(block.array(9).data, row, b.load(vector))
        return b.zext(b.bitcast(b.load(active), flags), ir.IntType(64))

    @intrinsic
    def draw(typing_context, cells, first, rows, n, weight, drawn, base, total, least, found, extra):
        signature = types.uint64(cells, place, rows, place, weight, drawn, types.uint64, number, number, found, extra)
        return signature, generate

    @intrinsic
    def draw_listed(typing_context, cells, listed, rows, n, weight, drawn, base, total, least, found, extra, copied):
        signature = types.uint64(
            cells, listed, rows, place, weight, drawn, types.uint64, number, number, found, extra, copied
        )
        return signature, generate

    return draw_listed if listed else draw


def _make_half_norm(lanes):
    @intrinsic
    def norm(typing_context, matrix, column, halves, j, right, n):
        def generate(context, builder, signature, arguments):
            running = RunningSum(context, builder, signature, arguments, lanes)
            ir, b, size = running.ir, builder, running.ir.IntType(64)
            words = context.make_array(signature.args[2])(context, builder, arguments[2]).data
            flip = b.select(
                b.icmp_unsigned("!=", arguments[4], ir.Constant(size, 0)), ir.Constant(size, -1), ir.Constant(size, 0)
            )
            left = cgutils.alloca_once(b, size)
            last = b.add(arguments[5], ir.Constant(size, ROWS - 1))
            with cgutils.for_range(b, b.udiv(last, ir.Constant(size, ROWS))) as chunk:
                start = b.mul(chunk.index, ir.Constant(size, ROWS))
                place = b.add(b.mul(chunk.index, ir.Constant(size, BLOCK)), arguments[3])
                rest = b.sub(arguments[5], start)
                whole = b.icmp_unsigned(">=", rest, ir.Constant(size, ROWS))
                some = b.sub(
                    b.shl(ir.Constant(size, 1), b.and_(rest, ir.Constant(size, ROWS - 1))), ir.Constant(size, 1)
                )
                rows = b.select(whole, ir.Constant(size, -1), some)
                b.store(b.and_(b.xor(b.load(b.gep(words, [place])), flip), rows), left)
                test, body, after = (b.append_basic_block(name) for name in ("test", "body", "after"))
                b.branch(test)
                b.position_at_end(test)
                word = b.load(left)
                b.cbranch(b.icmp_unsigned("!=", word, ir.Constant(size, 0)), body, after)
                b.position_at_end(body)
                running.add(b.add(start, b.cttz(word, ir.Constant(ir.IntType(1), 1))))
                b.store(b.and_(word, b.sub(word, ir.Constant(size, 1))), left)
                b.branch(test)
                b.position_at_end(after)
            return running.norm()

        return matrix.dtype(matrix, types.intp, halves, types.uint64, types.uint64, types.intp), generate

    return norm


# Their plain twins say what they do.
if PLAIN:
    draw_values, draw_halves = plain.draw_values, plain.draw_halves
    draw_listed_values, draw_listed_halves = plain.draw_listed_values, plain.draw_listed_halves
    half_norm_8, half_norm_16 = map(plain.half_norm, (8, 16))
else:
    draw_values, draw_halves = _make_draw(True, listed=False), _make_draw(False, listed=False)
    draw_listed_values, draw_listed_halves = _make_draw(True, listed=True), _make_draw(False, listed=True)
    half_norm_8, half_norm_16 = map(_make_half_norm, (8, 16))
