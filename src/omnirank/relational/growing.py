"""Growing relational trees node by node, each over the candidates of the path that it inherits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.seeds import kernel_seed
from omnirank.data.table import Levels
from omnirank.ensembles.draws import bootstrap_counts, features_drawn
from omnirank.ensembles.growing_checks import check_leaves
from omnirank.ensembles.plan import GrowingRules, weight_unit
from omnirank.relational.construction import CandidateTable, CandidateTables
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means
from omnirank.trees.space import clustering_space
from omnirank.trees.tree import Tree, midpoints, tree_with_thresholds

# So many tables have their memory of the search ready: nodes that follow each other often have the same.
_KEPT_SEARCHES = 2


class GrownFeatures(NamedTuple):
    """A grown tree and the features that it tests.

    ``grown`` is as kernels return it, but for its features, which are numbers into ``features``.
    """

    grown: Any
    threshold: np.ndarray
    features: tuple[Any, ...]
    levels: tuple[Levels | None, ...]

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
        self._space = space
        self._max_features = max_features
        self._searches: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def search(self, table: CandidateTable) -> tuple[Any, ...]:
        """Return the codes of a table, the settings of its nodes, and the memory of the search."""
        found = self._searches.get(table.inherited)
        if found is None or found[-1] is not table:
            from omnirank.trees.kernels.grow import Spare
            from omnirank.trees.kernels.split import search_scratch

            cells, n = table.cells(self._settings), table.n_features
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
    tables: CandidateTables, space: Any, weight_of: np.ndarray, settings: Any, seed: Any, max_features: Any = "all"
) -> GrownFeatures:
    """Grow a tree on the examples of positive weight.

    A node is what it is in any other tree, with the same random state: where all nodes have the same candidates, the
    tree is that of :meth:`omnirank.trees.codes.CodedFeatures.grow`, bit for bit.

    Parameters
    ----------
    tables : CandidateTables
        What nodes may test.
    space : clustering space
        As :func:`omnirank.trees.space.clustering_space` returns it.
    weight_of : ndarray
        Weights of the examples.
    settings : Settings
        Of the search.
    seed : uint64
        Seed of the tree.
    max_features : str, int or float
        How many candidates a node draws: "all", "sqrt", "log2", a count or a share.
    """
    from omnirank.trees.kernels.grow import NODES, TO_GO, WAITING, WORDS, Stack, grow_nodes

    rows = np.flatnonzero(weight_of > 0).astype(np.uint32)
    weight = weight_of[rows]
    scratch = _Scratch(space, rows, settings, max_features)
    counts, stack = np.zeros(5, np.int64), Stack(np.empty((2, 5), np.int64), np.empty(2, np.uint64))
    tested: dict[int, Any] = {}
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
    return GrownFeatures(grown, midpoints(low, high), tuple(number), tuple(levels_of[feature] for feature in number))


def _finished(nodes: Any, counts: np.ndarray, tested: dict[int, int], rows: np.ndarray, weight: np.ndarray) -> Any:
    """Return the tree as kernels return it, its features numbered in the order of their first tests."""
    from omnirank.trees.kernels.grow import NODES, WORDS, GrownTree

    n_nodes, n_subsets = int(counts[NODES]), int(counts[WORDS])
    feature = np.full(n_nodes, -1, np.int32)
    feature[list(tested)] = list(tested.values())
    tests = (part[:n_nodes].copy() for part in (nodes.cut, nodes.right, nodes.missing_left))
    facts = (row.copy() for block in (nodes.ends, nodes.facts, nodes.ranges) for row in block[:, :n_nodes])
    return GrownTree(*(feature, *tests, *facts, nodes.subsets[:n_subsets].copy(), rows, weight))


@dataclass(frozen=True, eq=False)
class RelationalPlan:
    """What trees are grown on; picklable, so that workers may be processes.

    Attributes
    ----------
    tables : CandidateTables
        What nodes may test.
    columns : PrototypeColumns
        The coded target.
    space : clustering space
        The columns as kernels take them.
    rules : GrowingRules
        How trees are grown.
    weight : ndarray
        Weights of the examples.
    entropy : int
        Root of the random streams.
    """

    tables: CandidateTables
    columns: PrototypeColumns
    space: Any
    rules: GrowingRules
    weight: np.ndarray
    entropy: int

    @classmethod
    def make(
        cls,
        tables: CandidateTables,
        task: str,
        columns: PrototypeColumns,
        rules: GrowingRules,
        sample_weight: np.ndarray | None,
        entropy: int,
    ) -> RelationalPlan:
        """Return the plan for a target, all of whose examples are labelled, at least in part."""
        rules.check()
        weight = np.ones(len(columns.labelled)) if sample_weight is None else sample_weight
        check_leaves(weight, rules.min_samples_leaf, sample_weight is not None)
        clustering = get_task(task).clustering(columns, sample_weight, rules.normalize_targets)
        space = clustering_space(columns, clustering, sample_weight)
        return cls(tables, columns, space, rules, weight, entropy)

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return len(self.weight)

    def counts(self, i: int) -> np.ndarray:
        """Return how often tree i sees each example: bootstrap counts, or once each."""
        if not self.rules.bootstraps:
            return np.ones(self.n_examples)
        return bootstrap_counts(self.entropy, i, (np.arange(self.n_examples),))

    def grow(self, i: int, counts: np.ndarray | None = None) -> GrownFeatures:
        """Grow tree i."""
        unit, counts = weight_unit(self.weight), self.counts(i) if counts is None else counts
        settings = self.rules.settings(1)  # each table has its own number of features that are drawn
        settings = settings._replace(min_leaf=settings.min_leaf / unit)
        seed = kernel_seed(self.entropy, i)
        weight, drawn = counts * (self.weight / unit), self.rules.max_features
        found = grow_tree(self.tables, self.space, weight, settings, seed, drawn)
        grown = found.grown
        scaled = {name: getattr(grown, name) * unit for name in ("gain", "weight", "row_weight")}
        return found._replace(grown=grown._replace(**scaled))

    def tree(self, i: int, counts: np.ndarray | None = None) -> tuple[Tree, tuple[Any, ...]]:
        """Grow tree i; returns it with its leaves' prototypes, and the features that it tests."""
        found = self.grow(i, counts)
        return found.tree(*node_means(found.grown, self.columns)), found.features
