"""The clustering space: every target, whatever its task, as columns whose variance a split lowers.

Each column is scaled by the square root of its weight, so that the impurity of a set of examples is the total variance
of its rows. The kind of space (one column, dense columns, blocks with unknown values, label sets) is chosen here, from
the shape of the data, and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns

__all__ = ["clustering_space"]

# A dense row costs about as much as this share of its columns would cost as labels of a set.
_LABEL_SET_DENSITY = 1 / 16
_LANES = 8


def clustering_space(
    columns: PrototypeColumns, clustering: ClusteringColumns, sample_weight: np.ndarray | None = None
) -> Any:
    """Return the space of a coded target as kernels take it.

    A column c with known weight K0_c of N0 in the training set is scaled by sqrt(lambda_c N0 / K0_c); then the
    gain of a split is h = sum_c [ S_L^2 / K_L + S_R^2 / K_R - S^2 / K ] over the scaled columns.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import clustering_columns, prototype_columns
    >>> from omnirank.trees.space import clustering_space
    >>> columns = prototype_columns(target_from(np.array([1.5, 2.5]))[0])
    >>> clustering_space(columns, clustering_columns(columns))
    OneColumn(z=array([-1.,  1.]))
    """
    if not len(clustering.columns):
        raise DataError("the target is constant: there is nothing to split on")
    scale = np.sqrt(clustering.weights)
    if columns.is_sparse:
        matrix = columns.matrix[:, clustering.columns]
        if columns.labelled.all() and not np.isnan(matrix.data).any():
            return _label_sets(matrix, scale)
        values = matrix.toarray()
        values[~columns.labelled] = np.nan
    else:
        values = columns.matrix[:, clustering.columns]
    known = ~np.isnan(values)
    if known.all():
        if _is_label_matrix(values):
            return _label_sets(sparse.csr_array(values), scale)
        return _all_known(values, scale, sample_weight)
    return _blocks(values, known, scale, sample_weight)


def _is_label_matrix(values: np.ndarray) -> bool:
    if values.shape[1] < _LANES:
        return False
    ones = np.count_nonzero(values)
    return bool(ones <= _LABEL_SET_DENSITY * values.size and ((values == 0) | (values == 1)).all())


def _label_sets(matrix: Any, scale: np.ndarray) -> Any:
    from omnirank.trees._kernels_labels import LabelSets

    matrix = sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    return LabelSets(matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), scale)


def _all_known(values: np.ndarray, scale: np.ndarray, weight: np.ndarray | None) -> Any:
    from omnirank.trees._kernels_spaces import DenseColumns, OneColumn

    centred = (values - np.average(values, axis=0, weights=weight)) * scale
    if centred.shape[1] == 1:
        return OneColumn(np.ascontiguousarray(centred[:, 0]))
    return DenseColumns(_padded(centred))


def _blocks(values: np.ndarray, known: np.ndarray, scale: np.ndarray, weight: np.ndarray | None) -> Any:
    """Group the columns by the rows in which they are known."""
    from omnirank.trees._kernels_spaces import DenseBlocks

    w = np.ones(len(values)) if weight is None else weight
    patterns: dict[bytes, list[int]] = {}
    for c in range(values.shape[1]):
        patterns.setdefault(np.packbits(known[:, c]).tobytes(), []).append(c)
    parts, masks, starts = [], [], [0]
    for group in patterns.values():
        mask = known[:, group[0]]
        total = w[mask].sum()
        if total == 0:
            continue
        block = np.zeros((len(values), len(group)))
        block[mask] = values[mask][:, group]
        block[mask] -= np.average(block[mask], axis=0, weights=w[mask])
        block *= scale[group] * np.sqrt(w.sum() / total)
        parts.append(block if len(group) == 1 else _padded(block))
        masks.append(mask.astype(np.float64))
        starts.append(starts[-1] + parts[-1].shape[1])
    return DenseBlocks(np.ascontiguousarray(np.hstack(parts)), np.array(starts), np.array(masks))


def _padded(block: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(block), -(-block.shape[1] // _LANES) * _LANES))
    wide[:, : block.shape[1]] = block
    return wide
