"""M5 pruning straight from its description, on nested nodes and lists of rows."""

from __future__ import annotations

import math


def squared_distance(rows, columns, scale, weight):
    """Sum over columns of scale times the weighted squared distances of known values from their mean."""
    total = 0.0
    for column, factor in zip(columns, scale, strict=True):
        known = [row for row in rows if not math.isnan(column[row])]
        mass = math.fsum(weight[row] for row in known)
        if mass == 0:
            continue
        mean = math.fsum(weight[row] * column[row] for row in known) / mass
        total += factor * math.fsum(weight[row] * (column[row] - mean) ** 2 for row in known)
    return total


def estimate(squares, n, parameters, penalty):
    """Root mean squared error, enlarged by (n + penalty v) / (n - v)."""
    if n <= parameters:
        return math.inf
    return math.sqrt(squares / n) * (n + penalty * parameters) / (n - parameters)


def prune(node, columns, scale, weight, penalty):
    """Return the pruned copy of a node: {"rows": [...], "children": [left, right] or []}."""
    if not node["children"]:
        return {"rows": node["rows"], "children": []}
    children = [prune(child, columns, scale, weight, penalty) for child in node["children"]]
    n = math.fsum(weight[row] for row in node["rows"])
    found = leaves({"rows": node["rows"], "children": children})
    below = math.fsum(squared_distance(leaf["rows"], columns, scale, weight) for leaf in found)
    here = squared_distance(node["rows"], columns, scale, weight)
    parameters = len(found) + (len(found) - 1)
    if estimate(here, n, 1, penalty) <= estimate(below, n, parameters, penalty) * (1 + 1e-9):
        children = []
    return {"rows": node["rows"], "children": children}


def leaves(node):
    """The leaves below a node, from left to right."""
    if not node["children"]:
        return [node]
    return [leaf for child in node["children"] for leaf in leaves(child)]
