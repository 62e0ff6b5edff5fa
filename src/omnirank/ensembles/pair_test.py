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
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import stdtr
from scipy.stats import rankdata

from omnirank.core.blas_threads import one_blas_thread
from omnirank.data.table import Table
from omnirank.ensembles.root_credit import value_blocks

# Columns of a target, and levels of a feature.
_MOST_COLUMNS, _MOST_LEVELS = 8, 10
# Partners, where examples times features times columns of partners would exceed the products, and cells at once.
_FEWEST_PARTNERS, _MOST_PRODUCTS, _MOST_CELLS = 64, 2**29, 2**22


def pair_p_values(table: Table, target: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Return the p value of each feature.

    Parameters
    ----------
    table : Table
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
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> pair_p_values(Table.from_numeric(X), X[:, :1] * X[:, 1:2], np.ones(3)) < 0.05
    array([ True,  True, False])
    """
    n, n_features = table.n_rows, table.n_columns
    ranks = _ranks(target)
    most = _MOST_PRODUCTS // max(n * n_features * ranks.shape[1], 1)
    most = min(max(_FEWEST_PARTNERS, most), max(2, 8 * _MOST_CELLS // max(n * ranks.shape[1], 1)))
    values = np.ones(n_features)
    if n < 4 or not ranks.shape[1]:
        return values
    scores, base, partner = _scores(table, np.argsort(-alone, kind="stable")[:most])
    scores = (scores.toarray() if sparse.issparse(scores) else scores) + base
    products = (ranks[:, :, None] * scores[:, None, :]).reshape(n, -1)
    products -= products.mean(axis=0)
    squared, partner = products**2, np.tile(partner, ranks.shape[1])
    size = squared.sum(axis=0)[:, None]
    width = max(1, _MOST_CELLS // max(n, len(partner)))
    with one_blas_thread():
        for features in np.split(np.arange(n_features), range(width, n_features, width)):
            scores, base, own = _scores(table, features)
            # less the base of a column: that makes no difference to the sums of products, whose mean is 0
            squares = scores * scores + 2 * scores * base
            of_products = (squares.T @ squared).T + size * base**2
            of_orders = size * (np.asarray(squares.sum(axis=0)) / n + base**2)
            t = np.abs((scores.T @ products).T) / np.sqrt(np.maximum(np.maximum(of_products, of_orders), 1e-300))
            others = partner[:, None] != own
            p = 2 * stdtr(n - 2, -(t * others).max(axis=0, initial=0.0)) * others.sum(axis=0)
            np.minimum.at(values, own, p * np.bincount(own, minlength=n_features)[own])
    return values


def _ranks(target: np.ndarray) -> np.ndarray:
    """Centred ranks of the columns that vary most, each once (two classes have one)."""
    size = np.abs(target).max(axis=0, initial=0.0)
    columns = target[:, size > 0] / size[size > 0]
    columns = columns[:, np.argsort(-columns.std(axis=0) * size[size > 0], kind="stable")[:_MOST_COLUMNS]]
    ranks = rankdata(np.round(columns, 9), axis=0) - (len(target) + 1) / 2  # rounding must not break ties
    first = np.take_along_axis(ranks, (ranks != 0).argmax(axis=0)[None], axis=0)
    return np.asarray(np.unique(ranks * np.sign(first), axis=1)) / len(target)


def _scores(table: Table, features: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Scores in columns, less a base (of cells of a sparse table that are 0), that base, and the feature of each."""
    n = table.n_rows
    numbers = features[~table.is_nominal[features]]
    columns, base, owner = [], [np.zeros(0)], [numbers]
    for values in value_blocks(table.select(numbers), max(len(numbers), 1)):
        listed = np.diff(values.starts)
        feature = np.repeat(np.arange(len(listed)), listed)
        place = np.arange(len(feature)) - values.starts[feature]
        known = place < values.n_known[feature]
        place = place + np.where(place >= values.zero[feature], (n - listed)[feature], 0)
        run = np.cumsum(values.new) - 1
        middle = (np.bincount(run, place) / np.bincount(run))[run]
        centre = (values.n_known + n - listed - 1) / 2
        base.append(np.where(listed < n, (values.zero + (n - listed - 1) / 2 - centre) / n, 0.0))
        cells = np.where(known, middle - centre[feature], 0.0) / n - base[-1][feature]
        if table.is_sparse:
            columns.append(sparse.csc_array((cells, values.rows, values.starts), shape=(n, len(listed))))
        else:
            columns.append(np.zeros((n, len(listed))))
            columns[-1][values.rows, feature] = cells
    for f in features[table.is_nominal[features]]:
        columns.append(level_columns(table.column(int(f))))
        base.append(np.zeros(columns[-1].shape[1]))
        owner.append(np.full(columns[-1].shape[1], f))
    stacked = sparse.hstack([sparse.csc_array(part) for part in columns]) if table.is_sparse else np.hstack(columns)
    return stacked, np.concatenate(base), np.concatenate(owner)


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
