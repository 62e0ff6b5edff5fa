"""Order: the rows of a node by the codes of one feature."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import inlined
from omnirank.core.kernels.vector import LANES, count_smaller, larger, smaller

# Up to this many rows are sorted by a network of comparisons, without a loop or a branch.
NETWORK_ROWS = 8

# Up to this many rows an order by counting smaller codes (vectorised) beats a radix sort.
COUNTING_ROWS = 4 * LANES

# A pass of a radix sort takes up to eight bits, and up to eleven from so many rows on: its counters still fit L1.
MANY_ROWS = 8192

# Rows of the integer scratch of a node: local row numbers in order, and another set of them.
ORDER, OTHER = 0, 1


@inlined
def order_rows(features, f, rows, lo, n, work):
    """Order the n rows from lo by their codes of feature f into ints[ORDER] and key, missing codes last.

    Returns the number of rows with a known code, 0 if all of them are equal.
    """
    code = work.code
    missing = features.missing
    if n <= NETWORK_ROWS:
        return _order_few(features, f, rows, lo, n, work.ints, work.key)
    if n <= COUNTING_ROWS and features.distinct[f]:
        for i in range(n):
            code[i] = features.by_row[rows[lo + i], f]
        _order_distinct(missing, n, work.ints, code, work.key)
        return n
    low = missing
    high = missing ^ missing
    for i in range(n):
        c = features.codes[f, rows[lo + i]]
        code[i] = c
        low = smaller(low, c)
        high = larger(high, c)
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
                top = larger(top, c)
        if low == top:
            return 0
    if n > COUNTING_ROWS:
        _order_by_radix(np.uint64(low), np.uint64(high), n, work.ints, code, work.key, work.pairs)
    else:
        _order_by_counting(missing, n, work.ints, code, work.key, work.pairs)
    return known


@inlined
def _order_few(features, f, rows, lo, n, ints, key):
    """Sort up to eight (code, row) packed into one integer each; missing codes are the largest."""
    zero = np.int64(0)  # Numba would compile a part anew for every number that is written out
    a, b, c, d = _sorted_four(features, f, rows, lo, n, zero)
    if n > 4:
        p, q, r, s = _sorted_four(features, f, rows, lo, n, zero + 4)
        a, p = smaller(a, p), larger(a, p)  # merge the two sorted halves
        b, q = smaller(b, q), larger(b, q)
        c, r = smaller(c, r), larger(c, r)
        d, s = smaller(d, s), larger(d, s)
        c, p = smaller(c, p), larger(c, p)
        d, q = smaller(d, q), larger(d, q)
        b, c = smaller(b, c), larger(b, c)
        d, p = smaller(d, p), larger(d, p)
        q, r = smaller(q, r), larger(q, r)
        _unpack(ints, key, zero + 4, p)
        _unpack(ints, key, zero + 5, q)
        _unpack(ints, key, zero + 6, r)
        _unpack(ints, key, zero + 7, s)
    _unpack(ints, key, zero, a)
    _unpack(ints, key, zero + 1, b)
    _unpack(ints, key, zero + 2, c)
    _unpack(ints, key, zero + 3, d)
    n_known = n
    while n_known > 0 and key[n_known - 1] == features.missing:
        n_known -= 1
    return n_known if n_known > 0 and key[0] != key[n_known - 1] else 0


@inlined
def _sorted_four(features, f, rows, lo, n, i):
    """Sort the packed rows i to i + 3."""
    a = _packed(features, f, rows, lo, n, i)
    b = _packed(features, f, rows, lo, n, i + 1)
    c = _packed(features, f, rows, lo, n, i + 2)
    d = _packed(features, f, rows, lo, n, i + 3)
    a, b = smaller(a, b), larger(a, b)
    c, d = smaller(c, d), larger(c, d)
    a, c = smaller(a, c), larger(a, c)
    b, d = smaller(b, d), larger(b, d)
    b, c = smaller(b, c), larger(b, c)
    return a, b, c, d


@inlined
def _packed(features, f, rows, lo, n, i):
    """Code and number of row i of the node; the largest integer if it has no such row."""
    code = features.by_row[rows[lo + smaller(i, n - 1)], f]
    return (np.uint64(code) << np.uint64(32)) | np.uint64(i) if i < n else ~np.uint64(0)


@inlined
def _unpack(ints, key, i, pair):
    ints[ORDER, i] = np.uint32(pair & np.uint64(0xFFFFFFFF))
    key[i] = pair >> np.uint64(32)


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
    for i in range(n, (n + LANES - 1) & -LANES):
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
    """Least significant bits first, on (code - smallest code, row) packed into one integer.

    Up to 65,535 rows both halves have 16 bits, above 32 bits; the type of ``pairs`` tells.
    """
    half = np.uint64(pairs.itemsize * 4)
    for i in range(n):
        pairs[0, i] = ((np.uint64(code[i]) - low) << half) | np.uint64(i)
    # The fewest passes, all of about as many bits: few rows should not pay for unused counters.
    most = np.uint64(8) if n < MANY_ROWS else np.uint64(11)
    bits = np.uint64(0)
    while (high - low) >> bits:
        bits += np.uint64(1)
    passes = (bits + most - np.uint64(1)) // most
    digit = (bits + passes - np.uint64(1)) // passes
    source = _radix_sort(pairs, pairs[2], n, half, digit, passes)
    mask = (np.uint64(1) << half) - np.uint64(1)
    for i in range(n):
        pair = np.uint64(pairs[source, i])
        ints[ORDER, i] = np.uint32(pair & mask)
        key[i] = (pair >> half) + low


@inlined
def _radix_sort(pairs, counts, n, shift, digit, passes):
    """Sort n pairs by bits from ``shift`` on, ``digit`` of them per pass; returns which half of ``pairs`` they are in.

    ``counts`` has room for 2 ** digit + 1 numbers.
    """
    one = np.uint64(1)
    last = (one << digit) - one
    source = 0
    for _ in range(passes):
        for b in range(last + np.uint64(2)):
            counts[b] = 0
        for i in range(n):
            counts[((np.uint64(pairs[source, i]) >> shift) & last) + one] += np.uint32(1)
        for b in range(last):
            counts[b + one] += counts[b]
        for i in range(n):
            pair = pairs[source, i]
            b = (np.uint64(pair) >> shift) & last
            place = counts[b]
            counts[b] = place + np.uint32(1)
            pairs[1 - source, place] = pair
        source = 1 - source
        shift += digit
    return source
