"""Feature distances and nearest neighbours straight from the formulas. None is a missing cell.

A column is (values, n_levels): n_levels is None for numbers, else the number of levels of a nominal feature.
"""

from __future__ import annotations

import math

# Distances closer than this are ties, which the smaller index wins.
TIE = 2.0**-32


def cell_distance(a, b, values, n_levels):
    """d_i of two cells of a column."""
    if n_levels is not None:
        if a is None or b is None:
            return 1 - 1 / n_levels if n_levels else 0.0
        return float(a != b)
    known = [v for v in values if v is not None]
    if not known:
        return 0.0
    low, high = min(known), max(known)
    if a is None and b is None:
        return 1.0
    if a is None or b is None:
        t = ((b if a is None else a) - low) / (high - low) if high > low else 0.0
        return max(t, 1 - t)
    return abs(a - b) / (high - low) if high > low else 0.0


def squared_distance(a, b, values, n_levels):
    """d_i^2 of two cells for predictions: missing numbers are means, missing levels the shares of the levels."""
    known = [v for v in values if v is not None]
    if not known and not n_levels:
        return 0.0
    if n_levels is not None:
        levels = {*known, a, b} - {None}
        shares = [known.count(level) / max(1, len(known)) for level in levels]
        x, y = (shares if cell is None else [float(cell == level) for level in levels] for cell in (a, b))
        return sum((one - other) ** 2 for one, other in zip(x, y, strict=True)) / 2 if n_levels > 1 else 0.0
    span = max(known) - min(known)
    a, b = (sum(known) / len(known) if cell is None else cell for cell in (a, b))
    return ((a - b) / span) ** 2 if span > 0 else 0.0


def feature_distances(columns, r, q):
    """d_i of two examples, for every feature."""
    return [cell_distance(values[r], values[q], values, n_levels) for values, n_levels in columns]


def total_distance(columns, r, q):
    """D * d_X."""
    return sum(feature_distances(columns, r, q))


def nearest(columns, r, k, candidates=None):
    """The k nearest other examples, nearest first."""
    n = len(columns[0][0])
    others = [q for q in (range(n) if candidates is None else candidates) if q != r]
    return sorted(others, key=lambda q: (round(total_distance(columns, r, q) / TIE), q))[:k]


def tie_key(distance, bits=36):
    """The leading bits of a weighted squared distance: where they agree, distances are ties."""
    if distance == 0 or math.isinf(distance):
        return distance
    fraction, exponent = math.frexp(distance)
    return math.ldexp(round(fraction * 2**bits), exponent - bits)
