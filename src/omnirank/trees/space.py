"""The clustering space: every target, whatever its task, as columns whose variance a split lowers.

Each column is scaled by the square root of its weight, so that the impurity of a set of examples is the total variance
of its rows. The kind of space (one column, dense columns, products of rows, blocks with unknown values, label sets,
target and features) is chosen in :mod:`omnirank.trees.layout`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.variances import centred_for_sums, divided, near_centres
from omnirank.data.table import check_size
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.layout import space_kind

# Dense columns are padded to a multiple of this.
_LANES = 8


def clustering_space(
    columns: PrototypeColumns,
    clustering: ClusteringColumns,
    sample_weight: np.ndarray | None = None,
    on_cells: bool = False,
    beside: bool = False,
    gram: bool = True,
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
    on_cells, beside, gram : bool
        As in :class:`omnirank.trees.layout.SpaceFacts`.

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
    whole = not columns.is_sparse and len(clustering.columns) == columns.n_columns  # no copy needed: only read here
    cells = divided(columns.matrix, clustering.unit) if whole else clustering.cells(columns.matrix)
    kind = space_kind(cells, columns, on_cells, beside, gram)
    if kind == "LabelSets":
        return _label_sets(cells, scale)
    if kind == "SparseRows":
        return _sparse_rows(cells, scale, sample_weight)
    if columns.is_sparse:
        cells = cells.toarray()
        cells[~columns.labelled] = np.nan
    if kind == "DenseBlocks":
        return _blocks(cells, ~np.isnan(cells), scale, sample_weight)
    return _all_known(kind, cells, scale, sample_weight)


def constant_space(n_rows: int, kind: str = "OneColumn") -> Any:
    """Return the space in which all rows are alike, so that no tree splits."""
    return _dense(kind, np.zeros((n_rows, 1)))


def two_part_space(
    target: tuple[PrototypeColumns, ClusteringColumns],
    features: tuple[PrototypeColumns, ClusteringColumns],
    sample_weight: np.ndarray | None = None,
    least_labelled: float = 0.0,
    on_cells: bool = False,
    products: Any = None,
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
    products : GramColumns, optional
        The space of the features, where it is known.
    """
    from omnirank.trees.kernels.partial_targets import TwoParts

    columns, clustering = target
    known = columns.labelled
    weight = np.ones(len(known)) if sample_weight is None else sample_weight
    varies = bool(len(clustering.columns)) and bool(clustering.weights.any())
    beside = varies or least_labelled > 0
    empty = "OneColumn" if not beside else "DenseColumns" if on_cells else "KnownBlocks"
    own = feature_space = constant_space(len(known), empty)
    if varies:
        labelled = replace(columns, matrix=columns.matrix[known], labelled=known[known])
        # products of labelled rows do not serve nodes of all rows
        space = clustering_space(labelled, clustering, weight[known], on_cells, beside, gram=False)
        own = _spread(space, known, weight.sum() / weight[known].sum())
    if products is not None:
        feature_space = products
    elif len(features[1].columns) and features[1].weights.any():
        feature_space = clustering_space(*features, sample_weight, on_cells, beside)
    return TwoParts(own, feature_space, known, float(least_labelled)) if beside else feature_space


def _spread(space: Any, known: np.ndarray, factor: float) -> Any:
    """The space of the known rows with places for all rows; its impurities count ``factor`` times."""
    from omnirank.trees.kernels.labels import LabelSets
    from omnirank.trees.kernels.partial_targets import DenseBlocks

    if isinstance(space, LabelSets):
        sizes = np.zeros(len(known) + 1, np.uint32)
        sizes[1:][known] = np.diff(space.starts)
        return space._replace(starts=np.cumsum(sizes, dtype=np.uint32), scale=space.scale * np.sqrt(factor))
    z = np.zeros((len(known), *space.z.shape[1:]))
    z[known] = space.z * np.sqrt(factor)
    if isinstance(space, DenseBlocks):
        masks = np.zeros((len(space.known), len(known)))
        masks[:, known] = space.known
        # the two parts know which rows are labelled
        return space._replace(z=z, known=np.ones_like(masks) if space.known.all() else masks)
    return space._replace(z=z)


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


def _all_known(kind: str, values: np.ndarray, scale: np.ndarray, weight: np.ndarray | None) -> Any:
    centred = np.array(values, np.float64, order="C")  # sums of rows depend on the order in memory
    centred -= _centres(centred, weight)
    centred *= scale
    return _dense(kind, centred)


def _dense(kind: str, centred: np.ndarray) -> Any:
    """The space of a kind for columns that are known in all rows, centred and scaled."""
    from omnirank.trees.kernels.partial_targets import DenseBlocks
    from omnirank.trees.kernels.spaces import DenseColumns, GramColumns, OneColumn

    if kind == "OneColumn":
        return OneColumn(np.ascontiguousarray(centred[:, 0]))
    if kind == "GramColumns":
        return GramColumns(np.ascontiguousarray(centred), centred @ centred.T, 1.0)
    if kind == "DenseColumns":
        return DenseColumns(_padded(centred))
    z = centred if centred.shape[1] == 1 else _padded(centred)
    return DenseBlocks(np.ascontiguousarray(z), np.array([0, z.shape[1]]), np.ones((1, len(z))))


def _blocks(values: np.ndarray, known: np.ndarray, scale: np.ndarray, weight: np.ndarray | None) -> Any:
    """Group the columns by the rows in which they are known."""
    from omnirank.trees.kernels.partial_targets import DenseBlocks

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
    return near_centres(values, np.asarray(np.average(values, axis=0, weights=weight)))


def _padded(block: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(block), -(-block.shape[1] // _LANES) * _LANES))
    wide[:, : block.shape[1]] = block
    return wide
