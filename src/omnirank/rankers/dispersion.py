"""How much features vary: controls that look at no target and at no other feature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from omnirank.core.parallel import blocks, run_parallel
from omnirank.core.parameters import Domain, choice
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Table
from omnirank.rankers.base import BaseRanker
from omnirank.shards.dataset import ShardedDataset

MEASURES = ("variance", "dispersion")
# Blocks of features; their number does not depend on that of the workers.
_BLOCKS = 64
# The variance of larger numbers is not finite.
_LARGEST = 1e150


class DispersionRanker(BaseRanker):
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

    def __init__(
        self,
        measure: str = "variance",
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.measure = measure

    def fit(
        self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None
    ) -> DispersionRanker:
        """Rank the features.

        Parameters
        ----------
        X, y
            As in :meth:`BaseRanker.fit`; y is not looked at.
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
        spread = _Spread(dataset.features, weights, self.measure)
        parts = run_parallel(spread, blocks(dataset.n_features, _BLOCKS), self.n_jobs, description="ranking features")
        return self._ranking(dataset, np.concatenate(parts), self.measure)

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        return self._ranking(data, _scores_in_parts(data, self.measure, self.n_jobs), self.measure)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Scores of a block of features."""

    table: Table
    weights: np.ndarray
    measure: str

    def __call__(self, block: range) -> np.ndarray:
        score = _variance if self.measure == "variance" else _dispersion
        return np.array([score(self.table, i, self.weights) for i in block])


def _variance(table: Table, i: int, weights: np.ndarray) -> float:
    cells = table.column(i)
    if table.is_nominal[i]:
        return _of_shares(_level_shares(cells, weights), "variance")
    known = ~np.isnan(cells)
    values, counted = _scaled(cells[known].astype(np.float64)), weights[known]
    if values is None:
        return 0.0
    units = 2 * float(min(np.ptp(cells[known] / 2), _LARGEST / 2))
    mean = counted @ values / counted.sum()
    return float(counted @ (values - mean) ** 2 / counted.sum()) * units * units


def _dispersion(table: Table, i: int, weights: np.ndarray) -> float:
    cells = table.column(i)
    if table.is_nominal[i]:
        return _of_shares(_level_shares(cells, weights), "dispersion")
    known = ~np.isnan(cells)
    values, counted = _scaled(cells[known].astype(np.float64)), weights[known]
    if values is None:
        return 0.0
    means = counted @ np.column_stack([np.exp(values), values]) / counted.sum()
    return float(max(np.log(means[0]) - means[1], 0.0))


def _of_shares(shares: np.ndarray, measure: str) -> float:
    """The score of a nominal feature, from the shares of its levels."""
    if measure == "variance":
        return float(shares @ (1 - shares))
    shares = shares[shares < 1]  # one level only: no rounding
    return float(np.maximum(np.log1p(shares * np.expm1(1.0)) - shares, 0.0).sum())


def _scaled(values: np.ndarray) -> np.ndarray | None:
    """Values from 0 to 1, in halves, which do not overflow; None where they are all the same."""
    if not len(values) or values.min() == values.max():
        return None
    low, high = values.min(), values.max()
    return (values / 2 - low / 2) / (high / 2 - low / 2)


def _level_shares(codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    known = codes >= 0
    counts = np.bincount(codes[known], weights[known])
    return counts / counts.sum() if counts.sum() > 0 else np.zeros(1)


# -- data in parts ------------------------------------------------------------------------------------------


def _scores_in_parts(data: ShardedDataset, measure: str, n_jobs: int | None) -> np.ndarray:
    """Scores from a pass over the data, and what is known of them: ranges, and how often each level occurs."""
    summary = data.summary.loc[list(data.feature_names)]
    nominal = np.array([levels is not None for levels in data.feature_levels])
    ends = summary[["low", "high"]].to_numpy(np.float64)[~nominal].T / 2
    found = run_parallel(partial(_moments, data, ends), range(data.n_shards), n_jobs, description="ranking features")
    total = found[0]
    for more in found[1:]:
        total = _added(total, more)
    n, mean, squares, powers = total.of_numbers
    known = np.maximum(n, 1.0)
    scores = np.zeros(data.n_features)
    if measure == "variance":
        units = 2 * np.minimum(np.nan_to_num(ends[1] - ends[0]), _LARGEST / 2)
        scores[~nominal] = squares / known * units * units
    else:
        scores[~nominal] = np.maximum(np.log(np.where(n > 0, powers / known, 1.0)) - mean, 0.0)
    scores[nominal] = [_of_shares(counts / max(1.0, counts.sum()), measure) for counts in total.of_levels]
    return scores


@dataclass(frozen=True, eq=False)
class _Moments:
    """Sums over some rows.

    of_numbers (4, n_numeric): how many numbers are known; of them, from 0 to 1, the mean, the squared deviations from
    it and the sum of the exponentials. of_levels: how often each level of each nominal feature occurs.
    """

    of_numbers: np.ndarray
    of_levels: list[np.ndarray]


def _moments(data: ShardedDataset, ends: np.ndarray, part: int) -> _Moments:
    total = _Moments(
        np.zeros((4, ends.shape[1])), [np.zeros(len(levels)) for levels in data.feature_levels if levels is not None]
    )
    span = np.where(ends[1] > ends[0], ends[1] - ends[0], np.inf)
    for table in data.tables([part]):
        features = table.select(np.arange(data.n_features))
        values = (features.numeric / 2 - ends[0]) / span
        known = ~np.isnan(values)
        n = known.sum(axis=0)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n, 1)
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        powers = np.where(known, np.exp(np.where(known, values, 0.0)), 0.0).sum(axis=0)
        codes = (features.column(i) for i in np.flatnonzero(features.is_nominal).tolist())
        counts = [
            np.bincount(own[own >= 0], minlength=len(before)).astype(np.float64)
            for own, before in zip(codes, total.of_levels, strict=True)
        ]
        total = _added(total, _Moments(np.array([n, mean, squares, powers]), counts))
    return total


def _added(a: _Moments, b: _Moments) -> _Moments:
    (n, mean, squares, powers), (m, other, more, others) = a.of_numbers, b.of_numbers
    total, apart = n + m, other - mean
    share = m / np.maximum(total, 1)
    moments = np.array([total, mean + apart * share, squares + more + apart**2 * n * share, powers + others])
    return _Moments(moments, [x + y for x, y in zip(a.of_levels, b.of_levels, strict=True)])
