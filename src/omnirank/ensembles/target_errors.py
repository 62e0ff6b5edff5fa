"""Out-of-bag errors of one tree, and how much they grow when a feature is permuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import check, choice
from omnirank.data.task_registry import TASKS, TaskNames
from omnirank.ensembles.column_errors import ColumnErrors, column_errors, permuted_losses, weighted_impurities
from omnirank.ensembles.error_parts import ErrorGrowth, ErrorMeasure, OutOfBag
from omnirank.ensembles.feature_errors import feature_errors, mixed_errors
from omnirank.ensembles.plan import GrowingPlan
from omnirank.measures.decisions import reaches
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
    """Raise a ParameterError if there is no such error, or none for this task.

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
    if error == "auto" and plan.feature_part is not None:
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


def _column_errors(plan: GrowingPlan, error: str) -> ColumnErrors:
    """The errors of numbers, classes and small label sets."""
    columns = plan.columns
    if plan.task.kind == "labels":
        return column_errors(plan, columns, columns.weights / columns.n_variables, error)
    impurity = weighted_impurities(columns, plan.weight)
    # Numbers count relative to their variance, and classes beside them relative to their Gini index.
    scale = (impurity > 0).astype(np.float64) / max(1, int((impurity > 0).sum()))
    if any(levels is None for levels in columns.levels):
        scale = np.divide(scale, impurity, out=scale, where=impurity > 0)
    return column_errors(plan, columns, scale, error)


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
            base, change = permuted_losses(self.plan, case, loss, 1)
            return ErrorGrowth(float(base[0] / weight.sum()), change[0] / weight.sum())
        by_label = LabelLoss(self.starts, self.labels, self.relevant, starts, labels, marks)
        base, change = permuted_losses(self.plan, case, by_label, columns.n_variables)
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
    """Labels with a frequency of at least 1/2, one row per node; inner nodes are empty."""
    chosen = sparse.csr_array(reaches(means), dtype=np.float64)
    sizes = np.where(node_row >= 0, np.diff(chosen.indptr)[np.maximum(node_row, 0)], 0)
    # Leaves are stored in the order of their nodes, so that the cells are in place already.
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_array((chosen.data, chosen.indices, starts), shape=(len(node_row), chosen.shape[1]))
