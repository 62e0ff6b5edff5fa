"""How well labelled examples are predicted at a level of supervision: out of bag, or by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.ensembles.plan import GrowingPlan, GrowingRules, make_plan
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.prediction import average_means, sum_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning, prune
from omnirank.trees.tree import Tree, tree_from_grown

__all__ = ["LabelledExamples", "cross_validated_error", "out_of_bag_losses", "squared_losses"]

# Keeps the stream that deals folds apart from those of trees.
_FOLDS_KEY = 2**31


@dataclass(frozen=True, eq=False)
class LabelledExamples:
    """The labelled examples of a data set, and what forests are grown from.

    Attributes
    ----------
    dataset : Dataset
        All examples.
    weight, feature_weights : ndarray or None
        Of the examples and of the features, as in :func:`omnirank.ensembles.plan.make_plan`.
    entropy : int
        Root of the random streams: trees of all levels draw the same labelled examples.
    n_jobs : int or None
        Number of workers.
    pruning : Pruning or None
        How trees are pruned; None: not at all.
    """

    dataset: Dataset
    weight: np.ndarray | None
    feature_weights: np.ndarray | None
    entropy: int
    n_jobs: int | None = None
    pruning: Pruning | None = None

    def plan(self, rules: GrowingRules) -> GrowingPlan:
        """Return the plan of trees of a level; supervised ones see the labelled examples only."""
        dataset, weight = self.dataset, self.weight
        if rules.supervision == 1:
            labelled = dataset.labelled
            dataset, weight = dataset.take(labelled), None if weight is None else weight[labelled]
        return make_plan(dataset, rules, self.entropy, weight, self.n_jobs, self.feature_weights)

    def trees(self, plan: GrowingPlan, n_trees: int) -> list[Tree]:
        """Grow the first trees of a plan."""
        what = f"supervision {plan.rules.supervision:g}"
        return run_parallel(partial(_tree, plan, self.pruning), range(n_trees), self.n_jobs, description=what)


def out_of_bag_losses(
    examples: LabelledExamples,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    n_trees: int,
    single: bool = False,
) -> np.ndarray:
    r"""Return the loss of each labelled example, predicted by the trees that have not seen it; NaN where all have.

    The loss is :math:`\sum_c \lambda_c (y_c - \hat y_c)^2` over the columns of the target, with the weights of the
    supervised impurity: the mean over the examples is 1 where the training mean is predicted. Unlike an error rate it
    does not jump when a vote changes, so that few examples suffice to compare levels.

    Parameters
    ----------
    examples : LabelledExamples
        What to grow trees from.
    rules : GrowingRules
        How, and at which level of supervision.
    clustering : ClusteringColumns
        Columns of the target and their weights, of the labelled examples.
    n_trees : int
        Number of trees.
    single : bool
        Whether the losses of single trees are averaged, and not their predictions.
    """
    plan = examples.plan(rules)
    trees = examples.trees(plan, n_trees)
    labelled = plan.dataset.labelled
    part = plan.dataset.take(labelled)
    seen = np.array([plan.counts(i)[labelled] > 0 for i in range(n_trees)])
    assert part.target is not None  # labelled examples have one
    truth = plan.task.columns(part.target, part.hierarchy, rules.hierarchy_weight)
    groups = [slice(i, i + 1) for i in range(n_trees)] if single else [slice(None)]
    total, n_losses = np.zeros(part.n_examples), np.zeros(part.n_examples)
    for group in groups:
        sums, counts = sum_means(trees[group], part.features, truth.n_columns, seen[group], examples.n_jobs)
        met = counts > 0
        total[met] += squared_losses(truth, met, clustering, sums[met] / counts[met, None])
        n_losses += met
    return np.divide(total, n_losses, out=np.full(len(total), np.nan), where=n_losses > 0)


def squared_losses(
    truth: PrototypeColumns, rows: np.ndarray, clustering: ClusteringColumns, means: np.ndarray
) -> np.ndarray:
    """Return the losses of some examples, as in `out_of_bag_losses`.

    Parameters
    ----------
    truth : PrototypeColumns
        The target as columns.
    rows : ndarray
        The examples.
    clustering : ClusteringColumns
        Columns that count, and their weights.
    means : ndarray of shape (rows, columns)
        What is predicted for them.
    """
    known = clustering.cells(truth.matrix[rows])
    known = known.toarray() if truth.is_sparse else known
    return np.nansum((clustering.cells(means) - known) ** 2 * clustering.weights, axis=1)


def cross_validated_error(
    examples: LabelledExamples, rules: GrowingRules, levels: Sequence[float], n_trees: int, n_folds: int
) -> dict[float, float]:
    """Return the error of the task by level, over folds of the labelled examples.

    Unlabelled examples train in every fold; the examples of the fold are left out.

    Parameters
    ----------
    examples, rules, n_trees
        As in :func:`out_of_bag_losses`.
    levels : sequence of float
        Levels of supervision.
    n_folds : int
        Number of folds; examples are dealt by the seed.
    """
    dataset = examples.dataset
    order = stream(examples.entropy, _FOLDS_KEY).permutation(np.flatnonzero(dataset.labelled))
    errors: dict[float, list[float]] = {w: [] for w in levels}
    for fold in range(n_folds):
        test = np.zeros(dataset.n_examples, bool)
        test[order[fold::n_folds]] = True
        weight = None if examples.weight is None else examples.weight[~test]
        rest = replace(examples, dataset=dataset.take(~test), weight=weight)
        left_out = dataset.take(test)
        assert left_out.target is not None  # only labelled examples are left out
        for w in levels:
            plan = rest.plan(replace(rules, supervision=w))
            means = average_means(rest.trees(plan, n_trees), left_out.features, plan.columns.n_columns)
            truth = plan.task.columns(left_out.target, dataset.hierarchy, rules.hierarchy_weight)
            errors[w].append(plan.task.error(truth, means, plan.columns))
    return {w: float(np.mean(found)) for w, found in errors.items()}


def _tree(plan: GrowingPlan, pruning: Pruning | None, i: int) -> Tree:
    grown = plan.grow(i)
    if pruning is not None:
        grown = prune(grown, pruning, plan.columns, plan.clustering, plan.weight, plan.around)
    return tree_from_grown(grown, plan.dataset.features, *node_means(grown, plan.columns))
