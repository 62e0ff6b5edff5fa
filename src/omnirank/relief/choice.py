"""Choosing Relief's parameters on the labelled examples, by what neighbours in the ranking's distance predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.data.dataset import Dataset
from omnirank.neighbors.weighted_knn import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import get_task

_JUDGES = 20
_FOLDS = 4


def cross_validated_losses(
    dataset: Dataset,
    rankings: Callable[[Dataset], Mapping[Any, np.ndarray]],
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> dict[Any, float]:
    """Return the loss of each candidate: mean over folds of labelled examples, weighted by their sizes.

    A fold's examples are predicted by their 20 nearest labelled examples of the other folds, in a distance that weighs
    features by the candidate's ranking; the ranking is made from these and all unlabelled examples.

    Parameters
    ----------
    dataset : Dataset
        Data with at least two labelled examples.
    rankings : callable
        From the training part to the importances of each candidate.
    rng : Generator
        Draws the folds.
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
    """Divide the labelled examples into four folds, classes evenly.

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
    if get_task(dataset.task).is_one_class:
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
        return self._task.loss(self._truth, means, self._columns)
