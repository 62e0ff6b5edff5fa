"""The clustering space: every target, whatever its task, as columns whose variance a split lowers.

Each column is scaled by the square root of its weight, so that the impurity of a set of examples is the total variance
of its rows. The kind of space (one column, dense columns, products of rows, blocks with unknown values, label sets,
target and features) is chosen here, from the shape of the data and the layout of the features, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.variances import centred_for_sums
from omnirank.data.table import check_size
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns

# A dense row costs about as much as this share of its columns would cost as labels of a set.
_LABEL_SET_DENSITY = 1 / 16
_LANES = 8
# Products of all pairs of rows are kept for up to this many rows (128 MB), and where they spare something.
_MOST_GRAM_ROWS = 4096
_LEAST_GRAM_COLUMNS = 64
# Columns are not centred on a mean that is more than this many times as large as a tenth of their values.
_MOST_LARGER = 4096


def clustering_space(
    columns: PrototypeColumns,
    clustering: ClusteringColumns,
    sample_weight: np.ndarray | None = None,
    on_cells: bool = False,
) -> Any:
    """Return the space of a coded target, or of features that take its place, as kernels take it.

    A column c with known weight K0_c of N0 in the training set is scaled by sqrt(lambda_c N0 / K0_c); then the
    gain of a split is h = sum_c [ S_L^2 / K_L + S_R^2 / K_R - S^2 / K ] over the scaled columns.

    Parameters
    ----------
    columns, clustering
        The coded target.
    sample_weight : ndarray, optional
        Weights of the examples.
    on_cells : bool
        Whether trees are grown on the non-zero cells of the features (:mod:`omnirank.trees.layout`).

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
        matrix = clustering.cells(columns.matrix)
        if columns.labelled.all() and not np.isnan(matrix.data).any():
            if ((matrix.data == 0) | (matrix.data == 1)).all():
                return _label_sets(matrix, scale)
            if on_cells:
                return _sparse_rows(matrix, scale, sample_weight)
        values = matrix.toarray()
        values[~columns.labelled] = np.nan
    else:
        values = clustering.cells(columns.matrix)
    known = ~np.isnan(values)
    if known.all():
        if _is_label_matrix(values):
            return _label_sets(sparse.csr_array(values), scale)
        return _all_known(values, scale, sample_weight, gram=not on_cells)
    return _blocks(values, known, scale, sample_weight)


def constant_space(n_rows: int) -> Any:
    """Return the space in which all rows are alike, so that no tree splits."""
    from omnirank.trees.kernels.spaces import OneColumn

    return OneColumn(np.zeros(n_rows))


def two_part_space(
    target: tuple[PrototypeColumns, ClusteringColumns],
    features: tuple[PrototypeColumns, ClusteringColumns],
    sample_weight: np.ndarray | None = None,
    least_labelled: float = 0.0,
    on_cells: bool = False,
) -> Any:
    """Return the space of a semi-supervised tree: a target known for some examples, and all features.

    Parameters
    ----------
    target, features : (PrototypeColumns, ClusteringColumns)
        Both parts as columns; the weights lambda hold the share w or 1 - w of the part.
    sample_weight : ndarray, optional
        Weights of the examples.
    least_labelled : float
        Least weight of the labelled examples of a child that has any; 0: no such limit.
    on_cells : bool
        Whether trees are grown on the non-zero cells of the features (:mod:`omnirank.trees.layout`).
    """
    from omnirank.trees.kernels.two_parts import TwoParts

    columns, clustering = target
    known = columns.labelled
    weight = np.ones(len(known)) if sample_weight is None else sample_weight
    varies = bool(len(clustering.columns)) and bool(clustering.weights.any())
    own: Any = constant_space(len(known))
    feature_space = own
    if varies:
        labelled = replace(columns, matrix=columns.matrix[known], labelled=known[known])
        # products of labelled rows do not serve nodes of all rows
        found = clustering_space(labelled, clustering, weight[known], on_cells=True)
        own = _spread(found, known, weight.sum() / weight[known].sum())
    if len(features[1].columns) and features[1].weights.any():
        feature_space = clustering_space(*features, sample_weight, on_cells)
    if not varies and not least_labelled:
        return feature_space
    if on_cells:
        return TwoParts(_in_columns(own), feature_space, known, float(least_labelled))
    return TwoParts(_in_blocks(own), _in_blocks(feature_space), known, float(least_labelled))


