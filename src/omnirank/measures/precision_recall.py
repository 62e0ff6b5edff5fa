"""Areas under precision-recall curves, with the interpolation that precision needs.

Between two points of a curve the numbers of true and false positives change in proportion, so that precision is no
straight line over recall: the curve passes through

    (TP / P,  TP / (TP + FP)),   FP = FP_A + (FP_B - FP_A) (TP - TP_A) / (TP_B - TP_A)

for every whole number TP between the points A and B. The area is that of the trapezoids between these points.
"""

from __future__ import annotations

import numpy as np

from omnirank.core.types import MatrixLike
from omnirank.data.containers import checked_sparse, unmasked
from omnirank.data.table import is_sparse


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
    >>> from omnirank.measures.precision_recall import auprc
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
    >>> from omnirank.measures.precision_recall import pooled_auprc
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

    >>> from omnirank.measures.precision_recall import area_from_counts
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
