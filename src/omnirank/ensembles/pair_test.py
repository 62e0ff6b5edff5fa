r"""P values of features in pairs: does the product of two features go along with the target?

Where two features tell something only together (a product, exclusive or), neither does at the root, and few examples
reach the nodes below it that could confirm them. So each feature is tested with each other one. With the centred ranks
:math:`s_{if}` of a number (or the centred indicator of a level) and :math:`r_i` of a column of the target,

.. math:: v_i = r_i s_{if} - \overline{r s_f}, \qquad t_{fg} = \frac{\sum_i v_i s_{ig}}
          {\sqrt{\max(\sum_i v_i^2 s_{ig}^2,\; \sum_i v_i^2 \sum_i s_{ig}^2 / n)}} .

If g tells nothing, its cells are in random order, and the mean of the numerator is 0. The second term is its variance
over these orders. The first one is that of the products themselves: it is larger where two features that tell nothing
go along with each other. P values are by Student's distribution with n - 2 degrees of freedom, and that of a feature is
the smallest of its pairs, times their number (Bonferroni). A missing cell has s = 0. Of many pairs, only those with the
first partners are tested, which are chosen by what they tell alone.

Beside other tests, this one has a share of the error only: p values that are not below it are 1. The second term shows
that of most pairs, in numbers of half the digits; only the others are computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import stdtr, stdtrit
from scipy.stats import rankdata

from omnirank.ensembles.p_values import SHARES
from omnirank.ensembles.root_credit import OrderedRows

# Share of a bound that may be lost to rounding.
_ROUNDED = 0.01
# Columns of a target, and levels of a feature.
_MOST_COLUMNS, _MOST_LEVELS = 8, 10
# Partners, where examples times features times columns of partners would exceed the products, and cells at once.
_FEWEST_PARTNERS, _MOST_PRODUCTS, _MOST_CELLS = 64, 2**29, 2**22


def pair_p_values(rows: OrderedRows, target: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Return the p value of each feature.

    Parameters
    ----------
    rows : OrderedRows
        The features of the examples.
    target : ndarray (examples, columns)
        The clustering columns, weighed and centred.
    alone : ndarray (features,)
        What features tell alone: those that tell most are partners where there are too many.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.ensembles.pair_test import pair_p_values
    >>> from omnirank.ensembles.root_credit import OrderedRows
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> pair_p_values(OrderedRows(Table.from_numeric(X)), X[:, :1] * X[:, 1:2], np.ones(3)) < 0.05
    array([ True,  True, False])
    """
    n, n_features = rows.table.n_rows, rows.table.n_columns
    ranks = _ranks(target)
    values = np.ones(n_features)
    if n < 4 or not len(ranks):
        return values
    most = _MOST_PRODUCTS // max(n * n_features * len(ranks), 1)
    most = min(max(_FEWEST_PARTNERS, most), max(2, 8 * _MOST_CELLS // (n * len(ranks))))
    partners = np.sort(np.argsort(-alone, kind="stable")[:most])
    scores = _scores(rows, partners)
    products = _Products.of(ranks, scores)
    width = max(1, _MOST_CELLS // max(n, len(products.size)))
    for features in np.split(np.arange(n_features), range(width, n_features, width)):
        own = scores if len(features) == len(partners) == n_features else _scores(rows, features)
        np.minimum.at(values, own.owner, products.p_values(own))
    return values


def _ranks(target: np.ndarray) -> np.ndarray:
    """Centred ranks of the columns that vary most, as rows, each once (two classes have one)."""
    size = np.abs(target).max(axis=0, initial=0.0)
    columns = target[:, size > 0] / size[size > 0]
    columns = columns[:, np.argsort(-columns.std(axis=0) * size[size > 0], kind="stable")[:_MOST_COLUMNS]]
    ranks = rankdata(np.round(columns, 9), axis=0) - (len(target) + 1) / 2  # rounding must not break ties
    ranks *= np.sign(np.take_along_axis(ranks, (ranks != 0).argmax(axis=0)[None], axis=0))
    different = {column.tobytes(): column for column in ranks.T}
    return np.array(list(different.values())).reshape(-1, len(target)) / len(target)


class _Scores(NamedTuple):
    """Scores of features."""

    cells: Any  # (columns of features, examples), less the base
    base: np.ndarray  # scores of cells of a sparse table that are 0
    owner: np.ndarray  # feature of each column

    def dense(self) -> np.ndarray:
        """Return all scores."""
        return self.cells.toarray() + self.base[:, None] if sparse.issparse(self.cells) else self.cells

    def squares(self) -> Any:
        """Return their squares, less that of the base."""
        squares = self.cells * self.cells
        return squares + 2 * self.cells * self.base[:, None] if sparse.issparse(squares) else squares


class _Products(NamedTuple):
    """Products of ranks of the target with scores of partners."""

    ranks: np.ndarray  # (columns of the target, examples)
    scores: np.ndarray  # (columns of partners, examples)
    partner: np.ndarray  # of each product, columns of the target first
    rounded: np.ndarray  # (products, examples)
    total: np.ndarray  # sums
    size: np.ndarray  # sums of squares, centred

    @classmethod
    def of(cls, ranks: np.ndarray, scores: _Scores) -> _Products:
        """Return all products."""
        n, dense = ranks.shape[1], scores.dense()
        rounded = (ranks.astype(np.float32)[:, None] * dense.astype(np.float32)).reshape(-1, n)
        total = (ranks @ dense.T).ravel()
        size = (ranks**2 @ (dense**2).T).ravel() - total**2 / n
        return cls(ranks, dense, np.tile(scores.owner, len(ranks)), rounded, total, size)

    def p_values(self, own: _Scores) -> np.ndarray:
        """Return the p values of columns of features."""
        n = self.ranks.shape[1]
        others = own.owner[:, None] != self.partner
        n_tests = np.maximum(others.sum(axis=1), 1) * np.bincount(own.owner)[own.owner]
        squares = own.squares()
        spread = np.asarray(squares.sum(axis=1)) / n + own.base**2
        least = -stdtrit(n - 2, SHARES[2] / 2 / n_tests) * np.sqrt(spread) * (1 - _ROUNDED)
        told = np.abs(own.cells.astype(np.float32) @ self.rounded.T + own.base[:, None] * self.total)
        told = (told >= least[:, None] * np.sqrt(np.maximum(self.size, 0.0))) & others
        mine, theirs = told.any(axis=1).nonzero()[0], told.any(axis=0).nonzero()[0]
        column, place = np.divmod(theirs, len(self.scores))
        products = self.ranks[column] * self.scores[place]
        products -= products.mean(axis=1, keepdims=True)
        squared = products**2
        size, base = squared.sum(axis=1), own.base[mine, None]
        # less the base of a column: that makes no difference to the sums of products, whose mean is 0
        variance = np.maximum(squares[mine] @ squared.T + base**2 * size, spread[mine, None] * size)
        t = np.abs(own.cells[mine] @ products.T) / np.sqrt(np.maximum(variance, 1e-300)) * others[np.ix_(mine, theirs)]
        p = 2 * stdtr(n - 2, -t.max(axis=1, initial=0.0)) * n_tests[mine]
        values = np.ones(len(n_tests))
        values[mine] = np.where(p < SHARES[2], p, 1.0)
        return values


def _scores(rows: OrderedRows, features: np.ndarray) -> _Scores:
    """Scores of features: centred ranks of numbers, levels of others."""
    from omnirank.ensembles.kernels.root_credit import write_ranks

    table, n = rows.table, rows.table.n_rows
    parts, base, owner = [], [], []
    for values in rows.of(features):
        shape, numbers = (len(values.features), n), ~values.nominal
        cells, zero = np.empty(len(values.rows)), np.empty(shape[0])
        write_ranks(values, n, not table.is_sparse, cells, zero)
        if table.is_sparse:
            cells = sparse.csr_array((cells, values.rows, values.starts), shape=shape)
        cells = cells if table.is_sparse else cells.reshape(shape)
        parts.append(cells if numbers.all() else cells[numbers])
        base.append(zero[numbers])
        owner.append(values.features[numbers])
    for f in features[table.is_nominal[features]]:
        levels = level_columns(table.column(int(f))).T
        parts.append(sparse.csr_array(levels) if table.is_sparse else levels)
        base.append(np.zeros(len(levels)))
        owner.append(np.full(len(levels), f))
    cells = sparse.vstack(parts, format="csr") if table.is_sparse else np.concatenate(parts)
    return _Scores(cells, np.concatenate(base), np.concatenate(owner))


def level_columns(codes: np.ndarray) -> np.ndarray:
    """Return centred indicators of the most frequent levels, one of two levels; 0 where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.pair_test import level_columns
    >>> level_columns(np.array([0, 0, 1, 2, -1])).tolist()
    [[0.5, -0.25, -0.25], [0.5, -0.25, -0.25], [-0.5, 0.75, -0.25], [-0.5, -0.25, 0.75], [0.0, 0.0, 0.0]]
    """
    levels, sizes = np.unique(codes[codes >= 0], return_counts=True)
    order = np.argsort(-sizes, kind="stable")[: 1 if len(levels) == 2 else _MOST_LEVELS]
    return (codes[:, None] == levels[order]) - (codes >= 0)[:, None] * sizes[order] / max(sizes.sum(), 1)
