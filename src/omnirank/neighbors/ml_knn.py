"""ML-kNN: which labels an example has, from how often its neighbours have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError
from omnirank.core.parameters import JOBS, Domain, check_parameters, check_weights, count, number
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import any_table, features_like, read_input
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.models import UnsavedModel
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target
from omnirank.neighbors.weighted import ranking_weights, warn_of_many_neighbors, weighted_neighbors
from omnirank.tasks.measuring import share_right, true_target
from omnirank.tasks.variables import decode_levels


@dataclass(eq=False, repr=False)
class MLkNN(UnsavedModel, BaseEstimator):
    r"""Lazy multi-label learner of Zhang and Zhou.

    With c the number of an example's k neighbours that have a label, the label's probability is [1]_

    .. math:: P(H_1 | c) = \frac{P(H_1) P(c | H_1)}{P(H_1) P(c | H_1) + P(H_0) P(c | H_0)},

    where :math:`P(H_1) = (s + n_1) / (2 s + n)` and :math:`P(c | H) = (s + n_{Hc}) / (s (k + 1) + n_H)` are counted
    over the training examples and their k nearest other training examples.

    Parameters
    ----------
    n_neighbors : int
        Number k of neighbours.
    smoothing : float
        The number s of imagined examples, above 0.
    feature_weights : array-like or None
        Importances that weigh the features in the distance, as in `omnirank.evaluate`; None: all are equal.
    threshold : float
        Probability from which a label is predicted.
    hierarchy : Hierarchy or None
        Order of the labels; label sets are closed under ancestors.
    n_jobs : int or None
        Number of workers.

    Attributes
    ----------
    task_ : str
        "multi-label" or "hierarchical-multi-label".
    n_neighbors_ : int
        Number of neighbours; fewer than asked for, with a warning, where there are fewer other examples.
    classes_ : ndarray or list of ndarray
        The classes; for label sets 0 and 1 for each label.
    target_names_ : tuple of str
        Names of the labels.

    Notes
    -----
    Unlabelled examples are left out; a single unknown label counts as absent. Distances are weighted and scaled to the
    ranges of the features, and ties go to the example that comes first.

    References
    ----------
    .. [1] M.-L. Zhang, Z.-H. Zhou: ML-KNN: A lazy learning approach to multi-label learning. Pattern Recognition 40
       (2007).

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> om.MLkNN(n_neighbors=2).fit(X, y).predict([[0.05], [1.3]]).tolist()
    [[1, 0], [0, 1]]
    >>> om.MLkNN(n_neighbors=2).fit(X, y).score([[0.05], [1.3]], [[1, 0], [1, 1]])
    0.5
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_neighbors": count(1),
        "smoothing": number(above=0),
        "threshold": number(),
        "n_jobs": JOBS,
    }

    n_neighbors: int = 10
    smoothing: float = 1.0
    feature_weights: ArrayLike | None = None
    threshold: float = 0.5
    hierarchy: Hierarchy | None = None
    n_jobs: int | None = None

    def fit(self, X: FeaturesLike, y: TargetLike | None = None) -> MLkNN:
        """Count the labels of the neighbours of all training examples.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            A data set with label sets, or the features.
        y : array-like, scipy.sparse container or sequence of sets
            The label sets; not with a Dataset. Classes are label sets of one label each.
        """
        check_parameters(self)
        # one column of 0 and 1 is one label; what has one dimension is sets, or classes
        flat = y is None or self.hierarchy is not None or _n_dimensions(y) == 1
        dataset = read_input(self, X, y, task="auto" if flat else "multi-label", hierarchy=self.hierarchy)
        if dataset.target is None:
            raise DataError("ML-kNN requires y to be passed, but the target y is None or has no known value")
        self._classes = None
        if task_target(dataset.task).is_one_class:
            self._classes = decode_levels(np.arange(len(dataset.target.levels[0] or ())), dataset.target.levels[0])
            dataset = _one_label_a_class(dataset)
        if dataset.target is None or not dataset.target.is_labels:
            raise DataError(f"ML-kNN predicts label sets; the task of these data is {dataset.task}")
        dataset = dataset.take(dataset.labelled)
        if dataset.n_examples < 2:
            raise DataError(f"ML-kNN needs at least two labelled examples, there are {dataset.n_examples}")
        assert dataset.target is not None
        weights = np.ones(dataset.n_features)
        if self.feature_weights is not None:
            weights = check_weights("feature_weights", self.feature_weights, dataset.n_features, "feature", "None or ")
        self.task_ = dataset.task
        self.hierarchy_ = dataset.hierarchy
        self.target_names_ = dataset.target.names
        labels = [np.array([0, 1])] * dataset.n_targets
        self.classes_: Any = labels if self._classes is None else self._classes
        warn_of_many_neighbors(int(self.n_neighbors), dataset.n_examples)
        self.n_neighbors_ = min(int(self.n_neighbors), dataset.n_examples - 1)
        self._weights = ranking_weights(weights)
        self._features = dataset.features
        self._labels = np.nan_to_num(dataset.target.dense())
        self._near = other_neighbors(self._features, self._weights, self.n_neighbors_, self.n_jobs)
        return self

    def predict_proba(self, X: FeaturesLike) -> np.ndarray:
        """Return the probability of every label: an array of shape (n, L)."""
        check_is_fitted(self)
        table = features_like(self, X, self._features)
        ids = weighted_neighbors(self._features, table, self._weights, self.n_neighbors_, self.n_jobs)
        return ml_knn_probabilities(self._labels, self._near, ids, self.smoothing)

    def predict(self, X: FeaturesLike) -> np.ndarray:
        """Return the label sets as 0/1; the likeliest class where classes were given."""
        probabilities = self.predict_proba(X)
        if self._classes is not None:
            return self._classes[np.argmax(probabilities, axis=1)]
        return (probabilities >= self.threshold).astype(np.int8)

    def score(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of labelled examples whose whole label set, or class, is predicted right.

        Unlabelled examples do not count; of partly labelled ones what is known does.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            Examples; a Dataset brings its target.
        y : array-like, scipy.sparse container or sequence of sets
            Their label sets or classes, written as in ``fit``.
        sample_weight : array-like, optional
            Weights of the examples.
        """
        predicted = self.predict(X)
        task = self.task_ if self._classes is None else "classification"
        return share_right(true_target(X, y, task, self.target_names_, self.hierarchy_), predicted, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = any_table(super().__sklearn_tags__())
        tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _n_dimensions(y: Any) -> int:
    try:
        return np.ndim(y)
    except ValueError:  # rows of different lengths
        return 2


def _one_label_a_class(dataset: Dataset) -> Dataset:
    target = dataset.target
    assert target is not None
    levels = target.levels[0] or ()
    hot = (target.values == np.arange(len(levels))).astype(np.float64)
    hot[~target.labelled] = np.nan
    labels = Target.labels(hot, [str(level) for level in levels])
    return Dataset(dataset.features, labels, task="multi-label", name=dataset.name)


def ml_knn_probabilities(labels: np.ndarray, near: np.ndarray, ids: np.ndarray, smoothing: float = 1.0) -> np.ndarray:
    """Return the probabilities of labels, given the neighbours of the training and of the test examples.

    Parameters
    ----------
    labels : ndarray of shape (n, L)
        0/1 labels of the training examples.
    near : ndarray of int of shape (n, k)
        Neighbours of the training examples among the others.
    ids : ndarray of int of shape (m, k)
        Neighbours of the test examples.
    smoothing : float
        The number s.

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
    ids = weighted_neighbors(table, table, weights, k + 1, n_jobs)
    others = ids != np.arange(table.n_rows)[:, None]
    # where more than k equal examples come before it, an example is not among its own nearest
    others[others.all(axis=1), -1] = False
    return ids[others].reshape(table.n_rows, k)
