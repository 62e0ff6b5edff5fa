"""In which direction a feature goes with a target, on its own: signs that scores do not have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from omnirank.data.dataset import Dataset

HINT = (
    "how this feature goes with the target on its own (Spearman's correlation; the class or category with the highest "
    "mean rank; the class that a category goes with most). The score may rest on more: this is a marginal association"
)
UNCLEAR = "no clear one"
# Correlations below so many of their standard deviations under chance, 1 / sqrt(n), have no clear sign.
_DEVIATIONS = 2.0
_FEWEST = 5


class Direction(NamedTuple):
    """A direction in words, and its sign: 1 (more of the feature, more of the target), -1, or 0 where there is none."""

    words: str
    sign: int = 0


class _Variable(NamedTuple):
    """Values of the rows that are known in both; levels of a nominal variable."""

    values: np.ndarray
    levels: tuple[str, ...] | None


def direction(data: Dataset, feature: int, target: int = 0) -> Direction:
    """Return in which direction a feature goes with a target of the data, each by its number.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.report.directions import direction
    >>> iris = om.datasets.load_sample("iris")
    >>> direction(iris, 3).words, direction(iris, 1).words
    ('highest in virginica', 'highest in setosa')
    >>> numbers = om.Dataset([[1.0], [2.0], [3.0], [5.0], [4.0], [6.0]], [9.5, 8.0, 8.5, 7.0, 6.0, 5.0])
    >>> direction(numbers, 0)
    Direction(words='falls (ρ -0.89)', sign=-1)
    """
    if data.target is None:
        return Direction(UNCLEAR)
    column = np.asarray(data.features.column(feature), dtype=np.float64)
    nominal = bool(data.features.is_nominal[feature])
    truth = data.target.select([target]).dense()[:, 0]
    known = ~np.isnan(truth) & ((column >= 0) if nominal else ~np.isnan(column))
    if known.sum() < _FEWEST:
        return Direction(UNCLEAR)
    levels = data.features.levels[feature] if nominal else None
    classes = None if data.target.is_labels else data.target.levels[target]
    one = _Variable(column[known], None if levels is None else tuple(map(str, levels)))
    other = _Variable(truth[known], None if classes is None else tuple(map(str, classes)))
    return _between(one, other)


def _between(one: _Variable, other: _Variable) -> Direction:
    if one.levels is None and other.levels is None:
        rho = _correlation(rankdata(one.values), rankdata(other.values))
        if abs(rho) < _least(one):
            return Direction(UNCLEAR)
        return Direction(f"{'rises' if rho > 0 else 'falls'} (ρ {rho:.2f})", 1 if rho > 0 else -1)
    if one.levels is None:
        assert other.levels is not None
        found = _highest(other, one.values)
        return Direction(UNCLEAR if found is None else f"highest in {other.levels[found]}")
    if other.levels is None:
        found = _highest(one, other.values)
        return Direction(UNCLEAR if found is None else f"highest for {one.levels[found]}")
    return _together(one, other)


def _highest(groups: _Variable, numbers: np.ndarray) -> int | None:
    """The group in which numbers have the highest mean rank, if they go with it clearly."""
    ranks, codes = rankdata(numbers), groups.values.astype(np.int64)
    counts = np.bincount(codes)
    means = np.bincount(codes, weights=ranks) / np.maximum(counts, 1)
    found = int(np.where(counts > 0, means, -np.inf).argmax())
    clear = _correlation((codes == found).astype(float), ranks) >= _least(groups)
    return found if clear else None


def _together(one: _Variable, other: _Variable) -> Direction:
    """The category and the class that occur together more often than by chance, most of all (Pearson residuals)."""
    assert one.levels is not None
    assert other.levels is not None
    counts = np.zeros((len(one.levels), len(other.levels)))
    np.add.at(counts, (one.values.astype(np.int64), other.values.astype(np.int64)), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    residuals = np.divide(counts - expected, np.sqrt(expected), out=np.zeros_like(counts), where=expected > 0)
    row, column = np.unravel_index(residuals.argmax(), residuals.shape)
    if residuals[row, column] < _DEVIATIONS:
        return Direction(UNCLEAR)
    return Direction(f"{one.levels[row]} goes with {other.levels[column]}")


def _least(variable: _Variable) -> float:
    return _DEVIATIONS / float(np.sqrt(len(variable.values)))


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else 0.0
