"""The Pearson filter: the correlation of each feature with numeric targets."""

from __future__ import annotations

import numpy as np

from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.rankers._explained_in_parts import mean_shares_in_parts
from omnirank.rankers.base import BaseRanker
from omnirank.rankers.univariate import mean_shares
from omnirank.shards.dataset import ShardedDataset


class CorrelationRanker(BaseRanker):
    r"""Importance of a feature: the absolute value of its correlation with the target, averaged over targets.

    .. math:: \frac{|\mathrm{Cov}(x, y)|}{\mathrm{sd}(x)\, \mathrm{sd}(y)} \sqrt{K_{xy} / K_y}

    Means are over the examples in which both are known; the square root is that of their share (:math:`K_{xy}`) among
    the examples with y known, 1 where no cell is missing. For a nominal feature it is the correlation ratio, the
    standard deviation of the means of its levels relative to that of y. For one target and n examples the F statistic
    :math:`(n - 2) r^2 / (1 - r^2)` has the same order. `UnivariateRanker` averages squares, takes off what is
    explained by chance, and knows all tasks. Unlabelled examples are not used, constant features get 0.

    Parameters
    ----------
    task, hierarchy, n_features_to_select, random_state
        As in all rankers; the method is deterministic.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    Guyon, Elisseeff: An introduction to variable and feature selection. JMLR 3, 2003. Section 2.2.

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]
    >>> om.CorrelationRanker().fit(X, [4.5, 3.5, 2.5, 1.5]).feature_importances_.round(4)
    array([1.    , 0.7746])
    """

    supported_tasks = TaskNames("numbers")
    supported_supervision = ("supervised",)

    def fit(
        self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None
    ) -> CorrelationRanker:
        """Rank the features.

        Parameters
        ----------
        X, y
            As in :meth:`BaseRanker.fit`.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight)

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight / sample_weight.mean()
        return self._ranking(dataset, mean_shares(dataset, weights, self.n_jobs, roots=True), "correlation")

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._ranking(data, mean_shares_in_parts(data, roots=True), "correlation")
