"""Errors of numbers, classes and labels that leaves predict: of each variable, or in one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.data.table import is_sparse
from omnirank.ensembles.error_parts import ErrorGrowth, OutOfBag
from omnirank.ensembles.plan import GrowingPlan
from omnirank.measures.decisions import first_largest, reaches
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means


@dataclass(frozen=True, eq=False)
class ColumnErrors:
    """Mean squared errors of numbers and shares of wrong classes and labels, each times the scale of its variable."""

    plan: GrowingPlan
    columns: PrototypeColumns
    numbers: np.ndarray  # variables that are numbers
    classes: np.ndarray  # variables that are classes or labels
    number_truth: np.ndarray
    class_truth: np.ndarray  # codes, -1 = unknown
    scale: np.ndarray
    error: str
    in_one_number: bool  # of many variables at once, which takes less time

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
        columns, rows = self.columns, case.order.rows
        means, node_row = node_means(case.grown, columns)
        means = means.toarray() if is_sparse(means) else means
        by_node = columns.scaled(means)[np.maximum(node_row, 0)]
        predicted = np.ascontiguousarray(by_node[:, np.isin(columns.variable, self.numbers)])
        majority = _majority_levels(by_node, columns, self.classes)
        weight, known = self.plan.weight[rows], np.zeros(columns.n_variables)
        known[self.numbers] = weight @ ~np.isnan(self.number_truth[rows])
        known[self.classes] = weight @ (self.class_truth[rows] >= 0)
        return (self._together if self.in_one_number else self._each)(case, predicted, majority, known)

    def _together(self, case: OutOfBag, means: np.ndarray, levels: np.ndarray, known: np.ndarray) -> ErrorGrowth:
        from omnirank.ensembles.kernels.feature_errors import FeatureLoss

        scale = np.divide(self.scale, known, out=np.zeros(len(known)), where=known > 0)
        numbers = (self.number_truth, means, scale[self.numbers])
        loss = FeatureLoss(*numbers, self.class_truth, levels, scale[self.classes])
        base, change = permuted_losses(self.plan, case, loss, 1)
        return ErrorGrowth(float(base[0]), change[0])

    def _each(self, case: OutOfBag, means: np.ndarray, levels: np.ndarray, known: np.ndarray) -> ErrorGrowth:
        from omnirank.ensembles.kernels.permutation import LevelLoss, SquaredLoss

        base, change = np.zeros(len(known)), np.zeros((len(known), self.plan.dataset.n_features))
        numbers, classes = SquaredLoss(self.number_truth, means), LevelLoss(self.class_truth, levels)
        for own, loss in ((self.numbers, numbers), (self.classes, classes)):
            if len(own):
                base[own], change[own] = permuted_losses(self.plan, case, loss, len(own))
        divisor = np.where(known > 0, known, 1.0)
        return self._combined(base / divisor, change / divisor[:, None], known > 0)

    def _combined(self, base: np.ndarray, change: np.ndarray, known: np.ndarray) -> ErrorGrowth:
        if self.error == "rrmse":
            before = np.sqrt(base * self.scale)
            growth = np.sqrt(np.maximum(base[:, None] + change, 0.0) * self.scale[:, None]) - before[:, None]
        elif self.error == "accuracy":
            counted = self.scale * known
            before, growth = (1.0 - base) * counted, change * counted[:, None]
        else:
            before, growth = base * self.scale, change * self.scale[:, None]
        return ErrorGrowth(float(before.sum()), growth.sum(axis=0), before, growth)


def column_errors(
    plan: GrowingPlan, columns: PrototypeColumns, scale: np.ndarray, error: str = "auto", in_one_number: bool = False
) -> ColumnErrors:
    """Return the errors of all variables of a coded target, or of the features.

    Parameters
    ----------
    plan : GrowingPlan
        What the trees are grown on.
    columns : PrototypeColumns
        What their leaves describe.
    scale : ndarray (variables,)
        How much the error of each variable counts.
    error : {"auto", "accuracy", "rrmse"}
        How the errors of single variables are combined.
    in_one_number : bool
        Whether only their sum is wanted.
    """
    dense = columns.scaled(columns.dense())
    labels = plan.task.kind == "labels" and columns is plan.columns
    is_class = np.array([labels or levels is not None for levels in columns.levels], bool)
    numbers, classes = np.flatnonzero(~is_class), np.flatnonzero(is_class)
    number_truth = np.ascontiguousarray(dense[:, np.isin(columns.variable, numbers)])
    class_truth = _true_levels(dense, columns, classes)
    return ColumnErrors(plan, columns, numbers, classes, number_truth, class_truth, scale, error, in_one_number)


def permuted_losses(plan: GrowingPlan, case: OutOfBag, loss: Any, n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the summed loss of each target, and by how much it changes with each feature, (targets, features)."""
    from omnirank.ensembles.kernels.permutation import permutation_losses

    base, change = permutation_losses(case.tests, plan.coded.routing, loss, case.order, plan.weight, n_targets)
    return base, change.T


def _true_levels(dense: np.ndarray, columns: PrototypeColumns, variables: np.ndarray) -> np.ndarray:
    """Return the codes of nominal variables or labels, -1 = unknown."""
    codes = np.full((len(dense), len(variables)), -1, np.int32)
    for place, v in enumerate(variables):
        own = dense[:, columns.variable == v]
        known = ~np.isnan(own[:, 0])
        codes[known, place] = own[known, 0] if own.shape[1] == 1 else np.argmax(own[known], axis=1)
    return codes


def _majority_levels(by_node: np.ndarray, columns: PrototypeColumns, variables: np.ndarray) -> np.ndarray:
    """Return the majority level (the first of equals) of each node; of a label, whether 1/2 or more have it."""
    codes = np.empty((len(by_node), len(variables)), np.int32)
    for place, v in enumerate(variables):
        own = by_node[:, columns.variable == v]
        if own.shape[1] > 1:
            codes[:, place] = first_largest(own)
        else:  # one column stands for the second of two levels
            codes[:, place] = reaches(own[:, 0]) if columns.levels[v] is None else ~reaches(1.0 - own[:, 0])
    return codes


def weighted_impurities(columns: PrototypeColumns, weight: np.ndarray) -> np.ndarray:
    """Return the weighted variance of each number, in its unit, and the Gini index of each class in training."""
    variance = np.zeros(columns.n_columns)
    for c, cells in enumerate(columns.scaled(columns.dense()).T):
        known = ~np.isnan(cells)
        cells, own = cells[known], weight[known]
        if len(cells) and (cells != cells[0]).any():
            variance[c] = np.average((cells - np.average(cells, weights=own)) ** 2, weights=own)
    found = np.bincount(columns.variable, variance, columns.n_variables)
    single = np.bincount(columns.variable, minlength=columns.n_variables) == 1
    halved = single & np.array([levels is not None for levels in columns.levels], bool)
    return np.where(halved, 2 * found, found)
