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

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, choice
from omnirank.core.types import ArrayLike, MatrixLike
from omnirank.data.containers import checked_sparse, unmasked
from omnirank.data.table import is_sparse
from omnirank.measures.table import F1_MACRO, SUBSET_ACCURACY, larger, mean_defined, reaches, smaller

# What `label_set_measures` returns.
SET_MEASURES = (
    SUBSET_ACCURACY,
    F1_MACRO,
    smaller("hamming_loss", "Hamming loss", "share of (example, label) pairs that are wrong"),
    larger("jaccard_samples", "multi-label accuracy", "mean over examples of right / relevant or predicted labels"),
    larger("precision_samples", "multi-label precision", "mean over examples of right / predicted labels"),
    larger("recall_samples", "multi-label recall", "mean over examples of right / relevant labels"),
    larger("f1_samples", "multi-label F1", "mean over examples of F1 of their two sets"),
    larger("precision_micro", "micro precision", "TP / (TP + FP) of all labels together"),
    larger("recall_micro", "micro recall", "TP / (TP + FN) of all labels together"),
    larger("f1_micro", "micro F1", "2 TP / (2 TP + FP + FN) of all labels together"),
    larger("precision_macro", "macro precision", "mean over labels of TP / (TP + FP)"),
    larger("recall_macro", "macro recall", "mean over labels of TP / (TP + FN)"),
)
# What `label_order_measures` returns.
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


# -- label sets -----------------------------------------------------------------------------------


def label_set_measures(truth: MatrixLike, predicted: ArrayLike) -> dict[str, float]:
    """Return all measures of predicted label sets.

    Over examples: subset accuracy is the share with Y = Z, multi-label accuracy (``jaccard_samples``) the mean of
    ``|Y & Z| / |Y | Z|``, precision that of ``|Y & Z| / |Z|``, recall that of ``|Y & Z| / |Y|``, and F1 that of
    ``2 |Y & Z| / (|Y| + |Z|)``; 0/0 counts 1 where the other set is empty as well, else 0. Over labels: TP / (TP + FP),
    TP / (TP + FN) and 2 TP / (2 TP + FP + FN), of all labels together (micro) or as the mean over labels (macro); 0/0
    counts 0.

    Parameters
    ----------
    truth : array-like or sparse container of shape (n, L)
        Label sets as 0 and 1; NaN = unknown, left out.
    predicted : array-like of shape (n, L)
        Predicted label sets.

    Examples
    --------
    >>> from omnirank.measures import label_set_measures
    >>> found = label_set_measures([[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]])
    >>> found["subset_accuracy"], found["jaccard_samples"], found["recall_micro"]
    (0.6666666666666666, 0.8333333333333334, 0.6666666666666666)
    """
    relevant, chosen, known = _sets(truth, predicted)
    both = relevant & chosen
    in_both, in_truth, in_chosen = (sets.sum(axis=1) for sets in (both, relevant, chosen))  # by example
    right, true, predicted_counts = (sets.sum(axis=0) for sets in (both, relevant, chosen))  # by label
    return {
        "subset_accuracy": float(np.mean((relevant == chosen).all(axis=1))),
        "f1_macro": float(np.mean(_share(2 * right, true + predicted_counts))),
        "hamming_loss": _hamming_loss(relevant, chosen, known),
        "jaccard_samples": float(np.mean(_share(in_both, (relevant | chosen).sum(axis=1), 1.0))),
        "precision_samples": float(np.mean(_share(in_both, in_chosen, in_truth == 0))),
        "recall_samples": float(np.mean(_share(in_both, in_truth, in_chosen == 0))),
        "f1_samples": float(np.mean(_share(2 * in_both, in_truth + in_chosen, 1.0))),
        "precision_micro": float(_share(right.sum(), predicted_counts.sum())),
        "recall_micro": float(_share(right.sum(), true.sum())),
        "f1_micro": float(_share(2 * right.sum(), true.sum() + predicted_counts.sum())),
        "precision_macro": float(np.mean(_share(right, predicted_counts))),
        "recall_macro": float(np.mean(_share(right, true))),
    }


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
    return _hamming_loss(*_sets(truth, predicted), weights)


def _hamming_loss(relevant: np.ndarray, chosen: np.ndarray, known: np.ndarray, weights: Any = None) -> float:
    wrong = (relevant != chosen).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return float(np.mean(wrong if weights is None else np.asarray(weights, dtype=np.float64) * wrong))


def _sets(truth: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks of the relevant, the predicted and the known labels; what is unknown is in neither set."""
    values, predicted = as_labels(truth), np.asarray(predicted)
    if predicted.shape != values.shape:
        raise DataError(f"predictions of shape {predicted.shape} for label sets of shape {values.shape}")
    known = ~np.isnan(values)
    return values > 0.5, (predicted > 0.5) & known, known


def _share(part: Any, whole: Any, undefined: Any = 0.0) -> Any:
    """The quotient, where 0/0 is what the measure takes it for."""
    return np.where(whole > 0, part / np.maximum(whole, 1), undefined)


# -- the order of labels --------------------------------------------------------------------------


def label_order_measures(
    truth: MatrixLike, scores: ArrayLike, variant: str = "standard", threshold: float = 0.5
) -> dict[str, float]:
    """Return all measures of the order in which scores put the labels of an example.

    One error is the share of examples whose top label is not relevant (of equal scores the first label is the top),
    coverage the mean number of labels that score at least as high as all relevant ones (at best the mean number of
    relevant labels, as in scikit-learn; some texts subtract 1), ranking loss the mean share of (relevant, irrelevant)
    pairs in the wrong order, and average precision the mean over relevant labels of the precision down to the label.
    An example with all or no labels relevant counts 0 in the ranking loss and 1 in average precision.

    Parameters
    ----------
    truth : array-like or sparse container of shape (n, L)
        Label sets as 0 and 1; NaN = unknown, left out.
    scores : array-like of shape (n, L)
        Predicted label frequencies.
    variant : {"standard", "clus"}
        In the second, a top label is an error when its prediction, score >= ``threshold``, is not its truth; coverage
        skips examples without relevant labels, which count 0 in the first; and of equal scores the label that comes
        first is taken to score higher in the ranking loss, where equal scores are wrong in the first.
    threshold : float
        For ``variant="clus"``.

    Examples
    --------
    >>> from omnirank.measures import label_order_measures
    >>> label_order_measures([[1, 0]], [[0.9, 0.1]])
    {'one_error': 0.0, 'coverage': 1.0, 'ranking_loss': 0.0, 'average_precision': 1.0}
    >>> label_order_measures([[1, 0, 0]], [[0.5, 0.7, 0.5]], variant="clus")["ranking_loss"]
    0.5
    """
    check("variant", variant, choice("standard", "clus"))
    order = _ordered(truth, scores)
    return {
        "one_error": _one_error(order, variant, threshold),
        "coverage": _coverage(order, variant),
        "ranking_loss": _ranking_loss(order, variant),
        "average_precision": _average_precision(order),
    }


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


# -- areas under curves ---------------------------------------------------------------------------


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
