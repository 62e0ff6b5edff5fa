"""Measures of the order in which scores put the labels of an example.

One sort of every row serves all of them. scikit-learn has three of the four and is what the tests compare with; its
loop over examples would take most of the time of an evaluation, and it has no unknown labels.

Studies with CLUS report other readings, which ``variant="clus"`` follows: one error asks whether the *thresholded*
prediction of the top label is right, coverage skips examples without relevant labels, and in the ranking loss equal
scores are put in the order of the labels instead of counting as errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, choice
from omnirank.core.types import ArrayLike, MatrixLike
from omnirank.measures.decisions import reaches
from omnirank.measures.label_sets import as_labels
from omnirank.measures.table import larger, mean_defined, smaller

ORDER_MEASURES = (
    smaller("one_error", "one error", "share of examples whose top label is not relevant"),
    smaller("coverage", "coverage", "mean number of top labels that hold all relevant ones"),
    smaller("ranking_loss", "ranking loss", "share of (relevant, irrelevant) label pairs in wrong order"),
    larger("average_precision", "average precision", "mean over relevant labels of precision at their rank"),
)


@dataclass(frozen=True, eq=False)
class _Order:
    """Labels of every example by decreasing score; unknown ones last, and counted nowhere.

    ``relevant`` and ``irrelevant`` are masks in that order. ``end`` is the last place with the same score.
    """

    scores: np.ndarray
    relevant: np.ndarray
    irrelevant: np.ndarray
    end: np.ndarray

    @property
    def n_relevant(self) -> np.ndarray:
        return self.relevant.sum(axis=1)

    @property
    def n_irrelevant(self) -> np.ndarray:
        return self.irrelevant.sum(axis=1)


def one_error(truth: MatrixLike, scores: ArrayLike, variant: str = "standard", threshold: float = 0.5) -> float:
    """Return the share of examples whose top-scored label is not relevant; the first label of ties is the top.

    Parameters
    ----------
    truth : array-like or sparse container of shape (n, L)
        Label sets as 0 and 1; NaN = unknown, left out.
    scores : array-like of shape (n, L)
        Predicted label frequencies.
    variant : {"standard", "clus"}
        In the second, a top label is an error when its prediction, score >= ``threshold``, is not its truth: an
        irrelevant top label with a low score is none.
    threshold : float
        For ``variant="clus"``.

    Returns
    -------
    float
        An example without relevant labels is an error in the standard variant.

    Examples
    --------
    >>> from omnirank.measures import one_error
    >>> one_error([[1, 0], [0, 1]], [[0.9, 0.1], [0.4, 0.2]])
    0.5
    >>> one_error([[1, 0], [0, 1]], [[0.9, 0.1], [0.4, 0.2]], variant="clus")
    0.0
    """
    return _one_error(_ordered(truth, scores), _checked(variant), threshold)


def coverage(truth: MatrixLike, scores: ArrayLike, variant: str = "standard") -> float:
    """Return the mean over examples of the number of labels that score at least as high as all relevant ones.

    Parameters
    ----------
    truth, scores
        As in `one_error`.
    variant : {"standard", "clus"}
        An example without relevant labels counts 0 in the first, and is skipped in the second.

    Returns
    -------
    float
        At best the mean number of relevant labels, as in scikit-learn; some texts subtract 1. NaN where all examples
        are skipped.

    Examples
    --------
    >>> from omnirank.measures import coverage
    >>> coverage([[1, 0, 0], [0, 0, 1]], [[0.9, 0.1, 0.0], [0.4, 0.2, 0.2]])
    2.0
    """
    return _coverage(_ordered(truth, scores), _checked(variant))


def ranking_loss(truth: MatrixLike, scores: ArrayLike, variant: str = "standard") -> float:
    """Return the mean over examples of the share of (relevant, irrelevant) pairs of labels in the wrong order.

    Parameters
    ----------
    truth, scores
        As in `one_error`.
    variant : {"standard", "clus"}
        Equal scores are wrong in the first; in the second the label that comes first is taken to score higher.

    Returns
    -------
    float
        An example without such pairs counts 0.

    Examples
    --------
    >>> from omnirank.measures import ranking_loss
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.7, 0.5]]), ranking_loss([[1, 0, 0]], [[0.5, 0.7, 0.5]], variant="clus")
    (1.0, 0.5)
    """
    return _ranking_loss(_ordered(truth, scores), _checked(variant))


def average_precision(truth: MatrixLike, scores: ArrayLike) -> float:
    """Return the mean over examples of the mean over their relevant labels of the precision down to the label.

    An example with all or no labels relevant counts 1, as in scikit-learn.

    Examples
    --------
    >>> from omnirank.measures import average_precision
    >>> average_precision([[1, 0, 1]], [[0.9, 0.5, 0.1]])
    0.8333333333333333
    """
    return _average_precision(_ordered(truth, scores))


def label_order_measures(
    truth: MatrixLike, scores: ArrayLike, variant: str = "standard", threshold: float = 0.5
) -> dict[str, float]:
    """Return all measures of the order of labels.

    Examples
    --------
    >>> from omnirank.measures.label_order import label_order_measures
    >>> label_order_measures([[1, 0]], [[0.9, 0.1]])
    {'one_error': 0.0, 'coverage': 1.0, 'ranking_loss': 0.0, 'average_precision': 1.0}
    """
    order, variant = _ordered(truth, scores), _checked(variant)
    return {
        "one_error": _one_error(order, variant, threshold),
        "coverage": _coverage(order, variant),
        "ranking_loss": _ranking_loss(order, variant),
        "average_precision": _average_precision(order),
    }


# -- the measures of ordered labels ---------------------------------------------------------------


def _one_error(order: _Order, variant: str, threshold: float) -> float:
    known = order.relevant[:, 0] | order.irrelevant[:, 0]
    expected = reaches(order.scores[:, 0], threshold) if variant == "clus" else np.ones(len(known), dtype=bool)
    return mean_defined((order.relevant[:, 0] != expected)[known])


def _coverage(order: _Order, variant: str) -> float:
    n_known = np.cumsum(order.relevant | order.irrelevant, axis=1)
    reached = np.take_along_axis(n_known, order.end, axis=1)
    deepest = np.where(order.relevant, reached, 0).max(axis=1)
    return mean_defined(deepest[order.n_relevant > 0] if variant == "clus" else deepest)


def _ranking_loss(order: _Order, variant: str) -> float:
    above = np.cumsum(order.irrelevant, axis=1)
    if variant == "standard":
        above = np.take_along_axis(above, order.end, axis=1)
    wrong = np.where(order.relevant, above, 0).sum(axis=1)
    return mean_defined(wrong / np.maximum(order.n_relevant * order.n_irrelevant, 1))


def _average_precision(order: _Order) -> float:
    at_least = np.take_along_axis(np.cumsum(order.relevant | order.irrelevant, axis=1), order.end, axis=1)
    right = np.take_along_axis(np.cumsum(order.relevant, axis=1), order.end, axis=1)
    precision = np.where(order.relevant, right / np.maximum(at_least, 1), 0.0).sum(axis=1)
    n_relevant = order.n_relevant
    decided = (n_relevant > 0) & (order.n_irrelevant > 0)
    return mean_defined(np.where(decided, precision / np.maximum(n_relevant, 1), 1.0))


def _ordered(truth: Any, scores: Any) -> _Order:
    values, scores = as_labels(truth), np.asarray(scores, dtype=np.float64)
    if scores.shape != values.shape or not values.shape[1]:
        raise DataError(f"scores of shape {scores.shape} for label sets of shape {values.shape}")
    unknown = np.isnan(values)
    scores = np.where(unknown, -np.inf, scores)
    place = np.argsort(-scores, axis=1, kind="stable")
    values, scores = np.take_along_axis(values, place, axis=1), np.take_along_axis(scores, place, axis=1)
    n_labels = values.shape[1]
    last = np.empty(values.shape, dtype=bool)
    last[:, -1] = True
    last[:, :-1] = scores[:, :-1] != scores[:, 1:]
    ends = np.where(last, np.arange(n_labels), n_labels)
    end = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return _Order(scores, values > 0.5, values <= 0.5, end)


def _checked(variant: str) -> str:
    check("variant", variant, choice("standard", "clus"))
    return variant
