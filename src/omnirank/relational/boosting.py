"""Relational gradient boosting with aggregates."""

from __future__ import annotations

from collections import deque
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
from omnirank.data.task_registry import TaskNames
from omnirank.ensembles.plan import GrowingRules
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.growing import RelationalPlan
from omnirank.relational.learners import GrownTree, RelationalLearner, RelationalTraining
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import leaves_of
from omnirank.trees.tree import Tree

BOOSTING: dict[str, Domain] = {
    "n_trees": count(1),
    "shrinkage": number(above=0, most=1),
    "chosen_examples": share(above=0),
}

Self = TypeVar("Self", bound="RelationalBoosting")


class RelationalBoosting(RelationalLearner):
    """Gradient boosting of relational trees: sums of small regression trees, each on the residuals of those before.

    With y_k the indicator of class k (one of them where there are two classes), or the number itself,

        F_0k = mean y_k,    F_mk = F_{m-1,k} + shrinkage * T_mk

    where T_mk is grown on the residuals y_k - F_{m-1,k}, the negative gradient of the squared error, of examples drawn
    without replacement. The data set knows its task: one class or one number is predicted. The probabilities of classes
    are the sums, cut to [0, 1] and divided by their total.

    Parameters
    ----------
    n_trees : int
        Number of iterations, each with a tree for every class (one where there are two, and of a number).
    shrinkage : float
        What trees are multiplied by.
    chosen_examples : float
        Share of the examples that a tree sees.
    preset : {"AGG-All", "AGG-Exist", "NO-Rel"}
        What is constructed: all aggregates; only whether there is a match of a path; only columns of the target table.
    aggregates : sequence of str, optional
        Other aggregates than those of the preset: count, count_unique, min, max, mean, sum, mode, exists. None: with
        AGG-All, those that the settings of facts declare, if any.
    lookahead : int
        How many steps (relations) a test may add to a prefix of the path that its node inherits.
    max_path_length : int, optional
        Most steps of a path; None: no limit.
    modes : mapping, optional
        How steps may use some of the relations, as in :class:`~omnirank.relational.Bias`; none: a relation is left
        out. None: as the settings of facts declare; ``{}``: in all ways.
    nominal_joins : bool
        Whether steps may also join columns of the same named nominal domain.
    max_candidates : int or None
        Most candidates of a node; longer paths are left out first, with a warning.
    missing : {"extreme", "learned"}
        Where values that are undefined go, those of nothing to aggregate: to the end of the order where infinity is (a
        category of their own), or to the side of a test that is better in the training data.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Candidates drawn in a node: a count, a share or a name. None: all.
    min_samples_leaf : float
        Least weight of a leaf.
    max_depth : int or None
        Greatest depth of a leaf, 0 for a root alone; None: no limit.
    class_weight : None, "balanced", dict or list of them
        Weight of each class, times ``sample_weight``; see :class:`PCTClassifier`. Not for numbers.
    random_state : None, int, RandomState or Generator
        The seed; the same seed gives the same bits for any number of workers.
    n_jobs : int or None
        Number of workers, over the classes of an iteration.

    Attributes
    ----------
    trees_ : list of lists of Tree
        For each iteration its trees, over ``features_``.
    start_ : ndarray
        What sums start with: means of the training data.
    classes_ : ndarray
        Of classes: the classes.
    features_ : tuple of Feature
        The constructed features that trees test; ``feature_names_in_`` are their sentences.
    task_, n_outputs_, target_names_
        The task, the number of targets or labels, and their names.
    feature_importances_ : ndarray
        Genie3 of each of these features, averaged over the trees.

    References
    ----------
    Petkovic, Ceci, Kersting, Dzeroski: Estimating the importance of relational features by using gradient boosting.
    ISMIS, 2020.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.make_movies(random_state=0)
    >>> model = om.relational.RelationalBoosting(n_trees=10, random_state=0).fit(data)
    >>> model.score(data) > 0.8
    True
    """

    supported_tasks = TaskNames("classes", "numbers", single=True)

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
        nominal_joins: bool = False,
        max_candidates: int | None = 10_000,
        missing: str = "extreme",
        max_features: Any = 0.6,
        min_samples_leaf: float = 1,
        max_depth: int | None = 4,
        class_weight: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        constructed = preset, aggregates, lookahead, max_path_length, modes, nominal_joins, max_candidates, missing
        super().__init__(*constructed, max_features, min_samples_leaf, max_depth, class_weight, random_state)
        self.n_trees = n_trees
        self.shrinkage = shrinkage
        self.chosen_examples = chosen_examples
        self.n_jobs = n_jobs

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
        drawn = "all" if self.max_features is None else self.max_features
        rules = GrowingRules.of(self, ensemble="bagging", bootstrap=False, max_features=drawn)
        training = self._read(X, y, sample_weight, rules)
        columns = self._columns_to_fit(training)
        self.start_ = np.average(columns, axis=0, weights=training.weight)
        tables, grown = self._tables(training), []
        if tables is not None:
            rules.check()
            nothing = _one_number(np.zeros(len(columns)))
            weight = np.ones(len(columns)) if training.weight is None else training.weight
            plan = RelationalPlan(tables, nothing, None, rules, weight, root_entropy(self.random_state))
            grown = self._iterations(plan, columns)
        self._take_trees(self._keep(grown, training.dataset))
        return self

    def _columns_to_fit(self, training: RelationalTraining) -> np.ndarray:
        """Return what sums of trees fit, (examples, K): a number, or indicators of classes, one of two classes."""
        columns = training.columns.dense()
        return columns[:, 1:] if columns.shape[1] == 2 else columns

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

    def _staged_means(self, table: Table) -> Iterator[np.ndarray]:
        """Yield the sums of 0, 1, 2, ... iterations, one column per number or class."""
        k, two_classes = len(self.start_), self._predicts_classes and len(self.classes_) == 2
        sums = np.tile(self.start_, (table.n_rows, 1))
        values = _leaf_values(self._trees(), table)
        for m in range(len(self.trees_) + 1):
            if m:
                sums = sums + self.shrinkage * values[:, (m - 1) * k : m * k]
            yield np.column_stack([1 - sums[:, 0], sums[:, 0]]) if two_classes else sums

    def _means(self, table: Table) -> np.ndarray:
        return deque(self._staged_means(table), maxlen=1)[0]

    def _shares(self, means: np.ndarray) -> np.ndarray:
        shares = np.clip(means, 0.0, 1.0)
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1 / shares.shape[1])

    def staged_predict(self, X: RelationalDataset) -> Iterator[Any]:
        """Yield the predictions after 1, 2, ... iterations.

        Parameters
        ----------
        X : RelationalDataset
            Examples in a database of the same schema.
        """
        stages = self._staged_means(self._table(X))
        next(stages)
        for means in stages:
            yield self._decide(means)


def _one_number(values: np.ndarray) -> PrototypeColumns:
    zero = np.zeros(1, np.intp)
    return PrototypeColumns(
        values[:, None], np.ones(len(values), bool), zero, zero - 1, ("residual",), (None,), np.ones(1)
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
