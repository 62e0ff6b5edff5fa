"""Targets as columns: what a leaf averages (prototypes) and what a split separates (clustering).

A numeric variable and a label are one column, a nominal variable is one 0/1 column per level. The Gini index of
a nominal variable equals the summed variance of these columns, so every impurity is a weighted sum of
variances:

    impu(E) = sum_c lambda_c Var(E, z_c),   lambda_c = alpha_v / (A * I_v)

where v is the column's variable, alpha_v its weight, I_v its impurity (variance or Gini index) on the
training set, and A the sum of the weights of all variables that are not constant; of features, A is their number
(`ensembles.plan`).

References
----------
Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Eq. (1), of which
this is the part of the targets or that of the features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, setting
from omnirank.core.variances import column_units, dense_variances, divided, sparse_variances
from omnirank.data.table import Levels, Table, is_sparse
from omnirank.data.target import Target


@dataclass(frozen=True, eq=False)
class PrototypeColumns:
    """The target as numbers whose means in a leaf are its prototype.

    Attributes
    ----------
    matrix : ndarray (n, P) with NaN = unknown, or csr_array (label sets; absent = 0, stored NaN = unknown)
        One column per number, label or level.
    labelled : ndarray of bool
        Examples with any known value; in a sparse matrix the others' rows mean nothing.
    variable : ndarray (P,)
        Target variable of each column.
    level : ndarray (P,)
        Level of a nominal variable's column, -1 otherwise.
    names, levels
        Of the target variables.
    weights : ndarray (T,)
        Weight alpha of each variable.
    """

    matrix: Any
    labelled: np.ndarray
    variable: np.ndarray
    level: np.ndarray
    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    weights: np.ndarray

    @property
    def n_columns(self) -> int:
        """Number of prototype columns."""
        return len(self.variable)

    @property
    def n_variables(self) -> int:
        """Number of target variables."""
        return len(self.names)

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is sparse."""
        return is_sparse(self.matrix)

    @property
    def is_sparse_and_known(self) -> bool:
        """Whether the matrix is sparse and all cells are known: sums over its stored cells are sums over all."""
        return self.is_sparse and bool(self.labelled.all()) and not np.isnan(self.matrix.data).any()

    @cached_property
    def unit(self) -> np.ndarray:
        """Unit of each column's variance: 1, but for columns of extreme range, whose squares floats cannot hold."""
        return column_units(self.matrix)

    def scaled(self, values: Any) -> Any:
        """Return values or means of all columns in the units of their variances, where squares are safe."""
        return divided(values, self.unit)

    @cached_property
    def variance(self) -> np.ndarray:
        """Biased variance of the known values of each column, in its `unit`."""
        return variances_of(self, None)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of the known values of each column, in the column's own units."""
        return np.sqrt(self.variance) * self.unit

    @property
    def impurity(self) -> np.ndarray:
        """Impurity of each variable: variance of a number (in its `unit`) or label, Gini index of a nominal one."""
        return _impurities(self, self.variance)

    @property
    def is_constant(self) -> bool:
        """Whether no variable that counts varies, so that there is nothing to split on."""
        return not ((self.impurity > 0) & (self.weights > 0)).any()

    def dense(self) -> np.ndarray:
        """Return the matrix as floats, NaN = unknown."""
        if not self.is_sparse:
            return self.matrix
        values = self.matrix.toarray()
        values[~self.labelled] = np.nan
        return values


@dataclass(frozen=True, eq=False)
class ClusteringColumns:
    """Which prototype columns a split separates, and how much each counts.

    Attributes
    ----------
    columns : ndarray (C,)
        Positions in the prototype columns; constant variables and absent levels are left out, of a nominal
        with two levels one column is enough.
    weights : ndarray (C,)
        lambda of each column; the total impurity of the training set is 1 when targets are normalised.
    unit : ndarray (C,)
        What each column is divided by before it is weighed: 1, but for extreme ranges.
    """

    columns: np.ndarray
    weights: np.ndarray
    unit: np.ndarray

    def cells(self, values: Any) -> Any:
        """Return these columns of values or means of all prototype columns, each in its unit."""
        return divided(values[:, self.columns], self.unit)


