"""The area under the precision-recall curve as the error of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.ensembles.error_parts import ErrorGrowth, OutOfBag
from omnirank.ensembles.plan import GrowingPlan
from omnirank.ensembles.target_errors import label_sets
from omnirank.trees.prototypes import node_means


@dataclass(frozen=True, eq=False)
class _RecallErrors:
    """Pooled area under the precision-recall curve, which falls when a feature that matters is permuted.

    Examples are not weighted: the curve counts pairs of examples and labels.
    """

    plan: GrowingPlan
    sets: Any  # csr (rows, labels): 1 where relevant, NaN where unknown
    only_present: bool
    per_target: bool

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the area of a tree and how much it falls."""
        from omnirank.ensembles.kernels.auprc_error import permutation_moves

        moves = permutation_moves(case.tests, self.plan.coded.routing, case.order)
        n_known, n_positive = self._pairs(case.order.rows)
        counted = (n_positive > 0) | (not self.only_present)
        means, node_row = node_means(case.grown, self.plan.columns)
        cells = sparse.csr_array(means)
        cells = sparse.csr_array(cells @ sparse.diags_array(counted.astype(np.float64)))
        cells.eliminate_zeros()
        pooled = (np.zeros(len(counted), np.int64), np.array([n_known @ counted]), np.array([n_positive.sum()]))
        before, after = self._areas(case, moves, cells, node_row, *pooled)
        whole = float(before[0]), before[0] - after[:, 0]
        if not self.per_target:
            return ErrorGrowth(*whole)
        before, after = self._areas(case, moves, cells, node_row, np.arange(len(counted)), n_known, n_positive)
        return ErrorGrowth(*whole, before, before[:, None] - after.T)

    def _pairs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Number of rows in which each label is known, and relevant."""
        own = self.sets[rows.astype(np.int64)]
        unknown = np.isnan(own.data)
        n_labels = own.shape[1]
        n_unknown = np.bincount(own.indices[unknown], minlength=n_labels)
        return len(rows) - n_unknown, np.bincount(own.indices[~unknown], minlength=n_labels)

    def _areas(
        self,
        case: OutOfBag,
        moves: Any,
        cells: Any,
        node_row: np.ndarray,
        curve_of: np.ndarray,
        n_known: np.ndarray,
        n_positive: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        from omnirank.ensembles.kernels.auprc_error import Curves, Sets, permuted_areas

        groups, group_starts = _groups(curve_of[cells.indices], cells.data, len(n_known))
        sizes = np.where(node_row >= 0, np.diff(cells.indptr)[np.maximum(node_row, 0)], 0)
        # Leaves are stored in the order of their nodes, so that the cells are in place already.
        starts = np.concatenate([[0], np.cumsum(sizes)])
        curves = Curves(starts, cells.indices.astype(np.int64), groups, group_starts, n_known, n_positive)
        sets = Sets(self.sets.indptr.astype(np.int64), self.sets.indices.astype(np.int64), ~np.isnan(self.sets.data))
        return permuted_areas(moves, case.order.rows, sets, curves)


def _groups(curve: np.ndarray, values: np.ndarray, n_curves: int) -> tuple[np.ndarray, np.ndarray]:
    """Number the groups of equal values of each curve, the largest first, with one more for 0 at its end.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.auprc_error import _groups
    >>> groups, starts = _groups(np.array([0, 1, 0, 0]), np.array([0.2, 0.9, 0.7, 0.2]), 2)
    >>> groups.tolist(), starts.tolist()
    ([1, 3, 0, 1], [0, 3, 5])
    """
    order = np.lexsort((-values, curve))
    ordered_curve, ordered = curve[order], values[order]
    new_curve = np.diff(ordered_curve, prepend=-1) != 0
    new_group = new_curve | (np.diff(ordered, prepend=np.inf) != 0)
    n_groups = np.bincount(ordered_curve[new_group], minlength=n_curves) + 1
    starts = np.concatenate([[0], np.cumsum(n_groups)])
    groups = np.empty(len(order), np.int64)
    # Every curve before has one more group, that of 0.
    groups[order] = np.cumsum(new_group) - 1 + ordered_curve
    return groups, starts


def recall_errors(plan: GrowingPlan, per_target: bool) -> _RecallErrors:
    """Return the error measure of a plan for label sets.

    For hierarchies, labels that no out-of-bag row has are left out of the curve, as in studies of hierarchical
    classification.
    """
    return _RecallErrors(plan, label_sets(plan.columns), plan.task.hierarchical, per_target)
