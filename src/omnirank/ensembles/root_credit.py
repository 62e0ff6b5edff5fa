r"""What each feature tells alone: the gains of all its tests of all examples, less what chance adds to them.

A test of a tree's root separates all examples. With the weighed and centred columns :math:`u_{ic} = w_i (z_{ic} - \bar
z_c)` of the clustering space, and the weights :math:`W_L` and :math:`W_R` of its sides, its gain is

.. math:: \sum_c \Big(\sum_{i \in L} u_{ic}\Big)^2 \Big(\frac{1}{W_L} + \frac{1}{W_R}\Big)
          = \sum_{i,k} K_{ik} \sum_c u_{ic} u_{kc},

where :math:`K_{ik}` depends on the feature only. The kernel of a feature is the mean of those of its tests. A number
has a test between each two neighbouring values, whose probability is proportional to the weight of the examples that
have one of the two. k levels have :math:`K_{ik} = ([x_i = x_k] / W_{x_i} - 1 / W) / (k - 1)`, the mean over contrasts
of levels. A pair of an example with itself tells nothing. Without these pairs, whose sum is D, and without what
centring leaves of them,

.. math:: s_f = \sum_{i,k} K_{ik} \sum_c u_{ic} u_{kc} - \frac{D_f}{1 - 2h}
          + \frac{h \sum_{i,c} u_{ic}^2}{W (1 - h) (1 - 2h)}, \qquad
          D_f = \sum_i K_{ii} \sum_c u_{ic}^2, \qquad h = \sum_i w_i^2 / W^2.

With equal weights, h = 1 / n, this is a sum over pairs of different examples in which no target meets itself (the
kernel is U-centred), so that its expectation is 0 over all permutations of the target. It is what the feature is
credited with at the root of a tree, over all bootstraps and tests, as out-of-bag examples confirm it
(:mod:`omnirank.ensembles.unbiased`). Where bootstraps draw groups of examples, groups take the place of examples.
Examples with a missing cell are left out.

References
----------
Scholz, Stephens: K-sample Anderson-Darling tests. JASA 82, 1987 (the same kernel, for classes and untied numbers).
Szekely, Rizzo: Partial distance correlation with methods for dissimilarities. Ann. Statist. 42, 2014 (U-centring).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from omnirank.data.table import Table
from omnirank.trees.layout import in_order

# Cells that are ordered at once, for one use and for several, and cells of which the order is kept.
_MOST_CELLS, _MOST_KEPT = (2**13, 2**16), 2**21
# Columns of which sums are held at once.
_MOST_COLUMNS = 8


class Judges(NamedTuple):
    """Columns that judge tests; those of a feature do not judge its own."""

    values: np.ndarray  # (examples, columns): weighed and centred, 0 where unknown
    owner: np.ndarray  # the feature that a column comes from, -1: none
    variable: np.ndarray  # of the target, by which scores are split


class RootCredit(NamedTuple):
    """Credit of the features.

    Attributes
    ----------
    row : ndarray (features,)
        The credit.
    table : ndarray (variables, features)
        The same for single variables.
    by_example : ndarray (features, groups)
        What each group of examples adds to it.
    of_themselves : ndarray (features,)
        What groups would add that meet themselves.
    n_values : ndarray of int (features,)
        How many different values each feature has; the negative number of levels.
    null : ndarray (5, features)
        A statistic (the credit, where all rows weigh the same) with its standard deviation, skewness and excess
        kurtosis over permutations, and the p value in pairs; NaN: not defined.
    """

    row: np.ndarray
    table: np.ndarray
    by_example: np.ndarray
    of_themselves: np.ndarray
    n_values: np.ndarray
    null: np.ndarray = np.zeros((5, 0))

    def added(self, other: RootCredit) -> RootCredit:
        """Return the credit by the columns of both."""
        return self._replace(
            row=self.row + other.row,
            table=self.table + other.table,
            by_example=self.by_example + other.by_example,
            of_themselves=self.of_themselves + other.of_themselves,
        )


def root_credit(
    rows: OrderedRows, weight: np.ndarray, judges: Judges, groups: np.ndarray, n_variables: int = 0, n_places: int = 0
) -> RootCredit:
    """Return the credit of each feature.

    Parameters
    ----------
    rows : OrderedRows
        The features.
    weight : ndarray (examples,)
        Weights of the examples, all positive.
    judges : Judges
        Columns of the clustering space.
    groups : ndarray (examples,)
        Number of the group of each example.
    n_variables : int
        Number of target variables; 0: scores are not split.
    n_places : int
        Groups are numbered modulo this where the sums by example are wanted; 0: they are not.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.ensembles.root_credit import Judges, OrderedRows, root_credit
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), np.array([-1.5, -0.5, 0.5, 1.5])
    >>> judges = Judges(y[:, None], np.array([-1]), np.array([0]))
    >>> root_credit(OrderedRows(Table.from_numeric(X)), np.ones(4), judges, np.arange(4)).row.round(3)
    array([ 0.778, -0.667])
    """
    from omnirank.ensembles.kernels.root_credit import Columns, Room, add_credit

    u, w = judges.values, weight.astype(np.float64)
    places, grouped = groups % max(n_places, 1), _grouped(groups)
    (n, n_columns), n_features = u.shape, rows.table.n_columns
    width = min(n_columns, _MOST_COLUMNS)
    room = Room(
        weight=np.zeros(n + 1),
        sums=np.zeros((n + 1, width)),
        squares=np.zeros((n + 1, width)),
        directions=np.zeros((n + 1 if n_places else 0, width)),
        opened=np.full(n + 2, np.nan),
        step=np.zeros(n + 1),
        share=np.zeros(n + 1),
        parts=np.zeros((3, n + 2)),
        centre=np.zeros(width),
        silent=np.zeros(width, bool),
        left=np.zeros(width),
        totals=np.zeros(width),
        value=np.zeros(n, np.int64),
        count=np.zeros(n + 2, np.int64),
        by_value=np.zeros(len(grouped.rows), np.int64),
        ordered=np.zeros(len(grouped.rows), np.int64),
        ends=np.zeros(len(grouped.starts) - 1, np.int64),
        inside=np.zeros(len(grouped.rows)),
    )
    blocks, sums, of_weights = [slice(j, j + width) for j in range(0, n_columns, max(width, 1))], [], float(w @ w)
    for block in blocks:
        own = np.ascontiguousarray(u[:, block])
        sums.append(np.array([own.sum(axis=0), np.einsum("ij,ij->j", own, own), w @ own]))
    parts = [np.zeros((2, n_features, some.shape[1])) for some in sums]
    n_values = np.ones(n_features, np.int64)
    by_example = np.zeros((n_features if n_places else 0, n_places))
    for values in rows:
        for block, some, part in zip(blocks, sums, parts, strict=True):
            columns = Columns(np.ascontiguousarray(u[:, block]), w, judges.owner[block], some, of_weights)
            add_credit(values, columns, grouped, places, room, n_values, *part, by_example)
    credit, chances = np.concatenate(parts, axis=2) if parts else np.zeros((2, n_features, 0))
    split = np.zeros((n_variables, n_features))
    if n_variables:
        np.add.at(split, judges.variable, credit.T)
    return RootCredit(
        credit.sum(axis=1), split, by_example, chances.sum(axis=1), np.where(rows.table.is_nominal, -n_values, n_values)
    )


def _grouped(groups: np.ndarray) -> Any:
    """The rows of groups of several rows."""
    from omnirank.ensembles.kernels.root_credit import Grouped

    _, number, size = np.unique(groups, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[number] > 1)
    sizes, group = size[size > 1], (np.cumsum(size > 1) - 1)[number]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Grouped(rows[np.argsort(group[rows], kind="stable")], starts, group)


class OrderedRows:
    """Rows by their values of each feature, in blocks of features.

    Parameters
    ----------
    table : Table
        The features.
    kept : bool
        Keep all blocks where they take little memory, since they are needed several times.
    """

    def __init__(self, table: Table, kept: bool = False) -> None:
        self.table = table
        self._all = np.arange(table.n_columns)
        n_cells = table.matrix.nnz if table.is_sparse else table.n_rows * table.n_columns
        self._width = max(1, _MOST_CELLS[kept] * table.n_columns // max(n_cells, 1))
        self._kept = None
        self._kept = list(self) if kept and n_cells <= _MOST_KEPT else None

    def __iter__(self) -> Iterator[Any]:
        """Yield blocks of all features."""
        return self.of(self._all)

    def of(self, features: np.ndarray) -> Iterator[Any]:
        """Yield blocks of some features, of sparse ones the cells that are not 0."""
        if self._kept is not None and len(features) == len(self._all):
            yield from self._kept
            return
        for some in np.split(features, range(self._width, len(features), self._width)):
            nominal = self.table.is_nominal[some]
            if self.table.is_sparse:
                yield _of_cells(self.table, some, nominal)
            else:
                for kind in (False, True):
                    if (nominal == kind).any():
                        yield _of_table(self.table, some[nominal == kind], kind)


def _of_table(table: Table, features: np.ndarray, nominal: bool) -> Any:
    from omnirank.ensembles.kernels.root_credit import Values

    cells = np.ascontiguousarray((table.codes if nominal else table.numeric)[:, table.slots[features]].T)
    order, cells = in_order(np.where(cells < 0, np.nan, cells) if nominal else cells)
    n_known = cells.shape[1] - np.isnan(cells).sum(axis=1)
    new = np.ones(cells.shape, bool)
    new[:, 1:] = cells[:, 1:] != cells[:, :-1]
    starts = np.arange(len(features) + 1) * cells.shape[1]
    zero = np.full(len(features), -1)
    return Values(features, np.full(len(features), nominal), order.ravel(), new.ravel(), starts, n_known, zero)


def _of_cells(table: Table, features: np.ndarray, nominal: np.ndarray) -> Any:
    from omnirank.ensembles.kernels.root_credit import Values

    matrix = table.matrix[:, features]
    matrix.eliminate_zeros()
    feature = np.repeat(np.arange(len(features)), np.diff(matrix.indptr))
    order = np.lexsort((matrix.data, feature))  # NaN last
    cells, rows = matrix.data[order], matrix.indices[order].astype(np.int64)
    new = np.ones(len(cells), bool)
    new[1:] = (cells[1:] != cells[:-1]) | (feature[1:] != feature[:-1])
    known = np.bincount(feature[~np.isnan(matrix.data)], minlength=len(features))
    below = np.bincount(feature[matrix.data < 0], minlength=len(features))  # listed before the zeros
    return Values(features, nominal, rows, new, matrix.indptr.astype(np.int64), known, below)
