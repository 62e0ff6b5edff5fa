"""Hierarchies straight from the definitions: recursion and repeated loops over lists of parents."""

from __future__ import annotations

import math


def ancestors(parents, label):
    """The set of a label and everything above it."""
    found = {label}
    for parent in parents[label]:
        found |= ancestors(parents, parent)
    return found


def depth(parents, label):
    """Edges on the longest way up."""
    return max((1 + depth(parents, parent) for parent in parents[label]), default=0)


def weight(parents, label, w0):
    """w(l) = 1 for a root, else w0 times the mean weight of the parents."""
    if not parents[label]:
        return 1.0
    above = [weight(parents, parent, w0) for parent in parents[label]]
    return w0 * sum(above) / len(above)


def close(parents, row):
    """One label set (0, 1, nan), closed: ones go up until nothing changes, then zeros to unknown children."""
    row = list(row)
    edges = [(parent, child) for child, above in enumerate(parents) for parent in above]
    changed = True
    while changed:
        changed = False
        for parent, child in edges:
            if row[child] == 1 and row[parent] != 1:
                row[parent] = 1.0
                changed = True
    changed = True
    while changed:
        changed = False
        for parent, child in edges:
            if row[parent] == 0 and math.isnan(row[child]):
                row[child] = 0.0
                changed = True
    return row
