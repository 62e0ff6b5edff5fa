"""Features of extra trees: nodes compare values with the threshold; ranks are made only if a score asks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.data.table import Table
from omnirank.trees.codes import CodedFeatures, code_features, level_codes, transposed, with_missing

# Fewer features than this are searched one by one, not row by row for several at once.
_FEW_FEATURES = 8


@dataclass(frozen=True, eq=False)
class DrawnFeatures(CodedFeatures):
    """Values of numeric features, by row or by feature as the kernel reads them, and levels of nominal ones.

    Attributes
    ----------
    kind : type
        The kind of features that the growing kernel takes.
    copied : bool
        Whether small nodes see copies of their rows (of kind `ListedDraws`), since all cells take much memory.
    n_jobs : int or None
        Number of workers that rank the features.
    """

    kind: type
    copied: bool = False
    n_jobs: int | None = None

    def grow(self, space: Any, weight: np.ndarray, settings: Any, seed: Any) -> Any:
        """Grow a tree."""
        from omnirank.trees.kernels.grow_tree import grow

        return grow(space, self.cells, weight, settings, seed)

    def to_send(self) -> DrawnFeatures:
        """Return the same features without what is made of the table."""
        return replace(self)  # without what is cached

    @cached_property
    def cells(self) -> Any:
        """Values as the growing kernel takes them: no more of them than it reads."""
        from omnirank.trees.kernels.draw import ListedDraws, RowDraws
        from omnirank.trees.kernels.nominal import MixedDraws

        matrix = _numeric_cells(self.table)
        if self.kind is MixedDraws:
            codes, n_levels = level_codes(self.table)
            return MixedDraws(*with_missing(codes), transposed(matrix), n_levels)
        unread = np.zeros((self.table.n_columns, 0), np.uint16)
        if self.kind is RowDraws:
            return RowDraws(unread, _whole_blocks(matrix))
        if self.kind is ListedDraws:
            return ListedDraws(unread, np.ascontiguousarray(matrix))
        by_row = np.ascontiguousarray(matrix) if self.copied else np.zeros((0, 0), matrix.dtype)
        return self.kind(unread, transposed(matrix), by_row)

    @cached_property
    def ranked(self) -> CodedFeatures:
        """The features as ranks."""
        return code_features(self.table, n_jobs=self.n_jobs)

    @property
    def routing(self) -> Any:
        """Ranks by feature."""
        return self.ranked.routing

    @property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of the ranks."""
        return self.ranked.values


def drawn_features(table: Table, n_tried: int, space: Any, n_jobs: int | None = None) -> DrawnFeatures:
    """Return the features of extra trees in a clustering space that try so many features per node.

    Cells are read by row where nodes try most features, and listed where nodes try few. They are read by feature where
    there are few features, nominal or missing cells, or another space than known dense columns; and where listed cells
    would be of single precision. The container does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.trees.drawn_features import drawn_features
    >>> from omnirank.trees.kernels.spaces import OneColumn
    >>> table = Table.from_numeric(np.arange(20.0).reshape(2, 10))
    >>> [drawn_features(table, n, OneColumn(np.zeros(2))).kind.__name__ for n in (4, 5)]
    ['ListedDraws', 'RowDraws']
    """
    from omnirank.trees.kernels.draw import ListedDraws, NumericDraws, RowDraws
    from omnirank.trees.kernels.nominal import MixedDraws
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn
    from omnirank.trees.kernels.subtree_rows import copies_pay

    kind: type = NumericDraws
    copied = False
    if table.is_nominal.any():
        kind = MixedDraws
    elif table.n_columns >= _FEW_FEATURES and isinstance(space, OneColumn | DenseColumns) and not table.n_missing:
        if 2 * n_tried >= table.n_columns:
            kind = RowDraws
        elif table.dtype == np.float64:
            cells = np.broadcast_to(np.float64(0), (table.n_rows, table.n_columns))  # as large as they would be
            copied = copies_pay(space, ListedDraws, cells)
            kind = NumericDraws if copied else ListedDraws
    found = DrawnFeatures(table, kind, copied, n_jobs)
    _ = found.cells  # workers would each make their own
    return found


def _numeric_cells(table: Table) -> np.ndarray:
    """Values of the numeric cells, one column per feature; columns of nominal features hold nothing."""
    if not table.is_sparse and not table.is_nominal.any():
        return table.numeric
    cells = np.empty((table.n_columns, table.n_rows), np.float64)
    for f in np.flatnonzero(~table.is_nominal):
        cells[f] = table.column(int(f))
    return cells.T


def _whole_blocks(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix in C order, without a copy where it is; a block of features fits in from each row's start."""
    from omnirank.trees.kernels.draw_lanes_plain import BLOCK

    n_rows, n_features = matrix.shape
    if n_features >= BLOCK:
        return np.ascontiguousarray(matrix)
    found = np.zeros((n_rows - (-BLOCK // n_features) - 1, n_features), matrix.dtype)
    found[:n_rows] = matrix
    return found
