"""Relational gradient boosting with aggregates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import Domain, count, number, share
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.table import Table
from omnirank.ensembles.plan import GrowingRules
from omnirank.relational.candidate_tables import CandidateTables
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.growing import NodeRules
from omnirank.relational.learner import GrownTree, RelationalLearner, RelationalTraining
from omnirank.relational.plan import RelationalPlan
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of
from omnirank.trees.tree import Tree

BOOSTING: dict[str, Domain] = {
    "n_trees": count(1),
    "shrinkage": number(above=0, most=1),
    "chosen_examples": share(above=0),
}

Self = TypeVar("Self", bound="Boosting")


class Boosting(RelationalLearner):
    """Sums of small regression trees, each on the residuals of those before.

    With y_k the indicator of class k (one of them where there are two classes), or the number itself,

        F_0k = mean y_k,    F_mk = F_{m-1,k} + shrinkage * T_mk

    where T_mk is grown on the residuals y_k - F_{m-1,k}, the negative gradient of the squared error, of examples drawn
    without replacement.
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = BOOSTING

    trees_: list[list[Tree]]

    def __init__(
        self,
        n_trees: int = 50,
        shrinkage: float = 0.2,
        chosen_examples: float = 0.8,
        preset: str = "AGG-All",
        aggregates: Sequence[str] | None = None,
        lookahead: int = 2,
        max_path_length: int | None = 4,
        modes: Mapping[str, Any] | None = None,
        dedupe_functional: bool = True,
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        inherit: str = "both",
        missing: str = "extreme",
        max_features: Any = 0.6,
        min_samples_leaf: float = 1,
        max_depth: int | None = 4,
        min_impurity_decrease: float = 0.0,
        nominal_tests: str = "ordered",
        tie_break: str = "random",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.shrinkage = shrinkage
        self.chosen_examples = chosen_examples
        self.preset = preset
        self.aggregates = aggregates
        self.lookahead = lookahead
        self.max_path_length = max_path_length
        self.modes = modes
        self.dedupe_functional = dedupe_functional
        self.nominal_joins = nominal_joins
        self.max_candidates = max_candidates
        self.inherit = inherit
        self.missing = missing
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.nominal_tests = nominal_tests
        self.tie_break = tie_break
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _columns_to_fit(self, training: RelationalTraining) -> np.ndarray:
        """Return what sums of trees fit, (examples, K)."""

    def fit(self: Self, X: RelationalDataset, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees, one iteration after the other.

        Parameters
        ----------
        X : RelationalDataset
            The examples, with their target.
        y : None
            The target is that of X.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples, of mean about 1; those of weight 0 are not used.

        Returns
        -------
        self
            The fitted model.
        """
        rules = GrowingRules.of(self, ensemble="bagging", bootstrap=False, max_features=None)
        training = self._read(X, y, sample_weight, rules)
        node_rules = self._node_rules("all" if self.max_features is None else self.max_features)
        columns = self._columns_to_fit(training)
        self.start_ = np.average(columns, axis=0, weights=training.weight)
        tables, grown = self._tables(training), []
        if tables is not None:
            entropy = root_entropy(self.random_state)
            plan = _residual_plan(tables, training.weight, rules, node_rules, entropy)
            grown = self._iterations(plan, columns)
        trees = self._keep(grown, training.dataset)
        k = columns.shape[1]
        self.trees_ = [trees[i : i + k] for i in range(0, len(trees), k)]
        return self

    def _iterations(self, plan: RelationalPlan, columns: np.ndarray) -> list[GrownTree]:
        """Return all trees, those of the K columns of an iteration next to each other."""
        n, k = columns.shape
        sums = np.tile(self.start_, (n, 1))
        found: list[GrownTree] = []
        n_chosen = max(1, int(self.chosen_examples * n))
        for m in range(self.n_trees):
            grow = partial(_grow_residuals, plan, columns - sums, n_chosen, m)
            grown = run_parallel(grow, range(k), self.n_jobs)
            for j, (tree, features) in enumerate(grown):
                sums[:, j] += self.shrinkage * _leaf_values([tree], plan.tables.cells(features))[:, 0]
            found += grown
        return found

    # -- predicting -----------------------------------------------------------------------------------

    def _trees(self) -> list[Tree]:
        return [tree for together in self.trees_ for tree in together]

    def _take_trees(self, trees: list[Tree]) -> None:
        k = len(self.start_)
        self.trees_ = [trees[first : first + k] for first in range(0, len(trees), k)]

    @property
    def _leaf_columns(self) -> PrototypeColumns:
        """What leaves hold: a residual."""
        return _one_number(np.empty(0))

    def _staged_sums(self, table: Table) -> Iterator[np.ndarray]:
        sums = np.tile(self.start_, (table.n_rows, 1))
        values = _leaf_values(self._trees(), table)
        for m in range(len(self.trees_)):
            sums = sums + self.shrinkage * values[:, m * len(self.start_) : (m + 1) * len(self.start_)]
            yield sums

    def _sums(self, table: Table) -> np.ndarray:
        sums = np.tile(self.start_, (table.n_rows, 1))
        for found in self._staged_sums(table):
            sums = found
        return sums

    def _as_means(self, sums: np.ndarray) -> np.ndarray:
        return sums

    def _means(self, table: Table) -> np.ndarray:
        return self._as_means(self._sums(table))

    def staged_predict(self, X: RelationalDataset) -> Iterator[Any]:
        """Yield the predictions after 1, 2, ... iterations.

        Parameters
        ----------
        X : RelationalDataset
            Examples in a database of the same schema.
        """
        for sums in self._staged_sums(self._table(X)):
            yield self._decide(self._as_means(sums))


def _one_number(values: np.ndarray) -> PrototypeColumns:
    zero = np.zeros(1, np.intp)
    return PrototypeColumns(
        values[:, None], np.ones(len(values), bool), zero, zero - 1, ("residual",), (None,), np.ones(1)
    )


def _residual_plan(
    tables: CandidateTables, weight: np.ndarray | None, rules: GrowingRules, node_rules: NodeRules, entropy: int
) -> RelationalPlan:
    n = tables.construction.n_examples
    rules.check()
    return RelationalPlan(
        tables, _one_number(np.zeros(n)), None, rules, node_rules, np.ones(n) if weight is None else weight, entropy
    )


def _grow_residuals(plan: RelationalPlan, residuals: np.ndarray, n_chosen: int, m: int, k: int) -> GrownTree:
    """Grow the tree of column k in iteration m."""
    from omnirank.trees.kernels.spaces import OneColumn

    n, n_columns = residuals.shape
    i = m * n_columns + k
    values = np.ascontiguousarray(residuals[:, k])
    chosen = np.zeros(n)
    chosen[stream(plan.entropy, i).choice(n, n_chosen, replace=False)] = 1.0
    return replace(plan, columns=_one_number(values), space=OneColumn(values)).tree(i, chosen)


def _leaf_values(trees: Sequence[Tree], table: Table) -> np.ndarray:
    """Means of the leaves that examples reach, (examples, trees)."""
    if not trees:
        return np.empty((table.n_rows, 0))
    leaves = leaves_of(trees, table)
    return np.column_stack([tree.means(leaves[:, i])[:, 0] for i, tree in enumerate(trees)])
