"""Controls, which look at no target: how much features vary, random scores, equal scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import ClassVar

import numpy as np

from omnirank.core.parallel import blocks, run_parallel
from omnirank.core.parameters import Domain, choice
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.data.table import Levels, Table
from omnirank.rankers.base import BaseRanker, WeightedRanker
from omnirank.shards.dataset import ShardedDataset

MEASURES = ("variance", "dispersion")
# Blocks of features; their number does not depend on that of the workers.
_BLOCKS = 64
# The variance of larger numbers is not finite.
_LARGEST = 1e150


@dataclass(eq=False, repr=False)
class DispersionRanker(WeightedRanker):
    r"""Importance of a feature: how much its values vary, whatever the target.

    ``"variance"`` is the variance of the known values, in their own units: features on a large scale come first. Of a
    nominal feature it is the Gini index, the variances of its 0/1 columns added up. ``"dispersion"`` does not depend
    on units: with values x scaled to [0, 1] it is the logarithm of arithmetic by geometric mean of exp(x),

    .. math:: \log \Big( \frac1n \sum_j e^{x_j} \Big) - \frac1n \sum_j x_j

    which is 0 for a constant, and largest where about half of the values are at either end; of a nominal feature it is
    the sum over its 0/1 columns. What a method finds with more effort should be better than this.

    Parameters
    ----------
    measure : {"variance", "dispersion"}
        The score.
    task, hierarchy, n_features_to_select, random_state
        As in all rankers; the target is not looked at, and unlabelled examples count like all others.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    Ferreira, Figueiredo: Efficient feature selection filters for high-dimensional data. Pattern Recognition Letters 33,
    2012 (the ratio of means).

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[0.0, 10.0, 1.0], [1.0, 10.0, 1.0], [0.0, 10.0, 1.0], [1.0, 90.0, 1.0]]
    >>> om.DispersionRanker("variance").fit(X).feature_importances_.tolist()
    [0.25, 1200.0, 0.0]
    >>> om.DispersionRanker("dispersion").fit(X).feature_importances_.round(4)
    array([0.1201, 0.1074, 0.    ])
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {"measure": choice(*MEASURES)}

    measure: str = "variance"

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight / sample_weight.mean()
        scores = partial(_scores, dataset.features, weights, self.measure)
        parts = run_parallel(scores, blocks(dataset.n_features, _BLOCKS), self.n_jobs, description="ranking features")
        return self._ranking(dataset, np.concatenate(parts), self.measure)

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        ends = data.summary.loc[list(data.feature_names), ["low", "high"]].to_numpy(np.float64)
        of_part = partial(_moments_of_part, data, self.measure, ends)
        parts = run_parallel(of_part, range(data.n_shards), self.n_jobs, description="ranking features")
        scores = []
        for i, levels in enumerate(data.feature_levels):
            nominal = levels is not None
            moments = reduce(np.add if nominal else partial(_merged, self.measure), [part[i] for part in parts])
            scores.append(_score(moments, nominal, ends[i], self.measure))
        return self._ranking(data, np.array(scores), self.measure)


def _scores(table: Table, weights: np.ndarray, measure: str, block: range) -> np.ndarray:
    """Scores of a block of features."""
    scores = []
    for i in block:
        cells, nominal = table.column(i), bool(table.is_nominal[i])
        ends = np.zeros(2) if nominal else np.array([np.fmin.reduce(cells), np.fmax.reduce(cells)], np.float64)
        scores.append(_score(_moments(measure, cells, weights, table.levels[i], ends), nominal, ends, measure))
    return np.array(scores)


def _moments(
    measure: str, cells: np.ndarray, weights: np.ndarray, levels: Levels | None, ends: np.ndarray
) -> np.ndarray:
    """Sums over some rows of a feature.

    For a nominal feature, the weight of each level. For a number, the weight of the known cells and, with values scaled
    to [0, 1], their mean and the sum of the squared deviations from it, or of the exponentials.
    """
    if levels is not None:
        return np.bincount(cells[cells >= 0], weights[cells >= 0], len(levels))
    known = ~np.isnan(cells)
    low, high = ends / 2  # by halves: large ranges do not overflow
    if not known.any() or not high > low:
        return np.zeros(3)
    values, counted = (cells[known].astype(np.float64) / 2 - low) / (high - low), weights[known]
    total = counted.sum()
    if measure == "dispersion":
        powers, sums = counted @ np.column_stack([np.exp(values), values])
        return np.array([total, sums / total, powers])
    mean = counted @ values / total
    return np.array([total, mean, counted @ (values - mean) ** 2])


def _score(moments: np.ndarray, nominal: bool, ends: np.ndarray, measure: str) -> float:
    if nominal:
        shares = moments / (moments.sum() or 1.0)
        if measure == "variance":
            return float(shares @ (1 - shares))
        shares = shares[shares < 1]  # one level only: no rounding
        return float(np.maximum(np.log1p(shares * np.expm1(1.0)) - shares, 0.0).sum())
    total, mean, spread = moments
    if not total:
        return 0.0
    if measure == "dispersion":
        return float(max(np.log(spread / total) - mean, 0.0))
    units = 2 * float(min(ends[1] / 2 - ends[0] / 2, _LARGEST / 2))
    return float(spread / total) * units * units


def _moments_of_part(data: ShardedDataset, measure: str, ends: np.ndarray, part: int) -> list[np.ndarray]:
    totals = [np.zeros(3 if levels is None else len(levels)) for levels in data.feature_levels]
    for table in data.tables([part]):
        for i, levels in enumerate(data.feature_levels):
            moments = _moments(measure, table.column(i), np.ones(table.n_rows), levels, ends[i])
            totals[i] = totals[i] + moments if levels is not None else _merged(measure, totals[i], moments)
    return totals


def _merged(measure: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The moments of a number over the rows of both."""
    (n, mean, spread), (m, other_mean, other_spread) = a, b
    total, apart = n + m, other_mean - mean
    share = m / total if total else 0.0
    between = apart**2 * n * share if measure == "variance" else 0.0
    return np.array([total, mean + apart * share, spread + other_spread + between])


class RandomRanker(BaseRanker):
    """Random scores, uniform in [0, 1).

    Parameters
    ----------
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in all rankers; only ``random_state`` changes the scores.

    Examples
    --------
    >>> import omnirank as om
    >>> ranker = om.rankers.RandomRanker(random_state=0).fit([[1.0, 2.0], [3.0, 4.0]])
    >>> len(ranker.feature_importances_)
    2
    """

    def _rank(self, dataset: Dataset | ShardedDataset) -> Ranking:
        scores = stream(root_entropy(self.random_state), 0).random(dataset.n_features)
        return self._ranking(dataset, scores, "random", constant=())

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._rank(data)


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
    >>> om.rankers.UniformRanker().fit([[1.0, 2.0], [3.0, 4.0]]).feature_importances_
    array([1., 1.])
    """

    def _rank(self, dataset: Dataset | ShardedDataset) -> Ranking:
        return self._ranking(dataset, np.ones(dataset.n_features), "uniform", constant=())

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._rank(data)
