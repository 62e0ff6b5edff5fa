"""Choosing Relief's parameters on the labelled examples, by what neighbours in the ranking's distance predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.data.dataset import Dataset
from omnirank.neighbors.weighted_knn import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import LABEL_TASKS, PrototypeColumns, get_task
from omnirank.tasks.precision_recall import pooled_auprc

__all__ = ["cross_validated_losses", "labelled_folds", "loss_of_means"]

_JUDGES = 20
_FOLDS = 4


def cross_validated_losses(
    dataset: Dataset,
    rankings: Callable[[Dataset], Mapping[Any, np.ndarray]],
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> dict[Any, float]:
    """Return the loss of each candidate: mean over folds of labelled examples, weighted by their sizes.

    A fold's examples are predicted by their 20 nearest labelled examples of the other folds, in the distance that the
    candidate's ranking weighs; the ranking is made from these and all unlabelled examples.

    Parameters
    ----------
    dataset : Dataset
        Data with at least two labelled examples.
    rankings : callable
        From the training part to the importances of each candidate.
    rng : Generator
        Deals the folds.
    n_jobs : int or None
        Number of workers.
    """
    losses: dict[Any, float] = {}
    folds = labelled_folds(dataset, rng)
    n_labelled = sum(len(fold) for fold in folds)
    for fold in folds:
        kept = np.ones(dataset.n_examples, bool)
        kept[fold] = False
        found = rankings(dataset.take(kept))
        train, test = dataset.take(kept & dataset.labelled), dataset.take(np.sort(fold))
        judge = _Judge(train, test, n_jobs)
        for candidate, importances in found.items():
            share = len(fold) / n_labelled
            losses[candidate] = losses.get(candidate, 0.0) + share * judge(importances)
    return losses


def labelled_folds(dataset: Dataset, rng: np.random.Generator) -> list[np.ndarray]:
    """Deal the labelled examples into four folds, classes evenly.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.relief.choice import labelled_folds
    >>> data = om.Dataset(np.zeros((6, 1)), ["a", None, "b", "a", "b", None])
    >>> sorted(len(fold) for fold in labelled_folds(data, np.random.default_rng(0)))
    [1, 1, 1, 1]
    """
    target = dataset.target
    labelled = rng.permutation(np.flatnonzero(dataset.labelled))
    if target is None or len(labelled) < 2:
        raise DataError(
            f"choosing parameters needs at least two labelled examples, there are {len(labelled)}; give "
            "n_neighbors and influence"
        )
    if dataset.task == "classification":
        labelled = labelled[np.argsort(target.values[labelled, 0], kind="stable")]
    n_folds = min(_FOLDS, len(labelled))
    return [labelled[i::n_folds] for i in range(n_folds)]


class _Judge:
    """How badly the neighbours of a ranking predict."""

    def __init__(self, train: Dataset, test: Dataset, n_jobs: int | None) -> None:
        assert train.target is not None
        assert test.target is not None
        self._train, self._test, self._n_jobs = train, test, n_jobs
        self._task = get_task(train.task)
        self._columns = self._task.columns(train.target, train.hierarchy)
        self._truth = self._task.columns(test.target, test.hierarchy)
        self._values = self._columns.dense()

    def __call__(self, importances: np.ndarray) -> float:
        weights = ranking_weights(importances)
        ids = weighted_neighbors(self._train.features, self._test.features, weights, _JUDGES, self._n_jobs)
        means = neighbor_means(self._values, ids)
        return loss_of_means(self._train.task, self._truth, means, self._columns)


def loss_of_means(task: str, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
    """Return the loss by which rankings are judged: 1 - macro F1, 1 - pooled AUPRC, or the RRMSE.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.relief.choice import loss_of_means
    >>> from omnirank.tasks import get_task
    >>> columns = get_task("regression").columns(target_from([0.5, 2.5])[0])
    >>> loss_of_means("regression", columns, np.array([[1.5], [1.5]]), columns)
    1.0
    """
    if task == "classification":
        return 1.0 - _macro_f1(np.nan_to_num(truth.matrix), means)
    if task in LABEL_TASKS:
        area = pooled_auprc(truth.matrix, means)
        return 1.0 if np.isnan(area) else 1.0 - area
    if task in ("regression", "multi-target-regression"):
        varying = columns.variance > 0
        if not varying.any():
            return 0.0
        off = (columns.scaled(truth.matrix) - columns.scaled(means))[:, varying] ** 2
        known = ~np.isnan(off)
        squared = np.where(known, off, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return float(np.mean(np.sqrt(squared / columns.variance[varying])))
    return float(get_task(task).error(truth, means, columns))


def _macro_f1(actual: np.ndarray, means: np.ndarray) -> float:
    """Mean over the classes that occur or are predicted."""
    predicted = np.zeros(actual.shape)
    predicted[np.arange(len(means)), np.argmax(means, axis=1)] = 1.0
    both = (actual * predicted).sum(axis=0)
    sizes = actual.sum(axis=0) + predicted.sum(axis=0)
    return float(np.mean(2 * both[sizes > 0] / sizes[sizes > 0]))
