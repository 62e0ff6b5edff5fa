"""The table of measures: what each is called, where it applies, which way is better, and how it is defined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from omnirank.tasks import get_task

__all__ = ["MEASURES", "Measure", "measures_of", "primary_measure"]

_CLASS = "classification"
_CLASSES = "multi-target-classification"
_NUMBER = "regression"
_NUMBERS = "multi-target-regression"
_LABELS = "multi-label"
_HIERARCHY = "hierarchical-multi-label"
_MIXED = "mixed-targets"
_FEATURES = "clustering"


@dataclass(frozen=True)
class Measure:
    """What a measure is.

    Parameters
    ----------
    name : str
        Key in what `measure` returns.
    title : str
        What papers call it.
    tasks : tuple of str
        Tasks that have it.
    larger_is_better : bool
        Which way is better.
    definition : str
        One line.

    Examples
    --------
    >>> from omnirank.evaluation.measures import MEASURES
    >>> MEASURES["rrmse"].larger_is_better, MEASURES["rrmse"].is_primary_for("regression")
    (False, True)
    """

    name: str
    title: str
    tasks: tuple[str, ...]
    larger_is_better: bool
    definition: str

    def is_primary_for(self, task: str) -> bool:
        """Whether rankings of the task are judged by this measure unless told otherwise."""
        return task in self.tasks and get_task(task).default_measure == self.name


def _up(name: str, title: str, tasks: tuple[str, ...], definition: str) -> Measure:
    return Measure(name, title, tasks, True, definition)


def _down(name: str, title: str, tasks: tuple[str, ...], definition: str) -> Measure:
    return Measure(name, title, tasks, False, definition)


_ALL = (
    # classes
    _up("accuracy", "accuracy", (_CLASS, _CLASSES, _MIXED), "share of examples whose class is predicted"),
    _up("subset_accuracy", "subset accuracy", (_CLASSES, _LABELS), "share of examples predicted wholly right"),
    _up("f1_macro", "macro F1", (_CLASS, _CLASSES, _MIXED, _LABELS), "mean over classes or labels of 2PR/(P + R)"),
    _up("balanced_accuracy", "balanced accuracy", (_CLASS, _CLASSES), "mean over classes of recall"),
    _up("kappa", "Cohen's kappa", (_CLASS, _CLASSES), "accuracy above chance, relative to the largest possible"),
    _up("mcc", "Matthews' coefficient", (_CLASS, _CLASSES), "correlation of true and predicted classes"),
    _up("auroc", "AUROC", (_CLASS, _CLASSES), "mean over classes of the area under class-against-rest ROC curves"),
    _down("log_loss", "log-loss", (_CLASS, _CLASSES), "mean of -log of the predicted frequency of the true class"),
    # numbers
    _down("mixed_error", "mixed error", (_MIXED,), "mean over targets of MSE / variance and wrong share / Gini index"),
    _down("rrmse", "RRMSE", (_NUMBER, _NUMBERS, _MIXED, _FEATURES), "mean over targets of sqrt(MSE / variance)"),
    _down("rmse", "RMSE", (_NUMBER, _NUMBERS), "mean over targets of sqrt(MSE)"),
    _down("mae", "MAE", (_NUMBER, _NUMBERS), "mean over targets of the mean absolute error"),
    _up("r2", "R²", (_NUMBER, _NUMBERS), "mean over targets of 1 - MSE / variance in the test set"),
    # label sets: examples, then labels, order of labels, curves
    _down("hamming_loss", "Hamming loss", (_LABELS,), "share of (example, label) pairs that are wrong"),
    _up(
        "jaccard_samples",
        "multi-label accuracy",
        (_LABELS,),
        "mean over examples of right / relevant or predicted labels",
    ),
    _up(
        "precision_samples",
        "multi-label precision",
        (_LABELS,),
        "mean over examples of right / predicted labels",
    ),
    _up("recall_samples", "multi-label recall", (_LABELS,), "mean over examples of right / relevant labels"),
    _up("f1_samples", "multi-label F1", (_LABELS,), "mean over examples of F1 of their two sets"),
    _up("precision_micro", "micro precision", (_LABELS,), "TP / (TP + FP) of all labels together"),
    _up("recall_micro", "micro recall", (_LABELS,), "TP / (TP + FN) of all labels together"),
    _up("f1_micro", "micro F1", (_LABELS,), "2 TP / (2 TP + FP + FN) of all labels together"),
    _up("precision_macro", "macro precision", (_LABELS,), "mean over labels of TP / (TP + FP)"),
    _up("recall_macro", "macro recall", (_LABELS,), "mean over labels of TP / (TP + FN)"),
    _down("one_error", "one error", (_LABELS,), "share of examples whose top label is not relevant"),
    _down("coverage", "coverage", (_LABELS,), "mean number of top labels that hold all relevant ones"),
    _down("ranking_loss", "ranking loss", (_LABELS,), "share of (relevant, irrelevant) label pairs in wrong order"),
    _up("average_precision", "average precision", (_LABELS,), "mean over relevant labels of precision at their rank"),
    _up("mean_auroc", "average AUROC", (_LABELS,), "mean over labels of the area under the ROC curve"),
    _up("mean_auprc", "average AUPRC", (_LABELS, _HIERARCHY), "mean over labels of the area under their PR curves"),
    _up("weighted_auprc", "weighted AUPRC", (_LABELS, _HIERARCHY), "the same mean, weighted by label frequency"),
    _up("pooled_auprc", "AU(avg PRC)", (_LABELS, _HIERARCHY), "area under the PR curve of all (example, label) pairs"),
    _down(
        "weighted_hamming_loss", "weighted Hamming loss", (_HIERARCHY,), "mean over labels of w(l) times wrong share"
    ),
    # features predicted from features
    _down("top_features_rmse", "mean RMSE", (_FEATURES,), "mean over all features of sqrt(MSE)"),
    _down("mse", "MSE", (_FEATURES,), "mean over all features of the mean squared error"),
)

MEASURES: Mapping[str, Measure] = MappingProxyType({found.name: found for found in _ALL})
"""Every measure by name."""


def measures_of(task: str) -> tuple[Measure, ...]:
    """Return the measures of a task, in the order in which `measure` gives them: the primary one first.

    Examples
    --------
    >>> from omnirank.evaluation.measures import measures_of
    >>> [found.name for found in measures_of("regression")]
    ['rrmse', 'rmse', 'mae', 'r2']
    """
    get_task(task)
    found = [measure for measure in _ALL if task in measure.tasks]
    return tuple(sorted(found, key=lambda measure: not measure.is_primary_for(task)))


def primary_measure(task: str) -> Measure:
    """Return the measure by which rankings of a task are judged unless told otherwise.

    Examples
    --------
    >>> from omnirank.evaluation.measures import primary_measure
    >>> primary_measure("multi-label").title
    'AU(avg PRC)'
    """
    return MEASURES[get_task(task).default_measure]
