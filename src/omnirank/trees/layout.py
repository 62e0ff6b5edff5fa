"""The layout of a training set: all cells of the features, or the non-zero ones alone.

Which kernel grows the trees, and whether features stay sparse as clustering columns, is decided here, from the data and
not from the container in which they came: mostly zero arrays are laid out as sparse ones, nearly full sparse ones as
arrays. Columns with a large offset are nearly full; where they are few among mostly zero ones they are centred
(:func:`omnirank.core.variances.suits_sparse_sums`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from omnirank.data.table import Table, count_non_zero
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns

# Shares of non-zero cells up to which trees grow faster on them alone (benchmarks/bench_layout.py). Cells of features
# with a third value are sorted in every node.
_MOST_OF_TWO_VALUES = 1 / 3
_MOST_OF_MORE_VALUES = 1 / 8


def non_zero_cells(table: Table) -> Any:
    """Return the non-zero cells of mostly zero features as a csc_array; None where all cells are to be laid out.

    The kernel of non-zero cells knows no missing cell and no third level.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.trees.layout import non_zero_cells
    >>> non_zero_cells(Table.from_numeric(np.eye(4))).nnz
    4
    >>> non_zero_cells(Table.from_numeric(np.ones((4, 4)))) is None
    True
    """
    if any(levels is not None and len(levels) > 2 for levels in table.levels):
        return None
    n_cells = table.n_rows * table.n_columns
    most = max(_MOST_OF_TWO_VALUES, _MOST_OF_MORE_VALUES) * n_cells
    if table.is_sparse:
        n_found = table.matrix.nnz
    else:
        n_found = count_non_zero(table.numeric, most) + np.count_nonzero(table.codes)
    if n_found > most or table.n_missing:
        return None
    cells = _as_sparse(table)
    return cells if n_found <= _MOST_OF_MORE_VALUES * n_cells or _has_two_values(cells) else None


def _as_sparse(table: Table) -> Any:
    if table.is_sparse:
        return table.matrix
    cells = table.numeric
    if table.is_nominal.any():
        cells = np.empty((table.n_rows, table.n_columns), table.dtype)
        cells[:, ~table.is_nominal] = table.numeric
        cells[:, table.is_nominal] = table.codes
    return sparse.csc_array(cells)


def _has_two_values(cells: Any) -> bool:
    """Whether the non-zero cells of each feature are equal."""
    sizes = np.diff(cells.indptr)
    first = cells.data[cells.indptr[:-1][sizes > 0]]
    return bool((cells.data == np.repeat(first, sizes[sizes > 0])).all())


def grows_on_cells(
    cells: Any, columns: PrototypeColumns, clustering: ClusteringColumns, labelled_only: bool = False
) -> bool:
    """Whether trees are grown on the non-zero cells: their kernel has no space for a target that is known in parts.

    Parameters
    ----------
    cells : csc_array or None
        What :func:`non_zero_cells` found.
    columns, clustering
        The coded target.
    labelled_only : bool
        Whether the target counts in the labelled examples only, beside the features.
    """
    if cells is None or not clustering.weights.any():
        return cells is not None
    if not labelled_only and not columns.labelled.all():
        return False
    known = clustering.cells(columns.matrix[columns.labelled])
    return not np.isnan(known.data if columns.is_sparse else known).any()
