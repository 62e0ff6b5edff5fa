"""ML-kNN: which labels an example has, from how often its neighbours have them."""

from __future__ import annotations

import numpy as np

from omnirank.data.table import Table
from omnirank.neighbors.weighted import weighted_neighbors, without_self


def ml_knn_probabilities(labels: np.ndarray, near: np.ndarray, ids: np.ndarray, smoothing: float = 1.0) -> np.ndarray:
    r"""Return the probabilities of labels, given the neighbours of the training and of the test examples.

    With c the number of an example's k neighbours that have a label, the label's probability is

    .. math:: P(H_1 | c) = \frac{P(H_1) P(c | H_1)}{P(H_1) P(c | H_1) + P(H_0) P(c | H_0)},

    where :math:`P(H_1) = (s + n_1) / (2 s + n)` and :math:`P(c | H) = (s + n_{Hc}) / (s (k + 1) + n_H)` are counted
    over the training examples and their k nearest other training examples.

    Parameters
    ----------
    labels : ndarray of shape (n, L)
        0/1 labels of the training examples.
    near : ndarray of int of shape (n, k)
        Neighbours of the training examples among the others.
    ids : ndarray of int of shape (m, k)
        Neighbours of the test examples.
    smoothing : float
        The number s of imagined examples.

    References
    ----------
    Zhang, Zhou: ML-kNN: a lazy learning approach to multi-label learning. Pattern Recognition 40, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.ml_knn import ml_knn_probabilities
    >>> labels, near = np.array([[1.0], [1.0], [0.0]]), np.array([[1], [0], [1]])
    >>> ml_knn_probabilities(labels, near, np.array([[0], [2]])).round(3).tolist()
    [[0.628], [0.529]]
    """
    n, k = near.shape
    n_labels = labels.shape[1]
    own = labels.astype(bool)
    counts, wanted = _label_counts(labels, near), _label_counts(labels, ids)
    n_with = own.sum(axis=0)
    column = np.broadcast_to(np.arange(n_labels), counts.shape)
    prior = (smoothing + n_with) / (2 * smoothing + n)
    joint = []
    for has, n_has, share in ((own, n_with, prior), (~own, n - n_with, 1 - prior)):
        table = np.zeros((n_labels, k + 1))
        np.add.at(table, (column[has], counts[has]), 1.0)
        given = (smoothing + table) / (smoothing * (k + 1) + n_has)[:, None]
        joint.append(share * given[np.arange(n_labels), wanted])
    return np.asarray(joint[0] / (joint[0] + joint[1]))


def _label_counts(labels: np.ndarray, ids: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(ids), labels.shape[1]), np.intp)
    for place in range(ids.shape[1]):
        counts += labels[ids[:, place]].astype(np.intp)
    return counts


def other_neighbors(table: Table, weights: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    """Return the k nearest other examples of each example of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.ml_knn import other_neighbors
    >>> other_neighbors(Table.from_numeric(np.array([[0.0], [1.0], [3.0]])), np.ones(1), 1).ravel().tolist()
    [1, 0, 1]
    """
    return without_self(weighted_neighbors(table, table, weights, k + 1, n_jobs))
