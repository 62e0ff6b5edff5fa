"""Out-of-bag errors of one tree, and by how much they grow when a feature is permuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import check, choice
from omnirank.data.table import is_sparse
from omnirank.data.task_registry import TASKS, TaskNames
from omnirank.ensembles.error_parts import ErrorGrowth, ErrorMeasure, OutOfBag
from omnirank.ensembles.feature_errors import (
    feature_errors,
    majority_levels,
    mixed_errors,
    true_levels,
    weighted_impurities,
)
from omnirank.ensembles.plan import GrowingPlan
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means

__all__ = ["ERRORS", "ErrorGrowth", "ErrorMeasure", "OutOfBag", "check_error", "error_measure"]

# Errors of the permutation score, and the tasks for which they are defined.
ERRORS = {
    "auto": TASKS,
    "accuracy": TaskNames("classes"),
    "rrmse": TaskNames("numbers"),
    "auprc": TaskNames("labels"),
    "target": TaskNames("classes", "numbers", "labels", "mixed"),
}

# Label sets with more labels than this are compared as sets, with fewer as columns.
_MOST_LABEL_COLUMNS = 64


def check_error(error: str, task: str | None = None) -> None:
    """Raise a ParameterError where there is no such error, or not for this task.

    Examples
    --------
    >>> from omnirank.ensembles.target_errors import check_error
    >>> check_error("rrmse", "classification")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: permutation_error='rrmse': it is for regression, ... not for classification
    """
    tasks = ERRORS[check("permutation_error", error, choice(*ERRORS))]
    if task is not None and task not in tasks:
        raise ParameterError("permutation_error", error, f"it is for {', '.join(tasks)}, not for {task}")


def error_measure(plan: GrowingPlan, error: str = "auto", per_target: bool = False) -> ErrorMeasure:
    """Return the error by which the trees of a plan are judged.

    Parameters
    ----------
    plan : GrowingPlan
        What the trees are grown on.
    error : {"auto", "accuracy", "rrmse", "auprc", "target"}
        The error; "auto" is that of the task, of semi-supervised trees beside that of the features; "target" leaves
        the features out.
    per_target : bool
        Whether errors of single targets are wanted too.
    """
    check_error(error, plan.task.name)
    if plan.task.kind == "none" and not per_target:
        return feature_errors(plan)
    if error == "auto" and plan.around is not None:
        return mixed_errors(plan, _target_measure(plan, error, per_target))
    return _target_measure(plan, "auto" if error == "target" else error, per_target)


def _target_measure(plan: GrowingPlan, error: str, per_target: bool) -> ErrorMeasure:
    columns = plan.columns
    if plan.task.kind != "labels":
        return _column_errors(plan, error)
    if error == "auprc":
        from omnirank.ensembles.auprc_error import recall_errors

        return recall_errors(plan, per_target)
    if columns.n_variables <= _MOST_LABEL_COLUMNS:
        return _column_errors(plan, error)
    return _set_errors(plan, per_target)


# -- numbers, classes and small label sets ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _ColumnErrors:
    """Squared errors of numbers, wrong classes and labels, each target by itself."""

    plan: GrowingPlan
    numbers: np.ndarray  # targets that are numbers
    classes: np.ndarray  # targets that are classes or labels
    number_truth: np.ndarray
    class_truth: np.ndarray  # codes, -1 = unknown
    scale: np.ndarray  # of a target's error
    error: str

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
        from omnirank.ensembles.kernels.permutation import LevelLoss, SquaredLoss

        columns = self.plan.columns
        means, node_row = node_means(case.grown, columns)
        means = means.toarray() if is_sparse(means) else means
        by_node = columns.scaled(means)[np.maximum(node_row, 0)]
        rows, n = case.order.rows, columns.n_variables
        weight = self.plan.weight[rows]
        base, change, known = np.zeros(n), np.zeros((n, self.plan.dataset.n_features)), np.zeros(n)
        if len(self.numbers):
            predicted = by_node[:, np.isin(columns.variable, self.numbers)]
            loss = SquaredLoss(self.number_truth, np.ascontiguousarray(predicted))
            base[self.numbers], change[self.numbers] = _losses(self.plan, case, loss, len(self.numbers))
            known[self.numbers] = weight @ ~np.isnan(self.number_truth[rows])
        if len(self.classes):
            class_loss = LevelLoss(self.class_truth, majority_levels(by_node, columns, self.classes))
            base[self.classes], change[self.classes] = _losses(self.plan, case, class_loss, len(self.classes))
            known[self.classes] = weight @ (self.class_truth[rows] >= 0)
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


def _column_errors(plan: GrowingPlan, error: str) -> _ColumnErrors:
    columns = plan.columns
    dense = columns.scaled(columns.dense())
    labels = plan.task.kind == "labels"
    is_class = np.array([labels or levels is not None for levels in columns.levels], bool)
    numbers, classes = np.flatnonzero(~is_class), np.flatnonzero(is_class)
    truth = true_levels(dense, columns, classes)
    if labels:
        scale = columns.weights / columns.n_variables
    else:
        impurity = weighted_impurities(columns, dense, plan.weight)
        # Numbers count relative to their variance, and classes beside them relative to their Gini index.
        scale = (impurity > 0).astype(np.float64) / max(1, int((impurity > 0).sum()))
        if len(numbers):
            scale = np.divide(scale, impurity, out=scale, where=impurity > 0)
    number_truth = np.ascontiguousarray(dense[:, np.isin(columns.variable, numbers)])
    return _ColumnErrors(plan, numbers, classes, number_truth, truth, scale, error)


def _losses(plan: GrowingPlan, case: OutOfBag, loss: Any, n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    from omnirank.ensembles.kernels.permutation import permutation_losses

    base, change = permutation_losses(case.tests, plan.coded.routing, loss, case.order, plan.weight, n_targets)
    return base, change.T


# -- large label sets --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _SetErrors:
    """Weighted Hamming loss of label sets: in one number, or label by label."""

    plan: GrowingPlan
    starts: np.ndarray
    labels: np.ndarray
    relevant: np.ndarray
    unknown: Any  # csr (rows, labels), or None where all labels are known
    by_label: bool

    def growth(self, case: OutOfBag) -> ErrorGrowth:
        """Return the error of a tree and its growth."""
        from omnirank.ensembles.kernels.permutation import LabelLoss, SetLoss

        columns, rows = self.plan.columns, case.order.rows
        predicted = _predicted_sets(*node_means(case.grown, columns))
        starts, labels = predicted.indptr.astype(np.int64), predicted.indices.astype(np.int32)
        scale = columns.weights / columns.n_variables
        marks = np.zeros(columns.n_variables, np.int64)
        weight = self.plan.weight[rows]
        if not self.by_label:
            loss = SetLoss(self.starts, self.labels, scale, starts, labels, predicted @ scale, marks)
            base, change = _losses(self.plan, case, loss, 1)
            return ErrorGrowth(float(base[0] / weight.sum()), change[0] / weight.sum())
        by_label = LabelLoss(self.starts, self.labels, self.relevant, starts, labels, marks)
        base, change = _losses(self.plan, case, by_label, columns.n_variables)
        known = np.full(columns.n_variables, weight.sum())
        if self.unknown is not None:
            known -= weight @ self.unknown[rows.astype(np.int64)]
        factor = np.divide(scale, known, out=np.zeros(len(known)), where=known > 1e-12 * weight.sum())
        before, growth = base * factor, change * factor[:, None]
        return ErrorGrowth(float(before.sum()), growth.sum(axis=0), before, growth)


def _set_errors(plan: GrowingPlan, per_target: bool) -> _SetErrors:
    sets = label_sets(plan.columns)
    unknown = np.isnan(sets.data)
    mask = None
    if unknown.any():
        mask = sparse.csr_array((unknown.astype(np.float64), sets.indices, sets.indptr), shape=sets.shape)
    return _SetErrors(
        plan,
        sets.indptr.astype(np.int64),
        sets.indices.astype(np.int32),
        ~unknown,
        mask,
        per_target or bool(unknown.any()),
    )


def label_sets(columns: PrototypeColumns) -> Any:
    """Return a label target as a csr matrix: 1 is stored where a label is relevant, NaN where it is unknown."""
    if not columns.is_sparse:
        return sparse.csr_array(columns.matrix)
    if columns.labelled.all():
        sets = columns.matrix.copy()
        sets.eliminate_zeros()
        return sets
    return sparse.csr_array(columns.dense())


def _predicted_sets(means: Any, node_row: np.ndarray) -> Any:
    """Labels with a frequency of at least 1/2, one row a node; inner nodes are empty."""
    chosen = sparse.csr_array(means >= 0.5, dtype=np.float64)
    sizes = np.where(node_row >= 0, np.diff(chosen.indptr)[np.maximum(node_row, 0)], 0)
    # Leaves are stored in the order of their nodes, so that the cells are in place already.
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_array((chosen.data, chosen.indices, starts), shape=(len(node_row), chosen.shape[1]))
