"""How well rankings serve neighbours: one made without labels, beside supervised ones that have not seen the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from omnirank.core.seeds import stream
from omnirank.ensembles.plan import GrowingRules
from omnirank.ensembles.score_sums import mean_scores
from omnirank.ensembles.supervision_losses import LabelledExamples, squared_losses
from omnirank.neighbors.weighted_knn import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import get_task
from omnirank.tasks.columns import ClusteringColumns

__all__ = ["neighbor_losses"]

# Rankings by these scores are judged.
_SCORES = ("genie3", "symbolic")
_FOLDS = 3
_NEIGHBORS = 10
# So many examples of a fold tell rankings apart; more would cost without changing the answer.
_MOST_JUDGED = 1000
# Keeps the stream that deals folds apart from those of trees and of cross-validation.
_FOLDS_KEY = 2**31 + 1


def neighbor_losses(
    examples: LabelledExamples,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    n_trees: int,
) -> dict[str, dict[float, np.ndarray]] | None:
    """Return the losses of labelled examples that neighbours predict, at the levels 0 and 1; NaN where not judged.

    The labelled examples are dealt into folds. Those of a fold are predicted by the mean of their nearest labelled
    examples outside the fold; the distance weighs features by a score, of trees that see no label (level 0) or of
    supervised trees that do not see the labels of the fold (level 1).

    Parameters
    ----------
    examples, rules, clustering
        As in :func:`omnirank.ensembles.supervision_losses.out_of_bag_losses`.
    n_trees : int
        Number of trees that see no label, and of supervised ones for each fold.

    Returns
    -------
    dict of str to dict of float to ndarray, or None
        By score, "genie3" and "symbolic", and level; None where the labelled examples outside a fold do not do to grow
        trees.
    """
    dataset = examples.dataset
    rows = np.flatnonzero(dataset.labelled)
    folds = list(_folds(examples, rules, rows))
    if not folds:
        return None
    part = dataset.take(rows)
    assert part.target is not None  # labelled examples have one
    truth = get_task(dataset.task).columns(part.target, dataset.hierarchy, rules.hierarchy_weight)
    known = truth.matrix.toarray() if truth.is_sparse else truth.matrix
    without = _rankings(examples, replace(rules, supervision=0.0), n_trees)
    losses = {score: {level: np.full(len(rows), np.nan) for level in (0.0, 1.0)} for score in without}
    for fold in folds:
        outside = np.ones(len(rows), bool)
        outside[fold] = False
        rest = replace(examples, dataset=dataset.hide_labels(rows[fold]))
        supervised = _rankings(rest, replace(rules, supervision=1.0), n_trees)
        judged = fold[:_MOST_JUDGED]
        near, far = part.features.take(outside), part.features.take(judged)
        for score, by_level in losses.items():
            for level, ranking in ((0.0, without[score]), (1.0, supervised[score])):
                ids = weighted_neighbors(near, far, ranking_weights(ranking), _NEIGHBORS, examples.n_jobs)
                means = neighbor_means(known[outside], ids)
                by_level[level][judged] = squared_losses(truth, judged, clustering, means)
    return losses


def _folds(examples: LabelledExamples, rules: GrowingRules, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Places of each fold among the labelled examples, by the seed; none where the rest does not do for two leaves."""
    dataset = examples.dataset
    weight = np.ones(len(rows)) if examples.weight is None else examples.weight[rows]
    order = stream(examples.entropy, _FOLDS_KEY).permutation(len(rows))
    folds = [order[fold::_FOLDS] for fold in range(_FOLDS)]
    for fold in folds:
        rest = dataset.take(np.delete(rows, fold))
        if rest.target is None or weight.sum() - weight[fold].sum() < 2 * rules.min_samples_leaf:
            return
        columns = get_task(dataset.task).columns(rest.target, dataset.hierarchy, rules.hierarchy_weight)
        if not len(fold) or not ((columns.impurity > 0) & (columns.weights > 0)).any():
            return
    yield from folds


def _rankings(examples: LabelledExamples, rules: GrowingRules, n_trees: int) -> dict[str, np.ndarray]:
    return mean_scores(examples.plan(rules), _SCORES, n_trees, examples.n_jobs, f"supervision {rules.supervision:g}")
