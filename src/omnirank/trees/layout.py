"""The layout of a fit: which kinds of clustering space and of features the kernels get, and why; both so laid out.

Two tables decide, from shapes, densities, types and settings; the first row that holds is taken. Data decide, not the
container in which they came: mostly zero arrays are laid out as sparse ones, nearly full sparse ones as arrays. Columns
with a large offset are nearly full; where they are few among mostly zero ones they are centred
(:func:`omnirank.core.variances.suits_sparse_sums`). What the kernel of a kind does not read is not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.parallel import blocks, on_this_machine, parallel_results, worker_count
from omnirank.core.variances import centred_for_sums, divided, near_centres
from omnirank.data.table import Levels, Table, check_size
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
# Dense columns are padded to a multiple of this.
_LANES = 8
# Fewer features than this are searched one by one, not row by row for several at once.
_FEW_FEATURES = 8
# Features are ranked in blocks: handing them to workers one by one costs as much as ranking small ones.
_FEWEST_BLOCKS = 32
_BLOCKS_PER_WORKER = 4
# Rows that are transposed at a time: those of common widths fit the cache of a core.
_ROWS_AT_ONCE = 1024
# Rows x features as bits take at most this much memory; beyond it rows are looked up by feature only.
_MOST_BIT_BYTES = 2**28


# -- kinds ----------------------------------------------------------------------------------------------------


def space_kind(cells: Any, columns: PrototypeColumns, on_cells: bool, beside: bool = False, gram: bool = True) -> str:
    """Return the kind of the clustering space of some columns.

    Parameters
    ----------
    cells : ndarray or csr_array
        The cells of the clustering columns, NaN = unknown.
    columns : PrototypeColumns
        The coded target, which knows the labelled rows.
    on_cells : bool
        Whether trees grow on the non-zero cells of the features.
    beside : bool
        Whether the space is one of the two parts of a semi-supervised tree.
    gram : bool
        Whether products of rows may be kept: not for the target of such a tree, whose rows are not those of a node.

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
    label_sets = few and all_known and ((values == 0) | (values == 1)).all()
    n_rows, n_columns = cells.shape
    wide = n_rows <= _MOST_GRAM_ROWS and max(n_rows + 1, _LEAST_GRAM_COLUMNS) <= n_columns
    kinds = (
        ("LabelSets", label_sets),  # few ones per row: only these are summed
        ("SparseRows", all_known and columns.is_sparse and on_cells),  # mostly zero: only other cells are summed
        ("DenseBlocks", not all_known),  # columns with the same unknown rows share their weights
        ("GramColumns", gram and wide and not on_cells),  # gains come from products of pairs of rows
        ("KnownBlocks", beside and not on_cells),  # as blocks, one kind less is compiled in pairs
        ("DenseColumns", beside or n_columns > 1),
        ("OneColumn", True),
    )
    return next(kind for kind, holds in kinds if holds)


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
    from omnirank.trees.kernels.grow import LARGE
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn

    dense = isinstance(space, OneColumn | DenseColumns)
    nominal, n_cells = bool(table.is_nominal.any()), table.n_rows * table.n_columns
    wide = table.n_rows >= np.iinfo(np.uint16).max  # then codes have 32 bits
    # whether several features may be read row by row
    by_row = dense and not nominal and table.n_columns >= _FEW_FEATURES and not table.n_missing and not PLAIN
    # whether subtrees grow on copies of their rows, since all cells exceed a cache
    large = dense and not nominal and (n_cells * 8 > LARGE if random_tests else wide and n_cells * 4 > LARGE)
    double = table.dtype == np.float64
    kinds = (
        ("Cells", cells is not None),  # mostly zero: only the other cells are touched
        ("MixedCodes", not random_tests and nominal),  # all tests, levels in the order of their means
        ("NumericCodes", not random_tests),  # all tests of numbers, by their ranks
        ("MixedDraws", nominal),  # random tests, some of levels
        ("RowDraws", by_row and 2 * n_tried >= table.n_columns),  # most features: rows are read for several at once
        ("ListedDraws", by_row and double and not large),  # nodes try few features: these are copied
        ("NumericDraws", True),  # random tests, feature by feature
    )
    kind = next(kind for kind, holds in kinds if holds)
    return kind, large and (kind == "NumericCodes" or (kind == "NumericDraws" and by_row and double))


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
        n_stored = np.count_nonzero(table.numeric) + np.count_nonzero(table.codes)
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


