"""How well labelled examples are predicted at a level of supervision: out of bag, or by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.seeds import stream
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.routing import route, routed_cells
from omnirank.tasks.columns import ClusteringColumns, PrototypeColumns
from omnirank.trees.prediction import add_rows, average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning
from omnirank.trees.tree import Tree

# Keeps the stream that deals folds apart from those of trees.
_FOLDS_KEY = 2**31


def out_of_bag_losses(
    data: GrowingData,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    n_trees: int,
    single: bool = False,
    pruning: Pruning | None = None,
) -> np.ndarray:
    r"""Return the loss of each labelled example, predicted by the trees that have not seen it; NaN where all have.

    The loss is :math:`\sum_c \lambda_c (y_c - \hat y_c)^2` over the columns of the target, with the weights of the
    supervised impurity: the mean over the examples is 1 where the training mean is predicted. Unlike an error rate it
    does not jump when a vote changes, so that few examples suffice to compare levels.

    Parameters
    ----------
    data : GrowingData
        What to grow trees from: all examples; supervised trees see the labelled ones only.
    rules : GrowingRules
        How, and at which level of supervision.
    clustering : ClusteringColumns
        Columns of the target and their weights, of the labelled examples.
    n_trees : int
        Number of trees.
    single : bool
        Whether the losses of single trees are averaged, and not their predictions.
    pruning : Pruning or None
        How trees are pruned; None: not at all.
    """
    plan = data.at_level(rules.supervision).plan(rules)
    labelled, truth = plan.dataset.labelled, data.labelled.target_columns(rules)
    work = partial(_unseen_means, plan, pruning, routed_cells(plan))
    unseen = run_parallel(work, range(n_trees), data.n_jobs, description=_description(plan))
    groups = [[found] for found in unseen] if single else [unseen]
    total, n_losses = np.zeros(len(truth.labelled)), np.zeros(len(truth.labelled))
    for group in groups:
        sums, counts = np.zeros((len(labelled), truth.n_columns)), np.zeros(len(labelled))
        for rows, means in group:
            add_rows(sums, rows, means)
            counts[rows] += 1
        sums, counts = sums[labelled], counts[labelled]
        met = counts > 0
        total[met] += squared_losses(truth, met, clustering, sums[met] / counts[met, None])
        n_losses += met
    return np.divide(total, n_losses, out=np.full(len(total), np.nan), where=n_losses > 0)


def _unseen_means(plan: GrowingPlan, pruning: Pruning | None, cells: Any, i: int) -> tuple[np.ndarray, Any]:
    """Labelled examples that tree i has not seen, and the prototypes of their leaves.

    They go down the tree as they do for the score of a ranking: other kernels would have to be compiled.
    """
    counts = plan.counts(i)
    grown = plan.pruned(pruning, i, counts)
    first, last, rows = route(plan, grown, np.flatnonzero(plan.dataset.labelled & (counts == 0)), cells)
    leaves = np.flatnonzero(grown.feature < 0)  # in preorder, as their rows are
    values, value_row = node_means(grown, plan.columns)
    return rows, values[np.repeat(value_row[leaves], last[leaves] - first[leaves])]


def _description(plan: GrowingPlan) -> str:
    return f"supervision {plan.rules.supervision:g}"


def _trees(plan: GrowingPlan, pruning: Pruning | None, n_trees: int, n_jobs: int | None) -> list[Tree]:
    return run_parallel(partial(plan.tree, pruning), range(n_trees), n_jobs, description=_description(plan))


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
    data: GrowingData,
    rules: GrowingRules,
    levels: Sequence[float],
    n_trees: int,
    n_folds: int,
    pruning: Pruning | None = None,
) -> dict[float, float]:
    """Return the error of the task by level, over folds of the labelled examples.

    Unlabelled examples train in every fold; the examples of the fold are left out.

    Parameters
    ----------
    data, rules, n_trees, pruning
        As in :func:`out_of_bag_losses`.
    levels : sequence of float
        Levels of supervision.
    n_folds : int
        Number of folds; examples are dealt by the seed.
    """
    order = stream(data.entropy, _FOLDS_KEY).permutation(np.flatnonzero(data.dataset.labelled))
    errors: dict[float, list[float]] = {w: [] for w in levels}
    for fold in range(n_folds):
        test = np.zeros(data.dataset.n_examples, bool)
        test[order[fold::n_folds]] = True
        rest, left_out = data.take(~test), data.take(test)
        truth = left_out.target_columns(rules)
        for w in levels:
            plan = rest.at_level(w).plan(replace(rules, supervision=w))
            trees = _trees(plan, pruning, n_trees, data.n_jobs)
            means = average_means(trees, left_out.dataset.features, plan.columns.n_columns)
            errors[w].append(plan.task.error(truth, means, plan.columns))
    return {w: float(np.mean(found)) for w, found in errors.items()}
