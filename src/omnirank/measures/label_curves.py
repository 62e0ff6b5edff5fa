"""Areas under the ROC and precision-recall curves of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.types import ArrayLike, MatrixLike
from omnirank.data.containers import unmasked
from omnirank.measures.label_sets import as_labels
from omnirank.measures.precision_recall import auprc, pooled_auprc
from omnirank.measures.table import larger, mean_defined

MEAN_AUROC = larger("mean_auroc", "average AUROC", "mean over labels of the area under the ROC curve")
POOLED_AUPRC = larger("pooled_auprc", "AU(avg PRC)", "area under the PR curve of all (example, label) pairs")
# What `label_curve_measures` returns besides.
CURVE_MEASURES = (
    larger("mean_auprc", "average AUPRC", "mean over labels of the area under their PR curves"),
    larger("weighted_auprc", "weighted AUPRC", "the same mean, weighted by label frequency"),
)

_CELLS = 1_000_000  # cells ranked at a time: bounds the memory that thousands of labels would take


def auroc(truth: MatrixLike, scores: ArrayLike) -> float:
    """Return the area under the ROC curve of one label; 0.5 where all examples have it, or none.

    Parameters
    ----------
    truth : array-like of shape (n,)
        Whether an example has the label; NaN = unknown, left out.
    scores : array-like of shape (n,)
        The larger, the sooner the label is predicted.

    Examples
    --------
    >>> from omnirank.measures import auroc
    >>> auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), auroc([1, 1], [0.2, 0.3])
    (0.75, 0.5)
    """
    values, scores = np.asarray(unmasked(truth), np.float64), np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(values)
    return float(_aurocs(values[known, None], scores[known, None])[0]) if known.any() else float("nan")


def mean_auroc(truth: MatrixLike, scores: ArrayLike) -> float:
    """Return the mean over labels of the area under the ROC curve.

    Parameters
    ----------
    truth : array-like or sparse container of shape (n, L)
        Label sets as 0 and 1; NaN = unknown, left out.
    scores : array-like of shape (n, L)
        Predicted label frequencies.

    Returns
    -------
    float
        A label that all known examples have, or none, counts 0.5; one without a known example is left out.

    Examples
    --------
    >>> from omnirank.measures import mean_auroc
    >>> mean_auroc([[1, 1], [0, 1]], [[0.9, 0.3], [0.2, 0.1]])
    0.75
    """
    values, scores = _checked(truth, scores)
    if np.isnan(values).any():
        areas = np.array([auroc(*pair) for pair in zip(values.T, scores.T, strict=True)])
    else:
        step = max(1, _CELLS // max(1, len(values)))
        blocks = range(0, values.shape[1], step)
        areas = np.concatenate([_aurocs(values[:, at : at + step], scores[:, at : at + step]) for at in blocks])
    return mean_defined(areas)


def mean_auprc(truth: MatrixLike, scores: ArrayLike, only_present: bool = False) -> float:
    """Return the mean over labels of the area under the precision-recall curve.

    Parameters
    ----------
    truth, scores
        As in `mean_auroc`.
    only_present : bool
        Leave out labels that no example has, as studies of hierarchical classification do; otherwise they count 0,
        as in studies of multi-label classification. Labels without a known example are always left out.

    Examples
    --------
    >>> from omnirank.measures import mean_auprc
    >>> truth, scores = [[1, 0], [0, 0]], [[0.9, 0.3], [0.2, 0.1]]
    >>> mean_auprc(truth, scores), mean_auprc(truth, scores, only_present=True)
    (0.5, 1.0)
    """
    return label_curve_measures(truth, scores, only_present)["mean_auprc"]


def weighted_auprc(truth: MatrixLike, scores: ArrayLike) -> float:
    """Return the mean of the areas under labels' precision-recall curves, weighted by the shares of examples.

    Labels that no example has weigh nothing; NaN where that holds for all.

    Examples
    --------
    >>> from omnirank.measures import weighted_auprc
    >>> weighted_auprc([[1, 0], [1, 1]], [[0.9, 0.3], [0.2, 0.1]])
    0.75
    """
    return label_curve_measures(truth, scores)["weighted_auprc"]


def label_curve_measures(truth: MatrixLike, scores: ArrayLike, only_present: bool = False) -> dict[str, float]:
    """Return all measures that are areas under precision-recall curves.

    Parameters
    ----------
    truth, scores, only_present
        As in `mean_auprc`; labels that no example has are left out of the pooled curve as well.

    Examples
    --------
    >>> from omnirank.measures.label_curves import label_curve_measures
    >>> label_curve_measures([[1, 0], [1, 1]], [[0.9, 0.3], [0.2, 0.1]])["mean_auprc"]
    0.625
    """
    values, scores = _checked(truth, scores)
    areas = np.array([auprc(*pair) for pair in zip(values.T, scores.T, strict=True)])
    known = ~np.isnan(values)
    n_known = known.sum(axis=0)
    share = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n_known, 1)
    counted = (share > 0) if only_present else (n_known > 0)
    present = share > 0
    return {
        "mean_auprc": mean_defined(np.where(present, areas, 0.0)[counted]),
        "weighted_auprc": float(np.average(areas[present], weights=share[present])) if present.any() else float("nan"),
        "pooled_auprc": pooled_auprc(values, scores, only_present),
    }


def _aurocs(truth: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Areas of all columns from rank sums: the share of (positive, negative) pairs in order, ties half."""
    from scipy.stats import rankdata

    positive = truth > 0.5
    n_positive = positive.sum(axis=0)
    n_pairs = n_positive * (len(truth) - n_positive)
    above = (rankdata(scores, axis=0) * positive).sum(axis=0) - n_positive * (n_positive + 1) / 2
    return np.where(n_pairs > 0, above / np.maximum(n_pairs, 1), 0.5)


def _checked(truth: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    values, scores = as_labels(truth), np.asarray(scores, dtype=np.float64)
    if scores.shape != values.shape:
        raise DataError(f"scores of shape {scores.shape} for label sets of shape {values.shape}")
    return values, scores
