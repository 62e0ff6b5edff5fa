"""Gains of all tests at the root, and what chance adds to them, from sums over the rows of each value of a feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import compiled, inlined


class Values(NamedTuple):
    """Rows in the order of the values of each feature; those of feature j are rows[starts[j] : starts[j + 1]]."""

    features: np.ndarray
    nominal: np.ndarray
    rows: np.ndarray
    new: np.ndarray  # whether a row has another value than the one before
    starts: np.ndarray
    n_known: np.ndarray  # of the listed rows, the first ones; the others are missing
    zero: np.ndarray  # rows listed before those that are not listed, which are 0; -1: all are listed


class Columns(NamedTuple):
    """Columns that judge, and sums over all their rows."""

    u: np.ndarray  # (rows, columns)
    w: np.ndarray  # (rows,)
    owner: np.ndarray
    sums: np.ndarray  # (3, columns): u, u^2, w u
    squared_weight: float


class Room(NamedTuple):
    """Memory for one feature: its values, in order."""

    weight: np.ndarray
    sums: np.ndarray  # (values, columns)
    squares: np.ndarray
    directions: np.ndarray  # sum over all rows k of K_ik u_kc, for a row i of a value
    step: np.ndarray  # factor of the cut after a value; of a level
    share: np.ndarray  # share F of the weight up to a cut
    parts: np.ndarray  # (3, values + 1): running sums of step F^2, step F (1 - F), step (1 - F)^2
    centre: np.ndarray  # (columns,)
    totals: np.ndarray  # (columns,)
    value: np.ndarray  # (rows,): of each row, -1: missing


@compiled
def add_credit(values, columns, pairs, places, room, n_values, credit, chances, by_example):
    """Write credit and chances of features, by column, and what groups add, as `root_credit` defines them.

    Parameters
    ----------
    values, columns, room
        As above.
    pairs, places : ndarray
        Rows of the same group, places of rows in ``by_example``.
    n_values, credit, chances, by_example : ndarray
        (features,), (features, columns) and (features, places), written by this.
    """
    n_columns = columns.u.shape[1]
    for j in range(len(values.features)):
        f = values.features[j]
        nominal = values.nominal[j]
        m, total, even = _sum_values(values, j, columns, room, len(pairs) + len(by_example) > 0)
        n_values[f] = m
        for p in range(len(pairs)):
            a, b = pairs[p, 0], pairs[p, 1]
            if room.value[a] >= 0 and room.value[b] >= 0:
                even += 2.0 * columns.w[a] * columns.w[b]
        even /= total * total if total > 0.0 else 1.0
        if m < 2 or even >= 0.5 - 1e-9:  # fewer than three groups
            continue
        _open_kernel(nominal, m, total, room)
        _add_gains(nominal, f, m, room, credit, len(by_example) > 0)
        squares = room.totals
        for c in range(n_columns):
            squares[c] = 0.0
        for v in range(m):
            k = _pair_kernel(nominal, v, v, m, total, room)
            for c in range(n_columns):
                squares[c] += room.squares[v, c]
                chances[f, c] += k * room.squares[v, c]
        for p in range(len(pairs)):
            a, b = room.value[pairs[p, 0]], room.value[pairs[p, 1]]
            if a >= 0 and b >= 0:
                k = _pair_kernel(nominal, min(a, b), max(a, b), m, total, room)
                for c in range(n_columns):
                    x = 2.0 * _cell(columns, room, f, pairs[p, 0], c) * _cell(columns, room, f, pairs[p, 1], c)
                    squares[c] += x
                    chances[f, c] += k * x
        left = 0.0
        for c in range(n_columns):
            x = even * squares[c] / (total * (1.0 - even)) - 2.0 * even * chances[f, c]
            x /= 1.0 - 2.0 * even
            left += x
            credit[f, c] += x - chances[f, c]
        if len(by_example):
            _add_examples(f, nominal, m, total, left, columns, pairs, places, room, by_example)


@inlined
def _cell(columns, room, f, r, c):
    """Column c of row r, centred among the known rows; 0 in the feature's own columns."""
    return 0.0 if columns.owner[c] == f else columns.u[r, c] - columns.w[r] * room.centre[c]


