"""Contributions of features by their definition: one example, one tree, one test at a time."""

from __future__ import annotations

from typing import Any

import numpy as np


def _goes_left(tree: Any, node: int, cell: float) -> bool:
    if np.isnan(cell):
        return bool(tree.missing_left[node])
    levels = tree.levels[tree.feature[node]]
    if levels is not None:
        return levels[int(cell)] in tree.left_levels(node)
    return bool(cell <= tree.threshold[node])


def _prediction(tree: Any, node: int) -> np.ndarray:
    """Mean prediction of the training examples in a node: over the leaves below, by their weights."""
    waiting, total, weight = [node], 0.0, 0.0
    while waiting:
        here = waiting.pop()
        if tree.feature[here] >= 0:
            waiting += [here + 1, int(tree.right[here])]
            continue
        values = tree.values[[tree.value_row[here]]]
        values = values.toarray() if hasattr(values, "toarray") else values
        total = total + tree.weight[here] * values[0]
        weight += tree.weight[here]
    return total / weight


def contributions(trees: Any, cells: np.ndarray, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return base and contributions of one example, averaged over the given trees."""
    base, sums = np.zeros(n_columns), np.zeros((len(cells), n_columns))
    for tree in trees:
        node = 0
        base += _prediction(tree, 0)
        while tree.feature[node] >= 0:
            f = tree.feature[node]
            child = node + 1 if _goes_left(tree, node, cells[f]) else int(tree.right[node])
            sums[f] += _prediction(tree, child) - _prediction(tree, node)
            node = child
    return base / len(trees), sums / len(trees)