# -- spaces as kernels take them ------------------------------------------------------------------------------
#
# Each column is scaled by the square root of its weight: the impurity of a set of examples is the variance of its rows.


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
        As in `space_kind`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import clustering_columns, prototype_columns
    >>> from omnirank.trees.layout import clustering_space
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


# -- features as kernels take them ----------------------------------------------------------------------------


def _kernel_type(kind: str) -> Any:
    """Return the type of features that kernels take, by its name."""
    from omnirank.trees.kernels import search_all

    return getattr(search_all, kind)


@dataclass(frozen=True, eq=False)
class FeatureCodes:
    """Codes of all cells: ranks of numbers, codes of levels; the largest code means missing.

    Attributes
    ----------
    codes : ndarray (n_features, n_rows)
        uint16 up to 65,534 rows and levels, uint32 above.
    n_levels : ndarray (n_features,)
        Number of levels, 0 for a numeric feature.
    distinct : ndarray (n_features,)
        Features of which all cells are known to differ, so that ordering them takes less.
    """

    codes: np.ndarray
    n_levels: np.ndarray
    distinct: np.ndarray

    @cached_property
    def _by_row(self) -> np.ndarray:
        return transposed(self.codes)

    def cells(self, copied: bool = False) -> Any:
        """Return the codes as the growing kernel takes them.

        Parameters
        ----------
        copied : bool
            Whether small nodes see copies of their rows; otherwise they read codes by row.
        """
        by_row = np.zeros((0, 0), self.codes.dtype) if copied else self._by_row
        nominal = (self.n_levels,) if self.n_levels.any() else ()
        make = _kernel_type("MixedCodes" if nominal else "NumericCodes")
        return make(*with_missing(self.codes), self.distinct, by_row, *nominal)


@dataclass(frozen=True, eq=False)
class LaidOut:
    """Features of a training set, ready for growing trees.

    Attributes
    ----------
    table : Table
        The features as given.
    kind : str
        The kind of features that the growing kernel takes.
    copied : bool
        Whether small nodes see copies of their rows, since all cells take much memory.
    codes : FeatureCodes, Cells or None
        Ranks of all or of the non-zero cells; None: random tests read values.
    """

    table: Table
    kind: str
    copied: bool = False
    codes: Any = None

    @cached_property
    def cells(self) -> Any:
        """What the growing kernel takes: no more than it reads."""
        if self.codes is not None:
            return self.codes.cells(self.copied) if isinstance(self.codes, FeatureCodes) else self.codes
        matrix, make = _numeric_cells(self.table), _kernel_type(self.kind)
        if self.kind == "MixedDraws":
            codes, n_levels = level_codes(self.table)
            return make(*with_missing(codes), transposed(matrix), n_levels)
        unread = np.zeros((self.table.n_columns, 0), np.uint16)
        if self.kind in ("RowDraws", "ListedDraws"):
            return make(unread, _whole_blocks(matrix) if self.kind == "RowDraws" else np.ascontiguousarray(matrix))
        by_row = np.ascontiguousarray(matrix) if self.copied else np.zeros((0, 0), matrix.dtype)
        return make(unread, transposed(matrix), by_row)

    @property
    def kernel(self) -> Callable[..., Any]:
        """What grows a tree of a space, the cells, weights of rows, settings and a seed."""
        if self.kind == "Cells":
            from omnirank.trees.kernels.grow_sparse import grow_sparse

            return grow_sparse
        from omnirank.trees.kernels.grow import grow

        return grow

    def to_send(self) -> LaidOut:
        """Return the same features as they travel to other machines, without the cells that are made of them."""
        return replace(self, codes=replace(self.codes) if isinstance(self.codes, FeatureCodes) else self.codes)


