"""Measures of predicted label sets, of the order of labels, and of areas under their curves.

Y is an example's set of relevant labels, Z the predicted one. A label that is unknown (NaN) for an example is in
neither set. scikit-learn defines most of these for complete sets and is what the tests compare with; the code here
leaves out unknown labels, and settles 0/0 by whether the other set is empty, for which scikit-learn has no option.

One sort of every row serves all measures of the order in which scores put the labels of an example. Studies with CLUS
report other readings of them, which ``variant="clus"`` follows: one error asks whether the *thresholded* prediction of
the top label is right, coverage skips examples without relevant labels, and in the ranking loss equal scores are put in
the order of the labels instead of counting as errors.

Areas under precision-recall curves need an interpolation of their own. Between two points of a curve the numbers of
true and false positives change in proportion, so that precision is no straight line over recall: the curve passes
through

    (TP / P,  TP / (TP + FP)),   FP = FP_A + (FP_B - FP_A) (TP - TP_A) / (TP_B - TP_A)

for every whole number TP between the points A and B. The area is that of the trapezoids between these points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, choice
from omnirank.core.types import ArrayLike, MatrixLike
from omnirank.data.containers import checked_sparse, unmasked
from omnirank.data.table import is_sparse
from omnirank.measures.classes import F1_MACRO, SUBSET_ACCURACY
from omnirank.measures.decisions import reaches
from omnirank.measures.table import Measure, larger, mean_defined, smaller

ORDER_MEASURES = (
    smaller("one_error", "one error", "share of examples whose top label is not relevant"),
    smaller("coverage", "coverage", "mean number of top labels that hold all relevant ones"),
    smaller("ranking_loss", "ranking loss", "share of (relevant, irrelevant) label pairs in wrong order"),
    larger("average_precision", "average precision", "mean over relevant labels of precision at their rank"),
)
MEAN_AUROC = larger("mean_auroc", "average AUROC", "mean over labels of the area under the ROC curve")
POOLED_AUPRC = larger("pooled_auprc", "AU(avg PRC)", "area under the PR curve of all (example, label) pairs")
# What `label_curve_measures` returns besides.
CURVE_MEASURES = (
    larger("mean_auprc", "average AUPRC", "mean over labels of the area under their PR curves"),
    larger("weighted_auprc", "weighted AUPRC", "the same mean, weighted by label frequency"),
)
_CELLS = 1_000_000  # cells ranked at a time: bounds the memory that thousands of labels would take


def as_labels(truth: MatrixLike) -> np.ndarray:
    """Return label sets as a dense matrix of floats, NaN = unknown.

    Examples
    --------
    >>> from scipy import sparse
    >>> from omnirank.measures.labels import as_labels
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
    >>> from omnirank.measures.labels import label_set_measures
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
    return _one_error(_ordered(truth, scores), _checked_variant(variant), threshold)


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
    return _coverage(_ordered(truth, scores), _checked_variant(variant))


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
    return _ranking_loss(_ordered(truth, scores), _checked_variant(variant))


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
    >>> from omnirank.measures.labels import label_order_measures
    >>> label_order_measures([[1, 0]], [[0.9, 0.1]])
    {'one_error': 0.0, 'coverage': 1.0, 'ranking_loss': 0.0, 'average_precision': 1.0}
    """
    order, variant = _ordered(truth, scores), _checked_variant(variant)
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
    values, scores = _with_scores(truth, scores)
    if not values.shape[1]:
        raise DataError(f"there are no labels to order: label sets have shape {values.shape}")
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


def _checked_variant(variant: str) -> str:
    check("variant", variant, choice("standard", "clus"))
    return variant


def auprc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the precision-recall curve of one label; NaN where no example has it.

    Parameters
    ----------
    truth : array of 0 and 1
        Whether an example has the label; NaN = unknown, left out.
    scores : array
        The larger, the sooner the label is predicted.

    References
    ----------
    J. Davis, M. Goadrich: The relationship between precision-recall and ROC curves. ICML 2006.

    Examples
    --------
    Scores that say nothing give the share of positives:

    >>> import numpy as np
    >>> from omnirank.measures.labels import auprc
    >>> auprc(np.array([1, 0, 0, 0]), np.zeros(4))
    0.25
    >>> auprc(np.array([0, 1, 1]), np.array([0.1, 0.5, 0.7]))
    1.0
    """
    truth, scores = np.asarray(unmasked(truth), np.float64), np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(truth)
    if not known.all():
        truth, scores = truth[known], scores[known]
    distinct, group = np.unique(scores, return_inverse=True)
    n = len(distinct)
    positives = np.bincount(group, truth, n)
    return area_from_counts(positives[::-1], np.bincount(group, minlength=n)[::-1])


