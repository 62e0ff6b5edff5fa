"""Measures of predicted classes, most of them from the confusion matrix.

Confusion matrices of folds may be added up before a measure is taken, which is the right way for measures that are no
means over examples, such as F1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnirank.core.types import ArrayLike
from omnirank.measures.decisions import first_largest
from omnirank.measures.table import larger, smaller

ACCURACY = larger("accuracy", "accuracy", "share of examples whose class is predicted")
SUBSET_ACCURACY = larger("subset_accuracy", "subset accuracy", "share of examples predicted wholly right")
F1_MACRO = larger("f1_macro", "macro F1", "mean over classes or labels of 2PR/(P + R)")
# What `class_measures` returns besides.
CLASS_MEASURES = (
    larger("balanced_accuracy", "balanced accuracy", "mean over classes of recall"),
    larger("kappa", "Cohen's kappa", "accuracy above chance, relative to the largest possible"),
    larger("mcc", "Matthews' coefficient", "correlation of true and predicted classes"),
    larger("auroc", "AUROC", "mean over classes of the area under class-against-rest ROC curves"),
    smaller("log_loss", "log-loss", "mean of -log of the predicted frequency of the true class"),
)


def confusion_matrix(codes: ArrayLike, frequencies: ArrayLike) -> np.ndarray:
    """Return the counts of (true class, predicted class); the most frequent class is predicted, the first of ties.

    Parameters
    ----------
    codes : array-like of shape (n,)
        Numbers of the true classes; -1 = unknown, left out.
    frequencies : array-like of shape (n, C)
        Predicted frequencies of the classes.

    Examples
    --------
    >>> from omnirank.measures import confusion_matrix
    >>> confusion_matrix([0, 1, 1, -1], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [1.0, 0.0]]).tolist()
    [[1, 0], [1, 1]]
    """
    codes, frequencies = np.ma.filled(codes, -1), np.asarray(frequencies, dtype=np.float64)
    known = codes >= 0
    n_classes = frequencies.shape[1]
    predicted = first_largest(frequencies[known])
    return np.bincount(codes[known] * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)


def accuracy(confusion: ArrayLike) -> float:
    """Return the share of examples on the diagonal of a confusion matrix; NaN for an empty one.

    Examples
    --------
    >>> from omnirank.measures import accuracy
    >>> accuracy([[3, 1], [0, 4]])
    0.875
    """
    counts = np.asarray(confusion, dtype=np.float64)
    return float(np.trace(counts) / counts.sum()) if counts.any() else float("nan")


def class_f1_macro(confusion: ArrayLike) -> float:
    """Return the mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that occur or are predicted.

    F1 of a class that is never right is 0; a class that neither occurs nor is predicted is left out, as in
    scikit-learn.

    Examples
    --------
    >>> from omnirank.measures import class_f1_macro
    >>> class_f1_macro([[1, 1, 0], [0, 2, 0], [0, 0, 0]])
    0.7333333333333334
    """
    counts = np.asarray(confusion, dtype=np.float64)
    seen = counts.sum(axis=0) + counts.sum(axis=1)
    if not seen.any():
        return float("nan")
    return float(np.mean(2 * np.diag(counts)[seen > 0] / seen[seen > 0]))


def balanced_accuracy(confusion: ArrayLike) -> float:
    """Return the mean of recall over the classes that occur.

    Examples
    --------
    >>> from omnirank.measures import balanced_accuracy
    >>> balanced_accuracy([[1, 1], [0, 4]])
    0.75
    """
    counts = np.asarray(confusion, dtype=np.float64)
    sizes = counts.sum(axis=1)
    if not sizes.any():
        return float("nan")
    return float(np.mean(np.diag(counts)[sizes > 0] / sizes[sizes > 0]))


def cohen_kappa(confusion: ArrayLike) -> float:
    """Return Cohen's kappa, (p_o - p_e) / (1 - p_e); 0 where chance cannot be beaten because p_e = 1.

    Examples
    --------
    >>> from omnirank.measures import cohen_kappa
    >>> cohen_kappa([[3, 1], [1, 3]]), cohen_kappa([[5, 0], [0, 0]])
    (0.5, 0.0)
    """
    counts = np.asarray(confusion, dtype=np.float64)
    if not counts.any():
        return float("nan")
    n = counts.sum()
    by_chance = float(counts.sum(axis=0) @ counts.sum(axis=1)) / n
    if by_chance >= n:
        return 0.0
    return float((np.trace(counts) - by_chance) / (n - by_chance))


def matthews_coefficient(confusion: ArrayLike) -> float:
    """Return Matthews' correlation coefficient for any number of classes; 0 where one class is true or predicted.

    Examples
    --------
    >>> from omnirank.measures import matthews_coefficient
    >>> matthews_coefficient([[3, 1], [1, 3]]), matthews_coefficient([[4, 0], [4, 0]])
    (0.5, 0.0)
    """
    counts = np.asarray(confusion, dtype=np.float64)
    if not counts.any():
        return float("nan")
    n, true, predicted = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    spread = (n**2 - true @ true) * (n**2 - predicted @ predicted)
    return float((np.trace(counts) * n - true @ predicted) / np.sqrt(spread)) if spread > 0 else 0.0


def class_auroc(codes: ArrayLike, frequencies: ArrayLike) -> float:
    """Return the mean over the classes that occur of the area under the ROC curve, class against rest.

    For two classes this is the usual area. With a single class no order can be wrong or right: 0.5.

    Examples
    --------
    >>> from omnirank.measures import class_auroc
    >>> class_auroc([0, 0, 1], [[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    0.5
    """
    from omnirank.measures.labels import mean_auroc

    codes, frequencies = np.ma.filled(codes, -1), np.asarray(frequencies, dtype=np.float64)
    known = codes >= 0
    if not known.any():
        return float("nan")
    occurring = np.unique(codes[known])
    truth = (codes[known, None] == occurring).astype(np.float64)
    return mean_auroc(truth, frequencies[known][:, occurring])


def log_loss(codes: ArrayLike, frequencies: ArrayLike) -> float:
    """Return the mean of -log of the predicted frequency of the true class.

    Frequencies are divided by their sum (a row of zeros says nothing: all classes alike), and 0 counts as the
    smallest step of a float, 2.2e-16, as in scikit-learn: one such miss costs 36.

    Examples
    --------
    >>> from omnirank.measures import log_loss
    >>> round(log_loss([0, 1], [[0.5, 0.5], [0.0, 1.0]]), 4)
    0.3466
    """
    codes, frequencies = np.ma.filled(codes, -1), np.asarray(frequencies, dtype=np.float64)
    known = codes >= 0
    if not known.any():
        return float("nan")
    shares = frequencies[known]
    total = shares.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / shares.shape[1])
    found = shares[np.arange(len(shares)), codes[known]]
    smallest = np.finfo(np.float64).eps
    return float(-np.log(np.clip(found, smallest, 1 - smallest)).mean()) if shares.shape[1] > 1 else 0.0


def confusion_measures(confusion: ArrayLike) -> dict[str, float]:
    """Return the measures that a confusion matrix determines.

    Examples
    --------
    >>> from omnirank.measures import confusion_measures
    >>> confusion_measures([[3, 1], [1, 3]])["kappa"]
    0.5
    """
    return {
        "f1_macro": class_f1_macro(confusion),
        "accuracy": accuracy(confusion),
        "balanced_accuracy": balanced_accuracy(confusion),
        "kappa": cohen_kappa(confusion),
        "mcc": matthews_coefficient(confusion),
    }


def class_measures(codes: np.ndarray, frequencies: np.ndarray) -> dict[str, float]:
    """Return all measures of one predicted class; NaN where no example's class is known.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.classes import class_measures
    >>> class_measures(np.array([0, 1]), np.array([[0.75, 0.25], [0.5, 0.5]]))["accuracy"]
    0.5
    """
    return confusion_measures(confusion_matrix(codes, frequencies)) | {
        "auroc": class_auroc(codes, frequencies),
        "log_loss": log_loss(codes, frequencies),
    }


def exact_match(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the share of examples with all known classes right, over those with any known class.

    Parameters
    ----------
    parts : sequence of (codes, frequencies)
        Of each target, as in `confusion_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.classes import exact_match
    >>> frequencies = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> exact_match([(np.array([0, 1]), frequencies), (np.array([-1, 0]), frequencies)])
    0.5
    """
    known = np.any([codes >= 0 for codes, _ in parts], axis=0)
    wrong = np.any([(codes >= 0) & (codes != first_largest(means)) for codes, means in parts], axis=0)
    return float(np.mean(~wrong[known])) if known.any() else float("nan")
