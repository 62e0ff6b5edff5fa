"""Classifiers and regressors: what predictors of either kind add to scikit-learn's mixins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, choice
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames, task_named
from omnirank.ensembles.predictor import PCTPredictor
from omnirank.measures.decisions import reaches
from omnirank.tasks import get_task
from omnirank.tasks.classification import decode_levels
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.scoring import share_right, target_of
from omnirank.trees.prediction import average_means

_JUST_OVER_HALF = np.nextafter(0.5, 1.0)


class PCTClassifierBase(ClassifierMixin, PCTPredictor):
    """Classes and label sets: probabilities, thresholds and class weights.

    scikit-learn's tag ``multi_label`` stays off although label sets are predicted: it stands for checks that want
    probabilities strictly between 0 and 1, but frequencies in leaves are often 0 or 1.
    """

    supported_tasks = TaskNames("classes", "labels")

    class_weight: Any

    def predict(self, X: FeaturesLike, threshold: float | None = None) -> Any:
        """Predict classes or label sets.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.
        threshold : float, optional
            Label sets: a label is predicted if its frequency is at least this, by default 1/2. Predictions obey the
            hierarchy for every threshold.

        Returns
        -------
        ndarray
            Classes, (n,) or (n, targets), or a 0/1 matrix (n, labels).
        """
        table = self._table(X)
        cut = self._threshold(threshold)
        if get_task(self.task_).kind != "labels":
            return self._decide(self._means(table))
        finish = partial(get_task(self.task_).predict, columns=self._columns, threshold=cut)
        return average_means(self._trees(), table, self._columns.n_columns, finish, self._n_jobs())

    def predict_proba(self, X: FeaturesLike) -> Any:
        """Return the frequencies of classes or labels, averaged over the trees.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples with the features of the training data.

        Returns
        -------
        ndarray or list of ndarray
            (n, classes), in the order of ``classes_``; (n, labels) for label sets, with 1/2 as the next larger number,
            so that rounding gives ``predict``; a list of (n, classes), one per target, for several nominal targets.
        """
        return self._shares(self._means(self._table(X)))

    def score(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of labelled examples predicted right: the class, all classes, or the whole label set.

        Unlabelled examples do not count; of partly labelled ones what is known does.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples; a Dataset brings its target.
        y : array-like
            Their classes or label sets, written as in ``fit``.
        sample_weight : array-like, optional
            Weights of the examples.
        """
        predicted = self.predict(X)
        return share_right(self._truth(X, y), predicted, sample_weight)

    def _threshold(self, threshold: float | None) -> float:
        if threshold is None or get_task(self.task_).kind != "labels":
            return super()._threshold(threshold)
        return float(threshold)

    def _shares(self, means: np.ndarray) -> Any:
        task = get_task(self.task_)
        if task.kind == "labels":
            # so that rounding, which takes 1/2 down to 0, agrees with predict, for which 1/2 is enough
            means[reaches(means) & (means <= 0.5)] = _JUST_OVER_HALF
        if task.kind == "labels" or task.single:
            return means
        return [means[:, self._columns.variable == v] for v in range(self.n_outputs_)]

    def _note_target(self, task: str, hierarchy: Hierarchy | None, columns: PrototypeColumns) -> None:
        super()._note_target(task, hierarchy, columns)
        classes: Any
        known = get_task(task)
        if known.kind == "labels":
            classes = [np.array([0, 1])] * self.n_outputs_
        else:
            classes = [decode_levels(np.arange(len(lev or ())), lev) for lev in columns.levels]
            classes = classes[0] if known.single else classes
        self.classes_ = classes

    def _with_class_weight(self, dataset: Dataset, weight: np.ndarray | None) -> np.ndarray | None:
        target = dataset.target
        if self.class_weight is None or target is None:
            return weight
        if target.is_labels:
            raise ParameterError("class_weight", self.class_weight, "it is for classes; label sets have sample_weight")
        given = self.class_weight
        if isinstance(given, str | Mapping):
            given = [given] * target.n_targets
        if isinstance(given, bytes) or not isinstance(given, Sequence) or len(given) != target.n_targets:
            advice = f"choose 'balanced', None, a dictionary, or a list of {target.n_targets}, one per target"
            raise ParameterError("class_weight", given, advice)
        product = np.ones(dataset.n_examples) if weight is None else weight
        for v, one in enumerate(given):
            product = product * _class_weights(target, v, one)
        return product


def _r2(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    from sklearn.metrics import r2_score

    known = ~np.isnan(truth)
    if not known.any():
        raise DataError("a target has no known value in y: there is nothing to compare predictions with")
    weights = None if weights is None else weights[known]
    return float(r2_score(truth[known], predicted[known], sample_weight=weights))


def _class_weights(target: Target, variable: int, given: Any) -> np.ndarray:
    """Weight of each example by its class of one target; 1 where that is unknown."""
    cells, levels = target.values[:, variable], target.levels[variable] or ()
    codes = np.where(np.isnan(cells), len(levels), cells).astype(np.intp)
    by_code = np.ones(len(levels) + 1)
    name = target.names[variable]
    if isinstance(given, str):
        check("class_weight", given, choice("balanced"))
        counts = np.bincount(codes, minlength=len(by_code))[:-1]
        present = counts > 0
        by_code[:-1][present] = counts.sum() / (present.sum() * counts[present])
        return by_code[codes]
    unknown = [level for level in given if level not in levels]
    if unknown:
        raise ParameterError("class_weight", given, f"{unknown[0]!r} is no class of target {name!r}")
    for code, level in enumerate(levels):
        by_code[code] = given.get(level, 1.0)
        if not 0 <= by_code[code] < np.inf:
            raise ParameterError("class_weight", given, f"the weight of {level} must be finite and not negative")
    return by_code[codes]


class PCTRegressorBase(RegressorMixin, PCTPredictor):
    """One number, several, or numbers and classes together."""

    supported_tasks = TaskNames("numbers", "mixed")

    def score(self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return R squared, the mean over the targets, each over the examples in which it is known.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame (relational learners: RelationalDataset)
            Examples; a Dataset brings its target.
        y : array-like
            Their targets.
        sample_weight : array-like, optional
            Weights of the examples.
        """
        check_is_fitted(self)
        if get_task(self.task_).kind == "mixed":
            raise DataError("there is no R squared of mixed targets: compare the columns of predict(X) one by one")
        target = self._truth(X, y)
        predicted = self.predict(X)
        target, n = target_of(target, predicted), len(predicted)
        weights = None if sample_weight is None else check_sample_weight(sample_weight, n)
        truth, found = target.dense(), np.reshape(predicted, (n, -1))
        return float(np.mean([_r2(truth[:, v], found[:, v], weights) for v in range(truth.shape[1])]))

    def _asked_task(self, X: FeaturesLike, y: TargetLike | None) -> str:
        task = super()._asked_task(X, y)
        if task != "auto" or isinstance(X, Dataset):
            return task
        # Whole numbers would be classes: to a regressor they are numbers.
        found = target_from(y)[1]
        as_given = get_task(found)
        return task_named("numbers", single=as_given.single) if as_given.kind in ("classes", "labels") else found
