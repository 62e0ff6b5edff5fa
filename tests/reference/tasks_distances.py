"""Target distances straight from the formulas, on lists and sets. None is an unknown value."""

from __future__ import annotations

import math


def value_distance(first, second, columns, nominal):
    """Mean over the targets known in both of 1[y != y'] or abs(y - y') / (max y - min y)."""
    parts = []
    for a, b, column, is_nominal in zip(first, second, columns, nominal, strict=True):
        if a is None or b is None:
            continue
        if is_nominal:
            parts.append(float(a != b))
            continue
        found = [value for value in column if value is not None]
        span = max(found) - min(found)
        parts.append(abs(a - b) / span if span else 0.0)
    return sum(parts) / len(parts) if parts else math.nan


def set_distance(first, second, weights, kind, mu=1.0):
    """Distance of two label sets, lists of 0, 1 and None; labels unknown in one of them are left out."""
    labels = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a is not None and b is not None]
    if not labels:
        return math.nan
    s1, s2 = {i for i in labels if first[i]}, {i for i in labels if second[i]}

    def size(chosen):
        return math.fsum(weights[i] for i in chosen)

    if kind == "hamming":
        return size(s1 ^ s2) / size(labels)
    if kind == "accuracy":
        return 1 - size(s1 & s2) / size(s1 | s2) if s1 | s2 else 0.0
    if kind == "f1":
        return 1 - 2 * size(s1 & s2) / (size(s1) + size(s2)) if s1 | s2 else 0.0
    if kind == "subset":
        return float(s1 != s2)
    if kind == "euclidean-mu":
        return min(1.0, mu * math.sqrt(size(s1 ^ s2)))
    raise ValueError(kind)


def closure(parents, label):
    """The label and all its ancestors."""
    return {label}.union(*(closure(parents, parent) for parent in parents[label]))


def final_labels(parents, sets):
    """Labels that are the most specific ones of some set: none of their descendants is in it."""
    return {
        label
        for chosen in sets
        for label in chosen
        if not any(label in closure(parents, other) for other in chosen if other != label)
    }


def exhaustive_mu(parents, sets, weights):
    """1 / max over pairs of final labels of sqrt(sum of w over anc(l) symdiff anc(l'))."""
    final = sorted(final_labels(parents, sets))
    squares = [
        math.fsum(weights[i] for i in closure(parents, a) ^ closure(parents, b)) for a in final for b in final if a < b
    ]
    return 1 / math.sqrt(max(squares)) if squares and max(squares) > 0 else 1.0
