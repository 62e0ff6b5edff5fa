"""Candidate tables: the constructed features that a node may test, coded once and shared by nodes and trees.

A constructed feature is a function of the example and does not depend on the node. What a node may test depends on the
path that it inherits, and on nothing else: there is one table per inherited path, as far as paths can be continued.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.coded_blocks import CodedBlock, group_key
from omnirank.trees.codes import DenseFeatures, searched_cells

# Tables beyond this many bytes are made again when they are needed again.
MOST_BYTES = 3 * 2**28


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

    def continued_part(self, path: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the part of an inherited path that matters: paths with the same part have the same candidates."""

    def candidates(self, inherited: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        """Return the features that a node with this inherited path may test, in an order that is always the same.

        Those of one path come together; so many of them, from the first on, are always the same ones.
        """

    def coded(self, groups: Sequence[tuple[Any, ...]]) -> Sequence[CodedBlock]:
        """Return the codes of the features of some paths."""

    def columns(self, features: Sequence[Any]) -> Table:
        """Return the values of features, one column each."""


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The features that nodes with one inherited path may test.

    Attributes
    ----------
    inherited : tuple
        The path.
    blocks : tuple of CodedBlock
        The features, path by path.
    coded : DenseFeatures
        Their codes as one block.
    """

    inherited: tuple[Any, ...]
    blocks: tuple[CodedBlock, ...]
    coded: DenseFeatures

    @classmethod
    def of(cls, inherited: tuple[Any, ...], blocks: Sequence[CodedBlock]) -> CandidateTable:
        """Return the table of these blocks."""
        n_levels = np.concatenate([block.n_levels for block in blocks])
        distinct = np.concatenate([block.distinct for block in blocks])
        codes = np.concatenate(_of_one_type([block.codes for block in blocks]))
        nothing = Table((), (), np.empty((codes.shape[1], 0)), np.empty((codes.shape[1], 0), np.int32))
        starts = np.cumsum([0, *(len(block.features) for block in blocks)]).tolist()
        # views, which take no memory of their own
        views = (replace(block, codes=codes[a:b]) for block, a, b in zip(blocks, starts, starts[1:], strict=False))
        return cls(inherited, tuple(views), DenseFeatures(nothing, codes, n_levels, distinct))

    def cells(self, settings: Any) -> Any:
        """Return the codes as the growing kernel takes them."""
        return searched_cells(self.coded.cells, settings)

    def tested(self, number: int) -> tuple[Any, Levels | None]:
        """Return a feature by its number, and its levels."""
        block = int(np.searchsorted(self._starts, number, side="right")) - 1
        place = number - int(self._starts[block])
        return self.blocks[block].features[place], self.blocks[block].levels[place]

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *(len(block.features) for block in self.blocks[:-1])])

    @property
    def n_bytes(self) -> int:
        """Memory of its codes, by feature and by row."""
        return 2 * self.coded.codes.nbytes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.coded.codes)


def _of_one_type(blocks: list[np.ndarray]) -> list[np.ndarray]:
    """Return codes of one width: very many levels ask for wider ones, in which the code of a missing cell differs."""
    widest = max(blocks, key=lambda codes: codes.itemsize).dtype
    if all(codes.dtype == widest for codes in blocks):
        return blocks
    most = np.iinfo(widest).max
    return [np.where(codes == np.iinfo(codes.dtype).max, most, codes).astype(widest) for codes in blocks]


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
        # blocks are views of the last table that has them; the values of a tested feature are kept as long as the fit
        self._blocks: dict[Any, CodedBlock] = {}
        self._n_bytes = 0
        self._values: dict[Any, tuple[np.ndarray, Levels | None]] = {}

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

    def table(self, path: tuple[Any, ...]) -> CandidateTable:
        """Return the table of an inherited path."""
        inherited = self.construction.continued_part(path)
        with self._lock:
            found = self._tables.get(inherited)
            if found is None:
                found = self._tables[inherited] = self._made(inherited)
                self._note(found)
                while len(self._tables) > 1 and self._n_bytes > self.most_bytes:
                    self._drop(self._tables.popitem(last=False)[1])
            self._tables.move_to_end(inherited)
            return found

    def _note(self, table: CandidateTable) -> None:
        self._n_bytes += table.n_bytes
        self._blocks |= {group_key(block.features): block for block in table.blocks}

    def _drop(self, table: CandidateTable) -> None:
        self._n_bytes -= table.n_bytes
        for block in table.blocks:
            key = group_key(block.features)
            if self._blocks.get(key) is block:
                del self._blocks[key]

    def cells(self, features: Sequence[Any]) -> Table:
        """Return the values of features that trees test; they are kept, since there are few of them."""
        with self._lock:
            new = [feature for feature in features if feature not in self._values]
            if new:
                table = self.construction.columns(new)
                self._values |= {f: (table.column(i), table.levels[i]) for i, f in enumerate(new)}
            found = [self._values[feature] for feature in features]
        if not found:
            return self.construction.columns(features)
        return Table.from_columns(map(str, range(len(found))), [cells for cells, _ in found], [lev for _, lev in found])

    def _made(self, inherited: tuple[Any, ...]) -> CandidateTable:
        groups = self.construction.candidates(inherited)
        new = [group for group in groups if group_key(group) not in self._blocks]
        made = {group_key(group): block for group, block in zip(new, self.construction.coded(new), strict=True)}
        blocks = [made[key] if (key := group_key(group)) in made else self._blocks[key] for group in groups]
        return CandidateTable.of(inherited, blocks)
