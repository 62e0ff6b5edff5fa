"""What one feature explains of some target variables, from the cells of the examples known in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from omnirank.rankers._explained_variance import Columns

# Values lie within [-1, 1]; those that are less apart are equal.
_EQUAL = 1e-12
# Cells that are held dense at a time.
_CELLS = 1 << 20


class Moments(NamedTuple):
    """Facts about pairs of a feature and a target variable, over the examples known in both (V_features, V_target)."""

    explained: np.ndarray  # impurity of the target that the feature explains
    impurity: np.ndarray  # of the target
    means: np.ndarray  # number of means that the feature fits: levels, or 2 for a line
    known: np.ndarray  # weight of the examples
    left: np.ndarray  # smallest part of a sum that is left after its terms cancel; 0 where nothing can be explained


def set_from_cells(
    moments: Moments, doubtful: np.ndarray, features: Columns, target: Columns, weights: np.ndarray
) -> None:
    """Replace the moments of doubtful pairs by those from the definition, with sums over centred cells."""
    if not doubtful.any():
        return
    for field in moments:
        field[doubtful] = 0.0
    # most doubtful pairs are constant where both are known, which counts show without rounding
    if not features.one_hot:
        doubtful = doubtful & _varies(features, target.unknown)
    varies = _varies(target, features.unknown)
    doubtful = doubtful & np.logical_or.reduceat(varies, target.starts, axis=0).T
    for v in np.flatnonzero(doubtful.any(axis=1)):
        chosen = np.flatnonzero(doubtful[v])
        rows = np.arange(len(weights))
        if features.unknown is not None:
            rows = np.flatnonzero(_dense(features.unknown, [v])[:, 0] == 0)
        x = _dense(features.values, np.flatnonzero(features.variable == v))[rows]
        if not len(rows) or (not features.one_hot and np.ptp(x) <= _EQUAL):
            continue
        width = max(1, _CELLS // len(weights))
        for start in range(0, len(chosen), width):
            part = chosen[start : start + width]
            for field, values in zip(moments, _pairs(x, features.one_hot, target, part, rows, weights), strict=True):
                field[v, part] = values


def _varies(columns: Columns, unknown: Any) -> np.ndarray:
    """Whether a column has another value than its first one where other variables are known (C, V or 1)."""
    values = columns.values
    if sparse.issparse(values):  # or another one than 0
        other = (values != 0).astype(np.float64)
    else:
        known = np.ones_like(values, bool) if columns.unknown is None else (columns.unknown == 0)[:, columns.variable]
        first = values[known.argmax(axis=0), np.arange(values.shape[1])]
        other = ((values != first) & known).astype(np.float64)
    counts = np.asarray(other.sum(axis=0)).reshape(-1, 1)
    if unknown is not None:
        hidden = other.T @ unknown
        counts = counts - (hidden.toarray() if sparse.issparse(hidden) else hidden)
    return counts > 0


def _pairs(
    x: np.ndarray, one_hot: bool, target: Columns, part: np.ndarray, rows: np.ndarray, weights: np.ndarray
) -> Moments:
    columns = np.flatnonzero(np.isin(target.variable, part))
    owner = np.searchsorted(part, target.variable[columns])
    starts = np.searchsorted(owner, np.arange(len(part)))
    cells = _dense(target.values, columns)[rows]
    common = np.ones((len(rows), len(part)), bool)
    if target.unknown is not None:
        common = _dense(target.unknown, part)[rows] == 0
    weight = weights[rows, None] * common
    known = weight.sum(axis=0)
    weight = weight / np.where(known > 0, known, 1.0)  # squares of tiny weights would be 0
    of_column = weight[:, owner]
    cells = _centred(cells, of_column, common[:, owner])
    impurity = np.add.reduceat((of_column * cells**2).sum(axis=0), starts)
    if one_hot:
        first = x.T @ weight
        means = (first > 0).sum(axis=0)
        sums, divisors = x.T @ (of_column * cells), first[:, owner]
    else:
        line = _centred(np.repeat(x, len(part), axis=1), weight, common)
        spread = (weight * line**2).sum(axis=0)
        means = 1 + (spread > 0)
        sums, divisors = (of_column * line[:, owner] * cells).sum(axis=0)[None], spread[None, owner]
    explained = np.where(divisors > 0, sums**2 / np.where(divisors > 0, divisors, 1.0), 0.0).sum(axis=0)
    explained = np.where(means > 1, np.add.reduceat(explained, starts), 0.0)
    return Moments(explained, impurity, means, known, (impurity > 0).astype(np.float64))


def _centred(cells: np.ndarray, weight: np.ndarray, common: np.ndarray) -> np.ndarray:
    """Cells of the common examples minus their mean, which weights of sum 1 give; 0 where all are equal."""
    low = np.min(cells, axis=0, where=common, initial=np.inf)
    high = np.max(cells, axis=0, where=common, initial=-np.inf)
    varies = common & (high - low > _EQUAL)
    return np.where(varies, cells - (weight * cells).sum(axis=0), 0.0)


def _dense(values: Any, columns: Any) -> np.ndarray:
    part = values[:, columns]
    return part.toarray() if sparse.issparse(part) else part
