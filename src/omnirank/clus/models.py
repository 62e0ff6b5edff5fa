"""The models of a run: the default one, a tree as it is grown and as it is pruned, or ensembles of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.clus.choices import ForestChoices
from omnirank.clus.examples import Examples
from omnirank.core.errors import ConstantTargetError
from omnirank.core.parallel import run_parallel
from omnirank.core.seeds import root_entropy
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.task_registry import task_target
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.supervision import ToFit, resolve_supervision
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning, prune, without_subtrees
from omnirank.trees.tree import Tree, one_leaf, tree_from_grown


@dataclass(frozen=True, eq=False)
class Model:
    """A model of a run, and what it predicts.

    Attributes
    ----------
    name : str
        What CLUS calls it: Default, Original, Pruned, Forest with 10 trees.
    trees : sequence of Tree
        Its trees; one, but for ensembles.
    columns : PrototypeColumns
        The coded target.
    n_jobs : int
        Number of workers that predict.
    """

    name: str
    trees: Sequence[Tree]
    columns: PrototypeColumns
    n_jobs: int = 1

    @property
    def is_forest(self) -> bool:
        """Whether it is an ensemble."""
        return self.name.startswith("Forest")

    def means(self, dataset: Dataset) -> np.ndarray:
        """Return what is predicted for the columns of the target, one row per example."""
        return average_means(self.trees, dataset.features, self.columns.n_columns, n_jobs=self.n_jobs)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The models of a run.

    Attributes
    ----------
    models : list of Model
        The models.
    level : float
        The level of supervision.
    """

    models: list[Model]
    level: float


def fit_tree(
    examples: Examples, growing: dict[str, Any], pruning: Pruning | None, supervision: Any, seed: int
) -> Fitted:
    """Fit the default model, the tree as it is grown, and the pruned tree.

    Parameters
    ----------
    examples : Examples
        The examples.
    growing : dict
        How the tree is grown.
    pruning : Pruning or None
        How it is pruned.
    supervision : float or dict
        Level of supervision, or those that are compared.
    seed : int
        The seed.
    """
    rules = GrowingRules(ensemble="bagging", bootstrap=False, **_of_predictors(growing))
    plan, level, default = _plan(examples, rules, supervision, seed, ToFit(1, pruning))
    if plan is None:
        return Fitted([default, replace(default, name="Original")], level)
    grown = plan.grow(0)
    target = task_target(examples.train.task)
    if target.kind in ("classes", "labels") and not target.hierarchical:
        grown = merged_alike(plan, grown)
    models = [default, _model("Original", plan, grown)]
    if pruning is not None:
        cut = prune(grown, pruning, plan.columns, plan.clustering, plan.weight, plan.feature_part)
        models.append(_model("Pruned", plan, cut))
    return Fitted(models, level)


def _of_predictors(growing: dict[str, Any]) -> dict[str, Any]:
    """Rules of growing for trees that predict: where unlabelled examples count, leaves have enough labelled ones."""
    return growing | {"min_labelled_leaf": growing["min_samples_leaf"]}


def _plan(
    examples: Examples, rules: GrowingRules, supervision: Any, seed: int, to_fit: ToFit
) -> tuple[GrowingPlan | None, float, Model]:
    """What trees are grown on (None: nothing can be divided), the level of supervision, and the default model."""
    whole = GrowingData(examples.train, root_entropy(seed), examples.weight)
    level = resolve_supervision(supervision, whole, rules, to_fit).level
    data = whole.at_level(level)
    columns = data.target_columns(rules)
    weight = np.ones(data.dataset.n_examples) if data.weight is None else data.weight
    leaf = one_leaf(weight)
    values = node_means(leaf, columns)
    default = Model("Default", [tree_from_grown(leaf, data.dataset.features, *values)], columns)
    if weight.sum() < 2 * rules.min_samples_leaf:
        return None, level, default
    try:
        return data.plan(replace(rules, supervision=level)), level, default
    except ConstantTargetError:
        return None, level, default


def _model(name: str, plan: GrowingPlan, grown: Any) -> Model:
    # thresholds are the smaller of the two values of the node that they separate, as CLUS has them
    told = _seen_levels(grown, plan.dataset.features)._replace(high_row=grown.low_row)
    tree = tree_from_grown(told, plan.dataset.features, *node_means(grown, plan.columns))
    return Model(name, [tree], plan.columns)


def _seen_levels(grown: Any, table: Table) -> Any:
    """The tree with nominal tests that say no to levels which their node has not seen, as in CLUS."""
    subsets = grown.subsets.copy()
    for node in np.flatnonzero((grown.feature >= 0) & table.is_nominal[grown.feature]):
        feature = int(grown.feature[node])
        codes = table.column(feature)[grown.rows[grown.first[node] : grown.last[node]]]
        seen = np.zeros(-(-len(table.levels[feature] or ()) // 64), np.uint64)
        for code in np.unique(codes[codes >= 0]).astype(np.int64).tolist():
            seen[code >> 6] |= np.uint64(1 << (code & 63))
        start = int(grown.cut[node])
        subsets[start : start + len(seen)] &= seen
    return grown._replace(subsets=subsets)


def fit_forest(examples: Examples, forest: ForestChoices, supervision: Any, seed: int) -> Fitted:
    """Fit the default model and ensembles of all sizes, each of which holds the smaller ones.

    Parameters
    ----------
    examples, supervision, seed
        As in `fit_tree`.
    forest : ForestChoices
        The ensemble.
    """
    rules = GrowingRules(**_of_predictors(forest.rules))
    plan, level, default = _plan(examples, rules, supervision, seed, ToFit(forest.sizes[-1]))
    if plan is None:
        return Fitted([default], level)
    grow = partial(plan.tree, None)
    trees = list(run_parallel(grow, range(forest.sizes[-1]), forest.n_jobs, description="growing trees"))
    models = [Model(f"Forest with {n} trees", trees[:n], plan.columns, forest.n_jobs) for n in forest.sizes]
    return Fitted([default, *models], level)


def merged_alike(plan: GrowingPlan, grown: Any) -> Any:
    """Return the tree without tests whose two leaves predict the same classes or labels.

    Parameters
    ----------
    plan : GrowingPlan
        What the tree was grown on; targets are classes or labels.
    grown : GrownTree
        The tree.
    """
    columns = plan.columns
    means, row = node_means(grown, columns, leaves_only=False)
    means = (means.toarray() if sparse.issparse(means) else means)[row]
    decided = np.reshape(plan.task.predict(means, columns), (len(means), -1))
    is_leaf = grown.feature < 0
    for node in np.flatnonzero(~is_leaf)[::-1]:
        left, right = node + 1, grown.right[node]
        is_leaf[node] = is_leaf[left] and is_leaf[right] and np.array_equal(decided[left], decided[right])
    return without_subtrees(grown, is_leaf)