def lay_out(
    table: Table, kind: str, copied: bool, cells: Any, random_tests: bool, n_jobs: int | None, coded: dict[bool, Any]
) -> LaidOut:
    """Return the features of a table as a kind of kernel takes them.

    Parameters
    ----------
    table : Table
        The features.
    kind, copied
        As :func:`feature_kind` says.
    cells : csc_array or None
        The non-zero cells, where trees are grown on these alone.
    random_tests : bool
        Whether one random test of a feature is tried.
    n_jobs : int or None
        Number of workers.
    coded : dict
        The codes of non-zero (True) and of all cells (False), kept for further kinds.
    """
    codes: Any = None
    on_cells = cells is not None
    if on_cells or not random_tests:
        if on_cells not in coded:
            coded[on_cells] = sparse_codes(cells, table.levels) if on_cells else code_features(table, n_jobs)
        codes = coded[on_cells]
    if on_cells:
        from omnirank.trees.kernels.cells import flag

        codes = codes._replace(drawn=flag(random_tests))
    features = LaidOut(table, kind, copied, codes)
    _ = features.cells  # workers would each make their own
    return features


def code_features(table: Table, n_jobs: int | None = None) -> FeatureCodes:
    """Rank-code the features of a table.

    Parameters
    ----------
    table : Table
        The features.
    n_jobs : int or None
        Number of workers.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.trees.layout import code_features
    >>> code_features(Table.from_numeric(np.array([[2.5], [-1.0], [np.nan], [2.5]]))).codes
    array([[    1,     0, 65535,     1]], dtype=uint16)
    """
    n_levels = _level_counts(table)
    dtype = _code_type(table.n_rows, n_levels)
    with on_this_machine():
        features = blocks(table.n_columns, max(_FEWEST_BLOCKS, _BLOCKS_PER_WORKER * worker_count(n_jobs)))
        codes, distinct = np.empty((table.n_columns, table.n_rows), dtype), np.empty(table.n_columns, bool)
        # one by one: all of them together would be as large as the codes
        parts = parallel_results(partial(_code_block, table, n_levels, dtype), features, n_jobs)
        for some, part in zip(features, parts, strict=True):
            codes[some.start : some.stop], distinct[some.start : some.stop] = part
    return FeatureCodes(codes, n_levels, distinct)


