"""Which nodes of a grown tree the examples reach that it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.ensembles.plan import GrowingPlan
from omnirank.trees.tree import thresholds_of


def routed_cells(plan: GrowingPlan) -> Any:
    """Return the cells by which rows go down trees: those of a dense table, else the codes made to grow trees."""
    from omnirank.ensembles.kernels.unbiased import SparseCells, TableCells

    table = plan.dataset.features
    if table.is_sparse:
        return SparseCells(plan.coded.routing, *plan.coded.values)
    return TableCells(_block(table.numeric), _block(table.codes), table.slots.astype(np.int64), table.is_nominal)


def _block(matrix: np.ndarray) -> Any:
    from omnirank.ensembles.kernels.unbiased import Block

    if matrix.flags.f_contiguous:
        return Block(matrix.ravel(order="F"), 1, len(matrix))
    return Block(np.ascontiguousarray(matrix).ravel(), matrix.shape[1], 1)


def route(plan: GrowingPlan, grown: Any, rows: np.ndarray, cells: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the rows of each node start and end, and the rows in that order.

    Parameters
    ----------
    plan : GrowingPlan
        What the tree was grown from.
    grown : GrownTree
        The tree.
    rows : ndarray of int
        Training examples that it has not seen.
    cells
        What :func:`routed_cells` returns.
    """
    from omnirank.ensembles.kernels.unbiased import Tests, route_rows

    thresholds = thresholds_of(grown, plan.dataset.features)
    tests = Tests(grown.feature, thresholds, grown.cut, grown.right, grown.missing_left, grown.subsets)
    # Memory is allocated here, outside the kernel: compiling NumPy's constructors takes longer than calling them.
    first, last = np.zeros((2, len(thresholds)), np.int64)
    last[0] = len(rows)
    ordered = rows.astype(np.int64)
    route_rows(tests, cells, first, last, ordered, np.empty_like(ordered))
    return first, last, ordered
