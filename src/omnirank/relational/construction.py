"""What may be constructed from the examples of a relational data set, coded for the growing of trees.

A constructed feature is a function of the example and does not depend on the node. What a node may test depends on the
path that it inherits, and on nothing else: there is one candidate table per inherited path, as far as paths can be
continued. Tables are put together from blocks, one per path, coded once and shared by nodes and trees.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.aggregation import NONE_LEVEL
from omnirank.relational.candidates import Bias, Candidates, warn_of_cut
from omnirank.relational.database import Database
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.evaluation import FEW, empty_as_missing, feature_columns
from omnirank.relational.paths import Feature, Path
from omnirank.trees.codes import DenseFeatures, code_features, searched_cells
from omnirank.trees.tree import Tree

# Bytes of the values that are computed at a time; codes, which are kept, take a quarter of that.
_VALUES_AT_ONCE = 2**26


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """The features of one path, coded (see :class:`omnirank.trees.codes.DenseFeatures`).

    Attributes
    ----------
    features : tuple of Feature
        The features.
    codes : ndarray (features, rows)
        Their codes; only the order of those of numbers matters.
    levels : tuple
        Levels of each, None for a number.
    distinct : ndarray of bool
        Features of which all cells are known to differ.
    """

    features: tuple[Any, ...]
    codes: np.ndarray
    levels: tuple[Levels | None, ...]
    distinct: np.ndarray

    @cached_property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each feature, 0 for a numeric one."""
        return np.array([len(levels or ()) for levels in self.levels], np.int32)

    @property
    def n_bytes(self) -> int:
        """Memory of its codes."""
        return self.codes.nbytes

    def take(self, rows: np.ndarray) -> CodedBlock:
        """Return the block of some rows. "Nothing" is a level only where one of them has it."""
        codes = self.codes[:, rows]
        levels = list(self.levels)
        for i, known in enumerate(levels):
            if known is not None and known[-1] == NONE_LEVEL and not (codes[i] == len(known) - 1).any():
                levels[i] = known[:-1]
        return replace(self, codes=codes, levels=tuple(levels))


def group_key(features: tuple[Any, ...]) -> tuple[Any, int]:
    """Return what tells a group from others: where there is no room for all features of a path, it has the first ones.

    Examples
    --------
    >>> from omnirank.relational.construction import group_key
    >>> from omnirank.relational.paths import Feature, Step
    >>> group_key((Feature((Step("age", ((0, 0),)),), 1, ("identity",)),))
    ((Step(relation='age', bound=((0, 0),), constants=()),), 1)
    """
    return features[0].path, len(features)


