"""Features as the columns that graph methods see: all numbers, known, centred, and of one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.core.errors import DataError, logger
from omnirank.core.variances import column_units, divided
from omnirank.data.table import Table

# Columns are dense: what they may take.
_MOST_BYTES = 4 * 2**30
_WIDTH = 64


@dataclass(frozen=True, eq=False)
class GraphColumns:
    """Columns of all features that vary.

    Attributes
    ----------
    values : ndarray of shape (n, C)
        A number is one column of mean 0 and variance 1. A nominal feature is a 0/1 column per level (one for two
        levels), centred and divided by the root of its Gini index: the variances of its columns add up to 1.
    feature : ndarray of int
        Feature of each column, ascending.
    n_features : int
        Number of features, constant ones included.
    """

    values: np.ndarray
    feature: np.ndarray
    n_features: int

    @property
    def variances(self) -> np.ndarray:
        """Variance of each column; those of a feature add up to 1."""
        return np.einsum("ij,ij->j", self.values, self.values) / max(1, len(self.values))

    def effects(self, coefficients: np.ndarray) -> np.ndarray:
        """Return how much columns move what their coefficients predict: the coefficients for columns of variance 1.

        Columns of levels have small variances, and so large coefficients.
        """
        return coefficients * np.sqrt(self.variances)

    def independent(self) -> GraphColumns:
        """Return the columns without one level of each feature that has several, that with the largest variance.

        The columns of all levels add up to 0: some coordinates would find nothing but that.
        """
        variances = self.variances
        # within a feature by descending variance: the first of several columns is left out
        order = np.lexsort((-variances, self.feature))
        first = np.unique(self.feature[order], return_index=True)[1]
        several = np.bincount(self.feature, minlength=self.n_features)[self.feature[order[first]]] > 1
        kept = np.ones(len(self.feature), bool)
        kept[order[first[several]]] = False
        return GraphColumns(self.values[:, kept], self.feature[kept], self.n_features)

    def by_feature(self, importances: np.ndarray) -> np.ndarray:
        """Return the importance of each feature: the mean over its columns, weighted by their variances.

        Larger is better. A feature that does not vary has the least importance of all.

        Parameters
        ----------
        importances : ndarray
            One number per column, larger is better.
        """
        means = np.full(self.n_features, importances.min(initial=np.inf) if len(importances) else 0.0)
        weights = self.variances
        total = np.bincount(self.feature, weights, self.n_features)
        sums = np.bincount(self.feature, weights * importances, self.n_features)
        varies = np.bincount(self.feature, minlength=self.n_features) > 0
        means[varies] = sums[varies] / total[varies]
        return means


def graph_columns(table: Table) -> GraphColumns:
    """Return the features as columns; missing cells take the mean or the most frequent level of the known ones.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.graphs.columns import graph_columns
    >>> size, kind = np.array([1.0, 3.0, 1.0, 3.0]), np.array([0, 1, 2, 2])
    >>> table = Table.from_columns(["size", "kind"], [size, kind], [None, ("a", "b", "c")])
    >>> columns = graph_columns(table)
    >>> columns.values[:, 0].tolist(), columns.feature.tolist(), round(float(columns.variances[1:].sum()), 9)
    ([-1.0, 1.0, -1.0, 1.0], [0, 1, 1, 1], 1.0)
    """
    if table.n_missing:
        logger.info("%d missing cells take the mean or the most frequent level of the known ones", table.n_missing)
    nominal = np.flatnonzero(table.is_nominal)
    _refuse_beyond(table, nominal)
    parts, owners = [], []
    numbers = np.flatnonzero(~table.is_nominal)
    for start in range(0, len(numbers), _WIDTH):
        chosen = numbers[start : start + _WIDTH]
        scaled, varies = _standardised(_number_cells(table, chosen))
        parts.append(scaled[:, varies])
        owners.append(chosen[varies])
    for feature in nominal.tolist():
        hot = _one_hot(table.column(feature))
        parts.append(hot)
        owners.append(np.full(hot.shape[1], feature))
    owner = np.concatenate(owners).astype(np.intp)
    order = np.argsort(owner, kind="stable")
    values = np.empty((table.n_rows, len(owner)))
    place, start = np.argsort(order, kind="stable"), 0
    while parts:  # given back one by one: there are never two copies of all columns
        part = parts.pop(0)
        values[:, place[start : start + part.shape[1]]] = part
        start += part.shape[1]
    return GraphColumns(values, owner[order], table.n_columns)


def _refuse_beyond(table: Table, nominal: np.ndarray) -> None:
    n_columns = table.n_columns - len(nominal) + sum(len(table.levels[i] or ()) for i in nominal)
    size = 8 * table.n_rows * n_columns
    if size > _MOST_BYTES:
        raise DataError(
            f"graph methods hold all {n_columns} columns of {table.n_rows} examples as numbers, {size / 2**30:.1f} GB, "
            f"and refuse more than {_MOST_BYTES / 2**30:.0f} GB: take fewer examples or features"
        )


def _number_cells(table: Table, chosen: np.ndarray) -> np.ndarray:
    if table.is_sparse:
        return table.matrix[:, chosen].toarray().astype(np.float64)
    return table.numeric[:, table.slots[chosen]].astype(np.float64)


def _standardised(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of mean 0 and variance 1, missing cells at 0, and which of them vary."""
    cells = divided(cells, column_units(cells))
    known = ~np.isnan(cells)
    low = np.min(cells, axis=0, initial=np.inf, where=known)
    varies = np.max(cells, axis=0, initial=-np.inf, where=known) > low
    # twice: where an offset is large, the first mean is rounded
    for _ in range(2):
        centre = np.sum(cells, axis=0, where=known) / np.maximum(1, known.sum(axis=0))
        cells = np.where(known, cells - centre, np.nan)
    cells[~known] = 0.0
    spread = np.sqrt(np.einsum("ij,ij->j", cells, cells) / len(cells))
    return cells / np.where(varies, spread, 1.0), varies


def _one_hot(codes: np.ndarray) -> np.ndarray:
    """Columns of the levels that occur; none where fewer than two do."""
    counts = np.bincount(codes[codes >= 0])
    if np.count_nonzero(counts) < 2:
        return np.empty((len(codes), 0))
    codes = np.where(codes < 0, counts.argmax(), codes)
    levels = np.flatnonzero(counts)
    hot = (codes[:, None] == (levels[1:] if len(levels) == 2 else levels)).astype(np.float64)
    hot -= hot.mean(axis=0)
    return hot / np.sqrt(np.einsum("ij,ij->", hot, hot) / len(hot))
