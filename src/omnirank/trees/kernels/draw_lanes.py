"""Thresholds of 16 features drawn at once: one instruction serves several features, and sums stay in registers.

Compilers would store and load the sums again for every row: they cannot know that the arrays do not overlap. The plain
twins come first; they say what the functions do.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from omnirank.core.compiled import inlined, part
from omnirank.core.kernels.vector import PLAIN, RunningSum, fetch_line, load_vector, repeated, store_vector
from omnirank.core.numba_internals import cgutils, ir
from omnirank.trees.kernels.candidates import REDRAW_KEY, drawn_between, mix, redrawn

# Features that are drawn at once: neighbours, or fewer that are listed and copied side by side.
BLOCK, FEW = 16, 8

# Rows of the array that holds what is found, a number per feature: the threshold, and sums over the rows up to it.
THRESHOLD, LEFT_WEIGHT, LEFT_VALUE = 0, 1, 2
N_FOUND = 3

# Rows that fit a word of bits.
ROWS = 64

# The listed cells of more rows are not in the nearest caches; rows from here to the one whose cells are fetched.
_CACHED = 512
_AHEAD = 24

_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

# -- plain twins ------------------------------------------------------------------------------------------


@part
def _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
    """Draw a threshold of feature f into column j; returns whether one is admissible."""
    low = np.inf
    high = -np.inf
    for i in range(n):
        v = np.float64(cells[rows[i], f])
        low = v if v < low else low
        high = v if v > high else high
    state = mix(base ^ np.uint64(f))
    while low < high:
        threshold = drawn_between(cells, low, high, state)
        k = 0.0
        above = np.inf
        up_to = -np.inf
        for i in range(n):
            v = np.float64(cells[rows[i], f])
            if v <= threshold:
                k += weight[i]
                up_to = v if v > up_to else up_to
            else:
                above = v if v < above else above
        if k < least:
            low = above
        elif total - k < least:
            high = up_to
        else:
            found[THRESHOLD, j] = threshold
            found[LEFT_WEIGHT, j] = k
            return True
        state = redrawn(state)
    return False


@inlined
def _sum_left(cells, f, rows, n, found, j, value):
    total = 0.0
    for i in range(n):
        if cells[rows[i], f] <= found[THRESHOLD, j]:
            total += value[i]
    found[LEFT_VALUE, j] = total


@inlined
def _note_left(cells, f, rows, n, found, j, halves):
    for i in range(n):
        if i % ROWS == 0:
            halves[i // ROWS, j] = np.uint64(0)
        if cells[rows[i], f] <= found[THRESHOLD, j]:
            halves[i // ROWS, j] |= np.uint64(1) << np.uint64(i % ROWS)


def _make_plain_draws(note):
    """Make the functions that draw thresholds of 16 neighbours and of 8 listed features, and note what goes left."""

    @inlined
    def draw_one(cells, f, wanted, rows, n, weight, base, total, least, found, extra, j):
        if wanted and _draw_one(cells, f, rows, n, weight, base, total, least, found, j):
            note(cells, f, rows, n, found, j, extra)
            return np.uint64(1) << np.uint64(j)
        return np.uint64(0)

    @inlined
    def draw(cells, first, rows, n, weight, drawn, base, total, least, found, extra):
        """Draw a threshold for each of the features first to first + 15 of which drawn is not 0.

        A threshold lies between the feature's cells in the n rows, uniform among those that leave at least ``least`` of
        the total weight on both sides; the random state of a feature is mix(base ^ feature). It is written to
        ``found``, with the weight on its left. Returns, as bits, which features have such a threshold.

        draw_values: ``extra`` has a value for each row, of which the sum on the left is written to ``found``.
        draw_halves: bit i % 64 of extra[i // 64, j] is whether row i is on the left of the threshold of first + j.
        """
        admissible = np.uint64(0)
        for j in range(BLOCK):
            f = first + j
            admissible |= draw_one(cells, f, drawn[f], rows, n, weight, base, total, least, found, extra, j)
        return admissible

    @inlined
    def draw_listed(cells, listed, rows, n, weight, drawn, base, total, least, found, extra, copied):
        """As draw for 8 features, the first ones of ``listed``; ``drawn`` has a flag for each of them.

        Their cells in the n rows are written to the columns of ``copied``.
        """
        admissible = np.uint64(0)
        for j in range(FEW):
            f = np.int64(listed[0, j])
            for i in range(n):
                copied[i, j] = cells[rows[i], f]
            admissible |= draw_one(cells, f, drawn[j], rows, n, weight, base, total, least, found, extra, j)
        return admissible

    return draw, draw_listed


def _make_plain_half_norm(lanes):
    """Make the function that returns |sum of the rows on the left|^2 over so many columns; or of the rest."""

    @inlined
    def norm(matrix, column, halves, j, right, n):
        squares = 0.0
        for c in range(column, column + lanes):
            total = 0.0
            for i in range(n):
                left = (halves[i // ROWS, j] >> np.uint64(i % ROWS)) & np.uint64(1) == np.uint64(1)
                if left != (right != 0):
                    total += matrix[i, c]
            squares += total * total
        return squares

    return norm


# -- vector instructions ----------------------------------------------------------------------------------


def _whole(number):
    return ir.Constant(ir.IntType(64), number)


class _Block:
    """The steps of the loop below; a vector has a number for each of the features.

    These are 16 neighbours, or they are listed: then their cells are copied side by side when they are read first.
    """

    def __init__(self, context, builder, signature, arguments, listed):
        self.context, self.builder = context, builder
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
        wide = b.fadd(b.fmul(rest, low), b.fmul(share, high))
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


def _make_draw(with_values, listed):
    """Make the loop that sums values over the rows on the left, or the one that notes these rows."""
    place, word, number = types.intp, types.uint64, types.float64

    def generate(context, builder, signature, arguments):
        block = _Block(context, builder, signature, arguments, listed)
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
        results = [(THRESHOLD, threshold), (LEFT_WEIGHT, weights)] + [(LEFT_VALUE, values)] * with_values
        for row, vector in results:
            store_vector(b, b.load(vector), b.gep(block.array(9).data, [_whole(row * BLOCK)]), 64)
        return b.zext(b.bitcast(b.load(active), flags), ir.IntType(64))

    @intrinsic
    def draw(typing_context, cells, first, rows, n, weight, drawn, base, total, least, found, extra):
        return word(cells, place, rows, place, weight, drawn, word, number, number, found, extra), generate

    @intrinsic
    def draw_listed(typing_context, cells, listed, rows, n, weight, drawn, base, total, least, found, extra, copied):
        signature = word(cells, listed, rows, place, weight, drawn, word, number, number, found, extra, copied)
        return signature, generate

    return draw_listed if listed else draw


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


plain_draw_values, plain_draw_listed_values = _make_plain_draws(_sum_left)
plain_draw_halves, plain_draw_listed_halves = _make_plain_draws(_note_left)
if PLAIN:
    draw_values, draw_listed_values = plain_draw_values, plain_draw_listed_values
    draw_halves, draw_listed_halves = plain_draw_halves, plain_draw_listed_halves
else:
    draw_values, draw_listed_values = _make_draw(True, listed=False), _make_draw(True, listed=True)
    draw_halves, draw_listed_halves = _make_draw(False, listed=False), _make_draw(False, listed=True)
half_norm_8, half_norm_16 = map(_make_plain_half_norm if PLAIN else _make_half_norm, (8, 16))
