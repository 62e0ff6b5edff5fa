"""Features of extra trees that try few of them per node: values by row, ranked only if something asks for ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.data.table import Table
from omnirank.trees.codes import FEW_FEATURES, CodedFeatures, code_features, numeric_cells, transposed


@dataclass(frozen=True, eq=False)
class ListedFeatures(CodedFeatures):
    """Known numbers, from which nodes list the cells of the features that they draw.

    Attributes
    ----------
    copied : bool
        Whether small nodes see copies of their rows, since all cells take much memory.
    n_jobs : int or None
        Number of workers that rank the features.
    """

    copied: bool
    n_jobs: int | None = None

    def with_tests(self, random_tests: bool, n_tried: int, space: Any) -> CodedFeatures:
        """Return the features for other trees."""
        found = listed_features(self.table, n_tried, space, self.n_jobs) if random_tests else None
        return self.ranked.with_tests(random_tests, n_tried, space) if found is None else found

    def grow(self, space: Any, weight: np.ndarray, settings: Any, seed: Any) -> Any:
        """Grow a tree."""
        from omnirank.trees.kernels.grow_tree import grow

        return grow(space, self.cells, weight, settings, seed)

    @cached_property
    def cells(self) -> Any:
        """Values as the growing kernel takes them."""
        from omnirank.trees.kernels.draw import ListedDraws, NumericDraws

        by_row = np.ascontiguousarray(numeric_cells(self.table).T)
        codes = np.zeros((by_row.shape[1], 0), np.uint16)  # not read
        if not self.copied:
            return ListedDraws(codes, by_row)
        missing: Any = np.uint16(np.iinfo(np.uint16).max)
        return NumericDraws(codes, missing, np.zeros(0, np.uint32), transposed(by_row), by_row)

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


def listed_features(table: Table, n_tried: int, space: Any, n_jobs: int | None) -> ListedFeatures | None:
    """Return the features of extra trees that try so many per node, if these can list their cells.

    None where nodes try most features or there are few, where the space is another one than known dense columns, and
    where cells are nominal, missing or not of double precision. The container does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.trees.kernels.spaces import OneColumn
    >>> from omnirank.trees.listed_features import listed_features
    >>> table = Table.from_numeric(np.arange(20.0).reshape(2, 10))
    >>> listed_features(table, 4, OneColumn(np.zeros(2)), None).cells.by_row.shape
    (2, 10)
    >>> listed_features(table, 5, OneColumn(np.zeros(2)), None) is None
    True
    """
    from omnirank.trees.kernels.draw import ListedDraws
    from omnirank.trees.kernels.spaces import DenseColumns, OneColumn
    from omnirank.trees.kernels.subtree_rows import copies_pay

    few = table.n_columns >= FEW_FEATURES and 2 * n_tried < table.n_columns
    if not few or not isinstance(space, OneColumn | DenseColumns) or table.is_nominal.any():
        return None
    if table.dtype != np.float64 or table.n_missing:
        return None
    cells = np.broadcast_to(np.float64(0), (table.n_rows, table.n_columns))  # as large as they would be
    found = ListedFeatures(table, copies_pay(space, ListedDraws, cells), n_jobs)
    _ = found.cells  # workers would each make their own
    return found