def _in_columns(space: Any) -> Any:
    """One column as several: one kind less to be compiled in pairs."""
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn

    return DenseColumns(_padded(space.z[:, None])) if isinstance(space, OneColumn) else space


def _in_blocks(space: Any) -> Any:
    """Dense columns as one block that all rows know: one kind less to be compiled in pairs."""
    from omnirank.trees.kernels.blocks import DenseBlocks
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn

    if not isinstance(space, OneColumn | DenseColumns):
        return space
    z = space.z[:, None] if isinstance(space, OneColumn) else space.z
    return DenseBlocks(z, np.array([0, z.shape[1]]), np.ones((1, len(z))))


def _spread(space: Any, known: np.ndarray, factor: float) -> Any:
    """The space of the known rows with places for all rows; its impurities count ``factor`` times."""
    from omnirank.trees.kernels.blocks import DenseBlocks
    from omnirank.trees.kernels.labels import LabelSets

    if isinstance(space, LabelSets):
        sizes = np.zeros(len(known) + 1, np.uint32)
        sizes[1:][known] = np.diff(space.starts)
        return space._replace(starts=np.cumsum(sizes, dtype=np.uint32), scale=space.scale * np.sqrt(factor))
    z = np.zeros((len(known), *space.z.shape[1:]))
    z[known] = space.z * np.sqrt(factor)
    if isinstance(space, DenseBlocks):
        masks = np.zeros((len(space.known), len(known)))
        masks[:, known] = space.known
        return space._replace(z=z, known=masks)
    return space._replace(z=z)


def _is_label_matrix(values: np.ndarray) -> bool:
    if values.shape[1] < _LANES:
        return False
    ones = np.count_nonzero(values)
    return bool(ones <= _LABEL_SET_DENSITY * values.size and ((values == 0) | (values == 1)).all())


def _label_sets(matrix: Any, scale: np.ndarray) -> Any:
    from omnirank.trees.kernels.labels import HEAD, LabelSets

    matrix = sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    check_size(matrix)
    return LabelSets(matrix.indptr.astype(np.uint32), np.pad(matrix.indices.astype(np.uint32), (0, int(HEAD))), scale)


def _sparse_rows(matrix: Any, scale: np.ndarray, weight: np.ndarray | None) -> Any:
    from omnirank.trees.kernels.cells import SparseRows

    matrix = sparse.csr_array(centred_for_sums(matrix, np.ones(matrix.shape[0]) if weight is None else weight))
    matrix.eliminate_zeros()
    check_size(matrix)
    values = matrix.data * scale[matrix.indices]
    return SparseRows(matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), values, scale)


def _all_known(values: np.ndarray, scale: np.ndarray, weight: np.ndarray | None, gram: bool = True) -> Any:
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn

    centred = (values - _centres(values, weight)) * scale
    if centred.shape[1] == 1:
        return OneColumn(np.ascontiguousarray(centred[:, 0]))
    n_rows, n_columns = centred.shape
    if gram and max(n_rows + 1, _LEAST_GRAM_COLUMNS) <= n_columns and n_rows <= _MOST_GRAM_ROWS:
        from omnirank.trees.kernels.gram import GramColumns

        return GramColumns(np.ascontiguousarray(centred), centred @ centred.T)
    return DenseColumns(_padded(centred))


def _blocks(values: np.ndarray, known: np.ndarray, scale: np.ndarray, weight: np.ndarray | None) -> Any:
    """Group the columns by the rows in which they are known."""
    from omnirank.trees.kernels.blocks import DenseBlocks

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
        block[mask] -= _centres(block[mask], w[mask])
        block *= scale[group] * np.sqrt(w.sum() / total)
        parts.append(block if len(group) == 1 else _padded(block))
        masks.append(mask.astype(np.float64))
        starts.append(starts[-1] + parts[-1].shape[1])
    return DenseBlocks(np.ascontiguousarray(np.hstack(parts)), np.array(starts), np.array(masks))


def _centres(values: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return where columns are centred: on their means, or on 0 where small values would lose many digits.

    One outlier may move a mean far from all other values.
    """
    centres = np.asarray(np.average(values, axis=0, weights=weight))
    tenth = len(values) // 10
    small = np.partition(np.where(values == 0, np.inf, np.abs(values)), tenth, axis=0)[tenth]
    return np.where(np.abs(centres) > _MOST_LARGER * small, 0.0, centres)


def _padded(block: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(block), -(-block.shape[1] // _LANES) * _LANES))
    wide[:, : block.shape[1]] = block
    return wide
