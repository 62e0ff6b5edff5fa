"""The simplest rankings: how much of the target each feature explains alone, and how it correlates with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import ClassVar

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import FLAG, Domain
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.rankers.base import WeightedRanker
from omnirank.rankers.explained import (
    Block,
    Columns,
    Extents,
    Sums,
    explained_shares,
    feature_blocks,
    shares_of_sums,
    sums_of,
    target_blocks,
)
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns

# Memory for one cell of a column of which all rows are held: value and mask, by block and joined.
_BYTES_PER_CELL = 64


@dataclass(eq=False, repr=False)
class UnivariateRanker(WeightedRanker):
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

    adjusted: bool = True

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        # Weights count relative to each other only; a mean of 1 keeps the sums in the range of the data.
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight / sample_weight.mean()
        scores = mean_shares(dataset, weights, self.n_jobs, adjusted=self.adjusted)
        return self._ranking(dataset, scores, "univariate")

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._ranking(data, mean_shares_in_parts(data, adjusted=self.adjusted), "univariate")


class CorrelationRanker(WeightedRanker):
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

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight / sample_weight.mean()
        return self._ranking(dataset, mean_shares(dataset, weights, self.n_jobs, roots=True), "correlation")

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._ranking(data, mean_shares_in_parts(data, roots=True), "correlation")


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
            counted = _counted(own.positions, other, other.varies, self.alpha, self.unsupervised)
            shares = explained_shares(own, other, self.weights, self.adjusted)
            sums += ((np.sqrt(shares) if self.roots else shares) * counted).sum(axis=1)
            total += counted.sum(axis=1)
        return own.positions, sums / np.where(total > 0, total, 1.0)


def _counted(own: np.ndarray, target: Columns, varies: np.ndarray, alpha: np.ndarray, unsupervised: bool) -> np.ndarray:
    """Weights of the target variables in the means of some features: no feature explains itself."""
    weights = np.tile(np.where(varies, alpha[target.positions], 0.0), (len(own), 1))
    if unsupervised:
        weights[own[:, None] == target.positions] = 0.0
    return weights


# -- data in parts ------------------------------------------------------------------------------------------


def mean_shares_in_parts(data: ShardedDataset, *, adjusted: bool = False, roots: bool = False) -> np.ndarray:
    """Return for each feature the mean, over all target variables but itself, of the shares that it explains.

    The same as `omnirank.rankers.univariate.mean_shares`, up to rounding, with weights of 1: sums are added up block by
    block, since every mean, variance and covariance comes from them. Where they cancel, further passes take the cells.

    Parameters
    ----------
    data : ShardedDataset
        The data; without a target, the other features take its place.
    adjusted : bool
        Whether shares are adjusted for what is explained by chance.
    roots : bool
        Whether the mean is that of the square roots of the shares.
    """
    extents = _feature_extents(data)
    of_target = _target_extents(data) if data.n_targets else extents
    alpha = _columns(data.example).weights if data.n_targets else np.ones(data.n_features)

    def coded() -> Iterator[tuple[list[Columns], list[Columns]]]:
        for block in _labelled_blocks(data):
            weights = np.ones(block.n_examples)
            features = [make() for make in feature_blocks(block.features, weights, extents)]
            target = target_blocks(_columns(block), weights, of_target) if data.n_targets else []
            yield features, [make() for make in target] if data.n_targets else features

    def cells(i: int, j: int, rows: np.ndarray, columns: np.ndarray) -> tuple[Columns, Columns]:
        blocks = [(features[i].take(rows), target[j].take(columns)) for features, target in coded()]
        return Columns.stacked([own for own, _ in blocks]), Columns.stacked([other for _, other in blocks])

    pairs: dict[tuple[int, int], tuple[Sums, Columns, Columns]] = {}
    for features, target in coded():
        for (i, own), (j, other) in product(enumerate(features), enumerate(target)):
            added = sums_of(own, other, np.ones(own.values.shape[0]))
            pairs[i, j] = pairs[i, j][0] + added if (i, j) in pairs else added, own, other
    scores, total = np.zeros(data.n_features), np.zeros(data.n_features)
    # Columns of the target are those that vary; features may vary in all rows, and be constant in every block.
    varies = ~np.isin(data.feature_names, data.constant)
    width = max(1, data.source.max_memory // (_BYTES_PER_CELL * data.n_examples))
    for (i, j), (added, own, other) in pairs.items():
        varying = np.ones(len(other.positions), bool) if data.n_targets else varies[other.positions]
        counted = _counted(own.positions, other, varying, alpha, not data.n_targets)
        shares = shares_of_sums(added, own, other, adjusted, partial(cells, i, j), width)
        scores[own.positions] += ((np.sqrt(shares) if roots else shares) * counted).sum(axis=1)
        total[own.positions] += counted.sum(axis=1)
    return scores / np.where(total > 0, total, 1.0)


def _labelled_blocks(data: ShardedDataset) -> Iterator[Dataset]:
    for block in data.blocks():
        if not data.n_targets or block.labelled.all():
            yield block
        elif block.labelled.any():
            yield block.take(block.labelled)


def _columns(block: Dataset) -> PrototypeColumns:
    assert block.target is not None
    return get_task(block.task).columns(block.target, block.hierarchy)


def _feature_extents(data: ShardedDataset) -> Extents:
    """Those of numbers from the summary of all rows; those of codes of two levels are 0 and 1."""
    summary = data.summary.loc[list(data.feature_names)]
    nominal = (summary["type"] == "nominal").to_numpy()
    extents = [np.nan_to_num(summary[name].to_numpy(np.float64)) for name in ("low", "high", "mean")]
    return Extents(
        *(np.where(nominal, of_codes, values) for values, of_codes in zip(extents, (0.0, 1.0, 0.5), strict=True))
    )


def _target_extents(data: ShardedDataset) -> Extents:
    """Smallest, largest and mean value of each column of the coded target, over the labelled examples."""
    low, high, sums, known = np.array([np.inf]), np.array([-np.inf]), np.zeros(1), np.zeros(1)
    task = get_task(data.task)
    for target in data.targets():  # no feature is read
        cells = task.columns(target.take(target.labelled), data.hierarchy).dense()
        is_known = ~np.isnan(cells)
        low = np.minimum(low, np.min(cells, axis=0, where=is_known, initial=np.inf))
        high = np.maximum(high, np.max(cells, axis=0, where=is_known, initial=-np.inf))
        known = known + is_known.sum(axis=0)
        with np.errstate(over="ignore"):
            sums = sums + np.sum(cells, axis=0, where=is_known)
    nothing = known == 0
    low, high = np.where(nothing, 0.0, low), np.where(nothing, 0.0, high)
    mean = sums / np.where(nothing, 1.0, known)
    return Extents(low, high, np.where(np.isfinite(mean), mean, low / 2 + high / 2))
