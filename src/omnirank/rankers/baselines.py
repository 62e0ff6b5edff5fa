"""Rankings that do not look at the data: what every method must beat."""

from __future__ import annotations

import numpy as np

from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.rankers.base import BaseRanker
from omnirank.shards.dataset import ShardedDataset


class RandomRanker(BaseRanker):
    """Random scores, uniform in [0, 1).

    Parameters
    ----------
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in all rankers; only ``random_state`` changes the scores.

    Examples
    --------
    >>> import omnirank as om
    >>> ranker = om.RandomRanker(random_state=0).fit([[1.0, 2.0], [3.0, 4.0]])
    >>> len(ranker.feature_importances_)
    2
    """

    def _rank(self, dataset: Dataset) -> Ranking:
        scores = stream(root_entropy(self.random_state), 0).random(dataset.n_features)
        return self._ranking(dataset, scores, "random", constant=())

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        scores = stream(root_entropy(self.random_state), 0).random(data.n_features)
        return self._ranking(data, scores, "random", constant=())


class UniformRanker(BaseRanker):
    """The score 1 for every feature.

    With these scores a weighted distance is the plain one; features are "ranked" in the order of the data.

    Parameters
    ----------
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in all rankers; none of them changes the scores.

    Examples
    --------
    >>> import omnirank as om
    >>> om.UniformRanker().fit([[1.0, 2.0], [3.0, 4.0]]).feature_importances_
    array([1., 1.])
    """

    def _rank(self, dataset: Dataset) -> Ranking:
        return self._ranking(dataset, np.ones(dataset.n_features), "uniform", constant=())

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._ranking(data, np.ones(data.n_features), "uniform", constant=())