def code_groups(
    groups: Sequence[tuple[Any, ...]], columns: Callable[[list[Any]], Table], n_rows: int
) -> list[CodedBlock]:
    """Code the features of some paths, as many at a time as there is room for their values.

    Parameters
    ----------
    groups : sequence of tuple of Feature
        The features, path by path.
    columns : callable
        Returns the values of features.
    n_rows : int
        Number of examples.
    """
    found: list[CodedBlock] = []
    most = max(1, _VALUES_AT_ONCE // (8 * max(n_rows, 1)))
    waiting: list[tuple[Any, ...]] = []
    n_waiting = 0
    for group in groups:
        if waiting and n_waiting + len(group) > most:
            found += _coded(waiting, columns)
            waiting, n_waiting = [], 0
        waiting.append(group)
        n_waiting += len(group)
    return found + _coded(waiting, columns) if waiting else found


def _coded(groups: list[tuple[Any, ...]], columns: Callable[[list[Any]], Table]) -> list[CodedBlock]:
    table = columns([feature for group in groups for feature in group])
    coded = code_features(table, n_jobs=1)  # a part of what workers do
    assert isinstance(coded, DenseFeatures)
    found, start = [], 0
    for group in groups:
        part = slice(start, start + len(group))
        # copied: a view would keep the codes of all groups
        found.append(CodedBlock(group, coded.codes[part].copy(), table.levels[part], coded.distinct[part].copy()))
        start += len(group)
    return found


@dataclass(frozen=True, eq=False)
class RelationalConstruction:
    """Features over the examples of a data set, within a bias; what workers need of the data set, and no more.

    Parameters
    ----------
    database : Database
        The relations.
    example_types : tuple of str
        Types of the objects that identify an example.
    example_codes : tuple of ndarray
        Codes of these objects.
    times : ndarray or None
        Cut-off time of each example.
    bias : Bias
        What may be constructed.
    undefined_are_missing : bool
        Whether values of nothing are missing cells, of which a test learns where they go, and no extreme values.
    told : list of str
        What the user was told of, once per fit and not once per node.
    """

    database: Database
    example_types: tuple[str, ...]
    example_codes: tuple[np.ndarray, ...]
    times: np.ndarray | None
    bias: Bias
    undefined_are_missing: bool = False
    told: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, dataset: RelationalDataset, bias: Bias, undefined_are_missing: bool = False) -> RelationalConstruction:
        """Return what may be constructed from the examples of a data set."""
        examples = dataset.example_types, dataset.example_codes, dataset.times
        return cls(dataset.database, *examples, bias, undefined_are_missing)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.example_codes[0])

    @cached_property
    def _candidates(self) -> Candidates:
        return Candidates(self.database, self.example_types, self.bias)

    def continued_part(self, path: Path) -> Path:
        """Return the part of an inherited path that matters."""
        return self._candidates.continued_part(path)

    def candidates(self, inherited: Path) -> list[tuple[Feature, ...]]:
        """Return the features that a node with this inherited path may test, path by path and without names."""
        groups, is_cut = self._candidates.by_path(inherited)
        if is_cut and "cut" not in self.told:
            self.told.append("cut")
            warn_of_cut(self.bias)
        return groups

    def coded(self, groups: Sequence[tuple[Feature, ...]]) -> list[CodedBlock]:
        """Return the codes of the features of some paths.

        Where many of the objects are examples, all objects are coded, and the codes are kept with the database: other
        folds of the same examples take theirs.
        """
        if not self._are_most_objects:
            return code_groups(groups, self.columns, self.n_examples)
        kind, n_objects = self.example_types[0], self.database.n_objects(self.example_types[0])
        every = replace(self, example_codes=(np.arange(n_objects, dtype=np.int32),), times=None)
        same = kind, self.bias.chains, self.undefined_are_missing
        cache = self.database.caches.blocks
        found = [cache.get((*same, group_key(group))) for group in groups]
        new = [group for group, block in zip(groups, found, strict=True) if block is None]
        made = iter(code_groups(new, every.columns, n_objects))
        blocks = []
        for group, block in zip(groups, found, strict=True):
            if block is None:
                block = next(made)
                cache.put((*same, group_key(group)), block)
            blocks.append(block.take(self.example_codes[0]))
        return blocks

    @cached_property
    def _are_most_objects(self) -> bool:
        """Whether at least one of a few objects is an example, and what is known of it is always the same."""
        if len(self.example_types) > 1 or not (self.times is None or np.isposinf(self.times).all()):
            return False
        codes = self.example_codes[0]
        return bool((codes >= 0).all()) and FEW * len(codes) >= self.database.n_objects(self.example_types[0])

    def columns(self, features: Sequence[Feature]) -> Table:
        """Return the values of features."""
        table = feature_columns(self, features, named=False)
        return empty_as_missing(table) if self.undefined_are_missing else table


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that differ: features whose sentences are the same are numbered.

    Examples
    --------
    >>> from omnirank.relational.construction import distinct_names
    >>> distinct_names(["count of its bonds", "charge", "count of its bonds"])
    ('count of its bonds', 'charge', 'count of its bonds (2)')
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(found)


def over_used_features(
    grown: Sequence[tuple[Tree, tuple[Any, ...]]],
) -> tuple[list[Tree], tuple[Any, ...], tuple[Levels | None, ...]]:
    """Return trees over the features that any of them tests, these features by first use, and their levels.

    Parameters
    ----------
    grown : sequence of (Tree, tuple of Feature)
        Trees, each over the features that it tests itself.
    """
    levels_of: dict[Any, Levels | None] = {}
    for tree, features in grown:
        for feature, levels in zip(features, tree.levels, strict=True):
            levels_of.setdefault(feature, levels)
    number = {feature: i for i, feature in enumerate(levels_of)}
    everywhere = tuple(levels_of.values())
    trees = []
    for tree, features in grown:
        numbers = np.array([number[feature] for feature in features] + [-1], np.int32)
        trees.append(replace(tree, feature=numbers[tree.feature], levels=everywhere))
    return trees, tuple(number), everywhere


# Tables beyond this many bytes are made again when they are needed again.
MOST_BYTES = 3 * 2**28


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
        for block in self.blocks:
            if number < len(block.features):
                return block.features[number], block.levels[number]
            number -= len(block.features)
        raise IndexError("there is no such feature")

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
        self._lock = threading.RLock()
        self._tables: OrderedDict[tuple[Any, ...], CandidateTable] = OrderedDict()
        # blocks are views of the last table that has them; the values of a tested feature are kept as long as the fit
        self._blocks: dict[Any, CodedBlock] = {}
        self._n_bytes = 0
        self._values: dict[Any, tuple[np.ndarray, Levels | None]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return CandidateTables, (self.construction, self.most_bytes)

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
