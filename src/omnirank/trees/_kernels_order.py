"""Ordering the rows of a node by the codes of one feature."""

from __future__ import annotations

import numpy as np

from omnirank.core._kernels_vector import LANES, count_smaller
from omnirank.core.compiled import inlined

# Up to this many rows an order by counting smaller codes (vectorised) beats a radix sort.
COUNTING_ROWS = 2 * LANES

# Rows of the integer scratch of a node: local row numbers in order, and another set of them.
ORDER, OTHER = 0, 1


@inlined
def order_rows(features, f, rows, lo, n, work):
    """Order the n rows from lo by their codes of feature f into ints[ORDER] and key, missing codes last.

    Returns the number of rows with a known code, 0 if all of them are equal.
    """
    code = work.code
    missing = features.missing
    if n <= COUNTING_ROWS and features.distinct[f] and n > 1:
        for i in range(n):
            code[i] = features.codes[f, rows[lo + i]]
        _order_distinct(missing, n, work.ints, code, work.key)
        return n
    low = missing
    high = missing ^ missing
    for i in range(n):
        c = features.codes[f, rows[lo + i]]
        code[i] = c
        low = min(low, c)
        high = max(high, c)
    if low == high:
        return 0
    known = n
    if high == missing:
        top = low
        for i in range(n):
            c = code[i]
            if c == missing:
                known -= 1
            else:
                top = max(top, c)
        if low == top:
            return 0
    if n > COUNTING_ROWS:
        _order_by_radix(np.uint64(low), np.uint64(high), n, work.ints, code, work.key, work.pairs)
    else:
        _order_by_counting(missing, n, work.ints, code, work.key, work.pairs)
    return known


@inlined
def _place(code, n, c):
    """Number of codes below c; those from n on are the largest."""
    place = np.uint64(count_smaller(code, 0, c))
    for block in range(LANES, n, LANES):
        place += np.uint64(count_smaller(code, block, c))
    return place


@inlined
def _fill_up(missing, n, code):
    """Let the codes after the last row's be the largest, up to a whole vector."""
    for i in range(n, -(-n // LANES) * LANES):
        code[i] = missing


@inlined
def _order_distinct(missing, n, ints, code, key):
    """A row's place is the number of smaller codes; no two are equal."""
    _fill_up(missing, n, code)
    for i in range(n):
        c = code[i]
        place = _place(code, n, c)
        ints[ORDER, place] = i
        key[place] = c


@inlined
def _order_by_counting(missing, n, ints, code, key, pairs):
    """As _order_distinct; equal codes queue up behind the first one's place."""
    _fill_up(missing, n, code)
    for i in range(n):
        pairs[0, i] = 0
    for i in range(n):
        c = code[i]
        place = _place(code, n, c)
        queue = pairs[0, place]
        pairs[0, place] = queue + np.uint32(1)
        place += np.uint64(queue)
        ints[ORDER, place] = i
        key[place] = c


@inlined
def _order_by_radix(low, high, n, ints, code, key, pairs):
    """Least significant byte first, on (code - smallest code, row) packed into one integer.

    Up to 65,535 rows both halves have 16 bits, above 32 bits; the type of ``pairs`` tells.
    """
    half = np.uint64(pairs.itemsize * 4)
    span = high - low
    source = 0
    for i in range(n):
        pairs[0, i] = ((np.uint64(code[i]) - low) << half) | np.uint64(i)
    shift = half
    while span > np.uint64(0):
        for b in range(257):
            pairs[2, b] = 0
        for i in range(n):
            b = (np.uint64(pairs[source, i]) >> shift) & np.uint64(255)
            pairs[2, b + np.uint64(1)] += np.uint32(1)
        for b in range(256):
            pairs[2, b + 1] += pairs[2, b]
        for i in range(n):
            pair = pairs[source, i]
            b = (np.uint64(pair) >> shift) & np.uint64(255)
            place = pairs[2, b]
            pairs[2, b] = place + np.uint32(1)
            pairs[1 - source, place] = pair
        source = 1 - source
        shift += np.uint64(8)
        span >>= np.uint64(8)
    mask = (np.uint64(1) << half) - np.uint64(1)
    for i in range(n):
        row = np.uint32(np.uint64(pairs[source, i]) & mask)
        ints[ORDER, i] = row
        key[i] = code[row]
