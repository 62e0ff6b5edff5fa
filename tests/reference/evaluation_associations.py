"""Associations of two features, written straight from their definitions."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import rankdata

FEWEST = 10


def association(a, b, a_nominal, b_nominal):
    """From 0 to 1; a, b: numbers (NaN = missing) or codes (-1 = missing)."""
    known_a, known_b = (x >= 0 if nominal else ~np.isnan(x) for x, nominal in ((a, a_nominal), (b, b_nominal)))
    for x, known, nominal in ((a, known_a, a_nominal), (b, known_b, b_nominal)):
        if nominal and len(set(x[known].tolist())) > known.sum() / 2:
            return 0.0
    a = a if a_nominal else ranks(a, known_a)
    b = b if b_nominal else ranks(b, known_b)
    both = known_a & known_b
    a, b = a[both], b[both]
    if len(a) < min(FEWEST, len(both)) or len(set(a.tolist())) < 2 or len(set(b.tolist())) < 2:
        return 0.0
    if not a_nominal and not b_nominal:
        return abs(float(np.corrcoef(a, b)[0, 1]))
    if a_nominal and b_nominal:
        return tschuprow(a.tolist(), b.tolist())
    return ratio(a.tolist(), b) if a_nominal else ratio(b.tolist(), a)


def ranks(values, known):
    found = np.full(len(values), np.nan)
    found[known] = rankdata(values[known])
    return found


def ratio(levels, values):
    n, k = len(levels), len(set(levels))
    if n <= k:
        return 0.0
    mean = values.mean()
    total = sum((value - mean) ** 2 for value in values)
    inside = 0.0
    for level in set(levels):
        own = [value for value, other in zip(values, levels, strict=True) if other == level]
        inside += sum((value - np.mean(own)) ** 2 for value in own)
    return math.sqrt(max(0.0, 1 - (n - 1) / (n - k) * inside / total))


def tschuprow(a, b):
    n = len(a)
    chi2 = 0.0
    for x in set(a):
        for y in set(b):
            expected = a.count(x) * b.count(y) / n
            actual = sum(1 for pair in zip(a, b, strict=True) if pair == (x, y))
            chi2 += (actual - expected) ** 2 / expected
    r, c = len(set(a)), len(set(b))
    phi = max(0.0, chi2 / n - (r - 1) * (c - 1) / (n - 1))
    r, c = (k - (k - 1) ** 2 / (n - 1) for k in (r, c))
    return math.sqrt(phi / math.sqrt((r - 1) * (c - 1))) if min(r, c) > 1 + 1e-9 else 0.0
