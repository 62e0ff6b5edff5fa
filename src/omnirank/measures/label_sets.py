"""Measures of predicted label sets: over examples, and over labels.

Y is an example's set of relevant labels, Z the predicted one. A label that is unknown (NaN) for an example is in
neither set. scikit-learn defines most of these for complete sets and is what the tests compare with; the code here
leaves out unknown labels, and settles 0/0 by whether the other set is empty, for which scikit-learn has no option.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.types import ArrayLike, MatrixLike
from omnirank.data.containers import checked_sparse, unmasked
from omnirank.data.table import is_sparse
from omnirank.measures.classes import F1_MACRO, SUBSET_ACCURACY
from omnirank.measures.table import Measure, larger, smaller


def as_labels(truth: MatrixLike) -> np.ndarray:
    """Return label sets as a dense matrix of floats, NaN = unknown.

    Examples
    --------
    >>> from scipy import sparse
    >>> from omnirank.measures.label_sets import as_labels
    >>> as_labels(sparse.csr_array([[1, 0]])).tolist()
    [[1.0, 0.0]]
    """
    values = checked_sparse(truth, "truth").toarray() if is_sparse(truth) else np.asarray(unmasked(truth), np.float64)
    if values.ndim != 2:
        raise DataError(f"label sets are a matrix of examples and labels, not an array of shape {values.shape}")
    return values.astype(np.float64, copy=False)


# -- over examples --------------------------------------------------------------------------------


def hamming_loss(truth: MatrixLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the mean over labels of the share of examples for which the label is wrong, times its weight.

    Parameters
    ----------
    truth : array-like or sparse container of shape (n, L)
        Label sets as 0 and 1; NaN = unknown, left out.
    predicted : array-like of shape (n, L)
        Predicted label sets.
    weights : array-like of shape (L,), optional
        Weight of each label, such as `Hierarchy.weights`; by default 1.

    Returns
    -------
    float
        A label that no example knows counts 0, as in the error of the task.

    Examples
    --------
    >>> from omnirank.measures import hamming_loss
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]]), hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]], [1, 0.75])
    (0.25, 0.25)
    """
    relevant, chosen, known = _sets(truth, predicted)
    wrong = (relevant != chosen).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return float(np.mean(wrong if weights is None else np.asarray(weights, dtype=np.float64) * wrong))


