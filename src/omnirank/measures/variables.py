"""Measures of variables: predicted classes, most of them from the confusion matrix, and predicted numbers.

Confusion matrices of folds may be added up before a measure is taken, which is the right way for measures that are no
means over examples, such as F1. What is unknown (-1 in codes of classes, NaN in numbers) is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from omnirank.core.types import ArrayLike
from omnirank.core.variances import column_units, divided
from omnirank.data.containers import unmasked
from omnirank.measures.labels import mean_auroc
from omnirank.measures.table import first_largest, larger, mean_defined, smaller

ACCURACY = larger("accuracy", "accuracy", "share of examples whose class is predicted")
# What `class_measures` returns besides.
CLASS_MEASURES = (
    larger("balanced_accuracy", "balanced accuracy", "mean over classes of recall"),
    larger("kappa", "Cohen's kappa", "accuracy above chance, relative to the largest possible"),
    larger("mcc", "Matthews' coefficient", "correlation of true and predicted classes"),
    larger("auroc", "AUROC", "mean over classes of the area under class-against-rest ROC curves"),
    smaller("log_loss", "log-loss", "mean of -log of the predicted frequency of the true class"),
)
RRMSE = smaller("rrmse", "RRMSE", "mean over targets of sqrt(MSE / variance)")
# What `number_measures` returns besides.
NUMBER_MEASURES = (
    smaller("rmse", "RMSE", "mean over targets of sqrt(MSE)"),
    smaller("mae", "MAE", "mean over targets of the mean absolute error"),
    larger("r2", "R²", "mean over targets of 1 - MSE / variance in the test set"),
)


# -- classes --------------------------------------------------------------------------------------


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


def confusion_measures(confusion: ArrayLike) -> dict[str, float]:
    """Return the measures that a confusion matrix determines; all NaN for an empty one.

    All but accuracy are undefined (NaN) where one class occurs: a constant prediction would be perfect.

    Macro F1 is the mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that occur or are predicted, accuracy the
    share of examples on the diagonal, and balanced accuracy the mean of recall over the classes that occur. Cohen's
    kappa is (p_o - p_e) / (1 - p_e). Matthews' coefficient is defined for any number of classes, and 0 where one class
    is predicted.

    Parameters
    ----------
    confusion : array-like of shape (K, K)
        Counts of (true class, predicted class), of one part or added up over several.

    Examples
    --------
    >>> from omnirank.measures import confusion_measures
    >>> confusion_measures([[3, 1], [1, 3]])["kappa"]
    0.5
    """
    counts = np.asarray(confusion, dtype=np.float64)
    n, right, true, predicted = counts.sum(), np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    if np.count_nonzero(true) < 2:
        undefined = dict.fromkeys(("f1_macro", "accuracy", "balanced_accuracy", "kappa", "mcc"), float("nan"))
        return undefined | ({"accuracy": float(right.sum() / n)} if n else {})
    seen = true + predicted
    by_chance = float(predicted @ true) / n
    spread = (n**2 - true @ true) * (n**2 - predicted @ predicted)
    return {
        "f1_macro": float(np.mean(2 * right[seen > 0] / seen[seen > 0])),
        "accuracy": float(right.sum() / n),
        "balanced_accuracy": float(np.mean(right[true > 0] / true[true > 0])),
        "kappa": float((right.sum() - by_chance) / (n - by_chance)),
        "mcc": float((right.sum() * n - true @ predicted) / np.sqrt(spread)) if spread > 0 else 0.0,
    }


def class_auroc(codes: ArrayLike, frequencies: ArrayLike) -> float:
    """Return the mean over the classes that occur of the area under the ROC curve, class against rest.

    For two classes this is the usual area. With a single class no order can be wrong or right: NaN.

    Parameters
    ----------
    codes, frequencies
        As in `confusion_matrix`.

    Examples
    --------
    >>> from omnirank.measures import class_auroc
    >>> class_auroc([0, 0, 1], [[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    0.5
    """
    codes, frequencies = np.ma.filled(codes, -1), np.asarray(frequencies, dtype=np.float64)
    known = codes >= 0
    occurring = np.unique(codes[known])
    if len(occurring) < 2:
        return float("nan")
    truth = (codes[known, None] == occurring).astype(np.float64)
    return mean_auroc(truth, frequencies[known][:, occurring])


def log_loss(codes: ArrayLike, frequencies: ArrayLike) -> float:
    """Return the mean of -log of the predicted frequency of the true class.

    Frequencies are divided by their sum (a row of zeros says nothing: all classes alike), and 0 counts as the
    smallest step of a float, 2.2e-16, as in scikit-learn: one such miss costs 36.

    Parameters
    ----------
    codes, frequencies
        As in `confusion_matrix`.

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
    of_true_class = shares[np.arange(len(shares)), codes[known]]
    smallest = np.finfo(np.float64).eps
    return float(-np.log(np.clip(of_true_class, smallest, 1 - smallest)).mean()) if shares.shape[1] > 1 else 0.0


def class_measures(codes: np.ndarray, frequencies: np.ndarray) -> dict[str, float]:
    """Return all measures of one predicted class; NaN where no example's class is known.

    Parameters
    ----------
    codes, frequencies
        As in `confusion_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures import class_measures
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
    >>> from omnirank.measures.variables import exact_match
    >>> frequencies = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> exact_match([(np.array([0, 1]), frequencies), (np.array([-1, 0]), frequencies)])
    0.5
    """
    known = np.any([codes >= 0 for codes, _ in parts], axis=0)
    wrong = np.any([(codes >= 0) & (codes != first_largest(means)) for codes, means in parts], axis=0)
    return float(np.mean(~wrong[known])) if known.any() else float("nan")


# -- numbers --------------------------------------------------------------------------------------


def rrmse(truth: ArrayLike, predicted: ArrayLike, variance: ArrayLike | None = None) -> float:
    """Return the relative root mean squared error: the mean over targets of sqrt(MSE / variance).

    Parameters
    ----------
    truth, predicted : array-like of shape (n,) or (n, T)
        Numbers; NaN in the truth is unknown.
    variance : array-like of shape (T,), optional
        Variance of each target, such as that of the training set; by default that of the truth.

    Returns
    -------
    float
        Targets with variance 0 or without a known value are left out; NaN where none is left.

    Examples
    --------
    >>> from omnirank.measures import rrmse
    >>> rrmse([0.0, 2.0], [0.0, 1.0]), rrmse([0.0, 2.0], [0.0, 1.0], variance=[2.0])
    (0.7071067811865476, 0.5)
    """
    return mean_defined(rrmse_by_target(truth, predicted, variance))


def rrmse_by_target(truth: ArrayLike, predicted: ArrayLike, variance: ArrayLike | None = None) -> np.ndarray:
    """Return the relative root mean squared error of every target; NaN where it is undefined.

    Parameters
    ----------
    truth, predicted, variance
        As in `rrmse`.

    Examples
    --------
    >>> from omnirank.measures import rrmse_by_target
    >>> rrmse_by_target([[0.0, 5.0], [2.0, 5.0]], [[1.0, 5.0], [1.0, 5.0]]).tolist()
    [1.0, nan]
    """
    true, guessed = _columns(truth), _columns(predicted)
    if variance is None:
        unit = column_units(true)
        true, guessed = divided(true, unit), divided(guessed, unit)
        variance = _variance(true)
    variance = np.atleast_1d(np.asarray(variance, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, np.sqrt(_mean_squares(true, guessed) / variance), np.nan)


def rmse(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over targets of the root mean squared error.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,) or (n, T)
        Numbers; NaN in the truth is unknown.

    Examples
    --------
    >>> from omnirank.measures import rmse
    >>> rmse([0.0, 2.0], [3.0, -1.0])
    3.0
    """
    truth, predicted = _columns(truth), _columns(predicted)
    unit = column_units(np.vstack([truth, predicted]))
    return mean_defined(np.sqrt(_mean_squares(divided(truth, unit), divided(predicted, unit))) * unit)


def mae(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over targets of the mean absolute error.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,) or (n, T)
        Numbers; NaN in the truth is unknown.

    Examples
    --------
    >>> from omnirank.measures import mae
    >>> mae([0.0, 2.0], [3.0, 1.0])
    2.0
    """
    truth, predicted = _columns(truth), _columns(predicted)
    unit = column_units(np.vstack([truth, predicted]))
    return mean_defined(known_means(np.abs(divided(truth, unit) - divided(predicted, unit))) * unit)


def r2(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over targets of the coefficient of determination, 1 - MSE / variance of the truth.

    Targets that are constant in the truth are left out, where scikit-learn sets 0 or 1; NaN where none is left.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,) or (n, T)
        Numbers; NaN in the truth is unknown.

    Examples
    --------
    >>> from omnirank.measures import r2
    >>> r2([0.0, 2.0], [0.0, 1.0])
    0.5
    """
    true, guessed = _columns(truth), _columns(predicted)
    unit = column_units(true)
    true, guessed = divided(true, unit), divided(guessed, unit)
    variance = _variance(true)
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean_defined(np.where(variance > 0, 1 - _mean_squares(true, guessed) / variance, np.nan))


def number_measures(
    truth: np.ndarray, predicted: np.ndarray, variance: np.ndarray, unit: np.ndarray
) -> dict[str, float]:
    """Return all measures of predicted numbers.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n, T)
        Numbers; NaN in the truth is unknown.
    variance, unit : ndarray of shape (T,)
        Variance of each target in units of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.variables import number_measures
    >>> number_measures(np.array([[0.0], [2.0]]), np.array([[1.0], [1.0]]), np.array([4.0]), np.ones(1))
    {'rrmse': 0.5, 'rmse': 1.0, 'mae': 1.0, 'r2': 0.0}
    """
    return {
        "rrmse": rrmse(divided(truth, unit), divided(predicted, unit), variance),
        "rmse": rmse(truth, predicted),
        "mae": mae(truth, predicted),
        "r2": r2(truth, predicted),
    }


def _columns(values: Any) -> np.ndarray:
    array = np.asarray(unmasked(values), np.float64)
    return array[:, None] if array.ndim == 1 else array


def known_means(values: np.ndarray) -> np.ndarray:
    """Return the mean of the known values of every column; NaN where there is none."""
    known = ~np.isnan(values)
    n_known = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return np.divide(sums, n_known, out=np.full(values.shape[1], np.nan), where=n_known > 0)


def _mean_squares(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return known_means((truth - predicted) ** 2)


def _variance(truth: np.ndarray) -> np.ndarray:
    """Biased variance of the known values; exactly 0 for a constant, whose mean may be rounded."""
    constant = np.array([len(np.unique(cells[~np.isnan(cells)])) < 2 for cells in truth.T], dtype=bool)
    return np.where(constant, 0.0, known_means((truth - known_means(truth)) ** 2))
