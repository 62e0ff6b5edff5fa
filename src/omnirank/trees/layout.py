"""The layout of a fit: which kinds of clustering space and of features the kernels get, and why.

Two tables decide, from shapes, densities, types and settings; the first row that holds is taken. Data decide, not the
container in which they came: mostly zero arrays are laid out as sparse ones, nearly full sparse ones as arrays. Columns
with a large offset are nearly full; where they are few among mostly zero ones they are centred
(:func:`omnirank.core.variances.suits_sparse_sums`). What the kernel of a kind does not read is not computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from omnirank.data.table import Table, count_non_zero
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns

# Shares of non-zero cells up to which trees grow faster on them alone (benchmarks/bench_layout.py). Cells of features
# with a third value are sorted in every node.
_MOST_OF_TWO_VALUES = 1 / 3
_MOST_OF_MORE_VALUES = 1 / 8
# A dense row costs about as much as this share of its columns would cost as labels of a set.
_LABEL_SET_DENSITY = 1 / 16
# Fewer columns than this are no label set.
_FEWEST_LABELS = 8
# Products of all pairs of rows are kept for up to this many rows (128 MB), and where they spare something.
_MOST_GRAM_ROWS = 4096
_LEAST_GRAM_COLUMNS = 64
# Fewer features than this are searched one by one, not row by row for several at once.
_FEW_FEATURES = 8


class SpaceFacts(NamedTuple):
    """What the kind of a clustering space depends on.

    ``on_cells`` is whether trees grow on the non-zero cells of the features, ``beside`` whether the space is one of the
    two parts of a semi-supervised tree; then ``gram`` is off for the target, whose rows are not those of a node.
    """

    is_sparse: bool
    all_known: bool
    label_sets: bool
    n_rows: int
    n_columns: int
    on_cells: bool
    beside: bool
    gram: bool


class FeatureFacts(NamedTuple):
    """What the kind of features depends on."""

    on_cells: bool
    nominal: bool
    random_tests: bool
    by_row: bool  # whether several features may be read row by row
    most_tried: bool
    double: bool
    large: bool  # whether subtrees grow on copies of their rows, since all cells exceed a cache


# kind, when, why
_SPACES: tuple[tuple[str, Callable[[SpaceFacts], bool], str], ...] = (
    ("LabelSets", lambda f: f.all_known and f.label_sets, "few ones per row: only these are summed"),
    ("SparseRows", lambda f: f.all_known and f.is_sparse and f.on_cells, "mostly zero: only other cells are summed"),
    ("DenseBlocks", lambda f: not f.all_known, "columns with the same unknown rows share their weights"),
    (
        "GramColumns",
        lambda f: f.gram and f.n_rows <= _MOST_GRAM_ROWS and max(f.n_rows + 1, _LEAST_GRAM_COLUMNS) <= f.n_columns,
        "more columns than rows: gains come from products of pairs of rows",
    ),
    ("KnownBlocks", lambda f: f.beside and not f.on_cells, "as blocks, one kind less is compiled in pairs"),
    ("DenseColumns", lambda f: f.beside or f.n_columns > 1, "dense columns, all known"),
    ("OneColumn", lambda f: True, "one column, all known"),
)
_FEATURES: tuple[tuple[str, Callable[[FeatureFacts], bool], str], ...] = (
    ("Cells", lambda f: f.on_cells, "mostly zero: only the other cells are touched"),
    ("MixedCodes", lambda f: not f.random_tests and f.nominal, "all tests, levels in the order of their means"),
    ("NumericCodes", lambda f: not f.random_tests, "all tests of numbers, by their ranks"),
    ("MixedDraws", lambda f: f.nominal, "random tests, some of levels"),
    ("RowDraws", lambda f: f.by_row and f.most_tried, "nodes try most features: rows are read for several at once"),
    ("ListedDraws", lambda f: f.by_row and f.double and not f.large, "nodes try few features: these are copied"),
    ("NumericDraws", lambda f: True, "random tests, feature by feature"),
)


def space_kind(cells: Any, columns: PrototypeColumns, on_cells: bool, beside: bool = False, gram: bool = True) -> str:
    """Return the kind of the clustering space of some columns.

    Parameters
    ----------
    cells : ndarray or csr_array
        The cells of the clustering columns, NaN = unknown.
    columns : PrototypeColumns
        The coded target, which knows the labelled rows.
    on_cells, beside, gram : bool
        As in `SpaceFacts`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import prototype_columns
    >>> from omnirank.trees.layout import space_kind
    >>> columns = prototype_columns(target_from(np.array([1.5, 2.5]))[0])
    >>> space_kind(columns.matrix, columns, on_cells=False)
    'OneColumn'
    """
    values = cells.data if columns.is_sparse else cells
    all_known = not np.isnan(values).any() and bool(columns.labelled.all() or not columns.is_sparse)
    few = columns.is_sparse or (
        cells.shape[1] >= _FEWEST_LABELS and all_known and np.count_nonzero(cells) <= _LABEL_SET_DENSITY * cells.size
    )
    label_sets = bool(few and all_known and ((values == 0) | (values == 1)).all())
    n_rows, n_columns = cells.shape
    gram = gram and not on_cells
    facts = SpaceFacts(columns.is_sparse, all_known, label_sets, n_rows, n_columns, on_cells, beside, gram)
    return next(kind for kind, holds, _ in _SPACES if holds(facts))


def feature_kind(table: Table, cells: Any, space: Any, n_tried: int, random_tests: bool) -> tuple[str, bool]:
    """Return the kind of the features, and whether subtrees grow on copies of their rows.

    Parameters
    ----------
    table : Table
        The features.
    cells : csc_array or None
        Their non-zero cells, where trees grow on these.
    space : clustering space
        Of any kind.
    n_tried : int
        Number of features that a node tries.
    random_tests : bool
        Whether one random test of a feature is tried.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.trees.kernels.spaces import OneColumn
    >>> from omnirank.trees.layout import feature_kind
    >>> table = Table.from_numeric(np.arange(20.0).reshape(2, 10))
    >>> [feature_kind(table, None, OneColumn(np.zeros(2)), n, random_tests=True)[0] for n in (4, 5)]
    ['ListedDraws', 'RowDraws']
    """
    from omnirank.core.kernels.vector import PLAIN
    from omnirank.trees.kernels.grow_tree import LARGE
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn

    dense = isinstance(space, OneColumn | DenseColumns)
    nominal, n_cells = bool(table.is_nominal.any()), table.n_rows * table.n_columns
    wide = table.n_rows >= np.iinfo(np.uint16).max  # then codes have 32 bits
    several = dense and not nominal and table.n_columns >= _FEW_FEATURES and not table.n_missing and not PLAIN
    large = n_cells * 8 > LARGE if random_tests else wide and n_cells * 4 > LARGE
    facts = FeatureFacts(
        cells is not None,
        nominal,
        random_tests,
        random_tests and several,
        2 * n_tried >= table.n_columns,
        table.dtype == np.float64,
        large and dense and not nominal,
    )
    kind = next(kind for kind, holds, _ in _FEATURES if holds(facts))
    copied = facts.large and (kind == "NumericCodes" or (kind == "NumericDraws" and facts.by_row and facts.double))
    return kind, copied


def kernel_type(kind: str) -> Any:
    """Return the type of features that kernels take, by its name."""
    from omnirank.trees.kernels import split

    return getattr(split, kind)


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
        n_stored = table.matrix.nnz
    else:
        n_stored = count_non_zero(table.numeric, most) + np.count_nonzero(table.codes)
    if n_stored > most or table.n_missing:
        return None
    cells = _as_sparse(table)
    return cells if n_stored <= _MOST_OF_MORE_VALUES * n_cells or _has_two_values(cells) else None


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
