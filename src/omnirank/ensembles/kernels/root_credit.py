"""Gains of all tests at the root, and what chance adds to them, from sums over the rows of each value of a feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import compiled, inlined

# A share of what is subtracted from each other: less is nothing but rounding.
_ROUNDING = 1e-13
# Of a difference with a smaller share of what is subtracted from each other, the terms are added up instead.
_CANCELLED = 1e-3


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


class Grouped(NamedTuple):
    """Rows of groups of several rows: those of group g are rows[starts[g] : starts[g + 1]]."""

    rows: np.ndarray
    starts: np.ndarray
    group: np.ndarray  # (all rows,): the group of a row, if it is not alone


class Room(NamedTuple):
    """Memory for one feature: its values, in order."""

    weight: np.ndarray
    sums: np.ndarray  # (values, columns)
    squares: np.ndarray
    directions: np.ndarray  # sum over all rows k of K_ik u_kc, for a row i of a value
    opened: np.ndarray  # weights of the values of numbers for which the next three hold, and 0 after them
    step: np.ndarray  # factor of the cut after a value; of a level
    share: np.ndarray  # share F of the weight up to a cut
    parts: np.ndarray  # (3, values + 1): step F^2 and step F (1 - F) summed over the cuts below, step (1 - F)^2 above
    centre: np.ndarray  # (columns,)
    silent: np.ndarray  # (columns,): the feature's own columns, and those that are equal in all its known rows
    left: np.ndarray  # (columns,)
    totals: np.ndarray  # (columns,): of squares
    value: np.ndarray  # (rows,): of each row, -1: missing
    count: np.ndarray  # (values + 1,)
    by_value: np.ndarray  # (rows of groups,)
    ordered: np.ndarray  # the same, by group and value
    ends: np.ndarray  # (groups,): where the known rows of a group end
    inside: np.ndarray  # (rows of groups,): what rows of the same group direct


@compiled
def add_credit(values, columns, grouped, places, room, n_values, credit, chances, by_example):
    """Write credit and chances of features, by column, and what groups add, as `root_credit` defines them.

    Parameters
    ----------
    values, columns, grouped, room
        As above.
    places : ndarray
        Places of rows in ``by_example``.
    n_values, credit, chances, by_example : ndarray
        (features,), (features, columns) and (features, places), written by this.
    """
    n_columns = columns.u.shape[1]
    for j in range(len(values.features)):
        f = values.features[j]
        nominal = values.nominal[j]
        m, total, even = _sum_values(values, j, columns, room)
        n_values[f] = m
        even += _order_groups(m, columns, grouped, room)
        even /= total * total if total > 0.0 else 1.0
        if m < 2 or even >= 0.5 - 1e-9:  # fewer than three groups
            continue
        _open_kernel(nominal, m, total, room)
        _add_gains(nominal, f, m, total, room, credit, chances, len(by_example) > 0)
        _add_groups(f, nominal, m, total, columns, grouped, places, room, chances, by_example)
        left = 0.0
        for c in range(n_columns):
            x = even * room.totals[c] / (total * (1.0 - even)) - 2.0 * even * chances[f, c]
            x /= 1.0 - 2.0 * even
            left += x
            gain = credit[f, c]
            credit[f, c] += x - chances[f, c]
            if abs(credit[f, c]) < _ROUNDING * (gain + chances[f, c]):
                credit[f, c] = 0.0
        if len(by_example):
            _add_examples(f, nominal, m, total, left, columns, places, room, by_example)


@inlined
def _cell(columns, room, r, c):
    """Column c of row r, centred among the known rows; 0 in silent columns."""
    return 0.0 if room.silent[c] else columns.u[r, c] - columns.w[r] * room.centre[c]


@inlined
def _sum_values(values, j, columns, room):
    """Sum columns over the rows of each value; returns their number, and the sums of weights and of squared ones."""
    n, n_columns = columns.u.shape
    start = values.starts[j]
    last = start + values.n_known[j]
    end = values.starts[j + 1]
    n_hidden = n - (end - start) if values.zero[j] >= 0 else 0
    weight = 0.0
    squared = 0.0
    for e in range(start, last):
        weight += columns.w[values.rows[e]]
        squared += columns.w[values.rows[e]] ** 2
    rest = 0.0  # of rows that are not listed
    if n_hidden > 0:
        for r in range(n):
            room.value[r] = -2
        for e in range(start, end):
            room.value[values.rows[e]] = -1
        for r in range(n):
            if room.value[r] == -2:
                rest += columns.w[r]
                squared += columns.w[r] ** 2
        weight += rest
    for c in range(n_columns):
        room.silent[c] = columns.owner[c] == values.features[j]
        room.centre[c] = 0.0
    for e in range(last, end):
        room.value[values.rows[e]] = -1
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
            room.weight[v] = rest
        if e < last:
            r = values.rows[e]
            if v < 0 or v == zero or values.new[e]:
                v += 1
                room.weight[v] = columns.w[r]
                for c in range(n_columns):
                    x = _cell(columns, room, r, c)
                    room.sums[v, c] = x
                    room.squares[v, c] = x * x
            else:
                room.weight[v] += columns.w[r]
                for c in range(n_columns):
                    x = _cell(columns, room, r, c)
                    room.sums[v, c] += x
                    room.squares[v, c] += x * x
            room.value[r] = v
    m = v + 1
    if zero >= 0:
        for r in range(n):
            if room.value[r] == -2:
                room.value[r] = zero
        for c in range(n_columns):
            _sum_hidden(values, last, end, zero, m, c, weight, columns, room)
    if last < end and weight > 0.0:
        _silence(m, weight, squared, columns, room)
    return m, weight, squared


@inlined
def _sum_hidden(values, last, end, zero, m, c, weight, columns, room):
    """Sum a column over the rows that are not listed: what all rows have less what the listed ones have."""
    x = room.centre[c]
    s = columns.sums[0, c] - x * weight
    q = columns.sums[1, c] - 2.0 * x * columns.sums[2, c] + x * x * columns.squared_weight
    for e in range(last, end):
        s -= columns.u[values.rows[e], c]
        q -= (columns.u[values.rows[e], c] - columns.w[values.rows[e]] * x) ** 2
    for i in range(m):
        s -= 0.0 if i == zero else room.sums[i, c]
        q -= 0.0 if i == zero else room.squares[i, c]
    if room.silent[c] or q < _CANCELLED * columns.sums[1, c]:
        s = 0.0
        q = 0.0
        for r in range(len(columns.w)):
            if room.value[r] == zero:
                y = _cell(columns, room, r, c)
                s += y
                q += y * y
    room.sums[zero, c] = s
    room.squares[zero, c] = q


@inlined
def _silence(m, weight, squared, columns, room):
    """Silence columns of which nothing but the rounding of their centre is left."""
    for c in range(columns.u.shape[1]):
        total = 0.0
        for v in range(m):
            total += room.squares[v, c]
        centre = room.centre[c] ** 2 + len(columns.w) * columns.sums[1, c] / weight / weight
        if total <= _ROUNDING**2 * squared * centre:
            room.silent[c] = True
            for v in range(m):
                room.sums[v, c] = 0.0
                room.squares[v, c] = 0.0


@inlined
def _open_kernel(nominal, m, total, room):
    """Factors of levels; of cuts, and their sums over the cuts below and above a value."""
    if nominal:
        for v in range(m):
            room.step[v] = 1.0 / (room.weight[v] * (m - 1.0))
        room.opened[0] = np.nan
        return
    known = room.opened[m] == 0.0
    v = 0
    while known and v < m:
        known = room.opened[v] == room.weight[v]
        v += 1
    if known:  # features without ties
        return
    for v in range(m):
        room.opened[v] = room.weight[v]
    room.opened[m] = 0.0
    chances = 0.0
    left = 0.0
    for v in range(m - 1):
        chances += room.weight[v] + room.weight[v + 1]
        left += room.weight[v]
        room.share[v] = left / total
    # weights are added up from both ends: no difference loses the digits of light values
    right = 0.0
    room.parts[2, m - 1] = 0.0
    for v in range(m - 2, -1, -1):
        right += room.weight[v + 1]
        x = right / total
        room.step[v] = (room.weight[v] + room.weight[v + 1]) / (chances * total * room.share[v] * x)
        room.parts[1, v + 1] = room.step[v] * room.share[v] * x
        room.parts[2, v] = room.parts[2, v + 1] + room.step[v] * x * x
    room.parts[0, 0] = 0.0
    room.parts[1, 0] = 0.0
    for v in range(m - 1):
        room.parts[0, v + 1] = room.parts[0, v] + room.step[v] * room.share[v] * room.share[v]
        room.parts[1, v + 1] += room.parts[1, v]


@inlined
def _own_kernel(nominal, v, m, total, room):
    """K of a row of a value with itself."""
    if nominal:
        return room.step[v] - 1.0 / (total * (m - 1.0))
    return room.parts[0, v] + room.parts[2, v]


@inlined
def _order_groups(m, columns, grouped, room):
    """Put the known rows of each group in the order of their values; returns 2 w_i w_k over pairs in groups."""
    if len(grouped.rows) == 0:
        return 0.0
    for v in range(m + 1):
        room.count[v] = 0
    for e in range(len(grouped.rows)):
        v = room.value[grouped.rows[e]]
        if v >= 0:
            room.count[v + 1] += 1
    for v in range(m):
        room.count[v + 1] += room.count[v]
    n_known = room.count[m]
    for e in range(len(grouped.rows)):
        v = room.value[grouped.rows[e]]
        if v >= 0:
            room.by_value[room.count[v]] = grouped.rows[e]
            room.count[v] += 1
    for g in range(len(grouped.starts) - 1):
        room.ends[g] = grouped.starts[g]
    for e in range(n_known):
        r = room.by_value[e]
        g = grouped.group[r]
        room.ordered[room.ends[g]] = r
        room.ends[g] += 1
    pairs = 0.0
    for g in range(len(grouped.starts) - 1):
        total = 0.0
        for e in range(grouped.starts[g], room.ends[g]):
            w = columns.w[room.ordered[e]]
            total += w
            pairs -= w * w
        pairs += total * total
    return pairs


@inlined
def _add_groups(f, nominal, m, total, columns, grouped, places, room, chances, by_example):
    """Add what pairs of different rows of the same group have, to the squares and chances; examples are without it.

    A cut with the sum A of a column over the rows of the group on its left, and B on its right, adds (1 - F) A - F B
    times 1 - F to the direction of each row on its left, and times -F on its right.
    """
    for g in range(len(grouped.starts) - 1):
        first, last = grouped.starts[g], room.ends[g]
        if last - first < 2:
            continue
        for c in range(columns.u.shape[1]):
            whole = 0.0
            for e in range(first, last):
                whole += _cell(columns, room, room.ordered[e], c)
            if nominal:
                _direct_levels(f, c, whole / (total * (m - 1.0)), columns, room, first, last)
            else:
                _direct_numbers(f, c, whole, m, columns, room, first, last)
            room.totals[c] += whole * whole
            for e in range(first, last):
                r = room.ordered[e]
                y = _cell(columns, room, r, c)
                x = y * (room.inside[e] - _own_kernel(nominal, room.value[r], m, total, room) * y)
                room.totals[c] -= y * y
                chances[f, c] += x
                if len(by_example):
                    by_example[f, places[r]] -= x


@inlined
def _direct_levels(f, c, constant, columns, room, first, last):
    """Write the directions of the rows of a group by the levels of its rows."""
    e = first
    while e < last:
        v = room.value[room.ordered[e]]
        end = e
        alike = 0.0
        while end < last and room.value[room.ordered[end]] == v:
            alike += _cell(columns, room, room.ordered[end], c)
            end += 1
        while e < end:
            room.inside[e] = room.step[v] * alike - constant
            e += 1


@inlined
def _direct_numbers(f, c, whole, m, columns, room, first, last):
    """Write the directions of the rows of a group: by the cuts below each, then by those above."""
    left = 0.0
    below = 0.0
    before = 0
    for e in range(first, last):
        v = room.value[room.ordered[e]]
        below += (whole - left) * (room.parts[0, v] - room.parts[0, before])
        below -= left * (room.parts[1, v] - room.parts[1, before])
        room.inside[e] = below
        left += _cell(columns, room, room.ordered[e], c)
        before = v
    above = 0.0
    after = m - 1
    for e in range(last - 1, first - 1, -1):
        v = room.value[room.ordered[e]]
        above += left * (room.parts[2, v] - room.parts[2, after])
        above -= (whole - left) * (room.parts[1, after] - room.parts[1, v])
        room.inside[e] += above
        left -= _cell(columns, room, room.ordered[e], c)
        after = v


@inlined
def _add_chances(nominal, f, v, m, total, room, chances):
    """Add what the rows of a value have with themselves."""
    k = _own_kernel(nominal, v, m, total, room)
    for c in range(chances.shape[1]):
        room.totals[c] += room.squares[v, c]
        chances[f, c] += k * room.squares[v, c]


@inlined
def _add_gains(nominal, f, m, total, room, credit, chances, directed):
    """Add the sums over all pairs of rows, and chances, by column; writes the directions where they are asked for."""
    n_columns = credit.shape[1]
    left = room.left
    for c in range(n_columns):
        room.totals[c] = 0.0
    if nominal:
        for v in range(m):
            _add_chances(nominal, f, v, m, total, room, chances)
            for c in range(n_columns):
                x = room.step[v] * room.sums[v, c]
                credit[f, c] += room.sums[v, c] * x
                if directed:
                    room.directions[v, c] = x
        return
    half = 0
    while half < m - 1 and room.share[half] <= 0.5:
        half += 1
    _add_chances(nominal, f, half, m, total, room, chances)
    for c in range(n_columns):
        left[c] = 0.0
        if directed:
            room.directions[m - 1, c] = 0.0
    for k in range(m - 1):  # each cut by the sums of its lighter side
        v = k if k < half else m - 2 - (k - half)
        u = v if k < half else v + 1
        _add_chances(nominal, f, u, m, total, room, chances)
        if k == half:
            for c in range(n_columns):
                left[c] = 0.0
        for c in range(n_columns):
            left[c] += room.sums[u, c]
            x = room.step[v] * left[c]
            credit[f, c] += left[c] * x
            if directed:
                x = x if k < half else -x
                room.directions[v, c] = x
                room.directions[m - 1, c] -= x * room.share[v]
    if directed:
        for v in range(m - 2, -1, -1):
            for c in range(n_columns):
                room.directions[v, c] += room.directions[v + 1, c]


@inlined
def _add_examples(f, nominal, m, total, left, columns, places, room, by_example):
    """Add what each row has with all others, without itself, and its part of what centring leaves."""
    n, n_columns = columns.u.shape
    for r in range(n):
        v = room.value[r]
        if v < 0:
            continue
        k = _own_kernel(nominal, v, m, total, room)
        x = 0.0
        for c in range(n_columns):
            y = _cell(columns, room, r, c)
            x += y * (room.directions[v, c] - k * y)
        by_example[f, places[r]] += x + left * columns.w[r] / total


@compiled
def write_ranks(values, n, by_row, ranks, base):
    """Write centred mean ranks divided by n, 0 of missing cells, less those of rows that are not listed (``base``).

    They are written in the order of the listed rows, or, where all are listed, by feature and row.
    """
    for j in range(len(values.features)):
        start = values.starts[j]
        last, end = start + values.n_known[j], values.starts[j + 1]
        hidden = n - (end - start)
        centre = start + (last - start + hidden - 1) / 2.0
        base[j] = (start + values.zero[j] + (hidden - 1) / 2.0 - centre) / n if hidden > 0 else 0.0
        e = start
        while e < end:
            stop = e + 1
            while stop < last and not values.new[stop]:
                stop += 1
            middle = (e + stop - 1) / 2.0
            if hidden > 0 and e - start >= values.zero[j]:
                middle += hidden
            rank = (middle - centre) / n - base[j] if e < last else -base[j]
            while e < stop:
                ranks[j * n + values.rows[e] if by_row else e] = rank
                e += 1
