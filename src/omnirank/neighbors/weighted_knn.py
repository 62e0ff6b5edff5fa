"""Neighbours in a distance that weighs features by a ranking, and what they predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parallel import run_parallel
from omnirank.data.table import Table
from omnirank.neighbors.cells import Cells, feature_ranges, table_cells

__all__ = ["neighbor_means", "ranking_weights", "weighted_neighbors"]

_ROWS = 256


def ranking_weights(importances: np.ndarray) -> np.ndarray:
    """Return the weights of features in a distance: max(importance, 0), or 1 for all where none is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.weighted_knn import ranking_weights
    >>> ranking_weights(np.array([0.5, -0.1])).tolist(), ranking_weights(np.array([0.0, -0.1])).tolist()
    ([0.5, 0.0], [1.0, 1.0])
    """
    weights = np.maximum(importances, 0.0)
    return weights if weights.any() else np.ones(len(weights))


def weighted_neighbors(train: Table, test: Table, weights: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    r"""Return the numbers of the k training examples nearest to each test example, nearest first.

    The distance is :math:`\sum_i w_i d_i^2` with the distances of cells as in `table_cells`: ranges are those of the
    training examples, and test values outside them are farther than 1. Ties go to the example that comes first.

    Parameters
    ----------
    train, test : Table
        Features of the training and the test examples, with the same columns.
    weights : ndarray
        Weight of each feature, not negative; not all 0.
    k : int
        Number of neighbours; all training examples where there are fewer.
    n_jobs : int or None
        Number of workers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.neighbors.weighted_knn import weighted_neighbors
    >>> train = Table.from_numeric(np.array([[0.0, 9.0], [1.0, 0.0], [2.0, 4.0]]))
    >>> test = Table.from_numeric(np.array([[0.1, 0.0]]))
    >>> weighted_neighbors(train, test, np.array([1.0, 0.0]), 2).tolist()
    [[0, 1]]
    """
    from omnirank.neighbors._kernels_search import search
    from omnirank.neighbors._kernels_tile import ROWS

    weights = np.asarray(weights, np.float64)
    if weights.shape != (train.n_columns,) or (weights < 0).any() or not weights.any():
        raise ParameterError(f"weights must be {train.n_columns} numbers from 0, not all 0")
    used = np.flatnonzero(weights)
    ranges = feature_ranges(train.select(used))
    near, far = (table_cells(table.select(used), ranges) for table in (train, test))
    # relative to the largest, because distances are rounded to find ties
    scale = (weights[used] / weights.max())[near.features]
    sought, among = _weighted_cells(far, near, scale)
    n_numeric, n_features = near.n_numeric, near.n_features
    blocks = _blocks(among, np.concatenate([scale, np.zeros(among.shape[1] - n_features)]))
    bounds = (0, 0, n_numeric, n_features, among.shape[1])
    k = min(k, len(among))

    def nearest(start: int) -> np.ndarray:
        rows = _padded(sought[start : start + _ROWS], ROWS)
        ids = np.empty((len(rows.ids), 1, k), np.int32)
        search(rows, blocks, bounds, ids, np.empty(ids.shape))
        return ids[: min(_ROWS, len(sought) - start), 0]

    found = run_parallel(nearest, range(0, len(sought), _ROWS), n_jobs, description="searching neighbours")
    return np.concatenate(found) if found else np.empty((0, k), np.int32)


def neighbor_means(values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the means of the known values of neighbours: one row a list of neighbours.

    A value that none of them knows is the mean over all examples, 0 where nobody knows it.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.neighbors.weighted_knn import neighbor_means
    >>> neighbor_means(np.array([[1.0], [3.0], [np.nan]]), np.array([[0, 1], [1, 2], [2, 2]])).tolist()
    [[2.0], [3.0], [2.0]]
    """
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    n_all = known.sum(axis=0)
    overall = filled.sum(axis=0) / np.maximum(n_all, 1)
    means = np.empty((len(ids), values.shape[1]))
    for start in range(0, len(ids), _ROWS):
        part = ids[start : start + _ROWS]
        n_known = known[part].sum(axis=1)
        means[start : start + _ROWS] = np.where(n_known > 0, filled[part].sum(axis=1) / np.maximum(n_known, 1), overall)
    return means


def _weighted_cells(test: Cells, train: Cells, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Matrices of both, such that squares, inequalities and products of their columns add up to the distance.

    With the masks m of missing cells, :math:`w \max(t, 1 - t)^2 - w t^2 = g`, a number contributes
    :math:`(v - v')^2 + g m' + m (g' + w m')` where v is :math:`\sqrt w t`, 0 if missing; a level contributes
    :math:`w 1[v \ne v'] - u m - u (1 - m) m'` with :math:`u = w (1 - (1 - 1/|X|)^2)`.
    """
    masks = [_mask(cells) for cells in (test, train)]
    split = train.n_numeric
    matrices, extra = [], []
    for cells, missing in zip((test, train), masks, strict=True):
        values = cells.values.copy()
        numbers, unknown = values[:, :split], missing[:, :split]
        g = np.where(unknown, 0.0, weights[:split] * (np.maximum(numbers, 1 - numbers) ** 2 - numbers**2))
        values[:, :split] = np.where(unknown, 0.0, numbers * np.sqrt(weights[:split]))
        matrices.append(values)
        extra.append(g)
    some = np.logical_or(masks[0].any(axis=0), masks[1].any(axis=0))
    numeric, nominal = np.flatnonzero(some[:split]), np.flatnonzero(some[split:]) + split
    m, other = (mask[:, numeric].astype(np.float64) for mask in masks)
    g, other_g = (part[:, numeric] for part in extra)
    u = weights[nominal] * (1 - (1 + train.correction[nominal]) ** 2)
    n, other_n = (mask[:, nominal].astype(np.float64) for mask in masks)
    rows = np.hstack([matrices[0], g, m, -u * n, -u * (1 - n)])
    columns = np.hstack([matrices[1], other, other_g + weights[numeric] * other, np.ones_like(other_n), other_n])
    return rows, columns


def _mask(cells: Cells) -> np.ndarray:
    mask = np.zeros(cells.values.shape, bool)
    mask[np.repeat(np.arange(cells.n_rows), np.diff(cells.missing_start)), cells.missing] = True
    return mask


def _padded(cells: np.ndarray, multiple: int) -> Any:
    from omnirank.neighbors._kernels_search import Rows

    n = -(-len(cells) // multiple) * multiple
    wide = np.zeros((n, cells.shape[1]))
    wide[: len(cells)] = cells
    return Rows(wide, np.zeros(n), np.full(n, -1, np.int32))


def _blocks(cells: np.ndarray, scale: np.ndarray) -> Any:
    from omnirank.neighbors._kernels_search import Blocks
    from omnirank.neighbors._kernels_tile import tile_width

    width = tile_width(np.float64)
    n_blocks = -(-len(cells) // width)
    wide = np.zeros((n_blocks * width, cells.shape[1]))
    wide[: len(cells)] = cells
    number = np.arange(n_blocks * width).reshape(n_blocks, width)
    transposed = np.ascontiguousarray(wide.reshape(n_blocks, width, -1).transpose(0, 2, 1))
    offset = np.where(number < len(cells), 0.0, np.inf)
    # the number of a training example never equals that of a test example, which is -1
    return Blocks(transposed, offset, number.astype(np.int32), np.zeros(n_blocks, np.int64), scale)
