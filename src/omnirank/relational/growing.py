"""What relational trees may test, coded, and their growing: node by node, over the candidates of the inherited path.

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
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.ensembles.plan import features_drawn
from omnirank.relational.aggregation import NONE_LEVEL
from omnirank.relational.candidates import Bias, Candidates, warn_of_cut
from omnirank.relational.database import Database
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.evaluation import FEW, feature_columns
from omnirank.relational.paths import Feature, Path, new_steps
from omnirank.trees.layout import FeatureCodes, code_features
from omnirank.trees.tree import Tree, midpoints, tree_with_thresholds

# Bytes of the values that are computed at a time; codes, which are kept, take a quarter of that.
_VALUES_AT_ONCE = 2**26


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """The features of one path, coded (see :class:`omnirank.trees.layout.FeatureCodes`).

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
    def names_rows(self) -> list[bool]:
        """Whether most rows have a level of their own, by feature: no level occurs twice, except "nothing"."""
        n_levels = [len(levels) - (levels[-1] == NONE_LEVEL) if levels else 0 for levels in self.levels]
        counts = (np.bincount(codes[(codes >= 0) & (codes < n)]) for codes, n in zip(self.codes, n_levels, strict=True))
        return [2 * np.count_nonzero(one) > self.codes.shape[1] and one.max() == 1 for one in counts]

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
    >>> from omnirank.relational.growing import group_key
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
    most = max(1, _VALUES_AT_ONCE // (8 * max(n_rows, 1)))
    batch_of = np.cumsum([0, *map(len, groups)]) // most
    batches = groupby(range(len(groups)), lambda i: batch_of[i])
    return [block for _, batch in batches for block in _coded([groups[i] for i in batch], columns)]


def _coded(groups: list[tuple[Any, ...]], columns: Callable[[list[Any]], Table]) -> list[CodedBlock]:
    table = columns([feature for group in groups for feature in group])
    coded = code_features(table, n_jobs=1)  # a part of what workers do
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
    told : list of str
        What the user was told of, once per fit and not once per node.
    """

    database: Database
    example_types: tuple[str, ...]
    example_codes: tuple[np.ndarray, ...]
    times: np.ndarray | None
    bias: Bias
    told: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, dataset: RelationalDataset, bias: Bias) -> RelationalConstruction:
        """Return what may be constructed from the examples of a data set."""
        return cls(dataset.database, dataset.example_types, dataset.example_codes, dataset.times, bias)

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
        if is_cut and not inherited and "cut" not in self.told:
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
        same = kind, self.bias.chains
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
        return feature_columns(self, features, named=False)


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that differ: features whose sentences are the same are numbered.

    Examples
    --------
    >>> from omnirank.relational.growing import distinct_names
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
    grown: Sequence[tuple[Tree, tuple[Any, ...], Any]],
) -> tuple[list[Tree], tuple[Any, ...], tuple[Levels | None, ...]]:
    """Return trees over the features that any of them tests, these features by first use, and their levels.

    Parameters
    ----------
    grown : sequence of (Tree, tuple of Feature, Paid)
        Trees, each over the features that it tests itself.
    """
    levels_of: dict[Any, Levels | None] = {}
    for tree, features, _ in grown:
        for feature, levels in zip(features, tree.levels, strict=True):
            levels_of.setdefault(feature, levels)
    number = {feature: i for i, feature in enumerate(levels_of)}
    everywhere = tuple(levels_of.values())
    trees = []
    for tree, features, _ in grown:
        numbers = np.array([number[feature] for feature in features] + [-1], np.int32)
        trees.append(replace(tree, feature=numbers[tree.feature], levels=everywhere))
    return trees, tuple(number), everywhere


# Tables beyond this many bytes are made again when they are needed again.
MOST_BYTES = 3 * 2**28


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """The features that nodes with one inherited path may test.

    Attributes
    ----------
    inherited : tuple
        The path.
    blocks : tuple of CodedBlock
        The features, path by path.
    coded : FeatureCodes
        Their codes as one block.
    """

    inherited: tuple[Any, ...]
    blocks: tuple[CodedBlock, ...]
    coded: FeatureCodes

    @classmethod
    def of(cls, inherited: tuple[Any, ...], blocks: Sequence[CodedBlock]) -> CandidateTable:
        """Return the table of these blocks."""
        n_levels = np.concatenate([block.n_levels for block in blocks])
        distinct = np.concatenate([block.distinct for block in blocks])
        codes = np.concatenate(_of_one_type([block.codes for block in blocks]))
        # a text of its own for each example says nothing about other examples, but would win every node
        codes[np.concatenate([block.names_rows for block in blocks])] = 0
        starts = np.cumsum([0, *(len(block.features) for block in blocks)]).tolist()
        # views, which take no memory of their own
        views = (replace(block, codes=codes[a:b]) for block, a, b in zip(blocks, starts, starts[1:], strict=False))
        return cls(inherited, tuple(views), FeatureCodes(codes, n_levels, distinct))

    @cached_property
    def cells(self) -> Any:
        """The codes as the growing kernel takes them."""
        return self.coded.cells()

    def equal_tests(self, one: np.ndarray, two: np.ndarray, inherited: Path) -> tuple[tuple[Feature, float], ...]:
        """Return the simplest features with a test that divides a node into these halves, and their shares of credit.

        Simplest are those that add the fewest steps to the inherited path. Those that add the same relations share
        what is due to these.
        """
        from omnirank.relational.kernels.groups import same_halves

        codes, halves = self.coded.codes, (one, two) if len(one) <= len(two) else (two, one)
        equal = same_halves(codes, self.coded.n_levels, np.iinfo(codes.dtype).max, *halves)
        numbers = np.flatnonzero(equal)
        groups: dict[tuple[str, ...], dict[Any, Feature]] = {}
        fewest, of_block = None, -1
        for number, at in zip(
            numbers.tolist(), (np.searchsorted(self.starts, numbers, "right") - 1).tolist(), strict=True
        ):
            block = self.blocks[at]
            if at != of_block:
                path, of_block = block.features[0].path, at
                added = path[new_steps(path, inherited).start :]
            if fewest is None or len(added) < fewest:
                groups, fewest = {}, len(added)
            if len(added) == fewest:
                group = groups.setdefault(tuple(step.relation for step in added), {})
                feature = block.features[number - self.starts[at]]
                # steps that differ in their constants are paid alike
                group.setdefault((tuple(step.bound for step in added), feature.aggregates), feature)
        return tuple((f, 1 / (len(groups) * len(group))) for group in groups.values() for f in group.values())

    def tested(self, number: int) -> tuple[Any, Levels | None]:
        """Return a feature by its number, and its levels."""
        at = int(np.searchsorted(self.starts, number, "right")) - 1
        block, place = self.blocks[at], number - self.starts[at]
        return block.features[place], block.levels[place]

    @cached_property
    def starts(self) -> np.ndarray:
        """Number of the first feature of each block."""
        return np.cumsum([0, *(len(block.features) for block in self.blocks)])[:-1]

    @property
    def n_bytes(self) -> int:
        """Memory of its codes, by feature and by row."""
        return 2 * self.coded.codes.nbytes


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
    construction : RelationalConstruction
        What may be constructed; or anything else with its methods.
    most_bytes : int
        Memory of the tables that are kept.
    """

    def __init__(self, construction: RelationalConstruction, most_bytes: int = MOST_BYTES) -> None:
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

    def table(self, path: tuple[Any, ...]) -> CandidateTable:
        """Return the table of an inherited path."""
        inherited = self.construction.continued_part(path)
        with self._lock:
            found = self._tables.get(inherited)
            if found is None:
                found = self._tables[inherited] = self._made(inherited)
                self._n_bytes += found.n_bytes
                self._blocks |= {group_key(block.features): block for block in found.blocks}
                while len(self._tables) > 1 and self._n_bytes > self.most_bytes:
                    _, old = self._tables.popitem(last=False)
                    self._n_bytes -= old.n_bytes
                    dropped = {group_key(block.features): block for block in old.blocks}
                    self._blocks = {k: block for k, block in self._blocks.items() if dropped.get(k) is not block}
            self._tables.move_to_end(inherited)
            return found

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


# So many tables have their memory of the search ready: nodes that follow each other often have the same.
_KEPT_SEARCHES = 2


Ties = dict[int, tuple[tuple[Feature, float], ...]]


class GrownFeatures(NamedTuple):
    """A grown tree and the features that it tests.

    ``grown`` is as kernels return it, but for its features, which are numbers into ``features``. ``ties`` has for each
    node that is split the features that share its credit, if they were asked for.
    """

    grown: Any
    threshold: np.ndarray
    features: tuple[Any, ...]
    levels: tuple[Levels | None, ...]
    ties: Ties

    def tree(self, values: Any = None, value_row: np.ndarray | None = None) -> Tree:
        """Return the tree, ready to predict from a table of its features."""
        return tree_with_thresholds(self.grown, self.threshold, self.levels, values, value_row)


class _Scratch:
    """Memory of one tree: room for its nodes, and for the search in each kind of table."""

    def __init__(self, space: Any, rows: np.ndarray, settings: Any, max_features: Any) -> None:
        from omnirank.trees.kernels.grow import room_for_nodes
        from omnirank.trees.kernels.spaces import node_scratch

        n = len(rows)
        self.node = node_scratch(space, n)
        self.other = np.empty(n, np.uint32), np.empty(n)
        self.nodes = room_for_nodes(2 * n + 1, 0)
        self._n_rows = n
        self._settings = settings
        self._max_features = max_features
        self._searches: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def search(self, table: CandidateTable) -> tuple[Any, ...]:
        """Return the codes of a table, the settings of its nodes, and the memory of the search."""
        found = self._searches.get(table.inherited)
        if found is None or found[-1] is not table:
            from omnirank.trees.kernels.grow import Spare
            from omnirank.trees.kernels.search_all import search_scratch

            cells, n = table.cells, len(table.coded.codes)
            pool = np.arange(n, dtype=np.uint32)
            settings = self._settings._replace(max_features=self._n_drawn(n))
            spare = Spare(*self.other, pool, pool.copy())
            if len(self._searches) >= _KEPT_SEARCHES:  # a table must not be kept in memory by this
                self._searches.clear()
            found = cells, settings, search_scratch(cells, self._n_rows), spare, table
            self._searches[table.inherited] = found
        return found

    def _n_drawn(self, n: int) -> int:
        """Return how many of n candidates a node draws; a count may be larger than n."""
        given = self._max_features
        return features_drawn(min(given, n) if isinstance(given, int | np.integer) else given, n)

    def room_for_words(self, n_used: int, work: Any) -> Any:
        """Return the nodes with room for one more subset of levels."""
        n_words = len(getattr(work, "subset", ()))
        words = self.nodes.subsets
        if n_used + n_words > len(words):
            larger = np.zeros(2 * (len(words) + n_words), np.uint64)
            larger[:n_used] = words[:n_used]
            self.nodes = self.nodes._replace(subsets=larger)
        return self.nodes


def grow_tree(
    tables: CandidateTables,
    space: Any,
    weight_of: np.ndarray,
    settings: Any,
    seed: Any,
    max_features: Any = "all",
    with_ties: bool = False,
) -> GrownFeatures:
    """Grow a tree on the examples of positive weight.

    A node is what it is in any other tree, with the same random state: where all nodes have the same candidates, the
    tree is that of :func:`omnirank.trees.kernels.grow.grow`, bit for bit.

    Parameters
    ----------
    tables : CandidateTables
        What nodes may test.
    space : clustering space
        As :func:`omnirank.trees.layout.clustering_space` returns it.
    weight_of : ndarray
        Weights of the examples.
    settings : Settings
        Of the search.
    seed : uint64
        Seed of the tree.
    max_features : str, int or float
        How many candidates a node draws: "all", "sqrt", "log2", a count or a share.
    with_ties : bool
        Whether to note the features whose tests are equal to the one chosen.
    """
    from omnirank.trees.kernels.grow import NODES, TO_GO, WAITING, WORDS, Stack, grow_nodes

    rows = np.flatnonzero(weight_of > 0).astype(np.uint32)
    weight = weight_of[rows]
    scratch = _Scratch(space, rows, settings, max_features)
    counts, stack = np.zeros(5, np.int64), Stack(np.empty((2, 5), np.int64), np.empty(2, np.uint64))
    tested: dict[int, Any] = {}
    ties: Ties = {}
    # nodes wait with the paths that they inherit: tables of all of them may take too much memory
    waiting: list[tuple[Any, ...]] = [((0, len(rows), 0, -1, 0), np.uint64(seed), ())]
    while waiting:
        stack.waiting[0], stack.seeds[0], inherited = waiting.pop()
        table = tables.table(inherited)
        counts[WAITING] = counts[TO_GO] = 1
        cells, own, work, spare, _ = scratch.search(table)
        nodes = scratch.room_for_words(int(counts[WORDS]), work)
        grow_nodes(space, cells, rows, weight, own, work, scratch.node, stack, spare, nodes, counts)
        if not counts[WAITING]:
            continue
        me = int(counts[NODES]) - 1
        tested[me] = table.tested(int(nodes.feature[me]))
        below = tested[me][0].path
        if with_ties:
            (start, end), (first, last) = stack.waiting[:, :2]
            ties[me] = table.equal_tests(rows[start:end], rows[first:last], inherited)
        waiting += [(stack.waiting[i].copy(), stack.seeds[i], below) for i in range(2)]
    number: dict[Any, int] = {}
    for feature, _ in tested.values():
        number.setdefault(feature, len(number))
    grown = _finished(scratch.nodes, counts, {me: number[feature] for me, (feature, _) in tested.items()}, rows, weight)
    low, high = np.full(len(grown.feature), np.nan), np.full(len(grown.feature), np.nan)
    values = tables.cells(tuple(number))
    for me, (feature, levels) in tested.items():
        if levels is None:
            low[me], high[me] = values.column(number[feature])[[grown.low_row[me], grown.high_row[me]]]
    levels_of = dict(tested.values())
    levels = tuple(levels_of[feature] for feature in number)
    return GrownFeatures(grown, midpoints(low, high), tuple(number), levels, ties)


def _finished(nodes: Any, counts: np.ndarray, tested: dict[int, int], rows: np.ndarray, weight: np.ndarray) -> Any:
    """Return the tree as kernels return it, its features numbered in the order of their first tests."""
    from omnirank.trees.kernels.grow import NODES, WORDS, GrownTree

    n_nodes, n_subsets = int(counts[NODES]), int(counts[WORDS])
    feature = np.full(n_nodes, -1, np.int32)
    feature[list(tested)] = list(tested.values())
    tests = (part[:n_nodes].copy() for part in (nodes.cut, nodes.right, nodes.missing_left))
    facts = (row.copy() for block in (nodes.ends, nodes.facts, nodes.ranges) for row in block[:, :n_nodes])
    return GrownTree(*(feature, *tests, *facts, nodes.subsets[:n_subsets].copy(), rows, weight))
