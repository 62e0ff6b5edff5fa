"""The target of a data set: classes, numbers, several of them, or label sets, known wholly, partly or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.text import counted
from omnirank.data.containers import unmasked
from omnirank.data.table import Levels, Table, categorical, codes_of, is_sparse


@dataclass(frozen=True, eq=False)
class Target(PickledWithoutCaches):
    """Target variables, one column each.

    Parameters
    ----------
    names : tuple of str
        Names of the target variables (or labels).
    levels : tuple
        For each variable its levels (nominal) or None (numeric, or a 0/1 label).
    values : ndarray of shape (n, T) or csr_array
        Dense: float64 with codes of nominal variables, NaN = unknown. Sparse (label sets only): 1 where a
        label is relevant, absent = 0, a stored NaN = unknown single label; rows without any known label
        are empty and not marked in ``labelled``.
    labelled : ndarray of bool
        Examples with at least one known value.
    is_labels : bool
        Whether the columns are 0/1 labels of one label set.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import Target
    >>> target = Target.numeric(np.array([[1.5], [np.nan]]), ["yield"])
    >>> target.labelled.tolist()
    [True, False]
    """

    names: tuple[str, ...]
    levels: tuple[Levels | None, ...]
    values: Any
    labelled: np.ndarray
    is_labels: bool = False

    @classmethod
    def numeric(cls, values: np.ndarray, names: Sequence[str]) -> Target:
        """Numeric variables from a float matrix (NaN = unknown)."""
        values = np.asarray(unmasked(values), np.float64)
        return cls(tuple(names), (None,) * values.shape[1], values, _any_known(values))

    @classmethod
    def from_table(cls, table: Table) -> Target:
        """Numeric and nominal variables from a typed table."""
        values = np.empty((table.n_rows, table.n_columns))
        for i in range(table.n_columns):
            cells = table.column(i)
            values[:, i] = np.where(cells < 0, np.nan, cells) if table.is_nominal[i] else cells
        return cls(table.names, table.levels, values, _any_known(values))

    @classmethod
    def labels(cls, values: Any, names: Sequence[str], labelled: np.ndarray | None = None) -> Target:
        """Label sets from a 0/1 matrix.

        Parameters
        ----------
        values : array-like or scipy.sparse container of shape (n, L)
            Dense: NaN = unknown. Sparse: absent = 0, a stored NaN = unknown.
        names : sequence of str
            The labels.
        labelled : array-like of bool, optional
            False for examples that are unlabelled whatever their row holds; 1 in such a row is an error.

        Examples
        --------
        >>> from scipy import sparse
        >>> from omnirank.data.target import Target
        >>> target = Target.labels(sparse.csr_array([[1, 0], [0, 0]]), ["a", "b"], labelled=[True, False])
        >>> target.dense().tolist()
        [[1.0, 0.0], [nan, nan]]
        """
        none = (None,) * len(names)
        if is_sparse(values):
            values = sparse.csr_array(values).astype(np.float64)
            values.sum_duplicates()
            unknown = np.isnan(values.data)
            known = np.bincount(_row_numbers(values)[unknown], minlength=values.shape[0]) < len(names)
        else:
            values = np.asarray(unmasked(values), np.float64)
            known = _any_known(values)
        if labelled is not None:
            labelled = np.asarray(labelled, dtype=bool)
            wrong = (values == 1)[~labelled].sum()
            if wrong:
                raise DataError(f"examples that are marked as unlabelled have {counted(int(wrong), 'label')}")
            known = known & labelled
        return cls(tuple(names), none, _blank(values, ~known), known, True)

    @classmethod
    def joined(cls, targets: Sequence[Target]) -> Target:
        """The examples of several targets with the same variables and levels, one after the other."""
        first = targets[0]
        if all(target.is_sparse for target in targets):
            values = sparse.vstack([target.values for target in targets], format="csr")
        else:
            values = np.concatenate([target.dense() for target in targets])
        return cls(
            first.names, first.levels, values, np.concatenate([target.labelled for target in targets]), first.is_labels
        )

    # -- shape --------------------------------------------------------------------------------------

    @property
    def n_examples(self) -> int:
        """Number of examples, labelled or not."""
        return int(self.values.shape[0])

    @property
    def n_targets(self) -> int:
        """Number of target variables."""
        return len(self.names)

    @property
    def is_sparse(self) -> bool:
        """Whether label sets are held in a sparse matrix."""
        return is_sparse(self.values)

    @cached_property
    def is_nominal(self) -> np.ndarray:
        """One bool per variable."""
        return np.array([lev is not None for lev in self.levels], dtype=bool)

    @cached_property
    def is_partial(self) -> bool:
        """Whether some example has both known and unknown values."""
        if self.is_sparse:
            return bool(np.isnan(self.values.data).any())
        return bool(np.isnan(self.values[self.labelled]).any())

    @property
    def n_partly_labelled(self) -> int:
        """Number of examples with both known and unknown values."""
        if not self.is_sparse:
            return int(np.isnan(self.values[self.labelled]).any(axis=1).sum())
        unknown = np.concatenate([[0], np.cumsum(np.isnan(self.values.data))])[self.values.indptr]
        return int((np.diff(unknown) > 0).sum())

    # -- parts --------------------------------------------------------------------------------------

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """Numbers of the variables with at least two different known values."""
        if self.is_sparse:
            unknown = np.isnan(self.values.data)
            n = self.n_targets
            ones = np.bincount(self.values.indices, ~unknown & (self.values.data == 1), n)
            known = self.labelled.sum() - np.bincount(self.values.indices, unknown, n)
            return tuple(np.flatnonzero((ones > 0) & (ones < known)).tolist())
        if not len(self.values):
            return ()
        low, high = np.fmin.reduce(self.values, axis=0), np.fmax.reduce(self.values, axis=0)
        return tuple(np.flatnonzero(high > low).tolist())

    def take(self, rows: Any) -> Target:
        """Return the target of the given rows."""
        return Target(self.names, self.levels, self.values[rows], self.labelled[rows], self.is_labels)

    def select(self, columns: Sequence[int] | np.ndarray) -> Target:
        """Return the target with the given variables only."""
        columns = np.asarray(columns, dtype=np.intp)
        names = tuple(self.names[i] for i in columns)
        if self.is_sparse:
            return Target.labels(self.values[:, columns], names, self.labelled)
        levels = tuple(self.levels[i] for i in columns)
        values = self.values[:, columns]
        return Target(names, levels, values, _any_known(values), self.is_labels)

    def hide(self, rows: Any) -> Target:
        """Return the target with the given examples unlabelled."""
        hidden = np.zeros(self.n_examples, bool)
        hidden[rows] = True
        values = _blank(self.values, hidden)
        return Target(self.names, self.levels, values, self.labelled & ~hidden, self.is_labels)

    def dense(self) -> np.ndarray:
        """Return the values as one float matrix, NaN = unknown."""
        if not self.is_sparse:
            return self.values
        values = self.values.toarray()
        values[~self.labelled] = np.nan
        return values

    def to_array(self) -> Any:
        """Return the target as users write it.

        One class or number per example gives a vector; several give a matrix, or a DataFrame where numbers and
        classes are mixed. Label sets give a 0/1 matrix: sparse where they are held so and no example is
        unlabelled, else dense. Unknown is NaN, in a column of strings or booleans None.
        """
        if self.is_labels:
            values = self.values if self.is_sparse and self.labelled.all() else self.dense()
            return values if is_sparse(values) or np.isnan(values).any() else values.astype(np.int8)
        if not self.is_nominal.any():
            return self.values[:, 0] if self.n_targets == 1 else self.values
        if not self.is_nominal.all():
            return self.to_frame()
        columns = [decode(codes_of(self.values[:, i]), levels or ()) for i, levels in enumerate(self.levels)]
        return columns[0] if len(columns) == 1 else side_by_side(columns)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame: floats and categoricals."""
        values = self.dense()
        columns: dict[str, Any] = {}
        for i, (name, levels) in enumerate(zip(self.names, self.levels, strict=True)):
            if levels is None:
                columns[name] = values[:, i]
            else:
                columns[name] = categorical(codes_of(values[:, i]), levels)
        return pd.DataFrame(columns, index=pd.RangeIndex(self.n_examples))

    def equals(self, other: Target) -> bool:
        """Whether both have the same names, levels and values (unknown equals unknown)."""
        return (
            self.names == other.names
            and self.levels == other.levels
            and self.is_labels == other.is_labels
            and np.array_equal(self.dense(), other.dense(), equal_nan=True)
        )


