"""Errors of models as CLUS writes them: for every measure a line per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from omnirank.clus.numbers_text import clus_list, clus_number
from omnirank.data.dataset import Dataset
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named, task_target
from omnirank.measures.classes import accuracy, confusion_matrix
from omnirank.measures.decisions import reaches
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure

_WIDTH = 15
# What CLUS calls our measures of label sets.
_LABEL_MEASURES = {
    "HammingLoss": "hamming_loss",
    "RankingLoss": "ranking_loss",
    "OneError": "one_error",
    "Coverage": "coverage",
    "AveragePrecision": "average_precision",
    "MLAccuracy": "jaccard_samples",
    "MLPrecision": "precision_samples",
    "MLRecall": "recall_samples",
    "MLFOneMeasure": "f1_samples",
    "SubsetAccuracy": "subset_accuracy",
    "MacroPrecision": "precision_macro",
    "MacroRecall": "recall_macro",
    "MacroFOne": "f1_macro",
    "MicroPrecision": "precision_micro",
    "MicroRecall": "recall_micro",
    "MicroFOne": "f1_micro",
    "averageAUROC": "mean_auroc",
    "averageAUPRC": "mean_auprc",
    "weightedAUPRC": "weighted_auprc",
    "pooledAUPRC": "pooled_auprc",
}
_HIERARCHICAL_MEASURES = {
    "Average AUROC:            ": "mean_auroc",
    "Average AUPRC:            ": "mean_auprc",
    "Average AUPRC (weighted): ": "weighted_auprc",
    "Pooled AUPRC:             ": "pooled_auprc",
}


def error_lines(dataset: Dataset, means: Mapping[str, np.ndarray], training: Target) -> list[str]:
    """Return the errors of several models on labelled examples.

    Parameters
    ----------
    dataset : Dataset
        The examples; unlabelled ones do not count.
    means : mapping of str to ndarray
        What each model predicts for the columns of the target, one row per example.
    training : Target
        The target of the training set.
    """
    lines = [f"Number of examples: {dataset.n_examples}"]
    if not dataset.labelled.any():
        return [*lines, "No example has a known target."]
    if not dataset.labelled.all():
        lines.append(f"Number of labelled examples: {int(dataset.labelled.sum())}")
        means = {name: found[dataset.labelled] for name, found in means.items()}
        dataset = dataset.take(dataset.labelled)
    assert dataset.target is not None
    if task_target(dataset.task).kind == "labels":
        return lines + _label_lines(dataset, means, training)
    truth = get_task(dataset.task).columns(dataset.target)
    nominal = [v for v, levels in enumerate(truth.levels) if levels is not None]
    numeric = [v for v, levels in enumerate(truth.levels) if levels is None]
    if nominal:
        lines.append("Classification Error")
        for name, found in means.items():
            lines.append(f"   {name}: ")
            for v in nominal:
                own = truth.variable == v
                codes = np.where(np.isnan(truth.matrix[:, own][:, 0]), -1, np.argmax(truth.matrix[:, own], axis=1))
                lines += _class_lines(truth.names[v], truth.levels[v] or (), codes, found[:, own])
    if numeric:
        at = np.flatnonzero(np.isin(truth.variable, numeric))
        lines += number_lines(truth.matrix[:, at], {name: found[:, at] for name, found in means.items()})
    return lines


def number_lines(truth: np.ndarray, means: Mapping[str, np.ndarray]) -> list[str]:
    """Return the errors of predicted numbers: by target, and their mean.

    Errors are relative to the examples' own variance, as in CLUS.

    Parameters
    ----------
    truth : ndarray (n, T)
        The numbers; NaN is unknown.
    means : mapping of str to ndarray (n, T)
        The predictions of each model.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.clus.error_text import number_lines
    >>> print("\\n".join(number_lines(np.array([[0.0], [2.0]]), {"Default": np.array([[1.0], [1.0]])})[:4]))
    Mean absolute error (MAE)
       Default        : [1]
    Mean squared error (MSE)
       Default        : [1]
    """
    absolute = {name: np.nanmean(np.abs(truth - found), axis=0) for name, found in means.items()}
    squared = {name: np.nanmean((truth - found) ** 2, axis=0) for name, found in means.items()}
    rooted = {name: np.sqrt(found) for name, found in squared.items()}
    spread = np.sqrt(np.nanvar(truth, axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = {name: found / spread for name, found in rooted.items()}
    lines = []
    for title, values in (
        ("Mean absolute error (MAE)", absolute),
        ("Mean squared error (MSE)", squared),
        ("Root mean squared error (RMSE)", rooted),
        ("Root Relative Squared Error (RRMSE)", relative),
    ):
        lines.append(title)
        for name, found in values.items():
            mean = f": {clus_number(float(np.mean(found)))}" if len(found) > 1 else ""
            lines.append(f"   {name:<{_WIDTH}}: {clus_list(found)}{mean}")
    lines.append("Pearson correlation coefficient")
    for name, found in means.items():
        r = np.array([_correlation(truth[:, t], found[:, t]) for t in range(truth.shape[1])])
        lines.append(f"   {name:<{_WIDTH}}: {clus_list(r)}, Avg r^2: {clus_number(float(np.mean(r**2)))}")
    return lines


def _correlation(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Pearson's coefficient over the known values; 0 where one of them is constant."""
    known = ~np.isnan(truth)
    a, b = truth[known], predicted[known]
    if len(a) == 0 or np.ptp(a) == 0 or np.ptp(b) <= 1e-12 * max(np.abs(b).max(), 1e-300):
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _class_lines(name: str, levels: Sequence[object], codes: np.ndarray, frequencies: np.ndarray) -> list[str]:
    """The confusion matrix of one target, its accuracy and Cramer's coefficient."""
    counts = confusion_matrix(codes, frequencies)
    texts = [str(level) for level in levels]
    label = max(len(r"REAL\PRED"), *(len(text) for text in texts))
    widths = [max(len(text), len(str(column.max()))) for text, column in zip(texts, counts.T, strict=True)]
    last = len(str(counts.sum()))

    def row(first: str, cells: Sequence[object], total: object) -> str:
        shown = " | ".join(f"{cell!s:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return f"     {first:>{label}} | {shown} | {total!s:>{last}}".rstrip()

    rule = "     " + "-" * (len(row("", counts.sum(axis=0), counts.sum())) - 5)
    lines = [f"   Attribute: {name}", row(r"REAL\PRED", texts, ""), rule]
    lines += [row(text, counts[i], counts[i].sum()) for i, text in enumerate(texts)]
    lines += [rule, row("", counts.sum(axis=0), counts.sum())]
    lines.append(f"     Accuracy: {clus_number(accuracy(counts), 6)}")
    return [*lines, f"     Cramer's coefficient: {clus_number(cramer(counts), 6)}", ""]


def cramer(counts: np.ndarray) -> float:
    """Return Cramer's coefficient of a table of counts; 0 where all are in one row or column.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.clus.error_text import cramer
    >>> cramer(np.array([[3, 0], [0, 2]])), cramer(np.array([[3, 0], [2, 0]]))
    (1.0, 0.0)
    """
    counts = np.asarray(counts, float)
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total if total else counts
    smaller = min((counts.sum(axis=1) > 0).sum(), (counts.sum(axis=0) > 0).sum()) - 1
    if smaller < 1:
        return 0.0
    cells = expected > 0
    square = ((counts - expected)[cells] ** 2 / expected[cells]).sum()
    return float(np.sqrt(square / (total * smaller)))


def _label_lines(dataset: Dataset, means: Mapping[str, np.ndarray], training: Target) -> list[str]:
    assert dataset.target is not None
    # CLUS measures labels of a hierarchy in both ways.
    flat = task_named("labels")
    found = {
        name: measure(dataset.target, predicted, training=training, task=flat, variant="clus")
        for name, predicted in means.items()
    }
    lines = []
    if not task_target(dataset.task).hierarchical:
        truth = dataset.target.dense()
        lines.append("Classification Error")
        for name, predicted in means.items():
            lines.append(f"   {name}: ")
            for i, label in enumerate(dataset.target_names):
                codes = np.where(np.isnan(truth[:, i]), -1, 1 - truth[:, i]).astype(np.intp)
                decided = reaches(predicted[:, i], 0.5).astype(float)
                lines += _class_lines(label, ("1", "0"), codes, np.column_stack([decided, 1 - decided]))
    else:
        lines.append("Hierarchical error measures")
        present = np.flatnonzero((dataset.target.dense() == 1).any(axis=0))
        present_truth, known_labels = dataset.target.select(present), training.select(present)
        for name, predicted in means.items():
            values = measure(present_truth, predicted[:, present], training=known_labels, task=flat, variant="clus")
            values["pooled_auprc"] = found[name]["pooled_auprc"]  # absent labels can be predicted, too
            lines.append(f"   {name}: ")
            lines += [f"      {title}{values[known]!r}" for title, known in _HIERARCHICAL_MEASURES.items()]
    for title, known in _LABEL_MEASURES.items():
        lines.append(title)
        lines += [f"   {name:<{_WIDTH}}: {clus_number(values[known])}" for name, values in found.items()]
    return lines
