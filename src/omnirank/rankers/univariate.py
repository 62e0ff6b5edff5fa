"""The simplest ranking: how much of the target each feature explains alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import FLAG, Domain
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.rankers._explained_in_parts import mean_shares_in_parts
from omnirank.rankers._explained_variance import Block, explained_shares, feature_blocks, target_blocks
from omnirank.rankers.base import BaseRanker
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks import get_task


class UnivariateRanker(BaseRanker):
    r"""Importance of a feature: the share of the target's impurity that it explains alone.

    For a numeric feature x and a numeric target (or label) z this is the squared correlation, for a nominal
    feature the correlation ratio; over several target variables v with weights :math:`\alpha_v` (those of the
    labels of a hierarchy, otherwise 1) it is their weighted mean,

    .. math:: \sum_v \frac{\alpha_v}{\sum_u \alpha_u} \frac{K_{xv}}{K_v}
              \frac{\sum_{c \in v} \mathrm{Cov}(x, z_c)^2 / \mathrm{Var}(x)}{\sum_{c \in v} \mathrm{Var}(z_c)}

    with one 0/1 column c per class of a nominal target (the denominator is its Gini index). Means are over the
    examples in which both x and v are known; :math:`K_{xv}` is the weight of these, :math:`K_v` that of the
    examples with v known. Missing values explain nothing, so that a feature known for a few examples only
    does not win by chance. Without a target the other features take its place. Unlabelled examples are not used,
    constant features get 0.

    A nominal feature of many levels explains a large share by chance. ``adjusted`` takes this off each share s:
    1 - (1 - s) (m - 1) / (m - k), for a feature of k levels (a number: k = 2) and m examples known in both. This is
    0 on average, and often below 0, where the feature has nothing to do with the target; a feature with a level for
    each example gets 0. (Examples of unequal weights b count for fewer, :math:`m = K_{xv} \sum b / \sum b^2`.)

    Interactions are invisible to it, and redundant features get the same score.

    Parameters
    ----------
    adjusted : bool
        Whether shares are adjusted for what is explained by chance; otherwise scores lie in [0, 1], and features of
        many levels (identifiers) score high.
    task : str
        A task name, or "auto" to infer it from y.
    hierarchy : Hierarchy, optional
        Order of the labels.
    n_features_to_select : int, float, {"auto", "forest", "significant"} or None
        How many features `transform` keeps: a count, a share in (0, 1], None for half of them, or as many as neighbours
        or forests need to predict as well as with the best number of features ("auto", "forest"; `omnirank.select`), or
        all that are significant.
    random_state : None, int, RandomState or Generator
        Not used: the method is deterministic.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    Kelley: An unbiased correlation ratio measure. PNAS 21, 1935 (the adjustment).

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> om.UnivariateRanker(adjusted=False).fit(X, [0.5, 1.5, 2.5, 3.5]).feature_importances_
    array([1. , 0.2])
    >>> om.UnivariateRanker().fit(X, [0.5, 1.5, 2.5, 3.5]).feature_importances_
    array([ 1. , -0.2])
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {"adjusted": FLAG}
    supported_supervision = ("supervised", "unsupervised")

    def __init__(
        self,
        adjusted: bool = True,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.adjusted = adjusted
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)

    def fit(
        self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None
    ) -> UnivariateRanker:
        """Rank the features.

        Parameters
        ----------
        X : Dataset, array-like, scipy.sparse container or data frame
            A data set with its target, or the features.
        y : array-like, data frame, scipy.sparse container, sequence of sets or None
            The target of any task; NaN, None and NA are unlabelled. None: unsupervised. Not with a Dataset.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight)

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        # Weights count relative to each other only; a mean of 1 keeps the sums in the range of the data.
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight / sample_weight.mean()
        scores = mean_shares(dataset, weights, self.n_jobs, adjusted=self.adjusted)
        return self._ranking(dataset, scores, "univariate")

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._ranking(data, mean_shares_in_parts(data, adjusted=self.adjusted), "univariate")


def mean_shares(
    dataset: Dataset, weights: np.ndarray, n_jobs: int | None, *, adjusted: bool = False, roots: bool = False
) -> np.ndarray:
    """Return for each feature the mean, over all target variables but itself, of the shares that it explains.

    Parameters
    ----------
    dataset : Dataset
        The data; without a target, the other features take its place.
    weights : ndarray of shape (n_examples,)
        Weights of the examples, their mean about 1.
    n_jobs : int or None
        Number of workers.
    adjusted : bool
        Whether shares are adjusted for what is explained by chance.
    roots : bool
        Whether the mean is that of the square roots of the shares, which are correlations; not if adjusted.
    """
    features = feature_blocks(dataset.features, weights)
    target, alpha = features, np.ones(dataset.n_features)
    if dataset.target is not None:
        columns = get_task(dataset.task).columns(dataset.target, dataset.hierarchy)
        target, alpha = target_blocks(columns, weights), columns.weights
    means = _BlockMeans(features, target, alpha, weights, dataset.target is None, adjusted, roots)
    scores = np.zeros(dataset.n_features)
    for positions, values in run_parallel(means, range(len(features)), n_jobs, description="ranking features"):
        scores[positions] = values
    return scores


@dataclass(frozen=True, eq=False)
class _BlockMeans:
    """Scores of the features of a block, by its number: a worker gets the data once, not with every block."""

    features: list[Block]
    target: list[Block]
    alpha: np.ndarray
    weights: np.ndarray
    unsupervised: bool
    adjusted: bool
    roots: bool

    def __call__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        own = self.features[number]()
        sums, total = np.zeros(len(own.positions)), np.zeros(len(own.positions))
        for make in self.target:
            other = make()
            counted = np.where(other.varies, self.alpha[other.positions], 0.0)
            counted = np.tile(counted, (len(own.positions), 1))
            if self.unsupervised:
                counted[own.positions[:, None] == other.positions] = 0.0
            shares = explained_shares(own, other, self.weights, self.adjusted)
            sums += ((np.sqrt(shares) if self.roots else shares) * counted).sum(axis=1)
            total += counted.sum(axis=1)
        return own.positions, sums / np.where(total > 0, total, 1.0)
