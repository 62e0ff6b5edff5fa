"""What relational trees are grown on: examples, labelled or not, at any level of supervision.

The impurity is that of trees over one table: the target, where it is known, beside columns that describe every example.
A database has no columns of its own, and far too many can be constructed; a bounded number of those of the root stand
for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.seeds import kernel_seed
from omnirank.ensembles.plan import CodedColumns, GrowingData, GrowingPlan, GrowingRules, check_leaves, weight_unit
from omnirank.ensembles.supervision import left_out_work
from omnirank.ensembles.unbiased import DescribedParts, TreeSums, described_parts, rows_by_node
from omnirank.relational.candidates import Bias
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.evaluation import empty_as_missing
from omnirank.relational.growing import CandidateTables, GrownFeatures, RelationalConstruction, Ties, grow_tree
from omnirank.tasks import clustering_columns, feature_columns, get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import Tree, routed_cells

# Most constructed features in the impurity, most cells of them, and most levels of a nominal one.
_MOST_FEATURES, _MOST_CELLS, _MOST_LEVELS = 300, 2**25, 30


class Paid(NamedTuple):
    """What rankers pay the tests of a tree for: equal tests of a node, and what each node gains out of bag."""

    ties: Ties
    confirmed: np.ndarray | None = None


GrownTree = tuple[Tree, tuple[Any, ...], Paid]


@dataclass(frozen=True, eq=False)
class RelationalPlan(GrowingPlan):
    """What relational trees are grown on; picklable, so that workers may be processes.

    ``coded`` are the candidate tables. ``ranked_by`` is the ``tie_break`` of a ranker, whose trees come with what it
    pays for; "" for others.
    """

    coded: CandidateTables  # type: ignore[assignment]
    ranked_by: str = ""

    def grow(self, i: int, counts: np.ndarray | None = None) -> GrownFeatures:
        """Grow tree i."""
        unit, counts = self.weight_unit, self.counts(i) if counts is None else counts
        # each table has its own number of features that are drawn
        settings = self.settings._replace(min_leaf=self.settings.min_leaf / unit)
        seed = kernel_seed(self.entropy, i)
        weight, drawn = counts * (self.weight / unit), self.rules.max_features
        found = grow_tree(self.coded, self.space, weight, settings, seed, drawn, self.ranked_by == "share")
        grown = found.grown
        scaled = {name: getattr(grown, name) * unit for name in ("gain", "weight", "row_weight")}
        return found._replace(grown=grown._replace(**scaled))

    def constructed_tree(self, i: int, counts: np.ndarray | None = None) -> GrownTree:
        """Grow tree i; returns it with its leaves' prototypes, the features that it tests, and what rankers pay for."""
        found = self.grow(i, counts)
        confirmed = self._confirmed(i, found) if self.ranked_by and self.rules.bootstraps else None
        return found.tree(*node_means(found.grown, self.columns)), found.features, Paid(found.ties, confirmed)

    @cached_property
    def _described(self) -> DescribedParts:
        return described_parts(self)

    def _confirmed(self, i: int, found: GrownFeatures) -> np.ndarray:
        """For each node, h(t) of `omnirank.ensembles.unbiased`: 0 where no example is out of bag."""
        grown, gains = found.grown, np.zeros(len(found.grown.feature))
        unseen = np.flatnonzero((self.counts(i) == 0) & (self.weight > 0))
        if grown.feature[0] < 0 or not len(unseen):
            return gains
        table = self.coded.cells(found.features)
        bags = rows_by_node(grown, table, routed_cells(table), unseen, self.weight, None)
        inner = np.flatnonzero((grown.feature >= 0) & (bags[1].first < bags[1].last))
        # every node is a feature of its own
        nodes = grown._replace(feature=np.where(grown.feature >= 0, np.arange(len(gains), dtype=np.int32), -1))
        for part in (*self._described.own, *self._described.features):
            part._replace(owner=np.full(len(part.owner), -1)).add(nodes, inner, bags, TreeSums(gains, np.zeros((0, 0))))
        return gains * self.weight.sum() / self.weight[unseen].sum()


@left_out_work.register
def _(plan: RelationalPlan, pruning: None) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    return partial(_left_out_means, plan)


def _left_out_means(plan: RelationalPlan, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the examples that are left out, among themselves, and what tree i predicts for them."""
    assert plan.left_out is not None
    tree, features, _ = plan.constructed_tree(i)
    leaves = leaves_of([tree], plan.coded.cells(features).take(plan.left_out))[:, 0]
    return np.arange(len(leaves)), tree.means(leaves)


@dataclass(frozen=True, eq=False)
class RelationalGrowing(GrowingData):
    """The examples of a fit, for plans of all levels of supervision and of subsets.

    Attributes
    ----------
    bias : Bias
        What may be constructed.
    ranked_by : str
        As in `RelationalPlan`.
    """

    dataset: RelationalDataset  # type: ignore[assignment]
    bias: Bias = field(default_factory=Bias)
    ranked_by: str = ""

    _feature_products = None  # few columns: no products of rows are shared

    def __post_init__(self) -> None:
        """Candidates are coded when nodes need them."""

    def take(self, rows: np.ndarray) -> RelationalGrowing:
        """Return some of the examples (a mask)."""
        weight = None if self.weight is None else self.weight[rows]
        return self if rows.all() else replace(self, dataset=self.dataset.take(rows), weight=weight)

    @cached_property
    def tables(self) -> CandidateTables:
        """What nodes may test."""
        return CandidateTables(RelationalConstruction.of(self.dataset, self.bias))

    @cached_property
    def _feature_part(self) -> CodedColumns:
        """Candidates of the root, the shortest paths first, as columns; unknown where there is nothing to aggregate."""
        most = max(1, min(_MOST_FEATURES, _MOST_CELLS // self.dataset.n_examples))
        bias = replace(self.bias, max_candidates=min(most, self.bias.max_candidates or most))
        construction = replace(self.tables.construction, bias=bias, told=["cut"])
        features = [feature for group in construction.candidates(()) for feature in group]
        table = empty_as_missing(construction.columns(features))
        few = [i for i, levels in enumerate(table.levels) if len(levels or ()) <= _MOST_LEVELS]
        columns = feature_columns(table.select(few))
        return CodedColumns(columns, clustering_columns(columns, self.weight))

    def target_columns(self, rules: GrowingRules) -> PrototypeColumns:
        """Return the coded target; without one, the features that take its place."""
        return self._feature_part.columns if self.dataset.target is None else super().target_columns(rules)

    def plan(self, rules: GrowingRules) -> RelationalPlan:
        """Return what trees are grown on; with supervision 1, all examples are labelled (at least partly)."""
        rules.check()
        weight = np.ones(self.dataset.n_examples) if self.weight is None else self.weight
        check_leaves(weight, rules.min_samples_leaf, self.weight is not None)
        target, feature_part = self._parts(rules)
        space, task = self._space(rules, target, feature_part, weight), get_task(self.dataset.task)
        made = *target, self.tables, space, rules.settings(1), weight, self.entropy, feature_part, weight_unit(weight)
        return RelationalPlan(self.dataset, rules, task, *made, ranked_by=self.ranked_by)  # type: ignore[arg-type]