def decode(codes: np.ndarray, levels: Levels) -> np.ndarray:
    """Return the levels of codes: an array of integers, floats or booleans, of objects for all else.

    Code -1 gives NaN among numbers (which are floats then), None otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import decode
    >>> decode(np.array([1, -1, 0]), (3, 7)).tolist(), decode(np.array([1, -1]), ("no", "yes")).tolist()
    ([7.0, nan, 3.0], ['yes', None])
    """
    types = {type(level) for level in levels}
    if types == {int} or not types:
        lookup = np.array(levels, dtype=np.int64)
    elif types in ({bool}, {float}, {int, float}):
        lookup = np.array(levels)
    else:
        lookup = np.fromiter(levels, dtype=object, count=len(levels))
    if not (codes < 0).any():
        return lookup[codes]
    numbers = lookup.dtype.kind in "if"
    # one place more, which code -1 finds
    padded = np.full(len(levels) + 1, np.nan if numbers else None, dtype=float if numbers else object)
    padded[:-1] = lookup
    return padded[codes]


def side_by_side(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return columns as one matrix: of numbers where all hold numbers, else cells keep their own types.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import side_by_side
    >>> side_by_side([np.array([True, False]), np.array([3, 4])]).tolist()
    [[True, 3], [False, 4]]
    """
    kinds = {column.dtype.kind for column in columns}
    if len(kinds) > 1 and not kinds <= {"i", "f"}:
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)


def _blank(values: Any, rows: np.ndarray) -> Any:
    """The values with all cells of the given rows (a mask) unknown: empty rows where they are sparse."""
    if not is_sparse(values):
        return np.where(rows[:, None], np.nan, values) if rows.any() else values
    keep = ~rows[_row_numbers(values)] & (values.data != 0)
    starts = np.concatenate([[0], np.cumsum(keep)])[values.indptr]
    return sparse.csr_array((values.data[keep], values.indices[keep], starts), shape=values.shape)


def _any_known(values: np.ndarray) -> np.ndarray:
    return np.asarray((~np.isnan(values)).any(axis=1))


def _row_numbers(values: Any) -> np.ndarray:
    """Row of every stored cell of a CSR matrix."""
    return np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
