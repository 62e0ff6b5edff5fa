"""Everything that the trees of one relational fit share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.seeds import kernel_seed
from omnirank.ensembles.draws import bootstrap_counts
from omnirank.ensembles.growing_checks import check_leaves
from omnirank.ensembles.plan import GrowingRules, weight_unit
from omnirank.relational.candidate_tables import CandidateTables
from omnirank.relational.growing import GrownFeatures, NodeRules, grow_tree
from omnirank.tasks import get_task
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prototypes import node_means
from omnirank.trees.space import clustering_space
from omnirank.trees.tree import Tree


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
    node_rules : NodeRules
        What relational trees add.
    weight : ndarray
        Weights of the examples.
    entropy : int
        Root of the random streams.
    """

    tables: CandidateTables
    columns: PrototypeColumns
    space: Any
    rules: GrowingRules
    node_rules: NodeRules
    weight: np.ndarray
    entropy: int

    @classmethod
    def make(
        cls,
        tables: CandidateTables,
        task: str,
        columns: PrototypeColumns,
        rules: GrowingRules,
        node_rules: NodeRules,
        sample_weight: np.ndarray | None,
        entropy: int,
    ) -> RelationalPlan:
        """Return the plan for a target, all of whose examples are labelled, at least in part."""
        rules.check()
        weight = np.ones(len(columns.labelled)) if sample_weight is None else sample_weight
        check_leaves(weight, rules.min_samples_leaf, sample_weight is not None)
        clustering = get_task(task).clustering(columns, sample_weight, rules.normalize_targets)
        space = clustering_space(columns, clustering, sample_weight)
        return cls(tables, columns, space, rules, node_rules, weight, entropy)

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
        found = grow_tree(self.tables, self.space, counts * (self.weight / unit), settings, seed, self.node_rules)
        grown = found.grown
        scaled = {name: getattr(grown, name) * unit for name in ("gain", "weight", "row_weight")}
        return found._replace(grown=grown._replace(**scaled))

    def tree(self, i: int, counts: np.ndarray | None = None) -> tuple[Tree, tuple[Any, ...]]:
        """Grow tree i; returns it with its leaves' prototypes, and the features that it tests."""
        found = self.grow(i, counts)
        return found.tree(*node_means(found.grown, self.columns)), found.features