def with_missing(codes: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
    """Return codes, the code that means missing, and an empty array of the type that holds a code and a row."""
    return codes, _missing_code(codes.dtype), np.zeros(0, np.uint32 if codes.itemsize == 2 else np.uint64)


def level_codes(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of nominal features and the numbers of levels; codes of numeric features hold nothing."""
    n_levels = _level_counts(table)
    codes = np.empty((table.n_columns, table.n_rows), _code_type(0, n_levels))
    for f in np.flatnonzero(n_levels):
        _code_levels(table.column(int(f)), codes[f])
    return codes, n_levels


def transposed(matrix: np.ndarray) -> np.ndarray:
    """Return the transposed matrix in C order, without a copy where it is in that order.

    It is copied some rows at a time: NumPy would go through all of the memory once per column.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.trees.layout import transposed
    >>> transposed(np.array([[1, 2], [3, 4], [5, 6]]))
    array([[1, 3, 5],
           [2, 4, 6]])
    """
    if matrix.flags.f_contiguous:
        return matrix.T
    turned = np.empty(matrix.shape[::-1], matrix.dtype)
    for start in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        turned[:, rows] = matrix[rows].T
    return turned


def _numeric_cells(table: Table) -> np.ndarray:
    """Values of the numeric cells, one column per feature; columns of nominal features hold nothing."""
    if not table.is_sparse and not table.is_nominal.any():
        return table.numeric
    cells = np.empty((table.n_columns, table.n_rows), table.dtype if table.is_sparse else np.float64)
    for f in np.flatnonzero(~table.is_nominal):
        cells[f] = table.column(int(f))
    return cells.T


def _whole_blocks(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix in C order, without a copy where it is; a block of features fits in from each row's start."""
    from omnirank.trees.kernels.draw_lanes import BLOCK

    n_rows, n_features = matrix.shape
    if n_features >= BLOCK:
        return np.ascontiguousarray(matrix)
    padded = np.zeros((n_rows - (-BLOCK // n_features) - 1, n_features), matrix.dtype)
    padded[:n_rows] = matrix
    return padded


# -- ranks of all cells ---------------------------------------------------------------------------------------


def _code_type(n_rows: int, n_levels: np.ndarray) -> Any:
    wide = max(n_rows, int(n_levels.max(initial=0))) >= np.iinfo(np.uint16).max
    return np.uint32 if wide else np.uint16


def _missing_code(dtype: Any) -> Any:
    return dtype.type(np.iinfo(dtype).max)


def _level_counts(table: Table) -> np.ndarray:
    return np.array([0 if levels is None else len(levels) for levels in table.levels], np.int32)


def _code_levels(cells: np.ndarray, codes: np.ndarray) -> None:
    codes[:] = cells
    codes[cells < 0] = _missing_code(codes.dtype)


def _code_block(table: Table, n_levels: np.ndarray, dtype: Any, features: range) -> tuple[np.ndarray, np.ndarray]:
    """Codes of some features, and whether all cells of a feature are known and differ."""
    codes = np.empty((len(features), table.n_rows), dtype)
    distinct = np.zeros(len(features), bool)
    missing = _missing_code(codes.dtype)
    for i, f in enumerate(features):
        if n_levels[f]:
            _code_levels(table.column(f), codes[i])
        else:
            distinct[i] = _rank(table.column(f), codes[i], missing)
    return codes, distinct


def _rank(cells: np.ndarray, codes: np.ndarray, missing: Any) -> bool:
    """Dense ranks of the known cells; NaN sorts last. Returns whether all cells are known and differ."""
    order, ordered = (part[0] for part in in_order(cells[None]))
    step = np.zeros(len(cells), codes.dtype)
    step[1:] = ordered[1:] != ordered[:-1]  # NaN differs from NaN: overwritten below
    codes[order] = np.cumsum(step, dtype=codes.dtype)
    n_missing = int(np.isnan(ordered).sum())
    if n_missing:
        codes[order[len(order) - n_missing :]] = missing
    return not n_missing and bool(step[1:].all())


def in_order(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the cells of each row, missing ones last and equal ones by their place, and cells in order.

    Integers of the leading bits of a number and its place are sorted, which takes a third of the time that NumPy's
    argsort takes. The few numbers of which these bits do not decide are sorted anew.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.trees.layout import in_order
    >>> in_order(np.array([[0.5, np.nan, -2.0, 0.5]]))[0]
    array([[2, 0, 3, 1]])
    """
    n_bits = cells.shape[1].bit_length()
    keys = np.add(cells, 0.0, dtype=np.float64, order="C").view(np.int64)  # of -0.0 those of 0.0
    most = np.iinfo(np.int64).max
    keys ^= (keys >> 63) & most  # in the order of the numbers
    keys[np.isnan(cells)] = most
    keys >>= n_bits
    keys <<= n_bits
    keys |= np.arange(cells.shape[1])
    keys.sort(axis=1)
    order = keys & ((1 << n_bits) - 1)
    ordered = np.take(cells, order + np.arange(len(cells))[:, None] * cells.shape[1])
    for i in np.flatnonzero((ordered[:, 1:] < ordered[:, :-1]).any(axis=1)):
        leading = keys[i] >> n_bits
        alike = np.flatnonzero(leading[1:] == leading[:-1])
        alike = np.union1d(alike, alike + 1)
        places = order[i, alike]
        order[i, alike] = places[np.lexsort((cells[i, places], leading[alike]))]
        ordered[i] = cells[i, order[i]]
    return order, ordered


# -- ranks of the non-zero cells ------------------------------------------------------------------------------


def sparse_codes(matrix: Any, levels: Sequence[Levels | None]) -> Any:
    """Return non-zero cells as kernels take them: by feature and by row, as ranks.

    Parameters
    ----------
    matrix : csc_array
        The cells; no 0 is stored.
    levels : sequence
        Levels of the nominal features, None for the others.

    Examples
    --------
    >>> from scipy import sparse
    >>> from omnirank.trees.layout import sparse_codes
    >>> codes = sparse_codes(sparse.csc_array([[0.0, 2.5], [1.0, -1.0]]), [None, None])
    >>> codes.codes.tolist(), codes.zero.tolist()
    ([1, 2, 0], [0, 1])
    >>> sparse_codes(sparse.csc_array([[2.0], [0.0]]), [None]).values.tolist()
    [0.0, 2.0]
    """
    from omnirank.trees.kernels.cells import Cells, flag

    check_size(matrix)
    n_rows, n_features = matrix.shape
    values, ranks, zero = _ranked(matrix)
    n_codes = np.diff(values[1]).astype(np.uint32)
    wide = n_codes.max(initial=0) > np.iinfo(np.uint16).max
    ranks = ranks.astype(np.uint32 if wide else np.uint16, copy=False)
    # a rank of 0 stays a stored cell
    by_row = sparse.csr_array(sparse.csc_array((ranks, matrix.indices, matrix.indptr), shape=matrix.shape))
    return Cells(
        matrix.indptr.astype(np.uint32),
        matrix.indices.astype(np.uint32),
        ranks,
        by_row.indptr.astype(np.uint32),
        by_row.indices.astype(np.uint16 if n_features <= 2**16 else np.uint32),
        by_row.data,
        zero.astype(np.uint32),
        n_codes,
        _bits(by_row, n_rows, n_features),
        values[0],
        values[1],
        np.array([0.5], matrix.dtype),
        np.array([0 if lev is None else len(lev) for lev in levels], np.int32),
        valued=flag(n_codes.max(initial=0) > 2),
        drawn=flag(False),
    )


def _ranked(matrix: Any) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """Distinct values of each feature (0 among them) and where they start, ranks of the cells, ranks of 0."""
    n_features = matrix.shape[1]
    if matrix.nnz == 0 or (matrix.data == 1).all():
        starts = 2 * np.arange(n_features + 1, dtype=np.int64)
        return (
            (np.tile(np.array([0, 1], matrix.dtype), n_features), starts),
            np.ones(matrix.nnz, np.uint16),
            np.zeros(n_features, np.int64),
        )
    ranks, zero = np.empty(matrix.nnz, np.int64), np.zeros(n_features, np.int64)
    parts, starts = [], np.zeros(n_features + 1, np.int64)
    for f in range(n_features):
        cells = slice(matrix.indptr[f], matrix.indptr[f + 1])
        distinct = np.unique(np.append(matrix.data[cells], matrix.dtype.type(0)))
        ranks[cells] = np.searchsorted(distinct, matrix.data[cells])
        zero[f] = np.searchsorted(distinct, 0)
        parts.append(distinct)
        starts[f + 1] = starts[f] + len(distinct)
    return (np.concatenate(parts), starts), ranks, zero


def _bits(by_row: Any, n_rows: int, n_features: int) -> np.ndarray:
    words = (n_features + 63) // 64
    if n_rows * words * 8 > _MOST_BIT_BYTES:
        return np.zeros((0, 0), np.uint64)
    bits = np.uint64(1) << (by_row.indices & 63).astype(np.uint64)
    # Cells of the same place add up in a dense array, and their bits differ.
    return sparse.csr_array((bits, by_row.indices >> 6, by_row.indptr), shape=(n_rows, words)).toarray()