@inlined
def _sum_values(values, j, columns, room, by_row):
    """Sum columns over the rows of each value; returns their number, and the sums of weights and of squared ones."""
    n, n_columns = columns.u.shape
    f = values.features[j]
    start = values.starts[j]
    last = start + values.n_known[j]
    end = values.starts[j + 1]
    n_hidden = n - (end - start) if values.zero[j] >= 0 else 0
    weight = 0.0
    for r in range(n):
        weight += columns.w[r]
    for c in range(n_columns):
        room.centre[c] = 0.0
    for e in range(last, end):
        weight -= columns.w[values.rows[e]]
        for c in range(n_columns):
            room.centre[c] += columns.u[values.rows[e], c]
    for c in range(n_columns):
        room.centre[c] = (columns.sums[0, c] - room.centre[c]) / weight if last < end and weight > 0.0 else 0.0
    zero = -1
    v = -1
    for e in range(start, last + 1):
        if n_hidden > 0 and e == start + values.zero[j]:
            v += 1
            zero = v
            room.weight[v] = 0.0
        if e < last:
            if v < 0 or v == zero or values.new[e]:
                v += 1
                room.weight[v] = 0.0
                for c in range(n_columns):
                    room.sums[v, c] = 0.0
                    room.squares[v, c] = 0.0
            r = values.rows[e]
            room.weight[v] += columns.w[r]
            room.value[r] = v
            for c in range(n_columns):
                x = _cell(columns, room, f, r, c)
                room.sums[v, c] += x
                room.squares[v, c] += x * x
    m = v + 1
    if zero >= 0:  # what all rows have less what the listed ones have
        rest = weight
        for i in range(m):
            rest -= room.weight[i]
        room.weight[zero] = rest
        for c in range(n_columns):
            x = room.centre[c]
            s = columns.sums[0, c] - x * weight
            q = columns.sums[1, c] - 2.0 * x * columns.sums[2, c] + x * x * columns.squared_weight
            for e in range(last, end):
                s -= columns.u[values.rows[e], c]
                q -= (columns.u[values.rows[e], c] - columns.w[values.rows[e]] * x) ** 2
            for i in range(m):
                s -= 0.0 if i == zero else room.sums[i, c]
                q -= 0.0 if i == zero else room.squares[i, c]
            own = columns.owner[c] == f
            room.sums[zero, c] = 0.0 if own else s
            room.squares[zero, c] = 0.0 if own or q < 0.0 else q
        if by_row:
            for r in range(n):
                room.value[r] = zero
            v = -1
            for e in range(start, last):
                if v < 0 or values.new[e] or e == start + values.zero[j]:
                    v += 2 if v + 1 == zero else 1
                room.value[values.rows[e]] = v
    for e in range(last, end):
        room.value[values.rows[e]] = -1
    squared = columns.squared_weight
    for e in range(last, end):
        squared -= columns.w[values.rows[e]] ** 2
    return m, weight, squared


@inlined
def _open_kernel(nominal, m, total, room):
    """Factors of levels; of cuts, and their running sums."""
    if nominal:
        for v in range(m):
            room.step[v] = 1.0 / (room.weight[v] * (m - 1.0))
        return
    left = 0.0
    chances = 2.0 * total - room.weight[0] - room.weight[m - 1]
    for k in range(3):
        room.parts[k, 0] = 0.0
    for v in range(m - 1):
        left += room.weight[v]
        x = left / total
        room.share[v] = x
        room.step[v] = (room.weight[v] + room.weight[v + 1]) / chances * (1.0 / left + 1.0 / (total - left))
        room.parts[0, v + 1] = room.parts[0, v] + room.step[v] * x * x
        room.parts[1, v + 1] = room.parts[1, v] + room.step[v] * x * (1.0 - x)
        room.parts[2, v + 1] = room.parts[2, v] + room.step[v] * (1.0 - x) * (1.0 - x)


@inlined
def _pair_kernel(nominal, a, b, m, total, room):
    """K of two rows with the values a <= b."""
    if nominal:
        return (room.step[a] if a == b else 0.0) - 1.0 / (total * (m - 1.0))
    middle = room.parts[1, b] - room.parts[1, a]
    return room.parts[0, a] - middle + room.parts[2, m - 1] - room.parts[2, b]


@inlined
def _add_gains(nominal, f, m, room, credit, directed):
    """Add the sums over all pairs of rows, by column; writes the directions where they are asked for."""
    n_columns = credit.shape[1]
    left = room.totals
    if nominal:
        for v in range(m):
            for c in range(n_columns):
                room.directions[v, c] = room.step[v] * room.sums[v, c]
                credit[f, c] += room.sums[v, c] * room.directions[v, c]
        return
    for c in range(n_columns):
        left[c] = 0.0
        room.directions[m - 1, c] = 0.0
    for v in range(m - 1):
        for c in range(n_columns):
            left[c] += room.sums[v, c]
            x = room.step[v] * left[c]
            credit[f, c] += left[c] * x
            if directed:
                room.directions[v, c] = x
                room.directions[m - 1, c] -= x * room.share[v]
    if directed:
        for v in range(m - 2, -1, -1):
            for c in range(n_columns):
                room.directions[v, c] += room.directions[v + 1, c]


@inlined
def _add_examples(f, nominal, m, total, left, columns, pairs, places, room, by_example):
    """Add what each row has with all others, without itself and its group, and its part of what centring leaves."""
    n, n_columns = columns.u.shape
    for r in range(n):
        v = room.value[r]
        if v < 0:
            continue
        k = _pair_kernel(nominal, v, v, m, total, room)
        x = 0.0
        for c in range(n_columns):
            y = _cell(columns, room, f, r, c)
            x += y * (room.directions[v, c] - k * y)
        by_example[f, places[r]] += x + left * columns.w[r] / total
    for p in range(len(pairs)):
        a, b = room.value[pairs[p, 0]], room.value[pairs[p, 1]]
        if a >= 0 and b >= 0:
            x = 0.0
            for c in range(n_columns):
                x += _cell(columns, room, f, pairs[p, 0], c) * _cell(columns, room, f, pairs[p, 1], c)
            x *= _pair_kernel(nominal, min(a, b), max(a, b), m, total, room)
            by_example[f, places[pairs[p, 0]]] -= x
            by_example[f, places[pairs[p, 1]]] -= x