def pooled_auprc(truth: MatrixLike, scores: np.ndarray, only_present: bool = False) -> float:
    """Return the area under the average precision-recall curve: all (example, label) pairs as one problem.

    Parameters
    ----------
    truth : ndarray or sparse container (n, L) of 0 and 1
        The label sets; NaN = unknown, left out.
    scores : ndarray (n, L)
        Predicted label frequencies.
    only_present : bool
        Leave out labels that no example has, as studies of hierarchical classification do.

    References
    ----------
    Vens, Struyf, Schietgat, Dzeroski, Blockeel: Decision trees for hierarchical multi-label classification. Machine
    Learning 73, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.labels import pooled_auprc
    >>> truth = np.array([[1, 0, 0], [1, 1, 0]])
    >>> pooled_auprc(truth, np.zeros((2, 3))), pooled_auprc(truth, np.zeros((2, 3)), only_present=True)
    (0.5, 0.75)
    """
    values = checked_sparse(truth, "truth").toarray() if is_sparse(truth) else np.asarray(unmasked(truth), np.float64)
    scores = np.asarray(scores)
    if only_present:
        present = np.nansum(values, axis=0) > 0
        values, scores = values[:, present], scores[:, present]
    return auprc(values.ravel(), scores.ravel())


def area_from_counts(positives: np.ndarray, totals: np.ndarray) -> float:
    """Return the area from the counts of groups of equal score, the largest score first.

    Parameters
    ----------
    positives : array of whole numbers
        Pairs of the group that are positive.
    totals : array of whole numbers
        Pairs of the group.

    Examples
    --------
    From 5 true and 5 false positives to 10 and 30, of 20:

    >>> from omnirank.measures.labels import area_from_counts
    >>> round(area_from_counts([5, 5, 10], [10, 30, 60]), 4)
    0.3148
    """
    positives, totals = np.asarray(positives, np.float64), np.asarray(totals, np.float64)
    used = totals > 0
    true, predicted = np.cumsum(positives[used]), np.cumsum(totals[used])
    if not len(true) or true[-1] <= 0:
        return float("nan")
    n_positive = round(float(true[-1]))
    # Points at which a whole number of positives is reached, and from which the curve goes on after groups
    # without positives. Before the first group both numbers are 0, and precision is that of the group.
    at = np.arange(1, n_positive + 1)
    end = np.searchsorted(true, at)
    start_true = np.where(end > 0, true[end - 1], 0.0)
    start_predicted = np.where(end > 0, predicted[end - 1], 0.0)
    share = (at - start_true) / (true[end] - start_true)
    reached = at / (start_predicted + share * (predicted[end] - start_predicted))
    last = np.searchsorted(true, at, side="right") - 1
    left = np.where(true[last] == at, at / predicted[last], reached)
    first = true[0] / predicted[0]
    return float((first + reached.sum() + left[:-1].sum()) / 2 / n_positive)


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
    values, scores = _with_scores(truth, scores)
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
    >>> from omnirank.measures.labels import label_curve_measures
    >>> label_curve_measures([[1, 0], [1, 1]], [[0.9, 0.3], [0.2, 0.1]])["mean_auprc"]
    0.625
    """
    values, scores = _with_scores(truth, scores)
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


def _with_scores(truth: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    values, scores = as_labels(truth), np.asarray(scores, dtype=np.float64)
    if scores.shape != values.shape:
        raise DataError(f"scores of shape {scores.shape} for label sets of shape {values.shape}")
    return values, scores