def subset_accuracy(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return the share of examples with Y = Z.

    Examples
    --------
    >>> from omnirank.measures import subset_accuracy
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    relevant, chosen, _ = _sets(truth, predicted)
    return float(np.mean((relevant == chosen).all(axis=1)))


def jaccard_samples(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return multi-label accuracy, the mean over examples of ``|Y & Z| / |Y | Z|``; 1 where both are empty.

    Examples
    --------
    >>> from omnirank.measures import jaccard_samples
    >>> jaccard_samples([[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]])
    0.8333333333333334
    """
    relevant, chosen, _ = _sets(truth, predicted)
    return _mean_share((relevant & chosen).sum(axis=1), (relevant | chosen).sum(axis=1), 1.0)


def precision_samples(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return multi-label precision, the mean over examples of ``|Y & Z| / |Z|``; for empty Z 1 if Y is empty, else 0.

    Examples
    --------
    >>> from omnirank.measures import precision_samples
    >>> precision_samples([[1, 0], [1, 0], [0, 0]], [[1, 1], [0, 0], [0, 0]])
    0.5
    """
    relevant, chosen, _ = _sets(truth, predicted)
    return _mean_share((relevant & chosen).sum(axis=1), chosen.sum(axis=1), ~relevant.any(axis=1))


def recall_samples(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return multi-label recall, the mean over examples of ``|Y & Z| / |Y|``; for empty Y 1 if Z is empty, else 0.

    Examples
    --------
    >>> from omnirank.measures import recall_samples
    >>> recall_samples([[1, 1], [0, 0], [0, 0]], [[1, 0], [0, 1], [0, 0]])
    0.5
    """
    relevant, chosen, _ = _sets(truth, predicted)
    return _mean_share((relevant & chosen).sum(axis=1), relevant.sum(axis=1), ~chosen.any(axis=1))


def f1_samples(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return multi-label F1, the mean over examples of ``2 |Y & Z| / (|Y| + |Z|)``; 1 where both are empty.

    Examples
    --------
    >>> from omnirank.measures import f1_samples
    >>> f1_samples([[1, 1], [0, 0]], [[1, 0], [0, 0]])
    0.8333333333333333
    """
    relevant, chosen, _ = _sets(truth, predicted)
    return _mean_share(2 * (relevant & chosen).sum(axis=1), relevant.sum(axis=1) + chosen.sum(axis=1), 1.0)


# -- over labels ----------------------------------------------------------------------------------


def precision_micro(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return TP / (TP + FP) of all labels together; 0 where nothing is predicted.

    Examples
    --------
    >>> from omnirank.measures import precision_micro
    >>> precision_micro([[1, 0], [1, 0]], [[1, 1], [0, 0]])
    0.5
    """
    both, _, chosen = _label_counts(truth, predicted)
    return float(_share(both.sum(), chosen.sum()))


def recall_micro(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return TP / (TP + FN) of all labels together; 0 where nothing is relevant.

    Examples
    --------
    >>> from omnirank.measures import recall_micro
    >>> recall_micro([[1, 1], [1, 1]], [[1, 0], [0, 0]])
    0.25
    """
    both, relevant, _ = _label_counts(truth, predicted)
    return float(_share(both.sum(), relevant.sum()))


def f1_micro(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return 2 TP / (2 TP + FP + FN) of all labels together; 0 where nothing is relevant or predicted.

    Examples
    --------
    >>> from omnirank.measures import f1_micro
    >>> f1_micro([[1, 1], [1, 0]], [[1, 0], [0, 0]])
    0.5
    """
    both, relevant, chosen = _label_counts(truth, predicted)
    return float(_share(2 * both.sum(), relevant.sum() + chosen.sum()))


def precision_macro(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return the mean over labels of TP / (TP + FP); a label that is never predicted counts 0.

    Examples
    --------
    >>> from omnirank.measures import precision_macro
    >>> precision_macro([[1, 1], [1, 0]], [[1, 0], [1, 0]])
    0.5
    """
    both, _, chosen = _label_counts(truth, predicted)
    return float(np.mean(_share(both, chosen)))


def recall_macro(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return the mean over labels of TP / (TP + FN); a label that no example has counts 0.

    Examples
    --------
    >>> from omnirank.measures import recall_macro
    >>> recall_macro([[1, 0], [1, 0]], [[1, 0], [0, 1]])
    0.25
    """
    both, relevant, _ = _label_counts(truth, predicted)
    return float(np.mean(_share(both, relevant)))


def f1_macro(truth: MatrixLike, predicted: ArrayLike) -> float:
    """Return the mean over labels of 2 TP / (2 TP + FP + FN); a label neither present nor predicted counts 0.

    Examples
    --------
    >>> from omnirank.measures import f1_macro
    >>> f1_macro([[1, 0], [1, 0]], [[1, 0], [1, 0]])
    0.5
    """
    both, relevant, chosen = _label_counts(truth, predicted)
    return float(np.mean(_share(2 * both, relevant + chosen)))


# Every measure of predicted label sets, and what it is.
_DESCRIBED: dict[Callable[..., float], Measure] = {
    subset_accuracy: SUBSET_ACCURACY,
    f1_macro: F1_MACRO,
    hamming_loss: smaller("hamming_loss", "Hamming loss", "share of (example, label) pairs that are wrong"),
    jaccard_samples: larger(
        "jaccard_samples", "multi-label accuracy", "mean over examples of right / relevant or predicted labels"
    ),
    precision_samples: larger(
        "precision_samples", "multi-label precision", "mean over examples of right / predicted labels"
    ),
    recall_samples: larger("recall_samples", "multi-label recall", "mean over examples of right / relevant labels"),
    f1_samples: larger("f1_samples", "multi-label F1", "mean over examples of F1 of their two sets"),
    precision_micro: larger("precision_micro", "micro precision", "TP / (TP + FP) of all labels together"),
    recall_micro: larger("recall_micro", "micro recall", "TP / (TP + FN) of all labels together"),
    f1_micro: larger("f1_micro", "micro F1", "2 TP / (2 TP + FP + FN) of all labels together"),
    precision_macro: larger("precision_macro", "macro precision", "mean over labels of TP / (TP + FP)"),
    recall_macro: larger("recall_macro", "macro recall", "mean over labels of TP / (TP + FN)"),
}
SET_MEASURES = tuple(_DESCRIBED.values())


def label_set_measures(truth: MatrixLike, predicted: ArrayLike) -> dict[str, float]:
    """Return all measures of predicted label sets.

    Examples
    --------
    >>> from omnirank.measures.label_sets import label_set_measures
    >>> label_set_measures([[1, 0], [1, 1]], [[1, 0], [0, 1]])["hamming_loss"]
    0.25
    """
    return {found.name: function(truth, predicted) for function, found in _DESCRIBED.items()}


# -- parts ----------------------------------------------------------------------------------------


def _sets(truth: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks of the relevant, the predicted and the known labels; what is unknown is in neither set."""
    values, predicted = as_labels(truth), np.asarray(predicted)
    if predicted.shape != values.shape:
        raise DataError(f"predictions of shape {predicted.shape} for label sets of shape {values.shape}")
    known = ~np.isnan(values)
    return values > 0.5, (predicted > 0.5) & known, known


def _label_counts(truth: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often every label is relevant and predicted, relevant, predicted."""
    relevant, chosen, _ = _sets(truth, predicted)
    return (relevant & chosen).sum(axis=0), relevant.sum(axis=0), chosen.sum(axis=0)


def _share(part: Any, whole: Any) -> Any:
    """The quotient; 0 for 0/0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)


def _mean_share(part: np.ndarray, whole: np.ndarray, undefined: Any) -> float:
    return float(np.mean(np.where(whole > 0, part / np.maximum(whole, 1), undefined)))