def prototype_columns(target: Target, weights: np.ndarray | None = None) -> PrototypeColumns:
    """Return the prototype columns of a target.

    Examples
    --------
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.columns import prototype_columns
    >>> target, _ = target_from(["a", "b", "c"])
    >>> prototype_columns(target).matrix.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if weights is None:
        weights = np.ones(target.n_targets)
    if not target.is_nominal.any():
        variable, level = np.arange(target.n_targets), np.full(target.n_targets, -1)
        return PrototypeColumns(target.values, target.labelled, variable, level, target.names, target.levels, weights)
    parts, owners, levels = [], [], []
    for v, lev in enumerate(target.levels):
        cells = target.values[:, v]
        if lev is None:
            parts.append(cells[:, None])
            owners.append([v])
            levels.append([-1])
            continue
        hot = (cells[:, None] == np.arange(len(lev))).astype(np.float64)
        hot[np.isnan(cells)] = np.nan
        parts.append(hot)
        owners.append([v] * len(lev))
        levels.append(list(range(len(lev))))
    return PrototypeColumns(
        np.hstack(parts),
        target.labelled,
        np.concatenate(owners).astype(np.intp),
        np.concatenate(levels).astype(np.intp),
        target.names,
        target.levels,
        weights,
    )


def feature_columns(table: Table, weights: np.ndarray | None = None, cells: Any = None) -> PrototypeColumns:
    """Return the features as the prototype columns of unsupervised and semi-supervised trees.

    Parameters
    ----------
    table : Table
        The features.
    weights : ndarray, optional
        Weight of each feature, 1 by default.
    cells : csc_array, optional
        The non-zero cells of a table without missing cells: where given, the columns are sparse, and a nominal feature
        of two levels is one column, 1 for its second level.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.tasks.columns import feature_columns
    >>> table = Table.from_columns(["size", "kind"], [np.array([1.5, 2.5]), np.array([1, 0])], [None, ("a", "b")])
    >>> feature_columns(table).matrix.tolist()
    [[1.5, 0.0, 1.0], [2.5, 1.0, 0.0]]
    """
    if cells is None and (table.is_sparse or table.is_nominal.any() or table.dtype != np.float64):
        return prototype_columns(Target.from_table(table), weights)
    if cells is None:  # wide data take much memory, and these are only read
        labelled = ~np.isnan(table.numeric).all(axis=1)
        return prototype_columns(Target(table.names, table.levels, table.numeric, labelled), weights)
    n = table.n_columns
    return PrototypeColumns(
        sparse.csr_array(cells).astype(np.float64),
        np.ones(table.n_rows, bool),
        np.arange(n),
        np.full(n, -1),
        table.names,
        table.levels,
        np.ones(n) if weights is None else weights,
    )


def clustering_columns(
    columns: PrototypeColumns, sample_weight: np.ndarray | None = None, normalize: bool = True
) -> ClusteringColumns:
    """Return the clustering columns of a target and their weights lambda.

    Parameters
    ----------
    columns : PrototypeColumns
        The coded training target.
    sample_weight : ndarray, optional
        Weights of the examples in the training variances.
    normalize : bool
        Divide every variable by its impurity on the training set; otherwise lambda_c = alpha_v / A.

    Examples
    --------
    A binary class is one column, and the impurity of the training set is 1:

    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.columns import clustering_columns, prototype_columns
    >>> target, _ = target_from(["a", "b", "b", "b"])
    >>> clustering = clustering_columns(prototype_columns(target))
    >>> clustering.columns.tolist(), (clustering.weights * 3 / 16).tolist()
    ([0], [1.0])
    """
    variance = columns.variance if sample_weight is None else variances_of(columns, sample_weight)
    impurity = _impurities(columns, variance)
    keep = (impurity > 0) & (columns.weights > 0)
    total = columns.weights[keep].sum()
    scale = np.zeros(columns.n_variables)
    scale[keep] = columns.weights[keep] / total
    if normalize:
        scale[keep] /= impurity[keep]
    positions = np.flatnonzero(keep[columns.variable] & (variance > 0))
    owner = columns.variable[positions]
    # The two columns of a variable with two levels mirror each other: the first of them, twice.
    paired = (np.bincount(owner, minlength=columns.n_variables) == 2)[owner]
    second = paired & np.append(False, owner[1:] == owner[:-1])
    weights = scale[owner] * np.where(paired, 2.0, 1.0)
    kept = positions[~second]
    if not normalize:
        _refuse_units(columns, kept)
    return ClusteringColumns(kept, weights[~second], columns.unit[kept])


def _refuse_units(columns: PrototypeColumns, positions: np.ndarray) -> None:
    """Raise a DataError where floats cannot hold a variance that is not divided by that of the training set."""
    odd = positions[columns.unit[positions] != 1]
    if len(odd):
        raise DataError(
            f"target {columns.names[columns.variable[odd[0]]]!r} has a range of about {columns.unit[odd[0]]:.0e}, "
            f"whose square floats do not hold: set {setting('normalize_targets', True)}, or change its unit"
        )


def plain_columns(
    columns: PrototypeColumns, clustering: ClusteringColumns, sample_weight: np.ndarray | None = None
) -> ClusteringColumns:
    """Return the clustering columns with variables that are not divided by their impurities.

    Divided by its impurity, a rare label counts as much as a common one, although few examples cannot show how to
    predict it. Together the variables count as much as before: the impurity of the training set stays the same.

    Parameters
    ----------
    columns : PrototypeColumns
        The coded training target, in which every variable is one column, such as label sets.
    clustering : ClusteringColumns
        Its clustering columns.
    sample_weight : ndarray, optional
        Weights of the examples in the training variances.

    Examples
    --------
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.columns import clustering_columns, plain_columns, prototype_columns
    >>> target, _ = target_from([[1, 0], [0, 0], [0, 1], [0, 1]], "multi-label")
    >>> columns = prototype_columns(target)
    >>> plain_columns(columns, clustering_columns(columns)).weights.round(3).tolist()
    [2.286, 2.286]
    """
    weights = columns.weights[columns.variable[clustering.columns]].astype(np.float64)
    variance = columns.variance if sample_weight is None else variances_of(columns, sample_weight)
    variance = variance[clustering.columns]
    return replace(clustering, weights=weights * (clustering.weights @ variance) / (weights @ variance))


def _impurities(columns: PrototypeColumns, variance: np.ndarray) -> np.ndarray:
    return np.bincount(columns.variable, weights=variance, minlength=columns.n_variables)


def variances_of(columns: PrototypeColumns, sample_weight: np.ndarray | None) -> np.ndarray:
    """Return the biased variance of the known values of every column, in its unit."""
    weight = columns.labelled.astype(np.float64)
    if sample_weight is not None:
        weight = weight * sample_weight
    return (sparse_variances if columns.is_sparse else dense_variances)(columns.scaled(columns.matrix), weight)
