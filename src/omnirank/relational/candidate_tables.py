"""Candidate tables: the constructed features that a node may test, coded once and shared by nodes and trees.

A constructed feature is a function of the example and does not depend on the node. What a node may test depends on the
path that it inherits, and on nothing else: there is one table per inherited path.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.trees.codes import DenseFeatures, code_features, searched_cells

# Tables beyond this many bytes are made again when they are needed again.
MOST_BYTES = 2**30


class Constructed(Protocol):
    """A constructed feature, as far as growing is concerned."""

    @property
    def path(self) -> tuple[Hashable, ...]:
        """What a node below a test of this feature inherits."""


class Construction(Protocol):
    """What may be constructed from the examples of a fit."""

    @property
    def n_examples(self) -> int:
        """Number of examples."""

    def candidates(self, inherited: tuple[Any, ...]) -> Sequence[Any]:
        """Return the features that a node with this inherited path may test, in an order that is always the same."""

    def columns(self, features: Sequence[Any]) -> Table:
        """Return the values of features, one column each."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class CodedColumn:
    """The values of one feature, and their codes (see :class:`omnirank.trees.codes.DenseFeatures`)."""

    feature: Any
    cells: np.ndarray
    codes: np.ndarray
    levels: Levels | None
    distinct: bool


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The features that nodes with one inherited path may test.

    Attributes
    ----------
    inherited : tuple
        The path.
    columns : tuple of CodedColumn
        One per feature.
    coded : DenseFeatures
        Their codes as one block.
    """

    inherited: tuple[Any, ...]
    columns: tuple[CodedColumn, ...]
    coded: DenseFeatures

    @classmethod
    def of(cls, inherited: tuple[Any, ...], columns: Sequence[CodedColumn]) -> CandidateTable:
        """Return the table of these columns."""
        n_levels = np.array([len(column.levels or ()) for column in columns], np.int32)
        distinct = np.array([column.distinct for column in columns])
        codes = np.stack(_of_one_type([column.codes for column in columns]))
        nothing = Table((), (), np.empty((codes.shape[1], 0)), np.empty((codes.shape[1], 0), np.int32))
        return cls(inherited, tuple(columns), DenseFeatures(nothing, codes, n_levels, distinct))

    def cells(self, space: Any, settings: Any) -> Any:
        """Return the codes as the growing kernel takes them."""
        return searched_cells(self.coded.cells, space, settings)

    @property
    def n_bytes(self) -> int:
        """Memory of its codes, by feature and by row."""
        return 2 * self.coded.codes.nbytes

    @cached_property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.columns)


def _of_one_type(columns: list[np.ndarray]) -> list[np.ndarray]:
    """Return codes of one width: very many levels ask for wider ones, in which the code of a missing cell differs."""
    widest = max(columns, key=lambda codes: codes.itemsize).dtype
    if all(codes.dtype == widest for codes in columns):
        return columns
    most = np.iinfo(widest).max
    return [np.where(codes == np.iinfo(codes.dtype).max, most, codes).astype(widest) for codes in columns]


class CandidateTables:
    """The candidate tables of a fit, made when a node first needs them; picklable, and safe to share by threads.

    Parameters
    ----------
    construction : Construction
        What may be constructed.
    most_bytes : int
        Memory of the tables that are kept.
    """

    def __init__(self, construction: Construction, most_bytes: int = MOST_BYTES) -> None:
        self.construction = construction
        self.most_bytes = most_bytes
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.RLock()
        self._tables: OrderedDict[tuple[Any, ...], CandidateTable] = OrderedDict()
        # a column lives as long as a table that has it
        self._columns: WeakValueDictionary[Any, CodedColumn] = WeakValueDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {"construction": self.construction, "most_bytes": self.most_bytes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to test."""
        return not self.construction.candidates(())

    @property
    def root(self) -> CandidateTable:
        """The table of the root, which inherits nothing."""
        return self.table(())

    def table(self, inherited: tuple[Any, ...]) -> CandidateTable:
        """Return the table of an inherited path."""
        with self._lock:
            found = self._tables.get(inherited)
            if found is None:
                found = self._tables[inherited] = self._made(inherited)
                while len(self._tables) > 1 and self._n_bytes() > self.most_bytes:
                    self._tables.popitem(last=False)
            self._tables.move_to_end(inherited)
            return found

    def _n_bytes(self) -> int:
        """Memory of the tables, and of the columns, which several of them may share."""
        columns = sum(column.cells.nbytes for column in self._columns.values())
        return columns + sum(table.n_bytes for table in self._tables.values())

    def cells(self, features: Sequence[Any]) -> Table:
        """Return the values of features, from the tables where they are kept."""
        with self._lock:
            kept = [self._columns.get(feature) for feature in features]
        if not features or any(column is None for column in kept):
            return self.construction.columns(features)
        found = [column for column in kept if column is not None]
        names = [str(number) for number in range(len(found))]
        return Table.from_columns(names, [column.cells for column in found], [column.levels for column in found])

    def _made(self, inherited: tuple[Any, ...]) -> CandidateTable:
        features = list(self.construction.candidates(inherited))
        known = {feature: column for feature in features if (column := self._columns.get(feature)) is not None}
        new = [feature for feature in features if feature not in known]
        known |= zip(new, self._coded(new), strict=True)
        self._columns.update(known)
        return CandidateTable.of(inherited, [known[feature] for feature in features])

    def _coded(self, features: list[Any]) -> list[CodedColumn]:
        if not features:
            return []
        table = self.construction.columns(features)
        coded = code_features(table, n_jobs=1)  # a part of what workers do
        assert isinstance(coded, DenseFeatures)
        return [
            CodedColumn(feature, table.column(f), coded.codes[f], table.levels[f], bool(coded.distinct[f]))
            for f, feature in enumerate(features)
        ]
