"""How much of each target variable's impurity each feature explains alone, from a few matrix products.

Variables become columns with 0 in place of missing values: one column for a number or a binary variable, one
0/1 column per level otherwise. With feature columns A, target columns T, example weights b and masks of known
values M, every mean, variance and covariance over the examples known in both comes from A'bT, A'bM_T,
(A^2)'bM_T, M_A'bT, M_A'b(T^2) and M_A'bM_T. Missing cells cost products, no loops, and sparse stays sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.data.table import Table
from omnirank.tasks.columns import PrototypeColumns, clustering_columns

# Columns per block: products of blocks stay within a few megabytes.
_WIDTH = 256
# A sparse column is centred, and so made dense, where more than this share of its cells is stored. Below it
# the variance is at least 1 - share times the mean square, so that nothing is lost without centring.
_DENSE_SHARE = 0.2
# Sums that cancel to less than this part of their terms are zero.
_ROUNDING = 1e-12
# Sums that cancel to less than this part have lost digits: cells that are in memory are looked at again.
_DOUBTFUL = 1e-6
# Values lie within [-1, 1]; those that are less apart are equal.
_EQUAL = 1e-12
# Cells that are held dense at a time.
_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Columns:
    """Some variables as columns.

    Attributes
    ----------
    values : ndarray or sparse array (n, C)
        0 where missing; a dense number is centred and scaled to at most 1.
    unknown : ndarray or sparse array (n, V), or None
        1 where the variable is missing; None when nothing is.
    variable : ndarray (C,)
        Variable of each column, from 0 to V - 1 without gaps, ascending.
    positions : ndarray (V,)
        Which variables of the data these are.
    one_hot : bool
        Whether the columns are levels.
    """

    values: Any
    unknown: Any
    variable: np.ndarray
    positions: np.ndarray
    one_hot: bool = False

    @property
    def starts(self) -> np.ndarray:
        """First column of each variable."""
        return np.searchsorted(self.variable, np.arange(len(self.positions)))

    @property
    def varies(self) -> np.ndarray:
        """Which variables have two different known values."""
        stored = np.asarray((self.values != 0).sum(axis=0)).ravel()
        present = np.bincount(self.variable[stored > 0], minlength=len(self.positions))
        if self.one_hot or not _is_sparse(self.values):
            return present > int(self.one_hot)
        unknown = 0 if self.unknown is None else np.asarray(self.unknown.sum(axis=0)).ravel()
        return (present > 0) & (stored < self.values.shape[0] - unknown)  # some are 0

    def take(self, chosen: np.ndarray) -> Columns:
        """Return some of the variables, by number."""
        own = np.isin(self.variable, chosen)
        unknown = np.zeros((self.values.shape[0], len(chosen))) if self.unknown is None else self.unknown[:, chosen]
        variable = np.searchsorted(chosen, self.variable[own])
        return replace(
            self, values=self.values[:, own], unknown=unknown, variable=variable, positions=self.positions[chosen]
        )

    @classmethod
    def stacked(cls, blocks: Sequence[Columns]) -> Columns:
        """Return the variables of several blocks of rows."""
        cells = [(_dense(block.values, slice(None)), _dense(block.unknown, slice(None))) for block in blocks]
        values, unknown = (np.concatenate(part) for part in zip(*cells, strict=True))
        return replace(blocks[0], values=values, unknown=unknown)


Block = Callable[[], Columns]
# The cells of some variables of a block of features and of one of target columns, in all rows of data in parts.
Cells = Callable[[np.ndarray, np.ndarray], tuple[Columns, Columns]]


def feature_blocks(table: Table, weights: np.ndarray, extents: Extents | None = None) -> list[Block]:
    """Return the features in blocks, each made when it is called; picklable, so that workers may be processes.

    ``extents`` are given where the table is a part of a larger one.
    """
    many = np.array([levels is not None and len(levels) > 2 for levels in table.levels], dtype=bool)
    single = np.flatnonzero(~many)
    blocks: list[Block] = [partial(_levels_block, table, part) for part in _parts(np.flatnonzero(many), _WIDTH // 8)]
    if table.is_sparse:
        stored = np.diff(table.matrix.indptr)[single]
        thin = stored <= _DENSE_SHARE * table.n_rows
        blocks += [partial(_sparse_block, table, part) for part in _parts(single[thin], _WIDTH)]
        single = single[~thin]
    blocks += [partial(_numbers_block, table, part, weights, extents) for part in _parts(single, _WIDTH)]
    return blocks


def target_blocks(columns: PrototypeColumns, weights: np.ndarray, extents: Extents | None = None) -> list[Block]:
    """Return the clustering columns of a target in blocks; ``extents`` are given where it is a part of a larger one."""
    if extents is None:
        chosen = clustering_columns(columns, weights).columns
    else:  # two examples vary in the columns in which all do
        ends = replace(columns, matrix=np.array([extents.low, extents.high]), labelled=np.ones(2, bool))
        chosen = clustering_columns(ends).columns
    variables = np.unique(columns.variable[chosen])
    return [partial(_target_block, columns, chosen, part, weights, extents) for part in _parts(variables, _WIDTH)]


def explained_shares(features: Columns, target: Columns, weights: np.ndarray, adjusted: bool) -> np.ndarray:
    """Return the share of each target variable's impurity that each feature explains (V_features, V_target).

    Squared correlation for a number, correlation ratio for levels, each over the examples known in both,
    times the weight of these among the examples whose target is known. ``adjusted`` takes off what a feature of as
    many levels explains by chance.
    """
    sums = sums_of(features, target, weights)
    moments = _moments(sums, features, target)
    set_from_cells(moments, moments.left <= _DOUBTFUL, features, target, weights)
    return _shares(moments, sums.target_known, weights.sum() / (weights @ weights), adjusted)


def shares_of_sums(
    sums: Sums, features: Columns, target: Columns, adjusted: bool, cells: Cells, width: int
) -> np.ndarray:
    """Return what `explained_shares` does, with weights of 1, from sums that may have been added up in parts.

    ``cells`` gives the cells of doubtful pairs, of at most ``width`` features and ``width`` target variables at a time.
    """
    moments = _moments(sums, features, target)
    doubtful = moments.left <= _DOUBTFUL
    for rows in _parts(np.flatnonzero(doubtful.any(axis=1)), width):
        for columns in _parts(np.flatnonzero(doubtful[rows].any(axis=0)), width):
            pairs = np.ix_(rows, columns)
            some = Moments(*(field[pairs] for field in moments))
            own, other = cells(rows, columns)
            set_from_cells(some, doubtful[pairs], own, other, np.ones(len(own.values)))
            for field, exact in zip(moments, some, strict=True):
                field[pairs] = exact
    return _shares(moments, sums.target_known, 1.0, adjusted)


def _moments(s: Sums, features: Columns, target: Columns) -> Moments:
    first = target.starts
    known = s.known[:, first]
    with np.errstate(divide="ignore", invalid="ignore"):
        if features.one_hot:
            by_level = np.where(s.first > 0, s.cross**2 / s.first, 0.0)
            means = np.add.reduceat(s.first > 0, features.starts, axis=0, dtype=np.intp)
            explained = np.add.reduceat(by_level, features.starts, axis=0) - s.target_first**2 / s.known
            # one level explains nothing, and rounding is no explanation: roots would make it larger
            explained = np.where(means == 1, 0.0, explained)
            left = np.where(s.first == 0, 1.0, np.abs(s.first) / s.feature_total)
            left = np.minimum.reduceat(left, features.starts, axis=0)
        else:
            spread = s.second - s.first**2 / s.known
            scale = s.feature_total + s.weight * (s.first / s.known) ** 2
            left = np.where(s.feature_total > 0, spread / scale, 1.0)
            spread[spread <= _ROUNDING * s.second] = np.inf
            means = 1 + np.isfinite(spread)
            explained = (s.cross - s.first * s.target_first / s.known) ** 2 / spread
        impurity = np.add.reduceat(s.target_second - s.target_first**2 / s.known, first, axis=1)
        explained = np.add.reduceat(explained, first, axis=1)
        left = np.minimum(np.broadcast_to(left, s.known.shape)[:, first], known / s.weight)
        # rounding of each of the three sums counts: of squares, of values and of weights
        scale = np.add.reduceat(s.target_total + s.weight * (s.target_first / s.known) ** 2, first, axis=1)
        left = np.minimum(left, impurity / scale)
    means = np.broadcast_to(means, s.known.shape)[:, first]
    # a pair without common examples gives NaN above
    return Moments(explained, impurity, means.copy(), known.copy(), np.nan_to_num(left))


def _shares(moments: Moments, target_known: np.ndarray, evenness: float, adjusted: bool) -> np.ndarray:
    """``evenness`` is the sum of the weights over that of their squares: 1 for weights of 1."""
    explained, impurity, means, known, left = moments
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.clip(explained / impurity, 0.0, 1.0)
        if adjusted:
            shares = _without_chance(shares, means, known * evenness)
        shares = shares * (known / target_known)
    return np.where((left > _ROUNDING) & np.isfinite(shares), shares, 0.0)


def _without_chance(shares: np.ndarray, k: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Epsilon squared (Kelley 1935): 1 - (1 - share) (m - 1) / (m - k), for k fitted means (a line: 2) of m examples.

    It is 0 on average for a feature that has nothing to do with the target. Where less than one example is left to
    judge by, as with a level for each, it is 0.
    """
    free = m - k
    enough = free > 1 - 1e-9
    return np.where(enough, 1 - (1 - shares) * (m - 1) / np.where(enough, free, 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class Sums:
    """Weighted sums over the examples known in both, one column per target column; those of parts may be added."""

    cross: np.ndarray  # (C_features, C_target) of products
    first: np.ndarray  # (C_features, C_target) of feature values
    second: np.ndarray  # ... of their squares
    target_first: np.ndarray  # (V_features, C_target) of target values
    target_second: np.ndarray  # ... of their squares
    known: np.ndarray  # (V_features, C_target) of the weights
    feature_total: np.ndarray  # (C_features, 1) of squares of feature values, whether the target is known or not
    target_total: np.ndarray  # (C_target,) of squares of target values, whether the feature is known or not
    target_known: np.ndarray  # (V_target,) of the weights where the target is known, whatever the feature
    weight: float  # of all examples

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def sums_of(features: Columns, target: Columns, weights: np.ndarray) -> Sums:
    """Return the sums over some examples."""
    weighted = _row_scaled(target.values, weights)
    squares = weighted * target.values if not _is_sparse(weighted) else weighted.multiply(target.values).tocsc()
    shape = (len(features.positions), len(target.variable))
    # the weights of the examples whose target is known; where that would be dense, those of the others are taken off
    thin = _is_sparse(target.unknown)
    shown = weights[:, None] if target.unknown is None or thin else weights[:, None] * (1.0 - target.unknown)
    hidden = _row_scaled(target.unknown, weights) if thin else None

    def over_feature_known(columns: Any) -> np.ndarray:
        """Sums of target-side columns over the examples whose feature is known."""
        if features.unknown is not None and not _is_sparse(features.unknown):
            return _product(1.0 - features.unknown, columns)
        total = np.asarray(columns.sum(axis=0)).reshape(1, -1)
        return total if features.unknown is None else total - _product(features.unknown, columns)

    def over_target_known(sums: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Sums over the examples whose target is known, from those of columns of weights."""
        total = sums(shown) if hidden is None else sums(shown) - sums(hidden)
        return total if target.unknown is None else total[:, target.variable]

    values = features.values
    squared = values.multiply(values) if _is_sparse(values) else values**2
    return Sums(
        cross=_product(values, weighted),
        first=over_target_known(partial(_product, values)),
        second=over_target_known(partial(_product, squared)),
        target_first=np.broadcast_to(over_feature_known(weighted), shape),
        target_second=np.broadcast_to(over_feature_known(squares), shape),
        known=np.broadcast_to(over_target_known(over_feature_known), shape),
        feature_total=_product(squared, weights[:, None]),
        target_total=np.asarray(squares.sum(axis=0)).ravel(),
        target_known=_target_known(target, weights),
        weight=float(weights.sum()),
    )


def _target_known(target: Columns, weights: np.ndarray) -> np.ndarray:
    if target.unknown is None:
        return np.full(len(target.positions), weights.sum())
    if not _is_sparse(target.unknown):
        return weights @ (1.0 - target.unknown)
    known = weights.sum() - weights @ target.unknown
    for v in np.flatnonzero(known <= _DOUBTFUL * weights.sum()):
        known[v] = weights[target.unknown[:, [v]].toarray()[:, 0] == 0].sum()
    return known


def _is_sparse(values: Any) -> bool:
    return bool(sparse.issparse(values))


def _product(left: Any, right: Any) -> np.ndarray:
    result = left.T @ right
    return result.toarray() if _is_sparse(result) else np.asarray(result)


def _row_scaled(values: Any, weights: np.ndarray) -> Any:
    if _is_sparse(values):
        return sparse.csc_array(sparse.diags_array(weights) @ values)
    return values * weights[:, None]


# -- making the blocks ------------------------------------------------------------------------------------


def _parts(positions: np.ndarray, width: int) -> Sequence[np.ndarray]:
    return [positions[i : i + width] for i in range(0, len(positions), width)]


def _dense_cells(table: Table, part: np.ndarray) -> np.ndarray:
    """Numbers, and codes of binary variables, as floats; NaN = missing."""
    if table.is_sparse:
        return table.matrix[:, part].toarray().astype(np.float64)
    nominal, slots = table.is_nominal[part], table.slots[part]
    if not nominal.any():
        return np.array(table.numeric[:, slots], np.float64, order="C")
    cells = np.empty((table.n_rows, len(part)))
    cells[:, ~nominal] = table.numeric[:, slots[~nominal]]
    codes = table.codes[:, slots[nominal]]
    cells[:, nominal] = np.where(codes < 0, np.nan, codes)
    return cells


class Extents(NamedTuple):
    """Smallest, largest and about the mean value of each column, over all examples."""

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray

    def take(self, columns: np.ndarray) -> Extents:
        """Return those of some columns."""
        return Extents(self.low[columns], self.high[columns], self.mean[columns])


def _numbers_block(table: Table, part: np.ndarray, weights: np.ndarray, extents: Extents | None = None) -> Columns:
    values, unknown = _centred(_dense_cells(table, part), weights, None if extents is None else extents.take(part))
    return Columns(values, unknown, np.arange(len(part)), part)


def _centred(
    cells: np.ndarray, weights: np.ndarray, extents: Extents | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Cells minus their mean, in units of their range, 0 where missing; and the mask of missing cells.

    Where the cells are some of many, ``extents`` are those of all, so that sums over parts may be added.
    """
    unknown = np.isnan(cells)
    some = bool(unknown.any()) or not len(cells)
    if extents is None:
        known = weights @ ~unknown
        low = np.min(cells, axis=0, where=~unknown, initial=np.inf) if some else cells.min(axis=0)
        high = np.max(cells, axis=0, where=~unknown, initial=-np.inf) if some else cells.max(axis=0)
        low[known == 0] = high[known == 0] = 0.0
    else:
        low, high = extents.low, extents.high
    # From the lowest value on, and by halves: large offsets leave no rounding, large ranges do not overflow.
    size = high / 2 - low / 2
    size[size == 0] = 1.0
    values = cells / 2  # and in place from here on: blocks are large
    values -= low / 2
    values /= size
    if some:
        values[unknown] = 0.0
    if extents is None:
        mean = (weights @ values) / np.where(known > 0, known, 1.0)
    else:
        mean = np.where(high > low, (extents.mean / 2 - low / 2) / size, 0.0)
    values -= mean
    if some:
        values[unknown] = 0.0
    return values, unknown.astype(np.float64) if some else None


def _sparse_block(table: Table, part: np.ndarray) -> Columns:
    matrix = table.matrix[:, part].astype(np.float64)
    values, unknown = _sparse_parts(matrix)
    size = np.zeros(len(part))
    owner = np.repeat(np.arange(len(part)), np.diff(values.indptr))
    np.maximum.at(size, owner, np.abs(values.data))
    values.data /= np.where(size > 0, size, 1.0)[owner]
    return Columns(values, unknown, np.arange(len(part)), part)


def _sparse_parts(matrix: Any) -> tuple[Any, Any]:
    """The known cells, and a 1 where NaN is stored (None if nowhere)."""
    missing = np.isnan(matrix.data)
    values = sparse.csc_array((np.where(missing, 0.0, matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    if not missing.any():
        return values, None
    unknown = sparse.csc_array((missing.astype(np.float64), matrix.indices, matrix.indptr), shape=matrix.shape)
    return values, unknown


def _levels_block(table: Table, part: np.ndarray) -> Columns:
    """One 0/1 column per level."""
    sizes = np.array([len(table.levels[i] or ()) for i in part])
    first = np.cumsum(sizes) - sizes
    rows, columns = [], []
    unknown = np.zeros((table.n_rows, len(part)))
    for j, i in enumerate(part):
        codes = table.column(int(i))
        known = np.flatnonzero(codes >= 0)
        rows.append(known)
        columns.append(first[j] + codes[known])
        unknown[codes < 0, j] = 1.0
    shape = (table.n_rows, int(sizes.sum()))
    where = (np.concatenate(rows), np.concatenate(columns))
    hot = sparse.csc_array((np.ones(len(where[0])), where), shape=shape)
    owner = np.repeat(np.arange(len(part)), sizes)
    return Columns(hot, unknown if unknown.any() else None, owner, part, one_hot=True)


def _target_block(
    columns: PrototypeColumns, chosen: np.ndarray, part: np.ndarray, weights: np.ndarray, extents: Extents | None = None
) -> Columns:
    own = chosen[np.isin(columns.variable[chosen], part)]
    variable = np.searchsorted(part, columns.variable[own])
    if columns.is_sparse:  # labels: every column is a variable of its own
        values, unknown = _sparse_parts(sparse.csc_array(columns.matrix[:, own]))
        return Columns(values, unknown, variable, part)
    values, unknown = _centred(columns.matrix[:, own], weights, None if extents is None else extents.take(own))
    if unknown is not None:
        unknown = unknown[:, np.searchsorted(variable, np.arange(len(part)))]
    return Columns(values, unknown, variable, part)


# -- pairs whose sums cancel, from the cells of the examples known in both ------------------------------------


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
    cells = _centred_common(cells, of_column, common[:, owner])
    impurity = np.add.reduceat((of_column * cells**2).sum(axis=0), starts)
    if one_hot:
        first = x.T @ weight
        means = (first > 0).sum(axis=0)
        sums, divisors = x.T @ (of_column * cells), first[:, owner]
    else:
        line = _centred_common(np.repeat(x, len(part), axis=1), weight, common)
        spread = (weight * line**2).sum(axis=0)
        means = 1 + (spread > 0)
        sums, divisors = (of_column * line[:, owner] * cells).sum(axis=0)[None], spread[None, owner]
    explained = np.where(divisors > 0, sums**2 / np.where(divisors > 0, divisors, 1.0), 0.0).sum(axis=0)
    explained = np.where(means > 1, np.add.reduceat(explained, starts), 0.0)
    return Moments(explained, impurity, means, known, (impurity > 0).astype(np.float64))


def _centred_common(cells: np.ndarray, weight: np.ndarray, common: np.ndarray) -> np.ndarray:
    """Cells of the common examples minus their mean, which weights of sum 1 give; 0 where all are equal."""
    low = np.min(cells, axis=0, where=common, initial=np.inf)
    high = np.max(cells, axis=0, where=common, initial=-np.inf)
    varies = common & (high - low > _EQUAL)
    return np.where(varies, cells - (weight * cells).sum(axis=0), 0.0)


def _dense(values: Any, columns: Any) -> np.ndarray:
    part = values[:, columns]
    return part.toarray() if sparse.issparse(part) else part
